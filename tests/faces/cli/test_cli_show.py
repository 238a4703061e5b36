"""`geminids show`."""

import json
import re
import shlex
import subprocess
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from geminids.core.model import Companion, CompanionKind
from geminids.sharing.transcript import safe
from tests.conftest import FIXTURES, Run
from tests.support.exporting import exported, hostile_session
from tests.support.homes import FIRST_ID, tool_call, write_session
from tests.support.terminal import Terminal, on_terminal

SECOND_ID = "2e2e2e2e-0000-4000-8000-000000000002"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    write_session(tmp_path, day=1)
    write_session(tmp_path, SECOND_ID, slug="blog", day=9, prompt="Write a post")
    return tmp_path


def test_a_transcript_tells_who_said_what(geminids: Run, home: Path) -> None:
    outcome = geminids("show", FIRST_ID, "--home", home)
    assert outcome.code == 0
    assert outcome.out.splitlines() == [
        "Fix the login redirect",
        "/home/ada/dev/shop  Gemini CLI",
        "2026-05-01 10:00 to 10:05 (5 min)",
        "gemini-3-pro · tokens: 10 in, 2 out",
        f"✓ success  gemini:{FIRST_ID}",
        "-" * 72,
        "",
        "You  #1  10:00",
        "  Fix the login redirect",
        "",
        "Gemini CLI  #2  10:05",
        "  Done.",
    ]


@pytest.mark.parametrize("wanted", [FIRST_ID, f"gemini:{FIRST_ID}", "1f0", "1F0C9A", "gemini:1f0c", "2"])
def test_a_session_is_found_by_every_kind_of_id(geminids: Run, home: Path, wanted: str) -> None:
    geminids("list", "--home", home)
    assert geminids("show", wanted, "--home", home).out.startswith("Fix the login redirect")


def test_latest_is_the_newest_session(geminids: Run, home: Path) -> None:
    assert geminids("show", "latest", "--home", home).out.startswith("Write a post")


def test_a_number_means_the_line_of_the_last_list(geminids: Run, home: Path) -> None:
    geminids("list", "--home", home, "--project", "shop")
    assert geminids("show", "1", "--home", home).out.startswith("Fix the login redirect")
    geminids("list", "--home", home, "--project", "blog")
    assert geminids("show", "1", "--home", home).out.startswith("Write a post")


def test_a_number_without_a_list_means_the_list_one_would_see(geminids: Run, home: Path) -> None:
    assert geminids("show", "2", "--home", home).out.startswith("Fix the login redirect")


def test_a_number_tells_two_sessions_of_one_id_apart(geminids: Run, home: Path, tmp_path: Path) -> None:
    write_session(tmp_path / "backup", slug="workshop", day=1, answer="Done, in the backup.")
    homes = ("--home", home, "--home", tmp_path / "backup")
    geminids("list", *homes, "--project", "hop")
    answers = {geminids("show", number, *homes).out.splitlines()[-1].strip() for number in (1, 2)}
    assert answers == {"Done.", "Done, in the backup."}


def test_a_number_of_a_list_of_other_homes_is_no_number_of_these(
    geminids: Run, home: Path, tmp_path: Path
) -> None:
    write_session(tmp_path / "other", "55555555-e")
    geminids("list", "--home", home)
    outcome = geminids("show", "1", "--home", tmp_path / "other")
    assert (outcome.code, outcome.out) == (2, "")
    assert f"Line 1 of your last list is from {home}" in outcome.err
    assert "gemini:" not in outcome.err


def test_a_number_beyond_the_list_says_how_long_it_was(geminids: Run, home: Path) -> None:
    geminids("list", "--home", home)
    outcome = geminids("show", "9", "--home", home)
    assert outcome.code == 1
    assert "the last list had 2 lines" in outcome.err


def test_a_line_whose_session_is_gone_says_so(
    geminids: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GEMINIDS_KEEP", "0")
    geminids("list", "--home", home)
    path = next((home / ".gemini").rglob("*1f0c9a2b.jsonl"))
    path.unlink()
    outcome = geminids("show", "2", "--home", home)
    assert outcome.code == 1
    assert f"The session of line 2 is gone from {path}" in outcome.err


def test_a_line_whose_session_moved_to_another_file_is_found(geminids: Run, home: Path) -> None:
    geminids("list", "--home", home)
    path = next((home / ".gemini").rglob("*1f0c9a2b.jsonl"))
    path.rename(path.with_name("session-2026-05-01T10-01-1f0c9a2b.jsonl"))
    assert geminids("show", "2", "--home", home).out.startswith("Fix the login redirect")


def test_digits_may_begin_an_id(geminids: Run, home: Path) -> None:
    write_session(home, "77777777-a", prompt="Digits")
    geminids("list", "--home", home)
    assert geminids("show", "777", "--home", home).out.startswith("Digits")


def test_a_file_is_shown_without_looking_anywhere_else(geminids: Run, home: Path) -> None:
    path = next((home / ".gemini").rglob("*1f0c9a2b.jsonl"))
    assert geminids("show", path).out.startswith("Fix the login redirect")


@pytest.mark.parametrize("name", ["latest", "1", "2e2e2e2e"])
def test_ids_and_numbers_win_over_files_of_that_name(
    geminids: Run, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (tmp_path / name).write_text("not a session")
    monkeypatch.chdir(tmp_path)
    assert geminids("show", name, "--home", home).out.startswith("Write a post")
    assert "looks like plain text" in geminids("show", f"./{name}", "--home", home).err


@pytest.mark.parametrize("name", ["copy.jsonl", "copy.JSON", "copy"])
def test_a_name_that_is_no_id_may_be_a_file(
    geminids: Run, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (tmp_path / name).write_bytes(next((home / ".gemini").rglob("*1f0c9a2b.jsonl")).read_bytes())
    monkeypatch.chdir(tmp_path)
    assert geminids("show", name, "--home", home).out.startswith("Fix the login redirect")


@pytest.mark.slow
@pytest.mark.parametrize("options", [[], ["--json"], ["--agent-view"]])
def test_a_session_may_come_from_stdin(
    home: Path, command: Callable[..., subprocess.CompletedProcess[bytes]], options: list[str]
) -> None:
    content = next((home / ".gemini").rglob("*1f0c9a2b.jsonl")).read_bytes()
    done = command("show", "-", *options, input=content)
    assert done.returncode == 0, done.stderr
    assert b"Fix the login redirect" in done.stdout
    assert b"looks like plain text" in command("show", "-", *options, input=b"hello").stderr


@pytest.mark.parametrize(
    ("name", "content", "looks_like"),
    [
        ("empty.json", b"", "an empty file"),
        ("a.png", b"\x89PNG\r\n\x1a\n", "a PNG image"),
        (
            "qwen.jsonl",
            b'{"type":"user","uuid":"a","sessionId":"b","message":{"parts":[]}}\n',
            "a Qwen Code session, which geminids cannot read yet",
        ),
        ("checkpoint-a.json", b'{"history": [], "authType": "x"}', "a saved chat of Gemini CLI"),
        ("x.json", b'{"a": 1}', "JSON of an unknown format"),
        ("notes.txt", b"hello\n", "plain text"),
    ],
)
def test_a_file_that_is_no_session_is_told_what_it_looks_like(
    geminids: Run, tmp_path: Path, name: str, content: bytes, looks_like: str
) -> None:
    (tmp_path / name).write_bytes(content)
    outcome = geminids("show", tmp_path / name)
    assert (outcome.code, outcome.out) == (1, "")
    assert f"looks like {looks_like}" in outcome.err
    assert len(outcome.err.splitlines()) == 1


def test_a_folder_and_a_missing_file_are_told(geminids: Run, tmp_path: Path) -> None:
    assert "looks like a folder" in geminids("show", f"{tmp_path}/").err
    missing = geminids("show", tmp_path / "missing.json")
    assert missing.code == 2
    assert "there is no such file" in missing.err


def test_an_unknown_id_gives_the_nearest(geminids: Run, home: Path) -> None:
    outcome = geminids("show", "1f0c9a2c", "--home", home)
    assert outcome.code == 1
    assert f"gemini:{FIRST_ID}  2026-05-01 10:05  shop  Fix the login redirect" in outcome.err


def test_an_ambiguous_prefix_gives_the_candidates(geminids: Run, home: Path) -> None:
    write_session(home, "1f0c9a2b-9999-4000-8000-000000000009", day=3, prompt="Another")
    outcome = geminids("show", "1f0c", "--home", home)
    assert outcome.code == 2
    assert [line.split("  ")[-1] for line in outcome.err.splitlines()[1:]] == [
        "Another",
        "Fix the login redirect",
    ]


def test_json_is_what_programs_rely_on(geminids: Run, home: Path) -> None:
    document = json.loads(geminids("show", FIRST_ID, "--home", home, "--json").out)
    assert document["schema"] == "geminids/session/1"
    assert [message["role"] for message in document["messages"]] == ["user", "assistant"]
    message = document["messages"][0]
    assert {"id", "role", "origin", "state", "at", "model", "parts", "usage", "source"} <= message.keys()
    assert {"file", "line", "start", "end"} <= message["source"].keys()


def test_the_agents_view_is_the_record_as_the_agent_loads_it(geminids: Run, home: Path) -> None:
    document = json.loads(geminids("show", FIRST_ID, "--home", home, "--agent-view", "--json").out)
    assert document["schema"] == "geminids/agent-view/1"
    assert document["sessionId"] == FIRST_ID
    assert [message["type"] for message in document["messages"]] == ["user", "gemini"]
    assert "Fix the login redirect" in geminids("show", FIRST_ID, "--home", home, "--agent-view").out


def test_a_file_the_agent_would_not_load_says_so(geminids: Run, home: Path) -> None:
    path = next((home / ".gemini").rglob("*1f0c9a2b.jsonl"))
    path.write_bytes(path.read_bytes().partition(b"\n")[2])
    assert geminids("show", path).code == 0
    outcome = geminids("show", path, "--agent-view")
    assert outcome.code == 1
    assert "would not load" in outcome.err
    assert "Without --agent-view" in outcome.err
    path.write_text("no session")
    assert "Without --agent-view" not in geminids("show", path, "--agent-view").err


def shown_call(geminids: Run, home: Path, *options: str, **fields: Any) -> list[str]:
    path = write_session(home, "4a4a4a4a-0000-4000-8000-000000000004", calls=[tool_call(**fields)])
    lines: list[str] = geminids("show", path, *options).out.splitlines()
    return lines[lines.index("Gemini CLI  #2  10:05") + 1 :]


def test_a_tool_call_is_one_line_with_its_telling_argument(geminids: Run, home: Path) -> None:
    lines = shown_call(geminids, home)
    assert "  ● run_shell_command  npm test" in lines
    path = "/home/ada/dev/shop/src/login.ts"
    assert "  ● read_file  src/login.ts" in shown_call(
        geminids, home, name="read_file", args={"file_path": path}
    )
    grep = shown_call(geminids, home, name="grep_search", args={"pattern": "TODO", "dir_path": "src"})
    assert "  ● grep_search  TODO in src" in grep


def test_a_command_that_failed_is_marked_with_its_exit_code(geminids: Run, home: Path) -> None:
    answer = {"name": "run_shell_command", "response": {"output": "Output: (empty)\nExit Code: 3"}}
    lines = shown_call(geminids, home, result=[{"functionResponse": answer}])
    assert "  ✗ run_shell_command  npm test  (exit 3)" in lines


def test_a_question_is_shown_with_its_answer(geminids: Run, home: Path) -> None:
    lines = shown_call(
        geminids,
        home,
        name="ask_user",
        args={"questions": [{"question": "Which drink?", "header": "Drink"}]},
        resultDisplay="**User answered:**\n  Drink → Milk",
    )
    place = lines.index("  ● ask_user  Which drink?")
    assert lines[place + 1] == "    Drink → Milk"


def test_an_error_is_marked_with_its_first_line(geminids: Run, home: Path) -> None:
    failed = [{"functionResponse": {"name": "x", "response": {"error": "File not found\nat line 3"}}}]
    lines = shown_call(geminids, home, status="error", result=failed)
    assert lines[lines.index("  ✗ run_shell_command  npm test  (error)") + 1] == "    File not found"
    assert "  ⊘ run_shell_command  npm test  (cancelled)" in shown_call(geminids, home, status="cancelled")


def test_arguments_and_outputs_are_shown_on_request(geminids: Run, home: Path) -> None:
    assert not any(
        "the whole output" in line for line in shown_call(geminids, home, resultDisplay="the whole output")
    )
    lines = shown_call(geminids, home, "--tools", resultDisplay="the whole output")
    assert "    command: npm test" in lines
    assert "    the whole output" in lines


def test_an_edit_is_shown_as_a_diff_cut_short_unless_asked_for(geminids: Run, home: Path) -> None:
    diff = "Index: a\n=====\n--- a\n+++ a\n@@ -1,30 +1,30 @@\n" + "".join(f"+line {n}\n" for n in range(30))
    display = {
        "fileDiff": diff,
        "fileName": "a",
        "filePath": "/home/ada/dev/shop/a",
        "originalContent": "",
        "newContent": "x",
        "diffStat": {"model_added_lines": 30, "model_removed_lines": 0},
    }
    edit = {"name": "replace", "args": {"file_path": "/home/ada/dev/shop/a"}, "resultDisplay": display}
    lines = shown_call(geminids, home, **edit)
    assert "    +line 0" in lines
    assert "    +line 29" not in lines
    assert "    … 19 more lines (--tools)" in lines
    assert "    +line 29" in shown_call(geminids, home, "--tools", **edit)


def test_hostile_words_are_harmless(geminids: Run, home: Path) -> None:
    hostile = "\x1b]52;c;ZXZpbA==\x07 \x1b[2J \u202e \x9b \ud83d \x00"
    path = write_session(
        home,
        prompt=hostile,
        answer=hostile,
        calls=[tool_call(args={"command": hostile}, resultDisplay=hostile)],
    )
    for options in (["--all"], ["--all", "--width", "60"], ["--json"], ["--agent-view"]):
        outcome = geminids("show", path, *options)
        assert outcome.code == 0
        assert not set(outcome.out) & set("\x1b\x07\x9b\x00\u202e\x7f")
    assert "␛]52;c;ZXZpbA==␇" in geminids("show", path).out


def case(name: str) -> Path:
    return FIXTURES / "gemini" / name / "home"


def test_what_was_rewound_is_left_out_and_said(geminids: Run) -> None:
    told = geminids("show", "fd2a76ff", "--sample").out
    assert "⟲ rewound here: 5 messages undone" in told
    assert "rewound messages (--all)" in told
    assert "cache_db.py" not in told
    assert "cache_db.py" in geminids("show", "fd2a76ff", "--sample", "--all").out


def test_what_was_compressed_stays_in_the_story(geminids: Run) -> None:
    told = geminids("show", "a1a64e56", "--sample").out
    assert "And when all retries fail, what should people see?" in told
    assert "⟲ compressed here" in told
    assert "state_snapshot" not in told
    assert "state_snapshot" in geminids("show", "a1a64e56", "--sample", "--all").out


def test_thoughts_and_notices_are_told_on_request(geminids: Run) -> None:
    assert "A second skycast must never see half a file" not in geminids("show", "fd2a", "--sample").out
    assert (
        "A second skycast must never see half a file"
        in geminids("show", "fd2a", "--sample", "--thoughts").out
    )
    assert "Request cancelled." in geminids("show", "fd2a", "--sample", "--notices").out


def test_context_that_the_agent_put_in_is_not_worth_a_word(geminids: Run) -> None:
    told = geminids("show", "51ca1661", "--sample")
    assert "injected" not in told.out
    assert "Hidden: 1 thought (--thoughts), 1 notice (--notices)." in told.out
    assert "\nContext  " in geminids("show", "51ca1661", "--sample", "--all").out


def test_a_command_of_the_shell_is_drawn_with_its_output(geminids: Run) -> None:
    told = geminids("show", "latest", "--home", case("shell-mode")).out
    assert "\n  ! wc -l notes.txt\n  2 notes.txt\n" in told
    assert "\n  /greet" in geminids("show", "latest", "--home", case("custom-command")).out


def test_a_subagent_says_whose_it_is_what_it_was_told_and_what_it_found(geminids: Run) -> None:
    home = case("subagents-in-parallel")
    listed = json.loads(geminids("list", "--home", home, "--kind", "subagent", "--json").out)["sessions"]
    stories = []
    for session in listed:
        told = geminids("show", session["id"], "--home", home).out
        assert f"↳ a subagent; its parent: geminids show {session['parent_id']} --home {home}\n" in told
        assert "\nTask  " in told
        assert session["title"] in told.split("\nTask  ")[1]
        stories.append(told)
    assert any("  ● complete_task\n    White and mild / drink, my child.\n" in told for told in stories)
    parent = geminids("show", listed[0]["parent_id"], "--home", home).out
    assert f"its session: geminids show {listed[0]['id']} --home {home}\n" in parent


def test_damage_is_named_on_request(geminids: Run, home: Path) -> None:
    path = next((home / ".gemini").rglob("*1f0c9a2b.jsonl"))
    path.write_bytes(path.read_bytes() + b'{"id":"x","secret\n')
    assert "⚠ 1 problem in its files (--notices names them)" in geminids("show", path).out
    named = geminids("show", path, "--notices").out
    assert f"bad-json  {path}:4" in named
    assert "secret" not in named


def test_errors_are_always_told(geminids: Run) -> None:
    assert "\nError  " in geminids("show", "latest", "--home", case("failed-prompt")).out


RECORDED = sorted(
    path for path in FIXTURES.glob("gemini/*/home/.gemini/tmp/*/chats/**/*.json*") if path.is_file()
)


@pytest.mark.slow
@pytest.mark.parametrize("path", RECORDED, ids=lambda path: f"{path.parents[5].name}-{path.name}")
def test_every_recorded_session_can_be_shown(geminids: Run, path: Path) -> None:
    document = geminids("show", path, "--json")
    if not path.stat().st_size:
        assert (document.code, document.out) == (1, "")
        assert "it looks like an empty file" in document.err
        return
    assert (document.code, document.err) == (0, "")
    sessions = [json.loads(document.out), *json.loads(document.out).get("others", ())]
    assert {str(path)} == {file["path"] for session in sessions for file in session["files"]}
    for options in ([], ["--all"], ["--width", "110"]):
        shown = geminids("show", path, *options)
        assert (shown.code, shown.err) == (0, "")
        for session in sessions:
            assert session["id"] in shown.out
    told = letters(geminids("show", path, "--all").out)
    for message in (message for session in sessions for message in session["messages"]):
        for part in message["parts"]:
            if part["part"] == "text":
                assert letters(safe.text(part["text"])) in told


def letters(text: str) -> str:
    return "".join(character for character in text if character.isalnum())


@pytest.mark.parametrize(
    "answer",
    [
        "Use the <Button> of <b>ours</b>.",
        "> " * 40 + "deep",
        "See [docs] here.\n\n[docs]: https://example.com/docs",
        "![a picture](https://example.com/a.png)",
        "| a | b |\n|---|---|\n| " + "long " * 30 + "| " + "cell " * 30 + "|",
        "```python\nprint('x' * 3)\n```",
        "1. one\n2. two\n\n* three\n  - four",
        "AT&amp;T &lt;tag&gt; \\*star\\* snake_case_name **bold**",
        "~~gone~~ `code` [words](https://example.com/x?y=1)",
        "<!-- hidden --> shown",
    ],
)
def test_laying_out_an_answer_loses_no_letter(geminids: Run, home: Path, answer: str) -> None:
    told = geminids("show", write_session(home, answer=answer), "--width", "60").out
    letters = [c for c in answer.replace("```python", "```") if c.isalnum()]
    shown = [c for c in told.split("Gemini CLI  #2  10:05")[1] if c.isalnum()]
    assert not [c for c in set(letters) if shown.count(c) < letters.count(c)]


@pytest.mark.parametrize("odd", ["text", 7, {"a": 1}, [1, "x", None, {"name": 3}], None])
def test_fields_of_a_wrong_type_can_be_shown(geminids: Run, home: Path, odd: Any) -> None:
    path = write_session(home)
    records = [json.loads(line) for line in path.read_text().splitlines()]
    records += [
        {"id": "odd", "type": "gemini", "timestamp": odd, "content": odd, "toolCalls": odd, "thoughts": odd}
    ]
    records += [
        {"id": "call", "type": "gemini", "toolCalls": [tool_call(args=odd, resultDisplay=odd, result=odd)]}
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    for options in (
        ["--all"],
        ["--all", "--width", "50"],
        ["--json"],
        ["--agent-view"],
        ["--agent-view", "--json"],
    ):
        assert geminids("show", path, *options).code == 0


def test_a_place_that_cannot_be_read_may_hold_what_was_asked_for(
    geminids: Run, home: Path, without_privileges: Callable[[], AbstractContextManager[None]]
) -> None:
    geminids("show", "latest", "--home", home)  # loads all code while it can be read
    geminids("show", "zzzz", "--home", home)
    (home / ".gemini" / "tmp" / "blog" / "chats").chmod(0)
    with without_privileges():
        latest = geminids("show", "latest", "--home", home)
        known = geminids("show", FIRST_ID, "--home", home)
        missing = geminids("show", "2e2e", "--home", home)
    assert (latest.code, known.code, missing.code) == (3, 0, 1)
    assert latest.out == known.out
    assert "tmp/blog/chats: " in latest.err
    assert "tmp/blog/chats: " in missing.err


@pytest.mark.parametrize("wanted", ["latest", SECOND_ID])
def test_a_file_that_cannot_be_read_is_named(
    geminids: Run, home: Path, without_privileges: Callable[[], AbstractContextManager[None]], wanted: str
) -> None:
    closed = write_session(home, SECOND_ID, slug="blog", day=10)
    geminids("show", wanted, "--home", home)  # loads all code while it can be read
    closed.chmod(0)
    with without_privileges():
        outcome = geminids("show", wanted, "--home", home)
    assert outcome.out.startswith("Write a post")
    assert outcome.code == 3
    assert f"Cannot read {closed}: Permission denied" in outcome.err


def test_a_session_can_be_read_from_one_of_its_messages_on(geminids: Run) -> None:
    whole = json.loads(geminids("show", "51ca", "--sample", "--json").out)["messages"]
    rest = json.loads(geminids("show", "51ca", "--sample", "--json", "--at", "5").out)["messages"]
    assert rest == whole[4:]
    beyond = geminids("show", "51ca", "--sample", "--at", "99")
    assert (beyond.code, beyond.out) == (2, "")
    assert "12 messages" in beyond.err


def test_a_session_whose_file_has_gone_is_said_to_be_gone(
    geminids: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GEMINIDS_KEEP", "0")
    path = write_session(tmp_path)
    geminids("sync", "--home", tmp_path)
    path.unlink()
    gone = geminids("show", "1f0c", "--home", tmp_path, "--no-sync")
    assert (gone.code, gone.out) == (1, "")
    assert "is gone from" in gone.err


def test_a_document_cannot_make_us_open_the_files_that_it_names(
    geminids: Run, tmp_path: Path, machine: Path
) -> None:
    secret = machine / "secret.md"
    secret.write_text("nobody should read this")
    session = hostile_session()
    plan = Companion(CompanionKind.PLAN, str(secret), 10, None)
    session = msgspec.structs.replace(session, companions=(plan,))
    document = tmp_path / "session.json"
    document.write_bytes(exported("json", session))
    code, out, err = geminids("show", document, "--beside", "--all")
    assert code == 0, err
    assert "nobody should read this" not in out


def test_messages_have_the_numbers_that_other_commands_speak_in(geminids: Run) -> None:
    hit = json.loads(geminids("search", "terminals", "--in", "human", "--sample", "--json").out)["hits"][0]
    session, number = hit["session"]["id"], hit["message"]["number"]
    whole = geminids("show", session, "--tools", "--sample").out
    assert f"  #{number}  " in whole
    assert "above" not in whole
    part = geminids("show", session, "--at", str(number), "--tools", "--sample").out
    assert f"\n{number - 1} message{'s' if number > 2 else ''} above\n" in part
    assert f"  #{number}  " in part
    assert "  #1  " not in part
    tokens = [line for line in whole.splitlines() if " · tokens: " in line]
    assert [line for line in part.splitlines() if " · tokens: " in line] == tokens


# -- numbers, what is above and below, what was looked for -------------------


@pytest.fixture
def long_session(tmp_path: Path) -> Path:
    """A session in which the model calls tools and goes on, five messages from prompt to answer."""
    calls = [{"id": "c1", "name": "read_file", "args": {"file_path": "shop/cart.py"}, "status": "success"}]
    write_session(tmp_path, answer="The carts are counted twice.", calls=calls)
    path = next((tmp_path / ".gemini").rglob("*.jsonl"))
    lines = path.read_text().splitlines()
    more: list[dict[str, Any]] = [
        {"id": "a2", "type": "gemini", "content": "", "toolCalls": calls},
        {"id": "a3", "type": "gemini", "content": "Now every **cart** is counted once."},
        {"id": "u2", "type": "user", "content": [{"text": "And the cart in the header?"}]},
    ]
    times = ({"timestamp": f"2026-05-01T10:0{minute}:00.000Z"} for minute in (2, 3, 4))
    told = [json.dumps(record | time) for record, time in zip(more, times, strict=True)]
    path.write_text("\n".join([*lines, *told]) + "\n")
    return tmp_path


def test_every_message_has_its_number_also_one_that_goes_on(geminids: Run, long_session: Path) -> None:
    shown = geminids("show", "latest", "--home", long_session).out
    numbers = re.findall(r"#(\d+)", shown)
    messages = json.loads(geminids("show", "latest", "--json", "--home", long_session).out)["messages"]
    assert numbers == [str(number) for number in range(1, len(messages) + 1)] == ["1", "2", "3", "4", "5"]
    assert re.search(r"^  ● read_file  #3  shop/cart.py$", shown, re.MULTILINE)
    assert "\n  #4\n  Now every **cart** is counted once.\n" in shown


@pytest.mark.parametrize("number", [1, 2, 3, 4, 5])
def test_the_number_that_is_shown_is_the_one_that_is_taken(
    geminids: Run, long_session: Path, number: int
) -> None:
    shown = geminids("show", "latest", "--at", number, "--limit", 1, "--home", long_session).out
    assert re.findall(r"#(\d+)", shown) == [str(number)]
    assert ("message above" in shown or "messages above" in shown) == (number > 1)
    assert ("message below" in shown or "messages below" in shown) == (number < 5)


def test_what_is_above_and_below_a_piece_is_said(geminids: Run, long_session: Path) -> None:
    shown = geminids("show", "latest", "--at", 2, "--limit", 2, "--home", long_session).out
    assert "\n1 message above\n" in shown
    assert shown.rstrip().endswith("\n2 messages below")
    piece = geminids("show", "latest", "--at", 2, "--limit", 2, "--json", "--home", long_session).out
    assert len(json.loads(piece)["messages"]) == 2
    assert "below" not in geminids("show", "latest", "--at", 2, "--home", long_session).out


MARKED = re.compile(r"\x1b\[[0-9;]*1;33m([^\x1b]*)\x1b")


def test_what_was_looked_for_is_highlighted(long_session: Path) -> None:
    words = ("show", "latest", "--no-pager", "--home", long_session)
    shown = on_terminal(*words, "--find", 'cart "counted once"')
    assert MARKED.findall(shown) == ["cart", "cart", "cart", "counted once", "cart"]
    assert MARKED.findall(on_terminal(*words)) == []
    # The heading of a message holds nothing that anybody said.
    assert MARKED.findall(on_terminal(*words, "--find", "gemini you")) == []


def test_a_sentence_that_is_looked_for_marks_the_words_that_tell(long_session: Path) -> None:
    words = ("show", "latest", "--no-pager", "--home", long_session)
    assert MARKED.findall(on_terminal(*words, "--find", "where is the header of /c.unted/")) == [
        *("counted", "counted", "header"),
    ]


def test_without_colour_nothing_is_highlighted(long_session: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    words = ("show", "latest", "--no-pager", "--home", long_session)
    assert "\x1b" not in on_terminal(*words, "--find", "cart")
    assert on_terminal(*words, "--find", "cart") == on_terminal(*words)


def test_in_a_pipe_nothing_is_highlighted(geminids: Run, long_session: Path) -> None:
    words = ("show", "latest", "--home", long_session)
    assert geminids(*words, "--find", "cart") == geminids(*words)


def test_a_mistake_in_what_is_to_be_highlighted_is_said(geminids: Run, long_session: Path) -> None:
    outcome = geminids("show", "latest", "--home", long_session, "--find", '"cart')
    assert (outcome.code, outcome.out) == (2, "")
    assert 'This " is never closed' in outcome.err


def test_a_search_says_how_to_see_what_it_found(long_session: Path) -> None:
    with Terminal(columns=100) as terminal:
        _, seen = terminal.run("search", "header cart", "--home", long_session)
        (said,) = re.findall(r"`geminids (show [^`]*)`", seen)
        assert said == f"show 1 --at 5 --find 'header cart' --home {long_session}"
        _, shown = terminal.run(*shlex.split(said), "--no-pager")
        assert MARKED.findall(shown) == ["cart", "header"]
        _, seen = terminal.run("search", "headers", "carts", "--home", long_session)
        (said,) = re.findall(r"`geminids (show [^`]*)`", seen)
        assert set(MARKED.findall(terminal.run(*shlex.split(said), "--no-pager")[1])) >= {"cart", "header"}


@pytest.mark.parametrize("wanted", ["latest", "1f0c9a2b"])
def test_of_an_empty_home_the_folders_are_named(geminids: Run, tmp_path: Path, wanted: str) -> None:
    told = geminids("list", "--home", tmp_path)
    for command in ("show", "resume", "redact"):
        outcome = geminids(command, wanted, "--home", tmp_path)
        assert (outcome.code, outcome.out, outcome.err) == (1, "", told.err)
    assert "No session found in" in told.err
    assert "--sample" in told.err
