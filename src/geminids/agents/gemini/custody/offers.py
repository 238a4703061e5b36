"""What can be done where Gemini CLI cannot go on with a session, or before it does."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from geminids.agents.gemini.custody.installed import PROGRAM
from geminids.agents.gemini.custody.releases import Program
from geminids.agents.gemini.custody.retention import SETTINGS_FILE, SWITCHED_OFF
from geminids.agents.gemini.custody.session_files import ProjectFiles
from geminids.core.agents.resume import ANY_FOLDER, Circumstances, Command, Offer
from geminids.core.lazy_patterns import lazy_pattern
from geminids.core.model import Session, SessionKind

_UNSAFE = lazy_pattern(r"[^A-Za-z0-9_-]+")
_LONGEST_STEM = len("session-12345678")
"""As long as the names that agents give to such files."""


class Offers(msgspec.Struct, frozen=True):
    """Makes offers for one session."""

    session: Session
    circumstances: Circumstances
    program: Program

    def begin_with_copy(self) -> Offer:
        """A new session that begins with the turns of this one, in its folder if that is there."""
        known = self.session.project.path
        folder = known if known and is_folder(known) else ANY_FOLDER
        place = f", in any {ANY_FOLDER}" if folder == ANY_FOLDER else ""
        sentence = f"Start a new session from a copy of this one{place}{self._if_new_enough()}:"
        return Offer(sentence, (self._export(), *self._begin_in(folder)))

    def _begin_in(self, folder: str) -> Iterator[Command]:
        here = self.circumstances.here
        if folder != ANY_FOLDER and os.path.realpath(folder) == os.path.realpath(here):
            yield _begin_with(self._copy)
        else:
            yield ("cd", folder)
            yield _begin_with(str(Path(here) / self._copy))

    def begin_with_file(self, file: str) -> Offer:
        """A new session that begins with the turns of a file as it is."""
        sentence = f"Start a new session from the file{self._if_new_enough()}:"
        return Offer(sentence, (_begin_with(file),))

    def save_copy(self) -> Offer:
        """A copy, before the session gets lost."""
        return Offer("Save a copy first:", (self._export(),))

    def link(self, sentence: str) -> Iterator[Offer]:
        """Saying which folder a project is, if there is a name to call it by."""
        if known_as := self.session.project.hash or self.session.project.slug:
            yield Offer(sentence, (("geminids", "projects", "link", known_as, ANY_FOLDER),))

    def load_from_within(self, place: ProjectFiles, folder: Path, typed: str) -> Offer:
        """Starting the CLI with the home that a chat lies in, and typing a command there."""
        settings = [f"{name}={value}" for name, value in place.environment.items()]
        # A shell takes a setting that stands in quotes for the name of a program.
        start = ("env", *settings, PROGRAM) if settings else (PROGRAM,)
        return Offer(f"Start it, and type `{typed}`:", (("cd", str(folder)), start))

    def _export(self) -> Command:
        meant = self.circumstances.given or self.session.id
        return ("geminids", "export", meant, "-f", "gemini", "-o", self._copy)

    @property
    def _copy(self) -> str:
        native_id = self.session.native_id
        is_saved = self.session.kind is SessionKind.CHECKPOINT
        name = native_id.partition("@")[0] if is_saved else f"session-{native_id}"
        return f"{_UNSAFE.sub('_', name)[:_LONGEST_STEM]}.jsonl"

    def _if_new_enough(self) -> str:
        is_too_old = not self.program.takes_session_files
        return f" (needs 0.43.0 or later; this is {self.program.name})" if is_too_old else ""


def delete_nothing(place: ProjectFiles) -> Offer:
    """The setting that keeps the CLI from deleting."""
    file = str(place.data / SETTINGS_FILE)
    return Offer(f"To stop Gemini CLI from deleting sessions, add this to {file!r}: {SWITCHED_OFF}")


def is_folder(path: str) -> bool:
    """Whether a folder is there."""
    return os.path.isdir(path)  # noqa: PTH112 - pathlib raises for what cannot be a name


def _begin_with(file: str) -> Command:
    return (PROGRAM, "--session-file", file)
