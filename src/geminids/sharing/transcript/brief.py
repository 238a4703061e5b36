"""A session in brief, from its records alone: what was asked, changed and run, and what was open at its end.

Nobody sums up and no model is asked: each line stands in one message, which it names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from geminids.core.model import (
    Message,
    Origin,
    Session,
    State,
    Todos,
    ToolCall,
    ToolKind,
    ToolStatus,
)
from geminids.sharing.transcript import safe
from geminids.sharing.transcript.call_summary import changed_lines, error_line, main_argument
from geminids.sharing.transcript.entries import PROMPT_ORIGINS
from geminids.sharing.transcript.labels import call_outcome, call_trouble
from geminids.sharing.transcript.limits import cut

LONGEST = 300
"""Characters of a line."""
FIRST_PROMPTS, LAST_PROMPTS = 1, 7
MOST_FILES, MOST_FAILED, MOST_WORKED = 12, 8, 6
"""What is told first; all else stands below."""
_DONE = frozenset({"completed", "done", "cancelled", "canceled"})


class BriefKind(StrEnum):
    """What a line of a brief tells."""

    OPEN = "open"
    """What was not done at the end."""
    LAST = "last"
    """The last words of the model."""
    PROMPT = "prompt"
    FAILED = "failed"
    """A command or another call that failed, and did not work later."""
    FILE = "file"
    """A file that was changed."""
    WORKED = "worked"
    """A command that worked."""


class BriefLine(NamedTuple):
    """One thing, and the message that it stands in: the last one, of what happened several times."""

    kind: BriefKind
    number: int
    """Of the message, from 1."""
    at: datetime | None
    text: str


def brief(session: Session) -> list[BriefLine]:
    """All lines: first the most telling of each kind, then the rest in the same order of kinds."""
    messages = [(n, one) for n, one in enumerate(session.messages, 1) if one.state is not State.REWOUND]
    calls = [(n, one, call) for n, one in messages for call in one.tool_calls]
    prompts = list(_prompts(messages))
    files = list(_files(session, calls))
    failed, worked = _commands(session, calls)
    opened = list(_open(session, messages, calls))
    chosen = [
        *opened,
        *prompts[:FIRST_PROMPTS],
        *prompts[FIRST_PROMPTS:][-LAST_PROMPTS:],
        *failed[-MOST_FAILED:],
        *files[-MOST_FILES:],
        *worked[-MOST_WORKED:],
    ]
    known = set(chosen)
    return chosen + [line for line in (*prompts, *failed, *files, *worked) if line not in known]


def last_reply(session: Session) -> str | None:
    """Return the beginning of the last words of the model, as one line; None if it said nothing."""
    messages = [(n, one) for n, one in enumerate(session.messages, 1) if one.state is not State.REWOUND]
    last = _last_words(messages)
    return _line(BriefKind.LAST, *last).text if last else None


def _prompts(messages: Iterable[tuple[int, Message]]) -> Iterator[BriefLine]:
    for number, message in messages:
        words = "\n".join(message.text(origin) for origin in (Origin.HUMAN, Origin.COMMAND)).strip()
        if message.origin in PROMPT_ORIGINS and words and not message.imported:
            yield _line(BriefKind.PROMPT, number, message, words)


def _files(session: Session, calls: Iterable[tuple[int, Message, ToolCall]]) -> Iterator[BriefLine]:
    """Each file that was changed, in the order of the last changes."""
    changes: dict[str, list[tuple[int, Message, ToolCall]]] = {}
    for one in calls:
        for change in one[2].changes:
            changes.setdefault(change.path, []).append(one)
    for path, made in sorted(changes.items(), key=lambda item: item[1][-1][0]):
        number, message, _ = made[-1]
        every = [change for _, _, call in made for change in call.changes if change.path == path]
        counted = changed_lines(every)
        size = f" +{counted[0]} -{counted[1]}" if counted else ""
        times = f" in {len(made)} edits" if len(made) > 1 else ""
        operation = every[0].operation if len(every) == 1 else every[-1].operation
        yield _line(BriefKind.FILE, number, message, f"{operation} {path}{size}{times}")


def _commands(
    session: Session, calls: Iterable[tuple[int, Message, ToolCall]]
) -> tuple[list[BriefLine], list[BriefLine]]:
    """What failed and did not work later, and the commands that worked; each once, where it was run last."""
    last: dict[tuple[str, str], tuple[int, Message, ToolCall]] = {}
    for one in calls:
        call = one[2]
        if call.kind is ToolKind.EXECUTE or call_outcome(call) is ToolStatus.ERROR:
            key = call.name, _about(call, session)
            last.pop(key, None)
            last[key] = one
    failed: list[BriefLine] = []
    worked: list[BriefLine] = []
    for number, message, call in last.values():
        words = f"{call.name} {_about(call, session)}"
        if call_outcome(call) is ToolStatus.ERROR:
            trouble = " ".join(filter(None, (f"({call_trouble(call)})", error_line(call))))
            failed.append(_line(BriefKind.FAILED, number, message, f"{cut(words, LONGEST // 2)} {trouble}"))
        elif call.kind is ToolKind.EXECUTE and call_outcome(call) is ToolStatus.SUCCESS:
            worked.append(_line(BriefKind.WORKED, number, message, words))
    return failed, worked


def _open(
    session: Session,
    messages: Sequence[tuple[int, Message]],
    calls: Sequence[tuple[int, Message, ToolCall]],
) -> Iterator[BriefLine]:
    """What was not done: things on the last list, calls without an end, a prompt without an answer."""
    for number, message, call in reversed(calls):
        if isinstance(call.display, Todos):
            left = [todo for todo in call.display.todos if todo.status.lower() not in _DONE]
            yield from (
                _line(BriefKind.OPEN, number, message, f"to do ({todo.status}): {todo.text}") for todo in left
            )
            break
    for number, message, call in calls:
        if call.status is ToolStatus.PENDING:
            words = f"no end of {call.name} {_about(call, session)} is recorded"
            yield _line(BriefKind.OPEN, number, message, words)
    told = [(n, one) for n, one in messages if one.origin in {*PROMPT_ORIGINS, Origin.MODEL}]
    if told and told[-1][1].origin is Origin.HUMAN:
        yield _line(BriefKind.OPEN, *told[-1], "not answered: " + told[-1][1].text(Origin.HUMAN))
    elif last := _last_words(told):
        yield _line(BriefKind.LAST, *last)


def _last_words(told: Sequence[tuple[int, Message]]) -> tuple[int, Message, str] | None:
    """What the model said last."""
    for number, message in reversed(told):
        if message.origin is Origin.MODEL and (words := message.text(Origin.MODEL).strip()):
            return number, message, words
    return None


def _about(call: ToolCall, session: Session) -> str:
    return safe.line(main_argument(call, session.project.path))


def _line(kind: BriefKind, number: int, message: Message, words: str) -> BriefLine:
    return BriefLine(kind, number, message.at, cut(safe.line(words[: 4 * LONGEST]).strip(), LONGEST))
