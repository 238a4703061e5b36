"""What Gemini CLI would show of a session and send to the model, message by message.

The file that it opens is read once more, with nothing but the lines that the CLI itself can read. Messages
are found again by where they stand, since the CLI writes some of them again under other ids.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from geminids.agents.gemini.custody.loaded_files import Loaded, loaded_files, opened, shown_as
from geminids.agents.gemini.custody.releases import Program
from geminids.agents.gemini.custody.session_files import ProjectFiles
from geminids.agents.gemini.read.agent_view import is_prompt
from geminids.agents.gemini.read.files import read_file
from geminids.agents.gemini.read.replay import Replay
from geminids.agents.gemini.read.turns import Turn
from geminids.core.disk import GIVEN
from geminids.core.model import AnyPart, Location, Message, Origin, Role, Session, State, Text
from geminids.reading.bounded import read_bounded

_OF_HUMAN = frozenset({Origin.HUMAN, Origin.COMMAND, Origin.SHELL})

_Spot = tuple[str, int, str | None]


class Seen(NamedTuple):
    """A turn as the CLI has it in its list: as it was written, or fused with others."""

    turn: Turn
    values: tuple[dict[str, Any], ...]


class View(NamedTuple):
    """A session as the CLI sees it."""

    loaded: tuple[Loaded, ...]
    """The files that the CLI loads and that may be the session's."""
    taken: Loaded | None
    """The one that it opens; None if it shows none."""
    seen: dict[_Spot, Seen]
    """The turns in that one, by all places where they stand."""

    def seen_as(self, message: Message) -> Seen | None:
        """What the CLI has for a message; None if it does not see it."""
        return next((seen for place in message.places if (seen := self.seen.get(_spot(place)))), None)

    def leaves_out(self, message: Message) -> bool:
        """Whether the CLI takes a prompt that it sees for a command or for context, and does not send it."""
        seen = self.seen_as(message)
        return is_of_human(message) and seen is not None and not any(map(is_prompt, seen.values))


def view_of(session: Session, folders: Iterable[Path], program: Program) -> View:
    """What the CLI would see of a session, looking into these folders of projects."""
    files = tuple(Path(file.path) for file in session.files)
    loaded = [
        one
        for folder in folders
        for one in loaded_files(ProjectFiles(folder.parent.parent, folder, files, is_usual=True), program)
    ]
    shown = shown_as(session.native_id, loaded, program)
    taken = opened(shown) if shown else None
    return View(tuple(loaded), taken, _seen_in(taken) if taken else {})


def _seen_in(taken: Loaded) -> dict[_Spot, Seen]:
    try:
        log = read_file(taken.file, read_bounded(taken.file, GIVEN))
    except OSError:
        # It was there just now.
        return {}
    replay = Replay()
    replay.read_file(record for record in log.records if record.agent_reads)
    listed: dict[str, list[dict[str, Any]]] = {}
    for value in taken.record.get("messages") or ():
        for turn in replay.originals_of(str(value.get("id"))) if isinstance(value, dict) else ():
            listed.setdefault(turn.id, []).append(value)
    current = [turn for turn in replay.turns if turn.state is State.CURRENT]
    seen = [Seen(turn, tuple(listed.get(turn.id, [turn.value]))) for turn in current]
    return {_spot(place): one for one in seen for place in one.turn.places}


def is_of_human(message: Message) -> bool:
    """Whether a human said it, or had it done."""
    return message.role is Role.USER and message.origin in _OF_HUMAN


def is_reply(message: Message) -> bool:
    """Whether a model said something, or asked for something to be done."""
    return message.role is Role.ASSISTANT and message.origin is Origin.MODEL and bool(message.parts)


def is_unheeded(parts: tuple[AnyPart, ...]) -> bool:
    """Return whether the CLI takes the parts of a prompt for a command or for context of a hook."""
    return begins_like_command(parts) or (bool(parts) and is_hook(parts[0]))


def without_hooks(parts: tuple[AnyPart, ...]) -> tuple[AnyPart, ...]:
    """Return the parts of a prompt without the context of hooks."""
    return tuple(part for part in parts if not is_hook(part))


def is_hook(part: AnyPart) -> bool:
    """Return whether a part is context of a hook."""
    match part:
        case Text(text=text, origin=Origin.INJECTED):
            return text.lstrip().startswith("<hook_context>")
        case _:
            return False


def begins_like_command(parts: tuple[AnyPart, ...]) -> bool:
    """Return whether the CLI takes the parts of a prompt for a command."""
    match parts:
        case (Text(text=text), *_):
            return text.lstrip().startswith(("/", "?"))
        case _:
            return False


def _spot(place: Location) -> _Spot:
    return place.file, place.line, place.pointer
