"""The real command over real homes, one process for each."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from urllib.parse import parse_qs, urlsplit

import httpx2

from geminids.core import agents
from tests.conftest import COMPILED_RULES, FIXTURES, OUR_VARIABLES
from tests.support.chromium import NotHereError
from tests.support.reading import sessions
from tests.support.web_apps import PATIENCE, Served, wait_until

READING = 60.0
"""Seconds that reading everything may take on a machine that has much else to do."""
AGENTS = ("gemini", "claude", "codex")


def check_built() -> None:
    """Make sure that there is a page to serve. Raises NotHereError."""
    if not (files("geminids.faces.web") / "built" / "index.html").is_file():
        raise NotHereError("the front end is not built: npm run build in src/geminids/faces/web/frontend")


@contextmanager
def serving(
    *options: object,
    machine: Path,
    is_read: bool = True,
    patience: float = READING,
    variables: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[Served]:
    """`geminids web` on a machine without any settings, by default once it has read everything."""
    line = [sys.executable, "-m", "geminids", "web", "--no-open", *map(str, options)]
    with subprocess.Popen(
        line, stdout=subprocess.PIPE, text=True, env={**_environment(machine), **variables}
    ) as process:
        try:
            assert process.stdout
            split = urlsplit(process.stdout.readline().strip())
            assert split.scheme == "http", f"{line} printed no address"
            (token,) = parse_qs(split.query)["token"]
            server = Served(process, f"http://{split.netloc}", token)
            if is_read:
                wait_until(lambda: _has_read(server), "the first sync", patience)
            yield server
        finally:
            process.terminate()
            process.wait(PATIENCE)


def _environment(machine: Path) -> dict[str, str]:
    of_agents = [name for agent in agents.available() for name in agents.load(agent).variables]
    kept = {name: value for name, value in os.environ.items() if name not in {*OUR_VARIABLES, *of_agents}}
    return {
        **kept,
        "HOME": str(machine),
        "XDG_DATA_HOME": str(machine / "data"),
        "PYTHONPATH": str(files("geminids").joinpath("..")),
        "KF_RULE_CACHE_DIR": str(COMPILED_RULES),
        "TZ": "UTC",
    }


def _has_read(server: Served) -> bool:
    try:
        with server.client() as client:
            answer = client.get("/api/about")
    except httpx2.TransportError:
        return False
    return answer.status_code == 200 and answer.json()["syncing"]["at"] is not None


def copy_cases(home: Path, *cases: str) -> Path:
    """The homes of some cases, or of all, in one. Where two hold a file of one name, the first stays."""
    chosen = [FIXTURES / case / "home" for case in cases] or [
        case for agent in AGENTS for case in sorted((FIXTURES / agent).glob("*/home"))
    ]
    for case in chosen:
        assert case.is_dir(), f"there is no case {case}"
        shutil.copytree(case, home, dirs_exist_ok=True, copy_function=_copy_new)
    return home


def _copy_new(source: str, target: str) -> None:
    if not os.path.exists(target):  # noqa: PTH110 - what copytree gives
        shutil.copy(source, target)


def session_of(case: str, which: int = 0) -> str:
    """The id of a session of a case, of those that a human led."""
    agent, _, _ = case.partition("/")
    read = sessions(agents.load(agent), FIXTURES / case / "home")
    return [session.id for session in read if session.parent_id is None][which]
