"""The command: writes a home and the truth about it."""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from generator.claude import ClaudeDraft
from generator.codex import CodexDraft
from generator.draft import Draft, SessionTruth
from generator.gemini import GeminiDraft, write_companions
from generator.plan import AGENTS, NEEDLES, Plan, Wish

GENERATOR_VERSION = 2
"""Grows when the same arguments give other bytes."""
DRAFTS: dict[str, type[Draft]] = {"gemini": GeminiDraft, "claude": ClaudeDraft, "codex": CodexDraft}
MOST_IDS = 200
"""A needle in more sessions than these is counted, and not said where."""


def main() -> int:
    """Make the home that the arguments ask for; 1 if one is there."""
    parser = ArgumentParser(
        prog="generator", description="Make a home of a coding agent, and the truth about it."
    )
    parser.add_argument("--agent", choices=AGENTS, default="gemini")
    parser.add_argument("--sessions", type=int, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--out", type=Path, required=True, help="the folder that stands for a user's")
    told = parser.parse_args()
    wish = Wish(told.agent, told.sessions, told.seed, told.out)
    if (wish.home / "truth.json").exists():
        print(f"generator: {wish.home} holds a home already; nothing is done.", file=sys.stderr)
        return 1
    truths = _write_sessions(wish, told.jobs)
    if wish.agent == "gemini":
        write_companions(wish, _plan(wish), truths)
    truth = _truth(wish, truths)
    (wish.home / "truth.json").write_text(json.dumps(truth, ensure_ascii=False), encoding="utf-8")
    return 0


@cache
def _plan(wish: Wish) -> Plan:
    return Plan(wish)


def _write_sessions(wish: Wish, jobs: int) -> list[SessionTruth]:
    numbers = [(wish, number) for number in range(wish.sessions)]
    if jobs == 1:
        return [_write_session(*each) for each in numbers]
    _plan(wish)  # Processes that are forked have it already.
    with multiprocessing.Pool(jobs) as pool:
        return pool.starmap(_write_session, numbers, chunksize=8)


def _write_session(wish: Wish, number: int) -> SessionTruth:
    draft = DRAFTS[wish.agent](wish, _plan(wish).sessions[number])
    draft.write()
    draft.finish()
    truth = draft.truth
    nanoseconds = int(draft.now.timestamp()) * 10**9
    for name, text in draft.files:
        file = wish.home / name
        file.parent.mkdir(parents=True, exist_ok=True)
        encoded = text.encode()
        file.write_bytes(encoded)
        os.utime(file, ns=(nanoseconds, nanoseconds))
        truth.files.append(name)
        truth.bytes += len(encoded)
    return truth


def _truth(wish: Wish, truths: list[SessionTruth]) -> dict[str, Any]:
    """What is so of the whole home."""
    sizes = sorted(truth.bytes for truth in truths)
    with_messages = [truth for truth in truths if truth.user]
    days = _summed(truth.days for truth in truths)
    return {
        "generator": GENERATOR_VERSION,
        "agent": wish.agent,
        "era": wish.era,
        "seed": wish.seed,
        "sessions": len(truths),
        "sessions_with_messages": len(with_messages),
        "main_sessions_with_messages": sum(truth.flaw != "subagent" for truth in with_messages),
        "files": sum(len(truth.files) for truth in truths),
        "bytes": sum(sizes),
        "bytes_median": sizes[len(sizes) // 2],
        "bytes_p99": sizes[int(len(sizes) * 0.99)],
        "bytes_max": sizes[-1],
        "projects": len({truth.project for truth in truths}),
        "messages": {
            "user": sum(truth.user for truth in truths),
            "assistant": sum(truth.assistant for truth in truths),
            "tool_echo": sum(truth.tool_echo for truth in truths),
            "other": sum(truth.other for truth in truths),
        },
        "tool_calls": sum(truth.tool_calls for truth in truths),
        "thoughts": sum(truth.thoughts for truth in truths),
        "tokens": _sum(truth.tokens for truth in truths),
        "tokens_spent": _sum(truth.tokens_spent for truth in truths),
        "tokens_naive_lines": _sum(truth.tokens_naive_lines for truth in truths),
        "tokens_first_line": _sum(truth.tokens_first_line for truth in truths),
        "flaws": Counter(truth.flaw for truth in truths if truth.flaw),
        "needles": {name: _found(name, truths) for name in NEEDLES},
        "models": _summed(truth.models for truth in truths),
        "days": dict(sorted(days.items())),
        "by_session": [truth.written() for truth in truths],
    }


def _found(name: str, truths: list[SessionTruth]) -> dict[str, Any]:
    """A needle, and where it is."""
    ids = [truth.id for truth in truths if name in truth.needles]
    needle = NEEDLES[name]
    listed = ids if len(ids) <= MOST_IDS else []
    return {"text": needle.text, "where": needle.where, "sessions": len(ids), "ids": listed}


def _sum(counts: Iterable[Mapping[str, int]]) -> Counter[str]:
    total: Counter[str] = Counter()
    for each in counts:
        total.update(each)
    return total


def _summed(groups: Iterable[Mapping[str, Mapping[str, int]]]) -> dict[str, Counter[str]]:
    """Counts by name, of all groups."""
    totals: dict[str, Counter[str]] = {}
    for group in groups:
        for name, counts in group.items():
            totals.setdefault(name, Counter()).update(counts)
    return totals


if __name__ == "__main__":
    sys.exit(main())
