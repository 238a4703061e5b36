"""The page of the web app is built where Node is; an archive that holds it already needs none."""

from __future__ import annotations

import subprocess
from pathlib import Path
from shutil import which
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

WEB = Path("src/geminids/faces/web")
# Not `npm ci`: it wants the packages of every other platform in the lock file too.
STEPS = (("install", "--no-save"), ("run", "build"))


class PageBuilder(BuildHookInterface[Any]):
    """Builds the page before a wheel or an archive of the sources is made."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build it; where that cannot be done, all but the page is packed, and it is said."""
        frontend, page = Path(self.root, WEB, "frontend"), Path(self.root, WEB, "built", "index.html")
        # Who works on the sources builds the page with `make`.
        if version == "editable" or not frontend.is_dir():
            return
        trouble = _build(frontend)
        if trouble and page.is_file():
            self.app.display_warning(f"The page of the web app is the one that was built before: {trouble}")
        elif trouble:
            self.app.display_warning(f"`geminids web` will have no page: {trouble} All else works.")


def _build(frontend: Path) -> str:
    """Build the page. What stood in the way, or nothing."""
    npm = which("npm")
    if npm is None:
        return "building it needs Node 20.19 or newer, and npm was not found."
    for words in STEPS:
        done = subprocess.run([npm, *words], cwd=frontend, capture_output=True, text=True, check=False)
        if done.returncode:
            return f"`npm {' '.join(words)}` failed: {(done.stderr or done.stdout).strip()[-2000:]}"
    return ""
