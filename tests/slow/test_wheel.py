"""What is published holds the page of the web app, and serves it where there is no Node."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import venv
from collections.abc import Mapping, Sequence
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.conftest import ROOT
from tests.support.homes import write_session
from tests.support.web_apps import serving

WEB = "geminids/faces/web"
BUILT = ROOT / "src" / WEB / "built"
NOTHING = "/nowhere"
"""As search path of programs: no Node, nor anything else."""


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel and the archive of the sources, made without Node out of the page that is there."""
    if not (BUILT / "index.html").is_file():
        pytest.skip("the page of the web app was not built, which needs Node: no wheel was looked at")
    folder = tmp_path_factory.mktemp("dist")
    _build(ROOT, folder)
    return folder


def test_a_wheel_holds_the_page_and_not_its_sources(dist: Path) -> None:
    names = _names(_wheel(dist))
    assert {name.removeprefix(f"{WEB}/built/") for name in names if name.startswith(f"{WEB}/built/")} == {
        path.relative_to(BUILT).as_posix() for path in BUILT.rglob("*") if path.is_file()
    }
    assert not [name for name in names if "/frontend/" in name or "node_modules" in name]


def test_a_wheel_holds_what_agents_are_given(dist: Path) -> None:
    names = _names(_wheel(dist))
    packages = {
        path.relative_to(ROOT / "src") for path in (ROOT / "src").glob("geminids/agents/*/install/package")
    }
    assert len(packages) == len(list((ROOT / "integrations").iterdir())) - 1
    for package in packages:
        files = {
            path.relative_to(ROOT / "src") for path in (ROOT / "src" / package).rglob("*") if path.is_file()
        }
        assert {path.as_posix() for path in files} <= names


def test_the_archive_makes_the_same_wheel_without_node(dist: Path, tmp_path: Path) -> None:
    (archive,) = dist.glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        packed.extractall(tmp_path, filter="data")
    (source,) = tmp_path.iterdir()
    _build(source, tmp_path / "dist", "-t", "wheel")
    assert _names(_wheel(tmp_path / "dist")) == _names(_wheel(dist))


def test_the_page_comes_out_of_the_wheel(dist: Path, tmp_path: Path) -> None:
    with ZipFile(_wheel(dist)) as wheel:
        wheel.extractall(tmp_path / "installed")
    # What a path names is looked through for packages alone: our sources are not seen.
    paths = (str(tmp_path / "installed"), sysconfig.get_path("purelib"))
    environment = _without_programs(PYTHONPATH=os.pathsep.join(paths), PYTHONSAFEPATH="1")
    run = [sys.executable, "-m", "geminids", "web"]
    where = "import geminids; print(geminids.__file__)"
    found = subprocess.check_output([sys.executable, "-c", where], env=environment, text=True)
    assert Path(found).is_relative_to(tmp_path / "installed")
    _assert_that_it_serves(run, environment, tmp_path)


@pytest.mark.wheel
def test_an_empty_environment_serves_the_page(dist: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    venv.create(empty, with_pip=True)
    python = str(empty / "bin" / "python")
    wheel = f"geminids[web] @ {_wheel(dist).as_uri()}"
    constraints = str(ROOT / "constraints.txt")
    subprocess.run([python, "-m", "pip", "install", "-q", "-c", constraints, wheel], check=True)
    run = [str(empty / "bin" / "geminids"), "web"]
    _assert_that_it_serves(run, _without_programs(), tmp_path)


def _build(source: Path, target: Path, *options: str) -> None:
    line = [sys.executable, "-m", "hatchling", "build", "-d", str(target), *options]
    done = subprocess.run(
        line, cwd=source, env=_without_programs(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def _without_programs(**more: str) -> dict[str, str]:
    return {**os.environ, "PATH": NOTHING, **more}


def _wheel(folder: Path) -> Path:
    (wheel,) = folder.glob("*.whl")
    return wheel


def _names(wheel: Path) -> set[str]:
    with ZipFile(wheel) as packed:
        return set(packed.namelist())


def _assert_that_it_serves(run: Sequence[str], environment: Mapping[str, str], folder: Path) -> None:
    write_session(folder / "home")
    line = [*run, "--no-open", "--home", str(folder / "home"), "--data", str(folder / "data")]
    with serving(line, environment) as server, server.client() as client:
        page = client.get("/")
        assert page.status_code == 200
        scripts = re.findall(r'(?:src|href)="(/assets/[^"]+)"', page.text)
        assert any(name.endswith(".js") for name in scripts)
        for name in scripts:
            assert client.get(name).content == (BUILT / name.removeprefix("/")).read_bytes()
        assert client.get("/api/about").status_code == 200
