"""What the user has settled for good.

<data folder>/settings.toml

[index]
every-word = true    # also the middle of long outputs; the index grows to about three times its size

[prices."my-model"]  # what a model costs; `prices/overrides.py` knows what can stand here
input = 1.25
output = 10
"""

# Annotations are no strings here: compiling them would take most of the time that loading this takes.
import os
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from geminids.config import EVERY_WORD_VARIABLE
from geminids.errors import GeminidsError

if TYPE_CHECKING:
    from decimal import Decimal

FILE_NAME = "settings.toml"
_KNOWN = {"index": {"every-word": bool}}
_PRICES = "prices"
"""A section of names that the user chooses; who asks for prices reads it."""


class BadSettingsError(GeminidsError):
    """The settings cannot be read."""

    def __init__(self, file: str, reason: str) -> None:
        super().__init__(f"Cannot use the settings in {file!r}: {reason}.")


class Settings(NamedTuple):
    """All of them."""

    every_word: bool = False
    """Whether every word of outputs is indexed, not only their beginnings and ends."""
    prices: Mapping[str, Any] = MappingProxyType({})
    """What stands below [prices], numbers with a point as decimals."""
    file: str = FILE_NAME
    """Where that is written."""


def read_settings(folder: str | None, environment: Mapping[str, str]) -> Settings:
    """What the user has settled; the environment goes before the file."""
    file = f"{folder}/{FILE_NAME}"
    written = _written(file) if folder else {}
    in_environment = environment.get(EVERY_WORD_VARIABLE)
    in_file = bool(written.get("index", {}).get("every-word"))
    every_word = in_file if in_environment is None else in_environment not in {"", "0"}
    return Settings(every_word, written.get(_PRICES, {}), file)


def _written(file: str) -> dict[str, dict[str, Any]]:
    try:
        with open(file, "rb") as opened:  # noqa: PTH123 - pathlib takes longer than the rest
            content = opened.read()
    except OSError as error:
        if os.path.lexists(file):
            raise BadSettingsError(file, f"it cannot be read ({error.strerror})") from error
        # Not there, or in a folder that is not ours to look into; then nothing is settled.
        return {}
    import tomllib

    try:
        written = tomllib.loads(content.decode(), parse_float=_exact)
    except ValueError as error:
        raise BadSettingsError(file, str(error)) from error
    _check(file, written)
    return written


def _exact(written: str) -> "Decimal":
    from decimal import Decimal, InvalidOperation

    try:
        return Decimal(written)
    except InvalidOperation as error:
        raise ValueError(f"{written} is no number to count with") from error


def _check(file: str, written: Mapping[str, Any]) -> None:
    """Refuse what nobody would heed: a wrong letter in a name must not pass in silence."""
    for section, settings in written.items():
        if section not in (*_KNOWN, _PRICES):
            raise BadSettingsError(
                file, f"there is no section [{section}], only {_named([*_KNOWN, _PRICES])}"
            )
        if not isinstance(settings, dict):
            raise BadSettingsError(file, f"[{section}] must be a table, with names and values below it")
        known = _KNOWN.get(section)
        if known is None:
            continue
        for name, value in settings.items():
            if name not in known:
                raise BadSettingsError(file, f"[{section}] knows no {name!r}, only {_named(known)}")
            if not isinstance(value, known[name]):
                raise BadSettingsError(file, f"{name!r} in [{section}] must be {_IN_WORDS[known[name]]}")


_IN_WORDS = {bool: "true or false"}


def _named(names: Iterable[str]) -> str:
    return ", ".join(names)
