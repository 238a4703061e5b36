"""How soon an agent is answered: the handshake beside a bare server, tools, a huge session, memory.

    python benchmarks/mcp_server.py [--sessions 1000] [--seed N] [--rounds 3] [--corpus DIR] [--keep]

Judged is the CPU time of the server, which a machine that is busy with something else does not change much;
the time of the clock stands beside it. Goals are stated for 10,000 sessions. An answer that is no answer
fails the run. Secrets are hidden, as they are for agents.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from corpora import chosen, linked, truth_of
from generator.vocabulary import vocabulary_of
from huge import MESSAGES, NATIVE_ID, write_huge
from measuring import ROOT, Goal, Verdict, emptied, options
from ours import Place, write_bytecode

QUESTIONS = 100
WINDOWS = 40
BARE_SERVER = """
import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

async def nothing(context, asked):
    raise NotImplementedError

async def serve():
    server = Server("bare", on_list_tools=nothing, on_call_tool=nothing)
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())

anyio.run(serve)
"""
HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "a-benchmark", "version": "1"},
}

Question = tuple[str, Mapping[str, object]]


def main() -> int:
    """Measure everything; 1 if an answer is missing or a goal is missed."""
    told = options(__doc__, rounds=3)
    if find_spec("mcp") is None:
        print("The extra `mcp` is not installed: nothing to measure.")
        return 0
    bench = emptied(ROOT / ".bench" / "mcp")
    corpus = chosen(told, bench)
    write_bytecode(bench)
    verdict = Verdict(truth_of(corpus)["sessions"])
    place = Place(linked(corpus, bench / "home"), bench / "data", "default scope")
    place.built()
    measure_start(verdict, place, told.rounds)
    with speaking(place.command("mcp"), place.environment) as server:
        measure_questions(verdict, server, truth_of(corpus))
    measure_huge(verdict, bench)
    if not told.keep:
        shutil.rmtree(bench)
    return verdict.conclude()


# Speaking with a server


class Answer(NamedTuple):
    """An answer, and what it took in milliseconds."""

    result: Any
    wall: float
    cpu: float
    """Of the server; where the system does not tell, that of the clock."""


class Server:
    """A server behind pipes."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._number = 0

    def ask(self, method: str, given: Mapping[str, object]) -> Answer:
        """Ask, and wait for the answer."""
        self._number += 1
        cpu, began = self.cpu(), time.perf_counter()
        self._say({"jsonrpc": "2.0", "id": self._number, "method": method, "params": given})
        answer = self._answer()
        taken, spent = time.perf_counter() - began, self.cpu() - cpu
        return Answer(answer["result"], taken * 1e3, spent * 1e3)

    def tool(self, name: str, given: Mapping[str, object]) -> Answer:
        """Ask a tool."""
        return self.ask("tools/call", {"name": name, "arguments": given})

    def greet(self) -> Answer:
        """The handshake, with all that it took to come to it."""
        answer = self.ask("initialize", HELLO)
        started = answer._replace(cpu=self.cpu() * 1e3)
        self._say({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return started

    def cpu(self) -> float:
        """Seconds that it and the process that answers for it have worked; else the time of the clock."""
        try:
            # The clock of another process, as Linux numbers them.
            return sum(time.clock_gettime(~pid << 3 | 2) for pid in (self._process.pid, *self._answering()))
        except OSError:
            return time.perf_counter()

    def peaks(self) -> tuple[float, float] | None:
        """Megabytes that it and the process that answers had at most; None where the system does not tell."""
        try:
            (answering,) = self._answering()
            return _peak(self._process.pid), _peak(answering)
        except (OSError, ValueError):
            return None

    def _answering(self) -> list[int]:
        """The process that answers, if there is one; a sync is another."""
        server = self._process.pid
        try:
            children = Path(f"/proc/{server}/task/{server}/children").read_text().split()
            lines = {int(one): Path(f"/proc/{one}/cmdline").read_bytes() for one in children}
        except OSError:
            return []
        return [pid for pid, line in lines.items() if b"answering" in line]

    def _say(self, message: Mapping[str, object]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        while True:
            answer = json.loads(self._process.stdout.readline())
            if answer.get("id") == self._number:
                return answer


def _peak(pid: int) -> float:
    found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    if not found:
        raise ValueError(pid)
    return int(found[1]) * 1024 / 1e6


@contextmanager
def speaking(command: Sequence[str], given: Mapping[str, str]) -> Iterator[Server]:
    """A server that has not been asked yet."""
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=given) as process:
        yield Server(process)


# The handshake


def measure_start(verdict: Verdict, place: Place, rounds: int) -> None:
    """Until a client is answered, beside a server that knows nothing."""
    commands = {"bare": [sys.executable, "-c", BARE_SERVER], "ours": place.command("mcp")}
    started: dict[str, list[Answer]] = {name: [] for name in commands}
    for _ in range(max(3, rounds)):
        for name, command in commands.items():
            with speaking(command, place.environment) as server:
                started[name].append(server.greet())
    cpu = {name: min(answer.cpu for answer in answers) for name, answers in started.items()}
    wall = min(answer.wall for answer in started["ours"])
    verdict.line("initialize, by the clock", f"{wall / 1e3:.2f} s")
    verdict.line("initialize, a bare server", f"{cpu['bare'] / 1e3:.2f} s CPU")
    verdict.at_most("initialize, beside a bare server", cpu["ours"] / cpu["bare"], Goal(1.5, "x CPU"))


# Tools


def measure_questions(verdict: Verdict, server: Server, truth: Mapping[str, Any]) -> None:
    """Each tool by itself, and the memory that all of them took."""
    server.greet()
    listed = server.tool("list_sessions", {"sessions": 100, "size": 11_000}).result["structuredContent"]
    ids = [one["id"] for one in listed["sessions"]]
    words, random = _words(truth, Random(7)), Random(11)
    # What hides secrets is started behind the first question.
    server.tool("search_history", {"query": words[0]})
    kinds: dict[str, tuple[float | None, Iterable[Question]]] = {
        "search_history, a word": (80, (("search_history", {"query": word}) for word in words)),
        "search_history, two words": (
            80,
            (("search_history", {"query": " ".join(random.sample(words, 2))}) for _ in range(QUESTIONS)),
        ),
        "search_history, the same again": (80, (("search_history", {"query": word}) for word in words)),
        "read_session": (None, (("read_session", {"id": one}) for one in ids)),
        "session_brief": (None, (("session_brief", {"id": one}) for one in ids)),
        "list_sessions": (None, (("list_sessions", {"since": f"{900 + n}d"}) for n in range(20))),
        "usage": (None, (("usage", {"by": "model", "since": f"{900 + n}d"}) for n in range(20))),
        "find_edits": (None, (("find_edits", {"file": f"{word[1:-1]}.py"}) for word in words[:20])),
    }
    for name, (bound, questions) in kinds.items():
        _judge(verdict, f"{name}, p95", [server.tool(tool, given) for tool, given in questions], bound)
    _judge_peak(verdict, "memory", server)


def _words(truth: Mapping[str, Any], random: Random) -> list[str]:
    """Words of the corpus: half of them as common as they are, half drawn evenly."""
    vocabulary = vocabulary_of(truth["seed"])
    common = random.choices(vocabulary.words, cum_weights=vocabulary.cumulative_weights, k=4 * QUESTIONS)
    drawn = list(dict.fromkeys(common))[: QUESTIONS // 2] + random.sample(vocabulary.words, QUESTIONS // 2)
    random.shuffle(drawn)
    return [f'"{word}"' for word in drawn]


def _judge(verdict: Verdict, what: str, answers: list[Answer], bound: float | None) -> None:
    bad = [answer.result for answer in answers if answer.result.get("isError")]
    if bad:
        verdict.line(what, f"{len(bad)} refused", bad[0]["content"][0]["text"][:60], good=False)
    cpu, wall = _at(answers, 0.95, "cpu"), _at(answers, 0.95, "wall")
    middle = f"p50 {_at(answers, 0.5, 'wall'):.1f} ms by the clock, p95 {wall:.1f}"
    if bound is None:
        verdict.line(what, f"{cpu:.1f} ms CPU", middle)
    else:
        verdict.line(what, f"{cpu:.1f} ms CPU", f"{middle}; at most {bound:.0f} ms CPU", good=cpu <= bound)


def _judge_peak(verdict: Verdict, what: str, server: Server) -> None:
    if peaks := server.peaks():
        stays, passes = peaks
        verdict.at_most(f"{what}: the server, which stays", stays, Goal(140, "MB"))
        verdict.line(f"{what}: what answers, and goes", f"{passes:.0f} MB")


def _at(answers: list[Answer], share: float, which: str) -> float:
    figures = sorted(getattr(answer, which) for answer in answers)
    return float(figures[min(len(figures) - 1, int(len(figures) * share))])


# A huge session


def measure_huge(verdict: Verdict, bench: Path) -> None:
    """Windows of a session of 50,000 messages."""
    place = Place(write_huge(bench / "huge"), bench / "huge-data", "default scope")
    place.built()
    random, session = Random(3), f"gemini:{NATIVE_ID}"
    with speaking(place.command("mcp"), place.environment) as server:
        server.greet()
        first = server.tool("read_session", {"id": session})
        if first.result["structuredContent"]["total"] != MESSAGES:
            raise RuntimeError("messages are missing")
        windows = [
            server.tool("read_session", {"id": session, "from_message": random.randrange(1, MESSAGES)})
            for _ in range(WINDOWS)
        ]
        _judge(verdict, f"{MESSAGES:,} messages: the first window", [first], None)
        _judge(verdict, f"{MESSAGES:,} messages: a window, p95", windows, 60)
        _judge_peak(verdict, f"{MESSAGES:,} messages", server)


if __name__ == "__main__":
    sys.exit(main())
