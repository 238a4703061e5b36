"""The full view of a log: nothing lost, nothing twice, and a reason for everything dropped."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from geminids.agents.gemini.read.agent_view import agent_view
from geminids.agents.gemini.read.files import read_file, segments
from geminids.agents.gemini.read.log import read_log
from geminids.agents.gemini.read.replay import Replay
from geminids.agents.gemini.read.turns import Turn
from geminids.core.model import State
from tests.conftest import FIXTURES

LOGS = sorted(FIXTURES.glob("gemini/*/home/.gemini/tmp/*/chats/**/*.jsonl"))
CONTEXT = {
    "id": "d04923d38bb0f6017037e74183378ef4",
    "type": "user",
    "content": [{"text": "<session_context>"}],
}


def prompt(turn_id: str, text: str) -> dict[str, Any]:
    return {
        "id": turn_id,
        "type": "user",
        "content": [{"text": text}],
        "timestamp": "2026-01-01T00:00:01.000Z",
    }


def reply(turn_id: str, text: str, **fields: Any) -> dict[str, Any]:
    return {"id": turn_id, "type": "gemini", "content": text, "model": "m", "tokens": {"input": 1}, **fields}


def copy(turn_id: str, text: str, side: str = "gemini") -> dict[str, Any]:
    return {"id": turn_id, "type": side, "content": [{"text": text}], "thoughts": [], "tokens": None}


def notice(turn_id: str, text: str, level: str = "info") -> dict[str, Any]:
    return {"id": turn_id, "type": level, "content": text}


def checkpoint(*messages: dict[str, Any]) -> dict[str, Any]:
    return {"$set": {"messages": list(messages), "lastUpdated": "2026-01-01T00:00:09.000Z"}}


HEADER = {"sessionId": "s", "projectHash": "h", "startTime": "2026-01-01T00:00:00.000Z"}
TOUCHED = {"$set": {"lastUpdated": "2026-01-01T00:00:09.000Z"}}


def replayed(*records: dict[str, Any]) -> Replay:
    content = b"".join(json.dumps(record).encode() + b"\n" for record in (HEADER, *records))
    replay = Replay()
    replay.read_file(read_log("x.jsonl", content).records)
    return replay


def states(replay: Replay) -> dict[str, State]:
    return {turn.id: turn.state for turn in replay.turns}


def conversation(replay: Replay) -> list[str]:
    return [turn.id for turn in replay.turns if not turn.is_context and not turn.is_notice]


@pytest.mark.parametrize("file", LOGS, ids=lambda file: f"{file.parents[5].name}-{file.stem[-8:]}")
def test_what_is_current_is_what_the_agent_sees(file: Path) -> None:
    content = file.read_bytes()
    log = read_file(file, content)
    view = agent_view(log, content)
    if view is None or len(list(segments(log))) > 1:
        pytest.skip("no session, or several, to the agent")
    replay = Replay()
    replay.read_file(record for record in log.records if record.agent_reads)
    seen = {turn.id for message in view["messages"] for turn in replay.originals_of(message["id"])}
    current = {turn.id for turn in replay.turns if turn.state is State.CURRENT and not turn.is_notice}
    assert current == seen - set(notices(replay))


def notices(replay: Replay) -> Iterator[str]:
    return (turn.id for turn in replay.turns if turn.is_notice)


def test_a_rewind_keeps_what_it_took_back() -> None:
    replay = replayed(
        prompt("p1", "one"), reply("r1", "1"), prompt("p2", "two"), reply("r2", "2"), {"$rewindTo": "p2"}
    )
    assert states(replay) == {"p1": "current", "r1": "current", "p2": "rewound", "r2": "rewound"}
    assert replay.turns[-1].dropped_by is not None
    assert replay.turns[-1].dropped_by.line == 6


def moved_call(call_id: str) -> list[dict[str, Any]]:
    """Return a reply that calls a tool, the recorded call, the message of its result, and the answer."""
    recorded = {**reply("r2", ""), "toolCalls": [{"id": call_id, "name": "x", "result": [1]}]}
    result = [{"functionResponse": {"id": call_id, "name": "x", "response": {}}}]
    return [reply("r1", ""), recorded, {"id": "u2", "type": "user", "content": result}, reply("r3", "Done")]


def restated_call(call_id: str) -> list[dict[str, Any]]:
    asking, _, result, answer = moved_call(call_id)
    return [{**asking, "content": [{"functionCall": {"id": call_id, "name": "x"}}]}, result, answer]


def test_a_call_that_moved_into_another_message_was_not_taken_back() -> None:
    first, second, call = prompt("u1", "One"), prompt("u3", "Two"), [*moved_call("c")]
    cancelled = checkpoint(first, *restated_call("c"))
    replay = replayed(first, *call, second, cancelled, prompt("u4", "Three"))
    dropped = {turn_id for turn_id, state in states(replay).items() if state is not State.CURRENT}
    assert dropped == {"u3"}
    again = replayed(first, *call, second, cancelled, checkpoint(CONTEXT), cancelled)
    assert states(again)["r2"] is State.CURRENT
    rewound = replayed(first, *call, second, cancelled, {"$rewindTo": "u1"})
    assert states(rewound)["r2"] is State.REWOUND


def test_a_call_that_nothing_restates_was_taken_back() -> None:
    first, call = prompt("u1", "One"), moved_call("c")
    replay = replayed(first, *call, checkpoint(first, *restated_call("another")))
    assert states(replay)["r2"] is not State.CURRENT


def test_a_rewind_to_an_unknown_message_drops_all() -> None:
    assert set(states(replayed(prompt("p1", "one"), {"$rewindTo": "nobody"})).values()) == {State.REWOUND}


def test_a_failed_prompt_says_so() -> None:
    replay = replayed(
        checkpoint(CONTEXT), prompt("p1", "one"), TOUCHED, checkpoint(CONTEXT), notice("e", "400", "error")
    )
    assert states(replay)["p1"] is State.FAILED
    assert states(replay)["e"] is State.CURRENT


def test_a_cancelled_prompt_says_so() -> None:
    stopped = notice("n", "Request cancelled.")
    replay = replayed(checkpoint(CONTEXT), prompt("p1", "one"), stopped, checkpoint(CONTEXT))
    assert states(replay)["p1"] is State.CANCELLED


def test_equal_prompts_are_different_prompts() -> None:
    """Four times "continue", of which the second and third failed."""
    talk = [prompt("p1", "continue"), reply("r1", "ok")]
    kept = checkpoint(CONTEXT, *talk)
    replay = replayed(
        *(checkpoint(CONTEXT), *talk),
        *(prompt("p2", "continue"), TOUCHED, kept),
        *(prompt("p3", "continue"), TOUCHED, kept),
        *(prompt("p4", "continue"), reply("r4", "ok")),
    )
    assert conversation(replay) == ["p1", "r1", "p2", "p3", "p4", "r4"]
    assert [replay.turns[n].state for n in (1, 3, 4, 5)] == ["current", "failed", "failed", "current"]


def test_a_compression_marks_the_old_and_recognises_the_kept_tail() -> None:
    summary = [
        prompt("s", "<state_snapshot>all so far</state_snapshot>"),
        copy("g", "Got it. Thanks for the additional context!"),
    ]
    replay = replayed(
        *(checkpoint(CONTEXT), prompt("p1", "continue"), reply("r1", "ok")),
        *(prompt("p2", "continue"), reply("r2", "ok")),
        checkpoint(CONTEXT, *summary, copy("c1", "continue", "user"), copy("c2", "ok")),
    )
    assert conversation(replay) == ["p1", "r1", "p2", "r2", "s", "g"]
    assert [states(replay)[name] for name in ("p1", "r1", "p2", "r2")] == ["compressed"] * 2 + ["current"] * 2


def test_a_history_written_again_is_not_the_talk_twice() -> None:
    replay = replayed(
        *(checkpoint(CONTEXT), prompt("p1", "one"), reply("r1", "1"), prompt("p2", "two"), reply("r2", "2")),
        *(
            copy("c1", "one", "user"),
            TOUCHED,
            copy("c2", "1"),
            TOUCHED,
            copy("c3", "two", "user"),
            copy("c4", "2"),
        ),
        checkpoint(copy("c1", "one", "user"), copy("c2", "1"), copy("c3", "two", "user"), copy("c4", "2")),
        *(prompt("p3", "three"), reply("r3", "3")),
    )
    assert conversation(replay) == ["p1", "r1", "p2", "r2", "p3", "r3"]
    assert set(states(replay).values()) - {State.SUPERSEDED} == {State.CURRENT}


def test_fused_neighbours_are_copies_of_both() -> None:
    fused = {
        "id": "c1",
        "type": "user",
        "content": [{"text": "<session_context>"}, {"text": "one"}],
        "tokens": None,
    }
    replay = replayed(
        *(checkpoint(CONTEXT), prompt("p1", "one"), reply("r1", "1")),
        *(fused, copy("c2", "1"), checkpoint(fused, copy("c2", "1"))),
    )
    assert conversation(replay) == ["p1", "r1"]
    assert set(states(replay).values()) == {State.CURRENT}


def test_calls_recorded_on_a_copy_belong_to_the_original() -> None:
    call = {"id": "call-1", "name": "read_file", "status": "success", "result": []}
    again = {**copy("c2", "reading"), "toolCalls": [call]}
    replay = replayed(
        *(checkpoint(CONTEXT), prompt("p1", "one"), reply("r1", "reading")),
        *(
            copy("c1", "one", "user"),
            copy("c2", "reading"),
            checkpoint(copy("c1", "one", "user"), copy("c2", "reading")),
        ),
        again,
    )
    assert conversation(replay) == ["p1", "r1"]
    assert replay.turns[-1].value["toolCalls"] == [call]


def test_what_was_once_known_is_not_erased() -> None:
    call = {"id": "call-1", "name": "x", "status": "success", "result": [{"text": "full"}]}
    full = reply("r1", "answer", thoughts=[{"subject": "s", "description": "d"}], toolCalls=[call])
    poor = {
        "id": "r1",
        "type": "gemini",
        "content": [{"text": "answer"}],
        "thoughts": [],
        "tokens": None,
        "toolCalls": [],
    }
    (turn,) = replayed(full, checkpoint(poor)).turns
    assert (turn.value["model"], turn.value["tokens"], turn.value["content"]) == ("m", {"input": 1}, "answer")
    assert (turn.value["thoughts"], turn.value["toolCalls"]) == (full["thoughts"], [call])


def test_a_masked_result_never_replaces_the_full_one() -> None:
    def with_output(output: str) -> dict[str, Any]:
        result = [{"functionResponse": {"id": "c", "response": {"output": output}}}]
        return reply("r1", "", toolCalls=[{"id": "c", "name": "x", "result": result, "status": "success"}])

    (turn,) = replayed(with_output("all of it"), with_output("<tool_output_masked>\nhead")).turns
    assert "all of it" in json.dumps(turn.value)


def test_a_restart_in_the_same_minute_and_the_restatement_after_it() -> None:
    talk = [prompt("p1", "one"), reply("r1", "1")]
    restarted = replayed(checkpoint(CONTEXT), *talk, HEADER, checkpoint(CONTEXT))
    assert states(restarted)["p1"] is State.SUPERSEDED
    bare = [copy("p1", "one", "user"), copy("r1", "1")]
    resumed = replayed(checkpoint(CONTEXT), *talk, HEADER, checkpoint(CONTEXT), checkpoint(CONTEXT, *bare))
    assert set(states(resumed).values()) == {State.CURRENT}
    assert resumed.turns[-1].value["tokens"] == {"input": 1}


def test_a_call_that_never_ended_is_remembered() -> None:
    asked = {"functionCall": {"id": "call-1", "name": "shell", "args": {"command": "sleep"}}}
    restated = {**reply("r1", ""), "content": [asked]}
    turn: Turn = replayed(prompt("p1", "one"), reply("r1", ""), checkpoint(restated)).turns[-1]
    assert turn.asked == {"call-1": asked["functionCall"]}


def test_a_failure_after_a_compression_is_a_failure() -> None:
    summary = [
        prompt("s", "<state_snapshot>all so far</state_snapshot>"),
        prompt("p1", "one"),
        reply("r1", "1"),
    ]
    kept = checkpoint(CONTEXT, summary[0])
    replay = replayed(checkpoint(CONTEXT), *summary[1:], kept, prompt("p2", "two"), TOUCHED, kept)
    assert (states(replay)["p1"], states(replay)["p2"]) == (State.COMPRESSED, State.FAILED)


def test_what_a_reloaded_chat_replaces_did_not_fail() -> None:
    again = [copy("c1", "one", "user"), copy("c2", "1")]
    talk = [prompt("p1", "one"), reply("r1", "1"), prompt("p2", "two"), reply("r2", "2")]
    replay = replayed(checkpoint(CONTEXT), *talk, *again, checkpoint(*again))
    assert conversation(replay) == ["p1", "r1", "p2", "r2"]
    assert [states(replay)[name] for name in ("p1", "r1", "p2", "r2")] == ["current"] * 2 + ["superseded"] * 2


def test_a_notice_from_before_is_not_rewound() -> None:
    early = notice("n", "Update available")
    talk = [prompt("p1", "one"), reply("r1", "1")]
    replay = replayed(early, *talk, checkpoint(CONTEXT, *talk), prompt("p2", "two"), {"$rewindTo": "p2"})
    assert (states(replay)["n"], states(replay)["p2"]) == (State.CURRENT, State.REWOUND)


def test_a_call_without_end_is_not_asked_twice() -> None:
    asked = {"functionCall": {"id": "call-1", "name": "shell", "args": {}}}
    restated = {**reply("r1", ""), "content": [asked]}
    again = {"id": "c1", "type": "gemini", "content": [asked], "tokens": None}
    first = {**copy("c0", "one", "user")}
    talk = [prompt("p1", "one"), reply("r1", "")]
    replay = replayed(*talk, checkpoint(talk[0], restated), first, again, checkpoint(first, again))
    assert conversation(replay) == ["p1", "r1"]
