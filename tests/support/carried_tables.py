"""The tables of what formats carry (`geminids.sharing.export.format_tables`), made anew by trying.

Of each format every option and level of detail is tried with sessions that together hold a value of every
kind that the model has.
"""

from __future__ import annotations

import inspect
import textwrap
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import Any

from geminids.core.model import Session
from geminids.sharing import export
from geminids.sharing.export.base import Format, Manner
from geminids.sharing.export.csv_tables import TABLES
from geminids.sharing.export.format_tables import EVERYTHING, FOLDER, Share, variant_of
from geminids.sharing.export.kinds import Steps, message_kind
from geminids.sharing.transcript.entries import LEVELS, Detail, Turn, transcript
from geminids.sharing.transcript.visible import visible_session
from tests.support.exporting import manner
from tests.support.model_kinds import held_values
from tests.support.probed_sessions import proving_sessions
from tests.support.trials import Outcome, Trial
from tests.support.tried_losses import WORDS, best, words_of_messages

Shares = dict[str, Share]
Found = defaultdict[str, set[Outcome]]

NO_BREAK = "\ue000"
WIDEST = 106

OPTIONS: Mapping[str, Sequence[Any]] = {
    "share": [False, True],
    "files_folder": [None, "files"],
    "table": [*TABLES],
    "touched_at": [None, datetime(2032, 1, 2, 3, 4, 5, 678000, UTC)],
}
"""All values of the options that formats have, but `natives`: agents' files tell of no session with marks."""


def table_file(name: str) -> Path:
    """Where the table of a format lies."""
    return Path(inspect.getfile(type(export.load(name)))).parent / FOLDER / f"{name}.toml"


def manners(chosen: Format, level: str) -> Iterator[Manner]:
    """Every manner in which a format can write at a level of detail."""
    names = sorted(chosen.options & OPTIONS.keys())
    for values in product(*(OPTIONS[name] for name in names)):
        yield manner(level, **dict(zip(names, values, strict=True)))


def table_of(name: str) -> str:
    """The table of a format as it has to be."""
    chosen = export.load(name)
    by_variant = {variant_of(chosen, one): _levels(chosen, one) for one in manners(chosen, EVERYTHING)}
    heading = (
        f"# What `{name}` carries of a session, by kind of value. Made and proven by trying: `make golden`.\n"
    )
    sections = (
        _section(variant, level, shares, levels[EVERYTHING])
        for variant, levels in by_variant.items()
        for level, shares in levels.items()
    )
    return "\n".join([heading, *filter(None, sections)])


def _section(variant: str, level: str, shares: Shares, everything: Shares) -> str:
    is_whole = level == EVERYTHING
    told = {
        kind: s for kind, s in shares.items() if (s is not Share.LOST if is_whole else s != everything[kind])
    }
    quoted = variant if variant.isidentifier() else f'"{variant}"'
    lines = [_line(share, told) for share in Share if share in told.values()]
    return "\n".join([f"[{quoted}.{level}]", *lines, ""]) if lines or is_whole else ""


def _line(share: Share, told: Shares) -> str:
    # Only between two kinds may a line end.
    named = (f'"{kind}",'.replace(" ", NO_BREAK) for kind in sorted(told) if told[kind] is share)
    lines = textwrap.wrap(" ".join(named), WIDEST, break_long_words=False, break_on_hyphens=False)
    return "\n".join([f"{share} = [", *(f"    {line}" for line in lines), "]"]).replace(NO_BREAK, " ")


def _levels(chosen: Format, chosen_manner: Manner) -> dict[str, Shares]:
    """How much of each kind is there at each level, the fullest first."""
    trials = [(session, Trial(session, chosen, chosen_manner)) for session in proving_sessions()]
    return {level: _shares(trials, LEVELS[level]) for level in reversed(LEVELS)}


def _shares(trials: Iterable[tuple[Session, Trial]], detail: Detail) -> Shares:
    """How much of each kind is there of what a level tells, but for what stands in messages that are lost."""
    found: Found = defaultdict(set)
    inside: dict[str, Found] = defaultdict(lambda: defaultdict(set))
    for session, trial in trials:
        told = told_steps(session, detail)
        kinds = [message_kind(message.state) for message in session.messages]
        settled = set()
        for value in trial.values:
            seen = found if value.message is None else inside[kinds[value.message]]
            if value.steps not in told or (value.kind not in WORDS and _is_part(seen[value.path])):
                settled.add(value.steps)
        outcomes = trial.outcomes(detail, settled)
        for place, words in words_of_messages(v for v in trial.values if v.steps in told).items():
            found[kinds[place]].add(best(words, outcomes))
        for value in trial.values:
            if value.steps in told and value.steps in outcomes:
                if value.message is None:
                    found[value.path].add(outcomes[value.steps])
                else:
                    inside[kinds[value.message]][value.path].add(outcomes[value.steps])
    for messages, seen_inside in inside.items():
        if found.get(messages) != {Outcome.LOST}:
            for path, outcomes_inside in seen_inside.items():
                found[path] |= outcomes_inside
    return {kind: _share(seen) for kind, seen in found.items() if seen}


def _is_part(seen: Set[Outcome]) -> bool:
    """Whether some are there and some are not, so that one more changes nothing."""
    return bool(seen) and _share(seen) is Share.PART


def _share(seen: Iterable[Outcome]) -> Share:
    match [*seen]:
        case [Outcome.CARRIED]:
            return Share.WHOLE
        case [Outcome.LOST]:
            return Share.LOST
        case _:
            return Share.PART


def told_steps(session: Session, detail: Detail) -> set[Steps]:
    """The values that a level of detail tells, wherever they stand in the story."""
    told = {held.steps for held in held_values(visible_session(session, detail))}
    if detail.everything:
        return told
    places: dict[Steps, Steps] = {}
    originals = {id(message): place for place, message in enumerate(session.messages)}
    turns = [entry for entry in transcript(session, detail) if isinstance(entry, Turn)]
    for number, turn in enumerate(turns):
        place = originals[id(turn.message)]
        places["messages", number] = ("messages", place)
        parts = {id(part): part_place for part_place, part in enumerate(turn.message.parts)}
        for part_number, part in enumerate(turn.parts):
            places["messages", number, "parts", part_number] = ("messages", place, "parts", parts[id(part)])
    return {_moved(steps, places) for steps in told}


def _moved(steps: Steps, places: Mapping[Steps, Steps]) -> Steps:
    for length in (4, 2):
        if steps[:length] in places:
            return places[steps[:length]] + steps[length:]
    return steps
