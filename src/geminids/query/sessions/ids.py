"""Ids as people type them: a full id, the agent's own id, the beginning of either, or words near one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Protocol, TypeVar

from geminids.core.errors import AmbiguousIdError, Candidate, ShortIdError
from geminids.core.names import storable
from geminids.storage.times import FIRST

if TYPE_CHECKING:
    from datetime import datetime


class Named(Protocol):
    """A project, as far as its name matters here."""

    @property
    def name(self) -> str: ...  # noqa: D102


class Known(Protocol):
    """A session, as far as telling it from others takes."""

    @property
    def id(self) -> str: ...  # noqa: D102
    @property
    def native_id(self) -> str: ...  # noqa: D102
    @property
    def title(self) -> str | None: ...  # noqa: D102
    @property
    def last_at(self) -> datetime | None: ...  # noqa: D102
    @property
    def project(self) -> Named: ...  # noqa: D102
    @property
    def file(self) -> str | None: ...  # noqa: D102


Summary = TypeVar("Summary", bound=Known)

SHORTEST_PREFIX = 3
_FILE_MARK = "~"
FILE_NAME_PREFIX = 8
"""Agents put this much of a session's id into the names of its files."""


def newest_last(session: Known) -> tuple[datetime, str]:
    """The order of time; a session without any time comes before all others."""
    return (session.last_at or FIRST, session.id)


def is_meant(summary: Known, wanted: str) -> bool:
    """Whether the session's id, with or without the agent, begins with the letters."""
    text = wanted.lower()
    return summary.id.lower().startswith(text) or summary.native_id.lower().startswith(text)


def pick(candidates: Sequence[Summary], wanted: str) -> Summary | None:
    """The one session that is meant, None if there is none; raises if there are several."""
    exact = [candidate for candidate in candidates if wanted in {candidate.id, candidate.native_id}]
    # Names that people gave may differ in nothing but capitals.
    spelled = exact or [c for c in candidates if c.id.startswith(wanted) or c.native_id.startswith(wanted)]
    matches = spelled or [candidate for candidate in candidates if is_meant(candidate, wanted)]
    if not matches:
        return None
    if len(wanted.rpartition(":")[2]) < SHORTEST_PREFIX and not exact:
        raise ShortIdError(wanted, SHORTEST_PREFIX)
    matches = list(_without_its_own(matches))
    if len(matches) > 1:
        matches.sort(key=newest_last, reverse=True)
        same_id = len({candidate.id for candidate in matches}) == 1
        choices = [_candidate(session, same_id=same_id) for session in matches]
        raise AmbiguousIdError(wanted, choices, same_id=same_id)
    return matches[0]


def pick_named(candidates: Sequence[Summary], name: str) -> Summary | None:
    """The one session of those that have a name; None if there is none, raises if there are several."""
    if len(candidates) > 1:
        newest = sorted(candidates, key=newest_last, reverse=True)
        raise AmbiguousIdError(name, [_candidate(session) for session in newest], same_name=True)
    return next(iter(candidates), None)


class OfFile(Protocol):
    """A session, as far as telling it from another of its id takes."""

    @property
    def id(self) -> str: ...  # noqa: D102
    @property
    def file(self) -> str | None: ...  # noqa: D102


def key_among_others(session: OfFile) -> str:
    """What means a session alone, where others have its id: they differ in their files."""
    from zlib import crc32

    return f"{session.id}{_FILE_MARK}{crc32(storable(session.file or '').encode()):08x}"


def pick_by_key(candidates: Iterable[Summary], wanted: str) -> Summary | None:
    """The session that has this key, if any."""
    return next((candidate for candidate in candidates if key_among_others(candidate) == wanted), None)


def id_of_key(wanted: str) -> str | None:
    """The id in what may be a key."""
    return wanted.rpartition(_FILE_MARK)[0] or None


def short_ids(native_ids: Iterable[str]) -> dict[str, str]:
    """As much of each id as tells it from all others, and no less than people are used to.

    What is made of another id (`…#…`) or was named by people (`…@…`) is written out.
    """
    names = list(native_ids)
    plain = sorted({name for name in names if not _is_made(name)})
    shorts = {}
    for before, name, after in zip(["", *plain], plain, [*plain[1:], ""], strict=False):
        alike = max(_common_length(name, before), _common_length(name, after))
        shorts[name] = name[: max(alike + 1, FILE_NAME_PREFIX)]
    return {name: shorts.get(name, name) for name in names}


def _is_made(native_id: str) -> bool:
    return "@" in native_id or "#" in native_id


def _common_length(one: str, other: str) -> int:
    same = takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    return sum(1 for _ in same)


def _without_its_own(matches: Sequence[Summary]) -> Sequence[Summary]:
    """A session without those that are made of it: the beginning of its id means itself."""
    roots = [candidate for candidate in matches if not _is_made(candidate.native_id)]
    own = len(roots) == 1 and all(c.native_id.startswith(roots[0].native_id) for c in matches)
    return roots if own else matches


def nearest(summaries: Iterable[Known], wanted: str) -> list[Candidate]:
    """The sessions that look most like what was asked for."""
    known = sorted(summaries, key=newest_last, reverse=True)
    return [_candidate(summary) for summary in _nearest(known, wanted)]


def _nearest(known: Sequence[Known], wanted: str) -> list[Known]:
    from difflib import get_close_matches

    text = wanted.casefold()
    in_title = [summary for summary in known if summary.title and text in summary.title.casefold()]
    # A word is no id with a slip in it.
    may_be_id = any(map(str.isdigit, text)) or not set(text) - set("abcdef-")
    by_id = {summary.native_id.lower()[: len(text)]: summary for summary in known if may_be_id}
    near_ids = get_close_matches(text.rpartition(":")[2], by_id, n=3, cutoff=0.6)
    near = in_title + [by_id[near_id] for near_id in near_ids]
    near += [summary for summary in known if _titles_agree(summary, text)]
    return list(dict.fromkeys(near))[:3]


def _titles_agree(summary: Known, text: str) -> bool:
    from difflib import SequenceMatcher

    return summary.title is not None and SequenceMatcher(None, text, summary.title.casefold()).ratio() > 0.6


def _candidate(summary: Known, *, same_id: bool = False) -> Candidate:
    # Sessions of one id differ only in where they lie; their file says which.
    place = summary.file if same_id and summary.file else summary.project.name
    key = key_among_others(summary) if same_id else None
    return Candidate(summary.id, summary.last_at, place, summary.title, key)
