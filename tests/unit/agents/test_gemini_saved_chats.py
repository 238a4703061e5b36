"""Saved chats: named by their tags, tied to the sessions they were saved from."""

from __future__ import annotations

import json
import os
import shutil
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from geminids.agents.gemini import GeminiSource
from geminids.agents.gemini.companions.saved_chats import (
    counted_once,
    saved_chat,
    short_folder,
    tag_of,
    without_twins,
)
from geminids.agents.gemini.companions.ties import TraceIndex, tie
from geminids.core.agents.base import FoundFile
from geminids.core.agents.traces import Said, Trace, key, trace
from geminids.core.model import Origin, ProblemKind, Project, Session, SessionKind, Text
from tests.conftest import CORPUS, FIXTURES, RecordProperty
from tests.support.reading import sessions

SOURCE = GeminiSource()
NOWHERE = Project(None, None, None, None)
THEN = datetime(2026, 1, 1, tzinfo=UTC)
TALK = [
    ("user", "Count the notes"),
    ("model", "Two <!-- I think -->notes. \u200b"),
    ("user", "Which first?"),
    ("model", "Milk."),
]


def save(folder: Path, name: str, talk: list[tuple[str, str]], saved_at: datetime = THEN) -> FoundFile:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    turns = [{"role": role, "parts": [{"text": text}]} for role, text in talk]
    path.write_text(json.dumps({"history": turns, "authType": "x"}, indent=2), "utf-8")
    os.utime(path, (saved_at.timestamp(), saved_at.timestamp()))
    return found(path)


def found(path: Path) -> FoundFile:
    facts = path.stat()
    return FoundFile(path, facts.st_size, facts.st_mtime_ns, facts.st_ino)


def session(
    native_id: str, *words: str, began: datetime = THEN - timedelta(hours=1), calls: tuple[str, ...] = ()
) -> Trace:
    """The trace of a session in which human and model took turns, a minute each."""
    said = tuple(
        Said(Origin.MODEL if index % 2 else Origin.HUMAN, key(text), began + timedelta(minutes=index))
        for index, text in enumerate(words)
    )
    ended = began + timedelta(minutes=len(words))
    return Trace(f"gemini:{native_id}", native_id, SessionKind.MAIN, began, ended, said, frozenset(calls))


WORDS = ("Count the notes", "Two notes.", "Which first?", "Milk.")


def read(file: FoundFile, traces: list[Trace], saved_in: dict[str, str] | None = None) -> Session:
    (one,) = saved_chat(file, NOWHERE, "alpha", TraceIndex(traces), saved_in).sessions
    return one


@pytest.mark.parametrize(
    ("name", "tag"),
    [
        ("checkpoint-plain.json", "plain"),
        ("checkpoint-my%20tag%2F%C3%BC%201.json", "my tag/ü 1"),
        ("checkpoint-100%25.json", "100%"),
        ("checkpoint-bad%zz%ff.json", "bad%zz\ufffd"),
        ("checkpoint.json", None),
    ],
)
def test_a_tag_is_read_from_the_name(name: str, tag: str | None) -> None:
    assert tag_of(name) == tag


def test_a_saved_chat_is_named_by_its_tag_and_its_project(tmp_path: Path) -> None:
    chat = read(save(tmp_path, "checkpoint-a%2Fb.json", TALK), [])
    assert (chat.native_id, chat.title) == ("checkpoint-a/b@alpha", '"a/b": Count the notes')
    assert (chat.parent_id, chat.counts.prompts, chat.ended_at) == (None, 2, THEN)
    assert read(save(tmp_path, "checkpoint.json", TALK), []).native_id == "checkpoint@alpha"
    assert short_folder("ab" * 32) == "abababab"


def test_words_in_order_prove_where_a_chat_was_saved(tmp_path: Path) -> None:
    file = save(tmp_path, "checkpoint-a.json", TALK)
    chat = read(
        file, [session("other", "Count the notes", "Three."), session("own", *WORDS, "And then?", "Ana.")]
    )
    assert chat.parent_id == "gemini:own"
    assert all(message.imported for message in chat.messages)
    assert chat.counts.prompts == 0
    assert read(file, [session("backwards", *WORDS[2:], *WORDS[:2])]).parent_id is None


def test_of_several_sessions_the_prompt_log_or_the_time_decides(tmp_path: Path) -> None:
    file = save(tmp_path, "checkpoint-a.json", TALK)
    early, late = session("early", *WORDS, began=THEN - timedelta(hours=9)), session("late", *WORDS)
    assert read(file, [early, late]).parent_id == "gemini:late"
    assert read(file, [early, late], {"a": "early"}).parent_id == "gemini:early"
    assert read(file, [early, late], {"a": "elsewhere", "b": "early"}).parent_id == "gemini:late"
    beside = session("beside", *WORDS, began=THEN - timedelta(minutes=59))
    assert read(file, [beside, late]).parent_id is None
    after = session("after", *WORDS, began=THEN + timedelta(hours=1))
    assert read(file, [late, after]).parent_id == "gemini:late"
    long_ago = session("long-ago", *WORDS, began=THEN - timedelta(days=9))
    assert read(file, [long_ago, after]).parent_id == "gemini:long-ago"
    longer_ago = session("longer-ago", *WORDS, began=THEN - timedelta(days=19))
    assert read(file, [long_ago, longer_ago]).parent_id is None


def test_a_session_that_only_loaded_a_chat_is_not_the_one_it_was_saved_from(tmp_path: Path) -> None:
    file = save(tmp_path, "checkpoint-a.json", TALK)
    early, late = session("early", *WORDS, began=THEN - timedelta(days=9)), session("late", *WORDS)
    late = loading(late, len(WORDS))
    assert read(file, [early, late]).parent_id == "gemini:early"
    saved_again = read(file, [early, late], {"a": "late"})
    assert (saved_again.parent_id, saved_again.counts.prompts) == ("gemini:late", 0)
    alone = read(file, [late])
    assert (alone.parent_id, alone.counts.prompts, alone.counts.replies) == (None, 2, 2)
    named = read(file, [late], {"a": "late"})
    assert (named.parent_id, named.counts.prompts, named.counts.replies) == ("gemini:late", 2, 2)


def test_a_chat_loaded_again_and_again_counts_where_each_part_was_said(tmp_path: Path) -> None:
    file = save(tmp_path, "checkpoint-a.json", [*TALK, ("user", "And then?"), ("model", "Ana.")])
    first = session("first", *WORDS[:2], began=THEN - timedelta(days=9))
    second = session("second", *WORDS, began=THEN - timedelta(days=8))
    third = session("third", *WORDS, "And then?", "Ana.")
    second, third = loading(second, 2), loading(third, 4)
    chat = read(file, [first, second, third])
    assert (chat.parent_id, chat.counts.prompts, chat.counts.replies) == ("gemini:third", 0, 0)
    chat = read(file, [second, third])
    assert [message.imported for message in chat.messages] == [False, False, True, True, True, True]


def loading(one: Trace, number: int) -> Trace:
    """A session that loaded the first of its words."""
    said = tuple(msgspec.structs.replace(said, imported=True) for said in one.said[:number])
    return msgspec.structs.replace(one, said=said + one.said[number:])


def test_calls_prove_more_than_words(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint-a.json"
    call = {"functionCall": {"name": "glob", "args": {}, "id": "c-1"}}
    turns = [
        {"role": "user", "parts": [{"text": "An expanded command"}]},
        {"role": "model", "parts": [call]},
        {"role": "user", "parts": [{"text": "Said nowhere else"}]},
    ]
    path.write_text(json.dumps(turns))
    chat = read(found(path), [session("own", "/command", calls=("c-1",)), session("other", *WORDS)])
    assert chat.parent_id == "gemini:own"
    assert [message.imported for message in chat.messages] == [True, True, False]
    assert chat.counts.prompts == 1


def test_a_lost_session_is_known_by_what_was_typed(tmp_path: Path) -> None:
    file = save(tmp_path, "checkpoint-a.json", TALK)
    lost = msgspec.structs.replace(
        session("lost", *WORDS),
        kind=SessionKind.LOST,
        said=tuple(Said(Origin.HUMAN, key(words), THEN) for words in WORDS[::2]),
    )
    chat = read(file, [lost])
    assert chat.parent_id == "gemini:lost"
    assert [message.imported for message in chat.messages] == [True, False, True, False]
    assert (chat.counts.prompts, chat.counts.replies) == (0, 2)
    assert read(file, [lost, session("own", *WORDS)]).parent_id == "gemini:own"


def lost_session(native_id: str, *typed: str, began: datetime = THEN - timedelta(hours=1)) -> Trace:
    """The trace of a session of which only the prompts are left."""
    said = tuple(Said(Origin.HUMAN, key(words), began) for words in typed)
    return Trace(f"gemini:{native_id}", native_id, SessionKind.LOST, began, began, said, frozenset())


def test_one_short_prompt_does_not_prove_a_lost_session(tmp_path: Path) -> None:
    short, long = "continue", "continue with the second half of the long list"
    lost = lost_session("lost", "first", short, long)
    file = save(tmp_path, "checkpoint-a.json", [("user", short), ("model", "Done.")])
    assert read(file, [lost]).parent_id is None
    assert read(file, [lost], {"a": "lost"}).parent_id == "gemini:lost"
    assert read(save(tmp_path, "checkpoint-a.json", [("user", long)]), [lost]).parent_id == "gemini:lost"


def test_where_the_log_says_it_was_saved_beats_the_same_words_elsewhere(tmp_path: Path) -> None:
    file = save(tmp_path, "checkpoint-a.json", TALK)
    other, lost = session("other", *WORDS, began=THEN - timedelta(days=7)), lost_session("lost", *WORDS[::2])
    assert read(file, [other, lost]).parent_id == "gemini:other"
    chat = read(file, [other, lost], {"a": "lost"})
    assert (chat.parent_id, chat.counts.prompts, chat.counts.replies) == ("gemini:lost", 0, 2)


def test_a_named_lost_session_takes_the_prompts_that_it_has(tmp_path: Path) -> None:
    file = save(tmp_path, "checkpoint-a.json", TALK)
    chat = read(file, [lost_session("lost", "Which first?")], {"a": "lost"})
    assert chat.parent_id == "gemini:lost"
    assert [message.imported for message in chat.messages] == [False, False, True, False]
    assert read(file, [lost_session("lost", "Which first?")]).parent_id is None
    assert read(file, [lost_session("lost", "Other words")], {"a": "lost"}).parent_id is None


@pytest.mark.parametrize("written", [r"ls `x` C:\d", r"ls \`x\` C:\d", r"ls \`x\` C:\\d"])
def test_a_shell_command_is_the_same_however_it_is_escaped(tmp_path: Path, written: str) -> None:
    told = f"I ran the following shell command:\n```sh\n{written}\n```\n\n"
    told += "This produced the following result:\n```\nx\n```"
    file = save(tmp_path, "checkpoint-a.json", [("user", told), ("model", "Seen."), ("user", "Which first?")])
    chat = read(file, [lost_session("lost", r"ls `x` C:\d", "Which first?")])
    assert chat.parent_id == "gemini:lost"


def test_a_session_that_began_after_a_file_was_written_is_not_its_origin(tmp_path: Path) -> None:
    later = [lost_session("lost", *WORDS[::2]), session("own", *WORDS)]
    file = save(tmp_path, "checkpoint-a.json", TALK, THEN - timedelta(days=30))
    assert read(file, later).parent_id is None
    assert read(file, later, {"a": "own"}).parent_id == "gemini:own"
    unset = save(tmp_path, "checkpoint-a.json", TALK, datetime(1970, 1, 1, tzinfo=UTC))
    assert read(unset, later).parent_id == "gemini:own"


def test_an_unreadable_file_is_a_problem(tmp_path: Path) -> None:
    reading = saved_chat(FoundFile(tmp_path / "checkpoint-a.json", 7, 0, 0), NOWHERE, "alpha", TraceIndex([]))
    assert [problem.kind for problem in reading.problems] == ["unreadable"]
    assert reading.accounts[0].problem["unreadable"].bytes == 7


def test_equal_chats_in_both_folders_of_a_project_are_one(tmp_path: Path) -> None:
    hashed, slug = tmp_path / ("ab" * 32), tmp_path / "alpha"
    names = {hashed: "ab" * 32, slug: "alpha"}
    files = [save(folder, "checkpoint-a.json", TALK) for folder in names] + [
        save(hashed, "checkpoint-b.json", TALK),
        save(slug, "checkpoint-b.json", TALK[:2]),
    ]
    read_ones = [
        one
        for file in files
        for one in saved_chat(file, NOWHERE, names[file.path.parent], TraceIndex([])).sessions
    ]
    chats = without_twins(read_ones)
    assert [(chat.native_id, len(chat.files)) for chat in chats] == [
        ("checkpoint-a@alpha", 2),
        ("checkpoint-b@alpha", 1),
        ("checkpoint-b@abababab", 1),
    ]
    assert chats[0].messages[0].also_at[0].file == str(hashed / "checkpoint-a.json")


def test_what_several_chats_hold_is_counted_in_the_fullest(tmp_path: Path) -> None:
    further = [*TALK, ("user", "And then?"), ("model", "Ana.")]
    elsewhere = [*TALK[:3], ("model", "Bread.")]
    short = [("user", "Count the notes"), ("model", "Two.")]
    chats = counted_once(
        [
            read(save(tmp_path, f"checkpoint-{name}.json", talk), [])
            for name, talk in [("a", TALK), ("b", elsewhere), ("c", further), ("d", short), ("e", short)]
        ]
    )
    assert [(chat.counts.prompts, chat.counts.replies) for chat in chats] == [
        *[(0, 0), (0, 1), (3, 3)],
        # Two words and an answer may be chance.
        *[(1, 1), (1, 1)],
    ]
    lost = lost_session("lost", "Count the notes")
    named = [read(save(tmp_path, f"checkpoint-{n}.json", short), [lost], {n: "lost"}) for n in "de"]
    assert [(chat.counts.prompts, chat.counts.replies) for chat in counted_once(named)] == [(0, 1), (0, 0)]


@pytest.mark.slow
def test_many_chats_find_their_sessions_among_many_soon(tmp_path: Path) -> None:
    opening = ("hi", "Hello! How can I help you today?")
    traces = [session(f"s-{n}", *opening, f"task {n}", f"done {n}") for n in range(3000)]
    chat = read(
        save(tmp_path, "checkpoint-a.json", [("user", opening[0]), ("model", opening[1]), *TALK[2:]]), []
    )
    began = time.monotonic()
    known = TraceIndex(traces)
    for number in range(3000):
        task, done = Text(f"task {number}", Origin.HUMAN), Text(f"done {number}", Origin.MODEL)
        last = [
            msgspec.structs.replace(m, parts=(p,))
            for m, p in zip(chat.messages[2:], (task, done), strict=True)
        ]
        one = msgspec.structs.replace(chat, messages=(*chat.messages[:2], *last))
        assert tie(one, known, THEN).parent_id == f"gemini:s-{number}"
    assert time.monotonic() - began < 10


@pytest.fixture
def recorded(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A recorded home that may be changed."""
    home = tmp_path / "home"
    shutil.copytree(FIXTURES / "gemini" / request.param / "home", home)
    return home


def by_kind(home: Path, kind: SessionKind) -> list[Session]:
    return [one for one in sessions(SOURCE, home) if one.kind is kind]


@pytest.mark.parametrize("recorded", ["saved-chats"], indirect=True)
def test_what_was_saved_of_a_deleted_session_is_counted_once(recorded: Path) -> None:
    for path in recorded.glob(".gemini/tmp/alpha/chats/*.jsonl"):
        path.unlink()
    (lost,) = by_kind(recorded, SessionKind.LOST)
    chats = by_kind(recorded, SessionKind.CHECKPOINT)
    assert (len(chats), {chat.parent_id for chat in chats}) == (10, {lost.id})
    assert lost.counts.prompts + sum(chat.counts.prompts for chat in chats) == 5
    assert sum(chat.counts.replies for chat in chats) == 8
    assert sum(chat.counts.tool_calls for chat in chats) == 4


@pytest.mark.parametrize("recorded", ["chat-resume-elsewhere"], indirect=True)
def test_a_chat_of_a_deleted_session_is_not_of_those_that_loaded_it(recorded: Path) -> None:
    folder = recorded / ".gemini/tmp/alpha"
    (saved_in,) = folder.glob("chats/*0e44b49f.jsonl")
    saved_in.unlink()
    (chat,) = by_kind(recorded, SessionKind.CHECKPOINT)
    assert chat.parent_id == by_kind(recorded, SessionKind.LOST)[0].id
    assert (chat.counts.prompts, chat.counts.replies, chat.counts.tool_calls) == (0, 2, 1)
    (folder / "logs.json").unlink()
    (chat,) = by_kind(recorded, SessionKind.CHECKPOINT)
    assert (chat.parent_id, chat.counts.prompts, chat.counts.replies) == (None, 1, 2)


def test_a_name_of_any_bytes_can_be_printed(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"checkpoint-\xff%C3%BC.json")
    try:
        file = save(tmp_path, path.name, TALK)
    except OSError:
        pytest.skip("this disk takes no such names")
    chat = read(file, [])
    assert (chat.native_id, chat.title) == ("checkpoint-%FFü@alpha", '"%FFü": Count the notes')
    assert tag_of(path.name) == "%FFü"


def test_a_time_that_is_no_date_is_not_known(tmp_path: Path) -> None:
    file = save(tmp_path, "checkpoint-a.json", TALK)
    chat = read(FoundFile(file.path, file.size, 10**30, 0), [session("own", *WORDS)])
    assert (chat.ended_at, chat.parent_id) == (None, "gemini:own")


HOMES = sorted(
    {path.parents[3] for path in FIXTURES.glob("gemini/*/home/.gemini/tmp/*/checkpoint*.json")}
    | {path.parents[3] for path in (CORPUS / "real").glob("*/*/home/.gemini/tmp/*/checkpoint*.json")}
)


def test_recorded_chats_are_tied_to_their_sessions(record_property: RecordProperty) -> None:
    if not HOMES:
        pytest.skip("no home with saved chats is at hand")
    tied = untied = 0
    for home in HOMES:
        traces = [trace(one) for one in sessions(SOURCE, home) if one.kind is SessionKind.MAIN]
        for path in sorted(home.glob(".gemini/tmp/*/checkpoint*.json")):
            for chat in saved_chat(found(path), NOWHERE, path.parent.name, TraceIndex(traces)).sessions:
                assert (chat.parent_id is None) == (not traces), path
                assert chat.counts.prompts == 0 or not traces, path
                tied, untied = tied + bool(traces), untied + (not traces)
    record_property(
        "counts", f"saved chats: {tied} tied to their sessions, {untied} whose session was never written"
    )


def test_prompts_that_were_fused_into_one_turn_are_told_apart(tmp_path: Path) -> None:
    file = save(tmp_path, "checkpoint-fused.json", [])
    failed = [{"text": "Count the notes"}, {"text": "<hook_context>Hello.</hook_context>"}]
    turns = [{"role": "user", "parts": [*failed, {"text": "Which first?"}, {"text": "And last?"}]}]
    file.path.write_text(json.dumps({"history": turns, "authType": "x"}), "utf-8")
    messages = read(found(file.path), []).messages
    asked = [message.text(Origin.HUMAN) for message in messages]
    assert asked == ["Count the notes", "Which first?", "And last?"]


def test_half_a_character_in_a_saved_chat_damages_nothing(tmp_path: Path) -> None:
    turns = [
        {"role": "user", "parts": [{"text": "Half \ud83d here"}]},
        {"role": "model", "parts": [{"text": "Fine."}]},
    ]
    for content in (turns, {"history": turns, "authType": "gemini-api-key"}):
        file = tmp_path / "checkpoint-half.json"
        file.write_text(json.dumps(content))
        reading = SOURCE.read_alone(file)
        assert reading is not None
        (session,) = reading.sessions
        assert [message.text(message.origin) for message in session.messages] == ["Half \ufffd here", "Fine."]
        assert [problem.kind for problem in reading.problems] == [ProblemKind.BAD_TEXT]
