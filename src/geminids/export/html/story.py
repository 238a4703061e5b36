"""The story of a session, entry by entry."""

from __future__ import annotations

from collections.abc import Sequence

from geminids.export.html.markup import NOTHING, Markup, filled, joined, line, number
from geminids.export.html.parts import part_markup
from geminids.export.html.telling import Telling, moment, time
from geminids.export.html.tokens import bar
from geminids.transcript import words
from geminids.transcript.entries import Entry, LeftOut, Mark, Pause, Speaker, Turn, is_marked
from geminids.transcript.naming import mark_sentence, speaker_name, state_name

_TURN = """<article class="turn {}" id="m-{}">
<header>{}{}{}{}<a class="number" href="#m-{}" title="Link to message {}">#{}</a></header>
{}</article>
"""
_NAMED_LEFT_OUT = {
    "replies": ("reply", "replies"),
    "thoughts": ("thought", "thoughts"),
    "notices": ("notice", "notices"),
    "rewound": ("rewound message", "rewound messages"),
    "synthetic": ("automatic message", "automatic messages"),
    "unrecognised": ("unrecognised part", "unrecognised parts"),
}
"""What is worth a word where it is left out; context stands in nearly every session."""


def entry_markup(entry: Entry, telling: Telling) -> Markup:
    """One entry of the story."""
    match entry:
        case Turn():
            return _turn(entry, telling)
        case Pause(length=length, until=until):
            later = Markup(f"{words.duration(length)} later, ")
            return filled('<p class="pause">{}{}</p>\n', later, time(until, moment(until)))
        case Mark():
            return filled('<p class="mark">⟲ {}</p>\n', Markup(mark_sentence(entry)))
        case LeftOut(counts=counts):
            named = [
                words.count(counts[name], *forms) for name, forms in _NAMED_LEFT_OUT.items() if name in counts
            ]
            return (
                filled('<p class="left-out">Left out: {}.</p>\n', Markup(", ".join(named)))
                if named
                else NOTHING
            )


def _turn(turn: Turn, telling: Telling) -> Markup:
    message = turn.message
    place = number(telling.numbers[id(message)])
    return filled(
        _TURN,
        Markup(_classes(turn)),
        place,
        _speaker(turn, telling),
        _state(turn, telling),
        time(message.at, f"{message.at:%H:%M}") if message.at else NOTHING,
        bar(message.usage, telling.most_tokens) if message.usage else NOTHING,
        place,
        place,
        place,
        joined([part_markup(part, message, telling) for part in turn.parts]),
    )


def _classes(turn: Turn) -> str:
    more = " more" if turn.continues else ""
    return f"{turn.speaker}{more}{' dropped' if is_marked(turn.message) else ''}"


def _speaker(turn: Turn, telling: Telling) -> Markup:
    if turn.continues:
        return NOTHING
    name = filled("<h2>{}</h2>", line(speaker_name(turn, telling.agent_title)))
    is_one_of_many = turn.speaker is Speaker.MODEL and len(telling.session.models) > 1
    if not is_one_of_many or not turn.message.model:
        return name
    return filled('{}<span class="model-name">{}</span>', name, line(turn.message.model))


def _state(turn: Turn, telling: Telling) -> Markup:
    state = state_name(turn.message, everything=telling.detail.everything)
    return filled('<span class="badge">{}</span>', Markup(state)) if state else NOTHING


def turns_of(entries: Sequence[Entry]) -> list[Turn]:
    """The turns among the entries."""
    return [entry for entry in entries if isinstance(entry, Turn)]
