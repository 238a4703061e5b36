"""The story of a session, entry by entry."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC

from geminids.sharing.export.html.markup import NOTHING, Markup, filled, joined, line, number
from geminids.sharing.export.html.parts import part_markup
from geminids.sharing.export.html.pieces import PageFacts, time
from geminids.sharing.export.html.tokens import bar
from geminids.sharing.transcript import words
from geminids.sharing.transcript.entries import LeftOut, Mark, Pause, Speaker, StoryEntry, Turn, is_marked
from geminids.sharing.transcript.labels import (
    left_out_sentence,
    mark_sentence,
    pause_sentence,
    speaker_name,
    state_name,
)

_TURN = """<article class="turn {}" id="m-{}">
<header>{}{}{}{}{}<a class="number" href="#m-{}" title="Link to message {}">#{}</a></header>
{}</article>
"""


def entry_markup(entry: StoryEntry, facts: PageFacts) -> Markup:
    """One entry of the story."""
    match entry:
        case Turn():
            return _turn(entry, facts)
        case Pause(until=until):
            return filled('<p class="pause">{}</p>\n', time(until, pause_sentence(entry, UTC)))
        case Mark():
            return filled('<p class="mark">⟲ {}</p>\n', Markup(mark_sentence(entry)))
        case LeftOut(counts=counts):
            sentence = left_out_sentence(counts)
            return filled('<p class="left-out">{}</p>\n', Markup(sentence)) if sentence else NOTHING


def _turn(turn: Turn, facts: PageFacts) -> Markup:
    message = turn.message
    place = number(facts.numbers[id(message)])
    return filled(
        _TURN,
        Markup(_classes(turn)),
        place,
        _speaker(turn, facts),
        _model(turn, facts),
        _state(turn, facts),
        time(message.at, words.clock(message.at, UTC)) if message.at else NOTHING,
        bar(message.usage, facts.most_tokens) if message.usage else NOTHING,
        place,
        place,
        place,
        joined([part_markup(part, message, facts) for part in turn.parts]),
    )


def _classes(turn: Turn) -> str:
    more = " more" if turn.continues else ""
    return f"{turn.speaker}{more}{' dropped' if is_marked(turn.message) else ''}"


def _speaker(turn: Turn, facts: PageFacts) -> Markup:
    return NOTHING if turn.continues else filled("<h2>{}</h2>", line(speaker_name(turn, facts.agent_title)))


def _model(turn: Turn, facts: PageFacts) -> Markup:
    """Which model it was: where everything is told, or where there are several and another turn begins."""
    begins_one_of_many = (
        turn.speaker is Speaker.MODEL and len(facts.session.models) > 1 and not turn.continues
    )
    if not turn.message.model or not (facts.detail.everything or begins_one_of_many):
        return NOTHING
    return filled('<span class="model-name">{}</span>', line(turn.message.model))


def _state(turn: Turn, facts: PageFacts) -> Markup:
    state = state_name(turn.message, everything=facts.detail.everything)
    return filled('<span class="badge">{}</span>', Markup(state)) if state else NOTHING


def turns_of(entries: Sequence[StoryEntry]) -> list[Turn]:
    """The turns among the entries."""
    return [entry for entry in entries if isinstance(entry, Turn)]
