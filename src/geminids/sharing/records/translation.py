"""A session as a record of Verifiable Agent Conversations: all of it, so that it can be read back.

    {"version": …, "id": …, "session": {…, "entries": [
         {"type": "user", "id": …, "timestamp": …, "content": "…", "x-source": […]},
         {"type": "assistant", …, "content": "…", "token-usage": {…}, "children": [
             {"type": "reasoning", …}, {"type": "tool-call", …}, {"type": "tool-result", …}], …},
         {"type": "system-event", "event-type": "rewind", "data": {…}, …}, …]},
     "file-attribution": {…}, "vcs": {…}, "recording-agent": {…}, "x-source": […], "x-geminids": {…}}

What the format has a member for is told there; what the model knows beyond that stands under `x-geminids` of
the same map, where it was read under `x-source`, and what is left of the agent's own records under
`x-native`. The clock is not looked at: the same session and the same evidence give the same record.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from geminids import __version__
from geminids.core.model import Project, Session, SessionKind
from geminids.core.model_names import maker_of
from geminids.sharing.records.attribution import file_attribution
from geminids.sharing.records.errors import RecordError, SessionTooDeepError
from geminids.sharing.records.evidence import Evidence
from geminids.sharing.records.leftovers import Leftovers, moment, plain
from geminids.sharing.records.plain import recorder_of
from geminids.sharing.records.presentable import presentable_record
from geminids.sharing.records.profile import OURS, PROFILE, SOURCE, UNKNOWN, VERSION
from geminids.sharing.records.translation_events import events_by_position
from geminids.sharing.records.translation_messages import Files, message_entry

SESSION = Leftovers(
    Session,
    {"id", "native_id", "project", "started_at", "ended_at", "models", "branch", "messages"},
    {"parent_id": None, "title": None, "summary": None},
    notes=[("project", dict[str, Any], {})],
)
PROJECT = Leftovers(Project, {"path"}, {"hash": None, "slug": None, "known_by": None})


def record_of(session: Session, evidence: Evidence | None = None) -> dict[str, Any]:
    """A session as a record, with what its files say beside it where that was looked at.

    Raises RecordError if the evidence is of another session, or something is nested too deep to be told.
    """
    files = Files(file.path for file in evidence.files) if evidence else Files(())
    record: dict[str, Any] = {"version": VERSION, "id": session.id}
    record["session"] = _session(session, evidence, files)
    if attributed := file_attribution(session):
        record["file-attribution"] = attributed
    if session.branch is not None:
        record["vcs"] = _vcs(session.branch)
    record["recording-agent"] = {"name": "geminids", "version": __version__}
    if files.paths:
        record[SOURCE] = _files_written(session, evidence, files)
    record[OURS] = {"profile": PROFILE} | ({"evidence": True} if evidence else {})
    try:
        return presentable_record(record)
    except RecursionError as error:
        raise SessionTooDeepError from error


def model_provider(session: Session) -> str:
    """Who makes the first model of a session, or else the agent."""
    names = (*session.models[:1], session.agent)
    return next(filter(None, map(maker_of, names)), UNKNOWN)


def _session(session: Session, evidence: Evidence | None, files: Files) -> dict[str, Any]:
    led_by_human = session.kind is not SessionKind.SUBAGENT
    written: dict[str, Any] = {
        "format": "interactive" if led_by_human else "autonomous",
        "session-id": session.native_id,
    }
    if session.started_at is not None:
        written["session-start"] = moment(session.started_at)
    if session.ended_at is not None:
        written["session-end"] = moment(session.ended_at)
    written["agent-meta"] = _agent_meta(session, evidence)
    if session.project.path is not None:
        vcs = {} if session.branch is None else {"vcs": _vcs(session.branch)}
        written["environment"] = {"working-dir": session.project.path} | vcs
    written["entries"] = [*_entries(session, evidence, files)]
    written[OURS] = SESSION.written(session, project=PROJECT.written(session.project))
    return written


def _agent_meta(session: Session, evidence: Evidence | None) -> dict[str, Any]:
    about: dict[str, Any] = {
        "model-id": next(iter(session.models), UNKNOWN),
        "model-provider": model_provider(session),
    }
    if session.models:
        about["models"] = [*session.models]
    about["cli-name"] = recorder_of(session.agent).program
    if evidence and evidence.agent_version is not None:
        about["cli-version"] = evidence.agent_version
    return about


def _vcs(branch: str) -> dict[str, Any]:
    return {"type": "git", "branch": branch}


def _entries(session: Session, evidence: Evidence | None, files: Files) -> Iterator[dict[str, Any]]:
    looked_at = evidence.messages if evidence else ((),) * len(session.messages)
    if len(looked_at) != len(session.messages):
        raise RecordError("The evidence is of another session: it has another number of messages.")
    events = events_by_position(session.messages, evidence.others if evidence else (), files)
    for number, (message, places) in enumerate(zip(session.messages, looked_at, strict=True)):
        yield from events.get(number, ())
        yield message_entry(message, places, files)
    yield from events.get(len(session.messages), ())


def _files_written(session: Session, evidence: Evidence | None, files: Files) -> list[dict[str, Any]]:
    """The files that places are in; sizes and hashes of those that were looked at."""
    formats = {file.path: plain(file.format) for file in session.files}
    looked_at = evidence.files if evidence else ()
    hashes = [{"size": file.size, "sha256": file.sha256} for file in looked_at]
    hashes += [{}] * (len(files.paths) - len(hashes))
    return [
        {"path": path} | ({"format": formats[path]} if path in formats else {}) | known
        for path, known in zip(files.paths, hashes, strict=True)
    ]
