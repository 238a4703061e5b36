"""Chats that the human saved with /chat save.

    …/tmp/<project>/checkpoint-<tag>.json    {"history": [turns], "authType": …}, before 0.16 the bare list
    …/tmp/<project>/checkpoint.json          until 0.1.9, without a tag

The tag is percent-encoded. The file says neither when the chat was saved nor in which session; both are
told by what surrounds it: its time, the prompt log, and the sessions that hold the same words or calls.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from enum import IntEnum
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

import msgspec

from geminids.model import (
    Message,
    Origin,
    Project,
    Session,
    SessionKind,
    Text,
)
from geminids.sources.base import FoundFile, Reading
from geminids.sources.gemini.histories import (
    NOWHERE,
    History,
    Shape,
    found_at,
    messages_of,
    modified,
    read_history,
    reading_of,
    session_of,
    unread,
)
from geminids.sources.gemini.sessions import counts_of, title_of
from geminids.sources.traces import Trace, key

FORMAT = "gemini-saved-chat"
SAVED = Shape(FORMAT, "history", ignored={"authType": "how the human had signed in"})
SAVED_LIST = Shape(FORMAT, None)
_NAME = re.compile(r"checkpoint(?:-(?P<tag>.+))?\.json", re.DOTALL)
_HASH = re.compile(r"[0-9a-f]{64}")
_ASKED = frozenset({Origin.HUMAN, Origin.COMMAND, Origin.SHELL})
_INVISIBLE = re.compile("[\u200b-\u200f\ufeff]")
_COMMENT = re.compile("<!--.*?-->", re.DOTALL)
_DEEPEST_COMMENT = 8
_LONG_AGO = timedelta(days=1)
"""A session that ended so long before a chat was saved is not the one it was saved from."""


def is_saved_name(name: str) -> bool:
    """Whether a file is named as /chat save names them."""
    return _NAME.fullmatch(name) is not None


def tag_of(name: str) -> str | None:
    """The name that the human gave to a chat; None if it was saved without one."""
    found = _NAME.fullmatch(name)
    return unquote(found["tag"]) if found and found["tag"] else None


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
    traces: Sequence[Trace],
    saved_in: Mapping[str, str] | None = None,
) -> Reading:
    """A saved chat in a project's folder, tied to the session it was saved from if that can be proved.

    `saved_in` says in which session (by the agent's own id) a tag was typed last.
    """
    try:
        content = file.path.read_bytes()
    except OSError as error:
        return unread(file, FORMAT, error)
    saved_at = found_at(file)
    reading = _reading(file.path, content, saved_at, folder_name, project)
    hint = (saved_in or {}).get(tag_of(file.path.name) or "")
    tied = tuple(tie(session, traces, saved_at, hint) for session in reading.sessions)
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


def tie(
    session: Session, traces: Iterable[Trace], saved_at: datetime | None, hint: str | None = None
) -> Session:
    """A copy with the session that it was taken from as its parent; what stands there is counted there.

    `hint` is the session that the prompt log names, by the agent's own id; it decides between several
    that fit and proves nothing alone.
    """
    fitting = [(trace, told) for trace in traces if (told := _told(session, trace)) is not None]
    best = max((told.proof for _, told in fitting), default=None)
    proven = [(trace, told) for trace, told in fitting if told.proof == best]
    chosen = _chosen(proven, saved_at, hint)
    told = next((told for trace, told in proven if trace is chosen), None)
    if chosen is None or told is None:
        return session
    messages = tuple(
        msgspec.structs.replace(message, imported=True) if index in told.standing else message
        for index, message in enumerate(session.messages)
    )
    return msgspec.structs.replace(
        session, parent_id=chosen.id, messages=messages, counts=counts_of(messages)
    )


class _Proof(IntEnum):
    """What proves that a copy is of a session, the best last."""

    TYPED = 1
    """The human typed the same; of a lost session there is nothing else."""
    WORDS = 2
    CALLS = 3


class _Told(NamedTuple):
    """How a copy stands in a session."""

    proof: _Proof
    standing: Container[int]
    """Which of its messages stand there too."""
    is_own: bool
    """Whether any of it was said there, and not only loaded."""


def _told(session: Session, trace: Trace) -> _Told | None:
    """How far a session tells the same as a copy; None if nothing proves that it does."""
    match trace.kind:
        case SessionKind.MAIN:
            spoken = [(index, _keys(message)) for index, message in enumerate(session.messages)]
        case SessionKind.LOST:
            asked = [(n, m) for n, m in enumerate(session.messages) if m.origin in _ASKED]
            spoken = [(index, _keys(message)) for index, message in asked]
        case _:
            return None
    found = list(_found(session, trace, [(index, keys) for index, keys in spoken if keys]))
    said = [(index, place) for index, place in found if place is not None]
    all_said = bool(found) and len(said) == len(found)
    is_own = any(not trace.said[place].imported for _, place in said)
    if trace.kind is SessionKind.LOST:
        return _Told(_Proof.TYPED, frozenset(index for index, _ in spoken), is_own) if all_said else None
    calls = [
        index
        for index, message in enumerate(session.messages)
        if any(call.call_id in trace.calls for call in message.tool_calls if call.call_id)
    ]
    if all_said:
        return _Told(_Proof.CALLS if calls else _Proof.WORDS, range(len(session.messages)), is_own)
    # What stands before something that is the session's is the session's too, in whatever words.
    last = max([*calls, *(index for index, _ in said)], default=-1)
    return _Told(_Proof.CALLS, range(last + 1), is_own) if calls else None


def _found(
    session: Session, trace: Trace, spoken: Sequence[tuple[int, set[int]]]
) -> Iterator[tuple[int, int | None]]:
    """Messages, and where a session says the same, in order; None where it does not."""
    position = 0
    for index, keys in spoken:
        place = _next(trace, position, keys, session.messages[index].origin)
        yield index, place
        position = position if place is None else place + 1


def _keys(message: Message) -> set[int]:
    """What the words of a message may be recognised by; empty if it says nothing."""
    if message.origin is Origin.MODEL:
        whose = Origin.MODEL
    elif message.origin in _ASKED:
        whose = Origin.HUMAN
    else:
        return set()
    texts = [part.text for part in message.parts if isinstance(part, Text) and part.origin is whose]
    spoken = ["".join(texts), "\n\n".join(texts), _as_stored("".join(texts))]
    return {key(words) for words in spoken if words.strip()}


def _as_stored(text: str) -> str:
    """An answer as sessions hold it since 0.53.1: without invisible characters and comments in HTML."""
    text = _INVISIBLE.sub("", text)
    for _ in range(_DEEPEST_COMMENT):
        before, text = text, _COMMENT.sub("", text)
        if before == text:
            break
    return text


def _next(trace: Trace, position: int, keys: set[int], origin: Origin) -> int | None:
    """Where a session says these words next."""
    by_model = origin is Origin.MODEL
    for index in range(position, len(trace.said)):
        said = trace.said[index]
        if said.key in keys and (said.origin is Origin.MODEL) is by_model:
            return index
    return None


def _chosen(
    proven: Sequence[tuple[Trace, _Told]], saved_at: datetime | None, hint: str | None
) -> Trace | None:
    """The session that a copy was taken from, of those that hold it."""
    fitting = [trace for trace, _ in proven]
    named = [trace for trace in fitting if trace.native_id == hint]
    own = [trace for trace, told in proven if told.is_own]
    for candidates in (fitting, named, own):
        if len(candidates) == 1:
            return candidates[0]
    return _last_before(own or fitting, saved_at)


def _last_before(fitting: Sequence[Trace], saved_at: datetime | None) -> Trace | None:
    """The session that was at work when a copy was taken; None if that could be said of several."""
    if saved_at is None:
        return None
    works = sorted(
        ((moment, trace.native_id, trace) for trace in fitting if (moment := _last_word(trace, saved_at))),
        key=lambda work: work[:2],
    )
    if not works or saved_at - works[-1][0] > _LONG_AGO:
        return None
    last = works[-1][2]
    began = last.started_at
    is_clear = began is not None and all(moment < began for moment, _, _ in works[:-1])
    return last if is_clear else None


def _last_word(trace: Trace, before: datetime) -> datetime | None:
    return max((said.at for said in trace.said if said.at and said.at <= before), default=None)


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
