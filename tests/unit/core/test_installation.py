"""One name installs everything, and what is missing is told as a line that adds it to this installation."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tomllib
import venv
from importlib.metadata import distribution
from pathlib import Path

import pytest

from tests.conftest import ROOT

EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
ASK = "import sys; from geminids.core.installation import who_adds; print(who_adds(sys.argv[1]))"


def test_all_is_every_feature() -> None:
    names = ",".join(sorted(EXTRAS.keys() - {"all"}))
    assert EXTRAS["all"] == [f"geminids[{names}]"]


@pytest.mark.parametrize("extra", sorted(EXTRAS.keys() - {"all"}))
def test_the_line_names_packages_that_an_index_has(extra: str) -> None:
    interpreter, *words = _told(sys.executable, extra)
    assert (interpreter, words[:3]) == (sys.executable, ["-m", "pip", "install"])
    assert [_sorted(word) for word in words[3:]] == [_sorted(package) for package in EXTRAS[extra]]


@pytest.mark.parametrize(
    ("marker", "line"),
    [
        ("pipx_metadata.json", "pipx inject 'with blank' 'watchfiles>=1.1'"),
        ("uv-receipt.toml", "uv pip install --python '{python}' 'watchfiles>=1.1'"),
    ],
)
def test_environments_without_pip_are_told_of_their_own_tool(tmp_path: Path, marker: str, line: str) -> None:
    place = tmp_path / "with blank"
    venv.create(place, symlinks=True)
    (place / marker).write_text("{}")
    about = tmp_path / "installed" / "geminids-1.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(distribution("geminids").read_text("METADATA") or "", "utf-8")
    python = str(place / "bin" / "python")
    told = _told(python, "watch", os.pathsep.join([str(ROOT / "src"), str(about.parent)]))
    assert told == shlex.split(line.format(python=python))


def test_without_an_installation_the_extra_is_named(tmp_path: Path) -> None:
    venv.create(tmp_path, symlinks=True)
    done = _asked(str(tmp_path / "bin" / "python"), "watch", str(ROOT / "src"))
    assert done == "the extra `watch` of geminids"


def test_make_uses_the_python_that_is_asked_for() -> None:
    """An environment of another one is made anew; without a wish the one that is there will do."""
    assert not _steps()
    assert not _steps(f"PYTHON={sys.executable}")
    assert "-m venv --clear .venv" in _steps("PYTHON=echo")


def _steps(*words: str) -> str:
    """What `make` would do to bring the environment up to date that the tests run in."""
    if Path(sys.prefix) != ROOT / ".venv":
        pytest.skip("the tests do not run in .venv: nothing to compare")
    line = [
        "make",
        "--dry-run",
        "--silent",
        "--old-file=pyproject.toml",
        "--old-file=constraints.txt",
        ".venv/.command",
        *words,
    ]
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "PYTHON"))
    }
    return subprocess.check_output(line, cwd=ROOT, env=environment, text=True)


def _told(python: str, extra: str, path: str = "") -> list[str]:
    told = _asked(python, extra, path)
    assert told.startswith("`")
    assert told.endswith("`")
    return shlex.split(told.strip("`"))


def _asked(python: str, extra: str, path: str) -> str:
    environment = {**os.environ, "PYTHONPATH": path}
    return subprocess.check_output([python, "-c", ASK, extra], env=environment, text=True).strip()


def _sorted(requirement: str) -> set[str]:
    """A requirement without the order of its bounds, which building changes."""
    return set(requirement.replace("<", ",<").replace(">", ",>").split(","))
