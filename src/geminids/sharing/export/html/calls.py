"""Tool calls: a line that tells what was done, and folded behind it all that is known."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from geminids.core.model import ToolCall, Unrecognised
from geminids.sharing.export.html.code import diff
from geminids.sharing.export.html.markup import NOTHING, Markup, filled, joined, line, number, text
from geminids.sharing.export.html.pictures import attachments
from geminids.sharing.export.html.pieces import PageFacts, box, fold
from geminids.sharing.export.html.prose import prose
from geminids.sharing.transcript import safe, words
from geminids.sharing.transcript.call_summary import (
    answer_lines,
    changed_lines,
    diff_lines,
    error_line,
    line_argument,
    output_text,
    result_of_task,
    value_words,
)
from geminids.sharing.transcript.labels import (
    CALL_MARKS,
    UNRECOGNISED,
    call_outcome,
    call_trouble,
    child_sentence,
    moved_sentence,
)
from geminids.sharing.transcript.limits import LONGEST_ERROR, UNFOLDED_DIFF_LINES, cut

_MARKS = {outcome: Markup(f'<i class="{style}">{mark}</i>') for outcome, (mark, style) in CALL_MARKS.items()}
_SHOWN_IN_DIFF = {"content", "new_string", "old_string", "instruction"}


def tool_call(call: ToolCall, facts: PageFacts) -> Markup:
    """One call, in as much detail as is wished."""
    if not facts.detail.tools:
        return _alone(call, facts)
    changed = [safe.text(line) for line in diff_lines(call)]
    is_open = 0 < len(changed) <= UNFOLDED_DIFF_LINES
    return fold("call", _line(call, facts), joined(_body(call, changed)), is_open=is_open)


def _alone(call: ToolCall, facts: PageFacts) -> Markup:
    """A call without what is behind it; what a subagent hands back is worth telling."""
    shown = filled('<div class="call">{}{}</div>\n', _line(call, facts), _child(call))
    if result := result_of_task(call):
        return filled('{}<div class="prose">{}</div>\n', shown, prose(result))
    return shown


def _line(call: ToolCall, facts: PageFacts) -> Markup:
    return joined((_name(call), _argument(call, facts), _counts(call), _trouble(call), *_below(call, facts)))


def _name(call: ToolCall) -> Markup:
    return filled("{} <b>{}</b> ", _MARKS[call_outcome(call)], line(call.name))


def _argument(call: ToolCall, facts: PageFacts) -> Markup:
    argument = line_argument(call, facts.session.project.path, is_whole_below=facts.detail.tools)
    return filled('<span class="argument">{}</span> ', line(argument)) if argument else NOTHING


def _counts(call: ToolCall) -> Markup:
    counted = changed_lines(call.changes)
    return (
        filled('<span class="good">+{}</span> <span class="bad">-{}</span> ', *map(number, counted))
        if counted
        else NOTHING
    )


def _trouble(call: ToolCall) -> Markup:
    trouble = call_trouble(call)
    return filled('<span class="badge">{}</span> ', line(trouble)) if trouble else NOTHING


def _below(call: ToolCall, facts: PageFacts) -> Iterator[Markup]:
    """What is told of a call even where it is folded."""
    if error := error_line(call):
        shown = cut(error, LONGEST_ERROR) if facts.detail.tools else error
        yield filled('<span class="error">{}</span>', line(shown))
    for answer in answer_lines(call):
        yield filled('<span class="answer">{}</span>', line(answer))


def _body(call: ToolCall, changed: list[str]) -> Iterator[Markup]:
    if changed:
        yield from _changes(call, changed)
    yield from _arguments(call, changed)
    yield _child(call)
    yield from _output(call)


def _child(call: ToolCall) -> Markup:
    if not call.child_id:
        return NOTHING
    label = line(words.capital(child_sentence("")))
    return filled('<p class="quiet">{}<code>{}</code></p>', label, line(call.child_id))


def _changes(call: ToolCall, changed: list[str]) -> Iterator[Markup]:
    if len(call.changes) <= 1:
        yield box(diff(changed), "diff")
        return
    for change in call.changes:
        alone = msgspec.structs.replace(call, changes=(change,), display=None)
        yield filled('<p class="label">{}</p>', line(change.path))
        yield box(diff([safe.text(line) for line in diff_lines(alone)]), "diff")


def _arguments(call: ToolCall, changed: list[str]) -> Iterator[Markup]:
    """All arguments; those that a diff shows better are folded once more."""
    hidden: list[Markup] = []
    for name, value in call.arguments.items():
        shown = _named(name, value)
        if changed and name in _SHOWN_IN_DIFF:
            hidden.append(shown)
        else:
            yield shown
    if hidden:
        yield fold("more", Markup("Texts of the change"), joined(hidden))


def _named(name: str, value: Any) -> Markup:
    return filled('<p class="label">{}</p>{}', line(name), box(text(value_words(value, indented=True))))


def _output(call: ToolCall) -> Iterator[Markup]:
    if moved := call.full_output:
        yield filled('<p class="quiet">{}</p>', line(words.capital(moved_sentence(moved, moved.path))))
    output = output_text(call)
    if output.strip():
        yield filled('<p class="label">Output</p>{}', box(text(output)))
    yield from attachments(call.result)
    for part in call.result:
        if isinstance(part, Unrecognised):
            yield _named(UNRECOGNISED, part.raw)
