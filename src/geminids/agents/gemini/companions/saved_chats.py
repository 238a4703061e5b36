"""Chats that the human saved with /chat save.

    …/tmp/<project>/checkpoint-<tag>.json    {"history": [turns], "authType": …}, before 0.16 the bare list
    …/tmp/<project>/checkpoint.json          until 0.1.9, without a tag

The tag is percent-encoded. The file says neither when the chat was saved nor in which session; both are
told by what surrounds it: its time, the prompt log, and the sessions that hold the same words or calls.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

import msgspec

from geminids.agents.gemini.companions.api_turns import messages_of
from geminids.agents.gemini.companions.copy_sessions import (
    NOWHERE,
    found_at,
    modified,
    readable,
    reading_of,
    session_of,
    unread,
)
from geminids.agents.gemini.companions.histories import History, Shape, read_history
from geminids.agents.gemini.companions.ties import (
    Spoken,
    TraceIndex,
    is_distinctive,
    spoken_in,
    tie,
    with_imported,
)
from geminids.core.agents.base import FoundFile, Reading
from geminids.core.disk import REAL, Disk
from geminids.core.lazy_patterns import lazy_pattern
from geminids.core.model import Message, Project, Session, SessionKind
from geminids.core.model.summary import counts_of, title_of
from geminids.reading.bounded import read_whole

FORMAT = "gemini-saved-chat"
SAVED = Shape(FORMAT, "history", ignored={"authType": "how the user had signed in"})
SAVED_LIST = Shape(FORMAT, None)
_NAME = lazy_pattern(r"checkpoint(?:-(?P<tag>.+))?\.json", re.DOTALL)
_HASH = lazy_pattern(r"[0-9a-f]{64}")


def is_saved_name(name: str) -> bool:
    """Whether a file is named as /chat save names them."""
    return _NAME.fullmatch(name) is not None


def tag_of(name: str) -> str | None:
    """The name that the human gave to a chat; None if it was saved without one."""
    found = _NAME.fullmatch(name)
    return readable(unquote(found["tag"])) if found and found["tag"] else None


def short_folder(name: str) -> str:
    """A project's folder in few characters: its slug, or the beginning of its hash."""
    return name[:8] if _HASH.fullmatch(name) else name


def read_saved(path: Path, content: bytes) -> Reading:
    """A saved chat that stands alone."""
    folder = path.absolute().parent
    return _reading(path, content, modified(path), folder.name if folder.parent.name == "tmp" else None)


def saved_chat(
    file: FoundFile,
    project: Project,
    folder_name: str,
    known: TraceIndex,
    saved_in: Mapping[str, str] | None = None,
    *,
    disk: Disk = REAL,
) -> Reading:
    """A saved chat in a project's folder, tied to the session it was saved from if that can be proved.

    `saved_in` says in which session (by the agent's own id) a tag was typed last.
    """
    try:
        content = read_whole(file.path, disk)
    except OSError as error:
        return unread(file, FORMAT, error)
    saved_at = found_at(file)
    reading = _reading(file.path, content, saved_at, folder_name, project)
    hint = (saved_in or {}).get(tag_of(file.path.name) or "")
    tied = tuple(tie(session, known, saved_at, hint) for session in reading.sessions)
    return Reading(tied, reading.accounts, reading.problems)


def _reading(
    path: Path,
    content: bytes,
    saved_at: datetime | None,
    folder_name: str | None,
    project: Project = NOWHERE,
) -> Reading:
    history = _history(path, content)
    messages = messages_of(history.log, history.turns)
    tag = tag_of(path.name)
    name = unquote(path.name.removesuffix(".json"))
    session = session_of(
        history.log,
        f"{name}@{short_folder(folder_name)}" if folder_name else name,
        SessionKind.CHECKPOINT,
        messages,
        saved_at,
        project=project,
        title=_title(tag, messages),
    )
    return reading_of(history.log, [session])


def _history(path: Path, content: bytes) -> History:
    is_list = content.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"[")
    return read_history(SAVED_LIST if is_list else SAVED, str(path), content)


def _title(tag: str | None, messages: Sequence[Message]) -> str | None:
    """What the human called the chat, and how it began."""
    words = title_of(None, messages)
    if tag is None:
        return words
    return f'"{tag}": {words}' if words else f'"{tag}"'


def without_twins(sessions: Iterable[Session]) -> list[Session]:
    """Saved chats of one project, each once: a migration copies them from the hash's folder to the slug's."""
    found: dict[object, Session] = {}
    for session in sorted(sessions, key=_is_in_hash_folder):
        alike = (session.native_id.rpartition("@")[0], tuple(_shapes(session)))
        twin = found.get(alike)
        found[alike] = session if twin is None else _joined(twin, session)
    return list(found.values())


def _is_in_hash_folder(session: Session) -> bool:
    return any(_HASH.fullmatch(Path(file.path).parent.name) for file in session.files)


def _shapes(session: Session) -> Iterator[bytes]:
    """What makes two saved chats equal: who said what."""
    for message in session.messages:
        yield msgspec.json.encode((message.role, message.parts))


def _joined(session: Session, twin: Session) -> Session:
    """One session of two files."""
    messages = tuple(
        msgspec.structs.replace(
            one, also_at=(*one.also_at, other.source), imported=one.imported or other.imported
        )
        for one, other in zip(session.messages, twin.messages, strict=True)
    )
    return msgspec.structs.replace(
        session,
        parent_id=session.parent_id or twin.parent_id,
        ended_at=min((at for at in (session.ended_at, twin.ended_at) if at), default=None),
        files=(*session.files, *twin.files),
        problems=(*session.problems, *twin.problems),
        messages=messages,
        counts=counts_of(messages),
    )


def counted_once(chats: Sequence[Session]) -> list[Session]:
    """Saved chats of one project; what several of them hold is counted in the fullest of them alone.

    Chats of one session begin alike, and so do those that went on from a chat that was loaded.
    """
    held: dict[int, set[str | None]] = {}
    counted: dict[int, Session] = {}
    beginnings = [(chat, list(_beginnings(chat.messages))) for chat in chats]
    for chat, beginning in sorted(beginnings, key=lambda pair: (-len(pair[1]), pair[0].native_id)):
        counted[id(chat)] = with_imported(chat, range(_copied(chat, beginning, held)))
        for step in beginning:
            held.setdefault(step.so_far, set()).add(chat.parent_id)
    return [counted[id(chat)] for chat in chats]


class _Step(NamedTuple):
    """A message of a chat, known by all that was said and called up to it."""

    so_far: int
    end: int
    """Where the next one begins."""
    is_distinctive: bool
    """Whether so much is hardly said twice."""


def _beginnings(messages: Sequence[Message]) -> Iterator[_Step]:
    """A chat step by step."""
    spoken = {one.number: one for one in spoken_in(messages)}
    called = {index: _call_ids(message) for index, message in enumerate(messages)}
    steps = [index for index in called if index in spoken or called[index]]
    so_far, prompts, has_called = 0, list[Spoken](), False
    for index, end in pairwise([*steps, len(messages)]):
        words = spoken.get(index)
        so_far = hash((so_far, words and (words.by_model, words.keys), called[index]))
        prompts += [words] if words and not words.by_model else []
        has_called = has_called or bool(called[index])
        yield _Step(so_far, end, has_called or is_distinctive(prompts[-2:]))


def _call_ids(message: Message) -> tuple[str, ...]:
    return tuple(call.call_id for call in message.tool_calls if call.call_id)


def _copied(chat: Session, beginning: Iterable[_Step], held: Mapping[int, set[str | None]]) -> int:
    """How many messages of a chat a fuller one holds too: both are of one session, or it cannot be chance."""
    end = 0
    for step in beginning:
        parents = held.get(step.so_far)
        if parents is None:
            break
        if step.is_distinctive or (chat.parent_id and chat.parent_id in parents):
            end = step.end
    return end
