"""`geminids list`."""

import json
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from tests.conftest import FIXTURES, Run
from tests.support.claude_lines import user, write
from tests.support.homes import FIRST_ID, write_session

SECOND_ID = "2e2e2e2e-0000-4000-8000-000000000002"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    write_session(tmp_path, day=1)
    write_session(tmp_path, SECOND_ID, slug="blog", day=9, prompt="购物车 is 空 🛒")
    return tmp_path


def test_a_pipe_gets_one_line_a_session_newest_first(geminids: Run, home: Path) -> None:
    outcome = geminids("list", "--home", home)
    assert outcome.code == 0
    assert [line.split("\t") for line in outcome.out.splitlines()] == [
        [f"gemini:{SECOND_ID}", "2026-05-09T10:05", "success", "1", "0", "blog", "购物车 is 空 🛒"],
        [f"gemini:{FIRST_ID}", "2026-05-01T10:05", "success", "1", "0", "shop", "Fix the login redirect"],
    ]


def test_json_is_what_programs_rely_on(geminids: Run, home: Path) -> None:
    document = json.loads(geminids("list", "--home", home, "--json").out)
    assert document.keys() == {"schema", "sessions"}
    assert document["schema"] == "geminids/list/1"
    session = document["sessions"][1]
    assert session["id"] == f"gemini:{FIRST_ID}"
    assert session["project"]["path"] == "/home/ada/dev/shop"
    assert session["started_at"] == "2026-05-01T10:00:00Z"
    assert session["counts"] == {"prompts": 1, "replies": 1, "tool_calls": 0, "tool_errors": 0, "dropped": 0}
    assert session["usage"]["total"] == 12
    assert session["usage"]["cache_write"] is None
    assert {
        "agent",
        "native_id",
        "kind",
        "parent_id",
        "title",
        "ended_at",
        "status",
        "models",
    } < session.keys()
    assert {"files", "kept", "problems"} < session.keys()


def test_json_lines_hold_the_same_sessions(geminids: Run, home: Path) -> None:
    whole = json.loads(geminids("list", "--home", home, "--json").out)["sessions"]
    assert [
        json.loads(line) for line in geminids("list", "--home", home, "--jsonl").out.splitlines()
    ] == whole


@pytest.mark.parametrize("order", ["before", "after"])
def test_options_stand_before_or_after_the_verb(geminids: Run, home: Path, order: str) -> None:
    options = ("--home", home, "--json")
    outcome = geminids(*options, "list") if order == "before" else geminids("list", *options)
    assert len(json.loads(outcome.out)["sessions"]) == 2


def test_the_agents_own_spelling_is_understood(geminids: Run, home: Path) -> None:
    assert geminids("--home", home, "--list-sessions").out == geminids("--home", home, "list").out


@pytest.mark.parametrize(
    ("options", "shown"),
    [
        (["--project", "SHO"], ["shop"]),
        (["--project", "/home/ada/dev/blog"], ["blog"]),
        (["--since", "2026-05-05"], ["blog"]),
        (["--until", "2026-05-01"], ["shop"]),
        (["--since", "40d"], ["blog"]),
        (["--limit", "1"], ["blog"]),
        (["-n", "5"], ["blog", "shop"]),
    ],
)
def test_filters_choose(geminids: Run, home: Path, options: list[str], shown: list[str]) -> None:
    outcome = geminids("list", "--home", home, *options)
    assert [line.split("\t")[5] for line in outcome.out.splitlines()] == shown


def replace_in(file: Path, before: str, after: str) -> None:
    written = file.read_text()
    assert before in written
    file.write_text(written.replace(before, after))


@pytest.mark.parametrize("count", [10**30, 2**64 - 1, 2**63])
def test_a_count_that_is_none_hides_no_session(geminids: Run, home: Path, count: int) -> None:
    replace_in(write_session(home, "badbadba-0", slug="other"), '"input": 10', f'"input": {count}')
    outcome = geminids("list", "--home", home)
    assert (outcome.code, len(outcome.out.splitlines())) == (0, 3)
    (listed,) = (
        one
        for one in json.loads(geminids("list", "--home", home, "--json").out)["sessions"]
        if one["native_id"] == "badbadba-0"
    )
    assert listed["usage"]["input"] is None
    assert [problem["detail"] for problem in listed["problems"]] == ["tokens.input is no count"]


def test_a_sum_may_be_of_any_size(geminids: Run, home: Path) -> None:
    file, many = write_session(home, "badbadba-0", slug="other"), 3000
    header, prompt, reply = file.read_text().splitlines()
    replies = (
        reply.replace("g-badbadba", f"g{number}").replace('"input": 10', f'"input": {10**12}')
        for number in range(many)
    )
    file.write_text("\n".join((header, prompt, *replies)))
    for _ in range(2):
        listed = json.loads(geminids("list", "--home", home, "--project", "other", "--json").out)["sessions"]
        assert [one["usage"]["input"] for one in listed] == [many * 10**12]


@pytest.mark.parametrize(
    "at", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999Z", "0001-01-01T00:00:00+14:00"]
)
@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Tokyo"])
def test_a_time_that_is_none_hides_no_session(
    geminids: Run, home: Path, monkeypatch: pytest.MonkeyPatch, zone: str, at: str
) -> None:
    file = write_session(home, "badbadba-0", slug="other")
    for minute in ("00:00", "00:01", "05:00"):
        replace_in(file, f"2026-05-01T10:{minute}.000Z", at)
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    outcome = geminids("list", "--home", home)
    assert (outcome.code, len(outcome.out.splitlines())) == (0, 3)
    assert [line.split("\t")[1] for line in outcome.out.splitlines() if "badbadba" in line] == ["-"]
    for arguments in (
        ["show", "badb"],
        ["search", "login"],
        ["export", "badb"],
        ["export", "badb", "-f", "html"],
    ):
        assert geminids(*arguments, "--home", home).code == 0


def test_what_is_hidden_by_the_limit_is_said(geminids: Run, home: Path) -> None:
    assert (
        "Showing 1 of 2 sessions; `geminids list --limit 2" in geminids("list", "--home", home, "-n", "1").err
    )


def test_a_project_that_does_not_exist_gives_the_nearest(geminids: Run, home: Path) -> None:
    outcome = geminids("list", "--home", home, "--project", "shpo")
    assert (outcome.code, outcome.out) == (1, "")
    assert "Did you mean shop?" in outcome.err


def test_a_bad_time_is_named_with_examples(geminids: Run, home: Path) -> None:
    outcome = geminids("list", "--home", home, "--since", "soonish")
    assert outcome.code == 2
    assert "'soonish'. Use 7d" in outcome.err


def test_several_homes_are_one_list(geminids: Run, home: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    write_session(other, "33333333-0000-4000-8000-000000000003", slug="third", day=20)
    outcome = geminids("list", "--home", home, "--home", other)
    assert [line.split("\t")[5] for line in outcome.out.splitlines()] == ["third", "blog", "shop"]


def test_homes_may_come_from_the_environment(
    geminids: Run, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_session(tmp_path / "other", "33333333-0000-4000-8000-000000000003", slug="third", day=20)
    monkeypatch.setenv("GEMINIDS_HOMES", f"{home}:{tmp_path / 'other'}")
    assert len(geminids("list").out.splitlines()) == 3


def test_a_home_reached_by_two_paths_is_listed_once(geminids: Run, home: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(home)
    assert len(geminids("list", "--home", home, "--home", tmp_path / "link").out.splitlines()) == 2


def test_a_session_and_its_backup_are_one_session(geminids: Run, home: Path, tmp_path: Path) -> None:
    write_session(tmp_path / "backup", day=1)
    homes = ("--home", home, "--home", tmp_path / "backup")
    sessions = json.loads(geminids("list", *homes, "--json").out)["sessions"]
    assert [session["native_id"] for session in sessions] == [SECOND_ID, FIRST_ID]
    assert len(sessions[1]["files"]) == 2
    assert sessions[1]["counts"]["prompts"] == 1
    assert geminids("show", FIRST_ID, *homes).code == 0


def test_sessions_of_one_id_in_two_projects_are_two(geminids: Run, home: Path, tmp_path: Path) -> None:
    other = write_session(tmp_path / "backup", slug="other", day=1)
    homes = ("--home", home, "--home", tmp_path / "backup")
    outcome = geminids("list", *homes)
    assert [line.split("\t")[0] for line in outcome.out.splitlines()].count(f"gemini:{FIRST_ID}") == 2
    ambiguous = geminids("show", FIRST_ID, *homes)
    assert ambiguous.code == 2
    assert "give the file" in ambiguous.err
    assert str(other) in ambiguous.err


def test_projects_of_one_name_are_told_apart(geminids: Run, tmp_path: Path) -> None:
    write_session(tmp_path, slug="alpha", project="/home/ada/dev/alpha", day=2)
    write_session(tmp_path, SECOND_ID, slug="alpha-1", project="/home/ada/other/alpha", day=1)
    outcome = geminids("list", "--home", tmp_path)
    assert [line.split("\t")[5] for line in outcome.out.splitlines()] == ["dev/alpha", "other/alpha"]
    chosen = geminids("list", "--home", tmp_path, "--project", "other/alpha").out
    assert [line.split("\t")[5] for line in chosen.splitlines()] == ["alpha"]


@pytest.mark.parametrize("wanted", ["second-folder-beta", "beta", "/tmp/demo/second-folder-beta", "orchard"])
def test_a_session_is_found_by_each_folder_that_it_was_worked_in(geminids: Run, wanted: str) -> None:
    where = ("--home", FIXTURES / "codex" / "second-folder" / "home")
    listed = json.loads(geminids("list", "--project", wanted, "--json", *where).out)["sessions"]
    assert [len(session["directories"]) for session in listed] == [2]
    for command in (("search", f"project:{wanted} where"), ("stats", "--project", wanted, "--csv")):
        assert geminids(*command, *where).code == 0
    exported = geminids("export", "--project", wanted, "-f", "jsonl", *where).out.splitlines()
    assert {json.loads(line)["session_id"] for line in exported} == {listed[0]["id"]}


def test_a_session_of_claude_is_found_by_a_folder_that_it_went_to(geminids: Run, tmp_path: Path) -> None:
    prompts = [user("u", None, "Here?"), user("v", "u", "There?") | {"cwd": "/home/ada/dev/wharf"}]
    write(tmp_path, *prompts)
    write(tmp_path, user("w", None, "Elsewhere?"), name="other.jsonl")
    for wanted, number in (("wharf", 1), ("shop", 2), ("dev/wharf", 1)):
        lines = geminids("list", "--home", tmp_path, "--project", wanted).out.splitlines()
        assert len(lines) == number
    assert "0 sessions" not in geminids("search", "project:wharf There", "--home", tmp_path).err
    nowhere = geminids("list", "--home", tmp_path, "--project", "zebra")
    assert (nowhere.code, "No project matches" in nowhere.err) == (1, True)


def test_what_to_type_looks_where_the_list_did(geminids: Run, home: Path) -> None:
    outcome = geminids("list", "--home", home, "-n", "1", "--since", "2026-01-01")
    assert f"`geminids list --since 2026-01-01 --limit 2 --home {home}` shows all." in outcome.err


def test_none_of_those_that_a_list_would_show_is_what_is_counted(geminids: Run) -> None:
    assert "No match in 8 sessions." in geminids("list", "--sample", "--since", "2030-01-01").err


def test_one_unreadable_home_does_not_hide_another(
    geminids: Run, home: Path, tmp_path: Path, without_privileges: Callable[[], AbstractContextManager[None]]
) -> None:
    closed = tmp_path / "closed"
    write_session(closed, "33333333-0000-4000-8000-000000000003")
    geminids("list", "--home", home)  # loads all code while it can be read
    closed.chmod(0)
    with without_privileges():
        outcome = geminids("list", "--home", closed, "--home", home)
        report = geminids("doctor", "--home", closed, "--home", home)
    closed.chmod(0o755)
    assert (outcome.code, report.code) == (3, 3)
    assert len(outcome.out.splitlines()) == 2
    assert f"Cannot read {closed}/.gemini" in outcome.err


def test_a_damaged_registry_is_no_unreadable_place(geminids: Run, home: Path) -> None:
    (home / ".gemini" / "projects.json").write_text("{")
    outcome = geminids("list", "--home", home)
    assert (outcome.code, outcome.err) == (0, "")
    assert "projects.json" in geminids("doctor", "--home", home).out


def test_a_machine_without_sessions_shows_the_sample_and_says_so(geminids: Run) -> None:
    outcome = geminids("list")
    assert outcome.code == 0
    assert outcome.out
    assert "sample sessions that come with geminids" in outcome.err


def test_programs_never_get_the_sample_unasked(geminids: Run) -> None:
    outcome = geminids("list", "--json")
    assert (outcome.code, json.loads(outcome.out)["sessions"]) == (1, [])
    assert json.loads(geminids("list", "--json", "--sample").out)["sessions"]


def test_a_home_given_by_hand_is_never_replaced_by_the_sample(geminids: Run, tmp_path: Path) -> None:
    outcome = geminids("list", "--home", tmp_path)
    assert (outcome.code, outcome.out) == (1, "")
    assert "No session found" in outcome.err


def test_a_home_that_does_not_exist_is_named(geminids: Run, tmp_path: Path) -> None:
    outcome = geminids("list", "--home", tmp_path / "nowhere")
    assert (outcome.code, outcome.out) == (2, "")
    assert "nowhere" in outcome.err
    assert len(outcome.err.splitlines()) == 1


def test_a_list_prints_even_if_its_numbers_cannot_be_kept(geminids: Run, home: Path, tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file where a folder should be")
    outcome = geminids("list", "--home", home, "--data", tmp_path / "data")
    assert (outcome.code, len(outcome.out.splitlines())) == (0, 2)
    assert "Cannot store the numbers" in outcome.err


def test_hostile_titles_and_projects_are_harmless(geminids: Run, tmp_path: Path) -> None:
    write_session(
        tmp_path,
        prompt="\x1b]0;owned\x07 evil\ttab\nline \u202etxt \x9b31m",
        project="/home/ada/\x1b[2Jshop",
    )
    outcome = geminids("list", "--home", tmp_path)
    assert len(outcome.out.splitlines()) == 1
    assert outcome.out.count("\t") == 6
    assert not set(outcome.out) & {"\x1b", "\x07", "\x9b", "\u202e"}
    assert "\x7f" not in geminids("list", "--home", tmp_path, "--json").out


def test_an_unreadable_folder_is_named_and_the_rest_shown(
    geminids: Run, home: Path, without_privileges: Callable[[], AbstractContextManager[None]]
) -> None:
    geminids("list", "--home", home)  # loads all code while it can be read
    (home / ".gemini" / "tmp" / "blog" / "chats").chmod(0)
    with without_privileges():
        outcome = geminids("list", "--home", home)
    assert outcome.code == 3
    assert [line.split("\t")[5] for line in outcome.out.splitlines()] == ["shop"]
    assert "tmp/blog/chats: " in outcome.err


def dearly(home: Path, native_id: str, tokens: int | None, *, day: int) -> None:
    """A session that used so many tokens; None: its agent wrote down none."""
    path = write_session(home, native_id, day=day)
    written = path.read_text().replace("gemini-3-pro", "gemini-3.8-flash")
    used = f'"input": {tokens}'
    path.write_text(written.replace('"input": 10', used) if tokens else written.replace('"tokens"', '"none"'))


@pytest.fixture
def dear(tmp_path: Path) -> Path:
    """Sessions of which the second used most, and of the last nobody knows."""
    for day, tokens in enumerate((1000, 5000, 3000, None), 1):
        dearly(tmp_path, f"{day}{day}{day}{day}0000-0000-4000-8000-000000000001", tokens, day=day)
    return tmp_path


@pytest.mark.parametrize("order", ["cost", "tokens"])
def test_sessions_are_listed_by_what_they_used(geminids: Run, dear: Path, order: str) -> None:
    def days(*options: object) -> list[str]:
        told = geminids("list", "--home", dear, "--sort", order, "--columns", "id", *options).out
        return [line.removeprefix("gemini:")[0] for line in told.splitlines()]

    assert days() == ["2", "3", "1", "4"]
    assert days("--reverse") == ["4", "1", "3", "2"]
    assert days("-n", "2") == ["2", "3"]
    assert days("-n", "2", "--page", "2") == ["1", "4"]


def test_sessions_are_listed_by_the_time_in_which_somebody_was_at_work(geminids: Run) -> None:
    told = geminids("list", "--sample", "--sort", "time", "--columns", "time").out.split()
    assert told == sorted(told, key=int, reverse=True)


def test_a_list_has_pages(geminids: Run, home: Path) -> None:
    first, second = geminids("list", "--home", home).out.splitlines()
    for page, line in (("1", first), ("2", second)):
        assert geminids("list", "--home", home, "-n", "1", "--page", page).out == f"{line}\n"
    told = geminids("list", "--home", home, "-n", "1", "--page", "2").err
    assert "Showing 2 to 2 of 2 sessions; `geminids list" in told
    none = geminids("list", "--home", home, "-n", "1", "--page", "3")
    assert (none.code, none.out) == (1, "")
    assert none.err == "geminids: There is no page 3; there are 2 pages.\n"
    assert len(geminids("list", "--home", home, "--page", "1").out.splitlines()) == 2


def test_the_model_is_told_though_no_usage_says_which(geminids: Run, dear: Path) -> None:
    assert set(geminids("list", "--home", dear, "--columns", "model").out.split()) == {"gemini-3.8-flash"}


def test_a_subagent_has_a_cost_of_its_own(geminids: Run) -> None:
    home = FIXTURES / "claude" / "subagent" / "home"
    told = json.loads(geminids("list", "--home", home, "--kind", "all", "--json").out)["sessions"]
    costs = {one["kind"]: float(one["cost"]) for one in told}
    assert costs.keys() == {"main", "subagent"}
    assert 0 < costs["subagent"] < costs["main"], "a session counts its subagents"
