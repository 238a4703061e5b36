"""Sessions on their way into files: read, made safe to share where that is wished, written in a format.

This is the only place where formats meet redaction and the disk. A format is given sessions in which nothing
is left to hide, so it cannot leak what it never sees.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from geminids import __version__
from geminids.core.config import is_below
from geminids.core.errors import (
    AgentFolderError,
    FileExistsAlreadyError,
    ManySessionsError,
    NothingToReadError,
    RedactionError,
    SessionGoneError,
)
from geminids.library.export_items import FolderCount, FolderOutcome, Item, digest
from geminids.sharing.export.attachments import attachment_files
from geminids.sharing.export.base import Entry, Format, Manner, title_of
from geminids.sharing.export.files import naming, write_file
from geminids.sharing.export.folder import Done, Folder, Page, Refused
from geminids.sharing.export.stems import stem
from geminids.sharing.transcript.visible import visible_session

if TYPE_CHECKING:
    from geminids.core.model import Session
    from geminids.sharing.export.losses import LossReport
    from geminids.sharing.redact import Redactor

FILES_FOLDER = "{}-files"
SAVED_EVERY = 100
"""Files after which a folder notes what it holds: more is not lost if we are killed."""


Progress = Callable[[int, int], None]


class Exporter:
    """A format with all that was chosen for it."""

    def __init__(
        self,
        chosen: Format,
        manner: Manner,
        redactor: Redactor | None = None,
        agents_folders: Sequence[str] = (),
        *,
        report: bool = False,
    ) -> None:
        """Nothing is written into `agents_folders`. With `report`, what is lost is found out on the way."""
        self.format = chosen
        self._manner = manner if redactor is None else _hiding(manner, redactor)
        self._redactor = redactor
        self._agents_folders = agents_folders
        self._report = report
        if report:
            from geminids.sharing.export.format_tables import carried_by

            # A format without a table is refused here, before anything is written.
            carried_by(chosen, manner)
        self.losses: LossReport | None = None
        self.hidden = 0
        """How many different things were hidden in sessions so far."""
        self.failed: dict[str, str] = {}
        """Sessions of many that could not be written to one file, and why."""

    @property
    def redacted(self) -> str | None:
        """What is hidden, in a few words; None if nothing is looked for."""
        return self._manner.redacted

    def pieces(self, items: Sequence[Item], progress: Progress | None = None) -> Iterator[bytes]:
        """The bytes of one file that holds these sessions."""
        self._check_number(items)
        return self.format.write(self._sessions(items, progress), self._manner_with(None))

    def to_file(
        self, items: Sequence[Item], target: Path, *, force: bool = False, progress: Progress | None = None
    ) -> None:
        """Write one file, whole or not at all, and what lies beside it."""
        self._refuse_agents_folder(target)
        manner = self._manner_with(FILES_FOLDER.format(target.stem))
        if manner.files_folder is None:
            write_file(target, self.pieces(items, progress), force=force)
            return
        self._check_number(items)
        sessions = list(self._sessions(items, progress))
        if os.path.lexists(target) and not force:
            raise FileExistsAlreadyError(str(target))
        with ExitStack() as undoing:
            for name, content in (file for session in sessions for file in _beside(session, manner).items()):
                _write_beside(target.parent / name, content, undoing)
            write_file(target, self.format.write(sessions, manner), force=force)
            undoing.pop_all()

    def to_folder(
        self,
        items: Sequence[Item],
        path: Path,
        *,
        force: bool = False,
        progress: Progress | None = None,
    ) -> FolderOutcome:
        """Bring a folder up to date: a file for each session, and the table of contents."""
        self._refuse_agents_folder(path)
        folder = Folder(path, self.format.name, force=force)
        outcome = FolderCount()
        try:
            for number, item in enumerate(items):
                if progress:
                    progress(number, len(items))
                done = self._bring_up_to_date(folder, item)
                outcome.count(item, done)
                if done is Done.WRITTEN and outcome.written % SAVED_EVERY == 0:
                    folder.save()
            contents = self._write_contents(folder)
            if progress:
                progress(len(items), len(items))
        finally:
            folder.save()
        return outcome.result(contents)

    def name_in(self, folder: Path, item: Item) -> str:
        """What the file of a session is called in a folder that holds other files too: none that is there."""
        session, suffix = self._session(item), self.format.suffix
        taken = {path.name.casefold() for path in folder.glob("*")}
        title = title_of(session, self._manner)
        return self._new_name(session, title, lambda name: f"{name}{suffix}".casefold() in taken)

    def _bring_up_to_date(self, folder: Folder, item: Item) -> Done | Refused | str:
        """Write the file of a session if it has changed; a text says why that was not possible."""
        stamp = self._stamp(item)
        if stamp and folder.is_current(item.key, stamp):
            return Done.SAME
        try:
            session = self._session(item)
        except (*_GONE, RedactionError) as error:
            return str(error)
        hiding = self._redactor.fingerprint if self._redactor else None
        title = title_of(session, self._manner)
        name = folder.name_of(item.key, hiding) or self._new_name(
            session, title, partial(folder.is_taken, key=item.key)
        )
        manner = self._manner_with(FILES_FOLDER.format(name.removesuffix(self.format.suffix)))
        entry = _entry(name, session, title, redacted=hiding is not None)
        pieces = self.format.write([session], manner)
        beside = _beside(session, manner)
        return folder.write(name, Page(item.key, stamp or "", hiding, entry, pieces, beside))

    def _new_name(self, session: Session, title: str, is_taken: Callable[[str], bool]) -> str:
        wished = self.format.file_name(session)
        if wished and not is_taken(wished.removesuffix(self.format.suffix)):
            return wished
        return stem(session, title, is_taken) + self.format.suffix

    def _write_contents(self, folder: Folder) -> Refused | None:
        name = self.format.contents_name
        if name is None:
            return None
        done = folder.write_contents(name, lambda: self._contents(folder))
        return done if isinstance(done, Refused) else None

    def _contents(self, folder: Folder) -> Iterator[bytes]:
        return self.format.contents(folder.entries(), self._manner)

    def _check_number(self, items: Sequence[Item]) -> None:
        if len(items) > 1 and not self.format.holds_many:
            raise ManySessionsError(self.format.name, len(items))

    def _sessions(self, items: Sequence[Item], progress: Progress | None = None) -> Iterator[Session]:
        """Sessions as they may be shared; of many, those that are gone are passed over and remembered."""
        for number, item in enumerate(items, 1):
            if progress:
                # The last one is still to be written when it is read.
                progress(min(number, len(items) - 1), len(items))
            try:
                yield self._session(item)
            except _GONE as error:
                if len(items) == 1:
                    raise
                self.failed[item.id] = str(error)

    def _session(self, item: Item) -> Session:
        """A session as it may be shared."""
        session = item.read()
        if session is None and item.file and os.path.lexists(item.file):
            raise NothingToReadError(item.file, "its session can no longer be read")
        if session is None:
            raise SessionGoneError(item.id, item.file)
        if self._redactor is not None:
            redacted = self._redactor.redact(session)
            session = redacted.session
            self.hidden += len(redacted.findings)
        if self._report:
            self._find_losses(session)
        return session

    def _find_losses(self, session: Session) -> None:
        from geminids.sharing.export.losses import losses

        found = losses(session, self.format, self._manner)
        self.losses = found if self.losses is None else self.losses + found

    def _manner_with(self, files_folder: str | None) -> Manner:
        """What was chosen, with the place of attachments where they are wished and there is one."""
        is_wished = self._manner.files_folder is not None
        return msgspec.structs.replace(self._manner, files_folder=files_folder if is_wished else None)

    def _stamp(self, item: Item) -> str | None:
        """The state of a session and all that is chosen for it; None if its state is not known."""
        if item.stamp is None or self._manner.touched_at:
            return None
        return digest("\0".join((item.stamp.hex(), self._manner.names.get(item.id, ""), self._chosen)))

    @cached_property
    def _chosen(self) -> str:
        """All that is chosen for every session."""
        # Names of other sessions are no reason to write a file again.
        manner = repr(msgspec.structs.replace(self._manner, names={}, natives=None))
        hiding = self._redactor.fingerprint if self._redactor else ""
        return "\0".join((self.format.name, __version__, hiding, manner))

    def _refuse_agents_folder(self, target: Path) -> None:
        """Agents' folders are only read: what lies there they list, load and delete."""
        if is_below(str(target), self._agents_folders):
            raise AgentFolderError(str(target))


_GONE = (SessionGoneError, NothingToReadError)
"""Why a session that the index knows cannot be written."""


class _RedactedNames(Mapping[str, str]):
    """What the user calls sessions, each looked through when somebody asks for it."""

    def __init__(self, names: Mapping[str, str], redactor: Redactor) -> None:
        self._names = names
        self._redactor = redactor

    def __getitem__(self, session_id: str) -> str:
        return self._redactor.redact_text(self._names[session_id])

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def _hiding(manner: Manner, redactor: Redactor) -> Manner:
    """The same for sessions in which secrets are hidden: what the user calls them may hold one too."""
    names = _RedactedNames(manner.names, redactor)
    return msgspec.structs.replace(manner, names=names, redacted=redactor.describe())


def _write_beside(path: Path, content: bytes, undoing: ExitStack) -> None:
    """Write a file that a document refers to; without the document nobody needs it."""
    with naming(path.parent):
        if not path.parent.exists():
            path.parent.mkdir()
            undoing.callback(path.parent.rmdir)
    if not path.exists():
        write_file(path, [content], force=False)
        undoing.callback(path.unlink)


def _beside(session: Session, manner: Manner) -> dict[str, bytes]:
    """The files that the document of a session refers to, where that is wished."""
    if manner.files_folder is None:
        return {}
    visible = visible_session(session, manner.detail)
    return {f"{manner.files_folder}/{name}": content for name, content in attachment_files(visible)}


def _entry(name: str, session: Session, title: str, *, redacted: bool) -> Entry:
    return Entry(
        file=name,
        id=session.id,
        agent=session.agent,
        kind=str(session.kind),
        redacted=redacted,
        title=title,
        project=session.project.name,
        started_at=session.started_at,
        ended_at=session.ended_at,
        status=str(session.status),
        prompts=session.counts.prompts,
        tool_calls=session.counts.tool_calls,
    )
