"""What becomes of the values of a session in a format, found out by trying and counted for each fact."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from geminids.core.model import Session
from geminids.sharing.export.base import Format, Manner
from geminids.sharing.export.facts import fact_of
from geminids.sharing.export.kinds import Steps, message_kind
from geminids.sharing.export.losses import COUNTS, Loss, LossReport, summed
from geminids.sharing.transcript.entries import LEVELS
from tests.support.probing import Value, ValueKind
from tests.support.trials import Outcome, Trial

WORDS = {ValueKind.WORDS, ValueKind.AGENT_WORDS, ValueKind.NAME}


def tried_losses(session: Session, chosen: Format, manner: Manner) -> LossReport:
    """What becomes of every fact of a session, whatever the table of the format says."""
    trial = Trial(session, chosen, manner)
    found = trial.outcomes(manner.detail)
    in_full: Mapping[Steps, Outcome] = {}
    if not manner.detail.everything:
        carried = {steps for steps, outcome in found.items() if outcome is Outcome.CARRIED}
        in_full = trial.outcomes(LEVELS["everything"], carried)
    tallies: defaultdict[str, Tally] = defaultdict(Tally)
    for value in trial.values:
        tallies[fact_of(value.path)].add(found.get(value.steps), in_full.get(value.steps))
    for place, words in words_of_messages(trial.values).items():
        fact = fact_of(message_kind(session.messages[place].state))
        tallies[fact].add(best(words, found), best(words, in_full))
    counted = summed(tally.loss(fact) for fact, tally in tallies.items())
    return LossReport(format=chosen.name, session_id=session.id, losses=counted)


class Tally:
    """How many values of a fact became what."""

    def __init__(self) -> None:
        self._counts = dict.fromkeys(COUNTS, 0)

    def add(self, outcome: Outcome | None, in_full: Outcome | None) -> None:
        """Count a value, by what becomes of it and what would if everything were told; None if not tried."""
        self._counts["values"] += 1
        self._counts["tried"] += outcome is not None
        self._counts["carried"] += outcome is Outcome.CARRIED
        self._counts["cut"] += outcome is Outcome.CUT
        self._counts["left_out"] += outcome is Outcome.LOST and bool(in_full)

    def loss(self, fact: str) -> Loss:
        """What was counted."""
        return Loss(fact=fact, **self._counts)


def words_of_messages(values: Iterable[Value]) -> Mapping[int, list[Steps]]:
    """The words in the parts of each message, by the place of the message."""
    words: dict[int, list[Steps]] = defaultdict(list)
    for value in values:
        if value.message is not None and value.is_in_part and value.kind in WORDS:
            words[value.message].append(value.steps)
    return words


def best(words: Iterable[Steps], outcomes: Mapping[Steps, Outcome]) -> Outcome:
    """A message is there if any word in it is."""
    return Outcome.CARRIED if any(outcomes.get(steps) for steps in words) else Outcome.LOST
