"""What filters and their values mean, in a few words each: for a box that completes what is being typed."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

FILTER_NOTES: Mapping[str, str] = MappingProxyType(
    {
        "agent": "who was at work",
        "project": "the folder it was in",
        "tool": "a tool that was called",
        "file": "a file that was touched",
        "model": "the model that answered",
        "role": "who wrote the message",
        "status": "how it ended",
        "since": "from then on",
        "before": "until then",
        "hour": "the weekday or the hour, as mon-14",
        "in": "where the words stand",
        "is": "what kind of session or message",
        "id": "a piece of its id",
        "tag": "a tag you gave it",
        "name": "a piece of the name you gave it",
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
            "main": "led by you",
            "subagent": "started by an agent",
            "checkpoint": "saved by you",
            "deleted": "deleted by the agent, read from a copy",
            "kept": "the same as deleted",
            "lost": "only traces are left",
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
            "arguments": "what tools were asked",
            "output": "what tools answered",
            "paths": "",
            "other": "",
        },
        "role": dict.fromkeys(("user", "assistant", "system"), ""),
        "status": dict.fromkeys(("success", "failure", "interrupted", "cancelled", "error"), ""),
    }
)
"""Values of filters that take one of a few, and some moments of those that take any; the likeliest first."""
