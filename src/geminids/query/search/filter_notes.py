"""What filters and their values mean, in a few words each: for a box that completes what is being typed."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

FILTER_NOTES: Mapping[str, str] = MappingProxyType(
    {
        "agent": "the agent",
        "project": "the project, or its folder",
        "tool": "a tool that was used",
        "file": "a file that was read or changed",
        "model": "the model that answered",
        "role": "who wrote the message",
        "status": "how it ended",
        "since": "from then on",
        "before": "until then",
        "hour": "the weekday or hour, such as mon-14",
        "in": "where to search",
        "is": "the kind of session or message",
        "id": "part of its id",
        "tag": "a tag you gave it",
        "name": "part of the name you gave it",
    }
)

_MOMENTS = {
    "today": "",
    "yesterday": "",
    "7d": "7 days ago",
    "30d": "30 days ago",
    "6mo": "6 months ago",
    "1y": "a year ago",
}

VALUE_NOTES: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "since": _MOMENTS,
        "before": _MOMENTS,
        "is": {
            "main": "your own sessions",
            "subagent": "started by an agent",
            "checkpoint": "saved by you",
            "deleted": "deleted by the agent, read from a copy",
            "kept": "same as deleted",
            "lost": "only your prompts are left",
            "error": "with a call that failed",
            "rewound": "undone",
            "compressed": "replaced by a summary",
            "dropped": "anything that was undone or replaced",
            "current": "what the model still sees",
            "failed": "",
            "cancelled": "",
            "superseded": "",
            "unrecorded": "typed, but not in the session's file",
        },
        "in": {
            "human": "what you typed",
            "model": "answers",
            "thoughts": "",
            "arguments": "tool arguments",
            "output": "tool output",
            "paths": "",
            "other": "",
        },
        "role": dict.fromkeys(("user", "assistant", "system"), ""),
        "status": dict.fromkeys(("success", "failure", "interrupted", "cancelled", "error"), ""),
    }
)
"""Values of filters that take one of a few, and some moments of those that take any; the likeliest first."""
