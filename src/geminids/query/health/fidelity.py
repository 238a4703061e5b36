"""How well the files were understood: what became of every byte and record, without any content."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from geminids import __version__
from geminids.core import agents
from geminids.core.model import FileAccount, Problem, SessionSummary, Tally
from geminids.query.sessions.homes_reader import HomeReport

_SUFFIXES = frozenset({".json", ".jsonl", ".zst"})
"""Ends of names that tell what a file is, and nothing of whom."""


class Split(msgspec.Struct, frozen=True):
    """A total and its parts, which add up to it."""

    total: int
    used: int
    ignored: int
    problem: int


class FileTally(msgspec.Struct, frozen=True):
    """A number of files and the bytes they take."""

    files: int = 0
    bytes: int = 0

    def plus(self, size: int) -> FileTally:
        """One file more."""
        return FileTally(self.files + 1, self.bytes + size)


class HiddenSessions(msgspec.Struct, frozen=True):
    """The sessions that agents do not show, or not all of: `rescue` repairs what can be repaired."""

    sessions: int = 0
    partly: int = 0
    """Of how many of them a part is shown."""
    agents: tuple[str, ...] = ()


class Fidelity(msgspec.Struct, frozen=True, kw_only=True):
    """The report of `geminids doctor`."""

    version: str
    python: str
    system: str
    data_folder: str | None
    homes: tuple[HomeReport, ...]
    sessions: dict[str, int]
    files: tuple[FileAccount, ...]
    bytes: Split
    records: Split
    formats: dict[str, FileTally]
    eras: dict[str, FileTally]
    used: dict[str, Tally]
    ignored: dict[str, Tally]
    problem: dict[str, Tally]
    unknown_fields: dict[str, int]
    problems: tuple[Problem, ...]
    skipped: dict[str, FileTally]
    hidden: HiddenSessions | None = None
    """None where only some files were looked at."""

    @property
    def is_partial(self) -> bool:
        """Whether the operating system refused anything."""
        return any(problem.is_unreadable for problem in self.problems)


def fidelity(
    *,
    homes: Sequence[HomeReport],
    summaries: Iterable[SessionSummary],
    accounts: Sequence[FileAccount],
    problems: Sequence[Problem],
    skipped: Iterable[tuple[str, int]],
    data_folder: str | None,
    hidden: HiddenSessions | None = None,
) -> Fidelity:
    """Add up the accounts of all files."""
    used = _sum(account.used for account in accounts)
    ignored = _sum(account.ignored for account in accounts)
    problem = _sum(account.problem for account in accounts)
    unknown: Counter[str] = Counter()
    for account in accounts:
        unknown.update(account.unknown_fields)
    return Fidelity(
        version=__version__,
        python=sys.version.partition(" ")[0],
        system=sys.platform,
        data_folder=data_folder,
        homes=tuple(homes),
        sessions=dict(Counter(str(summary.kind) for summary in summaries)),
        files=tuple(accounts),
        bytes=_split([_bytes(used), _bytes(ignored), _bytes(problem)]),
        records=_split([_records(used), _records(ignored), _records(problem)]),
        formats=_by((account.format, account.size) for account in accounts),
        eras=_by((account.era, account.size) for account in accounts),
        used=used,
        ignored=ignored,
        problem=problem,
        unknown_fields=dict(unknown.most_common()),
        problems=tuple(problems),
        skipped=_by(skipped),
        hidden=hidden,
    )


def without_names(report: Fidelity, names: Names) -> Fidelity:
    """The same report, safe to show to strangers: names that may be a project's are numbered."""
    return msgspec.structs.replace(
        report,
        data_folder=names.shortened(report.data_folder) if report.data_folder else None,
        homes=tuple(msgspec.structs.replace(h, path=names.shortened(h.path)) for h in report.homes),
        files=tuple(msgspec.structs.replace(f, path=names.hidden(f.path)) for f in report.files),
        problems=tuple(msgspec.structs.replace(p, file=names.hidden(p.file)) for p in report.problems),
    )


class Names:
    """Paths as strangers may see them: `~` for the user's home, numbers for names that say something."""

    def __init__(self, user_home: Path, homes: Sequence[str]) -> None:
        self._user_home = user_home
        self._homes = homes
        self._known = [source.files() for source in agents.every()]
        self._numbers: dict[str, int] = {}

    def shortened(self, path: str) -> str:
        """The path with `~` for the user's home."""
        if Path(path).is_relative_to(self._user_home):
            return str("~" / Path(path).relative_to(self._user_home))
        return path

    def hidden(self, path: str) -> str:
        """The path with a number for every name that may mean something to people."""
        for home in self._homes:
            if Path(path).is_relative_to(home):
                inside = Path(path).relative_to(home).parts
                return str(Path(self.shortened(home), *map(self._hidden_name, inside)))
        return str(Path("…", self._hidden_name(Path(path).name)))

    def _hidden_name(self, name: str) -> str:
        # What an agent itself calls things; every other name may be the name of a project or a client.
        if any(files.is_own_name(name) for files in self._known):
            return name
        number = self._numbers.setdefault(name, len(self._numbers) + 1)
        return f"name-{number}{''.join(suffix for suffix in Path(name).suffixes if suffix in _SUFFIXES)}"


def _sum(tallies: Iterable[Mapping[str, Tally]]) -> dict[str, Tally]:
    sums: dict[str, Tally] = {}
    for by_name in tallies:
        for name, tally in by_name.items():
            known = sums.get(name, Tally())
            sums[name] = Tally(known.records + tally.records, known.bytes + tally.bytes)
    return dict(sorted(sums.items()))


def _by(files: Iterable[tuple[str, int]]) -> dict[str, FileTally]:
    tallies: dict[str, FileTally] = {}
    for name, size in files:
        tallies[name] = tallies.get(name, FileTally()).plus(size)
    return dict(sorted(tallies.items()))


def _split(parts: Sequence[int]) -> Split:
    return Split(sum(parts), *parts)


def _bytes(tallies: Mapping[str, Tally]) -> int:
    return sum(tally.bytes for tally in tallies.values())


def _records(tallies: Mapping[str, Tally]) -> int:
    return sum(tally.records for tally in tallies.values())
