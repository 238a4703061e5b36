"""Errors with messages a user can act on: what, where, what to do.

Only `faces/cli/main.py` turns them into a line on stderr and an exit code.
"""

from __future__ import annotations

from geminids.core.names import one_line
from geminids.core.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from typing import Protocol
else:
    Protocol = object

DONE = 0
NOTHING_FOUND = 1
WRONG_USAGE = 2
PARTLY_DONE = 3
STORE_DAMAGED = 4
INTERRUPTED = 130

EXIT_CODES = {
    DONE: "success, or the reader of the output closed it",
    NOTHING_FOUND: "nothing found: no session matches, or a file is not a session",
    WRONG_USAGE: "wrong usage: a bad option, an ambiguous id, a file that cannot be read",
    PARTLY_DONE: "partly done: stderr lists what could not be read or written",
    STORE_DAMAGED: "the data of geminids itself is damaged and could not be repaired",
    INTERRUPTED: "interrupted",
    129: "ended by SIGHUP; unfinished writes were undone",
    143: "ended by SIGTERM, the same",
}


class Candidate(NamedTuple):
    """A session that may have been meant, in a few facts."""

    id: str
    at: datetime | None
    place: str
    """Its project, or its file where only that tells it from others."""
    title: str | None
    key: str | None = None
    """What means it alone, where others have its id."""


class Unreadable(Protocol):
    """A place that the operating system did not let us look into."""

    @property
    def file(self) -> str: ...  # noqa: D102
    @property
    def detail(self) -> str: ...  # noqa: D102


class GeminidsError(Exception):
    """Something a user can understand and mend."""

    exit_code = WRONG_USAGE
    candidates: Sequence[Candidate] = ()
    """Sessions to name below the message."""
    unreadable: Sequence[Unreadable] = ()
    """Places where the answer may lie."""


class HomeNotFoundError(GeminidsError):
    """A home given by hand is not there."""

    def __init__(self, path: str) -> None:
        super().__init__(
            f"No folder {path!r}. --home takes a home directory, in which agents keep their files."
        )


class NothingToReadError(GeminidsError):
    """A file or folder given by hand cannot be opened."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"Cannot read {path!r}: {reason}.")


class SecretFileError(GeminidsError):
    """A file given by hand is one in which an agent keeps credentials."""

    def __init__(self, path: str) -> None:
        super().__init__(f"{path!r} holds credentials and is not opened. It never holds a session.")


class NotASessionError(GeminidsError):
    """A file given by hand is no session of any agent we know."""

    exit_code = NOTHING_FOUND

    def __init__(self, path: str, looks_like: str) -> None:
        super().__init__(
            f"{path!r} is not a session: it looks like {looks_like}. `geminids list` shows your sessions."
        )


class NotLoadedByAgentError(GeminidsError):
    """A file that the agent itself would not load."""

    exit_code = NOTHING_FOUND

    def __init__(self, path: str, looks_like: str, *, can_be_shown: bool) -> None:
        hint = " Without --agent-view everything in it is shown." if can_be_shown else ""
        super().__init__(f"The agent itself would not load {path!r} (it looks like {looks_like}).{hint}")


class SessionNotFoundError(GeminidsError):
    """No session has this id."""

    exit_code = NOTHING_FOUND

    def __init__(
        self,
        wanted: str,
        near: Sequence[Candidate] = (),
        unreadable: Sequence[Unreadable] = (),
        names: Sequence[str] = (),
    ) -> None:
        """`names` are names that have its words: then nothing else is near."""
        self.wanted = wanted
        self.candidates = near if not names else ()
        self.unreadable = unreadable
        self.names = names
        hint = "Nearest:" if near else "`geminids list` shows your sessions."
        if names:
            hint = f"Did you mean {' or '.join(map(repr, names))}?"
        super().__init__(f"No session {wanted!r}. {hint}")


class NoSessionsError(SessionNotFoundError):
    """There is no session at all."""

    def __init__(self, wanted: str, places: Sequence[str], unreadable: Sequence[Unreadable] = ()) -> None:
        super().__init__(wanted, unreadable=unreadable)
        self.places = places
        """The folders that were looked at."""


class NoIndexError(GeminidsError):
    """There is no index, and none was to be made."""

    exit_code = NOTHING_FOUND

    def __init__(self) -> None:
        super().__init__("There is no index of these homes yet. Run `geminids sync`, or leave out --no-sync.")


class NoSuchLineError(GeminidsError):
    """A number that no line of the last list has."""

    exit_code = NOTHING_FOUND

    def __init__(self, wanted: str, lines: int) -> None:
        super().__init__(
            f"No session {wanted!r}: the last list had {lines} line{'' if lines == 1 else 's'}, and no id "
            "begins with it. `geminids list` shows your sessions."
        )


class OtherListError(GeminidsError):
    """A number of a list that was made of other homes."""

    def __init__(self, number: int, places: Sequence[str]) -> None:
        super().__init__(
            f"Line {number} of your last list is from {', '.join(places) or 'no home'}, not from the homes "
            "in use now. Give the same --home or --sample again, or run `geminids list`."
        )


class DoubtfulNumberError(GeminidsError):
    """A number that may mean another session than its user thinks, where one would be changed."""

    def __init__(self, number: str, session_id: str, why: str) -> None:
        super().__init__(f"Nothing was changed: {number} stands for {one_line(session_id)}, but {why}.")
        self.number = number
        """As it was typed."""
        self.session_id = session_id


class LineGoneError(GeminidsError):
    """A line of the last list whose session is no longer there."""

    exit_code = NOTHING_FOUND

    def __init__(self, number: int, file: str | None) -> None:
        place = f" from {file}" if file else ""
        super().__init__(f"The session of line {number} is gone{place}. `geminids list` makes a new list.")


class SessionGoneError(GeminidsError):
    """A session that the index knows, and whose files no longer hold it."""

    exit_code = NOTHING_FOUND

    def __init__(self, session_id: str, file: str | None) -> None:
        place = f" from {file}" if file else ""
        super().__init__(
            f"The session {one_line(session_id)} is gone{place}. `geminids sync` updates the index."
        )


MOST_CANDIDATES = 10
"""So many sessions are named that may have been meant; more help nobody."""


class AmbiguousIdError(GeminidsError):
    """Several sessions are meant by these letters."""

    def __init__(
        self,
        wanted: str,
        candidates: Sequence[Candidate],
        *,
        same_id: bool = False,
        same_name: bool = False,
    ) -> None:
        self.candidates = candidates
        more = "they have the same id, so give the file" if same_id else "type more of the id"
        if same_name:
            more = "they have the same name, so give the id"
        named = f", the newest {MOST_CANDIDATES} of them" if len(candidates) > MOST_CANDIDATES else ""
        # Checkpoints and subagents are among them.
        kinds = "sessions of all kinds" if named else "sessions"
        super().__init__(f"{wanted!r} could be any of {len(candidates)} {kinds}; {more}{named}:")


class ShortIdError(GeminidsError):
    """So few letters could mean anything."""

    def __init__(self, wanted: str, least: int) -> None:
        super().__init__(f"{wanted!r} is too short for an id; type at least {least} characters of it.")


MOST_PROJECTS = 5
"""So many projects are named where none was meant; among more nobody finds his own."""


class ProjectNotFoundError(GeminidsError):
    """No project is meant by this."""

    exit_code = NOTHING_FOUND

    def __init__(self, wanted: str, like: Sequence[str], known: Sequence[str]) -> None:
        hint = "`geminids projects` lists them."
        if like:
            hint = f"Did you mean {' or '.join(like)}?"
        elif len(known) > MOST_PROJECTS:
            hint = f"`geminids projects` lists all {len(known)}."
        elif known:
            hint = f"Available: {', '.join(known)}."
        super().__init__(f"No project matches {wanted!r}. {hint}")


class AmbiguousProjectError(GeminidsError):
    """Several projects are meant by this."""

    def __init__(self, wanted: str, names: Sequence[str]) -> None:
        super().__init__(
            f"{wanted!r} could be any of {len(names)} projects; type more of the name, or its hash: "
            f"{', '.join(names)}."
        )


class NotLinkedError(GeminidsError):
    """A project was never linked to a folder."""

    exit_code = NOTHING_FOUND

    def __init__(self, wanted: str) -> None:
        super().__init__(f"{wanted!r} is not linked. `geminids projects` shows how each folder is known.")


class NoHashError(GeminidsError):
    """A project has no hash by which a link could be kept."""

    def __init__(self, wanted: str) -> None:
        super().__init__(
            f"{wanted!r} has no hash, and only a project that is known by its hash can be linked."
        )


class NoFolderError(GeminidsError):
    """A path given by hand is no folder."""

    def __init__(self, path: str) -> None:
        super().__init__(f"{path!r} is not a folder. Give the folder where the project is now.")


class UnknownAgentError(GeminidsError):
    """No reader is installed for this agent."""

    def __init__(self, wanted: str, known: Sequence[str]) -> None:
        super().__init__(f"No reader for agent {wanted!r}. Available: {', '.join(known) or 'none'}.")


class NoWriterError(GeminidsError):
    """No package of an agent is installed that writes sessions as the agent would."""

    def __init__(self) -> None:
        super().__init__("No installed agent package can write sessions.")


class NoCustodyError(GeminidsError):
    """The packages of some agents offer nothing of what is asked."""

    def __init__(self, unknown: str, titles: Sequence[str]) -> None:
        super().__init__(f"Unknown for {' and '.join(titles)}: {unknown}. Its package does not say.")


class UnknownFormatError(GeminidsError):
    """No such format of an export."""

    def __init__(self, wanted: str, known: Sequence[str]) -> None:
        super().__init__(f"No format {wanted!r}. Available: {', '.join(known) or 'none'}.")


class FormatOptionError(GeminidsError):
    """A format was asked for something that it does not know."""

    def __init__(self, format_name: str, option: str) -> None:
        super().__init__(f"The format {format_name!r} has no option {option!r}.")


class NoTableError(GeminidsError):
    """A format that does not say what it carries."""

    def __init__(self, format_name: str) -> None:
        super().__init__(
            f"There is no report for {format_name!r}: its package has no carried/{format_name}.toml. "
            "Without --report it is written."
        )


class FileExistsAlreadyError(GeminidsError):
    """What was to be written is there."""

    def __init__(self, path: str) -> None:
        super().__init__(f"{path!r} exists. --force replaces it.")


class LedAwayError(GeminidsError):
    """A file would have gone somewhere else, because a folder on its way has become a link."""

    def __init__(self, path: str, folder: str) -> None:
        super().__init__(f"{path!r} leads out of {folder!r} through a link. Nothing was written.")


class NoOutputFolderError(GeminidsError):
    """A file was to be written into a folder that is not there."""

    def __init__(self, path: str, folder: str) -> None:
        super().__init__(f"Cannot write {path!r}: there is no folder {folder!r}.")


class ManySessionsError(GeminidsError):
    """Several sessions were to go into a file that can hold one."""

    def __init__(self, format_name: str, number: int) -> None:
        super().__init__(
            f"A {format_name} file holds one session, not {number:,}. `-o FOLDER/` writes one file per "
            "session."
        )


class AgentFolderError(GeminidsError):
    """Something was to be written where an agent keeps its own files."""

    def __init__(self, path: str) -> None:
        super().__init__(
            f"{path!r} is in the folder of an agent, where geminids does not write. Choose another place."
        )


class DamagedManifestError(GeminidsError):
    """The list of what was exported to a folder cannot be read."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(
            f"{path!r} cannot be read ({reason}). It lists which files in this folder are exports. To "
            "continue, remove it: files with the same content are then recognised, and all others are left "
            "alone."
        )


class NobodyToAskError(GeminidsError):
    """Something may get lost, and there is nobody to say that it may."""

    def __init__(self) -> None:
        super().__init__("Nothing was started: there is no terminal to ask. --yes starts it without asking.")


class AgentNotFoundError(GeminidsError):
    """The program of an agent is not there."""

    def __init__(self, program: str, line: str) -> None:
        super().__init__(
            # On a line of its own it is never broken.
            f"`{program}` is not on the PATH, so nothing was started. Once it is installed, run:\n  {line}"
        )


class UnsafeArgumentError(GeminidsError):
    """An argument that the shell of Windows would take for something else."""

    def __init__(self, argument: str) -> None:
        super().__init__(f"{argument!r} cannot be passed on safely, so nothing was started.")


class NotInstalledError(GeminidsError):
    """No reader is registered at all, not even ours."""

    def __init__(self) -> None:
        super().__init__(
            "No reader of any agent is registered: geminids is not installed. Run `pip install FOLDER` "
            "with the folder that has its pyproject.toml."
        )


class MeaningOptionError(GeminidsError):
    """A search by meaning is asked for with what goes with words alone."""

    def __init__(self, options: str = "--scan, --page, --after and --sort") -> None:
        super().__init__(f"{options} cannot be combined with --like.")


class SlowPatternError(GeminidsError):
    """A regular expression takes too long to say which sessions it means."""

    def __init__(self, messages: int, session_id: str) -> None:
        where = "a message" if messages == 1 else f"{messages:,} messages"
        super().__init__(
            f"The regular expression takes too long in {where} of {one_line(session_id)}, so it is not known "
            "whether it matches. Make it simpler. `geminids search` shows what else matches."
        )


class BadTimeError(GeminidsError):
    """A moment we cannot read."""

    def __init__(self, written: str) -> None:
        super().__init__(
            f"Cannot read the time {written!r}. "
            'Use 7d, 12h, 30min, 2w, 1mo, 1y, today, yesterday, "last week", "this month", 2026, 2026-05, '
            "2026-05-01 or 2026-05-01T14:00."
        )


class RedactionError(GeminidsError):
    """Secrets cannot be looked for as they should be, so nothing may be given out."""

    exit_code = PARTLY_DONE

    def __init__(self, reason: str) -> None:
        super().__init__(f"Cannot redact: {reason}. What cannot be redacted is not written.")


class RedactionKeyError(GeminidsError):
    """The key of our pseudonyms is there and cannot be used."""

    exit_code = STORE_DAMAGED

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(
            f"The key for redaction, {path!r}, {reason}. Restore it from a backup, or delete it: a new key "
            "is then created, and its placeholders differ from earlier ones."
        )


class NothingToHideError(GeminidsError):
    """No such thing can be hidden."""

    def __init__(self, wanted: str, known: Sequence[str]) -> None:
        super().__init__(f"Cannot hide {wanted!r}. Available: {', '.join(known)}.")


class NothingKeptError(GeminidsError):
    """There are no kept copies, or none of a session."""

    exit_code = NOTHING_FOUND

    def __init__(self, session_id: str | None = None) -> None:
        whom = f" of {one_line(session_id)}" if session_id else ""
        super().__init__(f"No copies are kept{whom}. `geminids keep status` shows what is kept.")


class NoVersionError(GeminidsError):
    """A session has no such earlier state."""

    exit_code = NOTHING_FOUND

    def __init__(self, session_id: str, number: int, there: int) -> None:
        kept = f"There {'is one' if there == 1 else f'are {there}'}" if there else "No version is kept"
        super().__init__(
            f"{one_line(session_id)} has no version {number}. {kept}; `geminids keep versions` shows them."
        )


class NoHomeHereError(GeminidsError):
    """A session of another machine, whose agent has no home on this one."""

    def __init__(self, agent: str, folder: str) -> None:
        super().__init__(
            f"The session is from {folder!r} on another machine, and {agent} has no home here. Use `--to "
            "FOLDER` to write its files elsewhere."
        )
