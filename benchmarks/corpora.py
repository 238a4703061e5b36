"""The homes that are measured: the generator in `../shared` makes them, and writes the truth about them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

from measuring import ROOT, Verdict, environment

GENERATOR = ROOT.parent / "shared" / "tools" / "corpus-gen" / "gen.py"


def can_generate() -> bool:
    """Whether there is anything to measure; says so if not."""
    if not GENERATOR.exists():
        print(f"No generator at {os.path.relpath(GENERATOR, ROOT)}: nothing to measure.")
        return False
    return True


def generate(folder: Path, sessions: int, seed: int, agent: str = "gemini") -> Path:
    """A home with that many sessions, and its truth."""
    home = folder / f"{agent}-{sessions}-{seed}"
    home.mkdir(parents=True)
    command = [sys.executable, str(GENERATOR), "--agent", agent, "--sessions", str(sessions)]
    command += ["--seed", str(seed), "--jobs", "2", "--out", str(home)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment())
    _tell(home)
    return home


def chosen(options: Namespace, folder: Path) -> Path:
    """The home that the user has chosen, else a new one in the folder."""
    if not options.corpus:
        return generate(folder, options.sessions, options.seed)
    corpus: Path = options.corpus
    _tell(corpus)
    return corpus


def _tell(home: Path) -> None:
    truth = truth_of(home)
    size = f"{truth['files']} files, {truth['bytes'] / 1e6:.0f} MB"
    print(f"{truth['sessions']} sessions, seed {truth['seed']}: {size}", flush=True)


def truth_of(home: Path) -> dict[str, Any]:
    """What the generator knows of the home it made."""
    truth: dict[str, Any] = json.loads((home / "truth.json").read_text())
    return truth


def check_totals(verdict: Verdict, what: str, home: Path, found: Mapping[str, int]) -> None:
    """The gate: every total must be the generator's own."""
    truth = truth_of(home)
    wanted = {name: truth[name] for name in ("sessions_with_messages", "tool_calls")}
    # What is said to a subagent was written by an agent, not by a human.
    main = [session for session in truth["by_session"] if session["flaw"] != "subagent"]
    wanted["prompts"] = sum(session["user"] for session in main)
    wanted |= {f"tokens.{kind}": number for kind, number in truth["tokens"].items()}
    wrong = [name for name, number in wanted.items() if found[name] != number]
    verdict.line(what, f"{len(wanted) - len(wrong)}/{len(wanted)}", "all", good=not wrong)
    for name in wrong:
        print(f"    {name}: found {found[name]}, truth {wanted[name]}")


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


def grow(file: Path) -> None:
    """The agent says something more: its last message once again, with another id and without its calls."""
    own(file)
    with file.open("rb") as log:
        messages = [line for line in log if line.startswith(b'{"id"')]
    said = json.loads(messages[-1]) | {"id": str(uuid4()), "content": "freshlyaddedword once more"}
    said.pop("toolCalls", None)
    with file.open("ab") as log:
        log.write(json.dumps(said, ensure_ascii=False).encode() + b"\n")
