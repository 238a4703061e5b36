"""What is told while files grow, change, move and vanish: by events and by looking."""

from __future__ import annotations

import json
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from geminids.agents.gemini import GeminiSource
from geminids.core.agents.base import Bundle, Home, Reading
from geminids.core.model import State, Text
from geminids.library import open_library
from geminids.sync.watch import (
    AnyEvent,
    FileFinder,
    Happened,
    HomesFinder,
    Pace,
    Quiet,
    SessionGone,
    SessionNews,
    Trouble,
    Watching,
    watch,
)
from geminids.sync.watch import stream as stream_module
from geminids.sync.watch.files import Found, Item
from geminids.sync.watch.sent import SETTLED, Sent, Unsettled, torn_records
from tests.conftest import FIXTURES, Rights
from tests.support import claude_lines
from tests.support.connections import to_be_closed
from tests.support.homes import FIRST_ID, tool_call, write_session
from tests.support.watching import SECOND_ID, Listener, answer, append, heard, message, messages_of, silence

GEMINI = FIXTURES / "gemini"
HEARTBEAT = 0.05
EVERY_WAY = pytest.mark.parametrize("poll", [None, 0.05], ids=["events", "polling"])
Start = Callable[..., Iterator[AnyEvent]]


@pytest.fixture
def start() -> Iterator[Start]:
    """A watch over the homes in a folder, which has begun."""
    # Loaded here, because a user without privileges may not be allowed to.
    pytest.importorskip("watchfiles")
    running: list[Any] = []

    def begin(folder: Path, poll: float | None, **options: Any) -> Iterator[AnyEvent]:
        finder = HomesFinder(lambda: [Home("gemini", str(folder / ".gemini"), "given")])
        events = watch(finder, pace=Pace(poll, HEARTBEAT), **options)
        running.append(events)
        began = next(events)
        assert isinstance(began, Watching)
        assert began.by_events == (poll is None)
        return events

    yield begin
    for events in running:
        events.close()


def texts(events: list[AnyEvent]) -> list[str]:
    """The words that were told, message by message."""
    news = [one for event in events if isinstance(event, SessionNews) for one in event.news]
    return ["".join(part.text for part in one.new_parts if isinstance(part, Text)) for one in news]


def says(*words: str) -> Callable[[list[AnyEvent]], bool]:
    return lambda sent: [text for text in texts(sent) if text] == list(words)


def bundles(home: Path) -> list[Bundle]:
    source = GeminiSource()
    return [bundle for found in source.homes_below(str(home)) for bundle in source.scan(found).bundles]


# What is new is decided on the model.


@pytest.mark.parametrize("case", sorted(GEMINI.iterdir()), ids=lambda case: case.name)
def test_a_log_told_line_by_line_ends_in_what_the_finished_file_says(case: Path, tmp_path: Path) -> None:
    home = shutil.copytree(case / "home", tmp_path / "home", symlinks=True)
    for bundle in bundles(home):
        for file in (found.path for found in bundle.files if found.path.suffix == ".jsonl"):
            sent, listener, content = Sent(), Listener(), file.read_bytes()
            for cut in (place + 1 for place, byte in enumerate(content) if byte == ord("\n")):
                file.write_bytes(content[:cut])
                listener.hear(sent.news(GeminiSource().read(bundle), lambda _: True, SETTLED))
            file.write_bytes(content)
            finished = GeminiSource().read(bundle)
            listener.hear(sent.news(finished, lambda _: True, SETTLED))
            assert listener.messages == messages_of(finished.sessions)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["rewind-jsonl-1", "rewind-jsonl-2", "tool-calls-jsonl-1", "compress-checkpoint", "chat-resume"]
)
def test_a_log_that_grows_byte_by_byte_never_tells_half_a_record(name: str, tmp_path: Path) -> None:
    home = shutil.copytree(GEMINI / name / "home", tmp_path / "home")
    bundle = bundles(home)[0]
    file = bundle.files[-1].path
    content = file.read_bytes()
    by_line, whole = _told_in_steps(
        bundle, file, [n + 1 for n, byte in enumerate(content) if byte == ord("\n")]
    )
    by_byte, same = _told_in_steps(bundle, file, [*range(0, len(content), 37), len(content)])
    assert by_byte.messages == by_line.messages == messages_of(whole.sessions) == messages_of(same.sessions)
    if name != "chat-resume":
        # There a history is told again before it can be seen that it is a copy.
        assert by_byte.words == by_line.words, "nothing is told twice or in halves"


def _told_in_steps(bundle: Bundle, file: Path, cuts: list[int]) -> tuple[Listener, Any]:
    content, sent, listener = file.read_bytes(), Sent(), Listener()
    for cut in cuts:
        file.write_bytes(content[:cut])
        reading = GeminiSource().read(bundle)
        torn = torn_records(reading)
        listener.hear(sent.news(reading, lambda _: True, Unsettled(torn, absences=bool(torn))))
    file.write_bytes(content)
    return listener, reading


# What happens on a disk is told, whatever way it is noticed.


@pytest.mark.slow
@EVERY_WAY
def test_what_is_appended_is_told_and_nothing_else(start: Start, tmp_path: Path, poll: float | None) -> None:
    path = write_session(tmp_path)
    events = start(tmp_path, poll)
    silence(events)
    append(path, message("m1", "And now the logout"))
    (news,) = heard(events, says("And now the logout"))
    assert isinstance(news, SessionNews)
    assert news.session.native_id == FIRST_ID
    assert [one.happened for one in news.news] == [Happened.ADDED]
    silence(events)


@EVERY_WAY
def test_of_a_message_that_gets_more_only_that_is_told(
    start: Start, tmp_path: Path, poll: float | None
) -> None:
    path = write_session(tmp_path)
    events = start(tmp_path, poll)
    pending = tool_call(status="executing", result=None)
    append(path, answer("m1", "I look", toolCalls=[pending]))
    heard(events, says("I look"))
    append(path, answer("m1", "I look and see", toolCalls=[pending]))
    (grown,) = heard(events, says(" and see"))
    append(path, answer("m1", "I look and see", toolCalls=[tool_call()]))
    (done,) = heard(events, bool)
    assert isinstance(grown, SessionNews)
    assert isinstance(done, SessionNews)
    assert [one.happened for one in (*grown.news, *done.news)] == [Happened.CHANGED] * 2
    (call,) = done.news[0].new_parts
    assert done.news[0].message
    assert [call] == done.news[0].message.tool_calls


@EVERY_WAY
def test_a_rewind_is_told(start: Start, tmp_path: Path, poll: float | None) -> None:
    path = write_session(tmp_path)
    events = start(tmp_path, poll)
    append(path, message("m1", "Wrong way"), answer("m2", "Gone"), {"$rewindTo": "m1"})
    (together,) = heard(events, bool)
    assert isinstance(together, SessionNews)
    assert [(one.happened, one.message and one.message.state) for one in together.news] == [
        (Happened.ADDED, State.REWOUND),
        (Happened.ADDED, State.REWOUND),
    ]
    append(path, message("m3", "Another way"))
    heard(events, says("Another way"))
    append(path, {"$rewindTo": "m3"})
    (later,) = heard(events, bool)
    assert isinstance(later, SessionNews)
    assert [(one.happened, one.message_id, one.was) for one in later.news] == [
        (Happened.DROPPED, "m3", State.CURRENT)
    ]


@EVERY_WAY
def test_a_document_that_is_written_anew_each_time(start: Start, tmp_path: Path, poll: float | None) -> None:
    home = shutil.copytree(GEMINI / "rewind-json" / "home", tmp_path, dirs_exist_ok=True)
    (path,) = home.glob(".gemini/tmp/*/chats/*.json")
    document = json.loads(path.read_text())
    messages = document["messages"]
    path.write_text(json.dumps({**document, "messages": messages[:2]}, indent=2))
    events = start(tmp_path, poll)
    listener = Listener()
    listener.hear(next(events) for _ in range(2))
    path.write_text(json.dumps(document, indent=2))
    listener.hear(heard(events, bool))
    assert [news.message_id for news in listener.news] == [one["id"] for one in messages[2:]]
    # A rewind leaves messages out of the document.
    path.write_text(json.dumps({**document, "messages": messages[:1]}, indent=2))
    (gone,) = heard(events, bool)
    assert isinstance(gone, SessionNews)
    assert {one.message_id for one in gone.news} == {one["id"] for one in messages[1:]}
    assert all(one.message is None and one.happened is Happened.DROPPED for one in gone.news)


@pytest.mark.slow
@EVERY_WAY
def test_a_file_that_is_replaced_is_compared(start: Start, tmp_path: Path, poll: float | None) -> None:
    path = write_session(tmp_path)
    events = start(tmp_path, poll)
    silence(events, 2)
    beside = path.with_suffix(".new")
    beside.write_text(path.read_text() + json.dumps(message("m1", "After the move")) + "\n")
    beside.replace(path)
    heard(events, says("After the move"))
    silence(events)


@pytest.mark.slow
@EVERY_WAY
def test_a_home_a_project_and_a_session_that_appear_later(
    start: Start, tmp_path: Path, poll: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream_module, "SAFETY", 60)  # Events alone must do.
    events = start(tmp_path, poll)
    silence(events, 2)
    write_session(tmp_path, prompt="First", answer="1")
    heard(events, says("First", "1"))
    write_session(tmp_path, SECOND_ID, slug="other", prompt="Second", answer="2")
    heard(events, says("Second", "2"))
    path = write_session(tmp_path, "3e1d9a2b-0000-4000-8000-000000000003", prompt="Third", answer="3")
    heard(events, says("Third", "3"))
    append(path, message("m1", "More"))
    heard(events, says("More"))


@pytest.mark.slow
def test_where_there_is_nothing_yet_waiting_costs_nothing(tmp_path: Path) -> None:
    stop = threading.Event()
    events = to_be_closed(open_library([str(tmp_path)], sync=False)).watch(
        pace=Pace(heartbeat=0.5), stop=stop
    )
    with closing(events):  # type: ignore[type-var]
        assert isinstance(next(events), Watching)
        began = time.thread_time()
        assert [type(next(events)) for _ in range(3)] == [Quiet] * 3
        assert time.thread_time() - began < 0.5, "one that does not wait uses all of the time"


@EVERY_WAY
def test_subagents_whose_folder_appears_later(start: Start, tmp_path: Path, poll: float | None) -> None:
    recorded = GEMINI / "subagents-in-parallel" / "home"
    home = shutil.copytree(recorded, tmp_path, dirs_exist_ok=True)
    (chats,) = home.glob(".gemini/tmp/*/chats")
    (folder,) = (path for path in chats.iterdir() if path.is_dir())
    put_away = folder.rename(tmp_path / "later")
    events = start(tmp_path, poll)
    listener = Listener()
    folder.mkdir()
    silence(events, 2)
    for file in sorted(put_away.iterdir()):
        (folder / file.name).write_bytes(file.read_bytes())
        listener.hear(heard(events, lambda sent: any(isinstance(event, SessionNews) for event in sent)))
    finished = [session for bundle in bundles(home) for session in GeminiSource().read(bundle).sessions]
    subagents = [session for session in finished if session.parent_id]
    assert len(subagents) == 2
    assert messages_of(subagents).items() <= listener.messages.items()


@pytest.mark.slow
@EVERY_WAY
def test_a_session_whose_file_is_deleted(
    start: Start, tmp_path: Path, poll: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream_module, "PATIENCE", 0.2)
    path = write_session(tmp_path)
    write_session(tmp_path, SECOND_ID)
    events = start(tmp_path, poll)
    silence(events, 2)
    path.unlink()
    assert heard(events, bool) == [SessionGone(f"gemini:{FIRST_ID}")]
    silence(events)


@pytest.mark.slow
@EVERY_WAY
def test_half_a_record_is_told_when_nothing_more_comes(
    start: Start, tmp_path: Path, poll: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream_module, "PATIENCE", 0.4)
    path = write_session(tmp_path)
    events = start(tmp_path, poll)
    line = json.dumps(message("m1", "What I wanted to say is that"))
    with path.open("a") as file:
        file.write(json.dumps(message("m0", "Whole")) + "\n" + line[:-20])
    heard(events, says("Whole"))
    (half,) = heard(events, bool)
    with path.open("a") as file:
        file.write(line[-20:] + "\n")
    (rest,) = heard(events, bool)
    assert "".join(texts([half, rest])) == "What I wanted to say is that"


# What was there before the watch began.


@pytest.mark.slow
@EVERY_WAY
@pytest.mark.parametrize("name", ["jsonl", "json"])
def test_an_old_session_that_goes_on_tells_only_what_is_new(
    start: Start, tmp_path: Path, poll: float | None, name: str
) -> None:
    path = write_session(tmp_path)
    header, *records = map(json.loads, path.read_text().splitlines())
    if name == "json":
        path.unlink()
        path = path.with_suffix(".json")
        path.write_text(json.dumps({**header, "messages": records}))
    written = 1_777_650_000  # An hour after its last message.
    os.utime(path, (written, written))
    events = start(tmp_path, poll)
    silence(events, 2)
    new = message("m1", "Back again", timestamp="2026-06-01T10:00:00.000Z")
    if name == "json":
        path.write_text(json.dumps({**header, "messages": [*records, new]}))
    else:
        append(path, new)
    heard(events, says("Back again"))
    silence(events)


@pytest.mark.slow
@EVERY_WAY
def test_old_sessions_that_are_brought_here_are_not_news(
    start: Start, tmp_path: Path, poll: float | None
) -> None:
    write_session(tmp_path)
    old = write_session(tmp_path / "backup", SECOND_ID, slug="other")
    os.utime(old, (1_777_650_000, 1_777_650_000))
    events = start(tmp_path, poll)
    silence(events, 2)
    (tmp_path / "backup/.gemini/tmp/other").rename(tmp_path / ".gemini/tmp/other")
    silence(events, 10)


def test_the_last_messages_are_told_first(start: Start, tmp_path: Path) -> None:
    append(write_session(tmp_path), message("m1", "One more"))
    assert texts([next(start(tmp_path, 0.05, last=2))]) == ["Done.", "One more"]


# Trouble is told once, and watching goes on.


@EVERY_WAY
def test_what_cannot_be_read_is_told_once(
    start: Start, tmp_path: Path, poll: float | None, without_privileges: Rights
) -> None:
    closed = write_session(tmp_path)
    path = write_session(tmp_path, SECOND_ID)
    shut = tmp_path / ".gemini/tmp/shut"
    shut.mkdir()
    closed.chmod(0)
    shut.chmod(0)
    try:
        with without_privileges():
            events = start(tmp_path, poll)
            sent = heard(events, lambda sent: len(sent) == 2)
            silence(events)
    finally:
        closed.chmod(0o644)
        shut.chmod(0o755)
    places = {event.problem.file for event in sent if isinstance(event, Trouble)}
    assert places == {str(closed), str(shut)}
    append(path, message("m1", "Going on"))
    assert "Going on" in texts(heard(events, lambda sent: "Going on" in texts(sent)))


@pytest.mark.slow
@EVERY_WAY
def test_a_file_that_becomes_unreadable_is_not_gone(
    start: Start,
    tmp_path: Path,
    poll: float | None,
    without_privileges: Rights,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stream_module, "RETRY", 0.2)
    path = write_session(tmp_path)
    with without_privileges():
        events = start(tmp_path, poll)
        silence(events, 2)
    append(path, message("m1", "Secret"))
    path.chmod(0)
    with without_privileges():
        (sent,) = heard(events, bool)
        assert isinstance(sent, Trouble)
        silence(events)
    path.chmod(0o644)
    heard(events, says("Secret"))


class Vanishing(FileFinder):
    """A file that is deleted between the look at it and the reading of it."""

    def look(self) -> Found:
        found = super().look()
        items = {
            key: item._replace(read=partial(self._read_too_late, item)) for key, item in found.items.items()
        }
        return Found(items)

    def _read_too_late(self, item: Item) -> Reading:
        item.files[0].path.unlink(missing_ok=True)
        return item.read()


def test_a_file_that_is_deleted_under_our_hands_is_no_trouble(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream_module, "PATIENCE", 0.1)
    path = write_session(tmp_path)
    with closing(watch(Vanishing(path), pace=Pace(0.05, HEARTBEAT))) as events:
        assert isinstance(next(events), Watching)
        silence(events, 6)


def test_without_events_one_looks_and_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_session(tmp_path)

    def no_more(*folders: str, **_: object) -> Iterator[object]:
        if folders:
            raise OSError("OS file watch limit reached.")
        yield set()

    monkeypatch.setattr("watchfiles.watch", no_more)
    monkeypatch.setattr(stream_module, "POLL", 0.05)
    events = watch(FileFinder(path), whole=True, pace=Pace(heartbeat=HEARTBEAT))
    with closing(events):
        began = next(events)
        assert isinstance(began, Watching)
        assert (began.by_events, began.because) == (False, "OS file watch limit reached.")
        append(path, message("m1", "Seen all the same"))
        heard(events, says("Seen all the same"))


def test_a_folder_whose_name_is_no_text_is_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_session(tmp_path, slug="caf\udce9", project="/home/ada/dev/cafe")
    monkeypatch.setattr(stream_module, "POLL", 0.05)
    with closing(watch(FileFinder(path), whole=True, pace=Pace(heartbeat=HEARTBEAT))) as events:
        began = next(events)
        assert isinstance(began, Watching)
        assert (began.by_events, began.because) == (False, "a folder has a name that is no text")
        append(path, message("m1", "Seen all the same"))
        heard(events, says("Seen all the same"))


def test_lost_events_are_made_up_for(start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream_module, "SAFETY", 0.3)

    def nothing(*_: object) -> set[str]:
        time.sleep(0.02)
        return set()

    monkeypatch.setattr("geminids.sync.watch.notice.Events.wait", nothing)
    path = write_session(tmp_path)
    events = start(tmp_path, None)
    append(path, message("m1", "Nobody told us"))
    heard(events, says("Nobody told us"))


# The iterator as programs use it.


@EVERY_WAY
def test_another_thread_can_stop_it(tmp_path: Path, poll: float | None) -> None:
    write_session(tmp_path)
    stop = threading.Event()
    sent: list[AnyEvent] = []
    library = to_be_closed(open_library([str(tmp_path)]))
    consumer = threading.Thread(
        target=lambda: sent.extend(library.watch(pace=Pace(poll), stop=stop)), daemon=True
    )
    consumer.start()
    time.sleep(0.5)
    stop.set()
    consumer.join(2)
    assert not consumer.is_alive()
    assert len(sent) == 1


def test_closing_it_lets_go_of_everything(tmp_path: Path) -> None:
    write_session(tmp_path)
    library = to_be_closed(open_library([str(tmp_path)]))
    open_files, threads = _open_files(), threading.active_count()
    for _ in range(3):
        events = library.watch(pace=Pace(heartbeat=HEARTBEAT))
        while not isinstance(next(events), Quiet):
            pass
        events.close()  # type: ignore[attr-defined]
    assert threading.active_count() == threads
    deadline = time.monotonic() + 5
    while _open_files() > open_files and time.monotonic() < deadline:
        time.sleep(0.05)  # The thread of the operating system's events ends by itself.
    assert _open_files() <= open_files


def _open_files() -> int:
    folder = Path("/proc/self/fd")
    return sum(1 for _ in folder.iterdir()) if folder.exists() else 0


def test_one_session_is_followed_with_its_subagents(tmp_path: Path) -> None:
    home = shutil.copytree(GEMINI / "subagents-in-parallel" / "home", tmp_path, dirs_exist_ok=True)
    write_session(home, SECOND_ID, slug="other")
    (chats,) = home.glob(".gemini/tmp/alpha/chats")
    (main,) = chats.glob("*.jsonl")
    events = to_be_closed(open_library([str(home)])).watch("fea075c0", last=1, pace=Pace(0.05, HEARTBEAT))
    with closing(events):  # type: ignore[type-var]
        sent = heard(events, lambda sent: len(sent) == 2)
        assert isinstance(sent[1], SessionNews)
        assert sent[1].session.native_id.startswith("fea075c0")
        append(next(home.glob(".gemini/tmp/other/chats/*")), message("m1", "Elsewhere"))
        subagent = next(chats.glob("*/*.jsonl"))
        append(subagent, answer("m2", "From below"))
        append(main, message("m3", "From above"))
        both = heard(events, lambda sent: len(texts(sent)) == 2)
        assert set(texts(both)) == {"From below", "From above"}


def test_a_project_is_meant_by_its_name(tmp_path: Path) -> None:
    shop, workshop = write_session(tmp_path), write_session(tmp_path, SECOND_ID, slug="workshop")
    events = to_be_closed(open_library([str(tmp_path)])).watch(project="shop", pace=Pace(0.05, HEARTBEAT))
    with closing(events):  # type: ignore[type-var]
        next(events)
        append(workshop, message("m1", "Not here"))
        append(shop, message("m2", "Here"))
        heard(events, says("Here"))
        silence(events)


def test_a_session_belongs_to_each_folder_that_it_was_worked_in(tmp_path: Path) -> None:
    claude_lines.write(tmp_path, claude_lines.user("o", None, "Not here"), name="other.jsonl")
    went = claude_lines.write(tmp_path, claude_lines.user("u", None, "Start"))
    events = to_be_closed(open_library([str(tmp_path)])).watch(project="wharf", pace=Pace(0.05, HEARTBEAT))
    with closing(events):  # type: ignore[type-var]
        next(events)
        there = claude_lines.user("v", "u", "There") | {"cwd": "/home/ada/dev/wharf"}
        append(went, there)
        heard(events, says("Start", "There"))


def test_a_home_given_by_hand_is_waited_for(tmp_path: Path) -> None:
    events = to_be_closed(open_library([str(tmp_path)])).watch(pace=Pace(0.05, HEARTBEAT))
    with closing(events):  # type: ignore[type-var]
        next(events)
        write_session(tmp_path, prompt="First", answer="1")
        heard(events, says("First", "1"))


def test_a_burst_is_read_once(start: Start, tmp_path: Path) -> None:
    path = write_session(tmp_path)
    events = start(tmp_path, None)
    silence(events, 2)
    reads = 0
    for number in range(50):
        append(path, message(f"m{number}", f"line {number}"))
        time.sleep(0.001)
    sent: list[AnyEvent] = []
    while len(texts(sent)) < 50:
        sent += heard(events, bool)
        reads += 1
    assert reads <= 3
