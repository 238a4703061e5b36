"""Which folder a hash stands for."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from geminids.model import KnownBy, folder_hash
from geminids.projects.folders import known_folders
from geminids.projects.memory import learn, recall
from geminids.projects.resolving import Found, Known, resolve
from geminids.projects.spellings import same_place, spellings
from geminids.projects.walk import QUICK_DEPTH, Mounts, searched

LATER = float("inf")
NO_MOUNTS = Mounts(b"/dev/sda / ext4 rw 0 0\n")


def never() -> Iterator[Known]:
    pytest.fail("asked in vain")
    yield "", KnownBy.SEARCH


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


@st.composite
def told_by(draw: st.DrawFn) -> str:
    return draw(st.sampled_from(["search", "history", "claude", "codex", "below", "nobody"]))


@settings(deadline=None, max_examples=60)
@given(FOLDERS, st.data())
def test_what_the_evidence_reaches_is_found_and_nothing_wrong_is_certain(
    folders: list[str], data: st.DataObject
) -> None:
    """Random folders, some moved or deleted since, each told of by some evidence in some spelling."""
    base = Path(tempfile.mkdtemp())
    home, work, data_folder = base / "home", base / "work", base / "data"
    (home / ".codex").mkdir(parents=True)
    history, codex, reachable, wanted = [], [], set(), {}
    for name in folders:
        path = str(work / name)
        Path(path).mkdir(parents=True, exist_ok=True)
    for name in folders:
        path = str(work / name)
        hashed = data.draw(st.sampled_from(list(spellings(path))))
        wanted[folder_hash(hashed)] = path
        teller = data.draw(told_by())
        quoted = "'" + path.replace("'", "'\\''") + "'"
        if teller in ("history", "below"):
            history.append(f"cd {quoted}{'/inner/most' if teller == 'below' else ''}")
        elif teller in ("codex", "claude"):
            codex.append(path)
        if teller in ("history", "below", "codex", "claude"):
            reachable.add(folder_hash(hashed))
        if data.draw(st.booleans()) and Path(path).exists():
            # Moved away: what was told of it still holds, a search meets the new name only.
            shutil.move(path, base / f"moved-{len(history)}-{len(wanted)}")
        elif hashed == path and Path(path).exists():
            wanted_by_search = folder_hash(hashed)
            if teller == "search":
                reachable.add(wanted_by_search)
    (home / ".bash_history").write_text("\n".join(history), "utf-8")
    (home / ".codex" / "config.toml").write_text(
        "".join(f"[projects.{_toml(path)}]\n" for path in codex), "utf-8"
    )
    still = {name for name in reachable if name in wanted}
    sources = known_folders(home, {}, Path("/"), NO_MOUNTS)
    result = resolve(
        list(wanted), [*sources, searched([str(work)], QUICK_DEPTH, LATER, mounts=NO_MOUNTS)], LATER
    )
    learn(data_folder, result.found, {})
    shutil.rmtree(base / "work", ignore_errors=True)
    for name, found in result.found.items():
        assert folder_hash(found.path) == name
        assert same_place(found.path) == same_place(wanted[name])
        assert recall(data_folder).project_path(name) == (found.path, found.known_by, True)
    gone = {name for name in still if name not in result.found}
    assert all(not Path(wanted[name]).exists() for name in gone)
    assert not gone & {name for name in still if _was_named(wanted[name], history, codex)}
    shutil.rmtree(base)


def _toml(path: str) -> str:
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _was_named(path: str, history: list[str], codex: list[str]) -> bool:
    quoted = path.replace("'", "'\\''")
    return path in codex or any(quoted in line for line in history)
