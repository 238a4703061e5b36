"""Prompts that begin with / or ?: which of them somebody would miss, and which were mistyped commands.

Gemini CLI sends a command that it does not know to the model as a prompt, and later leaves everything out
that begins like one. Somebody who asked about a path (`/etc/hosts is what?`) misses that; nobody misses
`/nonsense` or `/modle pro`. So a prompt counts as missed if it can hardly be a command: its first word has a
second slash or a character that is in no command, or more than one word follows and a model answered it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import takewhile

from geminids.agents.gemini.custody.rescue_view import is_of_human, is_reply
from geminids.core.lazy_patterns import lazy_pattern
from geminids.core.model import Message, Origin

_LIKE_COMMAND = lazy_pattern(r"(?:/|\?+)[A-Za-z0-9_:.-]*(?P<rest>\s.*)?", re.DOTALL)
_MOST_ARGUMENTS = 1


def mistyped(messages: Sequence[Message], hidden: Collection[str]) -> set[str]:
    """The ids of those prompts among the hidden ones that look like mistyped commands."""
    return {
        message.id
        for place, message in enumerate(messages)
        if message.id in hidden and _is_mistyped(message, messages[place + 1 :])
    }


def _is_mistyped(message: Message, after: Sequence[Message]) -> bool:
    if not is_of_human(message):
        return False
    written = _LIKE_COMMAND.fullmatch(message.text(Origin.HUMAN).strip())
    if written is None:
        return False
    is_short = len((written["rest"] or "").split()) <= _MOST_ARGUMENTS
    return is_short or not _is_answered(after)


def _is_answered(after: Sequence[Message]) -> bool:
    """Whether a model says something before the human speaks again."""
    return any(is_reply(message) for message in takewhile(lambda message: not is_of_human(message), after))
