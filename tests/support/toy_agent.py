"""An agent of our own making, to prove what a new one takes: this file, and a line under `geminids.sources`.

    ~/.toy/talks/<year>/<month>/<id>.talk[.gz]

    talk <id> in <folder> on <branch>
    you <time> <words>
    toy <time> <tokens> <words>
    run <time> <words>            a command of the shell, in the reply before it

A talk is text, a line a record, and lies in the folder of its month, whatever project it is about: so a
shelf of this agent is no project. Old talks are packed. `drafts/` holds what was not sent.
"""

from __future__ import annotations

import gzip
import os
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from geminids.core import agents, plugins
from geminids.core.agents.base import Bundle, Companions, FoundFile, Home, Reading, Scan, SkippedFile
from geminids.core.agents.fates import Fate, Forecast
from geminids.core.agents.rescue import Stranded
from geminids.core.agents.restore import Copy, Restoring, to_origin
from geminids.core.agents.resume import Circumstances, NotResumable, Resumable, Resuming
from geminids.core.agents.source import Source as BaseSource
from geminids.core.agents.traces import Trace
from geminids.core.disk import REAL, Disk, Entry
from geminids.core.model import (
    FileAccount,
    KnownBy,
    Message,
    Origin,
    Problem,
    ProblemKind,
    Project,
    Role,
    Session,
    SessionFile,
    SessionKind,
    Source,
    State,
    Tally,
    Text,
    ToolCall,
    ToolKind,
    ToolStatus,
    Usage,
)
from geminids.core.model.summary import counts_of, models_of, status_of, title_of, usage_of
from geminids.core.timestamps import parse_time

FOLDER = ".toy"
HEADER = re.compile(r"talk (?P<id>\S+) in (?P<folder>/.*?)(?: on (?P<branch>\S+))?")
SAID = re.compile(r"you (?P<at>\S+) (?P<words>.*)")
ANSWERED = re.compile(r"toy (?P<at>\S+) (?P<tokens>\d+) (?P<words>.*)")
RAN = re.compile(r"run (?P<at>\S+) (?P<words>.*)")


class ToySource(BaseSource):
    """Reads talks."""

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
        path = os.path.join(folder, FOLDER)  # noqa: PTH118 - as sources do
        return [Home(self.name, path, "given")] if Path(path).is_dir() else []

    def footprint(self, home: Home) -> dict[str, str]:
        """A text for each month."""
        months = {
            str(month): "\n".join(map(_facts, sorted(month.iterdir()))) for month in _months(home, REAL)
        }
        return {home.folder: "", **months}

    def scan(self, home: Home, only: Collection[str] | None = None) -> Scan:
        """Talks month by month."""
        disk = home.disk
        months = [month for month in _months(home, disk) if only is None or str(month) in only]
        bundles, companions = [], []
        for month in months:
            project = Project(None, None, f"{month.parent.name}/{month.name}", None)
            found = [_found(month / one.name, disk) for one in disk.entries(month) if ".talk" in one.name]
            bundles += [
                Bundle(self.name, file.path.name, project, (month,), (file,), disk=disk) for file in found
            ]
            companions.append(Companions(self.name, project, (month,), (), disk=disk))
        drafts = home.path / "drafts"
        skipped = [SkippedFile(drafts, 0, "not sent")] if only is None and disk.is_there(drafts) else []
        return Scan(tuple(bundles), tuple(companions), tuple(skipped), ())

    def read(self, bundle: Bundle) -> Reading:
        """The talk."""
        return Reading.joined(_read(file.path, bundle.disk) for file in bundle.files)

    def read_alone(self, path: Path) -> Reading | None:
        """The talk in a file."""
        return _read(path, REAL) if _content(path, REAL).startswith(b"talk ") else None

    def read_beside(self, companions: Companions, traces: Sequence[Trace], limit: int | None) -> Reading:
        """Nothing lies beside talks."""
        return Reading((), (), ())

    def with_outputs(self, session: Session, disk: Disk = REAL) -> Session:
        """Nothing is kept elsewhere."""
        return session

    def named_ids(self, session: Session) -> Collection[str]:
        """Nothing is kept elsewhere."""
        return ()

    def named_folders(self, session: Session) -> Iterable[str]:
        """The folder it was in."""
        return [session.project.path] if session.project.path else []

    def unpacked(self, path: Path, disk: Disk = REAL) -> bytes | None:
        """Old talks."""
        return _content(path, disk) if path.suffix == ".gz" else None

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

    def moved_name(self, path: str) -> str | None:
        """Old talks are packed where they lie."""
        return Path(path).name.removesuffix(".gz")

    def forecast(self, home: Home, fates: Sequence[Fate], circumstances: Circumstances) -> Forecast:
        """Nothing is deleted."""
        return Forecast()

    def restoring(self, home: Home, copies: Sequence[Copy], circumstances: Circumstances) -> Restoring:
        """Each where it lay."""
        return to_origin(copies, home.folder)

    def stranded(self, home: Home, circumstances: Circumstances) -> Iterable[Stranded]:
        """Every talk is found again."""
        return ()


def write_talk(
    home: Path,
    native_id: str = "7c1d0001",
    *,
    folder: str = "/home/ada/dev/shop",
    day: int = 2,
    prompt: str = "Paint the shop window",
    answer: str = "It is blue now.",
    branch: str | None = "window",
) -> Path:
    """A talk of one prompt and one answer, as the agent writes it; the path of its file."""
    path = home / FOLDER / "talks" / "2026" / "05" / f"{native_id}.talk"
    path.parent.mkdir(parents=True, exist_ok=True)
    date = f"2026-05-{day:02}T10"
    lines = [
        f"talk {native_id} in {folder}" + (f" on {branch}" if branch else ""),
        f"you {date}:00:00Z {prompt}",
        f"toy {date}:01:00Z 20 {answer}",
        f"run {date}:02:00Z paint --colour blue window.png",
    ]
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return path


def install(folder: Path) -> None:
    """Write down in a folder of modules what an installer would: that there is one more source."""
    notes = folder / "toy_agent-1.0.dist-info"
    notes.mkdir(parents=True, exist_ok=True)
    (notes / "entry_points.txt").write_text(f"[{agents.GROUP}]\ntoy = {__name__}:{ToySource.__name__}\n")


@contextmanager
def installed(folder: Path) -> Iterator[None]:
    """A while in which the toy agent can be read in this process."""
    install(folder)
    sys.path.append(str(folder))
    _forget_what_is_installed()
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        _forget_what_is_installed()


def _forget_what_is_installed() -> None:
    plugins.registered.cache_clear()
    agents.load.cache_clear()


def _months(home: Home, disk: Disk) -> list[Path]:
    years = _folders_in(home.path / "talks", disk)
    return [month for year in years for month in _folders_in(year, disk)]


def _folders_in(folder: Path, disk: Disk) -> list[Path]:
    entries: Sequence[Entry] = disk.entries(folder) if disk.is_folder(folder) else ()
    return [folder / entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]


def _facts(path: Path) -> str:
    facts = path.lstat()
    return f"{path.name} {facts.st_size} {facts.st_mtime_ns} {facts.st_ino}"


def _found(path: Path, disk: Disk) -> FoundFile:
    facts = disk.facts(path)
    return FoundFile(path, facts.st_size, facts.st_mtime_ns, facts.st_ino)


def _content(path: Path, disk: Disk) -> bytes:
    content = disk.read(path)
    return gzip.decompress(content) if path.suffix == ".gz" else content


class _Line(NamedTuple):
    text: str
    place: Source


def _lines(path: Path, content: bytes) -> Iterator[_Line]:
    start = 0
    for number, line in enumerate(content.splitlines(keepends=True), start=1):
        end = start + len(line)
        yield _Line(line.decode("utf-8", "replace").rstrip("\n"), Source(str(path), number, start, end))
        start = end


def _read(path: Path, disk: Disk) -> Reading:
    """A talk, line by line: what is none of a talk's lines is a problem."""
    content = _content(path, disk)
    header: re.Match[str] | None = None
    messages: list[Message] = []
    used, problem = [0, 0], [0, 0]
    problems: list[Problem] = []
    for line in _lines(path, content):
        if found := HEADER.fullmatch(line.text):
            header = header or found
        elif not _take(line, messages):
            detail = "a line that no talk has"
            problems.append(Problem(str(path), ProblemKind.NOT_A_SESSION, detail, line.place.line))
            problem = [problem[0] + 1, problem[1] + line.place.end - line.place.start]
            continue
        used = [used[0] + 1, used[1] + line.place.end - line.place.start]
    broken = {"not-a-session": Tally(*problem)} if problem[0] else {}
    account = FileAccount(str(path), "toy-talk", "1.0", len(content), {"line": Tally(*used)}, {}, broken, {})
    file = SessionFile(str(path), "toy-talk", disk.facts(path).st_size)
    sessions = (_session(file, header, tuple(messages), problems),) if header else ()
    return Reading(sessions, (account,), tuple(problems))


def _take(line: _Line, messages: list[Message]) -> bool:
    """Add a line to the messages; answers whether it is one of a talk's."""
    if said := SAID.fullmatch(line.text):
        parts = (Text(said["words"], Origin.HUMAN),)
        messages.append(_message(line, Role.USER, Origin.HUMAN, said["at"], parts))
    elif answered := ANSWERED.fullmatch(line.text):
        parts = (Text(answered["words"], Origin.MODEL),)
        usage = Usage(1, 0, output=int(answered["tokens"]), total=int(answered["tokens"]))
        reply = _message(line, Role.ASSISTANT, Origin.MODEL, answered["at"], parts)
        messages.append(_with(reply, model="toy-1", usage=usage))
    elif (ran := RAN.fullmatch(line.text)) and messages:
        call = ToolCall(
            f"call-{line.place.line}",
            "shell",
            ToolKind.EXECUTE,
            {"words": ran["words"].split()},
            ToolStatus.SUCCESS,
            at=parse_time(ran["at"]),
            gist=ran["words"],
        )
        reply = messages[-1]
        messages[-1] = _with(reply, parts=(*reply.parts, call), also_at=(*reply.also_at, line.place))
    else:
        return False
    return True


def _message(line: _Line, role: Role, origin: Origin, at: str, parts: tuple[Text, ...]) -> Message:
    name = f"line-{line.place.line}"
    return Message(name, role, origin, State.CURRENT, parse_time(at), None, parts, None, line.place)


def _with(message: Message, **changes: Any) -> Message:
    from msgspec.structs import replace

    return replace(message, **changes)


def _session(
    file: SessionFile, header: re.Match[str], messages: tuple[Message, ...], problems: Sequence[Problem]
) -> Session:
    times: list[datetime] = [message.at for message in messages if message.at]
    return Session(
        id=f"toy:{header['id']}",
        agent=ToySource.name,
        native_id=header["id"],
        kind=SessionKind.MAIN,
        parent_id=None,
        project=Project(header["folder"], None, None, KnownBy.RECORDS, certain=True),
        title=title_of(None, messages),
        summary=None,
        started_at=min(times, default=None),
        ended_at=max(times, default=None),
        status=status_of(messages, SessionKind.MAIN),
        models=models_of(messages),
        counts=counts_of(messages),
        usage=usage_of(messages),
        files=(file,),
        problems=tuple(problems),
        branch=header["branch"],
        messages=messages,
    )
