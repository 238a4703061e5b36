"""Saved chats: named by their tags, tied to the sessions they were saved from."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from geminids.model import Origin, Project, Session, SessionKind
from geminids.sources.base import FoundFile
from geminids.sources.gemini import GeminiSource
from geminids.sources.gemini.saved_chats import saved_chat, short_folder, tag_of, without_twins
from geminids.sources.traces import Said, Trace, key, trace
from tests.conftest import CORPUS, FIXTURES, RecordProperty
from tests.reading import sessions

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
    (one,) = saved_chat(file, NOWHERE, "alpha", traces, saved_in).sessions
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
    assert read(file, [long_ago, after]).parent_id is None


def test_a_session_that_only_loaded_a_chat_is_not_the_one_it_was_saved_from(tmp_path: Path) -> None:
    file = save(tmp_path, "checkpoint-a.json", TALK)
    early, late = session("early", *WORDS, began=THEN - timedelta(days=9)), session("late", *WORDS)
    loaded = tuple(msgspec.structs.replace(said, imported=True) for said in late.said)
    late = msgspec.structs.replace(late, said=loaded)
    assert read(file, [early, late]).parent_id == "gemini:early"
    assert read(file, [early, late], {"a": "late"}).parent_id == "gemini:late"


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


def test_an_unreadable_file_is_a_problem(tmp_path: Path) -> None:
    reading = saved_chat(FoundFile(tmp_path / "checkpoint-a.json", 7, 0, 0), NOWHERE, "alpha", [])
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
        one for file in files for one in saved_chat(file, NOWHERE, names[file.path.parent], []).sessions
    ]
    chats = without_twins(read_ones)
    assert [(chat.native_id, len(chat.files)) for chat in chats] == [
        ("checkpoint-a@alpha", 2),
        ("checkpoint-b@alpha", 1),
        ("checkpoint-b@abababab", 1),
    ]
    assert chats[0].messages[0].also_at[0].file == str(hashed / "checkpoint-a.json")


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
            for chat in saved_chat(found(path), NOWHERE, path.parent.name, traces).sessions:
                assert (chat.parent_id is None) == (not traces), path
                assert chat.counts.prompts == 0 or not traces, path
                tied, untied = tied + bool(traces), untied + (not traces)
    record_property(
        "counts", f"saved chats: {tied} tied to their sessions, {untied} whose session was never written"
    )
