"""What stands at the top of a Markdown file, for programs: YAML of which every value is also JSON."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec

from geminids.core.model import Session
from geminids.sharing.export.base import Manner, agent_title, title_of
from geminids.sharing.transcript import safe

_NOT_IN_YAML = dict.fromkeys((0xFFFE, 0xFFFF), "\N{REPLACEMENT CHARACTER}")
"""The letters that YAML does not allow and a terminal does not mind."""


def front_matter(session: Session, manner: Manner) -> str:
    """A session in little. Every text stands in quotes on one line, so none can end it."""
    fields: dict[str, Any] = {
        "id": session.id,
        "title": title_of(session, manner),
        "agent": agent_title(session, manner),
        "project": session.project.name,
        "folder": session.project.path,
        "branch": session.branch,
        "started": session.started_at,
        "ended": session.ended_at,
        "status": str(session.status),
        "models": list(session.models),
        "prompts": session.counts.prompts,
        "replies": session.counts.replies,
        "tool_calls": session.counts.tool_calls,
        "tokens": session.usage.total,
    }
    if manner.redacted:
        fields["redacted"] = manner.redacted
    lines = [f"{name}: {_json(_harmless(value))}" for name, value in fields.items()]
    return "\n".join(("---", *lines, "---"))


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _harmless(value: Any) -> Any:
    match value:
        case str():
            return safe.line(value).translate(_NOT_IN_YAML)
        case list():
            return [_harmless(item) for item in value]
        case datetime():
            return value.astimezone(UTC)
        case _:
            return value
