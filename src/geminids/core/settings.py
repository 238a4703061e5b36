"""What the user has settled for good.

<data folder>/settings.toml

[index]
every-word = true    # also the middle of long outputs; the index grows to about three times its size

[read]
largest-file = 2_000_000_000    # bytes of a session file; of a larger one only the beginning and end are read
jobs = 1             # processes that read where much is new; without this, one for each core, at most four

[list]               # what `geminids list` shows on a terminal
columns = ["when", "project", "title", "cost"]    # `geminids list --help` names all of them
limit = 40           # sessions, where `--limit` does not say; else 20

[keep]               # copies of what agents may delete; `keep = false` above all sections means none
some-agent = false   # none of an agent
"~/secret" = false   # none of the projects in a folder
"*" = false          # none of all others

[prices."my-model"]  # what a model costs; `query/usage/prices/overrides.py` knows what can stand here
input = 1.25
output = 10
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from geminids.core.atomic_files import opened_plain
from geminids.core.config import EVERY_WORD_VARIABLE, KEEP_VARIABLE, expanded
from geminids.core.disk import LARGEST
from geminids.core.errors import GeminidsError
from geminids.core.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from decimal import Decimal
    from typing import Any

FILE_NAME = "settings.toml"
_KNOWN: dict[str, dict[str, type]] = {
    "index": {"every-word": bool},
    "read": {"largest-file": int, "jobs": int},
    "list": {"columns": list, "limit": int},
}
_PRICES = "prices"
_KEEP = "keep"
_OF_FREE_NAMES = (_PRICES, _KEEP)
"""Sections of names that the user chooses; who asks for prices reads theirs."""
_ALL_OTHERS = "*"


class BadSettingsError(GeminidsError):
    """The settings cannot be read."""

    def __init__(self, file: str, reason: str) -> None:
        super().__init__(f"Cannot use the settings in {file!r}: {reason}.")


class KeepRules(NamedTuple):
    """Of what copies are kept."""

    others: bool = True
    """Of all that no other rule is about."""
    agents: Mapping[str, bool] = MappingProxyType({})
    folders: Mapping[str, bool] = MappingProxyType({})
    """Of projects in these folders; the innermost counts, and goes before what is said of an agent."""

    def wanted(self, agent: str, folder: str | None) -> bool:
        """Whether copies are kept of what an agent did in a folder, or nobody knows where."""
        rule = self.agents.get(agent, self.others)
        innermost = ""
        for above, is_kept in self.folders.items():
            if folder and len(above) >= len(innermost) and f"{folder}/".startswith(f"{above.rstrip('/')}/"):
                innermost, rule = above, is_kept
        return rule

    @property
    def is_off(self) -> bool:
        """Whether no copy is kept of anything."""
        return not (self.others or any(self.agents.values()) or any(self.folders.values()))


class ListSettings(NamedTuple):
    """How lists of sessions look on a terminal."""

    columns: Sequence[str] = ()
    """Their names; none is the usual ones."""
    limit: int | None = None
    """Sessions; None is as many as usual."""
    file: str = FILE_NAME
    """Where that is written."""


class Settings(NamedTuple):
    """All of them."""

    every_word: bool = False
    """Whether every word of outputs is indexed, not only their beginnings and ends."""
    prices: Mapping[str, Any] = MappingProxyType({})
    """What stands below [prices], numbers with a point as decimals."""
    file: str = FILE_NAME
    """Where that is written."""
    keep: KeepRules = KeepRules()
    largest_file: int = LARGEST
    """Bytes of a session file that are read whole."""
    jobs: int | None = None
    """Processes that read where much is new; None is one for each core."""
    list: ListSettings = ListSettings()


def read_settings(folder: str | None, environment: Mapping[str, str]) -> Settings:
    """What the user has settled; the environment goes before the file."""
    file = f"{folder}/{FILE_NAME}"
    written = _written(file) if folder else {}
    in_environment = environment.get(EVERY_WORD_VARIABLE)
    in_file = bool(written.get("index", {}).get("every-word"))
    every_word = in_file if in_environment is None else in_environment not in {"", "0"}
    keep = _keep_rules(file, environment.get(KEEP_VARIABLE), written.get(_KEEP, {}))
    reading = written.get("read", {})
    largest, jobs = reading.get("largest-file", LARGEST), reading.get("jobs")
    listing = ListSettings(**written.get("list", {}), file=file)
    return Settings(every_word, written.get(_PRICES, {}), file, keep, largest, jobs, listing)


def _keep_rules(file: str, in_environment: str | None, written: object) -> KeepRules:
    if in_environment:
        if in_environment not in {"0", "1"}:
            raise BadSettingsError(KEEP_VARIABLE, f"it must be 0 or 1, not {in_environment!r}")
        return KeepRules(in_environment == "1")
    if isinstance(written, bool):
        return KeepRules(written)
    if not isinstance(written, dict):
        raise BadSettingsError(file, "keep must be true, false or a table of what to keep")
    for name, value in written.items():
        if not isinstance(value, bool):
            raise BadSettingsError(file, f"{name!r} in [{_KEEP}] must be true or false")
    folders = {name: value for name, value in written.items() if name.startswith(("/", "~")) or ":" in name}
    agents = {name: value for name, value in written.items() if name not in (*folders, _ALL_OTHERS)}
    return KeepRules(
        written.get(_ALL_OTHERS, True), agents, {expanded(name): value for name, value in folders.items()}
    )


def _written(file: str) -> dict[str, Any]:
    try:
        with open(opened_plain(file), "rb") as opened:  # noqa: PTH123 - pathlib takes longer than the rest
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


def _exact(written: str) -> Decimal:
    from decimal import Decimal, InvalidOperation

    try:
        return Decimal(written)
    except InvalidOperation as error:
        raise ValueError(f"{written} is not a number") from error


def _check(file: str, written: Mapping[str, Any]) -> None:
    """Refuse what nobody would heed: a wrong letter in a name must not pass in silence."""
    for section, settings in written.items():
        if section not in (*_KNOWN, *_OF_FREE_NAMES):
            sections = _named([*_KNOWN, *_OF_FREE_NAMES])
            raise BadSettingsError(file, f"there is no section [{section}]; sections are {sections}")
        if section == _KEEP:
            # A word of its own, or a table; who makes rules of it looks closer.
            continue
        if not isinstance(settings, dict):
            raise BadSettingsError(file, f"[{section}] must be a table")
        known = _KNOWN.get(section)
        if known is None:
            continue
        for name, value in settings.items():
            if name not in known:
                raise BadSettingsError(
                    file, f"[{section}] has no setting {name!r}; settings are {_named(known)}"
                )
            if type(value) is not known[name] or not _is_of_use(value):
                raise BadSettingsError(file, f"{name!r} in [{section}] must be {_IN_WORDS[known[name]]}")


def _is_of_use(value: object) -> bool:
    if isinstance(value, list):
        return bool(value) and all(isinstance(name, str) for name in value)
    return isinstance(value, bool) or not isinstance(value, int) or 1 <= value <= _LARGEST


_LARGEST = 2**63 - 1
"""SQLite counts no further."""


_IN_WORDS = {
    bool: "true or false",
    int: "a whole number greater than 0 and less than 2^63",
    list: 'names in quotes, as ["when", "title"]',
}


def _named(names: Iterable[str]) -> str:
    return ", ".join(names)
