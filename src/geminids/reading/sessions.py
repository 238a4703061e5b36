"""A session of which nothing is known but what its messages and its files tell."""

from __future__ import annotations

from geminids.core.model import Message, Problem, Project, Session, SessionFile, SessionKind
from geminids.core.model.summary import counts_of, models_of, status_of, title_of, usage_of


def plain_session(
    agent: str,
    native_id: str,
    messages: tuple[Message, ...],
    files: tuple[SessionFile, ...],
    *,
    project: Project,
    kind: SessionKind = SessionKind.MAIN,
    problems: tuple[Problem, ...] = (),
) -> Session:
    """The session with all that follows from its messages: title, times, status, models and counts."""
    times = [message.at for message in messages if message.at]
    return Session(
        id=f"{agent}:{native_id}",
        agent=agent,
        native_id=native_id,
        kind=kind,
        parent_id=None,
        project=project,
        title=title_of(None, messages),
        summary=None,
        started_at=min(times, default=None),
        ended_at=max(times, default=None),
        status=status_of(messages, kind),
        models=models_of(messages),
        counts=counts_of(messages),
        usage=usage_of(messages),
        files=files,
        problems=problems,
        messages=messages,
    )
