"""`geminids forget`: sessions out of index and copies for good, and back if their files are there."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from geminids.library import Library
from geminids.storage.durable.tombstones import bury, lift
from geminids.storage.durable.values import Tombstone
from tests.conftest import Run
from tests.support.documents import check_printed
from tests.support.homes import FIRST_ID
from tests.support.kept_homes import FIRST, SECOND, asked, contents, lose_everything, user_home
from tests.support.terminal import on_terminal


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return user_home(tmp_path, monkeypatch)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


def ids(geminids: Run) -> list[str]:
    return [line.split("\t")[0] for line in geminids("list").out.splitlines()]


def test_a_session_is_forgotten_for_good(geminids: Run, home: Path) -> None:
    before = contents(home)
    outcome = geminids("forget", "1f0c", "--yes")
    assert outcome.code == 0
    assert outcome.out.startswith("Fix the login redirect\n  shop  ")
    file = f"~/.gemini/tmp/shop/chats/session-2026-05-01T10-00-{FIRST_ID[:8]}.jsonl"
    assert f"  kept:\n    {file}\n" in outcome.out
    assert "where geminids deletes nothing" in outcome.out
    assert "1 session forgotten, " in outcome.err
    assert " freed. `geminids forget --list` lists forgotten sessions." in outcome.err
    assert ids(geminids) == [SECOND]
    assert geminids("show", FIRST).code == 1
    assert geminids("search", "login").code == 1
    assert geminids("sync", "--full").code == 0
    assert ids(geminids) == [SECOND]
    assert contents(home) == before
    lose_everything(home)
    assert ids(geminids) == [SECOND]


def test_a_session_whose_files_are_gone_is_gone_altogether(geminids: Run, home: Path) -> None:
    geminids("sync")
    lose_everything(home)
    before = json.loads(geminids("keep", "--json").out)
    outcome = geminids("forget", FIRST, "--yes")
    assert "stays" not in outcome.out
    after = json.loads(geminids("keep", "--json").out)
    assert (after["sessions"], after["forgotten"]) == (1, 1)
    assert after["files"] < before["files"]
    assert "forgotten 1 session:  geminids forget --list\n" in geminids("keep").err
    listed = geminids("list")
    assert (listed.code, listed.err) == (0, "")


def test_words_are_looked_for_as_in_a_search(geminids: Run, home: Path) -> None:
    geminids("list")
    outcome = geminids("forget", "carts", "--yes")
    assert "No session is named 'carts'; the words occur in 1 session." in outcome.err
    assert ids(geminids) == [FIRST]
    outcome = geminids("forget", "nothing", "like", "it", "--yes")
    assert outcome.code == 1
    assert "no message has these words" in outcome.err


def test_a_name_may_be_meant(geminids: Run, home: Path) -> None:
    geminids("mark", FIRST, "--name", "S3 ACL refusal")
    outcome = geminids("forget", "s3 acl refusal", "--yes")
    assert (outcome.code, "No session is named" in outcome.err) == (0, False)
    assert ids(geminids) == [SECOND]


def test_several_are_forgotten_at_once(geminids: Run, home: Path) -> None:
    outcome = geminids("forget", FIRST, SECOND, FIRST, "--yes")
    assert "2 sessions forgotten" in outcome.err
    assert geminids("list").code == 1


def test_nobody_can_be_asked_in_a_pipe(geminids: Run, home: Path) -> None:
    outcome = geminids("forget", FIRST)
    assert outcome.code == 2
    assert "Nothing was forgotten: there is no terminal to ask. --yes does it without asking." in outcome.err
    assert len(ids(geminids)) == 2


@pytest.mark.slow
@pytest.mark.parametrize(("answer", "is_done"), [("y", True), ("n", False), ("", False)])
def test_on_a_terminal_one_is_asked(geminids: Run, home: Path, answer: str, is_done: bool) -> None:
    shown, code = asked("forget", "1f0c", answer=answer)
    assert "Forget it permanently? [y/N]" in shown
    assert code == (0 if is_done else 130)
    assert (ids(geminids) == [SECOND]) is is_done


def test_what_is_forgotten_can_be_listed_and_recalled(geminids: Run, home: Path) -> None:
    assert geminids("forget", "--list").code == 1
    geminids("forget", FIRST, "--yes")
    outcome = geminids("forget", "--list")
    assert (outcome.code, outcome.out) == (0, f"{FIRST}\t2026-06-15 12:00\tpermanently\n")
    found = check_printed(geminids("forget", "--list", "--json").out, "geminids/forgotten/1")
    assert [session["id"] for session in found["sessions"]] == [FIRST]
    outcome = geminids("forget", "--undo", "1f0c")
    assert outcome.code == 0
    assert (
        "1 session no longer forgotten; listed again if its files are there: `geminids list`." in outcome.err
    )
    assert ids(geminids) == [SECOND, FIRST]
    assert geminids("forget", "--undo", "1f0c").code == 1


def test_one_that_was_killed_while_it_came_back_is_listed(geminids: Run, home: Path, data: Path) -> None:
    geminids("forget", FIRST, "--yes")
    lift(data, [FIRST])
    assert ids(geminids) == [SECOND, FIRST]
    assert geminids("forget", "--list").code == 1


@pytest.mark.parametrize("step", ["noted", "copies gone", "indexes gone"])
def test_what_was_being_forgotten_when_somebody_was_killed_is_forgotten(
    geminids: Run, home: Path, data: Path, step: str
) -> None:
    geminids("sync")
    with Library(data=data) as library:
        (going,) = library.kept.forgetting(library.found_sessions("login"))
        forgetting = library.kept._forgetting
        stones = [Tombstone(FIRST, "2026-06-15T12:00:00+00:00", False, {}, FIRST, going.going)]
        bury(data, stones)
        if step != "noted":
            forgetting._remove_copies(going.going)
        if step == "indexes gone":
            forgetting._drop_other_indexes(data)
    assert ids(geminids) == [SECOND]
    assert FIRST in geminids("forget", "--list").out
    assert geminids("search", "login").code == 1
    lose_everything(home)
    assert ids(geminids) == [SECOND]
    with Library(data=data) as library:
        assert not set(going.going) & library.kept._versions.archive().newest().keys()
    assert b"login redirect" not in b"".join(file.read_bytes() for file in (data / "index").glob("*.db*"))


def test_it_may_come_back_when_it_changes(geminids: Run, home: Path) -> None:
    outcome = geminids("forget", FIRST, "--until-changed", "--yes")
    assert "1 session forgotten until its files change" in outcome.err
    assert geminids("forget", "--list").out.endswith("\tuntil changed\n")
    assert ids(geminids) == [SECOND]
    file = next((home / ".gemini" / "tmp" / "shop" / "chats").iterdir())
    with file.open("a") as opened:
        opened.write(json.dumps({"$set": {"lastUpdated": "2026-05-02T10:00:00.000Z"}}) + "\n")
    assert set(ids(geminids)) == {FIRST, SECOND}
    assert geminids("forget", "--list").code == 1


def test_marks_go_with_the_session(geminids: Run, home: Path) -> None:
    geminids("mark", FIRST, "--tag", "keep", "--name", "The login bug")
    geminids("forget", FIRST, "--yes")
    assert geminids("mark").code == 1


def test_programs_hear_what_was_forgotten(geminids: Run, home: Path) -> None:
    done = check_printed(geminids("forget", FIRST, "--yes", "--json").out, "geminids/forget/1")
    assert [one["session"]["id"] for one in done["sessions"]] == [FIRST]
    assert done["sessions"][0]["remaining"]
    assert done["until_changed"] is False
    undone = check_printed(geminids("forget", "--undo", FIRST, "--json").out, "geminids/forgotten/1")
    assert undone["sessions"] == []


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ([], 2, "Which sessions?"),
        (["--undo"], 2, "Which sessions?"),
        (["--list", FIRST], 2, "--list cannot be combined with other arguments"),
        (["--list", "--undo"], 2, "--list cannot be combined with other arguments"),
        (["--undo", FIRST, "--yes"], 2, "--undo only takes ids"),
        (["--undo", FIRST], 1, "is not forgotten"),
        (["latest", "--sample", "--yes"], 2, "Cannot forget the sample sessions"),
        (["77", "--yes"], 1, "list"),
        ([" ", "--yes"], 2, "it is empty"),
    ],
)
def test_what_cannot_be_meant_is_said(
    geminids: Run, home: Path, arguments: list[str], code: int, said: str
) -> None:
    outcome = geminids("forget", *arguments)
    assert (outcome.code, outcome.out) == (code, "")
    assert said in outcome.err
    assert len(ids(geminids)) == 2


def test_a_file_given_by_hand_is_not_forgotten(geminids: Run, home: Path, tmp_path: Path) -> None:
    file = next(home.rglob("session-*.jsonl"))
    (tmp_path / "copy.jsonl").write_bytes(file.read_bytes())
    outcome = geminids("forget", tmp_path / "copy.jsonl", "--yes")
    assert outcome.code == 1
    assert "a single file" in outcome.err
    assert len(ids(geminids)) == 2


@pytest.mark.slow
def test_on_a_terminal_what_is_forgotten_stands_in_a_table(geminids: Run, home: Path) -> None:
    geminids("forget", FIRST, "--yes")
    geminids("forget", SECOND, "--until-changed", "--yes")
    shown = on_terminal("forget", "--list", NO_COLOR="1")
    assert re.search(r"^session +forgotten *$", shown, re.MULTILINE)
    assert re.search(rf"^{FIRST} +2026-06-15 12:00 +permanently *$", shown, re.MULTILINE)
    assert re.search(rf"^{SECOND} +2026-06-15 12:00 +until changed *$", shown, re.MULTILINE)
    assert max(map(len, shown.splitlines())) <= 80


def test_a_query_of_filters_alone_is_no_name_that_was_not_found(geminids: Run, home: Path) -> None:
    outcome = geminids("forget", "project:shop", "--yes")
    assert "1 session for 'project:shop'." in outcome.err
    assert "is named" not in outcome.err
    assert ids(geminids) == [SECOND]
