"""Which folder a hash stands for."""

from __future__ import annotations

import json
import shlex
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from geminids.core.model import KnownBy, folder_hash
from geminids.core.spellings import same_place, spellings, walked_spellings
from geminids.sync.projects.folders import known_folders
from geminids.sync.projects.memory import learn, recall
from geminids.sync.projects.resolution import Found, Known, resolve
from geminids.sync.projects.walk import QUICK_DEPTH, Mounts, searched
from tests.support.examples import examples

LATER = float("inf")
NO_MOUNTS = Mounts(b"/dev/sda / ext4 rw 0 0\n")


def never() -> Iterator[Known]:
    return (pytest.fail("asked in vain") for _ in "x")


def test_nothing_is_asked_when_nothing_is_wanted() -> None:
    result = resolve([], [never()], LATER)
    assert (result.found, result.looked_at, result.complete) == ({}, 0, True)


def test_the_first_source_that_knows_is_believed_and_the_last_not_asked() -> None:
    wanted = folder_hash("/c/Users/Ana/shop")
    known = [("/x", KnownBy.CURRENT_FOLDER), ("C:\\Users\\Ana\\shop", KnownBy.OTHER_AGENT)]
    result = resolve([wanted], [known, never()], LATER)
    assert result.found == {wanted: Found("/c/Users/Ana/shop", KnownBy.OTHER_AGENT)}
    assert (result.looked_at, result.complete) == (2, True)


def test_one_folder_may_answer_for_several_hashes() -> None:
    wanted = [folder_hash("/tmp/shop"), folder_hash("/private/tmp/shop")]
    assert set(resolve(wanted, [[("/tmp/shop", KnownBy.SHELL_HISTORY)]], LATER).found) == set(wanted)


def test_a_folder_that_two_sources_name_is_looked_at_once() -> None:
    sources = [
        [("/a", KnownBy.CURRENT_FOLDER)],
        [("/a", KnownBy.SHELL_HISTORY), ("/b", KnownBy.SHELL_HISTORY)],
    ]
    assert resolve(["0" * 64], sources, LATER).looked_at == 2


def test_what_is_not_found_is_complete_only_before_the_deadline() -> None:
    def slow() -> Iterator[Known]:
        for number in range(1_000_000):
            yield f"/{number}", KnownBy.SEARCH

    assert resolve(["0" * 64], [[("/a", KnownBy.SEARCH)]], LATER).complete
    began = time.monotonic()
    result = resolve(["0" * 64], [slow(), never()], began + 0.05)
    assert not result.complete
    assert 0 < result.looked_at < 1_000_000
    assert time.monotonic() - began < 2
    assert not resolve(["0" * 64], [iter(()), never()], time.monotonic() - 1).complete


def test_progress_is_told() -> None:
    told: list[tuple[int, int]] = []
    known = [(f"/{number}", KnownBy.SEARCH) for number in range(3000)]
    wanted = [folder_hash("/1500"), "0" * 64]
    resolve(wanted, [known], LATER, lambda looked_at, found: told.append((looked_at, found)))
    assert told == [(1024, 0), (2048, 1), (3000, 1)]


NAMES = st.sampled_from(["shop", "Shop", "my app", "api-v2", "é", "e\u0301", "文", "a.b", "-x", "x'y", "src"])
FOLDERS = st.lists(st.lists(NAMES, min_size=1, max_size=3).map("/".join), min_size=1, max_size=6, unique=True)


TELLERS = st.sampled_from(["search", "history", "from-above", "from-below", "codex", "claude"])


def tell(teller: str, home: Path, work: Path, name: str) -> None:
    """Leave the evidence that a folder was worked in."""
    path = str(work / name)
    commands = {
        "history": f"cd {shlex.quote(path)}\n",
        "from-above": f"cd {shlex.quote(str(work))}\nls\ncd ./{shlex.quote(name)}\n",
        "from-below": f"cd {shlex.quote(path)}/inner/most\n",
    }
    with (home / ".bash_history").open("a", encoding="utf-8") as history:
        history.write(commands.get(teller, ""))
    if teller == "codex":
        with (home / ".codex" / "config.toml").open("a", encoding="utf-8") as config:
            config.write(f'[projects."{path}"]\n')
    if teller == "claude":
        folder = home / ".claude" / "projects" / folder_hash(path)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "session.jsonl").write_text(json.dumps({"type": "user", "cwd": path}) + "\n", "utf-8")


@settings(deadline=None, max_examples=examples(80))
@given(FOLDERS, st.data())
def test_what_the_evidence_reaches_is_found_and_nothing_wrong_is_certain(
    folders: list[str], data: st.DataObject
) -> None:
    """Random folders, each hashed in some spelling and told of by some evidence; some are moved since."""
    with tempfile.TemporaryDirectory() as base:
        home, work = Path(base, "home"), Path(base, "work")
        (home / ".codex").mkdir(parents=True)
        hashed = {name: data.draw(st.sampled_from(list(spellings(str(work / name))))) for name in folders}
        tellers = {name: data.draw(TELLERS) for name in folders}
        for name in folders:
            (work / name).mkdir(parents=True, exist_ok=True)
            tell(tellers[name], home, work, name)
        for number, name in enumerate(data.draw(st.lists(st.sampled_from(folders), unique=True))):
            if (work / name).exists():
                (work / name).rename(Path(base, "work", f"moved-{number}"))

        walk = searched([str(work)], QUICK_DEPTH, LATER, mounts=NO_MOUNTS)
        sources = [*known_folders(home, {}, Path("/"), NO_MOUNTS), walk]
        place = {folder_hash(spelled): str(work / name) for name, spelled in hashed.items()}
        result = resolve(list(place), sources, LATER)

        for name, spelled in hashed.items():
            path = str(work / name)
            is_met = (work / name).exists() and spelled in walked_spellings(path)
            assert folder_hash(spelled) in result.found or (tellers[name] == "search" and not is_met)
        learn(Path(base, "data"), result.found, {})
        known = recall(Path(base, "data"))
        for wanted, found in result.found.items():
            assert folder_hash(found.path) == wanted
            assert same_place(found.path) == same_place(place[wanted])
            assert known.project_path(wanted) == (found.path, found.known_by, True)
