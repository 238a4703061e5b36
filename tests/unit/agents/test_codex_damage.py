"""Damaged rollouts: whatever happened to the bytes, nothing raises, and every byte is accounted for."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from geminids.agents.codex import CodexSource
from geminids.agents.codex.read.records import COMPLETED, EVENT, IGNORED, ITEM, META, USED
from geminids.agents.codex.read.replay import HANDLERS
from geminids.agents.codex.read.rollout_text import _zstd
from geminids.core.agents.base import Bundle, FoundFile, Reading
from geminids.core.model import FileAccount, Message, Origin, ProblemKind, Project, Session, Unrecognised
from tests.conftest import FIXTURES
from tests.support.codex_homes import (
    DAY,
    OTHER,
    THREAD,
    counted,
    event,
    line,
    meta,
    name_of,
    numbered,
    said,
    write_rollout,
)
from tests.support.documents import assert_valid
from tests.support.examples import examples
from tests.support.reading import custodian_of, sessions

SOURCE = CodexSource()
SETTINGS = settings(max_examples=examples(60), deadline=None, suppress_health_check=list(HealthCheck))
ROLLOUTS = sorted(
    path for path in (FIXTURES / "codex").rglob("rollout-*.jsonl") if path.stat().st_size < 60_000
)
KINDS = sorted(USED | IGNORED.keys())
TEXTS = st.sampled_from(
    ["", "hi", "<environment_context>", "call_1", "c1", THREAD, "user", "assistant", "**a**\n\nb"]
)
FIELDS = (
    *(
        "id",
        "call_id",
        "role",
        "content",
        "text",
        "type",
        "summary",
        "arguments",
        "input",
        "output",
        "action",
    ),
    *("message", "info", "total_token_usage", "last_token_usage", "input_tokens", "output_tokens", "usage"),
    *(
        "response_id",
        "thread_token_usage",
        "num_turns",
        "replacement_history",
        "changes",
        "unified_diff",
        "item",
    ),
    *("status", "exit_code", "result", "model", "cwd", "git", "source", "subagent", "thread_spawn", "reason"),
    *(
        "history_base",
        "thread_id",
        "end_ordinal_exclusive",
        "forked_from_id",
        "subagent_history_start_ordinal",
    ),
    *("images", "error", "summary_text", "receiver_thread_ids", "plan", "command", "name", "timestamp"),
)
"""The fields that something is looked for in."""
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 10**20) | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=5),
    max_leaves=10,
)


@st.composite
def records(draw: st.DrawFn) -> Any:
    """A line of any kind with anything in it, in the shape of a rollout more often than not."""
    kind = draw(st.sampled_from(KINDS))
    payload = draw(st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=7))
    if kind.startswith(COMPLETED):
        item = {
            **draw(st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=6)),
            "type": kind.removeprefix(COMPLETED),
        }
        return line("event_msg", {**payload, "type": "item_completed", "item": item})
    outer, _, inner = kind.partition("/")
    if inner and draw(st.booleans()):
        payload["type"] = inner
    whole = line(outer, payload, ordinal=draw(st.integers(0, 40) | JSON))
    return draw(st.sampled_from([whole, whole, whole, payload, {**whole, "payload": draw(JSON)}, draw(JSON)]))


def accounted(account: FileAccount) -> int:
    fates = (account.used, account.ignored, account.problem)
    return sum(tally.bytes for tallies in fates for tally in tallies.values())


def read(path: Path) -> Reading:
    """A rollout as a bundle of its own: its bytes must be accounted for, and what comes of it be valid."""
    facts = path.stat()
    file = FoundFile(path, facts.st_size, facts.st_mtime_ns, facts.st_ino)
    reading = SOURCE.read(Bundle("codex", "x", Project(None, None, "day", None), (path.parent,), (file,)))
    (account,) = reading.accounts
    unpacked = SOURCE.files().unpacked(path)
    assert accounted(account) == account.size == (facts.st_size if unpacked is None else len(unpacked))
    for session in reading.sessions:
        assert_valid(session)
        assert len({message.id for message in session.messages}) == len(session.messages)
    return reading


def read_lines(folder: Path, *lines: dict[str, Any] | bytes) -> Session:
    """The session in some lines."""
    path = folder / name_of()
    path.write_bytes(
        b"".join(one if isinstance(one, bytes) else json.dumps(one).encode() + b"\n" for one in lines)
    )
    (session,) = read(path).sessions
    return session


def words(messages: tuple[Message, ...]) -> list[str]:
    return [getattr(part, "text", "") for message in messages for part in message.parts]


@pytest.mark.slow
@SETTINGS
@given(lines=st.lists(records(), max_size=14), begins=st.booleans())
def test_any_records_in_any_order_are_read(
    tmp_path_factory: pytest.TempPathFactory, lines: list[Any], begins: bool
) -> None:
    path = tmp_path_factory.mktemp("soup") / name_of()
    all_lines = [meta(), *lines] if begins else lines
    path.write_text("".join(json.dumps(one) + "\n" for one in all_lines), "utf-8", "surrogatepass")
    reading = read(path)
    for session in reading.sessions:
        custodian_of(SOURCE).agent_view(path)
        assert session.id.startswith("codex:")


@SETTINGS
@given(
    path=st.sampled_from(ROLLOUTS),
    at=st.floats(0, 1),
    to=st.floats(0, 1),
    put=st.sampled_from([b"", b"\0" * 40, b"\n", b"\xff\xfe", b'{"', b"\\", b'"', b"\xef\xbb\xbf", b"}{"]),
)
def test_any_damage_is_survived(
    tmp_path_factory: pytest.TempPathFactory, path: Path, at: float, to: float, put: bytes
) -> None:
    content = path.read_bytes()
    start, end = sorted((int(at * len(content)), int(to * len(content))))
    damaged = tmp_path_factory.mktemp("damage") / path.name
    damaged.write_bytes(content[:start] + put + content[min(end, start + 500) :])
    read(damaged)
    SOURCE.read_alone(damaged)
    custodian_of(SOURCE).agent_view(damaged)


def test_every_kind_that_is_used_has_its_reader() -> None:
    assert HANDLERS.keys() == USED - {META}
    assert not USED & IGNORED.keys()
    assert all(kind.startswith((ITEM, EVENT)) or "/" not in kind for kind in USED)


def test_half_a_line_keeps_what_it_holds(tmp_path: Path) -> None:
    torn = json.dumps(said("Half of", "assistant")).encode()[:-3]
    session = read_lines(tmp_path, meta(), said("Whole."), torn + json.dumps(said("Next.")).encode() + b"\n")
    assert words(session.messages) == ["Whole.", "Half of", "Next."]
    assert {problem.kind for problem in session.problems} == {ProblemKind.BAD_JSON}


def test_marks_nulls_and_half_characters_are_forgiven(tmp_path: Path) -> None:
    half = json.dumps(said("cut \ud83d")).encode() + b"\n"
    lines = [
        b"\xef\xbb\xbf" + json.dumps(meta()).encode() + b"\n",
        b"\0\0\0\n",
        half,
        b"[1]\n",
        b"7\n",
        b"  \n",
    ]
    session = read_lines(tmp_path, *lines, said("end", "assistant"))
    assert words(session.messages) == ["cut \ufffd", "end"]
    assert session.native_id == THREAD


def test_an_unknown_item_is_kept_and_an_unknown_event_named(tmp_path: Path) -> None:
    path = tmp_path / name_of()
    lines = [
        meta(),
        line("response_item", {"type": "dream", "of": "sheep"}),
        event("sang"),
        line("weather", {}),
    ]
    path.write_text("".join(json.dumps(one) + "\n" for one in lines))
    reading = read(path)
    (message,) = reading.sessions[0].messages
    assert message.parts == (Unrecognised({"type": "dream", "of": "sheep"}),)
    assert set(reading.accounts[0].ignored) == {
        "record of unknown kind: event_msg/sang",
        "record of unknown kind: weather",
    }


def test_unknown_fields_are_counted_and_words_are_not_shown(tmp_path: Path) -> None:
    path = tmp_path / name_of()
    odd = said("x", mood="good")
    odd["payload"]["a secret of mine"] = 1
    path.write_text("".join(json.dumps(one) + "\n" for one in [meta(), {**odd, "weather": 1}]))
    assert read(path).accounts[0].unknown_fields == {
        "line.weather": 1,
        "response_item/message.a name of 16 characters": 1,
        "response_item/message.mood": 1,
    }


@pytest.mark.parametrize("content", [b"", b"\n\n", b"   "])
def test_an_empty_rollout_is_a_problem_and_no_session(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / name_of()
    path.write_bytes(content)
    reading = read(path)
    assert not reading.sessions
    assert [problem.kind for problem in reading.problems] == [ProblemKind.EMPTY]


def test_a_rollout_without_its_first_line_is_named_by_its_file(tmp_path: Path) -> None:
    session = read_lines(tmp_path, said("Hello?"))
    assert session.native_id == THREAD
    assert [problem.kind for problem in session.problems] == [ProblemKind.NO_HEADER]


def test_the_first_files_are_read(tmp_path: Path) -> None:
    header = {
        "id": THREAD,
        "timestamp": "2025-05-01T10:00:00Z",
        "instructions": None,
        "git": {"branch": "main"},
    }
    bare = [said(text, role)["payload"] for text, role in (("Hello?", "user"), ("Hello.", "assistant"))]
    call = {
        "type": "function_call",
        "name": "shell",
        "arguments": '{"command":["ls"]}',
        "call_id": "c1",
        "id": "f1",
    }
    output = {
        "type": "function_call_output",
        "call_id": "c1",
        "output": '{"output":"a","metadata":{"exit_code":0}}',
    }
    session = read_lines(tmp_path, header, {"record_type": "state"}, *bare, call, output)
    assert words(session.messages)[:2] == ["Hello?", "Hello."]
    assert session.messages[1].tool_calls[0].exit_code == 0
    assert session.branch == "main"
    reading = SOURCE.read_alone(tmp_path / name_of())
    assert reading
    assert reading.accounts[0].era == "first"


# Histories that lie elsewhere


def forked(base: str, end: int = 2, **more: Any) -> dict[str, Any]:
    return meta(
        THREAD, history_base={"thread_id": base, "end_ordinal_exclusive": end}, forked_from_id=base, **more
    )


def test_what_a_fork_took_over_is_shown_and_counted_elsewhere(tmp_path: Path) -> None:
    write_rollout(
        tmp_path, numbered([meta(OTHER), said("Mine."), said("Too late.")]), folder="archived_sessions"
    )
    write_rollout(tmp_path, numbered([forked(OTHER), said("Yours.")], 2))
    fork = next(session for session in sessions(SOURCE, tmp_path) if session.native_id == THREAD)
    assert [(message.text(Origin.HUMAN), message.imported) for message in fork.messages] == [
        ("Mine.", True),
        ("Yours.", False),
    ]
    assert fork.counts.prompts == 1
    assert fork.parent_id is None
    assert fork.title == "Yours."
    assert not fork.problems


def test_a_parent_that_is_missing_is_named(tmp_path: Path) -> None:
    write_rollout(tmp_path, numbered([forked(OTHER), said("Yours.")], 2))
    (fork,) = sessions(SOURCE, tmp_path)
    assert words(fork.messages) == ["Yours."]
    (problem,) = fork.problems
    assert OTHER in problem.detail


def test_a_thread_that_was_reverted_on_another_day_is_told_from_its_first_file(tmp_path: Path) -> None:
    write_rollout(tmp_path, numbered([meta(), said("Kept."), said("Dropped.")]))
    again = numbered([meta(history_base={"thread_id": THREAD, "end_ordinal_exclusive": 2}), said("New.")], 2)
    write_rollout(tmp_path, again, name_of(THREAD, OTHER), folder="sessions/2026/11/17")
    first, later = sessions(SOURCE, tmp_path)
    assert (first.native_id, later.native_id) == (THREAD, f"{THREAD}_{OTHER}")
    assert [(text, m.imported) for m in later.messages if (text := m.text(Origin.HUMAN))] == [
        ("Kept.", True),
        ("New.", False),
    ]
    assert first.counts.prompts + later.counts.prompts == 3


def test_a_parent_outside_of_the_home_is_not_looked_for(tmp_path: Path) -> None:
    write_rollout(tmp_path / "elsewhere", numbered([meta(OTHER), said("Mine.")]))
    write_rollout(tmp_path / "here", numbered([forked(OTHER), said("Yours.")], 2))
    (fork,) = sessions(SOURCE, tmp_path / "here")
    assert len(fork.messages) == 1


def test_a_circle_of_parents_ends(tmp_path: Path) -> None:
    first = meta(OTHER, history_base={"thread_id": THREAD, "end_ordinal_exclusive": 9})
    write_rollout(tmp_path, numbered([first, said("Mine.")]))
    write_rollout(tmp_path, numbered([forked(OTHER, 9), said("Yours.")], 2))
    found = sessions(SOURCE, tmp_path)
    assert {words(session.messages)[-1] for session in found} == {"Mine.", "Yours."}
    assert all("circle" in session.problems[0].detail for session in found)


def test_a_parent_that_cannot_be_opened_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / ".codex" / "sessions" / "2026" / "11" / "15" / name_of(OTHER)).mkdir(parents=True)
    write_rollout(tmp_path, numbered([forked(OTHER), said("Yours.")], 2))
    (fork,) = sessions(SOURCE, tmp_path)
    assert {problem.kind for problem in fork.problems} == {ProblemKind.UNREADABLE, ProblemKind.NOT_A_SESSION}


def test_copies_of_a_parent_that_is_gone_are_counted_here(tmp_path: Path) -> None:
    lines = [meta(THREAD, forked_from_id=OTHER), meta(OTHER), said("Mine."), said("Yours.")]
    write_rollout(tmp_path, lines)
    (fork,) = sessions(SOURCE, tmp_path)
    assert fork.counts.prompts == 2
    write_rollout(tmp_path, [meta(OTHER), said("Mine.")])
    fork = next(session for session in sessions(SOURCE, tmp_path) if session.native_id == THREAD)
    assert [message.imported for message in fork.messages] == [True, False]


def test_a_fork_tells_its_own_turns_from_those_before_it(tmp_path: Path) -> None:
    """The ids of turns and threads begin with the time."""
    before, after = "01a1e0f9-0000-7000-8000-000000000000", "01a1ffff-0000-7000-8000-000000000000"
    copy = [meta(OTHER), event("task_started", turn_id=before), said("Mine."), counted(100)]
    own = [event("task_started", turn_id=after), said("Yours."), counted(300, 200)]
    write_rollout(tmp_path, [meta(THREAD, forked_from_id=OTHER), *copy, *own])
    (fork,) = sessions(SOURCE, tmp_path)
    assert (fork.title, fork.usage.total, fork.reported and fork.reported.total) == ("Yours.", 300, 200)
    assert not any(message.imported for message in fork.messages)


def test_a_long_line_of_forks_is_followed(tmp_path: Path) -> None:
    threads = [f"01a1e0f9-{number:04x}-7bd1-abb4-3ce612cacbb1" for number in range(60)]
    write_rollout(tmp_path, numbered([meta(threads[0]), said("0")]))
    for number, (parent, thread) in enumerate(pairwise(threads), 1):
        base = {"thread_id": parent, "end_ordinal_exclusive": 2 * number}
        write_rollout(tmp_path, numbered([meta(thread, history_base=base), said(str(number))], 2 * number))
    last = next(session for session in sessions(SOURCE, tmp_path) if session.native_id == threads[-1])
    assert words(last.messages) == [str(number) for number in range(60)]
    assert len({message.id for message in last.messages}) == 60
    assert sum(not message.imported for message in last.messages) == 1


def test_a_parent_that_grew_is_read_again(tmp_path: Path) -> None:
    parent = numbered([meta(OTHER), said("One.")])
    write_rollout(tmp_path, numbered([forked(OTHER, 9), said("Yours.")], 9))
    for lines in (parent, [*parent, *numbered([said("Two.")], 2)]):
        write_rollout(tmp_path, lines)
        fork = next(session for session in sessions(SOURCE, tmp_path) if session.native_id == THREAD)
        assert len(fork.messages) == len(lines)


@pytest.mark.parametrize("folder", ["sessions/2020/01/02", f"sessions/{DAY}", "archived_sessions"])
def test_a_parent_is_found_wherever_it_lies_in_the_home(tmp_path: Path, folder: str) -> None:
    packed(write_rollout(tmp_path, numbered([meta(OTHER), said("Packed.")]), folder=folder))
    write_rollout(tmp_path, numbered([meta(OTHER), said("Mine.")]), folder=folder)
    write_rollout(tmp_path, numbered([forked(OTHER), said("Yours.")], 2))
    fork = next(session for session in sessions(SOURCE, tmp_path) if session.native_id == THREAD)
    assert words(fork.messages) == ["Mine.", "Yours."]


# Archives


def packed(path: Path) -> bytes:
    """The rollout compressed, in place of the plain one."""
    content: bytes = _zstd().compress(path.read_bytes())
    path.with_name(path.name + ".zst").write_bytes(content)
    path.unlink()
    return content


def test_an_archive_is_read_like_the_plain_file(tmp_path: Path) -> None:
    path = write_rollout(tmp_path, [meta(), said("Hello?"), said("Hello.", "assistant"), counted(100)])
    (plain,) = sessions(SOURCE, tmp_path)
    text = path.read_bytes()
    content = packed(path)
    (session,) = sessions(SOURCE, tmp_path)
    assert words(session.messages) == words(plain.messages)
    assert [file.size for file in session.files] == [len(content)]
    assert SOURCE.files().unpacked(path.with_name(path.name + ".zst")) == text
    place = session.messages[0].source
    assert b"Hello?" in text[place.start : place.end]


def test_a_plain_file_counts_more_than_its_archive(tmp_path: Path) -> None:
    path = write_rollout(tmp_path, [meta(), said("Old.")])
    packed(path)
    write_rollout(tmp_path, [meta(), said("Old."), said("New.")])
    (bundle,) = SOURCE.scan(SOURCE.homes_below(str(tmp_path))[0]).bundles
    reading = SOURCE.read(bundle)
    assert words(reading.sessions[0].messages) == ["Old.", "New."]
    ignored = [account for account in reading.accounts if account.ignored]
    assert [account.path for account in ignored] == [str(path) + ".zst"]


@pytest.mark.slow
@pytest.mark.parametrize("part", [0.0, 0.3, 0.9, 0.999])
def test_of_a_cut_archive_what_can_be_unpacked_is_read(tmp_path: Path, part: float) -> None:
    lines = [said(f"Prompt {number} of {THREAD[number % 30 :]}") for number in range(4_000)]
    path = write_rollout(tmp_path, [meta(), *lines])
    content = packed(path)
    cut = path.with_name(path.name + ".zst")
    cut.write_bytes(content[: int(len(content) * part)])
    reading = read(cut)
    assert any("cut off" in problem.detail for problem in reading.problems) or not part
    assert bool(reading.sessions) == (part > 0)


def test_an_archive_that_is_none_is_a_problem(tmp_path: Path) -> None:
    path = tmp_path / (name_of() + ".zst")
    path.write_bytes(b"plain words")
    reading = read(path)
    assert not reading.sessions
    assert any("damaged" in problem.detail for problem in reading.problems)


def test_archives_one_after_the_other_are_one_text(tmp_path: Path) -> None:
    path = write_rollout(tmp_path, [meta(), said("One.")])
    first = packed(path)
    more: bytes = _zstd().compress(json.dumps(said("Two.")).encode() + b"\n")
    path.with_name(path.name + ".zst").write_bytes(first + more)
    (session,) = sessions(SOURCE, tmp_path)
    assert words(session.messages) == ["One.", "Two."]
