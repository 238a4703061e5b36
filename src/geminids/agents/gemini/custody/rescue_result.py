"""A session as Gemini CLI is to see it: what was hidden stands in it as if nothing had happened.

The least is changed that lets the CLI see it. A prompt that begins with / or ? gets a character without width
in front, since the CLI looks at the first character of all parts together, and trims only blanks.
A prompt that was fused with the context before it is a message of its own again.
What a hook said in front of a prompt goes behind it, where the CLI itself puts it in a terminal. Where the
first prompt gives no title, the session gets a summary.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from geminids.agents.gemini.custody.loaded_files import has_no_header
from geminids.agents.gemini.custody.rescue_accidents import Accident
from geminids.agents.gemini.custody.rescue_view import (
    begins_like_command,
    is_hook,
    is_of_human,
    is_unheeded,
    without_hooks,
)
from geminids.agents.gemini.file_names import ID_START, start_of_id
from geminids.core.lazy_patterns import lazy_pattern
from geminids.core.model import AnyPart, Message, Origin, Session, State, Text

_NO_WIDTH = "\u200b"
_LONGEST_SUMMARY = 80
_NOT_IN_TITLES = lazy_pattern(r"[^\x20-\x7e]+")


class Repair(msgspec.Struct, frozen=True):
    """What has to be done about one session."""

    broken: Session
    lost: Mapping[str, Accident]
    """The messages that were dropped by accident, by their ids."""
    hidden: Collection[str]
    """The ids of messages that the CLI does not send, for whatever reason."""
    has_fused: bool = False
    """Whether the CLI wrote some of them again in one piece with the context before them."""

    def session(self) -> Session:
        """The session with all that got lost, under an id by which it can be resumed."""
        return msgspec.structs.replace(
            self.broken,
            id=f"{self.broken.agent}:{self.native_id}",
            native_id=self.native_id,
            messages=tuple(map(self._mended, self.broken.messages)),
            summary=self.broken.summary or self._summary,
        )

    def changes(self) -> Iterator[str]:
        """What is written otherwise than it was."""
        if self.native_id != self.broken.native_id:
            yield f"Only {self.broken.native_id!r} of its id is known; the new id is {self.native_id!r}."
        if self._summary and not self.broken.summary:
            yield (
                "A summary is added, the beginning of the first prompt, since Gemini CLI only keeps ASCII "
                "characters in titles that it makes from prompts."
            )
        if self.has_fused:
            yield "Prompts that were joined with the context before them become separate messages."
        ignored = [message for message in self.broken.messages if self._is_ignored(message)]
        if any(begins_like_command(without_hooks(message.parts)) for message in ignored):
            yield (
                "Prompts that begin with / or ? get a zero-width character in front, so that Gemini CLI does "
                "not take them for commands. The rest of their text is unchanged."
            )
        if any(len(without_hooks(message.parts)) < len(message.parts) for message in ignored):
            yield "Text that hooks put before prompts is moved after them, as in sessions in a terminal."

    @property
    def native_id(self) -> str:
        """The id under which it is resumed: its own, or one that begins with what is known of it."""
        known = self.broken.native_id
        starts = {start_of_id(Path(file.path).name) for file in self.broken.files}
        if len(known) == ID_START and known in starts and has_no_header(self.broken):
            digest = hashlib.sha256(self.broken.id.encode()).digest()
            return known + str(uuid.UUID(bytes=digest[:16], version=4))[ID_START:]
        return known

    @property
    def _summary(self) -> str | None:
        """What it is about, where the CLI would find no title in it."""
        first = next(filter(is_of_human, self.broken.messages), None)
        words = first.text(Origin.HUMAN) if first else ""
        needs_one = bool(words) and not _as_title(words)
        return (self.broken.title or "")[:_LONGEST_SUMMARY] or None if needs_one else None

    def _is_ignored(self, message: Message) -> bool:
        """Whether the CLI would take a message for a command or for context."""
        is_known = message.id in self.hidden or message.id in self.lost
        # Of the human's own commands, not what was typed is sent, but what it stands for.
        is_prompt = is_of_human(message) and message.origin is not Origin.COMMAND
        return is_known and is_prompt and is_unheeded(message.parts)

    def _mended(self, message: Message) -> Message:
        if message.id in self.lost:
            message = msgspec.structs.replace(message, state=State.CURRENT, dropped_by=None)
        if self._is_ignored(message):
            message = msgspec.structs.replace(message, parts=tuple(_heeded(message.parts)))
        return message


def has_no_title(session: Session, record: Mapping[str, Any]) -> bool:
    """Whether the CLI lists a session without a title though its first prompt says something."""
    first = record.get("firstUserMessage")
    if record.get("summary") or not isinstance(first, str):
        return False
    return bool(session.title and first.strip()) and not _as_title(first)


def _as_title(words: str) -> str:
    """What the CLI leaves of a prompt in its list."""
    return _NOT_IN_TITLES.sub("", " ".join(words.split())).strip()


def _heeded(parts: tuple[AnyPart, ...]) -> Iterator[AnyPart]:
    """The parts of a prompt in a form that the CLI sends."""
    rest = without_hooks(parts)
    if not rest or begins_like_command(rest):
        yield Text(_NO_WIDTH, Origin.HUMAN)
    yield from rest
    yield from (part for part in parts if is_hook(part))
