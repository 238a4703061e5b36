"""Going on with a session in Gemini CLI: `gemini --resume <id>` in the folder of its project.

    --resume ID                  since 0.15; finds a session by the folder one is in, and by its whole id
    -i '/chat resume TAG'        loads a saved chat at the start since 0.27; before, the model was asked
    --session-file FILE          since 0.43; a new session that begins with the turns of a file

The CLI hides more than it shows, so its own list is made here for the one id: which folder it would look in
(`session_files`), which files it would load and which of them it takes (`loaded_files`). What it deletes
(`losses`) is told before it is started. Where it cannot go on, something else can be done (`offers`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import timedelta
from pathlib import Path
from urllib.parse import unquote

import msgspec

from geminids.agents.gemini.companions.saved_chats import tag_of
from geminids.agents.gemini.custody.installed import PROGRAM, find_installed
from geminids.agents.gemini.custody.loaded_files import (
    Loaded,
    loaded_files,
    opened,
    shown_as,
    unseen,
    why_not_shown,
)
from geminids.agents.gemini.custody.lookup import loaded_record
from geminids.agents.gemini.custody.losses import expiring, is_expired, loss
from geminids.agents.gemini.custody.offers import Offers, delete_nothing, is_folder
from geminids.agents.gemini.custody.releases import Program
from geminids.agents.gemini.custody.retention import longest_rest, spoken
from geminids.agents.gemini.custody.session_files import ProjectFiles, places_of, why_not_found
from geminids.core.agents.resume import (
    Circumstances,
    Command,
    NotResumable,
    Offer,
    Resumable,
    Resuming,
    resume_option,
)
from geminids.core.model import Session, SessionKind

_LATEST = "latest"


def resuming(session: Session, circumstances: Circumstances) -> Resuming:
    """How Gemini CLI would go on with a session, or why it cannot."""
    program = Program(find_installed(circumstances.environment))
    return _Resumption(session, circumstances, program, Offers(session, circumstances, program)).answer()


class _Resumption(msgspec.Struct, frozen=True):
    """One session, and the CLI that is to go on with it."""

    session: Session
    circumstances: Circumstances
    program: Program
    offers: Offers

    def answer(self) -> Resuming:
        """What the CLI would do."""
        folder = self.session.project.path
        if self.circumstances.given:
            return self._given(self.circumstances.given)
        if self.session.kind is SessionKind.COPY:
            return self._cannot("It is a copy of a conversation, not the session itself.")
        if not self.program.can_resume:
            return self._cannot(f"{self.program.name} cannot resume sessions; that came with 0.15.0.")
        if folder is None:
            return self._without_folder()
        if not is_folder(folder):
            return self._folder_is_gone(folder)
        return self._first_that_works(Path(folder))

    def _first_that_works(self, folder: Path) -> Resuming:
        places = places_of(self.session, self.circumstances, self.program)
        answers = [self._from(place, folder) for place in places]
        answers.append(self._cannot("It is not where Gemini CLI keeps its sessions."))
        return next((found for found in answers if isinstance(found, Resumable)), answers[0])

    def _cannot(self, reason: str) -> NotResumable:
        return NotResumable(reason, (self.offers.begin_with_copy(),))

    def _given(self, file: str) -> NotResumable:
        reason = "Gemini CLI only resumes sessions in its own home, not a file given by path."
        if self.session.kind is not SessionKind.MAIN or loaded_record(Path(file)) is None:
            # What it does not load it cannot begin with either; an export it can.
            return self._cannot(reason)
        return NotResumable(reason, (self.offers.begin_with_file(file),))

    def _without_folder(self) -> NotResumable:
        reason = "Gemini CLI finds sessions by their folder. The folder of this one is not known."
        resolve = Offer("Find the folder:", (("geminids", "projects", "resolve"),))
        link = self.offers.link("Or set the folder:")
        return NotResumable(reason, (resolve, *link, self.offers.begin_with_copy()))

    def _folder_is_gone(self, folder: str) -> NotResumable:
        reason = f"Gemini CLI finds sessions by their folder. {folder!r} does not exist."
        link = self.offers.link("If it was moved, set the new folder:")
        return NotResumable(reason, (self.offers.begin_with_copy(), *link))

    def _from(self, place: ProjectFiles, folder: Path) -> Resuming:
        """What comes of the files in one home."""
        if reason := why_not_found(place, folder, self.program):
            return self._cannot(reason)
        if self.session.kind is SessionKind.CHECKPOINT:
            return self._saved_chat(place, folder)
        return self._session_in(place, folder)

    def _session_in(self, place: ProjectFiles, folder: Path) -> Resuming:
        native_id = self.session.native_id
        if native_id == _LATEST or native_id != native_id.strip():
            return self._cannot(f"To `{PROGRAM} --resume`, {native_id!r} means another session.")
        loaded = loaded_files(place, self.program)
        shown = shown_as(native_id, loaded, self.program)
        if not shown:
            return self._cannot(why_not_shown(self.session, place, loaded, self.program))
        taken = opened(shown)
        if taken.file not in place.files:
            other = taken.file.name
            return self._cannot(f"Gemini CLI would open {other!r}, which has the same id and was used later.")
        return self._opening(place, folder, taken, unseen(place, shown, taken))

    def _opening(self, place: ProjectFiles, folder: Path, taken: Loaded, warnings: Iterable[str]) -> Resuming:
        """What comes of it when the CLI opens a file of the session."""
        command = resume_option(self.session.native_id)
        rest, now = self._longest_rest(place, folder), self.circumstances.now
        if rest is None:
            return self._resumable(place, folder, command, warnings)
        if self.program.deletes_expired_while_resuming and is_expired(taken, rest, now):
            return self._deleted_while_resuming(place, spoken(rest))
        more = [*warnings, *self._expiring(place, rest, taken)]
        return self._resumable(place, folder, command, more, loss(self.program, taken, rest, now))

    def _deleted_while_resuming(self, place: ProjectFiles, rest: str) -> NotResumable:
        reason = (
            f"It has not been used for more than {rest}. {self.program.name} deletes such sessions when it "
            "starts, even the one that it should resume."
        )
        return NotResumable(reason, (self.offers.save_copy(), delete_nothing(place)))

    def _saved_chat(self, place: ProjectFiles, folder: Path) -> Resuming:
        tag = _typed_tag(place.files[0].name)
        if tag is None:
            return self._cannot("It was saved without a name for `/chat resume`.")
        typed = f"/chat resume {tag}"
        if not self.program.loads_chats_at_start:
            reason = f"It is a saved chat, which {self.program.name} can only load from within."
            within = self.offers.load_from_within(place, folder, typed)
            return NotResumable(reason, (within, self.offers.begin_with_copy()))
        rest = self._longest_rest(place, folder)
        return self._resumable(place, folder, ("-i", typed), self._expiring(place, rest) if rest else ())

    def _longest_rest(self, place: ProjectFiles, folder: Path) -> timedelta | None:
        return longest_rest(place.data, folder, self.program.release)

    def _expiring(self, place: ProjectFiles, rest: timedelta, taken: Loaded | None = None) -> Iterator[str]:
        # What is not installed deletes nothing.
        if self.program.installed:
            yield from expiring(place, rest, self.circumstances.now, taken)

    def _resumable(
        self,
        place: ProjectFiles,
        folder: Path,
        arguments: Command,
        warnings: Iterable[str],
        lost: str | None = None,
    ) -> Resumable:
        installed = self.program.installed
        missing = None if installed else f"`{PROGRAM}` is not on the PATH."
        return Resumable(
            command=(PROGRAM, *arguments),
            folder=str(folder),
            environment=place.environment,
            program=installed.path if installed else None,
            warnings=tuple(warning for warning in (missing, lost, *warnings) if warning),
            may_lose=lost is not None,
            offers=(self.offers.save_copy(), delete_nothing(place)) if lost else (),
        )


def _typed_tag(file_name: str) -> str | None:
    """The name of a saved chat, if it comes through the line that commands are typed in."""
    tag = tag_of(file_name)
    if tag is None or tag != tag.strip() or not tag.isprintable():
        return None
    is_whole = unquote(file_name) == f"checkpoint-{tag}.json"
    return tag if is_whole else None
