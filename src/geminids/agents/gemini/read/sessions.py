"""Sessions from files: the conversations a person would count.

One session may live in several files (copies by a migration, a `.json` and the `.jsonl` that goes on
with it, the twin that a resume leaves, splits by /compress and /clear), and one file may hold several
sessions, some of them of subagents.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

import msgspec

from geminids.agents.gemini.file_names import start_of_id
from geminids.agents.gemini.phrases import REQUEST_CANCELLED
from geminids.agents.gemini.read.evidence import with_evidence
from geminids.agents.gemini.read.files import BACKGROUND, Segment
from geminids.agents.gemini.read.messages import MessageBuilder
from geminids.agents.gemini.read.projects import read_plain
from geminids.agents.gemini.read.records import Kind, calls_of
from geminids.agents.gemini.read.replay import Replay
from geminids.agents.gemini.read.subagents import LAST_TOOL, agent_calls, inner_runs, split_last, stated_end
from geminids.agents.gemini.read.turns import Turn
from geminids.agents.gemini.read.unrecorded import unrecorded
from geminids.core.agents.base import Bundle, CompanionFile
from geminids.core.lazy_patterns import lazy_pattern
from geminids.core.model import (
    Message,
    Origin,
    Problem,
    ProblemKind,
    Project,
    Role,
    Session,
    SessionFile,
    SessionKind,
    Status,
    ToolCall,
    folder_hash,
)
from geminids.core.model.summary import (
    calls_in,
    counts_of,
    first_sentence,
    models_of,
    status_of,
    title_of,
    usage_of,
)
from geminids.core.timestamps import parse_time

_MOST_OF_LOG = 32_000_000
_OBJECTIVE = lazy_pattern(r"<objective>(.*?)</objective>", re.DOTALL)


class Draft(msgspec.Struct):
    """A session in the making."""

    native_id: str
    kind: SessionKind
    parent_id: str | None
    segments: list[Segment]
    turns: list[Turn]

    @property
    def opening(self) -> Turn | None:
        """The first turn in the human's place."""
        return next((turn for turn in self.turns if turn.value.get("type") == "user"), None)

    def began(self) -> str:
        """When that was, as written."""
        return str(self.opening.value.get("timestamp")) if self.opening else ""


def sessions(bundle: Bundle, found: Sequence[Segment], problems: Sequence[Problem]) -> list[Session]:
    """The sessions that the segments of a bundle's files hold, subagents after their parents."""
    drafts = list(_drafts(bundle, found))
    mains = [draft for draft in drafts if draft.kind is SessionKind.MAIN]
    children = [draft for draft in drafts if draft.kind is SessionKind.SUBAGENT]
    for main in mains:
        _name_children(main, children)
        children.extend(_inner_sessions(main))
    beside: dict[str | None, list[CompanionFile]] = {}
    for companion in bundle.beside:
        beside.setdefault(companion.native_id, []).append(companion)
    ends = _stated_ends([*mains, *children]) if children else {}
    return [
        _session(bundle, draft, problems, beside.get(draft.native_id, ()), ends.get(draft.native_id))
        for draft in [*mains, *children]
    ]


def _stated_ends(drafts: Iterable[Draft]) -> dict[str, Status]:
    """How subagents ended, by their ids, as those were told who had started them."""
    calls = [call for draft in drafts for turn in draft.turns for call in calls_of(turn.value)]
    ends = {str(call["agentId"]): stated_end(call) for call in calls if call.get("agentId")}
    return {native_id: end for native_id, end in ends.items() if end is not None}


def _drafts(bundle: Bundle, found: Sequence[Segment]) -> Iterator[Draft]:
    groups: dict[tuple[str, SessionKind, str | None], list[Segment]] = {}
    for segment in found:
        groups.setdefault(_identity(bundle, segment, found), []).append(segment)
    for (native_id, kind, parent_id), segments in groups.items():
        if len(segments) > 1:
            segments.sort(key=lambda segment: segment.order)
        replay = Replay()
        for segment in segments:
            replay.read_file(segment.records, is_rescued=segment.is_rescued)
        yield Draft(native_id, kind, parent_id, segments, replay.turns)


def _identity(
    bundle: Bundle, segment: Segment, others: Sequence[Segment]
) -> tuple[str, SessionKind, str | None]:
    """Whose session a segment is: its id, its kind and its parent's id."""
    session_id = segment.session_id
    folder = segment.parent_folder
    if folder is not None:
        stem = segment.path.name.split(".", 1)[0]
        parent = None if BACKGROUND.fullmatch(folder) else folder
        native_id = session_id or stem
        own_id = f"{folder}#{stem}" if native_id == folder else native_id
        return own_id, SessionKind.SUBAGENT, parent
    if session_id is None:
        return _id_from_name(bundle, segment, others), SessionKind.MAIN, None
    if segment.meta.get("kind") == "subagent" or _was_started(segment, others):
        return f"{session_id}#{segment.path.name.split('.', 1)[0]}", SessionKind.SUBAGENT, session_id
    return session_id, SessionKind.MAIN, None


def _was_started(segment: Segment, others: Sequence[Segment]) -> bool:
    """Whether a file without a kind (before 0.31) is that of a subagent: a call in another one started it."""
    if len(others) == 1 or "kind" in segment.meta:
        return False
    opening = next((turn for turn in _written_turns(segment) if turn.value.get("type") == "user"), None)
    if opening is None:
        return False
    parents = (other for other in others if other is not segment and other.session_id == segment.session_id)
    return any(
        call.started(opening) for parent in parents for call in agent_calls(list(_written_turns(parent)))
    )


def _written_turns(segment: Segment) -> Iterator[Turn]:
    """The messages of a segment as they stand, before anything is made of them."""
    for record in segment.records:
        if record.kind is Kind.MESSAGE:
            yield Turn("", record.value, record.place)


def _id_from_name(bundle: Bundle, segment: Segment, others: Sequence[Segment]) -> str:
    """The id of a session whose header was lost: what its name begins, completed from what lies beside it."""
    start = start_of_id(segment.path.name) or segment.path.stem
    known = (other.session_id for other in others)
    beside = next((other for other in known if other and other.startswith(start)), None)
    return beside or _id_from_prompt_log(bundle, start) or start


def _id_from_prompt_log(bundle: Bundle, start: str) -> str | None:
    pattern = re.compile(rb'"sessionId"\s*:\s*"(' + re.escape(start.encode()) + rb'[\w-]*)"')
    for folder in bundle.folders:
        try:
            found = pattern.search(read_plain(folder / "logs.json", _MOST_OF_LOG, bundle.disk))
        except OSError:
            # Only a hint was looked for; the log itself is not ours to read here.
            continue
        if found:
            return found[1].decode()
    return None


def _name_children(main: Draft, children: Sequence[Draft]) -> None:
    """Tie subagents to calls that do not name them, by the words they were started with and the time."""
    own = [child for child in children if child.parent_id == main.native_id]
    if not own:
        return
    named = {str(call.get("agentId")) for turn in main.turns for call in calls_of(turn.value)}
    unnamed = [child for child in own if child.native_id not in named]
    for call in list(agent_calls(main.turns)) if unnamed else ():
        fitting = [child for child in unnamed if child.opening and call.started(child.opening)]
        if fitting:
            # Of several with the same task, the last that began before the call ended.
            child = max(fitting, key=Draft.began)
            unnamed.remove(child)
            call.name_child(child.native_id)


def _inner_sessions(main: Draft) -> list[Draft]:
    """Take the turns of subagents out of their parent's session."""
    inner = []
    for run in reversed(list(inner_runs(main.turns))):
        child_id = f"{main.native_id}#{run.calls[0].call_id}"
        reply = split_last(main.turns[run.last], main.turns[run.first - 1] if run.first else None)
        turns = main.turns[run.first : run.last] + ([reply] if reply else [])
        for call in run.calls:
            call.name_child(child_id)
        del main.turns[run.first : run.last]
        inner.append(Draft(child_id, SessionKind.SUBAGENT, main.native_id, main.segments, turns))
    return inner[::-1]


def _session(
    bundle: Bundle,
    draft: Draft,
    problems: Sequence[Problem],
    beside: Iterable[CompanionFile],
    ended: Status | None,
) -> Session:
    of_subagent = draft.kind is SessionKind.SUBAGENT
    builder = MessageBuilder(draft.turns, of_subagent=of_subagent)
    messages = builder.build()
    meta: dict[str, Any] = {}
    for segment in draft.segments:
        meta |= segment.meta
    files = _files(draft.segments)
    paths = {file.path for file in files}
    calls = calls_in(messages)
    times = list(_times(draft, messages, calls))
    directories = _directories(meta)
    summary = meta.get("summary")
    summary = summary if isinstance(summary, str) and summary.strip() else None
    return Session(
        id=f"gemini:{draft.native_id}",
        agent="gemini",
        native_id=draft.native_id,
        kind=draft.kind,
        parent_id=f"gemini:{draft.parent_id}" if draft.parent_id else None,
        project=with_evidence(_project(bundle.project, meta), messages, directories),
        title=_task(messages) if of_subagent else title_of(summary, messages),
        summary=summary,
        started_at=min(times, default=None),
        ended_at=max(times, default=None),
        status=(of_subagent and ended)
        or status_of(
            messages,
            draft.kind,
            cancelled=REQUEST_CANCELLED,
            last_tool=LAST_TOOL,
            stores_results_in_calls=True,
        ),
        models=models_of(messages),
        counts=counts_of(messages),
        usage=usage_of(messages),
        files=files,
        directories=directories,
        companions=tuple(companion.as_companion("gemini") for companion in beside),
        problems=(*(p for p in problems if p.file in paths), *_lost_header(draft), *builder.problems),
        messages=messages,
        # What a subagent has for a summary is how its answer begins.
        unrecorded=unrecorded(draft.turns, messages, calls, has_title=bool(summary) and not of_subagent),
    )


def _project(known: Project, meta: dict[str, Any]) -> Project:
    """The project with the hash that the session itself was written with: a path is certain if it has it."""
    written = meta.get("projectHash")
    if not isinstance(written, str) or not written or (known.certain and written == known.hash):
        return known
    certain = known.path is not None and folder_hash(known.path) == written
    return msgspec.structs.replace(known, hash=written, certain=certain)


def _directories(meta: dict[str, Any]) -> tuple[str, ...]:
    written = meta.get("directories")
    return tuple(path for path in written if isinstance(path, str)) if isinstance(written, list) else ()


def _files(segments: Iterable[Segment]) -> tuple[SessionFile, ...]:
    logs = {segment.log.path: segment.log for segment in segments}
    return tuple(SessionFile(log.path, log.format, log.size) for log in logs.values())


def _lost_header(draft: Draft) -> Iterator[Problem]:
    for segment in draft.segments:
        if segment.session_id is None:
            detail = "the file does not say whose session it is; its name was used"
            yield Problem(segment.log.path, ProblemKind.NO_HEADER, detail, 1)


def _times(draft: Draft, messages: Sequence[Message], calls: Sequence[ToolCall]) -> Iterator[datetime]:
    """The moments at which something happened.

    When the file was last written to is none of them: a summary may come days later.
    """
    yield from [message.at for message in messages if message.at]
    yield from [call.at for call in calls if call.at]
    for segment in draft.segments:
        start = parse_time(segment.meta.get("startTime"))
        if start:
            yield start


def _task(messages: Sequence[Message]) -> str | None:
    """What a subagent was told to do. (Its summary is the beginning of its answer, often raw JSON.)"""
    task = next((message.text(Origin.SYNTHETIC) for message in messages if message.role is Role.USER), "")
    objective = _OBJECTIVE.search(task)
    return first_sentence(objective[1] if objective else task) or None
