"""Going on with a session in Gemini CLI: `gemini --resume <id>` in the folder of its project.

    --resume ID                  since 0.15; finds a session by the folder one is in, and by its whole id
    -i '/chat resume TAG'        loads a saved chat at the start since 0.27; before, the model was asked
    --session-file FILE          since 0.43; a new session that begins with the turns of a file

The CLI hides more than it shows, so its own list is made here for the one id: which folder it would look in,
which files it would load, which of them it takes. What it deletes is told before it is started. Checked with
releases 0.24 to 0.61.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

from geminids.model import ProblemKind, Session, SessionKind, folder_hash
from geminids.sources.gemini.beside.saved_chats import tag_of
from geminids.sources.gemini.installed import PROGRAM, Installed, Release, find_installed
from geminids.sources.gemini.layout import start_of_id
from geminids.sources.gemini.looking import (
    SESSION_SUFFIXES,
    SINCE_SLUGS,
    loaded_record,
    looked_into,
    session_files,
    written_before,
)
from geminids.sources.gemini.retention import SETTINGS_FILE, SWITCHED_OFF, longest_rest
from geminids.sources.resuming import Circumstances, Command, NotResumable, Offer, Resumable, Resuming
from geminids.sources.timestamps import parse_time

HOME_VARIABLE = "GEMINI_CLI_HOME"
ANY_FOLDER = "FOLDER"
"""Stands in a command for a folder that the user chooses."""

_SINCE_RESUME = (0, 15, 0)
_SINCE_HOME_VARIABLE = (0, 25, 0)
_SINCE_COMMAND_AT_START = (0, 27, 0)
_SINCE_SUBAGENTS_HIDDEN = (0, 31, 0)
_SINCE_LOGS = (0, 39, 0)
_SINCE_DELETED_TOGETHER = (0, 42, 0)
"""Since then a file takes all others with the same beginning of an id with it."""
_SINCE_SESSION_FILE = (0, 43, 0)
_SINCE_RESUMABLE = (0, 47, 0)
_DELETES_EXPIRED = ((0, 33, 0), (0, 36, 0))
"""Releases that delete a session which rested too long even when they are told to resume it."""
_DELETES_RESUMED = (((0, 42, 0), (0, 44, 0)), ((0, 47, 0), (0, 62, 0)))
_FIRST_UNKNOWN = (0, 62, 0)
"""From here on no release was tried."""

_LATEST = "latest"
_TURNS = ("user", "gemini")
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]+")
_LONGEST_STEM = len("session-12345678")
"""As long as the names that agents give to such files."""
_GONE = (
    "all of it, what is there now and what you add, is gone after the next start of Gemini CLI in this "
    "folder that does not resume it again"
)


class Place(NamedTuple):
    """The folder of a project in one home of the CLI, and the files of the session in it."""

    data: Path
    """Nearly always `.gemini`."""
    folder: Path
    files: tuple[Path, ...]


class Loaded(NamedTuple):
    """A file as the CLI loads it."""

    file: Path
    record: dict[str, Any]

    @property
    def last_used(self) -> str:
        """When, as written."""
        return str(self.record.get("lastUpdated") or self.record.get("startTime") or "")


def resuming(session: Session, circumstances: Circumstances) -> Resuming:
    """How Gemini CLI would go on with a session, or why it cannot."""
    return _Question(session, circumstances, find_installed(circumstances.environment)).answer()


class _Question:
    """One session, and the CLI that is to go on with it."""

    def __init__(self, session: Session, circumstances: Circumstances, installed: Installed | None) -> None:
        self._session = session
        self._circumstances = circumstances
        self._installed = installed
        self._release = installed.release if installed else None
        self._name = installed.name if installed else "Gemini CLI"

    def answer(self) -> Resuming:
        """What the CLI would do."""
        session, folder = self._session, self._session.project.path
        if self._circumstances.given:
            return self._given(self._circumstances.given)
        if session.kind is SessionKind.COPY:
            return self._cannot("It is a copy of a conversation, not the session itself.")
        if self._is_before(_SINCE_RESUME):
            return self._cannot(f"{self._name} cannot resume sessions; that came with 0.15.0.")
        if folder is None:
            return self._without_folder()
        if not os.path.isdir(folder):  # noqa: PTH112 - pathlib raises for what cannot be a name
            return self._folder_is_gone(folder)
        answers = [self._from(place, Path(folder)) for place in self._places()]
        answers.append(self._cannot("It does not lie where Gemini CLI keeps its sessions."))
        return next((found for found in answers if isinstance(found, Resumable)), answers[0])

    # What keeps it from being found

    def _given(self, file: str) -> NotResumable:
        reason = "Gemini CLI resumes only what is in its home, not a file that is given by hand."
        if self._session.kind is not SessionKind.MAIN or self._has_no_header():
            # What it does not load it cannot begin with either; an export it can.
            return self._cannot(reason)
        sentence = f"A new session can begin with the turns of the file{self._if_new_enough()}:"
        return NotResumable(reason, (Offer(sentence, (_begin_with(file),)),))

    def _without_folder(self) -> NotResumable:
        reason = "Gemini CLI finds sessions by the folder they were worked in, which is not known."
        resolve = Offer("Look for it:", (("geminids", "projects", "resolve"),))
        return NotResumable(
            reason, (resolve, *self._link("Or say which one it is:"), self._copy_to_begin_with())
        )

    def _folder_is_gone(self, folder: str) -> NotResumable:
        reason = f"Gemini CLI finds sessions by their folder, and {folder!r} is not there."
        link = self._link("If it was moved, you can say where to:")
        return NotResumable(reason, (self._copy_to_begin_with(), *link))

    def _link(self, sentence: str) -> Iterator[Offer]:
        if known_as := self._session.project.hash or self._session.project.slug:
            yield Offer(sentence, (("geminids", "projects", "link", known_as, ANY_FOLDER),))

    def _places(self) -> list[Place]:
        """Where the files of the session lie, the home that the CLI uses anyway first."""
        found: dict[Path, list[Path]] = {}
        for file in self._session.files:
            path = Path(file.path)
            folder = path.parent if self._session.kind is SessionKind.CHECKPOINT else path.parent.parent
            if folder.parent.name == "tmp":
                found.setdefault(folder, []).append(path)
        places = [Place(folder.parent.parent, folder, tuple(files)) for folder, files in found.items()]
        return sorted(places, key=lambda place: not self._is_usual(place.data))

    def _is_usual(self, data: Path) -> bool:
        """Whether the CLI uses this home without being told."""
        named = self._circumstances.environment.get(HOME_VARIABLE)
        is_heeded = named and not self._is_before(_SINCE_HOME_VARIABLE)
        home = Path(named if named and is_heeded else self._circumstances.user_home)
        return os.path.realpath(data) == os.path.realpath(home / ".gemini")

    def _from(self, place: Place, folder: Path) -> Resuming:
        """What comes of the files in one home."""
        if reason := self._unusable(place.data) or self._overlooked(place, folder):
            return self._cannot(reason)
        if self._session.kind is SessionKind.CHECKPOINT:
            return self._saved_chat(place, folder)
        return self._session_in(place, folder)

    def _unusable(self, data: Path) -> str | None:
        """Why the CLI cannot be told to use a home; None if it can, or need not be told."""
        if data.name != ".gemini":
            return f"It lies in {str(data)!r}, where Gemini CLI does not look: its folder is called .gemini."
        if data.parent.name == ".cache":
            return (
                f"It was written in the sandbox of macOS, to {str(data)!r}. Told to resume a session, Gemini "
                "CLI looks outside of the sandbox first, and does not find it."
            )
        if not self._is_usual(data) and self._is_before(_SINCE_HOME_VARIABLE):
            return f"It lies in {str(data)!r}, and {self._name} knows no home but the user's."
        return None

    def _overlooked(self, place: Place, folder: Path) -> str | None:
        """Why the CLI would look elsewhere when it is started in the folder; None if it would not."""
        # The system tells a program the real name of the folder it is in, whatever links lead there.
        real = Path(os.path.realpath(folder))
        if place.folder.name in looked_into(place.data, real, self._release):
            return None
        if real != folder:
            return f"{str(folder)!r} leads to {str(real)!r}, which is another project to Gemini CLI."
        if place.folder.name == folder_hash(str(real)):
            return (
                f"It lies in {str(place.folder)!r}, where releases before 0.29 looked. Gemini CLI now has "
                "another folder for this project."
            )
        if self._is_before(SINCE_SLUGS):
            return f"A later release wrote it to {str(place.folder)!r}, where {self._name} does not look."
        return (
            f"Started in {str(folder)!r}, Gemini CLI does not look into {str(place.folder)!r}: the session "
            "is of another folder, or the folder was moved."
        )

    # What keeps it from being loaded

    def _session_in(self, place: Place, folder: Path) -> Resuming:
        native_id = self._session.native_id
        if native_id == _LATEST or native_id != native_id.strip():
            return self._cannot(f"To `{PROGRAM} --resume`, {native_id!r} means another session.")
        loaded = list(self._loaded(place))
        shown = [one for one in loaded if not self._is_hidden(one.record)]
        if not shown:
            return self._cannot(self._why_hidden(place, loaded))
        taken = max(shown, key=lambda one: one.last_used)
        if taken.file not in place.files:
            other = taken.file.name
            return self._cannot(f"Gemini CLI would open {other!r}, which has the same id and was used later.")
        rest = longest_rest(place.data, folder, self._release)
        if rest and self._is_expired(taken, rest) and self._is_within(*_DELETES_EXPIRED):
            return self._expired(place, rest)
        arguments = ("--resume", native_id) if not native_id.startswith("-") else (f"--resume={native_id}",)
        warnings = [*self._unseen(place, shown, taken), *self._expiring(place, rest, taken)]
        loss = self._loss(outlived=self._is_outlived(taken, rest)) if rest else None
        return self._resumable(place, folder, arguments, warnings, loss)

    def _loaded(self, place: Place) -> Iterator[Loaded]:
        """The files that the CLI loads and that may have the id of the session, in its order."""
        starts = {start_of_id(file.name) for file in place.files}
        suffixes = SESSION_SUFFIXES[:1] if self._is_before(_SINCE_LOGS) else SESSION_SUFFIXES
        for file in session_files(place.folder):
            may_be_it = file.suffix in suffixes and start_of_id(file.name) in starts
            if may_be_it and (record := loaded_record(file)):
                yield Loaded(file, record)

    def _is_hidden(self, record: dict[str, Any]) -> bool:
        if record.get("sessionId") != self._session.native_id:
            return True
        if record.get("kind") == "subagent" and not self._is_before(_SINCE_SUBAGENTS_HIDDEN):
            return True
        if self._is_before(_SINCE_RESUMABLE):
            return not any(turn.get("type") in _TURNS for turn in record.get("messages") or ())
        return not record["hasResumableContent"]

    def _why_hidden(self, place: Place, loaded: Sequence[Loaded]) -> str:
        own = [one for one in loaded if one.record.get("sessionId") == self._session.native_id]
        others = [one for one in loaded if one.file in place.files and one not in own]
        if own:
            return "Gemini CLI finds nothing in it to go on with, hides it, and deletes it when it starts."
        if others:
            other = others[0].record.get("sessionId")
            return f"Its file holds the session {other!r} too, and that is all that Gemini CLI sees in it."
        if self._has_no_header():
            return (
                "Its file has lost its first line. Gemini CLI takes it for rubbish, and deletes it when it "
                "starts in this folder."
            )
        if self._is_before(_SINCE_LOGS) and any(file.suffix == ".jsonl" for file in place.files):
            return f"Its file is a log (.jsonl), which {self._name} does not read; 0.39.0 and later do."
        return "Gemini CLI cannot load its file. `geminids doctor` says what is wrong with it."

    def _is_expired(self, taken: Loaded, rest: timedelta) -> bool:
        used = parse_time(taken.last_used)
        return used is not None and used < self._circumstances.now - rest

    def _is_outlived(self, taken: Loaded, rest: timedelta) -> bool:
        """Whether the CLI would go on in a new file, and delete that together with the one it came from."""
        is_document = taken.file.suffix == ".json" and not self._is_before(_SINCE_DELETED_TOGETHER)
        return is_document and self._is_expired(taken, rest)

    def _expired(self, place: Place, rest: timedelta) -> NotResumable:
        reason = (
            f"It was not used for more than {rest.days} days. {self._name} deletes such sessions when it "
            "starts, even the one that it is told to resume."
        )
        return NotResumable(reason, (self._copy_to_keep(), _switch_off(place)))

    # Saved chats

    def _saved_chat(self, place: Place, folder: Path) -> Resuming:
        tag = _typed_tag(place.files[0].name)
        if tag is None:
            return self._cannot("It was saved without a name that `/chat resume` could be given.")
        typed = f"/chat resume {tag}"
        if self._installed and (self._release is None or self._is_before(_SINCE_COMMAND_AT_START)):
            inside = Offer(f"Start it, and type `{typed}`:", (("cd", str(folder)), (PROGRAM,)))
            reason = f"It is a chat that was saved by hand, and {self._name} loads such only from within."
            return NotResumable(reason, (inside, self._copy_to_begin_with(str(folder))))
        rest = longest_rest(place.data, folder, self._release)
        return self._resumable(place, folder, ("-i", typed), self._expiring(place, rest))

    # What happens, and what to know before

    def _resumable(
        self,
        place: Place,
        folder: Path,
        arguments: Command,
        warnings: Iterable[str],
        loss: str | None = None,
    ) -> Resumable:
        missing = None if self._installed else f"`{PROGRAM}` is not on the PATH."
        return Resumable(
            command=(PROGRAM, *arguments),
            folder=str(folder),
            environment={} if self._is_usual(place.data) else {HOME_VARIABLE: str(place.data.parent)},
            program=self._installed.path if self._installed else None,
            warnings=tuple(told for told in (missing, loss, *warnings) if told),
            may_lose=loss is not None,
            offers=(self._copy_to_keep(), _switch_off(place)) if loss else (),
        )

    def _loss(self, *, outlived: bool) -> str | None:
        """What is lost by going on, or may be; None where nothing is known to be."""
        if self._installed is None:
            return None
        if self._release is None:
            return (
                "Which release of Gemini CLI is installed could not be told. 0.42, 0.43 and 0.47 to 0.61 "
                f"delete what they resume: {_GONE}."
            )
        if outlived or any(self._is_within(*releases) for releases in _DELETES_RESUMED):
            return f"{self._name} deletes what it resumes: {_GONE}."
        if self._release >= _FIRST_UNKNOWN:
            return (
                f"Gemini CLI 0.47 to 0.61 delete what they resume: {_GONE}. It is not known that "
                f"{self._name} does not."
            )
        return None

    def _unseen(self, place: Place, shown: Sequence[Loaded], taken: Loaded) -> Iterator[str]:
        others = [one.file.name for one in shown if one is not taken and one.file in place.files]
        if others:
            files = ", ".join(map(repr, others))
            yield f"Gemini CLI goes on with {taken.file.name!r}, and does not see what is in {files}."

    def _expiring(self, place: Place, rest: timedelta | None, taken: Loaded | None = None) -> Iterator[str]:
        """What starts delete because it rested too long: the session itself, and others."""
        if rest is None or self._installed is None:
            return
        if taken and self._is_expired(taken, rest):
            yield (
                f"It was not used for more than {rest.days} days. A start that resumes it spares it; any "
                "other, also one to look for it with /resume, deletes it."
            )
        own = start_of_id(taken.file.name) if taken else None
        before = (self._circumstances.now - rest).timestamp()
        others = [file for file in session_files(place.folder) if start_of_id(file.name) != own]
        if number := sum(written_before(file, before) for file in others):
            yield (
                f"The start deletes what was not used for {rest.days} days, as every start does: "
                f"{number:,} other file{'' if number == 1 else 's'} of this project."
            )

    # What can be done instead

    def _cannot(self, reason: str) -> NotResumable:
        return NotResumable(reason, (self._copy_to_begin_with(self._session.project.path),))

    def _copy_to_begin_with(self, folder: str | None = None) -> Offer:
        there = folder if folder and os.path.isdir(folder) else ANY_FOLDER  # noqa: PTH112
        sentence = f"Take a copy, and let a new session begin with its turns{self._if_new_enough()}:"
        return Offer(sentence, (self._export(), ("cd", there), _begin_with(self._copy)))

    def _copy_to_keep(self) -> Offer:
        return Offer("Save a copy first:", (self._export(),))

    def _export(self) -> Command:
        return ("geminids", "export", self._session.id, "-f", "gemini", "-o", self._copy)

    @property
    def _copy(self) -> str:
        is_saved = self._session.kind is SessionKind.CHECKPOINT
        name = self._session.native_id.partition("@")[0] if is_saved else f"session-{self._session.native_id}"
        return str(Path(self._circumstances.here) / f"{_UNSAFE.sub('_', name)[:_LONGEST_STEM]}.jsonl")

    def _if_new_enough(self) -> str:
        is_too_old = self._is_before(_SINCE_SESSION_FILE)
        return f" (which takes 0.43.0 or later; this is {self._name})" if is_too_old else ""

    # What is known

    def _is_before(self, release: Release) -> bool:
        """Whether the CLI is known to be older; of one that is not known nothing is said."""
        return self._release is not None and self._release < release

    def _is_within(self, first: Release, end: Release) -> bool:
        return self._release is not None and first <= self._release < end

    def _has_no_header(self) -> bool:
        return any(problem.kind is ProblemKind.NO_HEADER for problem in self._session.problems)


def _begin_with(file: str) -> Command:
    return (PROGRAM, "--session-file", file)


def _switch_off(place: Place) -> Offer:
    file = str(place.data / SETTINGS_FILE)
    return Offer(f"Or keep Gemini CLI from deleting any session, in {file!r}: {SWITCHED_OFF}")


def _typed_tag(file_name: str) -> str | None:
    """The name of a saved chat, if it comes through the line that commands are typed in."""
    tag = tag_of(file_name)
    if tag is None or tag != tag.strip() or not tag.isprintable():
        return None
    is_whole = unquote(file_name) == f"checkpoint-{tag}.json"
    return tag if is_whole else None
