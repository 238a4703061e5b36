"""Sessions from rollouts: one a thread, with what it took over from others marked as theirs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path

from geminids.agents.codex.homes import AGENT
from geminids.agents.codex.read.ancestry import Ancestor, Ancestry, Rollout, copied, copied_records, limits
from geminids.agents.codex.read.content import text_or_none
from geminids.agents.codex.read.drafts import Dropper, Whose
from geminids.agents.codex.read.replay import Ended, Replay
from geminids.agents.codex.read.rollouts import rollout_name
from geminids.core.agents.base import Bundle
from geminids.core.model import (
    KnownBy,
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
    Usage,
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

NO_FOLDER = "no folder"
"""The project of sessions whose records name no folder."""


def session_of(
    bundle: Bundle, rollouts: Sequence[Rollout], problems: Iterable[Problem], *, alone: bool
) -> Session | None:
    """The session of a thread, from its rollouts in the order they were begun; None if they hold nothing.

    Alone, no other file is opened for what it took over from other sessions.
    """
    if not any(rollout.log.records for rollout in rollouts):
        return None
    return _Thread(bundle, rollouts, alone=alone).session(problems)


class _Thread:
    """A thread on its way to be a session."""

    def __init__(self, bundle: Bundle, rollouts: Sequence[Rollout], *, alone: bool) -> None:
        self._bundle = bundle
        self._rollouts = rollouts
        self._first, self._newest = rollouts[0], rollouts[-1]
        self._ancestry = Ancestry(rollouts, bundle.disk, alone=alone)
        meta = self._first.meta
        spawned = _subagent(meta.get("source"))
        self._spawned = spawned
        self._parent = text_or_none((spawned or {}).get("parent_thread_id")) or (
            text_or_none(meta.get("parent_thread_id")) if spawned is not None else None
        )
        of_subagent = spawned is not None
        goes_on = self._first.forked_from is not None or self._first.base is not None or of_subagent
        self._replay = Replay(of_subagent=of_subagent, goes_on=goes_on)

    def session(self, problems: Iterable[Problem]) -> Session:
        self._run()
        replay = self._replay
        messages = replay.build()
        of_subagent = self._spawned is not None
        kind = SessionKind.SUBAGENT if of_subagent else SessionKind.MAIN
        native_id = self._native_id()
        own = [
            message
            for message, draft in zip(messages, replay.drafts, strict=True)
            if draft.whose is Whose.OWN
        ]
        times = list(self._times(own))
        paths = {rollout.log.path for rollout in self._rollouts}
        problems = [problem for problem in problems if problem.file in paths]
        problems += [*self._lost_headers(), *self._ancestry.problems, *replay.problems]
        title = self._bundle.title or replay.settings.get("thread_name")
        return Session(
            id=f"{AGENT}:{native_id}",
            agent=AGENT,
            native_id=native_id,
            kind=kind,
            parent_id=f"{AGENT}:{self._parent}" if self._parent and self._parent != native_id else None,
            project=self._project(),
            title=title or (None if of_subagent else title_of(None, own or messages)) or self._task(own),
            summary=None,
            started_at=min(times, default=None),
            ended_at=max(times, default=None),
            status=self._status(own, kind),
            models=models_of(own),
            counts=counts_of(messages),
            usage=usage_of(messages),
            files=self._files(),
            directories=self._folders(),
            problems=tuple(dict.fromkeys(problems)),
            branch=_branch(self._newest.meta),
            reported=_usage(replay),
            messages=messages,
        )

    # Reading

    def _run(self) -> None:
        replay, ancestry = self._replay, self._ancestry
        for number, rollout in enumerate(self._rollouts):
            ancestors = ancestry.of(rollout)
            if number == 0:
                self._inherit(ancestors)
            elif rollout.base is not None and rollout.first is not None:
                by = Dropper(rollout.id, rollout.first.ordinal, rollout.first.place)
                replay.revert(limits(ancestors), by)
            self._run_own(rollout)
        replay.finish()

    def _inherit(self, ancestors: Sequence[Ancestor]) -> None:
        for ancestor in ancestors:
            if not self._ancestry.is_own(ancestor.rollout):
                rollout = ancestor.rollout
                self._replay.run(ancestor.records, rollout.id, rollout.thread, Whose.THEIRS)

    def _run_own(self, rollout: Rollout) -> None:
        """Read a rollout of the thread itself; copies at its beginning were said elsewhere."""
        copies, whose = self._copies(rollout)
        records = rollout.log.records
        if copies:
            self._replay.run(records[:copies], rollout.id, rollout.thread, whose)
        self._replay.run(records[copies:] if copies else records, rollout.id, rollout.thread, Whose.OWN)

    def _copies(self, rollout: Rollout) -> tuple[int, Whose]:
        """How many records at the beginning of a rollout are copies, and where they are counted.

        Where turns have names, all sessions together tell which of them are copies: the parent may be gone,
        or come back. What a subagent was given is its parent's, and what has no names is if the parent is
        there.
        """
        copies = copied_records(rollout)
        if copies is not None:
            return copies, Whose.COPIED if self._spawned is None else Whose.THEIRS
        parent = self._ancestry.find(rollout.forked_from, rollout) if rollout.forked_from else None
        return copied(rollout, parent), Whose.THEIRS

    # What is said of the session

    def _native_id(self) -> str:
        said = rollout_name(Path(self._first.log.path).name)
        thread = text_or_none(self._first.meta.get("id")) or (said.thread if said else None)
        if thread is None:
            return Path(self._first.log.path).name.partition(".")[0]
        # A rollout that goes on from one in another folder must be told from it.
        is_later = said is not None and said.rollout != said.thread
        return f"{thread}_{said.rollout}" if said is not None and is_later else thread

    def _project(self) -> Project:
        folder = text_or_none(self._newest.meta.get("cwd")) or self._replay.settings.get("cwd")
        if not folder:
            return Project(None, None, NO_FOLDER, None)
        return Project(folder, None, None, KnownBy.RECORDS, certain=True)

    def _folders(self) -> tuple[str, ...]:
        """Return the folders that the session was worked in, if they are several."""
        begun = (text_or_none(rollout.meta.get("cwd")) for rollout in self._rollouts)
        folders = tuple(dict.fromkeys([*filter(None, begun), *self._replay.folders]))
        return folders if len(folders) > 1 else ()

    def _task(self, messages: Sequence[Message]) -> str | None:
        """What a program told the session to do, as with subagents and reviews; else what it is called."""
        texts = (message.text(Origin.SYNTHETIC) for message in messages if message.role is Role.USER)
        task = next((first_sentence(text) for text in texts if text.strip() and not _is_envelope(text)), None)
        spawned = self._spawned or {}
        names = (spawned.get(field) for field in ("agent_nickname", "agent_path", "agent_role", "kind"))
        return task or next((name for name in names if isinstance(name, str) and name), None)

    def _status(self, messages: Sequence[Message], kind: SessionKind) -> Status:
        ends = {Ended.NOT: Status.INTERRUPTED, Ended.ABORTED: Status.CANCELLED, Ended.FAILED: Status.ERROR}
        ended = self._replay.ended
        return ends[ended] if ended in ends else status_of(messages, kind)

    def _times(self, messages: Sequence[Message]) -> Iterator[datetime]:
        yield from [message.at for message in messages if message.at]
        yield from [call.at for call in calls_in(messages) if call.at]
        for rollout in self._rollouts:
            if begun := parse_time(rollout.meta.get("timestamp")):
                yield begun

    def _files(self) -> tuple[SessionFile, ...]:
        logs = [rollout.log for rollout in self._rollouts]
        return tuple(SessionFile(log.path, log.format, log.size) for log in logs)

    def _lost_headers(self) -> Iterator[Problem]:
        for rollout in self._rollouts:
            if rollout.first is None:
                detail = "the file does not say whose session it is; its name was used"
                yield Problem(rollout.log.path, ProblemKind.NO_HEADER, detail, 1)


def _subagent(source: object) -> dict[str, object] | None:
    """What a source says of the subagent that it is; None for a session that a human led."""
    match source:
        case {"subagent": {"thread_spawn": dict(spawned)}}:
            return spawned
        case {"subagent": str(kind)}:
            return {"kind": kind}
        case {"subagent": {"other": str(kind)}}:
            return {"kind": kind}
        case {"subagent": _}:
            return {}
        case _:
            return None


def _is_envelope(text: str) -> bool:
    """Whether a message between agents says only who sends it: its words are encrypted."""
    return text.startswith("Message Type: ") and text.rstrip().endswith("Payload:")


def _branch(meta: dict[str, object]) -> str | None:
    match meta.get("git"):
        case {"branch": str(branch)} if branch:
            return branch
        case _:
            return None


def _usage(replay: Replay) -> Usage | None:
    """The agent's own count. How many requests it is of is not written; those that we know."""
    reported = replay.counter.reported
    if reported is None:
        return None
    requests = sum(draft.used is not None and draft.whose is Whose.OWN for draft in replay.drafts)
    return reported.usage(requests)
