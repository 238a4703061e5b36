"""Being an agent from now on, in the folder where it finds a session."""

from __future__ import annotations

import os
import re
import signal
import sys
from typing import TYPE_CHECKING

from geminids.core.errors import UnsafeArgumentError

if TYPE_CHECKING:
    from geminids.query.sessions.resume import Resumable

_HARMLESS = re.compile(r"[\w@./:\\=-]+")
"""Words that the shell of Windows, through which the programs of npm are started, takes as they are."""


def become(how: Resumable, program: str) -> int:
    """Be the agent from now on. (Windows knows no such thing: there we wait for it.)"""
    variables = {**os.environ, **how.environment, "PWD": how.folder}
    sys.stdout.flush()
    sys.stderr.flush()
    if os.name != "nt":
        os.chdir(how.folder)
        # Python turns this signal off, which is nothing to pass on.
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.execve(program, how.command, variables)
    return _wait_for(how, program, variables)


def _wait_for(how: Resumable, program: str, variables: dict[str, str]) -> int:
    import subprocess

    for word in how.command:
        if not _HARMLESS.fullmatch(word):
            raise UnsafeArgumentError(word)
    return subprocess.run([program, *how.command[1:]], cwd=how.folder, env=variables, check=False).returncode
