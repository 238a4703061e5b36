"""What `read.py` measures, each in a process of its own; prints one JSON object.

    python benchmarks/measured.py orjson HOME       parses every session file, keeps nothing
    python benchmarks/measured.py geminids HOME     reads every session, keeps nothing
    python benchmarks/measured.py totals HOME       reads every session and adds up what it says

A process each, so that no measure finds the memory or the caches of another.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import orjson

from geminids.model import Origin, Role, Session, State, Usage
from geminids.sources.gemini import GeminiSource

STATUS = Path("/proc/self/status")
TOKENS = ("input", "output", "cached", "thoughts", "tool", "total")


def session_files(home: Path) -> Iterator[Path]:
    """The files that hold sessions: the same bytes for both readers."""
    return (path for path in sorted((home / ".gemini" / "tmp").rglob("chats/**/*")) if path.is_file())


def parse_with_orjson(home: Path) -> dict[str, int]:
    """Every value of every file, decoded and dropped: the speed limit."""
    decoded = 0
    for path in session_files(home):
        raw = path.read_bytes()
        for line in raw.splitlines() if path.suffix == ".jsonl" else [raw]:
            try:
                orjson.loads(line)
            except orjson.JSONDecodeError:
                continue  # torn lines and empty files are part of the corpus
            decoded += 1
    return {"decoded": decoded}


def read_with_geminids(home: Path) -> dict[str, int]:
    """Every session as the whole model, one bundle after the other, and dropped."""
    return {"sessions": sum(len(sessions) for sessions in _bundles(home))}


def totals(home: Path) -> dict[str, int]:
    """What the sessions say in all, in the words of the generator's truth."""
    found = {"sessions_with_messages": 0, "prompts": 0, "tool_calls": 0}
    kept: list[Usage] = []
    for session in (session for sessions in _bundles(home) for session in sessions):
        found["sessions_with_messages"] += bool(session.messages)
        for message in session.messages:
            if message.state is State.REWOUND:
                continue  # the truth counts what the agent still has
            found["prompts"] += message.role is Role.USER and message.origin is Origin.HUMAN
            found["tool_calls"] += len(message.tool_calls)
            if message.usage is not None:
                kept.append(message.usage)
    used = Usage.sum(kept)
    return found | {f"tokens.{kind}": getattr(used, kind) or 0 for kind in TOKENS}


def _bundles(home: Path) -> Iterator[tuple[Session, ...]]:
    source = GeminiSource()
    for found in source.homes_below(str(home)):
        for bundle in source.scan(found).bundles:
            yield source.read(bundle).sessions


def peak_megabytes() -> float:
    """The most memory this process ever had.

    The kernel's own mark where there is one: the figure of `getrusage` also counts what the process
    shared with its parent before it became this program.
    """
    if STATUS.exists():
        marks = [line for line in STATUS.read_text().splitlines() if line.startswith("VmHWM:")]
        return int(marks[0].split()[1]) * 1024 / 1e6
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


WORK: dict[str, Callable[[Path], dict[str, int]]] = {
    "orjson": parse_with_orjson,
    "geminids": read_with_geminids,
    "totals": totals,
}


def main() -> None:
    """Do one piece of work and say what it took."""
    work, home = WORK[sys.argv[1]], Path(sys.argv[2])
    before = time.process_time()
    answer = work(home)
    seconds = time.process_time() - before
    print(json.dumps({"seconds": seconds, "peak_megabytes": peak_megabytes(), "answer": answer}))


if __name__ == "__main__":
    main()
