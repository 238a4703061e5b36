"""What a command loads."""

from __future__ import annotations

import os
import subprocess
import sys

LOADED = """
import sys
from geminids.__main__ import main
sys.argv = ["geminids", *sys.argv[1:]]
try:
    code = main()
except SystemExit as done:
    code = done.code
print(*sys.modules, file=sys.stderr)
"""


def loaded_by(*arguments: str) -> set[str]:
    """The modules that are there when a command is done."""
    line = [sys.executable, "-c", LOADED, *arguments]
    # As Python knows it: a library may have put its own into it (readline does with COLUMNS).
    environment = dict(os.environ)
    done = subprocess.run(line, check=True, capture_output=True, text=True, timeout=60, env=environment)
    return set(done.stderr.splitlines()[-1].split())
