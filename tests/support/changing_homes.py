"""Homes that change at random: what agents, backups, people and permissions do to files of sessions."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from random import Random

from geminids.core.model import folder_hash
from tests.conftest import FIXTURES

CASES = (
    "upgrade",
    "saved-chats",
    "lost-session",
    "log-lines",
    "torn-jsonl",
    "subagents-nested-jsonl",
    "rewind-jsonl-2",
    "resume-json",
    "same-words-again",
    "leftovers",
)
"""Recordings of the real CLI from which everything is cut."""
FOLDERS = ("/home/dev/alpha", "/home/dev/beta", "/srv/gamma")
_BEGINNING = 1_790_000_000_000_000_000
_SECOND = 1_000_000_000


def _recorded(*patterns: str) -> list[Path]:
    homes = [FIXTURES / "gemini" / case / "home" / ".gemini" for case in CASES]
    return sorted(path for home in homes for pattern in patterns for path in home.glob(pattern))


PROJECTS = _recorded("tmp/*")
LOGS = _recorded("tmp/*/chats/*.jsonl")
DOCUMENTS = _recorded("tmp/*/chats/*.json")
PROMPT_LOGS = _recorded("tmp/*/logs.json")
SAVED_CHATS = _recorded("tmp/*/checkpoint-*.json")
REGISTRIES = _recorded("projects.json")


class ChangingHomes:
    """Some homes in a folder, changed step by step; every step is possible at every time."""

    def __init__(self, folder: Path, random: Random) -> None:
        self._random = random
        self.homes = [folder / name for name in ("one", "two")]
        self._clock = 0
        self._closed: list[Path] = []
        for home in self.homes:
            (home / ".gemini" / "tmp").mkdir(parents=True)
        self._write(self.homes[0] / ".gemini" / "projects.json", REGISTRIES[0].read_bytes())
        self.add_a_project()

    def open_everything(self) -> None:
        """Give back all that was closed or put away."""
        for home in self.homes:
            if (home / "away").exists():
                (home / "away").rename(home / ".gemini")
            _open(home)
        self._closed.clear()

    # Sessions

    def grow_or_cut_a_log(self) -> None:
        """A log that goes on, is cut back, or breaks off in the middle of a line."""
        for log in self._some(self._files("*.jsonl")):
            content = self._random.choice([*LOGS, log]).read_bytes()
            whole_lines = content[: content.find(b"\n", self._random.randrange(len(content) + 1)) + 1]
            self._write(log, self._random.choice([content, whole_lines, whole_lines + content[:70]]))

    def go_on_with_a_log(self) -> None:
        """More lines at the end, as agents write them."""
        for log in self._some(self._files("*.jsonl")):
            lines = self._random.choice(LOGS).read_bytes().splitlines(keepends=True)
            with log.open("ab") as opened:
                opened.writelines(lines[1 : self._random.randrange(1, 9)])
            self._date(log)

    def rewrite_a_document(self) -> None:
        """A session that is written anew as a whole."""
        for document in self._some(self._files("*.json")):
            self._write(document, self._random.choice(DOCUMENTS).read_bytes())

    def replace_a_file(self) -> None:
        """Another file under the same name."""
        for file in self._some(self._files("*")):
            new = file.with_name("new")
            shutil.copyfile(self._random.choice(LOGS), new)
            self._date(new)
            new.replace(file)

    def same_size_other_content(self) -> None:
        """Only the time tells that it is another one."""
        for file in self._some(self._files("*")):
            old, new = self._random.choice([(b"a", b"e"), (b"1", b"2"), (b"user", b"info")])
            self._write(file, file.read_bytes().replace(old, new))

    def touch(self) -> None:
        """Another time, the same content."""
        for file in self._some(self._files("*")):
            self._date(file)

    def delete_a_file(self) -> None:
        """Anything that is there."""
        for file in self._some(self._files("*")):
            file.unlink()

    def move_a_session(self) -> None:
        """To a folder of the same project by another name, or of another project."""
        for session in self._some(self._files("session-*")):
            target = self._a_project_folder() / "chats" / session.name
            target.parent.mkdir(parents=True, exist_ok=True)
            session.replace(target)

    # Projects

    def add_a_project(self) -> None:
        """As it was recorded, into a folder of its name, of its hash or of another project."""
        recorded = self._random.choice(PROJECTS)
        folder = self._random.choice([self._tmp() / recorded.name, self._a_project_folder()])
        shutil.copytree(recorded, folder, dirs_exist_ok=True)

    def copy_a_project(self) -> None:
        """To another home, or to another folder of the same one."""
        for folder in self._some(self._project_folders()):
            shutil.copytree(folder, self._tmp() / folder.name, dirs_exist_ok=True)

    def delete_a_project(self) -> None:
        """All of it."""
        for folder in self._some(self._project_folders()):
            shutil.rmtree(folder)

    def empty_a_project(self) -> None:
        """All but the folder itself."""
        for folder in self._some(self._project_folders()):
            shutil.rmtree(folder)
            folder.mkdir()

    def rename_a_project(self) -> None:
        """To a name that is free."""
        for folder in self._some(self._project_folders()):
            new = self._a_project_folder()
            if not new.exists():
                folder.rename(new)

    def mark_a_project(self) -> None:
        """With the folder that it is said to be of, or no longer."""
        for folder in self._some(self._project_folders()):
            marker = folder / ".project_root"
            if marker.exists() and self._random.random() < 0.5:
                marker.unlink()
            else:
                self._write(marker, self._random.choice(FOLDERS).encode())

    def register_projects(self) -> None:
        """What the CLI notes of all projects, other or no longer."""
        registry = self._random.choice(self.homes) / ".gemini" / "projects.json"
        if registry.exists() and self._random.random() < 0.5:
            registry.unlink()
        elif registry.parent.exists():
            self._write(registry, self._random.choice(REGISTRIES).read_bytes())

    def trust_folders(self) -> None:
        """What the user trusts, other or no longer."""
        trusted = self._random.choice(self.homes) / ".gemini" / "trustedFolders.json"
        if trusted.exists() and self._random.random() < 0.5:
            trusted.unlink()
        elif trusted.parent.exists():
            self._write(trusted, json.dumps({self._random.choice(FOLDERS): "TRUST_FOLDER"}).encode())

    def mark_a_project_elsewhere(self) -> None:
        """Beside the files as they were before each change."""
        for folder in self._some(self._project_folders()):
            marker = folder.parent.parent / "history" / folder.name / ".project_root"
            marker.parent.mkdir(parents=True, exist_ok=True)
            self._write(marker, self._random.choice(FOLDERS).encode())

    def link_something(self) -> None:
        """A link in the place of a folder or a file, which nobody follows; or what was there before."""
        for path in self._some([*self._project_folders(), *self._files("*")]):
            if path.is_symlink():
                path.readlink().replace(path)
            else:
                self._clock += 1
                elsewhere = self.homes[0] / f"elsewhere-{self._clock}"
                path.rename(elsewhere)
                path.symlink_to(elsewhere)

    # What lies beside

    def add_or_remove_a_prompt_log(self) -> None:
        """`logs.json`."""
        for folder in self._some(self._project_folders()):
            self._add_or_remove(folder / "logs.json", PROMPT_LOGS)

    def add_or_remove_a_saved_chat(self) -> None:
        """`/chat save`."""
        for folder in self._some(self._project_folders()):
            self._add_or_remove(folder / "checkpoint-early.json", SAVED_CHATS)

    def _add_or_remove(self, file: Path, recorded: Sequence[Path]) -> None:
        if file.exists() and self._random.random() < 0.5:
            file.unlink()
        else:
            self._write(file, self._random.choice(recorded).read_bytes())

    # What may be seen

    def close_something(self) -> None:
        """A file or a folder that nobody may read."""
        everything = [*self._files("*"), *self._folders(), *self._notes()]
        for path in self._some(everything):
            path.chmod(0)
            self._closed.append(path)

    def open_something(self) -> None:
        """The last that was closed."""
        if self._closed:
            self._closed.pop().chmod(0o700)

    def put_a_home_away(self) -> None:
        """Or back."""
        home = self._random.choice(self.homes)
        if (home / "away").exists():
            (home / "away").rename(home / ".gemini")
        elif (home / ".gemini").exists():
            (home / ".gemini").rename(home / "away")

    # Finding and writing

    def _files(self, pattern: str) -> list[Path]:
        return [path for folder in self._folders() for path in _entries(folder, pattern) if path.is_file()]

    def _folders(self) -> list[Path]:
        tops = self._project_folders()
        return [folder for top in tops for folder in _walked(top)]

    def _project_folders(self) -> list[Path]:
        tops = [home / ".gemini" / "tmp" for home in self.homes]
        return [folder for top in tops for folder in _entries(top, "*")]

    def _notes(self) -> Iterator[Path]:
        for home in self.homes:
            paths = (home / ".gemini" / name for name in ("projects.json", "tmp"))
            yield from (path for path in paths if path.exists())

    def _a_project_folder(self) -> Path:
        folder = self._random.choice(FOLDERS)
        name = self._random.choice([folder_hash(folder), Path(folder).name])
        return self._tmp() / name

    def _tmp(self) -> Path:
        home = self._random.choice(self.homes)
        return home / ("away" if (home / "away").exists() else ".gemini") / "tmp"

    def _some(self, there: Sequence[Path]) -> list[Path]:
        """One of them, or nothing where there is none."""
        return [self._random.choice(there)] if there else []

    def _write(self, file: Path, content: bytes) -> None:
        file.write_bytes(content)
        self._date(file)

    def _date(self, file: Path) -> None:
        """A time that no other change has; clocks also go backwards."""
        self._clock += 1
        at = _BEGINNING + self._clock * self._random.choice([_SECOND, -_SECOND])
        os.utime(file, ns=(at, at))


def _open(path: Path) -> None:
    """Open a file, or a folder and all below it: what was closed may have been moved since."""
    if path.is_symlink():
        return
    if not path.stat().st_mode & 0o400:
        # All else stays as it is, so that nothing is looked at only because of us.
        path.chmod(0o700)
    if path.is_dir():
        for inner in path.iterdir():
            _open(inner)


def _walked(top: Path) -> Iterator[Path]:
    yield top
    for path in _entries(top, "*"):
        if path.is_dir():
            yield from _walked(path)


def _entries(folder: Path, pattern: str) -> list[Path]:
    """What is in a folder; nothing if it is closed or not there."""
    try:
        return sorted(folder.glob(pattern))
    except OSError:
        return []


STEPS: dict[str, Callable[[ChangingHomes], None]] = {
    name: step
    for name, step in vars(ChangingHomes).items()
    if not name.startswith("_") and name != ChangingHomes.open_everything.__name__
}
"""Every change by its name."""


def change(homes: ChangingHomes, step: str) -> None:
    """Change something; what is closed stays as it is."""
    # Also what was moved away after it was closed, and links in the place of folders.
    with suppress(OSError):
        STEPS[step](homes)
