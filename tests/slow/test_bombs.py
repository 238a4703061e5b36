"""Session files that cost far more than they should: read in bounded memory, every byte accounted for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from time import process_time
from typing import Any

import msgspec
import pytest

from geminids.core import agents
from geminids.core.agents.base import Bundle, Reading
from geminids.core.disk import Disk
from geminids.core.model import FileAccount, ProblemKind
from geminids.core.settings import BadSettingsError, read_settings
from tests.support.bombs import (
    AGENTS,
    FIRST,
    LAST,
    SMALL,
    hole,
    spend,
    write_home,
    write_plain,
    write_session,
)

_LARGEST = 6_000_000
_NEVER_ENDING = ("codex-packed-zeros", "codex-packed-repeats")
"""Archives of which the end is not unpacked."""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with all of them."""
    return tmp_path_factory.mktemp("bombs")


@pytest.fixture(scope="module")
def bombs(home: Path) -> dict[str, Path]:
    """Where each of them lies."""
    return write_home(home, SMALL)


@pytest.fixture(scope="module")
def bundles(home: Path, bombs: dict[str, Path]) -> dict[str, Bundle]:
    """The bundle that each of them lies in."""
    loaded = [agents.load(name) for name in AGENTS]
    scans = [source.scan(found) for source in loaded for found in source.homes_below(str(home))]
    by_path = {file.path: bundle for scan in scans for bundle in scan.bundles for file in bundle.files}
    return {name: by_path[path] for name, path in bombs.items()}


def _read(bundle: Bundle, largest: int) -> Reading:
    return agents.load(bundle.agent).read(msgspec.structs.replace(bundle, disk=Disk(lambda: largest)))


def _bytes_told(account: FileAccount) -> int:
    kinds = (account.used, account.ignored, account.problem)
    return sum(tally.bytes for tallies in kinds for tally in tallies.values())


def test_of_every_bomb_the_beginning_and_the_end_are_read(
    bundles: dict[str, Bundle], bombs: dict[str, Path]
) -> None:
    for name, path in bombs.items():
        reading = _read(bundles[name], _LARGEST)
        (account,) = (account for account in reading.accounts if account.path == str(path))
        assert _bytes_told(account) == account.size, name
        if name not in _NEVER_ENDING:
            assert account.size == path.stat().st_size, name
        (session,) = reading.sessions
        assert session.title == f"{FIRST} {name}"
        last = str(session.messages[-1].parts)
        assert (f"{LAST} {name}" in last) is (name not in _NEVER_ENDING), name
        assert reading.problems, name
        assert len(reading.problems) < 10_000, name


@pytest.mark.parametrize(
    ("name", "kind", "said"),
    [
        ("gemini-hole", ProblemKind.BAD_JSON, "nothing was ever written here"),
        ("claude-nul", ProblemKind.LEFT_UNREAD, "`largest-file` under [read]"),
        ("codex-letter", ProblemKind.LEFT_UNREAD, "more than is read of one file"),
        ("gemini-lines", ProblemKind.LEFT_UNREAD, "more lines and values than is read of one file"),
        ("claude-values", ProblemKind.LEFT_UNREAD, "more lines and values than is read of one file"),
        ("codex-packed-zeros", ProblemKind.LEFT_UNREAD, "unpacks to more than 24,000,000 bytes"),
        ("gemini-deep", ProblemKind.BAD_JSON, "nested too deeply"),
    ],
)
def test_what_is_left_out_is_told_with_its_place(
    bundles: dict[str, Bundle], name: str, kind: ProblemKind, said: str
) -> None:
    reading = _read(bundles[name], _LARGEST)
    problem = next(one for one in reading.problems if one.kind is kind and said in one.detail)
    assert problem.start is not None
    assert problem.end is not None
    assert problem.end - problem.start > 10_000


def test_an_archive_that_holds_a_thousand_times_its_size_is_told_as_such(
    bundles: dict[str, Bundle],
) -> None:
    reading = _read(bundles["codex-packed-zeros"], 500_000_000)
    assert [one.detail for one in reading.problems if "more than 1,000 times its own size" in one.detail]
    assert reading.sessions[0].title == f"{FIRST} codex-packed-zeros"


def test_a_list_of_a_home_full_of_them_takes_little(
    home: Path, bombs: dict[str, Path], tmp_path: Path
) -> None:
    spent = spend(["list", "-n", "50"], tmp_path / "data", home)
    assert spent.code == 0
    assert spent.megabytes < 400
    missing = [name for name in bombs if f"{FIRST} {name}" not in spent.said]
    assert not missing


def test_a_large_file_that_is_gone_is_read_from_its_copy_in_little_memory(tmp_path: Path) -> None:
    path = write_session(tmp_path / "home", "gone", hole(300_000_000))
    spend(["sync"], tmp_path / "data", tmp_path / "home")
    path.unlink()
    (path.parent / "session-2026-05-01T10-00-00000002.jsonl").touch()
    spent = spend(["sync", "--full"], tmp_path / "data", tmp_path / "home")
    assert spent.code == 0
    assert spent.megabytes < 250
    assert f"{FIRST} gone" in spend(["list"], tmp_path / "data", tmp_path / "home").said
    assert f"{LAST} gone" in spend(["show", "latest"], tmp_path / "data", tmp_path / "home").said
    found = spend(["search", "last answer"], tmp_path / "data", tmp_path / "home")
    assert f"{LAST} gone" in found.said
    assert found.megabytes < 250


def test_how_much_is_read_of_a_file_can_be_settled(tmp_path: Path) -> None:
    write_plain(tmp_path / "home", 12_000_000)
    data = tmp_path / "data"
    data.mkdir()
    (data / "settings.toml").write_text("[read]\nlargest-file = 6_000_000\n")
    assert "left-unread" in spend(["doctor", "--json"], data, tmp_path / "home").said
    (data / "settings.toml").write_text("[read]\nlargest-file = 20_000_000\n")
    assert "left-unread" not in spend(["doctor", "--json"], data, tmp_path / "home").said


@pytest.mark.parametrize("value", ["0", "-1", "true", '"2 GB"'])
def test_a_limit_that_is_no_number_of_bytes_is_refused(tmp_path: Path, value: str) -> None:
    (tmp_path / "settings.toml").write_text(f"[read]\nlargest-file = {value}\n")
    with pytest.raises(BadSettingsError, match="must be a whole number"):
        read_settings(str(tmp_path), {})


Record = dict[str, Any]
_AT = "2026-05-01T10:00:00.000Z"
_MANY = 12_000


def _gemini(records: Iterable[Record]) -> Iterator[Record]:
    yield {"sessionId": "s", "projectHash": "0" * 64, "startTime": _AT, "lastUpdated": _AT}
    yield from ({"timestamp": _AT, "type": "gemini", "content": "x"} | record for record in records)


def _codex(payloads: Iterable[Record]) -> Iterator[Record]:
    yield {"timestamp": _AT, "type": "session_meta", "payload": {"id": "t", "timestamp": _AT, "cwd": "/x"}}
    for payload in payloads:
        yield {"timestamp": _AT, "type": payload.get("of", "response_item"), "payload": payload}


def _claude(number: int, parent: int | None) -> Record:
    above = None if parent is None else f"u{parent}"
    message = {"role": "user", "content": f"x{number}"}
    return {"type": "user", "uuid": f"u{number}", "parentUuid": above, "timestamp": _AT, "message": message}


def _said(number: int) -> Record:
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": f"x{number}"}]}


def _call(number: int) -> Record:
    return {"id": "m0", "toolCalls": [{"id": f"c{number}", "name": "t", "args": {}}]}


_SUMMED_UP = {"of": "compacted", "message": "s"}
_ROLLED_BACK = {"of": "event_msg", "type": "thread_rolled_back", "num_turns": 1}
SHAPES: dict[str, Callable[[], Iterable[Record]]] = {
    "gemini versions": lambda: _gemini(_call(number) for number in range(_MANY)),
    "gemini rewinds": lambda: _gemini(
        [*({"id": f"m{at}"} for at in range(_MANY)), *({"$rewindTo": f"m{at}"} for at in range(_MANY, 0, -1))]
    ),
    "claude written backwards": lambda: (_claude(at, at - 1 if at else None) for at in range(_MANY, -1, -1)),
    "claude branches": lambda: (_claude(at, 0 if at else None) for at in range(_MANY)),
    "codex compactions": lambda: _codex(x for at in range(_MANY) for x in (_said(at), _SUMMED_UP)),
    "codex rollbacks": lambda: _codex([*map(_said, range(_MANY)), *[_ROLLED_BACK] * _MANY]),
}


@pytest.mark.parametrize("name", SHAPES)
def test_many_records_of_one_kind_cost_what_they_are(name: str, tmp_path: Path) -> None:
    path = tmp_path / AGENTS[name.partition(" ")[0]].path("00000001-0000-4000-8000-000000000000", ".jsonl")
    path.parent.mkdir(parents=True)
    path.write_bytes(b"".join(msgspec.json.encode(record) + b"\n" for record in SHAPES[name]()))
    source = agents.load(name.partition(" ")[0])
    (bundle,) = source.scan(source.homes_below(str(tmp_path))[0]).bundles
    began = process_time()
    assert source.read(bundle).sessions
    # What grows with the square of their number takes ten times as long.
    assert process_time() - began < 4
