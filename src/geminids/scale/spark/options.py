"""The options of the data source: what may be asked, and what is said where it may not."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from geminids.core import agents
from geminids.core.config import data_folder
from geminids.core.errors import GeminidsError
from geminids.query.search.moments import parse_moment
from geminids.scale.homes import BYTES
from geminids.scale.only import ANYTHING, Only
from geminids.scale.schema import TABLES, Column
from geminids.sharing.redact import Redactor, load_key
from geminids.sharing.redact.engines import is_installed
from geminids.sharing.redact.pseudonyms import read_key

_LEAST_BYTES = 100_000


class OptionError(GeminidsError):
    """Something was asked of the data source that it does not know."""


class Asked(NamedTuple):
    """What is asked of the data source."""

    uri: str
    table: str
    columns: tuple[str, ...]
    only: Only = ANYTHING
    machine: str | None = None
    """What the machine is called that all of it is from."""
    redact: bool = True
    key_file: str | None = None
    most: int = BYTES
    """Bytes of session files in a piece."""
    state: str | None = None
    """Where a stream notes what it has told."""
    pushdown: bool = False
    """Whether the conditions of a query tell what need not be read."""

    def redactor(self) -> Redactor | None:
        """What hides secrets; the same one wherever pieces of this are read."""
        if not self.redact:
            return None
        key = read_key(Path(self.key_file)) if self.key_file else load_key(_own_folder())
        # An executor that lacks what is installed here says so, and hides nothing by halves.
        return Redactor(key, engine="full" if is_installed() else "reduced")


MEANINGS = {
    "table": f"Which table: {', '.join(TABLES)}. Default: sessions.",
    "columns": "Columns, separated by commas. Default: all of the table.",
    "words": "`false`: without the columns that hold words of conversations. Default: `true`.",
    "agents": "Only these agents, separated by commas.",
    "machines": "Only these machines, separated by commas.",
    "projects": "Only these projects, by the column `project`, separated by commas.",
    "since": "Only what happened from then on: 2026-05-01, 7d, ISO 8601.",
    "until": "Only what happened before: the same.",
    "machine": "The name of the machine that all of it is from. Default: the folder that holds the home.",
    "redact": "`false`: secrets stay in what is read of sessions. Default: `true`.",
    "keyFile": "The key by which the same secret has the same replacement. Default: that of this user.",
    "bytes": "Bytes of session files that one task reads. Default: 32000000.",
    "pushdown": "`true`: read only what the conditions of the query ask for. Default: `false`.",
    "state": "For streams: a folder in which to record what was read. It belongs to one stream.",
}
"""All options beside the path."""


def asked(options: Mapping[str, str]) -> Asked:
    """What options ask. Raises OptionError, which names what may be."""
    given = _Given(options)
    table = given.one_of("table", TABLES) or "sessions"
    columns = TABLES[table].columns if given.flag("words") else TABLES[table].without_words().columns
    return Asked(
        given.path(),
        table,
        given.columns(table, columns),
        Only(
            given.several_of("agents", agents.available()),
            given.several("machines"),
            given.several("projects"),
            given.moment("since"),
            given.moment("until"),
        ),
        given.text("machine"),
        given.flag("redact"),
        given.text("keyFile"),
        given.bytes(),
        given.text("state"),
        given.flag("pushdown", usual=False),
    )


class _Given:
    """Options as they were written; their names have no case."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._options = {name.lower(): value for name, value in options.items()}
        known = {name.lower() for name in MEANINGS} | {"path"}
        for name in options:
            if name.lower() not in known:
                raise OptionError(f"No option {name!r}. There are: {', '.join(MEANINGS)}.")

    def text(self, name: str) -> str | None:
        return self._options.get(name.lower()) or None

    def path(self) -> str:
        path = self.text("path")
        if path is None:
            raise OptionError("Nothing to load: load(…) names a folder of homes, exported copies or tables.")
        return path

    def several(self, name: str) -> frozenset[str] | None:
        written = self.text(name)
        if written is None:
            return None
        if not (listed := _listed(written)):
            raise OptionError(f"The option {name} cannot be {written!r}: it names nothing.")
        return frozenset(listed)

    def several_of(self, name: str, known: Iterable[str]) -> frozenset[str] | None:
        wanted = self.several(name)
        for one in sorted(wanted or ()):
            _refuse_unknown(name, one, known)
        return wanted

    def one_of(self, name: str, known: Iterable[str]) -> str | None:
        wanted = self.text(name)
        if wanted is not None:
            _refuse_unknown(name, wanted, known)
        return wanted

    def columns(self, table: str, there: tuple[Column, ...]) -> tuple[str, ...]:
        names = tuple(column.name for column in there)
        wanted = self.several_of("columns", names)
        return names if wanted is None else tuple(name for name in names if name in wanted)

    def flag(self, name: str, *, usual: bool = True) -> bool:
        written = self.text(name)
        known = {"true": True, "false": False}
        return usual if written is None else _parsed(name, written, known.__getitem__, "true or false")

    def moment(self, name: str) -> datetime | None:
        written = self.text(name)
        return None if written is None else parse_moment(written, datetime.now(UTC))

    def bytes(self) -> int:
        allowed = f"a whole number from {_LEAST_BYTES}"
        most: int = _parsed("bytes", self.text("bytes") or str(BYTES), int, allowed)
        if most < _LEAST_BYTES:
            raise OptionError(f"The option bytes cannot be {most}: it is {allowed}.")
        return most


def _listed(written: str) -> list[str]:
    return [one.strip() for one in written.split(",") if one.strip()]


def _refuse_unknown(name: str, wanted: str, known: Iterable[str]) -> None:
    known = list(known)
    if wanted not in known:
        raise OptionError(f"The option {name} cannot be {wanted!r}. There are: {', '.join(known)}.")


def _parsed(name: str, written: str, parse: Callable[[str], Any], allowed: str) -> Any:
    try:
        return parse(written.strip().lower())
    except (KeyError, ValueError) as error:
        raise OptionError(f"The option {name} cannot be {written!r}: it is {allowed}.") from error


def _own_folder() -> Path | None:
    folder = data_folder(None, os.environ)
    return Path(folder) if folder else None
