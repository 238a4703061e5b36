"""Why Gemini CLI does not see a message: what can be seen in the files, in words for people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from geminids.agents.gemini.custody.loaded_files import Loaded
from geminids.agents.gemini.custody.lookup import SESSION_SUFFIXES
from geminids.agents.gemini.custody.rescue_accidents import Accident, joined_at
from geminids.agents.gemini.custody.rescue_view import Seen, View, begins_like_command, is_unheeded
from geminids.agents.gemini.read.agent_view import is_prompt
from geminids.agents.gemini.read.files import read_file
from geminids.agents.gemini.read.records import FileLog, Format
from geminids.core.agents.rescue import Obstacle
from geminids.core.disk import GIVEN
from geminids.core.model import Location, Message, Session
from geminids.reading.bounded import read_bounded

_DELETES = "Gemini CLI does not list it, and deletes the file when it next starts in this project"
_HOOK = "<hook_context>"
FUSED = "fused"
"""The cause that a prompt, which alone would be sent, was written again behind something that is not."""


class Cause(NamedTuple):
    """Why a message is not seen, and where that shows. Messages of the same cause are told of together."""

    kind: str
    file: str
    line: int | None = None


class Causes:
    """Finds out why the CLI does not see messages of one session."""

    def __init__(
        self, session: Session, view: View, folders: Iterable[Path], accidents: Mapping[str, Accident]
    ) -> None:
        self._session = session
        self._view = view
        self._chats = {str(folder / "chats") for folder in folders}
        self._accidents = accidents
        self._loaded: dict[str, Loaded] = {str(one.file): one for one in view.loaded}
        self._unread: dict[str, frozenset[int]] = {}

    def of(self, message: Message) -> Cause:
        """Why the CLI does not see a message, or does not send it."""
        accident, by = self._accidents.get(message.id), message.dropped_by
        if accident is Accident.UNHEEDED:
            return self._why_unheeded(message)
        if seen := self._view.seen_as(message):
            why = _why_left_out(seen)
            place = seen.turn.places[-1] if why == FUSED else message.source
            return Cause(why, place.file, place.line)
        if accident and by:
            return Cause(accident, by.file, by.line)
        return min(map(self._cause_at, message.places), key=_by_weight)

    def _why_unheeded(self, message: Message) -> Cause:
        """Return why a resume left out a prompt."""
        if not is_unheeded(message.parts) and (joined := joined_at(message, self._session.messages)):
            return Cause(FUSED, joined.file, joined.line)
        why = "command" if begins_like_command(message.parts) else "hook"
        return Cause(why, message.source.file, message.source.line)

    def _cause_at(self, place: Location) -> Cause:
        """What keeps the CLI from what stands in one place."""
        path = Path(place.file)
        if str(path.parent) not in self._chats:
            return Cause("orphaned", place.file)
        if path.suffix not in SESSION_SUFFIXES:
            return Cause("leftover", place.file)
        loaded = self._loaded.get(place.file)
        if loaded is None:
            return Cause(self._why_not_loaded(path), place.file)
        if place.line in self._lines_not_read(path):
            return Cause("damaged", place.file, place.line)
        if loaded.native_id != self._session.native_id:
            return Cause("shared", place.file)
        taken = self._view.taken
        return Cause("shadowed", place.file) if taken else Cause("command", place.file, place.line)

    def _why_not_loaded(self, file: Path) -> str:
        log = _log_of(file)
        if log is None:
            return "unreadable"
        return "cut" if log.format is Format.DOCUMENT else "headless"

    def _lines_not_read(self, file: Path) -> frozenset[int]:
        """The lines that the CLI skips since they are no JSON."""
        known = self._unread.get(str(file))
        if known is None:
            log = _log_of(file)
            records = log.records if log else ()
            known = frozenset(record.place.line for record in records if not record.agent_reads)
            self._unread[str(file)] = known
        return known

    def obstacle(self, cause: Cause) -> Obstacle:
        """A cause in words."""
        sentence = _SENTENCES[cause.kind].format(
            line=cause.line,
            name=repr(Path(cause.file).name),
            newest=repr(self._view.taken.file.name) if self._view.taken else "another file",
            other=repr(self._loaded[cause.file].native_id) if cause.file in self._loaded else "another",
        )
        kind = "ignored" if cause.kind in _IGNORED else str(cause.kind)
        return Obstacle(kind=kind, sentence=sentence, file=cause.file, line=cause.line)


_WEIGHTS = (
    "damaged",
    "headless",
    "cut",
    "unreadable",
    "shared",
    "command",
    "shadowed",
    "leftover",
    "orphaned",
)
"""Of several causes, one in each place of a message, the first is told: it comes closest to being seen."""


def _by_weight(cause: Cause) -> int:
    return _WEIGHTS.index(cause.kind)


def _log_of(file: Path) -> FileLog | None:
    try:
        return read_file(file, read_bounded(file, GIVEN))
    except OSError:
        return None


def _why_left_out(seen: Seen) -> str:
    """What the CLI takes a prompt for that it does not send."""
    if is_prompt(seen.turn.value):
        return FUSED
    match seen.turn.value.get("content"):
        case str(text) | [{"text": str(text)}, *_] | [str(text), *_] if text.lstrip().startswith(_HOOK):
            return "hook"
        case _:
            return "command"


_IGNORED = frozenset({"command", "hook", FUSED})
_SENTENCES: dict[str, str] = {
    Accident.RESTARTED: (
        "In line {line} Gemini CLI wrote an empty list, because it was started again in the minute in "
        "which the session began. It no longer sees anything before that line."
    ),
    Accident.LOADED: (
        "In line {line} a chat saved in another session was loaded. It replaced everything before it, "
        "which Gemini CLI no longer sees."
    ),
    "shadowed": (
        "Several files have the id of this session and hold different turns. Gemini CLI only shows the one "
        "that was used last, {newest}."
    ),
    "damaged": (
        "Line {line} is damaged: a record was cut off, or two records were written on one line. Gemini CLI "
        "skips the whole line."
    ),
    "headless": (
        "Its file has no line with the session id; this happens if another Gemini CLI deletes the file "
        f"while it is still empty. {_DELETES}."
    ),
    "cut": f"Its file was cut off while it was written. {_DELETES}.",
    "unreadable": "Its file cannot be opened.",
    "shared": (
        "Its file also holds the session {other}: both began in the same minute, and their ids begin "
        "alike. Gemini CLI shows everything in it as that session."
    ),
    "leftover": (
        "Gemini CLI put {name} aside when it could not read or rewrite the session's file, and never looks "
        "at it again."
    ),
    "orphaned": (
        "It is in a folder that older releases used. Gemini CLI now uses another folder for this project."
    ),
    "command": (
        "The prompt in line {line} begins with / or ?. Gemini CLI takes it for a command: it does not use "
        "it as a title, and leaves it out when the session is resumed."
    ),
    FUSED: (
        "In line {line} Gemini CLI wrote the history again and joined a prompt with the context before it; "
        "this happens when a call is declined, a chat is loaded or outputs are masked. It takes all of it "
        "for context, and leaves it out when the session is resumed."
    ),
    "hook": (
        "In line {line} a hook put text before a prompt. Gemini CLI takes all of it for context: it does "
        "not use it as a title, and leaves it out when the session is resumed."
    ),
}


def no_title(file: str) -> Obstacle:
    """What is to be said of a session that the CLI lists without a title."""
    sentence = (
        "Gemini CLI only keeps ASCII characters in titles, and this title has none: its list shows the "
        "session without a title."
    )
    return Obstacle(kind="title", sentence=sentence, file=file)
