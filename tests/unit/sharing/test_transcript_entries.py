"""How a session is told."""

from datetime import UTC, datetime, timedelta

import pytest

from geminids.core.model import (
    AnyPart,
    Level,
    Location,
    Message,
    Origin,
    Role,
    Session,
    SessionKind,
    State,
    Text,
    Thought,
    ToolCall,
    ToolKind,
    ToolStatus,
)
from geminids.sharing.transcript.entries import Detail, LeftOut, Mark, Pause, Speaker, Turn, transcript
from tests.support.summaries import summary

BEGIN = datetime(2026, 5, 1, 10, tzinfo=UTC)
ROLES = {Origin.HUMAN: Role.USER, Origin.MODEL: Role.ASSISTANT, Origin.NOTICE: Role.SYSTEM}


def place(line: int) -> Location:
    return Location("/x/a.jsonl", line, line * 100, line * 100 + 99)


def message(
    line: int,
    origin: Origin,
    *parts: AnyPart,
    state: State = State.CURRENT,
    minute: int | None = None,
    dropped_by: int | None = None,
    level: Level | None = None,
) -> Message:
    return Message(
        id=f"m{line}",
        role=ROLES.get(origin, Role.USER),
        origin=origin,
        state=state,
        at=BEGIN + timedelta(minutes=line if minute is None else minute),
        model=None,
        parts=parts or (Text(f"words {line}", origin),),
        usage=None,
        source=place(line),
        level=level,
        dropped_by=place(dropped_by) if dropped_by else None,
    )


def session(*messages: Message, kind: SessionKind = SessionKind.MAIN) -> Session:
    little = summary(kind=kind)
    fields = {name: getattr(little, name) for name in little.__struct_fields__}
    return Session(**fields, messages=messages)


def told(*messages: Message, detail: Detail | None = None, kind: SessionKind = SessionKind.MAIN) -> list[str]:
    """The transcript in short: who speaks, `+` where the model goes on, and what happened between."""
    short = []
    for entry in transcript(session(*messages, kind=kind), detail or Detail()):
        match entry:
            case Turn(speaker=speaker, message=turn, continues=continues):
                short.append(f"{'+' if continues else ''}{speaker} {turn.id}")
            case Mark(state=state, messages=count):
                short.append(f"{state} {count}")
            case Pause(length=length):
                short.append(f"pause {length}")
            case LeftOut(counts=counts):
                short.append(f"left out {counts}")
    return short


def test_the_model_goes_on_over_several_messages() -> None:
    call = ToolCall("c", "read_file", ToolKind.READ, {}, ToolStatus.SUCCESS)
    assert told(
        message(1, Origin.HUMAN),
        message(2, Origin.MODEL, call),
        message(3, Origin.MODEL),
        message(4, Origin.HUMAN),
        message(5, Origin.HUMAN),
    ) == ["human m1", "model m2", "+model m3", "human m4", "human m5"]


@pytest.mark.parametrize("state", [State.FAILED, State.CANCELLED, State.COMPRESSED, State.SUPERSEDED])
def test_what_was_said_is_told_even_if_the_agent_dropped_it(state: State) -> None:
    assert told(message(1, Origin.HUMAN, state=state))[0] == "human m1"


def test_what_was_taken_back_is_marked_where_it_happened() -> None:
    messages = (
        message(1, Origin.HUMAN),
        message(2, Origin.HUMAN, state=State.REWOUND, dropped_by=4),
        message(3, Origin.MODEL, state=State.REWOUND, dropped_by=5),
        message(6, Origin.HUMAN),
    )
    assert told(*messages) == ["human m1", "rewound 2", "human m6", "left out {'rewound': 2}"]
    assert told(*messages, detail=Detail(everything=True)) == [
        "human m1",
        "human m2",
        "model m3",
        "rewound 2",
        "human m6",
    ]


def test_a_prompt_that_took_others_back_stands_after_the_mark() -> None:
    assert told(
        message(1, Origin.HUMAN),
        message(2, Origin.HUMAN, state=State.REWOUND, dropped_by=3),
        message(3, Origin.HUMAN),
    ) == ["human m1", "rewound 1", "human m3", "left out {'rewound': 1}"]


def test_a_mark_stands_before_what_a_compression_moved_behind_itself() -> None:
    assert told(
        message(1, Origin.HUMAN, state=State.COMPRESSED, dropped_by=3),
        message(4, Origin.HUMAN),
        message(2, Origin.MODEL),
        message(5, Origin.HUMAN),
    ) == ["human m1", "compressed 1", "human m4", "model m2", "human m5"]


def test_a_compression_at_the_end_is_marked_at_the_end() -> None:
    assert told(message(1, Origin.HUMAN, state=State.COMPRESSED, dropped_by=9)) == [
        "human m1",
        "compressed 1",
    ]


def test_a_long_pause_is_told() -> None:
    assert told(message(1, Origin.HUMAN), message(2, Origin.HUMAN, minute=31)) == [
        "human m1",
        "pause 0:30:00",
        "human m2",
    ]


def test_what_nobody_said_is_left_out_and_counted() -> None:
    messages = (
        message(1, Origin.INJECTED),
        message(2, Origin.HUMAN, Text("a", Origin.HUMAN), Text("b", Origin.INJECTED)),
        message(3, Origin.MODEL, Thought("t"), Text("c", Origin.MODEL)),
        message(4, Origin.SYNTHETIC),
        message(5, Origin.NOTICE, level=Level.INFO),
        message(6, Origin.NOTICE, level=Level.ERROR),
        message(7, Origin.NOTICE, level=Level.WARNING),
    )
    assert told(*messages) == [
        "human m2",
        "model m3",
        "agent m6",
        "agent m7",
        "left out {'injected': 2, 'thoughts': 1, 'synthetic': 1, 'notices': 1}",
    ]
    assert len(told(*messages, detail=Detail(everything=True))) == 7


def test_the_task_of_a_subagent_is_told() -> None:
    messages = (message(1, Origin.SYNTHETIC), message(2, Origin.MODEL), message(3, Origin.SYNTHETIC))
    assert told(*messages, kind=SessionKind.SUBAGENT) == [
        "parent m1",
        "model m2",
        "left out {'synthetic': 1}",
    ]


def test_why_the_agent_stopped_is_told() -> None:
    stopped = message(2, Origin.SYNTHETIC, state=State.FAILED)
    assert told(message(1, Origin.MODEL), stopped) == ["model m1", "agent m2"]
    assert (
        told(message(1, Origin.MODEL), stopped, message(3, Origin.MODEL))[-1] == "left out {'synthetic': 1}"
    )


@pytest.mark.parametrize("origin", [Origin.COMMAND, Origin.SHELL])
def test_commands_of_the_human_are_told_with_what_came_of_them(origin: Origin) -> None:
    typed = message(1, origin, Text("wc -l a", Origin.HUMAN), Text("2 a", origin))
    (turn,) = transcript(session(typed), Detail())
    assert isinstance(turn, Turn)
    assert (turn.speaker, turn.parts) == (Speaker.HUMAN, typed.parts)


def test_details_are_told_on_request() -> None:
    messages = (message(1, Origin.MODEL, Thought("t")), message(2, Origin.NOTICE, level=Level.INFO))
    assert told(*messages, detail=Detail(thoughts=True, notices=True)) == ["model m1", "agent m2"]
