"""What becomes of the index when files are replaced, deleted, closed or dated otherwise."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from geminids.core.model import ProblemKind, folder_hash
from geminids.library import Library
from geminids.query.sessions.listing import Filter
from geminids.sync.values import Outcome
from tests.conftest import FIXTURES, Rights
from tests.support.connections import to_be_closed
from tests.support.homes import FIRST_ID, write_session
from tests.support.indexes import assert_equals_a_fresh_build, dump, hits, sync

pytestmark = pytest.mark.usefixtures("without_copies")

SECOND_ID = "2e0c9a2b-0000-4000-8000-000000000002"
SECOND = 1_000_000_000


class Machine:
    """A home and its index."""

    def __init__(self, folder: Path) -> None:
        self.home, self.data, self._fresh = folder / "home", folder / "data", folder / "fresh"

    def sync(self) -> Outcome:
        """Bring the index up to date."""
        with Library([self.home], self.data) as library:
            return library.sync()

    def sync_with(self, budget: float) -> Outcome:
        """The same as a command does that has only so much time."""
        with Library([self.home], self.data) as library:
            index, outcome = library._context.sync.up_to_date(budget=budget)
            index.close()
            return outcome

    def titles(self) -> list[str]:
        """The titles of all sessions, as they are in the index."""
        with Library([self.home], self.data, sync=False) as library:
            return sorted(str(row.title) for row in library.listing(Filter()).sessions)

    def unreadable(self) -> list[str]:
        """What could not be read, by its name."""
        with Library([self.home], self.data, sync=False) as library:
            kinds = (problem for problem in library.problems() if problem.kind is ProblemKind.UNREADABLE)
            return sorted(Path(problem.file).name for problem in kinds)

    def hits(self, word: str) -> int:
        """In how many messages a word stands."""
        return hits(self.home, self.data, word)

    def assert_equals_a_fresh_build(self) -> None:
        """Compare the index with a new one."""
        assert_equals_a_fresh_build([self.home], self.data, self._fresh)


@pytest.fixture
def machine_with(tmp_path: Path) -> Machine:
    """Two sessions of two projects."""
    machine = Machine(tmp_path)
    write_session(machine.home, prompt="alpha")
    write_session(machine.home, SECOND_ID, slug="blog", day=2, prompt="beta")
    assert machine.sync().built
    return machine


@pytest.fixture
def as_nobody(machine_with: Machine, without_privileges: Rights) -> Callable[[], Iterator[None]]:
    """A while in which permissions apply; the home and the data are nobody's."""
    # What a sync needs may lie where nobody can read.
    write_session(machine_with.home, "warm", slug="warm")
    machine_with.sync()
    shutil.rmtree(machine_with.home / ".gemini" / "tmp" / "warm")
    machine_with.sync()

    @contextmanager
    def nobody() -> Iterator[None]:
        for path in (machine_with.home.parent, *machine_with.home.parent.rglob("*")):
            os.chown(path, 65534, 65534)
        with without_privileges():
            yield

    return nobody  # type: ignore[return-value]


def project(machine: Machine, slug: str) -> Path:
    """The folder of a project."""
    return machine.home / ".gemini" / "tmp" / slug


def only_session(machine: Machine, slug: str) -> Path:
    """The file of the session of a project."""
    (file,) = (project(machine, slug) / "chats").glob("*.jsonl")
    return file


def test_nothing_is_read_where_nothing_changed(machine_with: Machine) -> None:
    before = dump([machine_with.home], machine_with.data)
    assert machine_with.sync()[:4] == (False, 0, 0, 0)
    assert dump([machine_with.home], machine_with.data) == before


def test_only_what_changed_is_read(machine_with: Machine) -> None:
    write_session(machine_with.home, prompt="gamma")
    assert machine_with.sync().bundles == 1
    assert machine_with.titles() == ["beta", "gamma"]
    assert (machine_with.hits("alpha"), machine_with.hits("gamma")) == (0, 1)
    machine_with.assert_equals_a_fresh_build()


def test_a_deleted_file_is_forgotten(machine_with: Machine) -> None:
    only_session(machine_with, "blog").unlink()
    machine_with.sync()
    assert machine_with.titles() == ["alpha"]
    assert machine_with.hits("beta") == 0
    machine_with.assert_equals_a_fresh_build()


@pytest.mark.parametrize("left", ["nothing", "an empty folder", "an empty folder of chats", "a program"])
def test_a_deleted_project_is_forgotten(machine_with: Machine, left: str) -> None:
    folder = project(machine_with, "blog")
    shutil.rmtree(folder)
    if left != "nothing":
        folder.mkdir()
    if left == "an empty folder of chats":
        (folder / "chats").mkdir()
    if left == "a program":
        (folder / "rg").touch()
    machine_with.sync()
    assert machine_with.titles() == ["alpha"]
    machine_with.assert_equals_a_fresh_build()


def test_a_file_put_in_the_place_of_another_is_read(machine_with: Machine) -> None:
    old = only_session(machine_with, "shop")
    new = old.with_name("new")
    new.write_bytes(old.read_bytes().replace(b"alpha", b"gamma"))
    shutil.copystat(old, new)
    new.replace(old)
    machine_with.sync()
    assert machine_with.titles() == ["beta", "gamma"]


@pytest.mark.parametrize("moved_by", [-3600 * SECOND, 3600 * SECOND, 10**9 * SECOND, 1, -1])
def test_any_other_time_makes_a_file_another_one(machine_with: Machine, moved_by: int) -> None:
    session = only_session(machine_with, "shop")
    before = session.stat().st_mtime_ns
    session.write_bytes(session.read_bytes().replace(b"alpha", b"gamma"))
    os.utime(session, ns=(before + moved_by, before + moved_by))
    assert machine_with.sync().bundles == 1
    assert machine_with.titles() == ["beta", "gamma"]
    assert machine_with.sync().bundles == 0


def test_another_size_at_the_same_time_makes_a_file_another_one(machine_with: Machine) -> None:
    session = only_session(machine_with, "shop")
    at = session.stat().st_mtime_ns
    session.write_bytes(session.read_bytes().replace(b"alpha", b"omega and more"))
    os.utime(session, ns=(at, at))
    machine_with.sync()
    assert machine_with.titles() == ["beta", "omega and more"]


def test_changes_in_quick_succession_are_all_seen(machine_with: Machine) -> None:
    for number in range(20):
        write_session(machine_with.home, prompt=f"alpha {number}" + "!" * number)
        machine_with.sync()
        assert machine_with.hits(f"{number}") == 1
    machine_with.assert_equals_a_fresh_build()


def test_a_session_that_moves_to_another_folder_stays_one(machine_with: Machine) -> None:
    old = only_session(machine_with, "shop")
    new = project(machine_with, folder_hash("/home/ada/dev/shop")) / "chats" / old.name
    new.parent.mkdir(parents=True)
    old.rename(new)
    machine_with.sync()
    assert machine_with.titles() == ["alpha", "beta"]
    machine_with.assert_equals_a_fresh_build()


def test_a_project_that_becomes_another_one_takes_its_sessions_along(machine_with: Machine) -> None:
    (project(machine_with, "shop") / ".project_root").write_text("/home/ada/dev/blog")
    machine_with.sync()
    assert machine_with.titles() == ["alpha", "beta"]
    machine_with.assert_equals_a_fresh_build()


def test_two_homes_with_the_same_sessions_hold_them_once(tmp_path: Path) -> None:
    homes, data = [tmp_path / "disk", tmp_path / "backup"], tmp_path / "data"
    write_session(homes[0])
    shutil.copytree(homes[0], homes[1])
    sync(homes, data)
    with Library(homes, data) as library:
        assert library.listing(Filter()).total == 1
    next(homes[0].rglob("*.jsonl")).unlink()
    sync(homes, data)
    with Library(homes, data) as library:
        assert library.listing(Filter()).total == 1
    assert_equals_a_fresh_build(homes, data, tmp_path / "fresh")


def test_a_home_that_is_gone_holds_nothing(machine_with: Machine) -> None:
    (machine_with.home / ".gemini" / "tmp").rename(machine_with.home / "away")
    machine_with.sync()
    assert machine_with.titles() == []
    (machine_with.home / "away").rename(machine_with.home / ".gemini" / "tmp")
    machine_with.sync()
    assert machine_with.titles() == ["alpha", "beta"]


Nobody = Callable[[], object]


@pytest.mark.parametrize("closed", [".gemini/tmp/blog", ".gemini/tmp/blog/chats", ".gemini/tmp", ".gemini"])
def test_a_closed_folder_forgets_nothing(machine_with: Machine, as_nobody: Rights, closed: str) -> None:
    folder = machine_with.home / closed
    with as_nobody():
        folder.chmod(0)
        if "blog" in closed:
            # A change elsewhere, and something that is really gone: nothing of it is certain now.
            write_session(machine_with.home, prompt="gamma")
            write_session(machine_with.home, "third", slug="shop", prompt="delta")
        machine_with.sync()
        assert set(machine_with.titles()) >= {"beta"}
        assert machine_with.hits("beta") == 1
        assert machine_with.unreadable()
        machine_with.sync()
        folder.chmod(0o700)
        machine_with.sync()
        assert machine_with.unreadable() == []
        machine_with.assert_equals_a_fresh_build()


def test_what_is_gone_while_a_folder_is_closed_is_forgotten_when_it_opens(
    machine_with: Machine, as_nobody: Rights
) -> None:
    with as_nobody():
        project(machine_with, "blog").chmod(0)
        machine_with.sync()
        shutil.rmtree(project(machine_with, "shop"))
        machine_with.sync()
        assert machine_with.titles() == ["alpha", "beta"]
        project(machine_with, "blog").chmod(0o700)
        machine_with.sync()
        assert machine_with.titles() == ["beta"]
        machine_with.assert_equals_a_fresh_build()


def test_a_change_beside_a_closed_folder_of_the_same_project_forgets_nothing(
    machine_with: Machine, as_nobody: Rights
) -> None:
    by_hash = project(machine_with, folder_hash("/home/ada/dev/shop"))
    shutil.copytree(project(machine_with, "blog") / "chats", by_hash / "chats")
    machine_with.sync()
    assert machine_with.titles() == ["alpha", "beta", "beta"]
    with as_nobody():
        by_hash.chmod(0)
        machine_with.sync()
        write_session(machine_with.home, prompt="gamma")
        machine_with.sync()
        assert machine_with.titles() == ["beta", "beta", "gamma"]
        by_hash.chmod(0o700)
        machine_with.sync()
        machine_with.assert_equals_a_fresh_build()


def test_a_closed_file_keeps_what_was_read_of_it(machine_with: Machine, as_nobody: Rights) -> None:
    with as_nobody():
        session = only_session(machine_with, "blog")
        session.write_bytes(session.read_bytes() + b"{}\n")
        session.chmod(0)
        machine_with.sync()
        assert machine_with.titles() == ["alpha", "beta"]
        assert machine_with.unreadable() == [session.name]
        assert machine_with.hits("beta") == 1
        session.chmod(0o600)
        machine_with.sync()
        assert machine_with.unreadable() == []
        machine_with.assert_equals_a_fresh_build()


def test_a_file_that_was_always_closed_hides_no_growth_of_others(
    machine_with: Machine, as_nobody: Rights
) -> None:
    with as_nobody():
        open_one = only_session(machine_with, "blog")
        closed = open_one.with_name(open_one.name.replace("05-02T", "05-03T"))
        closed.write_bytes(b"{}")
        closed.chmod(0)
        machine_with.sync()
        write_session(machine_with.home, SECOND_ID, slug="blog", day=2, prompt="beta grown")
        machine_with.sync()
        assert machine_with.titles() == ["alpha", "beta grown"]
        assert machine_with.unreadable() == [closed.name]
        closed.chmod(0o600)
        machine_with.sync()
        machine_with.assert_equals_a_fresh_build()


def test_a_closed_saved_chat_stays_and_others_go_on(tmp_path: Path, without_privileges: Rights) -> None:
    machine = Machine(tmp_path)
    shutil.copytree(FIXTURES / "gemini" / "saved-chats" / "home", machine.home)
    chats = sorted(machine.home.rglob("checkpoint-*.json"))
    machine.sync()
    before = machine.titles()
    for path in (tmp_path, *tmp_path.rglob("*")):
        os.chown(path, 65534, 65534)
    with without_privileges():
        chats[0].chmod(0)
        chats[1].unlink()
        machine.sync()
        assert machine.unreadable() == [chats[0].name]
        assert len(machine.titles()) == len(before) - 1
        chats[0].chmod(0o600)
        machine.sync()
        machine.assert_equals_a_fresh_build()


@pytest.fixture
def one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small homes are taken in as large ones are: in many steps, whether or not there is time."""
    for name in ("intake.STEP", "intake.STEP_IN_TIME", "FIRST_STEP"):
        monkeypatch.setattr(f"geminids.sync.{name}", 1)


@pytest.mark.usefixtures("one_by_one")
def test_what_there_was_no_time_for_is_said_and_taken_in_later(machine_with: Machine) -> None:
    for number in range(5):
        write_session(machine_with.home, f"{number}abc", slug="shop", day=3, prompt=f"late {number}")
    outcome = machine_with.sync_with(budget=0.0)
    assert (outcome.bundles, outcome.left) == (1, 4)
    assert len(machine_with.titles()) == 3
    assert machine_with.sync().bundles == 4
    machine_with.assert_equals_a_fresh_build()


def test_a_session_without_a_header_gets_its_whole_id_from_a_log_that_comes_later(
    machine_with: Machine,
) -> None:
    session = only_session(machine_with, "shop")
    session.write_bytes(session.read_bytes().partition(b"\n")[2])
    log = project(machine_with, "shop") / "logs.json"
    for native_id in ("another", FIRST_ID):
        line = {"sessionId": native_id, "messageId": 0, "type": "user", "message": "alpha"}
        log.write_text(json.dumps([line]))
        machine_with.sync()
    with Library([machine_with.home], machine_with.data) as library:
        assert FIRST_ID in {row.native_id for row in library.listing(Filter()).sessions}
    machine_with.assert_equals_a_fresh_build()


@pytest.mark.usefixtures("one_by_one")
def test_a_sync_that_had_no_time_ties_what_lies_beside_in_the_end(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    recorded = FIXTURES / "gemini" / "log-two-writers" / "home"
    shutil.copytree(recorded, machine.home, ignore=shutil.ignore_patterns("logs.json*"))
    machine.sync()
    for log in recorded.rglob("logs.json*"):
        shutil.copy(log, machine.home / log.relative_to(recorded))
    while machine.sync_with(budget=0.0).left:
        pass
    machine.sync()
    machine.assert_equals_a_fresh_build()


def test_whose_sessions_are_is_found_out_after_an_interruption(
    machine_with: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    name = folder_hash("/somewhere/else")
    with Library([machine_with.home], machine_with.data) as library:
        library.link_project(name, str(machine_with.home))
    machine_with.sync()
    write_session(machine_with.home, "third", slug=name, prompt="gamma", project="/somewhere/else")
    (project(machine_with, name) / ".project_root").unlink()
    with monkeypatch.context() as while_it_lasts:
        while_it_lasts.setattr("geminids.sync.project_identity.identify", interrupted)
        with pytest.raises(KeyboardInterrupt):
            machine_with.sync()
    machine_with.sync()
    assert str(machine_with.home) in "".join(dump([machine_with.home], machine_with.data)["projects"])
    machine_with.assert_equals_a_fresh_build()


def test_an_error_in_the_middle_keeps_nobody_waiting(
    machine_with: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("a bug of ours")

    write_session(machine_with.home, prompt="gamma")
    library = to_be_closed(Library([machine_with.home], machine_with.data))
    with monkeypatch.context() as while_it_lasts:
        while_it_lasts.setattr("geminids.sync.intake.Taking._note_folders", broken)
        with pytest.raises(RuntimeError, match="a bug of ours"):
            library.sync()
    assert machine_with.titles() == ["alpha", "beta"]
    # The library is still there, and holds nothing.
    assert not machine_with.sync().failed
    assert machine_with.titles() == ["beta", "gamma"]
    library.close()
    machine_with.assert_equals_a_fresh_build()


def test_a_library_hears_what_others_have_learnt_of_projects(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    write_session(machine.home)
    with Library([machine.home], machine.data) as library, Library([machine.home], machine.data) as other:
        library.sync()
        other.link_project(folder_hash("/home/ada/dev/shop"), str(tmp_path))
        library.sync()
        found = {row.project.path for row in library.listing(Filter()).sessions}
    assert str(tmp_path) in found
