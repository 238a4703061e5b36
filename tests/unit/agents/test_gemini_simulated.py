"""Whatever a user does with Gemini CLI, and however alike the words: each turn once, with its fate."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from geminids.agents.gemini import GeminiSource
from geminids.core.model import Message, Origin, Session, State
from tests.support.examples import examples
from tests.support.reading import custodian_of, sessions
from tests.support.simulated_cli import ACTIONS, CONTEXT_ID, INTERRUPTED, RELEASES, SimulatedCli, TrueTurn

SOURCE = GeminiSource()
SETTINGS = settings(
    max_examples=examples(150),
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.large_base_example],
)
Action = Callable[[SimulatedCli], None]


def used(folder: Path, release: int, actions: Iterable[Action], chance: Random) -> SimulatedCli:
    """A CLI in a home of its own, after all these actions."""
    chats = folder / ".gemini" / "tmp" / "app" / "chats"
    chats.mkdir(parents=True)
    cli = SimulatedCli(chats, release, chance)
    for act in actions:
        act(cli)
    return cli


@pytest.mark.slow
@SETTINGS
@given(
    release=some.sampled_from(RELEASES),
    actions=some.lists(some.sampled_from(ACTIONS), min_size=1, max_size=10),
    chance=some.randoms(use_true_random=False),
)
def test_each_turn_is_told_once_with_what_became_of_it(
    release: int, actions: list[Action], chance: Random
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        cli = used(home, release, actions, chance)
        (session,) = sessions(SOURCE, home)
        view = custodian_of(SOURCE).agent_view(cli.file)
    assert view is not None
    assert_nothing_is_lost_or_told_twice(session, cli)
    assert_states_are_true(session, cli)
    assert_the_agent_sees_its_own_list(session, view, cli)


def assert_nothing_is_lost_or_told_twice(session: Session, cli: SimulatedCli) -> None:
    assert not session.problems
    assert len({message.id for message in session.messages}) == len(session.messages)
    assert [(turn.id, turn.origin) for turn in told(session)] == [
        (turn.id, turn.origin) for turn in comparable(cli.truth)
    ]
    assert prompts(session) == [turn.text for turn in cli.truth if turn.origin is Origin.HUMAN]
    assert session.counts.prompts == len(prompts(session))
    calls = [call.call_id for message in session.messages for call in message.tool_calls]
    assert calls == [call_id for turn in cli.truth for call_id in turn.calls]
    assert (session.usage.total or 0) == sum(turn.tokens for turn in cli.truth)
    assert list(imported_words(session)) == cli.foreign_words


def assert_states_are_true(session: Session, cli: SimulatedCli) -> None:
    states = {message.id: message.state for message in session.messages}
    certain = [turn for turn in comparable(cli.truth) if turn.is_certain]
    assert {turn.id: states[turn.id] for turn in certain} == {turn.id: turn.state for turn in certain}


def assert_the_agent_sees_its_own_list(session: Session, view: dict[str, Any], cli: SimulatedCli) -> None:
    assert [message["id"] for message in view["messages"]] == list(cli.listed)
    seen = {turn.id for entry in cli.listed.values() for turn in entry.turns if turn.is_certain}
    current = {message.id for message in session.messages if message.state is State.CURRENT}
    assert {turn.id for turn in comparable(cli.truth) if turn.id in seen} <= current


def told(session: Session) -> list[Message]:
    """The messages of the session itself, as far as they are compared; see `comparable`."""
    own = (message for message in session.messages if not message.imported and message.id != CONTEXT_ID)
    return [message for message in own if INTERRUPTED not in message.text(Origin.SYNTHETIC)]


def comparable(truth: list[TrueTurn]) -> list[TrueTurn]:
    """All turns but the CLI's own note on an interruption.

    It is first written wherever the next checkpoint or copy of the history stands, under that copy's id.
    """
    return [turn for turn in truth if turn.text != INTERRUPTED]


def prompts(session: Session) -> list[str]:
    """What the human typed here, dropped turns included."""
    human = (message for message in session.messages if message.origin is Origin.HUMAN)
    return [message.text(Origin.HUMAN) for message in human if not message.imported]


def imported_words(session: Session) -> Iterator[str]:
    """What is said to come from another session."""
    for message in session.messages:
        if message.imported and message.origin is not Origin.SYNTHETIC:
            yield message.text(Origin.HUMAN) or message.text(Origin.MODEL)
