"""The toy agent with all that an agent may offer besides a reader; it packs old talks."""

from __future__ import annotations

import gzip
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from geminids.core.agents.base import Bundle, Home, Reading
from geminids.core.agents.install import Edit, Installing, Launch, Package
from geminids.core.agents.plain import PlainCustody, PlainFiles
from geminids.core.agents.restore import Copy, Restoring, to_origin
from geminids.core.agents.resume import Circumstances, NotResumable, Resumable, Resuming
from geminids.core.disk import REAL, Disk
from geminids.core.model import Session
from tests.support.toy_agent import ToySource, read_talk


class OfferingSource(ToySource):
    """Reads talks, packed ones too, and offers more."""

    def read(self, bundle: Bundle) -> Reading:
        """The talk."""
        return Reading.joined(read_talk(file.path, _content(file.path, bundle.disk)) for file in bundle.files)

    def files(self) -> ToyFiles:
        """What talks are called."""
        return ToyFiles()

    def custodian(self) -> ToyCustodian:
        """How talks come back."""
        return ToyCustodian()

    def installer(self) -> ToyInstaller:
        """How it asks for its talks."""
        return ToyInstaller()


class ToyFiles(PlainFiles):
    """The files of the toy agent."""

    def recognise(self, content: object) -> str | None:
        """Talks that are none."""
        match content:
            case str() if content.startswith("talking"):
                return "a draft of Toy Agent"
            case {"toys": list()}:
                return "the toys of Toy Agent"
            case _:
                return None

    def is_own_name(self, name: str) -> bool:
        """Years, months and ids."""
        return re.fullmatch(r"talks|drafts|\d+|[0-9a-f-]+\.talk", name) is not None

    def keeps_secrets(self, path: Path) -> bool:
        """A key."""
        return path.name == "toy.key"

    def unpacked(self, path: Path, disk: Disk = REAL) -> bytes | None:
        """Old talks."""
        return _content(path, disk) if path.suffix == ".gz" else None

    def moved_name(self, path: str) -> str | None:
        """Old talks are packed where they lie."""
        return Path(path).name.removesuffix(".gz")


class ToyCustodian(PlainCustody):
    """How talks come back."""

    def agent_view(self, path: Path) -> dict[str, Any] | None:
        """The lines."""
        text = path.read_text("utf-8")
        return {"lines": text.splitlines()} if text.startswith("talk ") else None

    def resuming(self, session: Session, circumstances: Circumstances) -> Resuming:
        """By its id, in its folder."""
        if session.project.path is None:
            return NotResumable("Nobody knows where it was.")
        command = ("toy", "--again", session.native_id)
        return Resumable(command=command, folder=session.project.path, program=None)

    def restoring(self, home: Home, copies: Sequence[Copy], circumstances: Circumstances) -> Restoring:
        """Each where it lay."""
        return to_origin(copies, home.folder)


class ToyInstaller:
    """Where the toy agent looks for tools."""

    def installing(self, home: Home, launch: Launch, circumstances: Circumstances) -> Installing | None:
        """A toy, and a line that names it."""
        return self.places(home, launch)

    def places(self, home: Home, launch: Launch) -> Installing:
        """The same."""
        toy = Package(f"{home.folder}/toys/geminids", {"start": " ".join(launch.server).encode()})
        edit = Edit(
            path=f"{home.folder}/toy.conf",
            difference=lambda first, second: "a toy" if first != second else "",
            add=lambda text: text + b"toy geminids\n",
            remove=lambda text, _: text.replace(b"toy geminids\n", b""),
        )
        return Installing(packages=(toy,), edits=(edit,), notes=("Wind it up first.",))


def _content(path: Path, disk: Disk) -> bytes:
    content = disk.read(path)
    return gzip.decompress(content) if path.suffix == ".gz" else content
