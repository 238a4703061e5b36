"""Kill or fail `geminids install` at each of its calls that change the disk, then uninstall.

    FAULT_FOLDER=… FAULTS_TOLD_IN=… LD_PRELOAD=shim.so python -m tests.support.install_kills

Prints a line for each call after which something stayed that was not there before, or something is gone.
"""

from __future__ import annotations

import errno
import os
import shutil
import sys
from functools import partial
from pathlib import Path

import geminids.library.installing.installation  # noqa: F401 - forks have it then
from geminids.core import agents
from geminids.faces.cli.main import run
from tests.faults.machine import Strike, forked
from tests.support.agent_settings import files_of, folders_of, home_with_agents

STRIKES = {"killed": Strike(), "full": Strike(error=errno.ENOSPC, goes_on=True)}


def main() -> None:
    """Go through all calls."""
    home = Path(os.environ["HOME"])
    for agent in agents.every():
        agent.installer()
    home_with_agents(home)
    before = files_of(home), folders_of(home)
    calls = forked(partial(run, ["install", "--yes"]), Strike()).calls
    for name, strike in STRIKES.items():
        for call in range(1, calls + 1):
            shutil.rmtree(home)
            home_with_agents(home)
            hit = forked(partial(run, ["install", "--yes"]), strike._replace(call=call))
            ended = forked(partial(run, ["uninstall", "--yes"]), Strike())
            after = files_of(home), folders_of(home)
            if ended.code or hit.has_bug or after != before:
                there, then = before[0], after[0]
                changed = {one for one in {*there, *then} if there.get(one) != then.get(one)}
                say(f"{name} at {call}: {changed or after[1] ^ before[1]} {hit} {ended}")
    say(f"calls: {calls}")


def say(line: str) -> None:
    """Print a line."""
    sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    main()
