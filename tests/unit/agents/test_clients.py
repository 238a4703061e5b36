"""Agents as clients of MCP: what they say of the session that asks, and how they are known."""

from __future__ import annotations

from typing import Any

import pytest

from geminids.core import agents
from geminids.core.agents.clients import Told

TURN = "x-codex-turn-metadata"


def client_of(agent: str) -> Any:
    client = agents.load(agent).client()
    assert client is not None
    return client


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        ("gemini", "gemini-cli-mcp-client-geminids"),
        ("gemini", "gemini-cli-mcp-client"),
        ("claude", "claude-code"),
        ("codex", "codex-mcp-client"),
    ],
)
def test_each_agent_is_known_by_its_own_name_alone(agent: str, name: str) -> None:
    known = [one for one in agents.available() if client_of(one).is_called(name)]
    assert known == [agent]
    assert not client_of(agent).is_called("")
    assert not client_of(agent).is_called("some-editor")


def test_what_claude_code_says_of_its_session_stands_in_the_environment() -> None:
    told = Told({"CLAUDE_CODE_SESSION_ID": "s", "CLAUDE_PROJECT_DIR": "/srv/shop"}, {"threadId": "t"})
    assert (client_of("claude").session(told), client_of("claude").folders(told)) == ("s", ("/srv/shop",))
    assert client_of("claude").session(Told({"CLAUDE_CODE_SESSION_ID": ""}, {})) is None
    assert client_of("claude").folders(Told({}, {})) == ()


@pytest.mark.parametrize(
    ("workspaces", "folders"),
    [
        ({"/srv/shop": {"branch": "main"}}, ("/srv/shop",)),
        (["/srv/shop", "/srv/blog"], ("/srv/shop", "/srv/blog")),
        ([{"path": "/srv/shop"}, {"root": "/srv/blog"}, 7], ("/srv/shop", "/srv/blog")),
        ("/srv/shop", ()),
        (None, ()),
    ],
)
def test_what_codex_says_of_its_session_comes_with_the_call(
    workspaces: Any, folders: tuple[str, ...]
) -> None:
    told = Told({"CLAUDE_CODE_SESSION_ID": "s"}, {"threadId": "t", TURN: {"workspaces": workspaces}})
    assert (client_of("codex").session(told), client_of("codex").folders(told)) == ("t", folders)


@pytest.mark.parametrize("meta", [{}, {"threadId": 7}, {TURN: "text"}, {TURN: None}, {"threadId": ["t"]}])
def test_nothing_is_made_of_what_is_not_understood(meta: dict[str, Any]) -> None:
    for agent in ("gemini", "codex", "claude"):
        told = Told({}, meta)
        assert (client_of(agent).session(told), client_of(agent).folders(told)) == (None, ())
