"""What is remembered of projects."""

from __future__ import annotations

import multiprocessing
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from geminids.core.model import KnownBy, folder_hash
from geminids.core.spellings import same_place, spellings
from geminids.storage.durable import database
from geminids.storage.durable.database import (
    EARLIER_NAME,
    FILE_NAME,
    BusyStoreError,
    NewerStoreError,
    generation,
)
from geminids.storage.durable.recovery import RecoveredError
from geminids.sync.projects import memory
from geminids.sync.projects.memory import (
    DamagedMemoryError,
    Learnt,
    Look,
    Memory,
    Remembered,
    learn,
    link,
    recall,
    unlink,
)
from geminids.sync.projects.resolution import Found
from tests.conftest import Rights

SHOP = "/home/ana/shop"
HASH = folder_hash(SHOP)
OTHER = folder_hash("/home/ana/other")
AT = datetime(2026, 6, 15, 12, tzinfo=UTC)


def test_nothing_is_remembered_at_first(tmp_path: Path) -> None:
    assert recall(tmp_path / "none") == Memory()
    assert not unlink(tmp_path / "none", HASH)
    assert not (tmp_path / "none").exists()


def test_a_link_is_kept_privately_and_can_be_taken_back(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "data"
    assert link(folder, HASH, SHOP) == (SHOP, KnownBy.LINK, True)
    assert link(folder, OTHER, SHOP) == (SHOP, KnownBy.LINK, False)
    assert recall(folder).project_path(HASH) == Remembered(SHOP, KnownBy.LINK, certain=True)
    assert recall(folder).project_path(OTHER) == Remembered(SHOP, KnownBy.LINK, certain=False)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}
    assert unlink(folder, HASH)
    assert not unlink(folder, HASH)
    assert recall(folder).links == {OTHER: SHOP}


def test_what_was_learnt_is_believed_only_if_the_hash_fits(tmp_path: Path) -> None:
    wrong = {HASH: Found("/home/ana/moved", KnownBy.SEARCH), OTHER: Found("/home/ana/other/", KnownBy.SEARCH)}
    assert learn(tmp_path, wrong, {})
    assert recall(tmp_path).project_path(HASH) is None
    assert recall(tmp_path).project_path(OTHER) == ("/home/ana/other", KnownBy.SEARCH, True)
    assert recall(tmp_path).project_path("0" * 64) is None


def test_a_link_goes_before_what_was_learnt(tmp_path: Path) -> None:
    learn(tmp_path, {HASH: Found(SHOP, KnownBy.SEARCH)}, {})
    link(tmp_path, HASH, "/home/ana/moved")
    assert recall(tmp_path).project_path(HASH) == ("/home/ana/moved", KnownBy.LINK, False)
    unlink(tmp_path, HASH)
    assert recall(tmp_path).project_path(HASH) == (SHOP, KnownBy.SEARCH, True)


def test_a_way_of_knowing_that_is_new_to_us_is_not_used() -> None:
    assert Memory(learnt={HASH: Learnt(SHOP, "telepathy")}).project_path(HASH) is None


def test_a_search_in_vain_is_remembered_with_its_depth(tmp_path: Path) -> None:
    learn(tmp_path, {}, {HASH: Look(AT, 4), OTHER: Look(AT, 8)})
    learn(tmp_path, {}, {HASH: Look(AT + timedelta(hours=1), 4), OTHER: Look(AT + timedelta(hours=1), 4)})
    known = recall(tmp_path)
    later = AT + timedelta(hours=1)
    assert known.looked_for == {HASH: Look(later, 4), OTHER: Look(later, 8)}
    assert known.was_looked_for(OTHER, 4, since=later)
    assert not known.was_looked_for(OTHER, 4, since=later + timedelta(seconds=1))
    assert not known.was_looked_for(HASH, 8, since=AT)
    learn(tmp_path, {HASH: Found(SHOP, KnownBy.SEARCH)}, {HASH: Look(AT, 8)})
    assert set(recall(tmp_path).looked_for) == {OTHER}


def test_nothing_new_is_not_written(tmp_path: Path) -> None:
    learn(tmp_path, {HASH: Found(SHOP, KnownBy.SEARCH)}, {OTHER: Look(AT, 4)})
    before = (tmp_path / FILE_NAME).read_bytes(), (tmp_path / FILE_NAME).stat().st_mtime_ns
    assert learn(tmp_path, {HASH: Found(SHOP, KnownBy.SEARCH)}, {OTHER: Look(AT, 4)})
    assert ((tmp_path / FILE_NAME).read_bytes(), (tmp_path / FILE_NAME).stat().st_mtime_ns) == before
    assert learn(tmp_path / "none", {}, {})
    assert not (tmp_path / "none").exists()


def test_what_others_build_on_is_old_after_each_change_of_an_answer(tmp_path: Path) -> None:
    seen = [generation(tmp_path)]
    assert seen == [0]

    def is_new() -> bool:
        seen.append(generation(tmp_path))
        return seen[-1] not in seen[:-1]

    link(tmp_path, HASH, SHOP)
    assert is_new()
    learn(tmp_path, {OTHER: Found(SHOP, KnownBy.SEARCH)}, {})
    assert is_new()
    learn(tmp_path, {}, {}, {"/home/ana/shop-fix": SHOP})
    assert is_new()
    unlink(tmp_path, HASH)
    assert is_new()
    unlink(tmp_path, HASH)
    assert not is_new()
    learn(tmp_path, {}, {"f" * 64: Look(AT, 4)})
    assert not is_new()
    for file in tmp_path.glob(f"{FILE_NAME}*"):
        file.unlink()
    link(tmp_path, HASH, SHOP)
    assert is_new()


EARLIER = {
    "version": 1,
    "links": {HASH: SHOP},
    "learnt": {OTHER: ["/home/ana/other", "search"]},
    "looked_for": {"f" * 64: ["2026-06-15T12:00:00Z", 4]},
    "repositories": {"/home/ana/shop-fix": SHOP},
}
IN_EARLIER = Memory(
    {HASH: SHOP},
    {OTHER: Learnt("/home/ana/other", "search")},
    {"f" * 64: Look(AT, 4)},
    {"/home/ana/shop-fix": SHOP},
)


def keep_as_before(folder: Path, **changes: object) -> bytes:
    """Write what a release before the durable file wrote; its bytes."""
    content = msgspec.json.encode(EARLIER | changes)
    (folder / "as-before").write_bytes(content)
    (folder / "as-before").replace(folder / EARLIER_NAME)
    return content


def test_what_an_earlier_release_kept_is_read_without_writing(
    tmp_path: Path, without_privileges: Rights
) -> None:
    content = keep_as_before(tmp_path)
    tmp_path.chmod(0o555)
    with without_privileges():
        assert recall(tmp_path) == IN_EARLIER
        with pytest.raises(PermissionError):
            link(tmp_path, HASH, "/elsewhere")
        assert not learn(tmp_path, {HASH: Found(SHOP, KnownBy.SEARCH)}, {})
    tmp_path.chmod(0o755)
    assert [path.name for path in tmp_path.iterdir()] == [EARLIER_NAME]
    assert (tmp_path / EARLIER_NAME).read_bytes() == content


def test_what_an_earlier_release_kept_is_taken_over_by_the_first_change(tmp_path: Path) -> None:
    content = keep_as_before(tmp_path)
    before = generation(tmp_path)
    link(tmp_path, "e" * 64, "/home/ana/new")
    assert generation(tmp_path) not in (before, 0)
    assert recall(tmp_path) == msgspec.structs.replace(
        IN_EARLIER, links={HASH: SHOP, "e" * 64: "/home/ana/new"}
    )
    assert not (tmp_path / EARLIER_NAME).exists()
    assert (tmp_path / f"{EARLIER_NAME}.taken-over").read_bytes() == content


def test_the_first_change_may_take_back_what_an_earlier_release_kept(tmp_path: Path) -> None:
    keep_as_before(tmp_path)
    assert unlink(tmp_path, HASH)
    assert recall(tmp_path).links == {}
    assert not unlink(tmp_path, HASH)


def test_what_an_earlier_release_keeps_afterwards_is_newer(tmp_path: Path) -> None:
    first = keep_as_before(tmp_path)
    link(tmp_path, OTHER, "/home/ana/other")
    known = generation(tmp_path)
    second = keep_as_before(tmp_path, links={HASH: "/home/ana/moved"}, learnt={}, looked_for={})
    once = generation(tmp_path)
    assert once != known
    assert recall(tmp_path).links == {HASH: "/home/ana/moved", OTHER: "/home/ana/other"}
    assert recall(tmp_path).learnt == IN_EARLIER.learnt
    keep_as_before(tmp_path, links={HASH: "/home/ana/moved"}, learnt={}, looked_for={}, repositories={})
    assert generation(tmp_path) not in (known, once)
    keep_as_before(tmp_path, links={HASH: "/home/ana/moved"}, learnt={}, looked_for={})
    assert learn(tmp_path, {"d" * 64: Found("/home/ana/d", KnownBy.SEARCH)}, {})
    assert recall(tmp_path).links == {HASH: "/home/ana/moved", OTHER: "/home/ana/other"}
    assert (tmp_path / f"{EARLIER_NAME}.taken-over").read_bytes() == first
    assert (tmp_path / f"{EARLIER_NAME}.taken-over-2").read_bytes() == second


def test_a_file_that_was_taken_over_and_could_not_be_renamed_is_not_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep_as_before(tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(memory, "_move_taken_over", lambda *_: None)
        assert unlink(tmp_path, HASH)
    assert (tmp_path / EARLIER_NAME).exists()
    assert recall(tmp_path).links == {}
    assert generation(tmp_path) > 0
    link(tmp_path, OTHER, SHOP)
    assert recall(tmp_path).links == {OTHER: SHOP}
    assert not (tmp_path / EARLIER_NAME).exists()


DAMAGE = [
    b"",
    b"{",
    b"[1]",
    b'{"a":1}',
    b"\xff",
    b'{"version":1,"links":{"a":1},"learnt":{},"looked_for":{}}',
]


@pytest.mark.parametrize("content", DAMAGE)
def test_a_damaged_file_of_an_earlier_release_is_never_lost(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / EARLIER_NAME
    for number in (1, 2):
        file.write_bytes(content)
        assert recall(tmp_path) == Memory(damaged=True)
        assert not learn(tmp_path, {HASH: Found(SHOP, KnownBy.SEARCH)}, {})
        assert file.read_bytes() == content
        with pytest.raises(DamagedMemoryError, match=rf"projects\.json\.bak-{number}"):
            link(tmp_path, HASH, SHOP)
        assert not file.exists()
        assert (tmp_path / f"{EARLIER_NAME}.bak-{number}").read_bytes() == content
    link(tmp_path, HASH, SHOP)
    assert recall(tmp_path).links == {HASH: SHOP}
    file.write_bytes(content)
    assert recall(tmp_path) == Memory({HASH: SHOP}, damaged=True), "what can be read is used"


@pytest.mark.parametrize("more", [b"", b',"links":[],"also":1', b',"links":{},"learnt":{},"looked_for":{}'])
def test_a_newer_file_is_left_alone(tmp_path: Path, more: bytes) -> None:
    content = b'{"version":2' + more + b"}"
    (tmp_path / EARLIER_NAME).write_bytes(content)
    assert recall(tmp_path).damaged
    for change in (lambda: link(tmp_path, HASH, SHOP), lambda: unlink(tmp_path, HASH)):
        with pytest.raises(NewerStoreError, match="Upgrade geminids"):
            change()
    assert not learn(tmp_path, {HASH: Found(SHOP, KnownBy.SEARCH)}, {})
    assert (tmp_path / EARLIER_NAME).read_bytes() == content
    assert not list(tmp_path.glob("projects.json.bak*"))


def test_a_file_of_an_earlier_release_that_may_not_be_read_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / EARLIER_NAME).mkdir()
    assert recall(tmp_path).damaged
    with pytest.raises(OSError, match="directory"):
        link(tmp_path, HASH, SHOP)
    assert not learn(tmp_path, {HASH: Found(SHOP, KnownBy.SEARCH)}, {})


def test_what_is_no_file_is_moved_aside_when_somebody_asks(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).mkdir()
    assert recall(tmp_path).damaged
    assert not learn(tmp_path, {HASH: Found(SHOP, KnownBy.SEARCH)}, {})
    with pytest.raises(RecoveredError, match=r"geminids\.db\.damaged-1'"):
        link(tmp_path, HASH, SHOP)
    link(tmp_path, HASH, SHOP)
    assert (tmp_path / f"{FILE_NAME}.damaged-1").is_dir()


def test_a_folder_whose_name_is_no_utf_8_can_be_linked(tmp_path: Path) -> None:
    spelled = "/home/ana/caf\udce9"
    assert link(tmp_path, folder_hash("/home/ana/caf\ufffd"), spelled).certain
    assert recall(tmp_path).links == {folder_hash("/home/ana/caf\ufffd"): "/home/ana/caf\ufffd"}


def _link_many(folder: str, name: str) -> None:
    for number in range(20):
        link(Path(folder), f"{name}-{number}", f"/home/ana/{name}/{number}")
        learn(Path(folder), {f"{name}+{number}": Found(f"/{name}/{number}", KnownBy.SEARCH)}, {})


@pytest.mark.slow
def test_processes_that_link_at_once_lose_nothing(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_link_many, args=(str(tmp_path), name)) for name in "abcd"]
    for worker in workers:
        worker.start()
    while any(worker.is_alive() for worker in workers):
        assert not recall(tmp_path).damaged
        time.sleep(0.001)
    assert [worker.exitcode for worker in workers] == [0] * 4
    assert recall(tmp_path).links == {
        f"{name}-{number}": f"/home/ana/{name}/{number}" for name in "abcd" for number in range(20)
    }
    assert {path.name for path in tmp_path.iterdir()} == {FILE_NAME, f"{FILE_NAME}.lock", f"{FILE_NAME}.bak"}


@pytest.mark.slow
def test_a_process_that_is_killed_leaves_a_readable_file(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from geminids.sync.projects.memory import link\n"
        "for number in range(100000): link(Path(sys.argv[1]), sys.argv[2] + str(number), 'x' * 20000)"
    )
    for delay in (0.0, 0.002, 0.005, 0.011, 0.017):
        process = subprocess.Popen([sys.executable, "-c", script, str(tmp_path), f"{delay}-"])
        until = time.monotonic() + 20
        while f"{delay}-3" not in recall(tmp_path).links and time.monotonic() < until:
            time.sleep(0.001)
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
        process.wait()
        known = recall(tmp_path)
        assert not known.damaged
        written = [
            int(name.removeprefix(f"{delay}-")) for name in known.links if name.startswith(f"{delay}-")
        ]
        assert written == list(range(max(len(written), 4)))
    link(tmp_path, HASH, SHOP)
    left = {path.name for path in tmp_path.iterdir() if not path.name.endswith(".new")}
    assert left == {FILE_NAME, f"{FILE_NAME}.lock", f"{FILE_NAME}.bak"}


def test_whoever_waits_too_long_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "PATIENCE", 0.05)
    with database.alone(tmp_path / FILE_NAME, 0):
        with pytest.raises(BusyStoreError, match="try again"):
            link(tmp_path, HASH, SHOP)
        assert not learn(tmp_path, {HASH: Found(SHOP, KnownBy.SEARCH)}, {})
        assert recall(tmp_path) == Memory()
    link(tmp_path, HASH, SHOP)


@pytest.mark.slow
def test_ten_thousand_projects_are_recalled_in_no_time(tmp_path: Path) -> None:
    paths = [f"/home/ana/dev/group-{number % 100}/project-{number}" for number in range(10_000)]
    learn(tmp_path, {folder_hash(path): Found(path, KnownBy.SEARCH) for path in paths}, {})
    times = []
    for _ in range(10):
        began = time.process_time()
        known = recall(tmp_path)
        times.append(time.process_time() - began)
    assert min(times) < 0.5, "a tenth of that where nobody else is at work; minutes if each looks at all"
    assert len(known.learnt) == len(paths)
    assert known.project_path(folder_hash(paths[77])) == (paths[77], KnownBy.SEARCH, True)


PATHS = st.sampled_from(
    ["/home/ana/shop", "/tmp/shop", "C:\\Users\\Ana\\shop", "/mnt/c/Users/Ana/shop", "/a/é"]
)


@given(PATHS, PATHS, st.booleans(), st.data())
def test_nothing_remembered_is_certain_unless_a_spelling_has_the_hash(
    hashed: str, kept: str, linked: bool, data: st.DataObject
) -> None:
    wanted = folder_hash(data.draw(st.sampled_from(list(spellings(hashed)))))
    known = Memory(links={wanted: kept}) if linked else Memory(learnt={wanted: Learnt(kept, "search")})
    answer = known.project_path(wanted)
    if answer is None or not answer.certain:
        assert wanted not in map(folder_hash, spellings(kept))
    else:
        assert wanted in map(folder_hash, spellings(answer.path))
        assert same_place(answer.path) == same_place(hashed)


def test_an_earlier_release_that_writes_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "PATIENCE", 0.05)
    keep_as_before(tmp_path)
    with memory._earlier_release_locked_out(tmp_path, 0):
        with pytest.raises(BusyStoreError, match=r"projects\.json"):
            link(tmp_path, HASH, SHOP)
        assert recall(tmp_path) == IN_EARLIER
    link(tmp_path, HASH, SHOP)
