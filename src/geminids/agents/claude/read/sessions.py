"""Sessions from conversations: project, title, status, times, totals."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from geminids.agents.claude.homes import AGENT, slug_of
from geminids.agents.claude.read.content import text_or_none
from geminids.agents.claude.read.conversations import Conversation
from geminids.agents.claude.read.messages import MessageBuilder
from geminids.agents.claude.read.origins import INTERRUPTED
from geminids.agents.claude.read.queue import unsent_prompts
from geminids.agents.claude.read.records import FORMAT, LAST_PROMPT, QUEUE
from geminids.agents.claude.read.totals import totals_of
from geminids.agents.claude.read.tree import Leaf, lay_out, with_unrecorded
from geminids.core.agents.base import Bundle
from geminids.core.model import (
    KnownBy,
    Message,
    Origin,
    Problem,
    Project,
    Role,
    Session,
    SessionFile,
    SessionKind,
    State,
    Status,
)
from geminids.core.model.summary import (
    calls_in,
    counts_of,
    first_sentence,
    models_of,
    one_line,
    status_of,
    title_of,
    usage_of,
)
from geminids.core.timestamps import parse_time

_NO_TITLES = ("Invalid API key", "API Error")
"""What 1.0 took for a title when the request for one failed."""
_NO_BRANCH = frozenset({"", "HEAD"})


def sessions(bundle: Bundle, found: Sequence[Conversation], problems: Sequence[Problem]) -> list[Session]:
    """The sessions of a bundle; the total that the CLI keeps for the first is for all of them."""
    children = [_session(bundle, one, problems, ()) for one in found if one.kind is SessionKind.SUBAGENT]
    mains = [one for one in found if one.kind is SessionKind.MAIN]
    return [*(_session(bundle, one, problems, children) for one in mains), *children]


def _session(
    bundle: Bundle, conversation: Conversation, problems: Sequence[Problem], children: Sequence[Session]
) -> Session:
    own_problems: list[Problem] = []
    laid = lay_out(conversation.records, leaves_of(conversation), own_problems)
    if unsent := unsent_prompts(conversation.facts, conversation.records):
        laid = list(with_unrecorded(laid, unsent))
    of_subagent = conversation.kind is SessionKind.SUBAGENT
    builder = MessageBuilder(laid, conversation.children, of_subagent=of_subagent)
    messages = builder.build()
    said = _Said(conversation)
    files = tuple(SessionFile(log.path, FORMAT, log.size) for log in conversation.logs)
    paths = {file.path for file in files}
    copied_until = _copied_until(conversation)
    times = [at for at in _times(messages) if copied_until is None or at >= copied_until]
    totals = totals_of(conversation, messages, children, is_fork=copied_until is not None)
    title = _task(conversation, messages) if of_subagent else _title(said.title, messages)
    return Session(
        id=f"{AGENT}:{conversation.native_id}",
        agent=AGENT,
        native_id=conversation.native_id,
        kind=conversation.kind,
        parent_id=f"{AGENT}:{conversation.parent_id}" if conversation.parent_id else None,
        project=_project(bundle.project, said.folders),
        title=title,
        summary=said.summary,
        started_at=min(times, default=copied_until),
        ended_at=max(times, default=copied_until),
        status=_status(messages, conversation.kind),
        models=models_of(messages),
        counts=counts_of(messages),
        usage=usage_of(messages),
        files=files,
        directories=said.folders if len(said.folders) > 1 else (),
        companions=() if of_subagent else tuple(companion.as_companion(AGENT) for companion in bundle.beside),
        problems=(*(p for p in problems if p.file in paths), *own_problems, *builder.problems),
        branch=said.branch,
        reported=totals.reported,
        unrecorded=totals.unrecorded,
        messages=messages,
    )


class _Said:
    """What the records say about their session; the last word on each thing counts."""

    def __init__(self, conversation: Conversation) -> None:
        folders: dict[str, None] = {}
        self.branch: str | None = None
        for record in conversation.records:
            folder, branch = record.value.get("cwd"), record.value.get("gitBranch")
            if type(folder) is str and folder:
                folders[folder] = None
            if type(branch) is str and branch not in _NO_BRANCH:
                self.branch = branch
        self.folders = tuple(folders)
        words = _last_words(conversation)
        self.summary = words.get("ai-title") or words.get("summary")
        self.title = words.get("custom-title") or self.summary


def _last_words(conversation: Conversation) -> dict[str, str]:
    """The last title of each kind. A summary may be that of another session: its leaf tells."""
    fields = {"custom-title": "customTitle", "ai-title": "aiTitle", "summary": "summary"}
    words: dict[str, str] = {}
    uuids: set[Any] | None = None
    for record in conversation.facts:
        text = text_or_none(record.value.get(fields.get(record.kind, "")))
        if not text or not text.strip() or text.startswith(_NO_TITLES):
            continue
        if record.kind == "summary":
            if uuids is None:
                uuids = {text_or_none(one.value.get("uuid")) for one in conversation.records}
            if text_or_none(record.value.get("leafUuid")) not in uuids - {None}:
                continue
        words[record.kind] = _plain_title(text)
    return words


def _plain_title(text: str) -> str:
    """A title in plain words: 1.0 noted the whole answer of the model that was asked for one, an object."""
    if text.lstrip().startswith("{"):
        try:
            answer = json.loads(text)
        except (ValueError, RecursionError):
            return text
        match answer:
            case {"title": str(title)} if title.strip():
                return title
    return text


def leaves_of(conversation: Conversation) -> list[Leaf]:
    """Where the conversation goes on, each time that this was written down."""
    leaves: list[Leaf] = []
    for record in conversation.facts:
        if record.kind == LAST_PROMPT:
            match record.value:
                case {"leafUuid": str(uuid)}:
                    leaves.append(Leaf(uuid, record.place))
                case {"leafUuid": None, "explicit": True}:
                    leaves.append(Leaf(None, record.place))
    return leaves


def _copied_until(conversation: Conversation) -> datetime | None:
    """When a session was begun that starts with copies of another one; None if it does not.

    A fork notes its first prompt before it copies: the copies are older than that note.
    """
    first = conversation.records[0] if conversation.records else None
    noted = next((record for record in conversation.facts if record.kind == QUEUE), None)
    if first is None or noted is None or noted.place.start > first.place.start:
        return _after_marked_copies(conversation)
    begun, written = (parse_time(record.value.get("timestamp")) for record in (noted, first))
    return begun if begun and written and written < begun else None


def _after_marked_copies(conversation: Conversation) -> datetime | None:
    """When the first line was written that is not marked as copied from another session."""
    if not any("forkedFrom" in record.value for record in conversation.records[:1]):
        return None
    own = (record for record in conversation.records if "forkedFrom" not in record.value)
    times = (parse_time(record.value.get("timestamp")) for record in own)
    return next((at for at in times if at), None)


def _times(messages: Sequence[Message]) -> Iterator[datetime]:
    yield from [message.at for message in messages if message.at]
    yield from [call.at for call in calls_in(messages) if call.at]


def _project(known: Project, folders: Sequence[str]) -> Project:
    """The folder that the records name; of several, the one that the project's folder is named after."""
    if not folders:
        return known
    named = (folder for folder in folders if slug_of(folder) == known.slug)
    path = next(named, folders[0])
    return Project(path, None, known.slug, KnownBy.RECORDS, certain=True)


def _title(said: str | None, messages: Sequence[Message]) -> str | None:
    """What the session is called, else its first prompt; a command to the CLI says less than a prompt."""
    prompts = [message for message in messages if message.origin is Origin.HUMAN]
    return title_of(said, prompts) or title_of(None, messages)


def _task(conversation: Conversation, messages: Sequence[Message]) -> str | None:
    """What a subagent was told to do, in few words."""
    described = text_or_none(conversation.about.get("description"))
    task = next((message.text(Origin.SYNTHETIC) for message in messages if message.role is Role.USER), "")
    return (one_line(described) if described else first_sentence(task)) or None


def _status(messages: Sequence[Message], kind: SessionKind) -> Status:
    """How the session ended. Commands to the CLI itself ask the model nothing, so none is left unanswered."""
    asked = [message for message in messages if message.origin is not Origin.COMMAND]
    for message in reversed(asked):
        if message.state in (State.REWOUND, State.SUPERSEDED):
            continue
        if message.origin is Origin.NOTICE:
            if message.text(Origin.NOTICE).startswith(INTERRUPTED):
                return Status.CANCELLED
        elif message.origin in (Origin.HUMAN, Origin.MODEL):
            break
    return status_of(asked, kind)
