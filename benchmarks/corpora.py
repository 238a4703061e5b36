"""The homes that are measured: the generator makes them, and writes the truth about them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from argparse import Namespace
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

from measuring import BENCHMARKS, Verdict, environment

FOLDERS = {"gemini": ".gemini/tmp", "claude": ".claude/projects", "codex": ".codex/sessions"}
"""Where agents keep their sessions."""
MISTAKES_SHOWN = 20


def generate(folder: Path, sessions: int, seed: int, agent: str = "gemini") -> Path:
    """A home with that many sessions, and its truth."""
    home = folder / f"{agent}-{sessions}-{seed}"
    home.mkdir(parents=True)
    command = [sys.executable, "-m", "generator", "--agent", agent, "--sessions", str(sessions)]
    command += ["--seed", str(seed), "--jobs", "2", "--out", str(home.absolute())]
    subprocess.run(command, check=True, cwd=BENCHMARKS, env=environment())
    _tell(home)
    return home


def chosen(options: Namespace, folder: Path) -> Path:
    """The home that the user has chosen, else a new one in the folder."""
    if not options.corpus:
        return generate(folder, options.sessions, options.seed, options.agent)
    corpus: Path = options.corpus
    _tell(corpus)
    return corpus


def _tell(home: Path) -> None:
    truth = truth_of(home)
    size = f"{truth['files']} files, {truth['bytes'] / 1e6:.0f} MB"
    print(f"{truth['sessions']} sessions of {truth['agent']}, seed {truth['seed']}: {size}", flush=True)


def truth_of(home: Path) -> dict[str, Any]:
    """What the generator knows of the home it made."""
    truth: dict[str, Any] = json.loads((home / "truth.json").read_text())
    return truth


def folder_of(home: Path) -> Path:
    """Where the sessions of a home are."""
    return home / FOLDERS[truth_of(home)["agent"]]


def spent_in_all(home: Path) -> dict[str, int]:
    """What all sessions used, in our words, with what was taken back: it was paid for."""
    spent: Counter[str] = Counter()
    for tokens in spent_by_session(home).values():
        spent.update(tokens)
    return spent


def spent_by_session(home: Path) -> dict[str, dict[str, int]]:
    """The same of each session, by its id."""
    truth = truth_of(home)
    return {
        session["id"]: _in_our_words(truth["agent"], _spent_once(home, session))
        for session in truth["by_session"]
    }


def _spent_once(home: Path, session: Mapping[str, Any]) -> dict[str, int]:
    """The generator counts an answer that is taken back, and sometimes goes on with it by the same id.

    Then it counts it once more, but it was one request.
    """
    spent = Counter(session["tokens_spent"])
    if session["flaw"] == "rewind":
        for file in session["files"]:
            spent.subtract(_said_again(home / file))
    return spent


def _said_again(log: Path) -> dict[str, int]:
    """The tokens of the answer that is taken back in a log, if it stands behind that once more."""
    before, _, after = log.read_bytes().partition(b'\n{"$rewindTo"')
    answer: dict[str, Any] = json.loads(before.splitlines()[-1])
    is_again = f'\n{{"id":"{answer["id"]}"'.encode() in after
    return answer.get("tokens", {}) if is_again else {}


def _in_our_words(agent: str, tokens: Mapping[str, int]) -> dict[str, int]:
    """Tokens of a truth, which speaks of them as the agent does: its whole prompts, its answers alone."""
    match agent, tokens:
        case "claude", {"input": fresh, "cached": cached, "cache_creation": written, "output": output}:
            prompts = fresh + cached + written
            parts = {"cached": cached, "cache_write": written, "output": output}
            return {"input": prompts, **parts, "total": prompts + output}
        case "codex", {"output": output, "thoughts": thoughts}:
            return {**tokens, "output": output - thoughts}
        case _:
            return dict(tokens)


def check_totals(verdict: Verdict, what: str, home: Path, found: Mapping[str, int]) -> None:
    """The gate: every total must be the generator's own."""
    truth = truth_of(home)
    wanted = {name: truth[name] for name in ("sessions_with_messages", "tool_calls")}
    wanted["prompts"] = _typed(truth)
    tokens = _in_our_words(truth["agent"], truth["tokens"])
    check_equal(verdict, what, wanted | {f"tokens.{kind}": number for kind, number in tokens.items()}, found)


def check_used(verdict: Verdict, what: str, home: Path, found: Mapping[str, int]) -> None:
    """The gate of statistics, which also count what was taken back: it was paid for.

    A saved chat is a session to us and its opening a prompt; the generator does not count them. Nor does it
    count a session of which nothing is left but a command with its words, in the log of what was typed.
    """
    truth = truth_of(home)
    saved = len(list(home.glob(".gemini/tmp/*/checkpoint-*.json")))
    taken_back = truth["flaws"].get("rewind", 0)  # one prompt each
    wanted = {
        "sessions": truth["main_sessions_with_messages"] + saved + _only_typed(home, truth),
        "subagents": truth["sessions_with_messages"] - truth["main_sessions_with_messages"],
        "prompts": _typed(truth) + taken_back + saved,
        "calls": truth["tool_calls"],
    }
    tokens = spent_in_all(home)
    check_equal(verdict, what, wanted | {f"tokens.{kind}": number for kind, number in tokens.items()}, found)


def _only_typed(home: Path, truth: Mapping[str, Any]) -> int:
    logs = home.glob(".gemini/tmp/*/logs.json")
    lines = (line for log in logs for line in json.loads(log.read_bytes()))
    logged = {line["sessionId"] for line in lines if " " in line["message"]}
    silent = {one["id"] for one in truth["by_session"] if one["flaw"] == "header_only"}
    return len(logged & silent)


def _typed(truth: Mapping[str, Any]) -> int:
    """How many prompts humans typed: what is said to a subagent was written by an agent."""
    return sum(session["user"] for session in truth["by_session"] if session["flaw"] != "subagent")


def check_equal(verdict: Verdict, what: str, wanted: Mapping[str, int], found: Mapping[str, int]) -> None:
    """Nothing may be found that is not so, and nothing may be missing."""
    wrong = [name for name, number in wanted.items() if found.get(name, 0) != number]
    verdict.line(what, f"{len(wanted) - len(wrong)}/{len(wanted)}", "all", good=not wrong)
    for name in wrong[:MISTAKES_SHOWN]:
        print(f"    {name}: found {found.get(name, 0)}, truth {wanted[name]}")


def linked(corpus: Path, home: Path) -> Path:
    """A second home of the same files. Whoever changes one must take it out of the first (`own`)."""
    shutil.copytree(corpus, home, copy_function=_link)
    return home


def _link(file: str, other: str) -> None:
    try:
        os.link(file, other)
    except OSError:
        # Another disk, or one that knows no links.
        shutil.copy2(file, other)


def own(file: Path) -> None:
    """Part the file from the one it was linked with."""
    if file.stat().st_nlink > 1:
        copy = file.with_name(f"{file.name}.copy")
        shutil.copy2(file, copy)
        copy.replace(file)


def logs_by_size(home: Path) -> list[Path]:
    """The sound .jsonl sessions of a home, the smallest first."""
    sound = [s for s in truth_of(home)["by_session"] if s["era"] == "jsonl" and s["flaw"] is None]
    return sorted((home / file for s in sound for file in s["files"]), key=lambda file: file.stat().st_size)


MESSAGES = (b'{"id"', b'{"parentUuid"', b'{"timestamp"')
"""How lines begin that say something: of Gemini CLI, Claude Code and Codex."""
OF_THE_LAST_ALONE = ("toolCalls", "toolUseResult", "requestId")
ADDED = "freshlyaddedword once more"


def grow(file: Path) -> None:
    """Something more is said, in the shape of what was said last."""
    own(file)
    with file.open("rb") as log:
        messages = [line for line in log if line.startswith(MESSAGES)]
    more = [json.dumps(record, ensure_ascii=False) for record in _said_more(json.loads(messages[-1]))]
    with file.open("ab") as log:
        log.write("".join(f"{line}\n" for line in more).encode())


def _said_more(last: dict[str, Any]) -> list[dict[str, Any]]:
    """The records of one more message, by the last one that the agent wrote."""
    fresh = str(uuid4())
    kept = {name: value for name, value in last.items() if name not in OF_THE_LAST_ALONE}
    match last:
        case {"id": str()}:
            return [{**kept, "id": fresh, "content": ADDED}]
        case {"uuid": str(before)}:
            said = {"type": "user", "message": {"role": "user", "content": ADDED}}
            return [{**kept, **said, "parentUuid": before, "uuid": fresh}]
        case _:
            sent = [{"type": "input_text", "text": ADDED}]
            asked = {"type": "message", "role": "user", "content": sent}
            typed = {"type": "user_message", "message": ADDED, "images": []}
            return [
                {**kept, "type": "response_item", "payload": asked},
                {**kept, "type": "event_msg", "payload": typed},
            ]
