"""What the benchmarks measure inside a process, each in one of its own; prints one JSON object.

    python benchmarks/measured.py orjson HOME           parses every session file, keeps nothing
    python benchmarks/measured.py geminids HOME         reads every session, keeps nothing
    python benchmarks/measured.py totals HOME           reads every session and adds up what it says
    python benchmarks/measured.py indexed HOME DATA     adds up what the index says of every session
    python benchmarks/measured.py told PLACE            makes rows of all sessions of all machines in a place

A process each, so that no measure finds the memory or the caches of another.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import orjson
from corpora import FOLDERS

from geminids.core.agents import load
from geminids.core.model import Message, Origin, Role, Session, SessionKind, SessionSummary, State, Usage
from geminids.library import Library

STATUS = Path("/proc/self/status")
TOKENS = ("input", "output", "cached", "cache_write", "thoughts", "tool", "total")
SOURCES = [load(agent) for agent in FOLDERS]


def session_files(home: Path) -> Iterator[Path]:
    """The files that hold sessions: the same bytes for both readers."""
    for agent, place in FOLDERS.items():
        for folder, _, names in os.walk(home / place):
            # Gemini CLI keeps other things in other folders beside them.
            if agent != "gemini" or "chats" in Path(folder).parts:
                yield from (Path(folder, name) for name in names)


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
    """What the sessions say in all, in the words of the generator's truth.

    A line of the prompt log is a message of its session to us; the truth speaks of session files alone.
    """
    found: Counter[str] = Counter()
    for session in (session for sessions in _bundles(home) for session in sessions):
        is_recorded = any(message.state is not State.UNRECORDED for message in session.messages)
        found["sessions_with_messages"] += is_recorded
        found.update(_said([message for message in session.messages if not _is_rewound(message)]))
    return found


def indexed(home: Path, data: Path) -> dict[str, int]:
    """What the index says of the sessions in all, in the same words.

    The truth counts what the agent still has, the index also what was dropped, so that much is taken off.
    """
    found: Counter[str] = Counter()
    with Library([home], data, sync=False) as library:
        for session in library.sessions():
            if session.kind not in {SessionKind.MAIN, SessionKind.SUBAGENT}:
                continue  # saved chats repeat what sessions say
            counts = session.counts
            found["sessions_with_messages"] += bool(counts.prompts or counts.replies)
            found.update({"prompts": counts.prompts, "tool_calls": counts.tool_calls})
            found.update(_tokens(session.usage))
            found.subtract(_said(_rewound(library, session)))
    return found


def told(place: Path) -> dict[str, int]:
    """The rows of all sessions of all machines, as engines make them of pieces, and dropped."""
    from geminids.scale.engine import Question, batches
    from geminids.scale.homes import pieces_of
    from geminids.scale.places.disks import open_place

    every = pieces_of(open_place(str(place)))
    made = (batch for piece in every for batch in batches(Question(piece, "sessions")))
    return {"sessions": sum(batch.num_rows for batch in made)}


def _rewound(library: Library, session: SessionSummary) -> list[Message]:
    if not session.counts.dropped:
        return []
    return [message for message in library.session(session.id).messages if _is_rewound(message)]


def _is_rewound(message: Message) -> bool:
    return message.state is State.REWOUND


def _said(messages: Sequence[Message]) -> dict[str, int]:
    """How much there is in messages."""
    typed = [one for one in messages if one.role is Role.USER and one.origin is Origin.HUMAN]
    calls = sum(len(message.tool_calls) for message in messages)
    used = Usage.sum(message.usage for message in messages if message.usage is not None)
    return {"prompts": len(typed), "tool_calls": calls} | _tokens(used)


def _tokens(used: Usage) -> dict[str, int]:
    return {f"tokens.{kind}": getattr(used, kind) or 0 for kind in TOKENS}


def _bundles(home: Path) -> Iterator[tuple[Session, ...]]:
    for source in SOURCES:
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


WORK: dict[str, Callable[..., dict[str, int]]] = {
    "orjson": parse_with_orjson,
    "geminids": read_with_geminids,
    "totals": totals,
    "indexed": indexed,
    "told": told,
}


def main() -> None:
    """Do one piece of work and say what it took."""
    work, places = WORK[sys.argv[1]], map(Path, sys.argv[2:])
    before = time.process_time()
    answer = work(*places)
    seconds = time.process_time() - before
    print(json.dumps({"seconds": seconds, "peak_megabytes": peak_megabytes(), "answer": answer}))


if __name__ == "__main__":
    main()
