"""Which files of a project Gemini CLI deletes when it is started there, by the rules of its release.

First goes what it takes for rubbish, whatever its age; then what was not used for too long, or is too much.
Since 0.36 it deletes by the last eight characters of a name (until 0.41 among .json files alone), so that one
such file takes others with it, new ones too; since 0.37 also the folder with the subagents of the session.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from geminids.agents.gemini.custody.releases import Program
from geminids.agents.gemini.custody.retention import Rule, spoken
from geminids.agents.gemini.read import fates as seen
from geminids.core.agents.fates import Fate
from geminids.core.lazy_patterns import lazy_pattern

AGE = "age"
COUNT = "count"
UNREADABLE = "unreadable"
NOTHING_TO_RESUME = "nothing-to-resume"
SUBAGENT = "subagent"
TWIN = "twin"
SAME_SUFFIX = "same-suffix"
WITH_PARENT = "with-parent"

_RUBBISH = {
    UNREADABLE: "Gemini CLI finds no session in it",
    NOTHING_TO_RESUME: "Gemini CLI finds nothing in it to resume",
    SUBAGENT: "it is the session of a subagent, which Gemini CLI does not show",
}
_SUFFIX = lazy_pattern(r"-([a-zA-Z0-9]{8})\.jsonl?")
_EARLIEST = datetime.min.replace(tzinfo=UTC)
_LATEST = datetime.max.replace(tzinfo=UTC)


class Doom(NamedTuple):
    """That a file is deleted, from when on, and why."""

    at: datetime | None
    """None: at the next start."""
    cause: str
    because: str
    """In words that can follow another sentence's colon."""

    @property
    def order(self) -> datetime:
        """By which the soonest comes first."""
        return self.at or _EARLIEST


class _Listed(NamedTuple):
    """A file that the CLI looks at."""

    name: str
    fate: Fate

    @property
    def traits(self) -> tuple[str, ...]:
        return self.fate.traits


def doomed(fates: Iterable[Fate], program: Program, rule: Rule) -> dict[str, Doom]:
    """The files of one project that starts delete, now or later, by their paths."""
    listed, of_subagents = _sorted_out(fates, program)
    alone = dict(_by_themselves(listed, program, rule))
    doom_of = {one.name: alone[one.name] for one in listed if one.name in alone}
    for together in _groups(listed, program):
        _take_along(together, alone, doom_of)
    found = {one.fate.file: doom_of[one.name] for one in listed if one.name in doom_of}
    if program.deletes_subagents:
        for session_id, (parent, doom) in _parents(listed, doom_of, program).items():
            why = ", which shares its id with another file" if doom.cause == TWIN else f": {doom.because}"
            because = f"it is deleted with its parent, {parent!r}{why}"
            for fate in of_subagents.get(session_id, ()):
                found[fate.file] = Doom(doom.at, WITH_PARENT, because)
    return found


def _sorted_out(
    fates: Iterable[Fate], program: Program
) -> tuple[list[_Listed], Mapping[str, Sequence[Fate]]]:
    """The files that the CLI lists, in its order; and those of subagents, by the folder they lie in."""
    suffixes = (".json", ".jsonl") if program.reads_logs else (".json",)
    listed, of_subagents = [], dict[str, list[Fate]]()
    for fate in fates:
        folder, name = os.path.split(fate.file)
        parent = os.path.basename(folder)  # noqa: PTH119
        if parent != "chats":
            of_subagents.setdefault(parent, []).append(fate)
        elif name.startswith(seen.SESSION_PREFIX) and name.endswith(suffixes):
            listed.append(_Listed(name, fate))
    return sorted(listed), of_subagents


def _by_themselves(listed: Sequence[_Listed], program: Program, rule: Rule) -> Iterator[tuple[str, Doom]]:
    """Those that go for what they are, and not because of another."""
    sessions: list[_Listed] = []
    for one in listed:
        cause = _rubbish(one, program)
        if cause:
            yield one.name, Doom(None, cause, _RUBBISH[cause])
        else:
            sessions.append(one)
    # What does not say when it was used, or in no way that can be understood, never gets old.
    sessions.sort(key=lambda one: one.fate.last_used or _LATEST, reverse=True)
    for index, one in enumerate(sessions):
        if rule.most is not None and index >= rule.most:
            number = math.ceil(rule.most)
            later = "one was" if number == 1 else f"{number:,} were"
            yield one.name, Doom(None, COUNT, f"{later} used later, and only so many are kept")
        elif rule.rest and one.fate.last_used:
            used = one.fate.last_used
            because = f"it was last used on {used:%Y-%m-%d}, and is kept for {spoken(rule.rest)}"
            yield one.name, Doom(used + rule.rest, AGE, because)


def _rubbish(one: _Listed, program: Program) -> str | None:
    """What the CLI has against a file, so that it deletes it at once; None if it takes it for a session."""
    traits = one.traits
    if seen.NO_SESSION in traits if program.reads_logs else seen.NO_DOCUMENT in traits:
        return UNREADABLE
    if seen.UNDATED in traits and not program.dates_by_disk:
        return UNREADABLE
    if _says_nothing(traits, program):
        return NOTHING_TO_RESUME
    return SUBAGENT if seen.SUBAGENT in traits and program.hides_subagents else None


def _says_nothing(traits: Sequence[str], program: Program) -> bool:
    if program.wants_resumable_content:
        return seen.NOTHING_RESUMABLE in traits
    if program.replays_checkpoints or not program.reads_logs:
        return seen.NO_TURNS in traits and program.hides_notices
    return seen.NO_TURNS_STATED in traits


def _groups(listed: Sequence[_Listed], program: Program) -> Iterable[Sequence[_Listed]]:
    """Files of which one takes the others with it."""
    groups: dict[str, list[_Listed]] = {}
    for one in listed:
        if suffix := _suffix(one, program):
            groups.setdefault(suffix, []).append(one)
    return [group for group in groups.values() if len(group) > 1]


def _suffix(one: _Listed, program: Program) -> str | None:
    """What the CLI goes by to delete a file together with others; None if it deletes it alone."""
    is_document = one.name.endswith(".json")
    is_grouped = program.deletes_documents_together if is_document else program.deletes_by_start_of_id
    found = _SUFFIX.fullmatch(one.name, one.name.rfind("-")) if is_grouped else None
    return found[1] if found else None


def _take_along(group: Sequence[_Listed], alone: Mapping[str, Doom], doom_of: dict[str, Doom]) -> None:
    going = [one for one in group if one.name in alone]
    if not going:
        return
    first = min(going, key=lambda one: alone[one.name].order)
    doom = alone[first.name]
    for one in group:
        if one.name not in alone or alone[one.name].order > doom.order:
            doom_of[one.name] = _taken_along(one, first, doom)


def _taken_along(one: _Listed, first: _Listed, doom: Doom) -> Doom:
    own, others = seen.native_id(one.traits), seen.native_id(first.traits)
    is_twin = doom.cause in (NOTHING_TO_RESUME, UNREADABLE) and own is not None and own == others
    because = f"its name ends like {first.name!r}, which is deleted: {doom.because}"
    if is_twin:
        because = f"it shares its id with {first.name!r}, which is deleted: {doom.because}"
    return Doom(doom.at, TWIN if is_twin else SAME_SUFFIX, because)


def _parents(
    listed: Sequence[_Listed], doom_of: Mapping[str, Doom], program: Program
) -> dict[str, tuple[str, Doom]]:
    """The sessions whose subagents go with them, by their ids: the file that goes first."""
    found: dict[str, tuple[str, Doom]] = {}
    for one in listed:
        doom, session_id = doom_of.get(one.name), seen.native_id(one.traits)
        if doom is None or session_id is None or _leaves_subagents(one, doom, program):
            continue
        known = found.get(session_id)
        if known is None or doom.order < known[1].order:
            found[session_id] = (one.name, doom)
    return found


def _leaves_subagents(one: _Listed, doom: Doom, program: Program) -> bool:
    """Whether the CLI does not know whose rubbish it deletes: it looks into that only if it goes by names."""
    return doom.cause in _RUBBISH and _suffix(one, program) is None
