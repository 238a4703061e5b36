"""An agent of our own making, to prove what a new one takes: this file, and a line under `geminids.sources`.

    ~/.toy/talks/<year>/<month>/<id>.talk

    talk <id> in <folder> on <branch>
    you <time> <words>
    toy <time> <tokens> <words>
    run <time> <words>            a command of the shell, in the reply before it

A talk is text, a line a record, and lies in the folder of its month, whatever project it is about: so a
shelf of this agent is no project. `drafts/` holds what was not sent.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from geminids.core import model
from geminids.core.agents.base import Bundle, Companions, FoundFile, Home, Reading, Scan, SkippedFile
from geminids.core.agents.source import Source
from geminids.core.disk import REAL, Disk
from geminids.core.model import Location, Origin, ProblemKind, Role
from geminids.core.timestamps import parse_time
from geminids.reading import footprints
from geminids.reading.file_log import FileLog
from geminids.reading.lines import lines_of
from geminids.reading.sessions import plain_session

FOLDER = ".toy"
HEADER = re.compile(r"talk (?P<id>\S+) in (?P<folder>/.*?)(?: on (?P<branch>\S+))?")
SAID = re.compile(r"you (?P<at>\S+) (?P<words>.*)")
ANSWERED = re.compile(r"toy (?P<at>\S+) (?P<tokens>\d+) (?P<words>.*)")
RAN = re.compile(r"run (?P<at>\S+) (?P<words>.*)")


class ToySource(Source):
    """Reads talks, and offers nothing else."""

    name = "toy"
    title = "Toy Agent"
    revision = 1
    variables: Mapping[str, str] = {"TOY_HOME": "Where Toy Agent keeps `.toy`."}

    def homes(self, environment: Mapping[str, str], user_home: str) -> Sequence[Home]:
        """The one home."""
        above = environment.get("TOY_HOME") or user_home
        return [Home(self.name, f"{above}/{FOLDER}", "TOY_HOME" if above != user_home else "the user's home")]

    def homes_below(self, folder: str) -> Sequence[Home]:
        """The home in a folder."""
        path = Path(folder, FOLDER)
        return [Home(self.name, str(path), "given")] if path.is_dir() else []

    def footprint(self, home: Home) -> dict[str, str]:
        """A text for each month."""
        return {home.folder: "", **{str(month): _text(month) for month in _months(home)}}

    def scan(self, home: Home, only: Collection[str] | None = None) -> Scan:
        """Talks month by month."""
        bundles, companions, disk = [], [], home.disk
        for month in (one for one in _months(home) if only is None or str(one) in only):
            project = model.Project(None, None, f"{month.parent.name}/{month.name}", None)
            for entry in disk.entries(month):
                if ".talk" in entry.name:
                    file = FoundFile.at(month / entry.name, disk)
                    bundles.append(Bundle(self.name, entry.name, project, (month,), (file,), disk=disk))
            companions.append(Companions(self.name, project, (month,), (), disk=disk))
        drafts = home.path / "drafts"
        skipped = [SkippedFile(drafts, 0, "not sent")] if only is None and disk.is_there(drafts) else []
        return Scan(tuple(bundles), tuple(companions), tuple(skipped), ())

    def read(self, bundle: Bundle) -> Reading:
        """The talk."""
        return Reading.joined(read_talk(file.path, bundle.disk.read(file.path)) for file in bundle.files)

    def read_alone(self, path: Path) -> Reading | None:
        """The talk in a file."""
        content = REAL.read(path)
        return read_talk(path, content) if content.startswith(b"talk ") else None


def _months(home: Home) -> list[Path]:
    years = _folders_in(home.path / "talks", home.disk)
    return [month for year in years for month in _folders_in(year, home.disk)]


def _folders_in(folder: Path, disk: Disk) -> list[Path]:
    entries = disk.entries(folder) if disk.is_folder(folder) else ()
    return [folder / entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]


def _text(month: Path) -> str:
    lines: list[str] = []
    footprints.walk(str(month), 0, lines)
    return footprints.text(lines)


def read_talk(path: Path, content: bytes) -> Reading:
    """A talk, line by line: what is none of a talk's lines is a problem."""
    log = FileLog(str(path), "toy-talk", len(content))
    header: re.Match[str] | None = None
    messages: list[model.Message] = []
    for raw, place in lines_of(log, content):
        line = raw.decode("utf-8", "replace")
        if (found := HEADER.fullmatch(line)) or _take(line, place, messages):
            header = header or found
            log.count_use("line", len(raw))
        else:
            log.report(ProblemKind.NOT_A_SESSION, "no line of a talk", place.line, place.start, place.end)
    sessions = (_session(log, header, tuple(messages)),) if header else ()
    return Reading(sessions, (log.account(),), tuple(log.problems))


def _session(log: FileLog, header: re.Match[str], messages: tuple[model.Message, ...]) -> model.Session:
    file = model.SessionFile(log.path, log.format, log.size)
    project = model.Project(header["folder"], None, None, model.KnownBy.RECORDS, certain=True)
    talk = plain_session("toy", header["id"], messages, (file,), project=project, problems=(*log.problems,))
    return replace(talk, branch=header["branch"])


def _take(line: str, place: Location, messages: list[model.Message]) -> bool:
    """Add a line to the messages; answers whether it is one of a talk's."""
    if said := SAID.fullmatch(line):
        messages.append(_message(said, place, Role.USER, Origin.HUMAN))
    elif answered := ANSWERED.fullmatch(line):
        tokens = int(answered["tokens"])
        reply = _message(answered, place, Role.ASSISTANT, Origin.MODEL)
        messages.append(replace(reply, model="toy-1", usage=model.Usage(1, 0, output=tokens, total=tokens)))
    elif (ran := RAN.fullmatch(line)) and messages:
        arguments, reply, at = {"words": ran["words"].split()}, messages[-1], parse_time(ran["at"])
        call_id, status, gist = f"call-{place.line}", model.ToolStatus.SUCCESS, ran["words"]
        call = model.ToolCall(call_id, "shell", model.ToolKind.EXECUTE, arguments, status, at=at, gist=gist)
        messages[-1] = replace(reply, parts=(*reply.parts, call), also_at=(*reply.also_at, place))
    else:
        return False
    return True


def _message(found: re.Match[str], place: Location, role: Role, origin: Origin) -> model.Message:
    parts, at = (model.Text(found["words"], origin),), parse_time(found["at"])
    return model.Message(
        f"line-{place.line}", role, origin, model.State.CURRENT, at, None, parts, None, place
    )
