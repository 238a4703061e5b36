"""Sessions on their way into files: read, made safe to share where that is wished, written in a format.

This is the only place where formats meet redaction and the disk. A format is given sessions in which nothing
is left to hide, so it cannot leak what it never sees.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from geminids import __version__
from geminids.errors import AgentFolderError, ManySessionsError, SessionGoneError
from geminids.export.attachments import attachment_files
from geminids.export.base import Entry, Format, Manner, title_of
from geminids.export.files import write_file
from geminids.export.folder import Folder, Refused
from geminids.export.stems import stem

if TYPE_CHECKING:
    from geminids.export.losses import LossReport
    from geminids.model import Session
    from geminids.redact import Redactor

FILES_FOLDER = "{}-files"
SAVED_EVERY = 100
"""Files after which a folder notes what it holds: more is not lost if we are killed."""

Progress = Callable[[int, int], None]


class Item(NamedTuple):
    """A session to be written, which is read when its turn comes."""

    id: str
    file: str | None
    """What tells it from another of the same id."""
    read: Callable[[], Session | None]
    """None if its file is gone."""
    stamp: bytes | None = None
    """The state it is in; None if that is not known, and it is always written anew."""

    @property
    def key(self) -> str:
        """A name for it that may be shared: the path of a file tells more than one thinks."""
        return f"{self.id}#{_digest(self.file or '')[:8]}"


class FolderOutcome(NamedTuple):
    """What became of a folder of exports."""

    written: int
    unchanged: int
    refused: Sequence[Refused]
    gone: Sequence[str]
    """Sessions whose files went away meanwhile."""
    contents: Refused | None
    """The table of contents, where it is somebody else's."""


class Exporting:
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
        self.losses: LossReport | None = None
        self.hidden = 0
        """How many different things were hidden in sessions so far."""

    @property
    def redacted(self) -> str | None:
        """What is hidden, in a few words; None if nothing is looked for."""
        return self._manner.redacted

    def pieces(self, items: Iterable[Item], files_folder: str | None = None) -> Iterator[bytes]:
        """The bytes of one file that holds these sessions."""
        manner = self._manner_with(files_folder)
        return self.format.write((self._session(item) for item in items), manner)

    def to_file(self, items: Sequence[Item], target: Path, *, force: bool = False) -> None:
        """Write one file, whole or not at all, and what lies beside it."""
        self.check_number(items)
        self._refuse_agents_folder(target)
        files_folder = FILES_FOLDER.format(target.stem) if "files_folder" in self.format.options else None
        if files_folder is None:
            write_file(target, self.pieces(items), force=force)
            return
        sessions = [self._session(item) for item in items]
        manner = self._manner_with(files_folder)
        write_file(target, self.format.write(sessions, manner), force=force)
        if manner.files_folder is None:
            return
        for session in sessions:
            for name, content in attachment_files(session):
                _write_beside(target.parent / files_folder / name, content)

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
        refused: list[Refused] = []
        gone: list[str] = []
        written = 0
        try:
            for number, item in enumerate(items):
                if progress:
                    progress(number, len(items))
                stamp = self._stamp(item)
                if stamp and folder.is_current(item.key, stamp):
                    continue
                try:
                    session = self._session(item)
                except SessionGoneError:
                    gone.append(item.id)
                    continue
                if trouble := self._write(folder, item.key, stamp or "", session):
                    refused.append(trouble)
                else:
                    written += 1
                    if written % SAVED_EVERY == 0:
                        folder.save()
            contents = self._write_contents(folder) if written else None
        finally:
            if progress:
                progress(len(items), len(items))
            if written:
                folder.save()
        unchanged = len(items) - written - len(refused) - len(gone)
        return FolderOutcome(written, unchanged, refused, gone, contents)

    def check_number(self, items: Sequence[Item]) -> None:
        """Raise the error that says that one file of this format holds one session."""
        if len(items) > 1 and not self.format.holds_many:
            raise ManySessionsError(self.format.name, len(items))

    def _session(self, item: Item) -> Session:
        """A session as it may be shared."""
        session = item.read()
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
        from geminids.export.losses import losses

        found = losses(session, self.format, self._manner)
        self.losses = found if self.losses is None else self.losses + found

    def _write(self, folder: Folder, key: str, stamp: str, session: Session) -> Refused | None:
        title = title_of(session, self._manner)
        name = folder.file_of(key) or stem(session, title, folder.is_taken) + self.format.suffix
        files_folder = FILES_FOLDER.format(name.removesuffix(self.format.suffix))
        manner = self._manner_with(files_folder)
        entry = _entry(name, session, title)
        trouble = folder.write(name, key, stamp, entry, self.format.write([session], manner))
        if trouble is None and manner.files_folder is not None:
            for file, content in attachment_files(session):
                folder.write_beside(f"{files_folder}/{file}", content)
        return trouble

    def _write_contents(self, folder: Folder) -> Refused | None:
        name = self.format.contents_name
        if name is None:
            return None
        entries = sorted(folder.entries(), key=_newest_first, reverse=True)
        return folder.write_contents(name, self.format.contents(entries, self._manner))

    def _manner_with(self, files_folder: str | None) -> Manner:
        """What was chosen, with the place of attachments where they are wished and there is one."""
        is_wished = self._manner.files_folder is not None
        return msgspec.structs.replace(self._manner, files_folder=files_folder if is_wished else None)

    def _stamp(self, item: Item) -> str | None:
        """The state of a session and all that is chosen for it; None if its state is not known."""
        if item.stamp is None:
            return None
        # Names of other sessions and the moment are no reason to write a file again.
        chosen = msgspec.structs.replace(self._manner, names={}, touched_at=None)
        name = self._manner.names.get(item.id, "")
        return _digest("\0".join((item.stamp.hex(), self.format.name, __version__, name, repr(chosen))))

    def _refuse_agents_folder(self, target: Path) -> None:
        """Agents' folders are only read: what lies there they list, load and delete."""
        real = os.path.realpath(target)
        for folder in map(os.path.realpath, self._agents_folders):
            if os.path.commonpath([real, folder]) == folder:
                raise AgentFolderError(str(target))


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "replace"), digest_size=16).hexdigest()


def _hiding(manner: Manner, redactor: Redactor) -> Manner:
    """The same for sessions in which secrets are hidden: what the user calls them may hold one too."""
    names = {session: redactor.redact_text(name) for session, name in manner.names.items()}
    return msgspec.structs.replace(manner, names=names, redacted=redactor.describe())


def _entry(name: str, session: Session, title: str) -> Entry:
    return Entry(
        file=name,
        id=session.id,
        agent=session.agent,
        title=title,
        project=session.project.name,
        started_at=session.started_at,
        ended_at=session.ended_at,
        status=str(session.status),
        prompts=session.counts.prompts,
        tool_calls=session.counts.tool_calls,
    )


def _newest_first(entry: Entry) -> tuple[str, str]:
    last = entry.ended_at or entry.started_at
    return (last.isoformat() if last else "", entry.file)


def _write_beside(target: Path, content: bytes) -> None:
    if not target.exists():
        target.parent.mkdir(exist_ok=True)
        write_file(target, [content], force=False)
