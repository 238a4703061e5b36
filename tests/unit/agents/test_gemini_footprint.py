"""What has changed in a home, told without opening a file or loading a reader; and scanning only that."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from geminids.agents.gemini.homes import DEEPEST
from geminids.core import agents, plugins
from geminids.core.agents.base import Home
from tests.conftest import FIXTURES, ROOT, Rights
from tests.support.homes import write_session

SOURCE = agents.load("gemini")
HOMES = [
    *sorted((FIXTURES / "gemini").glob("*/home")),
    ROOT / "src" / "geminids" / "sample" / "home",
]
HASH = "ab" * 32

LIGHT = """
import sys
from pathlib import Path
from geminids.core import agents
source = agents.load("gemini")
(home,) = source.homes({}, sys.argv[1])
assert source.homes_below(sys.argv[1])
assert source.footprint(home)
print(*sys.modules)
"""


def test_a_footprint_loads_neither_the_model_nor_a_reader(tmp_path: Path) -> None:
    write_session(tmp_path)
    line = [sys.executable, "-c", LIGHT, str(tmp_path)]
    loaded = set(subprocess.run(line, check=True, capture_output=True, text=True).stdout.split())
    assert {module for module in loaded if module.startswith("geminids")} == {
        "geminids",
        "geminids.agents",
        "geminids.core",
        "geminids.core.config",
        "geminids.core.disk",
        "geminids.core.errors",
        "geminids.core.names",
        "geminids.core.plugins",
        "geminids.core.values",
        "geminids.core.agents",
        "geminids.reading",
        "geminids.reading.footprints",
        "geminids.agents.gemini",
        "geminids.agents.gemini.footprint",
        "geminids.agents.gemini.homes",
        "geminids.core.agents.homes",
        "geminids.core.agents.source",
    }
    assert not loaded & {"msgspec", "json", "platformdirs", "importlib.metadata"}


def test_a_source_of_another_package_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listing = tmp_path / "other-1.0.dist-info" / "entry_points.txt"
    listing.parent.mkdir()
    listing.write_text("[console_scripts]\nx = y:z\n[geminids.sources]\nother = other.reader:Other\n")
    (tmp_path / "archive.zip").touch()
    for place in (tmp_path, tmp_path / "archive.zip", tmp_path / "missing"):
        monkeypatch.syspath_prepend(place)
    assert dict(plugins._written_entry_points(agents.GROUP))["other"] == "other.reader:Other"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A home with two projects, and much that is none."""
    for slug in ("shop", "blog"):
        write_session(tmp_path, slug=slug)
    data = tmp_path / ".gemini"
    (data / "projects.json").write_text('{"projects": {}}')
    (data / "tmp" / "shop" / "chats" / "1f0c9a2b" / "deeper").mkdir(parents=True)
    (data / "tmp" / "shop" / "chats" / "1f0c9a2b" / "agent.jsonl").write_text("{}")
    (data / "tmp" / "shop" / "tool-outputs" / "session-1").mkdir(parents=True)
    (data / "tmp" / "shop" / "tool-outputs" / "session-1" / "out.txt").write_text("out")
    (data / "tmp" / "bin").mkdir()
    (data / "tmp" / "bin" / "rg").touch()
    (data / "tmp" / "loose.txt").touch()
    (data / "history" / "blog").mkdir(parents=True)
    return SOURCE.homes_below(str(tmp_path))[0]


def changed(home: Home, change: Callable[[Path], object]) -> set[str]:
    """The folders whose text is another one after a change; the home itself is `.`."""
    before = SOURCE.footprint(home)
    change(home.path)
    after = SOURCE.footprint(home)
    paths = {path for path in before | after if before.get(path) != after.get(path)}
    return {os.path.relpath(path, home.path) for path in paths}


def test_every_folder_and_the_home_have_a_text(home: Home) -> None:
    found = {os.path.relpath(path, home.path) for path in SOURCE.footprint(home)}
    assert found == {".", "tmp/shop", "tmp/blog", "tmp/bin"}
    assert SOURCE.footprint(home) == SOURCE.footprint(home)


SHOP = Path("tmp") / "shop"
CHANGES: dict[str, tuple[Callable[[Path], object], set[str]]] = {
    "nothing": (lambda home: home, set()),
    "a session was written": (
        lambda home: next((home / SHOP / "chats").glob("*.jsonl")).write_text("{}"),
        {"tmp/shop"},
    ),
    "a session is newer": (
        lambda home: os.utime(next((home / SHOP / "chats").glob("*.jsonl")), ns=(1, 1)),
        {"tmp/shop"},
    ),
    "a file may not be read": (lambda home: (home / SHOP / ".project_root").chmod(0), {"tmp/shop"}),
    "a file was put in its place": (
        lambda home: (
            shutil.copy2(home / SHOP / ".project_root", home / "new"),
            (home / "new").replace(home / SHOP / ".project_root"),
        ),
        {"tmp/shop"},
    ),
    "a subagent": (lambda home: (home / SHOP / "chats/1f0c9a2b/agent.jsonl").write_text("{} "), {"tmp/shop"}),
    "an output": (lambda home: (home / SHOP / "tool-outputs/session-1/out.txt").unlink(), {"tmp/shop"}),
    "an empty folder": (lambda home: (home / "tmp/bin/chats").mkdir(), {"tmp/bin"}),
    "a link": (lambda home: (home / SHOP / "link").symlink_to("/nowhere"), {"tmp/shop"}),
    "below the subagents": (lambda home: (home / SHOP / "chats/1f0c9a2b/deeper/x").touch(), set()),
    "a marker elsewhere": (lambda home: (home / "history/blog/.project_root").write_text("/x"), {"tmp/blog"}),
    "a new project": (lambda home: (home / "tmp/new").mkdir(), {"tmp/new"}),
    "a project less": (lambda home: shutil.rmtree(home / "tmp/blog"), {"tmp/blog"}),
    "a linked project": (lambda home: (home / "tmp/linked").symlink_to("shop"), {"."}),
    "the registry": (lambda home: (home / "projects.json").write_text("{}"), {"."}),
    "trusted folders": (lambda home: (home / "trustedFolders.json").write_text("{}"), {"."}),
    "a loose file": (lambda home: (home / "tmp/loose.txt").write_text("x"), {"."}),
    "settings": (lambda home: (home / "settings.json").write_text("{}"), set()),
    "no projects": (
        lambda home: shutil.rmtree(home / "tmp"),
        {".", "tmp/shop", "tmp/blog", "tmp/bin"},
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_changes_is_told(home: Home, name: str) -> None:
    change, told = CHANGES[name]
    assert changed(home, change) == told


def test_as_deep_as_the_scan_looks(home: Home) -> None:
    deepest = home.path / SHOP / "/".join(["plans"] * DEEPEST)
    deepest.mkdir(parents=True)
    assert changed(home, lambda _: (deepest / "seen").touch()) == {"tmp/shop"}
    (deepest / "deeper").mkdir()
    assert changed(home, lambda _: (deepest / "deeper" / "unseen").touch()) == set()
    (companions,) = [found for found in SOURCE.scan(home).companions if found.project.slug == "shop"]
    assert {Path(file.path).name for file in companions.files} >= {"seen"}
    assert "unseen" not in {Path(file.path).name for file in companions.files}


@pytest.mark.parametrize("place", ["tmp/shop/chats", "tmp/shop", "tmp"])
def test_what_may_not_be_listed_is_told(home: Home, place: str, without_privileges: Rights) -> None:
    with without_privileges():
        before = SOURCE.footprint(home)
    (home.path / place).chmod(0)
    with without_privileges():
        after = SOURCE.footprint(home)
    (home.path / place).chmod(0o755)
    told = {os.path.relpath(path, home.path) for path in before if after.get(path) != before[path]}
    # A closed folder may be one of any project, so the home as a whole is another one.
    assert told >= ({"tmp/shop"} if place.endswith("chats") else {".", "tmp/shop"})
    assert all(path not in told for path in ("tmp/blog", "tmp/bin") if place != "tmp")


def test_names_that_are_no_utf8_can_be_stored(home: Home) -> None:
    bad = os.fsdecode(b"caf\xe9")
    (home.path / "tmp" / bad).touch()
    (home.path / SHOP / bad).touch()
    (home.path / SHOP / "café").touch()
    for text in SOURCE.footprint(home).values():
        text.encode()
    text = SOURCE.footprint(home)[str(home.path / SHOP)]
    assert "caf\\udce9\t" in text
    assert "café\t" in text


def test_a_home_that_is_not_there_has_a_text(tmp_path: Path) -> None:
    assert list(SOURCE.footprint(Home("gemini", str(tmp_path / "no"), "test"))) == [str(tmp_path / "no")]


def same_in_parts(home: Home) -> int:
    """Compare the scan of everything with a scan of each project; how many projects there were."""
    whole = SOURCE.scan(home)
    known = SOURCE.footprint(home)
    for companions in whole.companions:
        folders = {str(folder) for folder in companions.folders}
        assert folders <= known.keys()
        part = SOURCE.scan(home, folders)
        assert part.companions == (companions,)
        assert part.bundles == tuple(b for b in whole.bundles if b.folders == companions.folders)
        assert all(any(str(file.path).startswith(f) for f in folders) for file in part.skipped)
    return len(whole.companions)


def test_a_project_alone_is_scanned_like_a_whole_home() -> None:
    found = [same_in_parts(home) for place in HOMES for home in SOURCE.homes_below(str(place))]
    assert len(found) >= len(HOMES) > 20
    assert all(found)


def test_hash_and_slug_folder_are_scanned_together(home: Home) -> None:
    shop = home.path / SHOP
    (path,) = (shop / "chats").glob("*.jsonl")
    written = path.read_text().split('"projectHash": "')[1][:64]
    shutil.copytree(shop, home.path / "tmp" / written)
    both = next(found for found in SOURCE.scan(home).companions if len(found.folders) == 2)
    assert both.project.slug == "shop"
    assert same_in_parts(home) == 2


@pytest.mark.parametrize("is_link", [True, False])
def test_a_closed_neighbour_leaves_a_project_incomplete(
    home: Home, is_link: bool, without_privileges: Rights
) -> None:
    write_session(home.path.parent, slug=HASH)
    (home.path / "projects.json").write_text(
        '{"projects": {"/home/ada/dev/shop": "../..", "/x": "a\\u0000"}}'
    )
    written = next((home.path / SHOP / "chats").glob("*.jsonl")).read_text().split('"projectHash": "')[1][:64]
    neighbour = home.path / "tmp" / written
    if is_link:
        neighbour.symlink_to(HASH)
    else:
        neighbour.mkdir(mode=0)
    with without_privileges():
        assert same_in_parts(home) == 3
        part = SOURCE.scan(home, [str(home.path / SHOP)])
    assert [found.complete for found in part.companions] == [False]
    assert part.problems == (), "of its neighbours nothing is told"


def test_a_folder_that_is_gone_gives_nothing(home: Home) -> None:
    found = SOURCE.scan(home, [str(home.path / "tmp" / "gone"), str(home.path / "tmp" / "loose.txt")])
    assert (found.bundles, found.companions, found.skipped, found.problems) == ((), (), (), ())
