"""`atif`, checked with the `atif` package and, where it is installed, with NVIDIA's reading of the format."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from atif import Trajectory
from pydantic import ValidationError

from geminids.core.model import Attachment, Origin, Role, Session, SessionKind, State, Text, ToolResult, Usage
from geminids.sharing.transcript.entries import LEVELS
from tests.support.exporting import exported, fixture_sessions, hostile_session, looked_at_sessions


@pytest.mark.parametrize("level", LEVELS)
def test_the_package_takes_every_session(level: str) -> None:
    for session in _sessions():
        trajectory = Trajectory.model_validate_json(exported("atif", session, level=level))
        assert trajectory.schema_version == "ATIF-v1.7"
        assert trajectory.steps


@pytest.mark.parametrize("level", LEVELS)
def test_nvidia_takes_every_session(level: str) -> None:
    theirs = pytest.importorskip("nat.atif").Trajectory
    for session in _sessions():
        theirs.model_validate_json(exported("atif", session, level=level))


@pytest.mark.parametrize(
    "change",
    [
        lambda step: step.update(step_id=99),
        lambda step: step.update(unheard_of=1),
        lambda step: step["observation"]["results"][0].update(source_call_id="another"),
    ],
)
def test_the_package_refuses_what_is_wrong(change: Any) -> None:
    trajectory = _atif(looked_at_sessions()["tool-calls-jsonl-2"])
    change(next(step for step in trajectory["steps"] if "observation" in step))
    with pytest.raises(ValidationError):
        Trajectory.model_validate(trajectory)


def test_every_message_is_a_step_but_repeated_results() -> None:
    for session in _sessions():
        called = {call.call_id for message in session.messages for call in message.tool_calls}
        told = [
            message.id
            for message in session.messages
            if not message.parts
            or not all(isinstance(part, ToolResult) and part.call_id in called for part in message.parts)
        ]
        steps = _atif(session)["steps"]
        assert [step["step_id"] for step in steps] == list(range(1, len(steps) + 1))
        assert [step["extra"]["message_id"] for step in steps if "extra" in step] == told


def test_calls_and_results_are_those_of_the_session() -> None:
    for session in _sessions():
        steps = _atif(session)["steps"]
        calls = [call for step in steps for call in step.get("tool_calls", ())]
        expected = [call for message in session.messages for call in message.tool_calls]
        assert [call["function_name"] for call in calls] == [_readable(call.name) for call in expected]
        assert [call["extra"]["status"] for call in calls] == [call.status for call in expected]
        assert [call["extra"].get("exit_code") for call in calls] == [call.exit_code for call in expected]
        results = [result for step in steps for result in step.get("observation", {"results": ()})["results"]]
        assert len(results) == sum(bool(call.result) for call in expected)


def test_tokens_of_the_steps_add_up_to_the_session() -> None:
    for session in _sessions():
        trajectory, usage = _atif(session), session.usage
        metrics = [step["metrics"] for step in trajectory["steps"] if "metrics" in step]
        metrics += [step.get("extra", {}).get("request_metrics", {}) for step in trajectory["steps"]]
        final = trajectory["final_metrics"]
        for name in ("prompt_tokens", "completion_tokens", "cached_tokens"):
            assert sum(used.get(name, 0) for used in metrics) == final.get(f"total_{name}", 0)
        assert final.get("total_prompt_tokens", 0) == (usage.input or 0) + (usage.tool or 0)
        assert final.get("total_completion_tokens", 0) == (usage.output or 0) + (usage.thoughts or 0)
        assert final.get("total_cached_tokens") == usage.cached
        total = final.get("total_prompt_tokens", 0) + final.get("total_completion_tokens", 0)
        assert total == (usage.total or 0)
        assert "notes" not in trajectory


def test_totals_that_no_step_tells_are_explained() -> None:
    session = looked_at_sessions()["tool-calls-jsonl-2"]
    known_in_sum = msgspec.structs.replace(session, usage=Usage(40, 900_000, output=5, total=900_005))
    trajectory = _atif(known_in_sum)
    assert trajectory["final_metrics"]["total_prompt_tokens"] == 900_000
    assert "whole session" in trajectory["notes"]


def test_what_the_program_said_is_of_the_system() -> None:
    sources = {
        (origin, step["source"])
        for session in _sessions()
        if session.kind is not SessionKind.SUBAGENT
        for step in _atif(session)["steps"]
        if (origin := step.get("extra", {}).get("origin"))
    }
    assert {source for origin, source in sources if origin in {"human", "shell"}} == {"user"}
    # Only an agent may call a tool, and slash commands do.
    assert {source for origin, source in sources if origin == "command"} == {"user", "agent"}
    assert {source for origin, source in sources if origin in {"notice", "injected", "tool"}} == {"system"}
    assert {source for origin, source in sources if origin == "model"} == {"agent"}


def test_the_task_of_a_subagent_is_of_the_user() -> None:
    subagents = [session for session in _sessions() if session.kind is SessionKind.SUBAGENT]
    tasked = [session for session in subagents if not _is_warmed_up(session)]
    assert tasked
    for session in tasked:
        steps = (step for step in _atif(session)["steps"] if not step.get("is_copied_context"))
        task = next(step for step in steps if step["source"] == "user")
        assert task["extra"]["origin"] == "synthetic"


def test_of_a_subagent_that_was_only_warmed_up_there_is_the_answer() -> None:
    """Claude Code 2.0.60 records nothing else of it."""
    for session in filter(_is_warmed_up, _sessions()):
        assert [step["source"] for step in _atif(session)["steps"]] == ["agent"]
    assert any(map(_is_warmed_up, _sessions()))


def _is_warmed_up(session: Session) -> bool:
    has_answer_alone = [message.role for message in session.messages] == [Role.ASSISTANT]
    return session.kind is SessionKind.SUBAGENT and has_answer_alone


def test_a_subagent_and_the_call_that_started_it_name_each_other() -> None:
    trajectories = {t["trajectory_id"]: t for t in map(_atif, fixture_sessions().values())}
    named = {
        call["extra"]["child_trajectory_id"]: trajectory["trajectory_id"]
        for trajectory in trajectories.values()
        for step in trajectory["steps"]
        for call in step.get("tool_calls", ())
        if "child_trajectory_id" in call["extra"] and not step.get("is_copied_context")
    }
    assert named
    for child, parent in named.items():
        assert trajectories[child]["extra"]["parent_trajectory_id"] == parent


def test_what_was_taken_over_is_copied_context_and_counted_elsewhere() -> None:
    imported = [session for session in _sessions() if any(message.imported for message in session.messages)]
    assert imported
    for session in imported:
        copied = [step for step in _atif(session)["steps"] if step.get("is_copied_context")]
        assert copied
        assert not any("metrics" in step for step in copied)


def test_words_in_the_models_name_took_no_request() -> None:
    steps = _atif(looked_at_sessions()["compress-checkpoint"])["steps"]
    (thanks,) = (s for s in steps if s["source"] == "agent" and s["extra"]["origin"] == "synthetic")
    assert thanks["llm_call_count"] == 0


def test_dropped_turns_say_why() -> None:
    for session in _sessions():
        states = [step["extra"].get("state") for step in _atif(session)["steps"] if "extra" in step]
        dropped = {m.state for m in session.messages if m.state is not State.CURRENT}
        assert {state for state in states if state} == dropped


def test_a_session_in_which_nothing_was_said_says_so() -> None:
    empty = next(session for session in _sessions() if not session.messages)
    (step,) = _atif(empty)["steps"]
    assert step == {"step_id": 1, "source": "system", "message": "No message of this session was recorded."}
    only_a_reply = msgspec.structs.replace(hostile_session(), messages=hostile_session().messages[1:2])
    (step,) = _atif(only_a_reply, "prompts")["steps"]
    assert "level of detail" in step["message"]


def test_a_picture_is_named_and_its_bytes_are_left_out() -> None:
    parts = (Text("look", Origin.HUMAN), Attachment("image/png", data="aGVsbG8="))
    prompt = msgspec.structs.replace(hostile_session().messages[0], parts=parts)
    written = exported("atif", msgspec.structs.replace(hostile_session(), messages=(prompt,)))
    assert json.loads(written)["steps"][0]["message"] == "look\n\n[attachment: image/png, 6 bytes]"
    assert b"aGVsbG8=" not in written


def test_levels_leave_out_what_they_do_not_tell() -> None:
    session = looked_at_sessions()["tool-calls-jsonl-2"]
    for level in LEVELS:
        steps = _atif(session, level)["steps"]
        told = level in {"thoughts", "everything"}
        assert any("reasoning_content" in step for step in steps) == told
        # Below the level of tools, only errors and answers of the human come back.
        assert any("observation" in step for step in steps) == (level != "prompts")
        assert any(step["source"] == "agent" for step in steps) == (level != "prompts")


def test_the_name_that_the_user_gave_is_the_title() -> None:
    session = looked_at_sessions()["errors"]
    written = json.loads(exported("atif", session, names={session.id: "mine"}))
    assert written["extra"]["title"] == "mine"


def _sessions() -> list[Session]:
    return [*fixture_sessions().values(), hostile_session()]


def _atif(session: Session, level: str | None = None) -> dict[str, Any]:
    written: dict[str, Any] = json.loads(exported("atif", session, level=level))
    return written


def _readable(words: str) -> str:
    return words.encode("utf-8", "replace").decode()
