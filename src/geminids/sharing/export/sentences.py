"""What documents for people say about a session and between its turns. Times are UTC."""

from __future__ import annotations

from datetime import UTC

from geminids.core.model import Session, SessionKind, ToolCall
from geminids.sharing.export.base import Manner, agent_title
from geminids.sharing.transcript import words
from geminids.sharing.transcript.call_summary import changed_lines
from geminids.sharing.transcript.entries import Mark, Pause, Turn
from geminids.sharing.transcript.labels import (
    branch_name,
    call_trouble,
    kind_sentence,
    mark_sentence,
    models_sentence,
    pause_sentence,
    problem_line,
    problems_sentence,
    redacted_sentence,
    speaker_name,
    state_name,
)


def about(session: Session, manner: Manner) -> list[str]:
    """What stands below the title, a line each."""
    place = session.project.path or session.project.name
    lines = [" · ".join(filter(None, (place, branch_name(session), agent_title(session, manner))))]
    if kind := kind_sentence(session, session.parent_id):
        lines.append(kind)
    lines.append(words.time_span(session.started_at, session.ended_at, UTC))
    if session.kind is SessionKind.LOST:
        # Whether it was answered, by which model and for how many tokens is what is lost.
        lines.append(session.id)
    else:
        lines.append(models_sentence(session))
        lines.append(f"{words.STATUS_MARKS[session.status][0]} {session.status} · {session.id}")
    if session.problems:
        lines.append(problems_sentence(len(session.problems)))
    if manner.detail.notices:
        lines += [problem_line(problem, problem.file) for problem in session.problems]
    if manner.redacted:
        lines.append(redacted_sentence(manner.redacted))
    return lines


def speaker(turn: Turn, session: Session, manner: Manner) -> list[str]:
    """Whose turn it is, when, and in which state if that matters."""
    state = state_name(turn.message, everything=manner.detail.everything)
    who = speaker_name(turn, agent_title(session, manner))
    return [piece for piece in (who, words.clock(turn.message.at, UTC), state) if piece]


def between(entry: Pause | Mark) -> str:
    """What happened between two turns."""
    if isinstance(entry, Mark):
        return f"⟲ {mark_sentence(entry)}"
    return f"· · · {pause_sentence(entry, UTC)}"


def call_end(call: ToolCall) -> str:
    """What a call changed and how it ended, if not well."""
    changed = changed_lines(call.changes)
    pieces = [f"+{changed[0]} -{changed[1]}"] if changed else []
    trouble = call_trouble(call)
    return " ".join([*pieces, f"({trouble})"] if trouble else pieces)
