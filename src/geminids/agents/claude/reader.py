"""Reading the files of a bundle, or one file given by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from geminids.agents.claude.homes import AGENT, PROJECTS
from geminids.agents.claude.layout import META_SUFFIX, SUBAGENTS, SUFFIX
from geminids.agents.claude.read.content import text_or_none
from geminids.agents.claude.read.conversations import conversations, is_about_agent
from geminids.agents.claude.read.log import read_log
from geminids.agents.claude.read.records import SPOKEN, FileLog, Record
from geminids.agents.claude.read.sessions import leaves_of, sessions
from geminids.agents.claude.read.tree import lay_out
from geminids.core.agents.base import Bundle, Reading
from geminids.core.agents.fates import Fate
from geminids.core.disk import GIVEN
from geminids.core.lazy_patterns import lazy_pattern
from geminids.core.model import FileAccount, Problem, ProblemKind, Project, SessionKind, State
from geminids.reading.bounded import Text, read_bounded
from geminids.reading.file_log import given_file, reading_of, refused
from geminids.reading.jsonl import UndecodableError, decode

_META_FORMAT = "claude-agent"
_UUID = lazy_pattern(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def read(bundle: Bundle) -> Reading:
    """The sessions of a bundle, and where every byte of its files went."""
    return _read(bundle, None)


def read_with_fates(bundle: Bundle) -> Reading:
    """The same, with what Claude Code's own cleaning would see of the files."""
    from geminids.agents.claude.read.fates import fates_of

    return _read(bundle, fates_of)


def _read(bundle: Bundle, fates_of: Callable[..., tuple[Fate, ...]] | None) -> Reading:
    logs: list[FileLog] = []
    about: dict[str, dict[str, Any]] = {}
    accounts: list[FileAccount] = []
    problems: list[Problem] = []
    fates: list[Fate] = []
    for file in bundle.files:
        try:
            text = read_bounded(file.path, bundle.disk)
        except OSError as error:
            account, problem = refused(file, error)
            accounts.append(account)
            problems.append(problem)
            if fates_of:
                fates += fates_of(file)
            continue
        if is_about_agent(file.path):
            log, noted = _read_about(str(file.path), text)
            about.setdefault(file.path.name.removesuffix(META_SUFFIX), noted)
            accounts.append(log.account(_META_FORMAT))
        else:
            log = read_log(str(file.path), text)
            logs.append(log)
            accounts.append(log.account())
        problems.extend(log.problems)
        if fates_of:
            fates += fates_of(file, log)
    held = sessions(bundle, conversations(bundle, logs, about), problems)
    return reading_of(held, accounts, problems, fates)


def _read_about(path: str, text: Text) -> tuple[FileLog, dict[str, Any]]:
    """The note about a subagent."""
    log = FileLog(path, text.size)
    content = text.whole
    if content is None:
        log.report(ProblemKind.LEFT_UNREAD, "too large for a note about a subagent", None, 0, text.size)
        return log, {}
    try:
        noted = decode(content).value
    except UndecodableError as error:
        log.report(ProblemKind.BAD_JSON, str(error), None, 0, len(content))
        return log, {}
    if not isinstance(noted, dict):
        log.report(ProblemKind.WRONG_TYPE, "the note about a subagent is no object", None, 0, len(content))
        return log, {}
    log.count_use("agent", len(content))
    return log, noted


def read_alone(path: Path) -> Reading | None:
    """What one file given by hand holds: a session of Claude Code, or nothing of it."""
    log = read_log(str(path), read_bounded(path, GIVEN))
    if not any(_is_of_claude(record) for record in log.records):
        return None
    folder = _project_folder(path)
    project = Project(None, None, folder.name if folder else None, None)
    folders, files = (folder,) if folder else (), (given_file(path),)
    return read(Bundle(AGENT, _key(path, log), project, folders, files, disk=GIVEN))


def read_as_agent(path: Path) -> dict[str, Any] | None:
    """What Claude Code would go on with: the records of the conversation that is in its view, in order."""
    log = read_log(str(path), read_bounded(path, GIVEN))
    bundle = Bundle(AGENT, _key(path, log), Project(None, None, None, None), (), ())
    found = conversations(bundle, [log], {})
    if not found or found[0].kind is not SessionKind.MAIN:
        return None
    laid = lay_out(found[0].records, leaves_of(found[0]), [])
    current = [one.record.value for one in laid if one.fate.state is State.CURRENT]
    return {"sessionId": found[0].native_id, "records": current}


def _is_of_claude(record: Record) -> bool:
    """Whether a record is a line of a conversation as Claude Code writes it. (Qwen Code has `parts`.)"""
    if record.kind not in SPOKEN:
        return False
    match record.value:
        case {"message": {"parts": _}}:
            return False
        case {"message": {"content": _}} | {"message": str(), "uuid": str()}:
            return True
        case {"uuid": str(), "sessionId": str(), "parentUuid": _}:
            return True
        case _:
            return False


def _key(path: Path, log: FileLog) -> str:
    """The id of the session in a file: its name, unless somebody named it otherwise."""
    name = path.name.removesuffix(SUFFIX)
    if _UUID.fullmatch(name) or _project_folder(path):
        return name
    named = (text_or_none(record.value.get("sessionId")) for record in log.records)
    return next(filter(None, named), name)


def _project_folder(path: Path) -> Path | None:
    """The folder of the project that a session file lies in, if it lies where the CLI puts them."""
    above = path.absolute().parents
    if SUBAGENTS in path.absolute().parts[-4:-1]:
        above = above[[folder.name for folder in above].index(SUBAGENTS) + 1].parents
    folder = above[0] if len(above) > 1 else None
    return folder if folder and folder.parent.name == PROJECTS else None
