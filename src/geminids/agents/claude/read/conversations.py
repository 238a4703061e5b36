"""Which records of a bundle's files are one conversation: the human's, or one of a subagent.

    1.0    lines of subagents stand in the session's own file, `isSidechain`, each from a root of its own
    2.0    agent-<id>.jsonl beside the session; every start leaves two that only warm up
    2.1    <session>/subagents/agent-<id>.jsonl, and .meta.json, which names the call

A subagent is tied to its call by the id of the call, by its own id in the result, or by the words it was
given.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from geminids.agents.claude.homes import AGENT
from geminids.agents.claude.layout import META_SUFFIX, SUBAGENTS, SUFFIX
from geminids.agents.claude.read.content import blocks_of, object_or_empty, plain_text, text_or_none
from geminids.agents.claude.read.queue import unsent_prompts
from geminids.agents.claude.read.records import ASSISTANT, SPOKEN, TREE, USER, FileLog, Record
from geminids.agents.claude.read.tools import AGENTS, agent_named
from geminids.core.agents.base import Bundle
from geminids.core.lazy_patterns import lazy_pattern
from geminids.core.model import SessionKind

_AGENT_FILE = "agent-"
_OF_SESSION = lazy_pattern(r"/([0-9a-f]{8}-[0-9a-f-]{27})/(?:tasks|subagents)/")
"""Whose subagents write where a result says that one does."""


class Conversation(msgspec.Struct):
    """The records of one session, in the order in which they were written."""

    native_id: str
    kind: SessionKind
    parent_id: str | None
    logs: list[FileLog]
    records: list[Record]
    """Of the tree."""
    facts: list[Record]
    """What was written about the session."""
    agent_id: str | None = None
    about: dict[str, Any] = {}
    """What the CLI noted about a subagent in a file of its own."""
    children: dict[str, str] = {}
    """The sessions of the subagents that its calls started, by the ids of the calls."""

    @property
    def task(self) -> str:
        """What a subagent was told to do."""
        of_users = (record for record in self.records if record.kind == USER)
        return next((plain_text(_content(record)) for record in of_users), "")


def conversations(
    bundle: Bundle, logs: Sequence[FileLog], about: dict[str, dict[str, Any]]
) -> list[Conversation]:
    """The conversations of a bundle, those of subagents after the human's."""
    found: list[Conversation] = []
    for same in _by_file_name(logs):
        found += _of_file(bundle, same, about)
    found.sort(key=lambda one: one.kind is SessionKind.SUBAGENT)
    _tie(bundle, found)
    return found


def _by_file_name(logs: Iterable[FileLog]) -> Iterator[list[FileLog]]:
    """The files of each session: one, or a copy of it in every home; the fullest first."""
    groups: dict[str, list[FileLog]] = {}
    for log in logs:
        groups.setdefault(_name_of(log), []).append(log)
    for same in groups.values():
        yield sorted(same, key=lambda log: (-len(log.records), len(log.problems)))


def _name_of(log: FileLog) -> str:
    return Path(log.path).name.removesuffix(SUFFIX)


def _sound_records(log: FileLog, copies: Sequence[FileLog]) -> Sequence[Record]:
    """Return the records of a copy, without those of damaged lines if another copy has no problems.

    A damaged line may have lost or changed its id, and would count beside the same line of the whole copy.
    """
    if not log.problems or all(copy.problems for copy in copies):
        return log.records
    damaged = {problem.line for problem in log.problems}
    return [record for record in log.records if record.place.line not in damaged]


def _of_file(bundle: Bundle, logs: list[FileLog], about: dict[str, dict[str, Any]]) -> Iterator[Conversation]:
    tree = [record for log in logs for record in _sound_records(log, logs) if record.kind in TREE]
    facts = [record for record in logs[0].records if record.kind not in TREE]
    own = [record for record in tree if record.value.get("isSidechain") is not True]
    name = _name_of(logs[0])
    is_in_folder = SUBAGENTS in Path(logs[0].path).parts[-4:-1]
    if is_in_folder or (name.startswith(_AGENT_FILE) and not own):
        agent = _agent_of(tree) or name.removeprefix(_AGENT_FILE)
        parent = _folder_session(logs[0].path) if is_in_folder else _last_session(tree) or bundle.key
        if any(record.kind in SPOKEN for record in tree):
            yield _subagent(parent, agent, logs, tree, about.get(name, {}))
        return
    if own or unsent_prompts(facts, ()):
        yield Conversation(bundle.key, SessionKind.MAIN, None, logs, own, facts)
    for agent, records in _sidechains(tree).items() if len(own) < len(tree) else ():
        yield _subagent(bundle.key, agent, logs, records, {})


def _subagent(
    parent: str, agent: str, logs: list[FileLog], records: list[Record], about: dict[str, Any]
) -> Conversation:
    native_id = f"{parent}#{agent}"
    return Conversation(native_id, SessionKind.SUBAGENT, parent, logs, records, [], agent, about)


def _folder_session(path: str) -> str:
    """The session in whose folder the file of a subagent lies."""
    parts = Path(path).parts
    return parts[len(parts) - 2 - parts[::-1].index(SUBAGENTS)]


def _agent_of(records: Iterable[Record]) -> str | None:
    agents = (text_or_none(record.value.get("agentId")) for record in records)
    return next(filter(None, agents), None)


def _last_session(records: Sequence[Record]) -> str | None:
    """The session that the lines of a subagent name; the first may name one that was never begun."""
    named = (text_or_none(record.value.get("sessionId")) for record in reversed(records))
    return next(filter(None, named), None)


def _sidechains(tree: Sequence[Record]) -> dict[str, list[Record]]:
    """The lines of subagents in the file of their session: by their ids, or by the roots they hang on."""
    chains: dict[str, list[Record]] = {}
    chain_of: dict[str, str] = {}
    last = ""
    for record in tree:
        value = record.value
        if value.get("isSidechain") is not True:
            continue
        parent, uuid = text_or_none(value.get("parentUuid")), text_or_none(value.get("uuid"))
        known = chain_of.get(parent or "")
        own = uuid or f"line-{record.place.line}"
        last = text_or_none(value.get("agentId")) or known or (own if parent is None or not last else last)
        if uuid:
            chain_of[uuid] = last
        chains.setdefault(last, []).append(record)
    return chains


class _Started(NamedTuple):
    """A call that started a subagent."""

    by: Conversation
    call_id: str
    prompt: str | None
    agent_id: str | None
    known: object


def _tie(bundle: Bundle, found: Sequence[Conversation]) -> None:
    """Tie subagents to the calls that started them."""
    calls = [call for conversation in found for call in _agent_calls(conversation)]
    if not calls:
        return
    children = [one for one in found if one.kind is SessionKind.SUBAGENT]
    by_call = _Untied(children, lambda one: text_or_none(one.about.get("toolUseId")))
    by_agent = _Untied(children, lambda one: one.agent_id)
    tied: set[str] = set()
    unnamed: list[_Started] = []
    for call in calls:
        if child := by_call.first(call.call_id, tied) or by_agent.first(call.agent_id, tied):
            _name(call, child, tied)
        else:
            unnamed.append(call)
    by_task = _Untied(children if unnamed else (), lambda one: one.task.strip())
    for call in unnamed:
        if child := by_task.first((call.prompt or "").strip(), tied):
            _name(call, child, tied)
        elif elsewhere := _child_elsewhere(bundle, call):
            call.by.children[call.call_id] = elsewhere


class _Untied:
    """Subagents by something that they have in common with their calls; several may have the same."""

    def __init__(self, children: Iterable[Conversation], trait: Callable[[Conversation], str | None]) -> None:
        self._children: dict[str, deque[Conversation]] = {}
        for child in children:
            if name := trait(child):
                self._children.setdefault(name, deque()).append(child)

    def first(self, name: str | None, tied: Container[str]) -> Conversation | None:
        """The first with this trait that is not tied to a call yet."""
        named = self._children.get(name) if name else None
        while named and named[0].native_id in tied:
            named.popleft()
        return named[0] if named else None


def _name(call: _Started, child: Conversation, tied: set[str]) -> None:
    child.parent_id = call.by.native_id
    call.by.children[call.call_id] = f"{AGENT}:{child.native_id}"
    tied.add(child.native_id)


def _child_elsewhere(bundle: Bundle, call: _Started) -> str | None:
    """A subagent that is not in this bundle: of the session that this is a fork of, or of release 2.0."""
    if call.agent_id is None:
        return None
    written = text_or_none(object_or_empty(call.known).get("outputFile"))
    of_session = _OF_SESSION.search(written) if written else None
    if of_session and of_session[1] != bundle.key:
        return f"{AGENT}:{of_session[1]}#{call.agent_id}"
    name = f"{_AGENT_FILE}{call.agent_id}{SUFFIX}"
    may_be_name = "/" not in name and "\0" not in name
    is_beside = may_be_name and any(bundle.disk.is_file(folder / name) for folder in bundle.folders)
    return f"{AGENT}:{bundle.key}#{call.agent_id}" if is_beside else None


def _agent_calls(conversation: Conversation) -> Iterator[_Started]:
    """The calls that started subagents, with what their results say of them."""
    calls: dict[str, dict[str, Any]] = {}
    known: dict[str, object] = {}
    for record in conversation.records:
        if record.kind == ASSISTANT:
            for block in blocks_of(_content(record)):
                match block:
                    case {"type": "tool_use", "id": str(call_id), "name": str(name)} if name in AGENTS:
                        calls[call_id] = block
        elif record.kind == USER and calls:
            for block in blocks_of(_content(record)):
                answered = object_or_empty(block).get("tool_use_id")
                if isinstance(answered, str) and answered in calls:
                    known[answered] = record.value.get("toolUseResult")
    for call_id, block in calls.items():
        result = known.get(call_id)
        prompt = text_or_none(object_or_empty(block.get("input")).get("prompt"))
        yield _Started(conversation, call_id, prompt, agent_named(result), result)


def _content(record: Record) -> object:
    return object_or_empty(record.value.get("message")).get("content")


def is_about_agent(path: Path) -> bool:
    """Whether a file is the note about a subagent."""
    return path.name.endswith(META_SUFFIX)
