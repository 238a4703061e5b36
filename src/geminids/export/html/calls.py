"""Tool calls: a line that tells what was done, and folded behind it all that is known."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from geminids.export.html.code import diff
from geminids.export.html.markup import NOTHING, Markup, filled, harmless, joined, line, number, text
from geminids.export.html.pictures import attachments
from geminids.export.html.prose import prose
from geminids.export.html.telling import Telling, box, fold
from geminids.model import ToolCall, ToolStatus, Unrecognised
from geminids.transcript import words
from geminids.transcript.naming import call_trouble
from geminids.transcript.telling import (
    answer_lines,
    changed_lines,
    diff_lines,
    error_line,
    output_text,
    result_of_task,
    telling_argument,
)

SHORT_DIFF = 24
"""Lines of a change that is shown without being asked for."""
LONGEST_ARGUMENT = 300
"""Characters of the argument in the line of a call; the whole is behind it."""

_MARKS = {
    ToolStatus.SUCCESS: Markup('<i class="good">✓</i>'),
    ToolStatus.ERROR: Markup('<i class="bad">✗</i>'),
    ToolStatus.CANCELLED: Markup('<i class="warning">⊘</i>'),
    ToolStatus.PENDING: Markup('<i class="warning">…</i>'),
    ToolStatus.UNKNOWN: Markup('<i class="warning">?</i>'),
}
_SHOWN_IN_DIFF = {"content", "new_string", "old_string", "instruction"}


def tool_call(call: ToolCall, telling: Telling) -> Markup:
    """One call, in as much detail as is wished."""
    if not telling.detail.tools:
        return _alone(call, telling)
    changed = [harmless(line) for line in diff_lines(call)]
    is_open = 0 < len(changed) <= SHORT_DIFF
    return fold("call", _line(call, telling), joined(_body(call, changed)), is_open=is_open)


def _alone(call: ToolCall, telling: Telling) -> Markup:
    """A call without what is behind it; what a subagent hands back is worth telling."""
    if result := result_of_task(call):
        handed_back = filled('<div class="prose">{}</div>', prose(result))
        return filled('<div class="call">{}</div>\n{}\n', _name(call), handed_back)
    return filled('<div class="call">{}</div>\n', _line(call, telling))


def _line(call: ToolCall, telling: Telling) -> Markup:
    return joined((_name(call), _argument(call, telling), _counts(call), _trouble(call), *_below(call)))


def _name(call: ToolCall) -> Markup:
    mark = _MARKS[ToolStatus.ERROR if call.exit_code else call.status]
    return filled("{} <b>{}</b> ", mark, line(call.name))


def _argument(call: ToolCall, telling: Telling) -> Markup:
    argument = telling_argument(call, telling.session.project.path)
    return filled('<span class="argument">{}</span> ', line(_cut(argument))) if argument else NOTHING


def _counts(call: ToolCall) -> Markup:
    counted = changed_lines(call.changes)
    return (
        filled('<span class="good">+{}</span> <span class="bad">−{}</span> ', *map(number, counted))
        if counted
        else NOTHING
    )


def _trouble(call: ToolCall) -> Markup:
    trouble = call_trouble(call)
    return filled('<span class="badge">{}</span> ', line(trouble)) if trouble else NOTHING


def _below(call: ToolCall) -> Iterator[Markup]:
    """What is told of a call even where it is folded."""
    if error := error_line(call):
        yield filled('<span class="error">{}</span>', line(_cut(error)))
    for answer in answer_lines(call):
        yield filled('<span class="answer">{}</span>', line(answer))


def _cut(sentence: str) -> str:
    """The beginning of what may be very long."""
    return sentence if len(sentence) <= LONGEST_ARGUMENT else sentence[: LONGEST_ARGUMENT - 1] + "…"


def _body(call: ToolCall, changed: list[str]) -> Iterator[Markup]:
    if changed:
        yield from _changes(call, changed)
    yield from _arguments(call, changed)
    if call.child_id:
        yield filled('<p class="quiet">Its session: <code>{}</code></p>', line(call.child_id))
    yield from _output(call)


def _changes(call: ToolCall, changed: list[str]) -> Iterator[Markup]:
    if len(call.changes) <= 1:
        yield box(diff(changed), "diff")
        return
    for change in call.changes:
        alone = msgspec.structs.replace(call, changes=(change,), display=None)
        yield filled('<p class="label">{}</p>', line(change.path))
        yield box(diff([harmless(line) for line in diff_lines(alone)]), "diff")


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
    return filled('<p class="label">{}</p>{}', line(name), box(text(in_words(value))))


def in_words(value: Any) -> str:
    """A value of an agent: words as they are, everything else as JSON."""
    if isinstance(value, str):
        return value
    import json

    return json.dumps(value, ensure_ascii=False, indent=2, default=str)


def _output(call: ToolCall) -> Iterator[Markup]:
    if moved := call.full_output:
        told = "The whole output" if moved.text is not None else "The whole output could not be read"
        yield filled('<p class="quiet">{}</p>', line(f"{told}: {moved.path}, {words.size(moved.size)}"))
    output = output_text(call)
    if output.strip():
        yield filled('<p class="label">Output</p>{}', box(text(output)))
    yield from attachments(call.result)
    for part in call.result:
        if isinstance(part, Unrecognised):
            yield _named("unrecognised", part.raw)
