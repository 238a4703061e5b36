"""The outline of a session, and the tasks beside it."""

from datetime import UTC, datetime, timedelta

from msgspec import structs

from geminids.core.model import Location, Message, Origin, Role, State, Text
from geminids.sharing.transcript.entries import PROMPT_ORIGINS
from geminids.sharing.transcript.outline import dropped_branches, kinds_of_prompts, left_context, prompt_turns
from geminids.sharing.transcript.tasks import task_words

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


def said(
    number: int, origin: Origin, words: str, state: State = State.CURRENT, by: Location | None = None
) -> Message:
    return Message(
        id=str(number),
        role=Role.USER if origin in PROMPT_ORIGINS else Role.ASSISTANT,
        origin=origin,
        state=state,
        at=NOON + timedelta(seconds=number),
        model=None,
        parts=(Text(words, origin),),
        usage=None,
        source=Location("f", number, 0, 0),
        dropped_by=by,
    )


def test_a_prompt_leads_all_messages_until_the_next() -> None:
    messages = [
        said(1, Origin.MODEL, "before all"),
        said(2, Origin.HUMAN, "first\nof two lines"),
        said(3, Origin.MODEL, "a"),
        said(4, Origin.MODEL, "b"),
        said(5, Origin.HUMAN, "second"),
    ]
    turns = prompt_turns(messages)
    assert [(turn.number, turn.text, len(turn.answers)) for turn in turns] == [
        (2, "first of two lines", 2),
        (5, "second", 0),
    ]
    assert turns[0].completed_at == NOON + timedelta(seconds=4)
    assert (turns[1].completed_at, turns[1].tokens, turns[1].calls, turns[1].errors) == (None, None, [], 0)


def test_what_an_outline_leaves_out_is_counted_beside_what_it_has() -> None:
    copied = structs.replace(said(5, Origin.HUMAN, "copied"), imported=True)
    messages = [
        said(1, Origin.HUMAN, "first"),
        said(2, Origin.SHELL, "ls"),
        said(3, Origin.HUMAN, "undone", State.REWOUND),
        said(4, Origin.HUMAN, "compressed, and told", State.COMPRESSED),
        copied,
    ]
    turns = prompt_turns(messages)
    assert kinds_of_prompts(turns, {1, 2, 4, 5}) == {"prompt": 2, "command": 1, "rewound": 1, "copied": 1}
    assert kinds_of_prompts(turns, {3}) == {"hidden": 1, "prompt": 1, "compressed": 1}


def test_what_one_record_took_out_of_the_context_stands_together_wherever_it_stood() -> None:
    first, second = Location("f", 8, 0, 0), Location("f", 9, 0, 0)
    messages = [
        said(1, Origin.HUMAN, "a", State.COMPRESSED, first),
        said(2, Origin.MODEL, "stays"),
        said(3, Origin.HUMAN, "b", State.COMPRESSED, first),
        said(4, Origin.HUMAN, "c", State.REWOUND, second),
        said(5, Origin.MODEL, "failed, and was never in it", State.FAILED, second),
        said(6, Origin.HUMAN, "nobody knows by what", State.REWOUND),
    ]
    assert left_context(messages) == [[1, 3], [4]]


def test_messages_that_one_record_dropped_are_a_branch() -> None:
    first, second = Location("f", 8, 0, 0), Location("f", 9, 0, 0)
    messages = [
        said(1, Origin.HUMAN, "kept"),
        said(2, Origin.MODEL, "answered", State.REWOUND, first),
        said(3, Origin.HUMAN, "typed later", State.REWOUND, first),
        said(4, Origin.HUMAN, "dropped by another", State.REWOUND, second),
        said(5, Origin.HUMAN, "kept too"),
    ]
    branches = dropped_branches(messages)
    assert [(one.first, one.last, one.forked_after, one.text) for one in branches] == [
        (2, 3, 1, "typed later"),
        (4, 4, 1, "dropped by another"),
    ]
    assert not dropped_branches([])


def test_a_task_is_told_as_a_person_would_write_it_down() -> None:
    task = '{"title": "Tests", "status": "open", "description": "All of them", "tags": ["a"], "parent": null}'
    assert task_words(task) == '[open] Tests\nAll of them\ntags: ["a"]'
    assert task_words('{"other": 1}') == '{\n  "other": 1\n}'
    assert task_words("no JSON") == "no JSON"
    assert task_words("[" * 100_000) == "[" * 100_000
