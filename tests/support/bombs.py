"""A home of session files that cost far more than they should: holes, NULs, endless lines, archives of zeros.

Each begins with a prompt and ends with an answer, so that it can be told whether these were found.
`python -m tests.support.bombs FOLDER` writes one of full size there, and measures every command on it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple
from uuid import UUID

from geminids.agents.codex.read.rollout_text import _zstd

FIRST, LAST = "the first prompt of", "the last answer of"
_AT = "2026-05-01T10:00:00.000Z"
_LATER = "2026-05-01T11:00:00.000Z"
_MB = 1_000_000
Fill = Callable[[BinaryIO], None]
"""What stands between the beginning of a session and its end."""


class Size(NamedTuple):
    """How large the bombs are."""

    hole: int
    written: int
    """Bytes that are really on the disk, of each file."""
    lines: int
    archive: int
    deep: int


SMALL = Size(hole=3_000 * _MB, written=8 * _MB, lines=1_100_000, archive=200 * _MB, deep=1 * _MB)
FULL = Size(hole=5_000 * _MB, written=1_000 * _MB, lines=10_000_000, archive=4_000 * _MB, deep=10 * _MB)


class Agent(NamedTuple):
    """How an agent names and writes a session."""

    path: Callable[[str, str], str]
    begin: Callable[[str, str], list[object]]
    end: Callable[[str], list[object]]


def _gemini_begin(native_id: str, name: str) -> list[object]:
    header = {"sessionId": native_id, "projectHash": "0" * 64, "startTime": _AT, "lastUpdated": _AT}
    return [header, {"id": "m1", "timestamp": _AT, "type": "user", "content": [{"text": f"{FIRST} {name}"}]}]


def _gemini_end(name: str) -> list[object]:
    return [
        {
            "id": "m9",
            "timestamp": _LATER,
            "type": "gemini",
            "content": f"{LAST} {name}",
            "model": "gemini-3-pro",
        }
    ]


def _claude_line(number: int, at: str, role: str, content: object) -> dict[str, object]:
    uuids = [str(UUID(int=at)) for at in range(number + 1)]
    above = uuids[number - 1] if number else None
    message: dict[str, object] = {"role": role, "content": content}
    if role == "assistant":
        message |= {"id": "msg_1", "model": "claude-sonnet-4-5", "type": "message"}
    return {"parentUuid": above, "uuid": uuids[number], "type": role, "timestamp": at, "message": message}


def _codex_item(at: str, role: str, text: str) -> dict[str, object]:
    kind = "input_text" if role == "user" else "output_text"
    payload = {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}
    return {"timestamp": at, "type": "response_item", "payload": payload}


def _codex_begin(native_id: str, name: str) -> list[object]:
    meta = {
        "id": native_id,
        "timestamp": _AT,
        "cwd": "/srv/demo",
        "originator": "codex",
        "cli_version": "0.118.0",
    }
    said = {"type": "user_message", "message": f"{FIRST} {name}"}
    return [
        {"timestamp": _AT, "type": "session_meta", "payload": meta},
        _codex_item(_AT, "user", f"{FIRST} {name}"),
        {"timestamp": _AT, "type": "event_msg", "payload": said},
    ]


GEMINI = Agent(
    lambda native_id, suffix: f".gemini/tmp/demo/chats/session-2026-05-01T10-00-{native_id[:8]}{suffix}",
    _gemini_begin,
    _gemini_end,
)
CLAUDE = Agent(
    lambda native_id, suffix: f".claude/projects/-srv-demo/{native_id}{suffix}",
    lambda native_id, name: [_claude_line(0, _AT, "user", f"{FIRST} {name}")],
    lambda name: [_claude_line(1, _LATER, "assistant", [{"type": "text", "text": f"{LAST} {name}"}])],
)
CODEX = Agent(
    lambda native_id, suffix: f".codex/sessions/2026/05/01/rollout-2026-05-01T10-00-00-{native_id}{suffix}",
    _codex_begin,
    lambda name: [_codex_item(_LATER, "assistant", f"{LAST} {name}")],
)
AGENTS = {"gemini": GEMINI, "claude": CLAUDE, "codex": CODEX}


def hole(size: int) -> Fill:
    """Bytes that take no room on the disk."""

    def fill(file: BinaryIO) -> None:
        file.seek(size, os.SEEK_CUR)

    return fill


def repeated(piece: bytes, size: int, before: bytes = b"", after: bytes = b"") -> Fill:
    """The same bytes again and again, so many in all."""

    def fill(file: BinaryIO) -> None:
        block = piece * max(1, _MB // len(piece))
        file.write(before)
        file.writelines(block for _ in range(max(1, size // len(block))))
        file.write(after)

    return fill


def _fills(size: Size) -> dict[str, Fill]:
    deep = b'{"id":' * 20_000 + b"\n"
    record = b'{"id":"m%d","type":"user","content":"x"}\n'
    return {
        "hole": hole(size.hole),
        "nul": repeated(b"\0", size.written),
        "letter": repeated(b"a", size.written, b'{"id":"m2","type":"user","content":"', b'"}\n'),
        "opened": repeated(b'{"id":"', min(size.written // 4, 40 * _MB)),
        "values": repeated(
            b"[],", min(size.written // 4, 100 * _MB), b'{"id":"m2","type":"user","content":[', b"[]]}\n"
        ),
        "lines": repeated(b"x\n", 2 * size.lines),
        "records": repeated(record, len(record) * size.lines),
        "deep": repeated(deep, size.deep),
        "lists": repeated(b"[" * 100_000 + b"\n", size.deep),
    }


def write_home(home: Path, size: Size, *, once: bool = False) -> dict[str, Path]:
    """All bombs, by their names: of every agent, or one of each kind."""
    written: dict[str, Path] = {}
    for number, (fill_name, fill) in enumerate(_fills(size).items()):
        for agent_name in [list(AGENTS)[number % len(AGENTS)]] if once else AGENTS:
            name = f"{agent_name}-{fill_name}"
            written[name] = _write(home, AGENTS[agent_name], name, len(written), fill)
    written["gemini-document"] = _write_document(home, len(written), size)
    for name, piece in {"zeros": bytes(_MB), "repeats": b'{"type":"x","payload":{}}\n' * 40_000}.items():
        written[f"codex-packed-{name}"] = _write_archive(
            home, f"codex-packed-{name}", len(written), piece, size
        )
    _write_beside(home, size)
    return written


def write_session(home: Path, name: str, fill: Fill) -> Path:
    """A session of Gemini CLI with something in its middle."""
    return _write(home, GEMINI, name, 0, fill)


def write_plain(home: Path, size: int) -> Path:
    """A session with nothing wrong but its size."""
    record = json.dumps({"id": "m2", "timestamp": _AT, "type": "user", "content": "x" * 10_000}).encode()
    return write_session(home, "plain", repeated(record + b"\n", size))


def _id(number: int) -> str:
    return str(UUID(int=(number + 1) << 96, version=4))


def _opened(home: Path, place: str) -> BinaryIO:
    path = home / place
    path.parent.mkdir(parents=True, exist_ok=True)
    return path.open("wb")


def _lines(records: Sequence[object]) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def _write(home: Path, agent: Agent, name: str, number: int, fill: Fill) -> Path:
    place = agent.path(_id(number), ".jsonl")
    with _opened(home, place) as file:
        file.write(_lines(agent.begin(_id(number), name)))
        fill(file)
        file.write(b"\n" + _lines(agent.end(name)))
    return home / place


def _write_document(home: Path, number: int, size: Size) -> Path:
    """A session as Gemini CLI wrote it until 0.38, with a hole in it."""
    place = GEMINI.path(_id(number), ".json")
    name = "gemini-document"
    header, first = _gemini_begin(_id(number), name)
    assert isinstance(header, dict)
    whole = json.dumps(header | {"messages": [first, *_gemini_end(name)]}, indent=2).encode()
    cut = whole.index(b'\n    {\n      "id": "m9"')
    with _opened(home, place) as file:
        file.write(whole[:cut])
        hole(size.hole)(file)
        file.write(whole[cut:])
    return home / place


def _write_archive(home: Path, name: str, number: int, piece: bytes, size: Size) -> Path:
    zstd = _zstd()
    place = CODEX.path(_id(number), ".jsonl.zst")
    with _opened(home, place) as file:
        file.write(zstd.compress(_lines(CODEX.begin(_id(number), name))))
        frame = zstd.compress(piece * 64)
        for _ in range(max(1, size.archive // (64 * len(piece)))):
            file.write(frame)
        file.write(zstd.compress(b"\n" + _lines(CODEX.end(name))))
    return home / place


def _write_beside(home: Path, size: Size) -> None:
    """What lies beside sessions, just as large."""
    project = home / ".gemini/tmp/demo"
    places = [
        *("logs.json", "shell_history", "checkpoint-tag.json", "checkpoints/2026-a-b.json"),
        *("logs/session-1.jsonl", f"tool-outputs/session-{_id(0)}/run_1.txt", "bug-report-history-1.json"),
    ]
    for place in [
        *(project / place for place in places),
        home / ".codex/session_index.jsonl",
        home / ".gemini/projects.json",
    ]:
        with _opened(place.parent, place.name) as file:
            file.write(b"[\n")
            hole(size.hole)(file)
            file.write(b"]")
    folder = home / ".claude/projects/-srv-demo" / _id(0)
    for place in (folder / "subagents/agent-1.meta.json", folder / "tool-results/1.txt"):
        with _opened(place.parent, place.name) as file:
            hole(size.hole)(file)
            file.write(b"]")


class Spent(NamedTuple):
    """What a command took."""

    seconds: float
    """Of a processor: a machine may be busy with other things."""
    megabytes: float
    code: int
    said: str


STARTER = """
import json, os, sys
child = os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ)
_, status, used = os.wait4(child, 0)
told = [used.ru_utime + used.ru_stime, used.ru_maxrss, os.waitstatus_to_exitcode(status)]
with open(sys.argv[1], "w") as notes:
    json.dump(told, notes)
"""
"""Starts a command and notes what it took. The peak of a process counts what its parent had when it was
started, so it is not to be started by a test, which may have had much."""


def spend(arguments: Sequence[str], data: Path, home: Path, patience: float = 600) -> Spent:
    """Run the command with a home."""
    command = [sys.executable, "-m", "geminids", "--home", str(home), *arguments]
    environment = os.environ | {"GEMINIDS_DATA": str(data), "PYTHONUNBUFFERED": "1"}
    output = data.with_suffix(".txt")
    notes = data.with_suffix(".json")
    start = [sys.executable, "-S", "-c", STARTER, str(notes), *command]
    with output.open("wb") as out:
        nothing = subprocess.DEVNULL
        subprocess.run(
            start, stdout=out, stderr=out, stdin=nothing, env=environment, timeout=patience, check=True
        )
    seconds, peak, code = json.loads(notes.read_text())
    megabytes = peak / (_MB if sys.platform == "darwin" else 1_000)
    return Spent(seconds, megabytes, code, output.read_text("utf-8", "replace"))


def _commands() -> Iterator[list[str]]:
    for line in ("list", "list", "search prompt", "stats", "show latest", "doctor", "sync --full"):
        yield line.split()


def say(line: str) -> None:
    """Tell people at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main(folder: Path) -> int:
    """Measure every command on the home with all bombs, and beside it what each of them adds to a list."""
    home, plain = folder / "home", folder / "plain"
    if not home.exists():
        write_home(home, FULL, once=True)
        write_plain(plain, _MB)
    say(f"{'':30}{'with bombs':>20}{'without':>20}")
    worst_time = worst_peak = 0.0
    for number, command in enumerate(_commands()):
        with_them = spend(command, folder / "data", home)
        without = spend(command, folder / "data-plain", plain)
        say(f"{number} {' '.join(command):28}{_told(with_them):>20}{_told(without):>20}")
        if command == ["list"]:
            worst_time = max(worst_time, with_them.seconds - without.seconds)
            worst_peak = max(worst_peak, with_them.megabytes)
    say(f"list: {worst_time:.1f} s more (at most 3), {worst_peak:.0f} MB (at most 400)")
    return 0 if worst_time <= 3 and worst_peak <= 400 else 1


def _told(spent: Spent) -> str:
    return f"{spent.seconds:.2f} s {spent.megabytes:.0f} MB ({spent.code})"


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
