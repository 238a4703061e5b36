"""How Gemini CLI would go on with a session: what it finds, what it hides, what it deletes."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from geminids.agents.gemini.custody.installed import find_installed
from geminids.agents.gemini.custody.retention import longest_rest
from geminids.core.agents.resume import Circumstances
from geminids.library import Library
from geminids.query.sessions.resume import NotResumable, Resumable, how_to_resume
from tests.conftest import FIXTURES
from tests.support.fake_agents import install, path_with
from tests.support.homes import FIRST_ID, write_session

NOW = datetime(2026, 5, 10, tzinfo=UTC)
"""Some days after the sessions of these tests."""
MUCH_LATER = NOW + timedelta(days=90)


class Desk:
    """A user's home, the folder of a project, and an installed CLI."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.project = folder / "shop"
        self.programs: Path | None = None
        self._folder = folder
        self.home.mkdir()
        self.project.mkdir()

    def write(self, native_id: str = FIRST_ID, **more: Any) -> Path:
        """One session of the project."""
        return write_session(self.home, native_id, **{"project": str(self.project), **more})

    def install(self, version: str | None) -> None:
        """Have this release, and no other."""
        shutil.rmtree(self._folder / "agent", ignore_errors=True)
        self.programs = install(self._folder / "agent", version)

    def resuming(
        self, wanted: str = FIRST_ID, now: datetime = NOW, *, home: Path | None = None, agent_home: str = ""
    ) -> Resumable | NotResumable:
        """The answer for a session in this home, else in the user's."""
        path = path_with(self.programs) if self.programs else path_with()
        variables = {"PATH": path, "GEMINI_CLI_HOME": agent_home, "GEMINIDS_KEEP": "0"}
        with Library([home or self.home], self._folder / "data", environment=variables) as library:
            return library.resuming(wanted, now).how

    def resumable(self, wanted: str = FIRST_ID, now: datetime = NOW, *, agent_home: str = "") -> Resumable:
        how = self.resuming(wanted, now, agent_home=agent_home)
        assert isinstance(how, Resumable), how
        return how

    def refused(self, wanted: str = FIRST_ID, now: datetime = NOW) -> NotResumable:
        how = self.resuming(wanted, now)
        assert isinstance(how, NotResumable), how
        return how


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    desk = Desk(tmp_path)
    monkeypatch.setenv("HOME", str(desk.home))
    monkeypatch.chdir(tmp_path)
    desk.install("0.45.2")
    return desk


def as_document(log: Path) -> Path:
    """The session of a log as releases before 0.39 wrote it."""
    header, *messages = map(json.loads, log.read_text().splitlines())
    document = log.with_suffix(".json")
    document.write_text(json.dumps({**header, "messages": messages}, indent=2))
    log.unlink()
    return document


def in_hash_folder(file: Path, project: Path) -> Path:
    """The session where releases before 0.29 put it, in a project that the user trusts."""
    folder = file.parent.parent.with_name(hashlib.sha256(str(project).encode()).hexdigest())
    shutil.move(file.parent.parent, folder)
    (folder / ".project_root").unlink()
    trusted = folder.parent.parent / "trustedFolders.json"
    trusted.write_text(json.dumps({str(project): "TRUST_FOLDER"}))
    return folder / "chats" / file.name


def typed(how: NotResumable) -> list[tuple[str, ...]]:
    return [command for offer in how.offers for command in offer.commands]


# -- which release is installed ----------------------------------------------


@pytest.mark.parametrize(
    ("version", "release"),
    [
        ("0.61.0", (0, 61, 0)),
        ("0.62.0-nightly.20261101.abc", (0, 62, 0)),
        ("1.2.3-preview.4", (1, 2, 3)),
        ("next", None),
    ],
)
def test_the_release_is_read_from_the_package(tmp_path: Path, version: str, release: object) -> None:
    found = find_installed({"PATH": path_with(install(tmp_path, version))})
    assert found is not None
    assert (found.version, found.release) == (version, release)
    assert found.path == str(tmp_path / "bin" / "gemini")


@pytest.mark.parametrize("place", ["bin/node_modules", "lib/node_modules", "libexec/lib/node_modules"])
def test_a_script_has_its_package_beside_it(tmp_path: Path, place: str) -> None:
    programs = install(tmp_path, None)
    package = tmp_path / place / "@google" / "gemini-cli"
    package.mkdir(parents=True)
    (package / "package.json").write_text('{"name": "@google/gemini-cli", "version": "0.40.1"}')
    found = find_installed({"PATH": path_with(programs)})
    assert found is not None
    assert found.release == (0, 40, 1)


def test_of_a_script_that_lies_elsewhere_nothing_is_said(tmp_path: Path) -> None:
    (tmp_path / "package.json").write_text('{"name": "my-scripts", "version": "9.9.9"}')
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "package.json").write_text("{ broken")
    found = find_installed({"PATH": path_with(install(tmp_path, None))})
    assert found is not None
    assert (found.version, found.release, found.name) == (None, None, "Gemini CLI")


@pytest.mark.parametrize("environment", [{}, {"PATH": ""}, {"PATH": "/nowhere"}])
def test_what_is_not_on_the_path_is_not_installed(environment: dict[str, str]) -> None:
    assert find_installed(environment) is None


# -- what works --------------------------------------------------------------


def test_a_session_is_resumed_by_its_whole_id_in_its_folder(desk: Desk) -> None:
    desk.write()
    how = desk.resumable("1f0c")
    assert how.command == ("gemini", "--resume", FIRST_ID)
    assert (how.folder, how.environment) == (str(desk.project), {})
    assert how.program == str(desk.programs and desk.programs / "gemini")
    assert (how.warnings, how.may_lose, how.offers) == ((), False, ())


def test_another_home_is_named_to_the_agent(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.write()
    monkeypatch.setenv("HOME", str(tmp_path))
    assert desk.resumable().environment == {"GEMINI_CLI_HOME": str(desk.home)}
    assert desk.resumable(agent_home=str(desk.home)).environment == {}
    desk.install("0.24.0")
    assert "only knows the home of the user" in desk.refused().reason


def test_without_the_agent_the_command_is_known_all_the_same(desk: Desk) -> None:
    desk.write()
    desk.programs = None
    how = desk.resumable()
    assert (how.command[:2], how.program, how.may_lose) == (("gemini", "--resume"), None, False)
    assert how.warnings == ("`gemini` is not on the PATH.",)


def test_an_id_that_looks_like_an_option_is_none(desk: Desk) -> None:
    desk.write("-rf-0000")
    assert desk.resumable("gemini:-rf-0000").command == ("gemini", "--resume=-rf-0000")


@pytest.mark.parametrize("native_id", ["latest", "12345678 "])
def test_an_id_that_means_another_session_is_not_given_to_the_agent(desk: Desk, native_id: str) -> None:
    desk.write(native_id)
    assert "means another session" in desk.refused(f"gemini:{native_id}").reason


def test_a_session_of_an_older_release_is_found_until_its_folder_is_another(desk: Desk) -> None:
    old = in_hash_folder(as_document(desk.write()), desk.project)
    assert desk.resumable().folder == str(desk.project)
    desk.install("0.28.2")
    assert desk.resumable().folder == str(desk.project)
    desk.write("2e2e2e2e-0000-4000-8000-000000000002")
    assert desk.resumable().folder == str(desk.project)
    desk.install("0.61.0")
    assert "before 0.29" in desk.refused().reason
    assert old.parent.parent.name in desk.refused().reason


def test_a_copy_that_a_migration_left_behind_does_no_harm(desk: Desk) -> None:
    new = desk.write()
    old = new.parent.parent.with_name(hashlib.sha256(str(desk.project).encode()).hexdigest())
    shutil.copytree(new.parent.parent, old)
    assert desk.resumable().warnings == ()


# -- what the agent deletes --------------------------------------------------


@pytest.mark.parametrize(
    ("version", "told"),
    [
        ("0.41.2", None),
        ("0.42.0", "Gemini CLI 0.42.0 deletes what it resumes"),
        ("0.43.0", "Gemini CLI 0.43.0 deletes what it resumes"),
        ("0.44.0", None),
        ("0.46.0", None),
        ("0.47.0", "Gemini CLI 0.47.0 deletes what it resumes"),
        ("0.61.0", "Gemini CLI 0.61.0 deletes what it resumes"),
        ("0.62.0", "Whether Gemini CLI 0.62.0 does so too is not known."),
        ("1.0.0", "Whether Gemini CLI 1.0.0 does so too is not known."),
        (None, "The installed release of Gemini CLI is not known."),
    ],
)
def test_a_release_that_deletes_what_it_resumes_is_named(
    desk: Desk, version: str | None, told: str | None
) -> None:
    desk.write()
    desk.install(version)
    how = desk.resumable()
    assert how.may_lose is (told is not None)
    if told is None:
        assert (how.warnings, how.offers) == ((), ())
    else:
        assert told in how.warnings[0]
        export = ("geminids", "export", "1f0c9a2b", "-f", "gemini", "-o", "session-1f0c9a2b.jsonl")
        assert how.offers[0].commands == (export,)
        assert '"sessionRetention": {"enabled": false}' in how.offers[1].sentence


@pytest.mark.parametrize("where", ["home", "project"])
def test_where_nothing_is_cleaned_up_nothing_is_lost(desk: Desk, where: str) -> None:
    desk.write()
    desk.install("0.61.0")
    folder = (desk.home if where == "home" else desk.project) / ".gemini"
    folder.mkdir(exist_ok=True)
    (folder / "settings.json").write_text('{"general": {"sessionRetention": {"enabled": false}} /* why */}')
    trusted = desk.home / ".gemini" / "trustedFolders.json"
    trusted.write_text(json.dumps({str(desk.project): "TRUST_FOLDER"}))
    assert not desk.resumable(now=MUCH_LATER).may_lose
    assert desk.resumable(now=MUCH_LATER).warnings == ()


@pytest.mark.parametrize(
    ("settings", "days"),
    [
        (None, 30),
        ("", 30),
        ("[1]", 30),
        ('{"general": {"sessionRetention": {"maxAge": "2w"}}}', 14),
        ('{"general": {"sessionRetention": {"maxAge": "48h"}}} // short', 2),
        ('{"general": {"sessionRetention": {"maxAge": "1m", "note": "// no comment"}}}', 30),
        ('{"general": {"sessionRetention": {"maxAge": "12h"}}}', None),
        ('{"general": {"sessionRetention": {"maxAge": "12h", "minRetention": "1h"}}}', 0.5),
        ('{"general": {"sessionRetention": {"maxAge": "forever"}}}', None),
        ('{"general": {"sessionRetention": {"maxAge": "9999999w"}}}', 36_500),
        ('{"general": {"sessionRetention": {"maxAge": "0d"}}}', None),
        ('{"general": {"sessionRetention": {"enabled": false}}}', None),
    ],
)
def test_how_long_sessions_may_rest_stands_in_the_settings(
    tmp_path: Path, settings: str | None, days: float | None
) -> None:
    if settings is not None:
        (tmp_path / "settings.json").write_text(settings)
    rest = longest_rest(tmp_path, tmp_path / "project", (0, 61, 0))
    assert rest == (None if days is None else timedelta(days=days))


def test_before_0_33_nothing_is_cleaned_up_unless_it_is_switched_on(tmp_path: Path) -> None:
    assert longest_rest(tmp_path, tmp_path, (0, 32, 1)) is None
    (tmp_path / "settings.json").write_text('{"general": {"sessionRetention": {"enabled": true}}}')
    assert longest_rest(tmp_path, tmp_path, (0, 32, 1)) is None
    written = '{"general": {"sessionRetention": {"enabled": true, "maxAge": "30d"}}}'
    (tmp_path / "settings.json").write_text(written)
    assert longest_rest(tmp_path, tmp_path, (0, 32, 1)) == timedelta(days=30)
    assert longest_rest(tmp_path, tmp_path / "elsewhere", None) == timedelta(days=30)


def test_what_rested_too_long_is_spared_by_the_start_that_resumes_it_only(desk: Desk) -> None:
    desk.write()
    how = desk.resumable(now=MUCH_LATER)
    assert "Gemini CLI keeps it if it is started to resume it" in how.warnings[0]
    assert not how.may_lose


@pytest.mark.parametrize(("version", "is_deleted"), [("0.33.2", True), ("0.35.3", True), ("0.36.0", False)])
def test_some_releases_delete_what_rested_even_while_they_resume_it(
    desk: Desk, version: str, is_deleted: bool
) -> None:
    as_document(desk.write())
    desk.install(version)
    assert isinstance(desk.resuming(), Resumable)
    how = desk.resuming(now=MUCH_LATER)
    assert isinstance(how, NotResumable) is is_deleted
    if isinstance(how, NotResumable):
        assert "even the one that it should resume" in how.reason
        assert "sessionRetention" in how.offers[1].sentence


def test_a_log_that_goes_on_with_an_expired_document_is_deleted_with_it(desk: Desk) -> None:
    as_document(desk.write())
    assert not desk.resumable().may_lose
    assert desk.resumable(now=MUCH_LATER).may_lose


def test_a_rest_of_hours_is_told_in_hours(desk: Desk) -> None:
    desk.write()
    (desk.home / ".gemini" / "settings.json").write_text(
        '{"general": {"sessionRetention": {"maxAge": "12h", "minRetention": "1h"}}}'
    )
    assert desk.resumable().warnings[0].startswith("It has not been used for more than 12 hours.")


def test_what_else_a_start_deletes_is_counted(desk: Desk) -> None:
    desk.write()
    for number in (2, 3):
        other = desk.write(f"{number}e2e2e2e-0000-4000-8000-000000000002")
        os.utime(other, (0, 0))
    recent = desk.write("4e2e2e2e-0000-4000-8000-000000000002")
    os.utime(recent, (NOW.timestamp(), NOW.timestamp()))
    told = desk.resumable().warnings[0]
    assert told.endswith("for 30 days: at least 2 other files of this project.")


# -- what keeps the agent from finding it ------------------------------------


def test_where_the_folder_is_not_known_it_can_be_looked_for_or_told(desk: Desk) -> None:
    file = desk.write(project="/home/ada/dev/shop")
    (file.parent.parent / ".project_root").unlink()
    how = desk.refused()
    assert "is not known" in how.reason
    assert typed(how)[:2] == [
        ("geminids", "projects", "resolve"),
        ("geminids", "projects", "link", "shop", "<folder>"),
    ]


def test_where_the_folder_is_gone_a_copy_can_begin_a_session_elsewhere(desk: Desk, tmp_path: Path) -> None:
    desk.write()
    desk.project.rmdir()
    how = desk.refused()
    assert how.reason == f"Gemini CLI finds sessions by their folder. {str(desk.project)!r} does not exist."
    assert typed(how) == [
        ("geminids", "export", "1f0c9a2b", "-f", "gemini", "-o", "session-1f0c9a2b.jsonl"),
        ("cd", "<folder>"),
        ("gemini", "--session-file", str(tmp_path / "session-1f0c9a2b.jsonl")),
        ("geminids", "projects", "link", "shop", "<folder>"),
    ]


def test_in_the_folder_of_the_project_one_need_not_go_there(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.write()
    desk.install("0.38.2")
    monkeypatch.chdir(desk.project)
    assert typed(desk.refused()) == [
        ("geminids", "export", "1f0c9a2b", "-f", "gemini", "-o", "session-1f0c9a2b.jsonl"),
        ("gemini", "--session-file", "session-1f0c9a2b.jsonl"),
    ]


@pytest.mark.parametrize(
    ("other", "short"),
    [
        ("1f0c9a2b-0000-4000-8000-000000000002", FIRST_ID),
        ("1f0c9a2b-5555-4000-8000-000000000002", "1f0c9a2b-0"),
        ("2e2e2e2e-0000-4000-8000-000000000002", "1f0c9a2b"),
    ],
)
def test_an_id_is_as_short_as_it_can_be(desk: Desk, other: str, short: str) -> None:
    desk.write()
    desk.write(other, day=2)
    desk.project.rmdir()
    assert typed(desk.refused())[0][2] == short
    assert desk.resuming(short) == desk.refused()


@pytest.mark.parametrize("native_id", ["123456", "latest", "-rf-0000"])
def test_an_id_that_could_mean_something_else_is_written_out(desk: Desk, native_id: str) -> None:
    desk.write(native_id)
    desk.project.rmdir()
    assert typed(desk.refused(f"gemini:{native_id}"))[0][2] == f"gemini:{native_id}"


def test_projects_of_one_name_are_told_apart_by_their_slug_or_hash(desk: Desk) -> None:
    desk.write(project="/srv/a/shop")
    desk.write("2e2e2e2e-0000-4000-8000-000000000002", project="/srv/b/shop", slug="shop-1")
    name = hashlib.sha256(b"/srv/a/shop").hexdigest()[:8]
    assert typed(desk.refused())[-1] == ("geminids", "projects", "link", name, "<folder>")
    assert typed(desk.refused("2e2e2e2e"))[-1] == ("geminids", "projects", "link", "shop-1", "<folder>")


def test_a_folder_that_became_a_link_is_another_project(desk: Desk, tmp_path: Path) -> None:
    desk.write()
    desk.project.rename(tmp_path / "moved")
    desk.project.symlink_to(tmp_path / "moved")
    assert "which is another project to Gemini CLI" in desk.refused().reason
    assert ("cd", str(desk.project)) in typed(desk.refused())


def test_a_folder_that_the_user_linked_is_not_the_one_the_agent_looks_by(desk: Desk, tmp_path: Path) -> None:
    file = desk.write(project="/home/ada/dev/shop")
    (file.parent.parent / ".project_root").unlink()
    with Library([desk.home], tmp_path / "data") as library:
        library.link_project(hashlib.sha256(b"/home/ada/dev/shop").hexdigest(), str(desk.project))
    how = desk.refused()
    assert "of another folder, or the folder was moved" in how.reason
    assert ("cd", str(desk.project)) in typed(how)


def test_a_slug_that_the_registry_gives_to_the_folder_is_looked_into(desk: Desk) -> None:
    file = desk.write(project="/home/ada/old-name")
    (file.parent.parent / ".project_root").write_text(str(desk.project))
    assert desk.resumable().folder == str(desk.project)


@pytest.mark.parametrize("name", [".cache/.gemini", "backup"])
def test_what_lies_where_the_agent_does_not_look_is_not_resumed(desk: Desk, name: str) -> None:
    desk.write()
    target = desk.home / name
    target.parent.mkdir(exist_ok=True)
    (desk.home / ".gemini").rename(target)
    how = desk.resuming(home=desk.home if ".cache" in name else target)
    assert isinstance(how, NotResumable)
    assert ("sandbox of macOS" if ".cache" in name else "its folder is named .gemini") in how.reason


def test_a_later_release_wrote_where_an_older_one_does_not_look(desk: Desk) -> None:
    as_document(desk.write())
    desk.install("0.28.2")
    assert "A later release wrote it to" in desk.refused().reason


def test_a_release_before_0_15_resumes_nothing(desk: Desk) -> None:
    desk.write()
    desk.install("0.11.3")
    how = desk.refused()
    assert how.reason == "Gemini CLI 0.11.3 cannot resume sessions; that came with 0.15.0."
    assert "needs 0.43.0 or later; this is Gemini CLI 0.11.3" in how.offers[0].sentence


# -- what keeps the agent from loading it ------------------------------------


def test_a_session_that_lost_its_first_line_is_rubbish_to_the_agent(desk: Desk) -> None:
    file = desk.write()
    file.write_text("".join(file.read_text().splitlines(keepends=True)[1:]))
    how = desk.refused("1f0c9a2b")
    assert "lost its first line" in how.reason
    assert typed(how)[0][:2] == ("geminids", "export")


def test_a_session_with_nothing_to_go_on_with_is_hidden(desk: Desk) -> None:
    file = desk.write(prompt="/help")
    header, prompt, _ = file.read_text().splitlines(keepends=True)
    file.write_text(header + prompt)
    assert isinstance(desk.resuming(), Resumable), "until 0.46 a command was enough"
    desk.install("0.47.0")
    assert "finds nothing in it to resume" in desk.refused().reason


def test_notices_alone_were_never_enough(desk: Desk) -> None:
    file = desk.write()
    header, prompt, _ = file.read_text().splitlines(keepends=True)
    file.write_text(header + prompt.replace('"user"', '"info"'))
    assert "finds nothing in it to resume" in desk.refused().reason


def test_a_file_of_the_same_id_that_was_used_later_hides_a_session(desk: Desk) -> None:
    first = desk.write()
    task = json.loads(first.read_text().splitlines()[0]) | {"lastUpdated": "2026-05-02T10:00:00.000Z"}
    later = first.with_name(first.name.replace("T10-00", "T11-00"))
    lines = [json.dumps(task), *first.read_text().splitlines()[1:]]
    later.write_text("\n".join(lines).replace("u-1f0c", "x-1f0c").replace("g-1f0c", "y-1f0c") + "\n")
    how = desk.resumable()
    assert how.warnings == (
        f"Gemini CLI resumes {later.name!r}, and does not see what is in {first.name!r}.",
    )
    # A subagent's file of the same id, which releases before 0.31 do not tell from its parent's.
    later.write_text(later.read_text().replace('"main"', '"subagent"', 1))
    assert desk.resumable().warnings == ()


def test_an_old_release_would_open_the_file_of_a_subagent(desk: Desk) -> None:
    first = as_document(desk.write())
    written = json.loads(first.read_text())
    later = first.with_name(first.name.replace("T10-00", "T11-00"))
    agent = {**written, "kind": "subagent", "lastUpdated": "2026-05-02T10:00:00.000Z"}
    later.write_text(json.dumps(agent))
    in_hash_folder(first, desk.project)
    desk.install("0.28.2")
    assert desk.refused().reason == (
        f"Gemini CLI would open {later.name!r}, which has the same id and was used later."
    )


def test_of_two_sessions_in_a_file_the_agent_sees_the_last(desk: Desk) -> None:
    file = desk.write("aaaaaaaa-1")
    other = desk.write("aaaaaaaa-2", prompt="Another one", slug="elsewhere")
    file.write_text(file.read_text() + other.read_text())
    shutil.rmtree(other.parent.parent)
    assert "also holds the session 'aaaaaaaa-2'" in desk.refused("aaaaaaaa-1").reason
    assert isinstance(desk.resuming("aaaaaaaa-2"), Resumable)


def test_a_log_is_nothing_to_releases_before_0_39(desk: Desk) -> None:
    desk.write()
    desk.install("0.38.2")
    assert "is a log (.jsonl), which Gemini CLI 0.38.2 does not read" in desk.refused().reason


# -- what is no session of the agent's ---------------------------------------


def save_chat(desk: Desk, name: str) -> None:
    turns = [{"role": "user", "parts": [{"text": "Plan the move"}]}]
    (desk.write().parent.parent / name).write_text(json.dumps({"history": turns}))


@pytest.mark.parametrize(
    ("name", "wanted", "typed"),
    [
        ("checkpoint-plan.json", "checkpoint-plan", "/chat resume plan"),
        ("checkpoint-my%20plan.json", "checkpoint-my", "/chat resume my plan"),
        ("checkpoint-%24(x)%3B'.json", "checkpoint-$(x)", "/chat resume $(x);'"),
    ],
)
def test_a_saved_chat_is_loaded_by_its_name(desk: Desk, name: str, wanted: str, typed: str) -> None:
    save_chat(desk, name)
    desk.install("0.61.0")
    how = desk.resumable(wanted)
    assert how.command == ("gemini", "-i", typed)
    assert not how.may_lose, "it is loaded into a new session, and stays"


@pytest.mark.parametrize("version", ["0.29.0", "0.24.0", None])
def test_older_releases_load_a_saved_chat_from_within(desk: Desk, version: str | None) -> None:
    save_chat(desk, "checkpoint-plan.json")
    if version == "0.24.0":
        in_hash_folder(desk.write(), desk.project)
    desk.install(version)
    how = desk.resuming("checkpoint-plan")
    if version == "0.29.0":
        assert isinstance(how, Resumable)
        return
    assert isinstance(how, NotResumable)
    assert how.offers[0].sentence == "Start it, and type `/chat resume plan`:"
    assert typed(how)[:2] == [("cd", str(desk.project)), ("gemini",)]


def test_from_within_a_saved_chat_is_loaded_of_its_own_home(desk: Desk, tmp_path: Path) -> None:
    save_chat(desk, "checkpoint-plan.json")
    other = tmp_path / "a backup"
    shutil.move(desk.home, other)
    desk.install(None)
    how = desk.resuming("checkpoint-plan", home=other)
    assert isinstance(how, NotResumable)
    assert typed(how)[:2] == [("cd", str(desk.project)), ("env", f"GEMINI_CLI_HOME={other}", "gemini")]


@pytest.mark.parametrize("name", ["checkpoint.json", "checkpoint-two%0Alines.json", "checkpoint-%20.json"])
def test_a_saved_chat_without_a_name_to_type_is_not_loaded(desk: Desk, name: str) -> None:
    save_chat(desk, name)
    assert "without a name" in desk.refused("checkpoint").reason


def test_a_file_given_by_hand_can_begin_a_session(desk: Desk, tmp_path: Path) -> None:
    file = desk.write()
    given = tmp_path / "given.jsonl"
    shutil.copy(file, given)
    how = desk.refused(str(given))
    assert "not a file given by path" in how.reason
    assert typed(how) == [
        ("geminids", "resume", "1f0c9a2b"),
        ("gemini", "--session-file", str(given)),
    ]
    file.unlink()
    assert typed(desk.refused(str(given))) == [("gemini", "--session-file", str(given))]


def test_a_document_of_ours_goes_through_an_export(desk: Desk, tmp_path: Path) -> None:
    document = tmp_path / "document.json"
    with Library([desk.write().parents[4]], tmp_path / "data") as library:
        document.write_bytes(library.export(FIRST_ID, "json"))
    exporting, beginning = typed(desk.refused(str(document)))[1:3]
    assert exporting[:5] == ("geminids", "export", str(document), "-f", "gemini")
    assert "cd" in beginning
    assert ("gemini", "--session-file", str(document)) not in typed(desk.refused(str(document)))


def test_a_shared_conversation_goes_through_an_export(desk: Desk, tmp_path: Path) -> None:
    shared = tmp_path / "shared.json"
    shared.write_text(json.dumps([{"role": "user", "parts": [{"text": "Plan the move"}]}]))
    assert typed(desk.refused(str(shared)))[0][:3] == ("geminids", "export", str(shared))


def test_a_subagent_leads_to_its_parent(desk: Desk) -> None:
    home = FIXTURES / "gemini" / "parallel-agents-fail" / "home"
    with Library([home], desk.home / "data") as library:
        agents = [one for one in library.sessions() if one.kind == "subagent"]
        assert agents
        for agent in agents:
            how = library.resuming(agent.id, NOW).how
            assert isinstance(how, NotResumable)
            assert typed(how) == [("geminids", "resume", (agent.parent_id or "").removeprefix("gemini:")[:8])]


def test_the_file_of_a_subagent_whose_parent_is_not_known_can_be_read(desk: Desk) -> None:
    folder = FIXTURES / "gemini" / "parallel-agents-fail" / "home" / ".gemini" / "tmp" / "alpha" / "chats"
    given = str(min(folder.glob("*/*.jsonl")))
    assert typed(desk.refused(given)) == [("geminids", "show", given)]


def test_a_lost_session_can_only_be_read(desk: Desk) -> None:
    with Library([FIXTURES / "gemini" / "lost-session" / "home"], desk.home / "data") as library:
        lost = next(one for one in library.sessions() if one.kind == "lost")
        how = library.resuming(lost.id, NOW).how
    assert isinstance(how, NotResumable)
    assert typed(how) == [("geminids", "show", lost.native_id[:8])]


@pytest.mark.slow
def test_there_is_an_answer_for_every_session_and_release(tmp_path: Path) -> None:
    releases = ("0.11.3", "0.28.2", "0.33.2", "0.45.2", "0.61.0", None)
    paths = [path_with(install(tmp_path / f"agent-{release}", release)) for release in releases]
    machines = [
        Circumstances(environment={"PATH": path}, user_home=str(tmp_path), here=str(tmp_path), now=NOW)
        for path in paths
    ]
    for home in sorted(FIXTURES.glob("gemini/*/home")):
        with Library([home], tmp_path / "data") as library:
            listed = library.sessions()
            sessions = [session for one in listed for session in library.read(one.file or one.id).sessions]
        for how in (how_to_resume(session, machine).how for session in sessions for machine in machines):
            told = [how.reason] if isinstance(how, NotResumable) else how.warnings
            assert all(sentence.endswith(".") for sentence in told)
            assert isinstance(how, Resumable) or how.offers
