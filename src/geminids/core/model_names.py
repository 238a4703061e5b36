"""What names of models tell: who makes a model, and through whom it was asked.

These are names of models, as agents write them down, and have nothing to do with the agents' own names.
"""

from __future__ import annotations

import re

MAKERS = {
    "gemini": "google",
    "gemma": "google",
    "claude": "anthropic",
    "gpt": "openai",
    "chatgpt": "openai",
    "codex": "openai",
    "o1": "openai",
    "o3": "openai",
    "o4": "openai",
    "grok": "xai",
    "llama": "meta",
    "mistral": "mistral",
    "devstral": "mistral",
    "codestral": "mistral",
    "deepseek": "deepseek",
    "qwen": "alibaba",
    "kimi": "moonshot",
    "glm": "zhipu",
}
"""Who makes models, by how their names begin."""
TELEMETRY_NAMES = {"google": "gcp.gemini", "anthropic": "anthropic", "openai": "openai"}
"""What the conventions of OpenTelemetry call those who make and offer models."""
AT_AMAZON = re.compile(r"^(?:[a-z-]+\.)?anthropic\.claude")
"""How a model of Anthropic is called at Amazon, `us.anthropic.…`, which charges by its own list."""
AT_GOOGLE = re.compile(r"^claude[^/]*@")
"""How a model of Anthropic is called at Google, `…@20250929`."""

_FIRST_NAME = re.compile(r"[a-z]+(?:\d(?=-|$))?")


def maker_of(name: str) -> str | None:
    """Who makes the model of this name, by its first word; None if nobody is known."""
    found = _FIRST_NAME.match(name.lower().rpartition("/")[2])
    return MAKERS.get(found[0]) if found else None


def maker_by_beginning(name: str) -> str | None:
    """Who makes a model, if its name begins as names of that maker do, exactly so."""
    return next((maker for beginning, maker in MAKERS.items() if name.startswith(beginning)), None)
