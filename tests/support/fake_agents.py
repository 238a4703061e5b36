"""A program that stands for Gemini CLI: it tells how it was started, and is installed as the real one is."""

from __future__ import annotations

import json
import os
from pathlib import Path

TELLING = """#!/bin/sh
printf '%s\\n' "folder=$(pwd)" "home=$GEMINI_CLI_HOME"
for word in "$@"; do printf 'word=%s\\n' "$word"; done
exit ${ENDS_WITH:-0}
"""


def install(folder: Path, version: str | None = "0.61.0", *, name: str = "@google/gemini-cli") -> Path:
    """Install a release as npm does; the folder to put on the PATH. Without a version, a bare script."""
    programs = folder / "bin"
    programs.mkdir(parents=True, exist_ok=True)
    if version is None:
        return script(programs / "gemini").parent
    package = folder / "lib" / "node_modules" / name
    (package / "bundle").mkdir(parents=True)
    (package / "package.json").write_text(json.dumps({"name": name, "version": version}))
    script(package / "bundle" / "gemini.js")
    (programs / "gemini").symlink_to(Path(os.path.relpath(package, programs)) / "bundle" / "gemini.js")
    return programs


def path_with(*folders: Path) -> str:
    """A PATH with these folders first, and nothing of an agent that is really installed."""
    return os.pathsep.join([*map(str, folders), "/usr/bin", "/bin"])


def script(file: Path) -> Path:
    """A program that tells how it was started."""
    file.write_text(TELLING)
    file.chmod(0o755)
    return file
