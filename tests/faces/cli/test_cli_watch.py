"""`geminids watch` as people and scripts run it: a process that looks on while others write."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest

from geminids.agents.gemini import GeminiSource
from geminids.core.model import Message
from geminids.faces.documents.live import WatchDocument
from tests.conftest import FIXTURES, ROOT, Run
from tests.support.golden import check_golden
from tests.support.homes import write_session
from tests.support.reading import sessions
from tests.support.schemas import schema_of
from tests.support.watching import SECOND_ID, answer, append, append_elsewhere, message, watching

GEMINI = FIXTURES / "gemini"
EVERY_WAY = pytest.mark.parametrize("way", [(), ("--poll", "0.1")], ids=["events", "polling"])
SCHEMA = schema_of(WatchDocument, "geminids/watch/1")
Way = tuple[str, ...]


def line(record: dict[str, Any]) -> bytes:
    return json.dumps(record).encode() + b"\n"


@pytest.mark.slow
@EVERY_WAY
def test_what_another_process_appends_is_printed(tmp_path: Path, way: Way) -> None:
    path = write_session(tmp_path)
    with watching("--home", tmp_path, *way) as command:
        append_elsewhere(path, line(message("m1", "And the logout?")) + line(answer("m2", "It works.")))
        command.wait_for_words("It works.")
        append_elsewhere(path, line({"$rewindTo": "m1"}))
        command.wait_for_words("undone")
        assert command.lines == [
            "─ 1f0c9a2b  shop  Fix the login redirect",
            "",
            "You  11:00",
            "  And the logout?",
            "",
            "Gemini CLI  11:00",
            "  It works.",
            "",
            "⟲ rewound here: 2 messages undone",
        ]
        how = "looking every 0.1 s" if way else "file events"
        assert command.said == [f"geminids: Watching {tmp_path}/.gemini by {how}."]


@pytest.mark.slow
@EVERY_WAY
@pytest.mark.parametrize("name", ["rewind-jsonl-2", "tool-calls-jsonl-2", "compress-checkpoint"])
def test_a_recorded_session_that_is_written_in_pieces(tmp_path: Path, way: Way, name: str) -> None:
    home = shutil.copytree(GEMINI / name / "home", tmp_path / "home")
    (path,) = home.glob(".gemini/tmp/*/chats/*.jsonl")
    expected = {m.id: json.loads(msgspec.json.encode(m.parts)) for m in _messages(home)}
    states = {m.id: str(m.state) for m in _messages(home)}
    content = path.read_bytes()
    path.unlink()
    with watching("--home", home, "--json", *way) as command:
        size = len(content) // 40
        append_elsewhere(path, content, size=size, pause=0.03)

        def is_all_told() -> bool:
            last = {document["message_id"]: document["message"] for document in command.documents}
            told = {name: (message["state"], message["parts"]) for name, message in last.items() if message}
            return told == {name: (states[name], parts) for name, parts in expected.items()}

        command.wait_for(is_all_told)
        documents = command.documents
    for document in documents:
        jsonschema.Draft202012Validator(SCHEMA).validate(document)
    added = [document["message_id"] for document in documents if document["happened"] == "added"]
    assert sorted(added) == sorted(expected), "each once"


def _messages(home: Path) -> list[Message]:
    return [message for session in sessions(GeminiSource(), home) for message in session.messages]


@pytest.mark.slow
@EVERY_WAY
def test_a_document_that_another_process_replaces(tmp_path: Path, way: Way) -> None:
    # As if it had just been written: of what is older, only messages of later times are new.
    home = shutil.copytree(GEMINI / "rewind-json" / "home", tmp_path / "home", copy_function=shutil.copy)
    (path,) = home.glob(".gemini/tmp/*/chats/*.json")
    document = json.loads(path.read_text())
    with watching("--home", home, "--json", *way) as command:
        new = {**document, "messages": [*document["messages"], message("m1", "Replaced")]}
        beside = tmp_path / "new"
        beside.write_text(json.dumps(new))
        subprocess.run(
            [sys.executable, "-c", f"import os; os.replace({str(beside)!r}, {str(path)!r})"], check=True
        )
        command.wait_for(lambda: command.documents)
        assert [(d["happened"], d["message_id"]) for d in command.documents] == [("added", "m1")]


@pytest.mark.slow
@EVERY_WAY
def test_a_project_that_appears_later_has_a_heading_of_its_own(tmp_path: Path, way: Way) -> None:
    path = write_session(tmp_path)
    with watching("--home", tmp_path, *way) as command:
        append(path, message("m1", "Here"))
        command.wait_for_words("Here")
        write_session(tmp_path, SECOND_ID, slug="other", prompt="There", answer="Yes.")
        command.wait_for_words("Yes.")
        append(path, message("m2", "Here again"))
        command.wait_for_words("Here again")
    headings = [text for text in command.lines if text.startswith("─")]
    assert [text.split()[2] for text in headings] == ["shop", "other", "shop"]


@pytest.mark.slow
@EVERY_WAY
def test_ctrl_c_ends_it_quietly(tmp_path: Path, way: Way) -> None:
    write_session(tmp_path)
    with watching("--home", tmp_path, *way) as command:
        time.sleep(0.2)
        command.process.send_signal(signal.SIGINT)
        assert command.end() == 130
        assert len(command.said) == 1, "nothing but where it watched"


@pytest.mark.slow
@EVERY_WAY
def test_a_reader_that_goes_away_ends_it_quietly(tmp_path: Path, way: Way) -> None:
    write_session(tmp_path)
    arguments = ["watch", "--home", str(tmp_path), *way]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, "-m", "geminids", *arguments], stdout=pipe, stderr=pipe
    ) as process:
        assert process.stderr
        assert process.stdout
        assert b"Watching" in process.stderr.readline()
        process.stdout.close()
        # Nothing is written any more, and still it is noticed.
        assert process.wait(10) == 0
        assert process.stderr.read() == b""


@pytest.mark.slow
def test_it_stops_when_it_was_told_to(tmp_path: Path, geminids: Run) -> None:
    write_session(tmp_path)
    began = time.monotonic()
    assert geminids("watch", "--home", tmp_path, "--for", "0.5").code == 0
    assert geminids("watch", "--home", tmp_path, "--poll", "0.1", "--until-idle", "0.5").code == 0
    assert 1 <= time.monotonic() - began < 10


@pytest.mark.slow
def test_one_session_begins_with_its_last_messages(tmp_path: Path, geminids: Run) -> None:
    path = write_session(tmp_path)
    write_session(tmp_path, SECOND_ID, slug="other", prompt="Not this one")
    short = ("--home", tmp_path, "--for", "0.3")
    for wanted in ("1f0c9a2b", str(path)):
        told = geminids("watch", wanted, *short)
        assert told.out.splitlines()[2:] == [
            "You  10:00",
            "  Fix the login redirect",
            "",
            "Gemini CLI  10:05",
            "  Done.",
        ]
    assert "Fix" not in geminids("watch", "1f0c9a2b", "-n", "1", *short).out.partition("\n")[2]
    assert geminids("watch", "1f0c9a2b", "-n", "0", *short).out == ""
    assert geminids("watch", *short).out == ""
    assert geminids("watch", "--last", "1", *short).out.count("Done.") == 2


def test_what_is_none_is_said_as_elsewhere(tmp_path: Path, geminids: Run) -> None:
    write_session(tmp_path)
    assert geminids("watch", "nothing", "--home", tmp_path).code == 1
    assert geminids("watch", tmp_path / "no.jsonl", "--home", tmp_path).code == 2
    assert geminids("watch", "", "--home", tmp_path).code == 2
    assert geminids("watch", "--poll", "0", "--home", tmp_path).code == 2


@pytest.mark.slow
def test_hostile_words_cannot_steer_the_terminal(tmp_path: Path) -> None:
    path = write_session(tmp_path)
    hostile = "\x1b]52;c;ZXZpbA==\x07 \u202egnp.exe \x1b[2J"
    with watching("--home", tmp_path) as drawn, watching("--home", tmp_path, "--json") as printed:
        append(path, message("m1", f"{hostile} end"))
        drawn.wait_for_words("end")
        printed.wait_for_words("end")
        for text in (*drawn.lines, *printed.lines):
            assert not set(text) & {"\x1b", "\x07", "\u202e"}
        assert printed.documents[0]["message"]["parts"][0]["text"] == f"{hostile} end"


@pytest.mark.slow
def test_a_machine_without_watchfiles_looks_again_and_again(tmp_path: Path) -> None:
    stand_in = tmp_path / "modules"
    stand_in.mkdir()
    (stand_in / "watchfiles.py").write_text("raise ImportError")
    path = write_session(tmp_path)
    modules = os.pathsep.join([str(stand_in), os.environ.get("PYTHONPATH", "")])
    with watching("--home", tmp_path, PYTHONPATH=modules) as command:
        assert "by looking every 1 s (watchfiles is not installed; `" in command.said[0]
        append(path, message("m1", "Seen all the same"))
        command.wait_for_words("Seen all the same")


def test_polling_can_be_wished_as_watchfiles_has_it(tmp_path: Path) -> None:
    write_session(tmp_path)
    with watching("--home", tmp_path, WATCHFILES_FORCE_POLLING="1") as command:
        assert "(WATCHFILES_FORCE_POLLING is set)" in command.said[0]


@pytest.mark.slow
def test_the_folders_that_are_watched_have_a_limit(tmp_path: Path) -> None:
    stand_in = tmp_path / "modules"
    stand_in.mkdir()
    limit = 'raise OSError("OS file watch limit reached.")'
    (stand_in / "watchfiles.py").write_text(f"def watch(*_, **__):\n    {limit}\n    yield\n")
    path = write_session(tmp_path)
    modules = os.pathsep.join([str(stand_in), os.environ.get("PYTHONPATH", "")])
    with watching("--home", tmp_path, PYTHONPATH=modules) as command:
        assert "(OS file watch limit reached.)" in command.said[0]
        append(path, message("m1", "Seen all the same"))
        command.wait_for_words("Seen all the same")


@pytest.mark.slow
def test_a_deleted_session_is_named(tmp_path: Path) -> None:
    path = write_session(tmp_path)
    with watching("--home", tmp_path, "--json", "--poll", "0.1") as command:
        path.unlink()
        command.wait_for(lambda: command.documents)
        assert command.documents[0]["happened"] == "gone"
        jsonschema.Draft202012Validator(SCHEMA).validate(command.documents[0])


def test_the_schema_in_docs_is_that_of_the_lines() -> None:
    check_golden(ROOT / "docs" / "watch.schema.json", SCHEMA)
