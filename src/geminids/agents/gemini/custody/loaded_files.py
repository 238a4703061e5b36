"""Which files Gemini CLI loads for the id of a session, which of them it hides, and which it opens.

Several files may have the same id. The CLI opens the one that was used last, and shows nothing of the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from geminids.agents.gemini.custody.lookup import SESSION_SUFFIXES, loaded_record, session_files
from geminids.agents.gemini.custody.releases import Program
from geminids.agents.gemini.custody.session_files import ProjectFiles
from geminids.agents.gemini.file_names import start_of_id
from geminids.core.model import ProblemKind, Session

_TURNS = ("user", "gemini")


class Loaded(NamedTuple):
    """A file as the CLI loads it."""

    file: Path
    record: dict[str, Any]

    @property
    def native_id(self) -> object:
        """The id of the session in it, whatever was written there."""
        return self.record.get("sessionId")

    @property
    def last_used(self) -> str:
        """When, as written."""
        return str(self.record.get("lastUpdated") or self.record.get("startTime") or "")


def loaded_files(place: ProjectFiles, program: Program) -> list[Loaded]:
    """The files that the CLI loads and that may have the id of the session, in its order."""
    return list(_loaded_files(place, program))


def _loaded_files(place: ProjectFiles, program: Program) -> Iterator[Loaded]:
    starts = {start_of_id(file.name) for file in place.files}
    suffixes = SESSION_SUFFIXES if program.reads_logs else SESSION_SUFFIXES[:1]
    for file in session_files(place.folder):
        may_be_it = file.suffix in suffixes and start_of_id(file.name) in starts
        if may_be_it and (record := loaded_record(file)):
            yield Loaded(file, record)


def shown_as(native_id: str, loaded: Sequence[Loaded], program: Program) -> list[Loaded]:
    """Those that the CLI shows as the session of an id."""
    return [one for one in loaded if one.native_id == native_id and not _is_hidden(one.record, program)]


def _is_hidden(record: dict[str, Any], program: Program) -> bool:
    if record.get("kind") == "subagent" and program.hides_subagents:
        return True
    if program.wants_resumable_content:
        return not record["hasResumableContent"]
    return not any(turn.get("type") in _TURNS for turn in record.get("messages") or ())


def opened(shown: Sequence[Loaded]) -> Loaded:
    """The one that the CLI opens: it was used last."""
    return max(shown, key=lambda one: one.last_used)


def why_not_shown(session: Session, place: ProjectFiles, loaded: Sequence[Loaded], program: Program) -> str:
    """Why the CLI shows none of the files of a session."""
    if any(one.native_id == session.native_id for one in loaded):
        return "Gemini CLI finds nothing in it to resume, hides it, and deletes it when it starts."
    for other in loaded:
        if other.file in place.files:
            return f"Its file also holds the session {other.native_id!r}, and Gemini CLI only sees that one."
    if has_no_header(session):
        return (
            "Its file has lost its first line. Gemini CLI does not recognise it, and deletes it when it "
            "starts in this folder."
        )
    if not program.reads_logs and any(file.suffix == ".jsonl" for file in place.files):
        return f"Its file is a log (.jsonl), which {program.name} does not read; 0.39.0 and later do."
    return "Gemini CLI cannot load its file. `geminids doctor` shows what is wrong with it."


def has_no_header(session: Session) -> bool:
    """Whether a file of the session has lost its first line."""
    return any(problem.kind is ProblemKind.NO_HEADER for problem in session.problems)


def unseen(place: ProjectFiles, shown: Sequence[Loaded], taken: Loaded) -> Iterator[str]:
    """What of the session the CLI does not see once it has opened one of its files."""
    others = [one.file.name for one in shown if one is not taken and one.file in place.files]
    if others:
        files = ", ".join(map(repr, others))
        yield f"Gemini CLI resumes {taken.file.name!r}, and does not see what is in {files}."
