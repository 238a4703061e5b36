"""What documents for people say about a session and between its turns. Times are UTC."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from geminids.export.base import Manner, agent_title
from geminids.model import Session, SessionKind, ToolCall, ToolStatus
from geminids.transcript import words
from geminids.transcript.entries import Mark, Pause, Turn
from geminids.transcript.naming import call_trouble, mark_sentence, speaker_name, state_name
from geminids.transcript.telling import changed_lines, result_of_task, telling_argument

KINDS = {
    SessionKind.SUBAGENT: ("a subagent", "of"),
    SessionKind.CHECKPOINT: ("saved by hand", "from"),
    SessionKind.COPY: ("a copy; the session itself is elsewhere, if anywhere", "of"),
    SessionKind.LOST: ("lost: what was typed is what remains", ""),
}
"""What a session is that is no main one, and what ties it to another."""

LEFT_OUT = {
    "replies": ("reply", "replies"),
    "thoughts": ("thought", "thoughts"),
    "notices": ("notice", "notices"),
    "rewound": ("rewound message", "rewound messages"),
    "synthetic": ("automatic message", "automatic messages"),
    "unrecognised": ("unrecognised part", "unrecognised parts"),
}
"""What a reader may miss. Context stands in nearly every session, and calls tell their results."""

SHORT_OUTPUT = 3
"""Lines of what a command of the human produced, where outputs are not told whole."""

CALL_MARKS = {
    ToolStatus.SUCCESS: "●",
    ToolStatus.ERROR: "✗",
    ToolStatus.CANCELLED: "⊘",
    ToolStatus.PENDING: "○",
    ToolStatus.UNKNOWN: "●",
}


def moment(at: datetime | None) -> str:
    """A moment in full, or nothing."""
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M}" if at else ""


def clock(at: datetime | None) -> str:
    """The time of day, or nothing."""
    return f"{at.astimezone(UTC):%H:%M}" if at else ""


def time_span(session: Session) -> str:
    """When it was."""
    begin, end = session.started_at, session.ended_at
    if not (begin and end):
        known = moment(begin or end)
        return f"{known} UTC" if known else "no time"
    is_same_day = begin.astimezone(UTC).date() == end.astimezone(UTC).date()
    until = clock(end) if is_same_day else moment(end)
    return f"{moment(begin)} to {until} UTC ({words.duration(end - begin)})"


def about(session: Session, manner: Manner) -> list[str]:
    """What stands below the title, a line each."""
    lines = [f"{session.project.path or session.project.name} · {agent_title(session, manner)}"]
    if session.kind in KINDS:
        lines.append(_kind(session))
    lines.append(time_span(session))
    if session.kind is SessionKind.LOST:
        # Whether it was answered, by which model and for how many tokens is what is lost.
        lines.append(session.id)
    else:
        models = ", ".join(session.models) or "model unknown"
        lines.append(f"{models} · {words.tokens(session.usage)}")
        lines.append(f"{words.STATUS_MARKS[session.status][0]} {session.status} · {session.id}")
    if session.problems:
        lines.append(f"⚠ {words.count(len(session.problems), 'problem')} in its files")
    if manner.redacted:
        lines.append(f"Hidden: {manner.redacted}")
    return lines


def speaker(turn: Turn, session: Session, manner: Manner) -> list[str]:
    """Whose turn it is, when, and in which state if that matters."""
    state = state_name(turn.message, everything=manner.detail.everything)
    who = speaker_name(turn, agent_title(session, manner))
    return [piece for piece in (who, clock(turn.message.at), state) if piece]


def between(entry: Pause | Mark) -> str:
    """What happened between two turns."""
    if isinstance(entry, Mark):
        return f"⟲ {mark_sentence(entry)}"
    return f"· · · {words.duration(entry.length)} later, {moment(entry.until)}"


def left_out(counts: Mapping[str, int]) -> str:
    """What was not told, if a reader may miss it."""
    known = [words.count(counts[name], *nouns) for name, nouns in LEFT_OUT.items() if name in counts]
    return f"Not told: {', '.join(known)}." if known else ""


def shortened(text: str) -> str:
    """The first lines of an output, and how many there are besides."""
    lines = text.strip().split("\n")
    more = len(lines) - SHORT_OUTPUT
    return "\n".join([*lines[:SHORT_OUTPUT], f"… {words.count(more, 'more line')}"] if more > 0 else lines)


def call_mark(call: ToolCall) -> str:
    """How a call ended, as a sign."""
    return CALL_MARKS[ToolStatus.ERROR if call.exit_code else call.status]


def call_argument(call: ToolCall, session: Session, *, with_result: bool) -> str:
    """What a call was about; where a subagent hands back its result, which is told, nothing."""
    if not with_result and result_of_task(call):
        return ""
    return telling_argument(call, session.project.path)


def call_end(call: ToolCall) -> str:
    """What a call changed and how it ended, if not well."""
    changed = changed_lines(call.changes)
    pieces = [f"+{changed[0]} -{changed[1]}"] if changed else []
    trouble = call_trouble(call)
    return " ".join([*pieces, f"({trouble})"] if trouble else pieces)


def _kind(session: Session) -> str:
    kind, tie = KINDS[session.kind]
    mark = words.KIND_MARKS.get(session.kind, "")
    if session.parent_id and tie:
        kind = f"{kind}, {tie} {session.parent_id}"
    elif session.kind is SessionKind.LOST and session.summary:
        kind = f"{kind} ({session.summary})"
    return f"{mark} {kind}".strip()
