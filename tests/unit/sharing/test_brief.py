"""A session in brief: every line stands in a message, and what matters most comes first."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from geminids.library import Library
from geminids.sharing.transcript.brief import LAST_PROMPTS, BriefKind, BriefLine, brief
from tests.support.homes import FIRST_ID, tool_call, write_session

ANSWER = "Here is what I did."


def lines_of(tmp_path: Path, *records: dict[str, Any]) -> list[BriefLine]:
    path = write_session(tmp_path / "home", prompt="begin", answer=ANSWER)
    with path.open("a") as log:
        for place, record in enumerate(records):
            at = f"2026-05-01T11:{place // 60:02}:{place % 60:02}.000Z"
            log.write(json.dumps({"id": f"r{place}", "timestamp": at, **record}) + "\n")
    with Library([str(tmp_path / "home")], data=str(tmp_path / "data")) as library:
        session = library.session(FIRST_ID)
    lines = brief(session)
    for line in lines:
        assert 1 <= line.number <= len(session.messages)
        assert line.at == session.messages[line.number - 1].at
    assert len(set(lines)) == len(lines)
    return lines


def of(lines: list[BriefLine], kind: BriefKind) -> list[str]:
    return [line.text for line in lines if line.kind is kind]


def prompt(words: str) -> dict[str, Any]:
    return {"type": "user", "content": [{"text": words}]}


def reply(words: str = "", *calls: dict[str, Any]) -> dict[str, Any]:
    return {"type": "gemini", "content": words, "thoughts": [], "toolCalls": list(calls)}


def command(words: str, number: int, *, code: int = 0, status: str = "success") -> dict[str, Any]:
    output = f"Output: no such file\nExit Code: {code}" if code else "Output: fine"
    result = [{"functionResponse": {"response": {"output": output}}}]
    return tool_call(id=f"c{number}", args={"command": words}, status=status, result=result)


def test_a_command_that_failed_and_worked_later_did_work(tmp_path: Path) -> None:
    lines = lines_of(
        tmp_path,
        reply("", command("npm test", 1, code=1)),
        reply("", command("make lint", 2, code=2)),
        reply("", command("npm test", 3)),
    )
    assert [text.split(" (")[0] for text in of(lines, BriefKind.FAILED)] == ["run_shell_command make lint"]
    assert "exit 2" in of(lines, BriefKind.FAILED)[0]
    assert of(lines, BriefKind.WORKED) == ["run_shell_command npm test"]


def test_the_last_prompt_without_an_answer_is_open(tmp_path: Path) -> None:
    lines = lines_of(tmp_path, prompt("and now the tests"))
    assert lines[0] == BriefLine(BriefKind.OPEN, 3, lines[0].at, "not answered: and now the tests")
    assert of(lines, BriefKind.LAST) == []


def test_what_was_said_last_is_told_where_all_was_answered(tmp_path: Path) -> None:
    lines = lines_of(tmp_path)
    assert (of(lines, BriefKind.OPEN), of(lines, BriefKind.LAST)) == ([], [ANSWER])


def test_things_on_the_last_list_that_are_not_done_are_open(tmp_path: Path) -> None:
    def todos(*states: str) -> dict[str, Any]:
        listed = [{"description": f"step {n}", "status": state} for n, state in enumerate(states)]
        shown = {"todos": listed}
        return tool_call("write_todos", id=f"t{len(states)}", args={"todos": listed}, resultDisplay=shown)

    lines = lines_of(
        tmp_path, reply("", todos("pending")), reply("", todos("completed", "in_progress", "pending"))
    )
    assert of(lines, BriefKind.OPEN) == ["to do (in_progress): step 1", "to do (pending): step 2"]


def test_the_first_prompt_and_the_last_ones_come_before_the_others(tmp_path: Path) -> None:
    records = [one for number in range(20) for one in (prompt(f"prompt {number}"), reply(f"reply {number}"))]
    texts = of(lines_of(tmp_path, *records), BriefKind.PROMPT)
    last = [f"prompt {number}" for number in range(20 - LAST_PROMPTS, 20)]
    assert texts[: 1 + LAST_PROMPTS] == ["begin", *last]
    assert sorted(texts) == sorted(["begin", *(f"prompt {number}" for number in range(20))])


def test_a_file_is_told_once_with_all_that_was_done_to_it() -> None:
    with Library(sample=True) as library:
        lines = brief(library.session("fd2a76ff"))
    (line,) = (line for line in lines if line.kind is BriefKind.FILE)
    assert (line.number, line.text) == (13, "edit /tmp/demo/skycast/skycast/cache.py +4 -2 in 2 edits")
