"""Tables that are written: they say what `list` says, and only what changed is written anew."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

from geminids.core.errors import AgentFolderError
from geminids.core.locks import locked
from geminids.core.model import SessionSummary
from geminids.core.workers import Workers
from geminids.library import Library
from geminids.query.sessions import by_month
from geminids.query.sessions.listing import Filter
from geminids.scale.places.errors import BusyPlaceError, NameTakenError, PlaceError
from geminids.scale.schema import TABLES, TOKENS, VERSION
from geminids.scale.tables import run
from geminids.scale.tables.manifest import file_name, part_of
from geminids.scale.tables.part import Manner
from geminids.scale.tables.run import TablesWriter
from tests.conftest import FIXTURES, ROOT, Rights, Run
from tests.support.homes import FIRST_ID, tool_call, write_session
from tests.support.large_homes import write_large_home
from tests.support.redacting import redactor
from tests.support.tables import Row, files, strings, table, tables, write_tables

pytestmark = pytest.mark.usefixtures("without_copies")

SECOND_ID = "2e2e2e2e-0000-4000-8000-000000000002"
EVERY = sorted(FIXTURES.glob("*/*/home"))
OFTEN = [home for home in EVERY if home.parent.name in {"subagents", "branches", "log-damaged", "no-header"}]
OTHERS = [home for home in EVERY if home not in OFTEN]


def manifest_of(out: Path) -> Path:
    """The manifest of the one machine that wrote tables."""
    (manifest,) = (out / "_geminids").glob("*.json")
    return manifest


def named(home: Path) -> str:
    return f"{home.parent.parent.name}-{home.parent.name}"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home of two sessions, of two months."""
    home = tmp_path / "home"
    write_session(home)
    later = write_session(home, SECOND_ID, slug="blog", prompt="Write about carts")
    later.write_text(later.read_text().replace("2026-05-", "2026-06-"))
    return home


FACTS = ("id", "kind", "title", "status", "started_at", "ended_at", "models")
COUNTS = ("prompts", "replies", "tool_calls", "tool_errors", "dropped")


def as_listed(one: SessionSummary) -> Row:
    """What a list says of a session, in the words of the tables."""
    facts = {name: getattr(one, name) for name in FACTS} | {"models": list(one.models)}
    counts = {name: getattr(one.counts, name) for name in COUNTS}
    tokens = {column.name: getattr(one.usage, column.name) for column in TOKENS}
    return facts | counts | {"requests": one.usage.requests} | tokens


def by_id(row: Row) -> str:
    return f"{row['id']} {row['started_at']} {row['title']}"


def shared(found: dict[str, list[Row]]) -> set[str]:
    """The sessions that have a message with others: a list counts these in one of them."""
    holders: defaultdict[str, set[str]] = defaultdict(set)
    for row in found["messages"]:
        for name in (row["id"], row["request_id"] or row["id"]):
            holders[name].add(row["session_key"])
    return set().union(*(keys for keys in holders.values() if len(keys) > 1))


def check_as_listed(home: Path, tmp_path: Path) -> None:
    write_tables(home, tmp_path / "data", tmp_path / "out")
    with Library([home], tmp_path / "data") as library:
        wanted = sorted(map(as_listed, library.sessions(Filter(kinds=None))), key=by_id)
    found = tables(tmp_path / "out")
    rows = sorted(found["sessions"], key=by_id)
    told = [{name: row[name] for name in FACTS} for row in rows]
    assert told == [{name: row[name] for name in FACTS} for row in wanted]
    counted_elsewhere = shared(found)
    for row, listed in zip(rows, wanted, strict=True):
        if row["key"] not in counted_elsewhere:
            assert {name: row[name] for name in listed} == listed
    check_adds_up(found)


def check_adds_up(found: dict[str, list[Row]]) -> None:
    """Rows of one table are those that the others tell of."""
    by_key = {row["key"]: row for row in found["sessions"]}
    assert len(by_key) == len(found["sessions"])
    for name in ("messages", "requests", "calls", "changes"):
        assert {row["session_key"] for row in found[name]} <= by_key.keys()
    for kind in ("input", "output", "total"):
        spent = sum(row[kind] or 0 for row in found["requests"] if not row["imported"])
        assert spent == sum(row[kind] or 0 for row in found["sessions"])
    calls = [row for row in found["calls"] if not row["imported"]]
    assert len(calls) == sum(row["tool_calls"] for row in found["sessions"])


@pytest.mark.parametrize("home", OFTEN, ids=named)
def test_tables_say_what_a_list_says(home: Path, tmp_path: Path) -> None:
    check_as_listed(home, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("home", OTHERS, ids=named)
def test_tables_say_what_a_list_says_in_every_case(home: Path, tmp_path: Path) -> None:
    check_as_listed(home, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("agent", ["gemini", "claude", "codex"])
def test_tables_of_a_generated_home_say_what_a_list_says(agent: str, tmp_path: Path) -> None:
    wanted = ["--agent", agent, "--sessions", "40", "--seed", "11", "--out", str(tmp_path / "home")]
    line = [sys.executable, "-m", "generator", *wanted]
    subprocess.run(line, cwd=ROOT / "benchmarks", check=True, capture_output=True, timeout=300)
    check_as_listed(tmp_path / "home", tmp_path)


@pytest.mark.parametrize("share", [0.3, 0.9])
def test_a_file_that_is_cut_off_gives_what_is_left_and_a_problem(share: float, tmp_path: Path) -> None:
    home = tmp_path / "home"
    for case in ("gemini/log-lines", "claude/branches", "codex/subagents"):
        shutil.copytree(FIXTURES / case / "home", home, dirs_exist_ok=True)
    for path in home.rglob("*.jsonl"):
        content = path.read_bytes()
        path.write_bytes(content[: int(len(content) * share)])
    check_as_listed(home, tmp_path)
    assert table(tmp_path / "out", "problems")


def test_what_nobody_means_to_write_is_written(tmp_path: Path) -> None:
    calls = [tool_call(args={"command": "x\udc80", "n": 10**40})]
    path = write_session(tmp_path / "home", prompt="half \ud83d, \x00, \x1b[31m", calls=calls)
    path.write_text(path.read_text().replace('"input": 10,', f'"input": {10**30},'))
    write_tables(tmp_path / "home", tmp_path / "data", tmp_path / "out")
    (call,) = table(tmp_path / "out", "calls")
    assert f'"n":{10**40}' in call["arguments"]
    (request,) = table(tmp_path / "out", "requests")
    assert (request["input"], request["output"]) == (None, 2)
    said = next(row["text"] for row in table(tmp_path / "out", "messages") if row["role"] == "user")
    assert said.startswith("half ")
    said.encode()


def test_columns_are_those_of_the_schema(home: Path, tmp_path: Path) -> None:
    write_tables(home, tmp_path / "data", tmp_path / "out")
    for name in ("sessions", "messages", "requests"):
        assert set(table(tmp_path / "out", name)[0]) == set(TABLES[name].names)


def test_a_second_run_writes_nothing(home: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = write_tables(home, tmp_path / "data", out)
    before = files(out)
    again = write_tables(home, tmp_path / "data", out)
    assert (first.parts, first.written, first.rows["messages"]) == (2, 2, 4)
    assert (again.parts, again.written, again.removed, again.rows) == (2, 0, 0, first.rows)
    assert files(out) == before


def test_only_what_changed_is_written_anew(home: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    write_tables(home, tmp_path / "data", out)
    before = files(out)
    write_session(home, prompt="Fix the logout redirect")
    again = write_tables(home, tmp_path / "data", out)
    changed = {name for name, at in files(out).items() if before.get(name) != at}
    assert again.written == 1
    assert changed == {name for name in before if "month=2026-05" in name}
    assert "Fix the logout redirect" in {row["title"] for row in table(out, "sessions")}


def test_everything_is_written_again_where_that_is_wished(home: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    write_tables(home, tmp_path / "data", out)
    before = tables(out)
    assert write_tables(home, tmp_path / "data", out, anew=True).written == 2
    assert tables(out) == before


def test_what_is_gone_goes_with_its_folders(home: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    write_tables(home, tmp_path / "data", out)
    shutil.rmtree(home / ".gemini" / "tmp" / "blog")
    gone = write_tables(home, tmp_path / "data", out)
    assert (gone.removed, gone.rows["sessions"]) == (1, 1)
    assert [path.name for path in sorted((out / "sessions" / "agent=gemini").iterdir())] == ["month=2026-05"]


def test_a_closed_folder_is_no_reason_to_remove_anything(
    home: Path, tmp_path: Path, without_privileges: Rights
) -> None:
    out, closed = tmp_path / "out", home / ".gemini" / "tmp" / "blog"
    for folder in (out, tmp_path / "data"):
        folder.mkdir()
    shutil.chown(out, 65534)
    shutil.chown(tmp_path / "data", 65534)
    with without_privileges():
        write_tables(home, tmp_path / "data", out)
    closed.chmod(0)
    try:
        with without_privileges():
            kept = write_tables(home, tmp_path / "data", out)
    finally:
        closed.chmod(0o700)
    assert kept.removed == 0
    assert {row["title"] for row in table(out, "sessions")} == {"Fix the login redirect", "Write about carts"}


def test_without_text_no_word_is_written(home: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    write_tables(home, tmp_path / "data", out)
    numbers = write_tables(home, tmp_path / "data", out, words=False)
    assert numbers.written == 2, "what was written with words is written anew"
    for name, whole in TABLES.items():
        for row in table(out, name):
            assert set(row) == {column.name for column in whole.columns if not column.is_words}
    assert "redirect" not in "".join(map(repr, tables(out).values()))


def test_machines_write_into_one_place_without_seeing_each_other(home: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    write_tables(home, tmp_path / "data", out)
    mine = files(out)
    write_tables(home, tmp_path / "other", out, "desktop")
    both = files(out)
    assert {name: at for name, at in both.items() if name in mine} == mine
    rows = table(out, "sessions")
    assert sorted(row["machine"] for row in rows) == ["desktop", "desktop", "laptop", "laptop"]
    assert len({row["key"] for row in rows}) == 4
    assert len({row["id"] for row in rows}) == 2
    shutil.rmtree(home / ".gemini" / "tmp" / "blog")
    write_tables(home, tmp_path / "other", out, "desktop")
    assert {name: at for name, at in files(out).items() if name in mine} == mine


def test_files_of_others_are_not_looked_at(home: Path, tmp_path: Path, without_privileges: Rights) -> None:
    out, data = tmp_path / "out", tmp_path / "data"
    for folder in (out, data, out / "sessions", out / "lost+found"):
        folder.mkdir()
        shutil.chown(folder, 65534)
    others = [out / "README", out / "sessions" / ".DS_Store", out / "notes.parquet"]
    for file in others:
        file.write_text("not ours")
    (out / "lost+found").chmod(0)
    with without_privileges():
        assert write_tables(home, data, out).written == 2
        assert write_tables(home, data, out).written == 0
    assert {file.read_text() for file in others} == {"not ours"}
    assert json.loads(manifest_of(out).read_bytes())["finished"]


def test_other_homes_do_not_replace_tables(home: Path, tmp_path: Path) -> None:
    write_tables(home, tmp_path / "data", tmp_path / "out")
    before = files(tmp_path / "out")
    other = tmp_path / "other"
    write_session(other, SECOND_ID)
    with pytest.raises(NameTakenError, match="--machine"):
        write_tables(other, tmp_path / "data", tmp_path / "out")
    assert files(tmp_path / "out") == before


@pytest.mark.parametrize("manifest", [None, b"", b"{torn", b'{"machine": 3}', b'{"schema": 0}'])
def test_a_manifest_that_tells_nothing_only_costs_time(
    home: Path, tmp_path: Path, manifest: bytes | None
) -> None:
    out = tmp_path / "out"
    write_tables(home, tmp_path / "data", out)
    before = tables(out)
    if manifest is None:
        manifest_of(out).unlink()
    else:
        manifest_of(out).write_bytes(manifest)
    assert write_tables(home, tmp_path / "data", out).written == 2
    assert tables(out) == before
    assert write_tables(home, tmp_path / "data", out).written == 0


@pytest.mark.parametrize(("part", "kind"), [("gemini", "calls"), ("a/b/c/d", "calls"), ("a/b", "../private")])
def test_nothing_is_removed_that_a_manifest_alone_calls_a_table(
    home: Path, tmp_path: Path, part: str, kind: str
) -> None:
    out = tmp_path / "out"
    write_tables(home, tmp_path / "data", out)
    private = tmp_path / "private" / "agent=a" / "month=b" / f"{manifest_of(out).stem}.parquet"
    private.parent.mkdir(parents=True)
    private.write_text("not ours")
    manifest = json.loads(manifest_of(out).read_bytes())
    manifest["parts"][part] = {"digest": "", "hiding": "", "rows": {kind: 1}}
    manifest_of(out).write_text(json.dumps(manifest))
    assert write_tables(home, tmp_path / "data", out).written == 2
    assert private.read_text() == "not ours"


def test_tables_of_an_older_schema_are_written_anew(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "FORMER", ("turns",))
    out = tmp_path / "out"
    write_tables(home, tmp_path / "data", out)
    before = tables(out)
    manifest = json.loads(manifest_of(out).read_bytes())
    manifest_of(out).write_text(json.dumps(manifest | {"schema": VERSION - 1}))
    # A table that is no more.
    old = out / "turns" / "agent=gemini" / "month=2026-05" / f"{manifest_of(out).stem}.parquet"
    old.parent.mkdir(parents=True)
    old.write_bytes(b"PAR1")
    assert write_tables(home, tmp_path / "data", out).written == 2
    assert tables(out) == before
    assert not (out / "turns").exists()


def test_tables_of_a_newer_schema_are_refused(home: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    write_tables(home, tmp_path / "data", out)
    before = files(out)
    manifest_of(out).write_text(json.dumps({"schema": VERSION + 1, "anything": "else"}))
    with pytest.raises(
        PlaceError, match=rf"version {VERSION + 1}; this one knows {VERSION}\); update geminids"
    ):
        write_tables(home, tmp_path / "data", out)
    assert files(out) == before


def test_what_cannot_be_read_now_stays_as_it_was_written(home: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = write_tables(home, tmp_path / "data", out)
    before = tables(out)
    _lose_after_sync(home, tmp_path / "data")
    with Library([home], tmp_path / "data", sync=False) as library:
        writer = TablesWriter(library, Manner(str(out), "laptop"))
        again = writer.bring_up_to_date(anew=True, jobs=1)
    assert len(again.unreadable) == 1
    assert again.rows == first.rows
    assert tables(out) == before


@pytest.mark.parametrize("content", [b"", b"PAR1 and no more", None], ids=["empty", "no Parquet", "cut"])
def test_where_what_was_written_is_damaged_too_the_rest_is_written_anew(
    home: Path, tmp_path: Path, content: bytes | None
) -> None:
    out = tmp_path / "out"
    write_tables(home, tmp_path / "data", out)
    for path in out.glob("*/*/*/*.parquet"):
        path.write_bytes(path.read_bytes()[:-9] if content is None else content)
    _lose_after_sync(home, tmp_path / "data")
    with Library([home], tmp_path / "data", sync=False) as library:
        writer = TablesWriter(library, Manner(str(out), "laptop"))
        again = writer.bring_up_to_date(anew=True, jobs=1)
    assert len(again.unreadable) == 1
    assert [row["title"] for row in table(out, "sessions")] == ["Fix the login redirect"]


def test_nothing_tells_of_a_forgotten_session_with_something_wrong(
    home: Path, tmp_path: Path, geminids: Run
) -> None:
    out = tmp_path / "out"
    for path in home.glob(".gemini/tmp/*/chats/*.jsonl"):
        path.write_bytes(path.read_bytes() + b"{torn\n")
    write_tables(home, tmp_path / "data", out)
    assert len(table(out, "problems")) == 2
    assert geminids("--home", home, "--data", tmp_path / "data", "forget", FIRST_ID, "--yes").code == 0
    write_tables(home, tmp_path / "data", out)
    assert len(table(out, "problems")) == 1
    assert FIRST_ID.partition("-")[0] not in "".join(strings(out))


def test_rows_that_were_written_raw_never_stay_where_secrets_are_hidden(home: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    write_tables(home, tmp_path / "data", out)
    _lose_after_sync(home, tmp_path / "data")
    with Library([home], tmp_path / "data", sync=False) as library:
        writer = TablesWriter(library, Manner(str(out), "laptop", redactor=redactor("reduced")))
        again = writer.bring_up_to_date(jobs=1)
    assert len(again.unreadable) == 1
    assert [row["title"] for row in table(out, "sessions")] == ["Fix the login redirect"]


def _lose_after_sync(home: Path, data: Path) -> None:
    with Library([home], data) as library:
        library.sync()
    shutil.rmtree(home / ".gemini" / "tmp" / "blog")


def test_nothing_is_written_into_the_folder_of_an_agent(home: Path, tmp_path: Path) -> None:
    with pytest.raises(AgentFolderError):
        write_tables(home, tmp_path / "data", home / ".gemini" / "tables")
    link = tmp_path / "link"
    link.symlink_to(home / ".gemini")
    with pytest.raises(AgentFolderError):
        write_tables(home, tmp_path / "data", link / "tables")


@pytest.mark.parametrize("name", ["", "a b", "über", "../up", "x" * 65, "a~b", "a/b", ".a", "_a"])
def test_a_machine_has_a_name_that_fits_into_that_of_a_file(home: Path, tmp_path: Path, name: str) -> None:
    with pytest.raises(PlaceError, match="a machine is named with 1 to 64 letters"):
        write_tables(home, tmp_path / "data", tmp_path / "out", name)
    assert not (tmp_path / "out").exists()


def test_a_file_is_no_folder_for_tables(home: Path, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine")
    with pytest.raises(PlaceError, match="it is not a folder"):
        write_tables(home, tmp_path / "data", tmp_path / "out")
    assert (tmp_path / "out").read_text() == "mine"


def test_one_process_writes_at_a_time(home: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "link").symlink_to(tmp_path)
    with Library([home], tmp_path / "data") as library:
        writer = TablesWriter(library, Manner(str(tmp_path / "out"), "laptop"))
        with writer._alone(0.0):
            for out in ("out", "out/", "link/out"):
                with pytest.raises(BusyPlaceError):
                    write_tables(home, tmp_path / "data", f"{tmp_path}/{out}")
            assert write_tables(home, tmp_path / "data", tmp_path / "elsewhere").written == 2


@pytest.mark.slow
def test_a_process_that_still_writes_holds_the_lock_of_who_is_gone(tmp_path: Path) -> None:
    with (tmp_path / "lock").open("ab") as other:
        with (tmp_path / "lock").open("ab") as lock:
            assert locked(lock.fileno())
            workers = Workers(1, "time:sleep", (lock.fileno(),))
            workers.__enter__()
        try:
            # As if we had been killed: our own hold is gone, what we started is still there.
            assert not locked(other.fileno())
        finally:
            workers.__exit__(None, None, None)
        assert locked(other.fileno())


def test_much_of_a_month_is_several_parts_and_what_grows_changes_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(by_month, "USUAL_PART", 8)
    home, out = tmp_path / "home", tmp_path / "out"
    write_large_home(home, range(60), turns=4)
    first = write_tables(home, tmp_path / "data", out)
    assert 3 < first.parts < 20
    assert first.rows["sessions"] == 60
    before, names = tables(out), files(out)
    write_large_home(home, range(30, 31), turns=6)
    assert write_tables(home, tmp_path / "data", out).written == 1
    assert len([name for name, at in files(out).items() if names.get(name) != at]) == 2, "sessions, messages"
    write_large_home(home, range(60, 64), turns=4)
    assert write_tables(home, tmp_path / "data", out).written <= 5
    assert len(table(out, "sessions")) == 64
    assert len(table(out, "messages")) == len(before["messages"]) + 2 + 4 * 4


def test_a_month_of_a_few_sessions_is_one_part_whatever_they_are_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(by_month, "USUAL_PART", 12)
    home, data, out = tmp_path / "home", tmp_path / "data", tmp_path / "out"
    write_large_home(home, range(12), turns=2)
    assert write_tables(home, data, out).parts == 1
    write_large_home(home, range(12, 13), turns=2)
    assert write_tables(home, data, out).parts > 1, "some of these names are such that a part may begin there"


def test_large_sessions_are_parts_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(by_month, "LARGEST_PART", 1)
    home = tmp_path / "home"
    write_large_home(home, range(5), turns=4)
    assert write_tables(home, tmp_path / "data", tmp_path / "out").parts == 5
    assert len(table(tmp_path / "out", "sessions")) == 5


def test_who_writes_makes_no_difference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(by_month, "USUAL_PART", 8)
    home = tmp_path / "home"
    write_large_home(home, range(20), turns=4)
    write_tables(home, tmp_path / "data", tmp_path / "one", jobs=1)
    write_tables(home, tmp_path / "data", tmp_path / "two", jobs=2)
    assert tables(tmp_path / "one") == tables(tmp_path / "two")
    one, two = files(tmp_path / "one"), files(tmp_path / "two")
    assert one.keys() == two.keys()
    assert all(
        (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes() for name in one
    )


def test_progress_counts_sessions(home: Path, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    write_tables(home, tmp_path / "data", tmp_path / "out", progress=lambda *of: told.append(of))
    assert told == [(1, 2), (2, 2)]


@pytest.mark.parametrize("part", ["gemini/2026-05", "toy/unknown", "gemini/2026-05/0a1b2c3d4e5f"])
def test_the_name_of_a_file_tells_its_part(part: str) -> None:
    name = file_name("calls", part, "lap.top_1-x")
    assert part_of(name, "lap.top_1-x") == ("calls", part)
    assert part_of(name, "lap") is None
    assert part_of(f"{name}.crc", "lap.top_1-x") is None
    assert part_of("lap.top_1-x.parquet", "lap.top_1-x") is None


def test_nothing_of_a_session_stands_in_the_manifest(home: Path, tmp_path: Path) -> None:
    write_tables(home, tmp_path / "data", tmp_path / "out")
    written = manifest_of(tmp_path / "out").read_text()
    assert "redirect" not in written
    assert FIRST_ID not in written
    assert str(tmp_path) not in written
