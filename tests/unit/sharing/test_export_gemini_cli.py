"""An exported session in the real Gemini CLI: it is listed and continued, with every turn and call."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from geminids.agents.gemini.write.session_file import gemini_file_name
from geminids.core import agents
from geminids.core.model import Session
from tests.conftest import FIXTURES
from tests.support.exporting import exported
from tests.support.gemini_cli import (
    MODEL,
    VERSION,
    NoCliError,
    ScratchHome,
    Server,
    installed_cli,
    loopback_server,
)
from tests.support.reading import custodian_of
from tests.support.reading import sessions as read_sessions

CASES = (
    "shell-mode",
    "tool-calls-jsonl-2",
    "tool-calls-json",
    "rewind-jsonl-2",
    "compress-checkpoint",
    "failed-prompt",
    "image-prompt",
)
"""Plain talk, calls in the newest and in an old shape, what was taken back, what was compressed, files."""
NEW_PROMPT = "Go on, please."
IGNORED = ("/", "?", "<session_context>", "<hook_context>")
"""How texts begin that the CLI leaves out when it goes on."""

Said = tuple[str, ...]


class Original(NamedTuple):
    """A session, and what the agent itself loads from its file."""

    session: Session
    messages: list[dict[str, Any]]


class Continued(NamedTuple):
    """A scratch home with all sessions in it, and the server that its CLI talks to."""

    home: ScratchHome
    server: Server
    listed: str


@pytest.fixture(scope="module")
def cli(request: pytest.FixtureRequest) -> Path:
    """The program of Gemini CLI."""
    assert request.config.cache is not None
    try:
        return installed_cli(request.config.cache.mkdir("gemini-cli"))
    except NoCliError as error:
        pytest.skip(f"no Gemini CLI {VERSION}: exported sessions were not continued by it ({error})")


@pytest.fixture(scope="module")
def continued(cli: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Continued]:
    """All cases in one home. The CLI deletes what was not touched for 30 days, so they are touched."""
    with loopback_server() as server:
        home = ScratchHome(tmp_path_factory.mktemp("gemini"), cli, server)
        for case in CASES:
            session = original(case).session
            written = exported("gemini", session, touched_at=datetime.now(UTC))
            (home.chats / gemini_file_name(session)).write_bytes(written)
        listing = home.run("--list-sessions")
        assert listing.code == 0, listing.err
        yield Continued(home, server, listing.out)


def original(case: str) -> Original:
    """The first session of a case."""
    source = agents.load("gemini")
    session = read_sessions(source, FIXTURES / "gemini" / case / "home")[0]
    view = custodian_of(source).agent_view(Path(session.files[-1].path))
    assert view is not None
    return Original(session, view["messages"])


def test_lists_every_session(continued: Continued) -> None:
    assert f"({len(CASES)})" in continued.listed
    for case in CASES:
        assert f"[{original(case).session.native_id}]" in continued.listed


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_goes_on_with_every_turn_and_call(continued: Continued, case: str) -> None:
    session, messages = original(case)
    before = len(continued.server.conversations())
    ran = continued.home.run("--resume", session.native_id, "--model", MODEL, "--prompt", NEW_PROMPT)
    assert ran.code == 0, ran.err
    (sent,) = continued.server.conversations()[before:]
    assert list(said_in_request(sent)) == [*said_in_file(messages), ("user", NEW_PROMPT)]


@pytest.mark.slow
def test_loads_a_file_from_anywhere(continued: Continued, tmp_path: Path) -> None:
    session, messages = original("tool-calls-jsonl-2")
    file = tmp_path / gemini_file_name(session)
    file.write_bytes(exported("gemini", session))
    before = len(continued.server.conversations())
    ran = continued.home.run("--session-file", str(file), "--model", MODEL, "--prompt", NEW_PROMPT)
    assert ran.code == 0, ran.err
    (sent,) = continued.server.conversations()[before:]
    assert list(said_in_request(sent)) == [*said_in_file(messages), ("user", NEW_PROMPT)]


def said_in_request(contents: list[dict[str, Any]]) -> Iterator[Said]:
    """What a request holds, piece by piece. Answers to calls are sent twice; they are told once."""
    answered: set[str] = set()
    for turn in contents:
        for part in turn["parts"]:
            for said in _said(turn["role"], part):
                if said[0] != "answer" or said[1] not in answered:
                    yield said
                if said[0] == "answer":
                    answered.add(said[1])


def said_in_file(messages: list[dict[str, Any]]) -> Iterator[Said]:
    """What a session file holds for the model: the same in the same order."""
    contents: list[dict[str, Any]] = []
    for message in messages:
        content = message["content"]
        parts = [{"text": content}] if isinstance(content, str) else list(content)
        if message["type"] == "user" and not _is_ignored(parts):
            contents.append({"role": "user", "parts": parts})
        elif message["type"] == "gemini":
            calls = message.get("toolCalls", [])
            if not any("functionCall" in part for part in parts):
                parts += [{"functionCall": call} for call in calls]
            answers = [part for call in calls for part in call.get("result") or ()]
            contents += [{"role": "model", "parts": parts}, {"role": "user", "parts": answers}]
    return said_in_request(contents)


def _is_ignored(parts: list[dict[str, Any]]) -> bool:
    return "".join(part.get("text", "") for part in parts).lstrip().startswith(IGNORED)


def _said(role: str, part: dict[str, Any]) -> Iterator[Said]:
    match part:
        case {"thought": True} | {"text": ""}:
            return
        case {"text": str(text)}:
            if not text.startswith("<session_context>"):
                yield role, text
        case {"functionCall": {"id": str(call_id), "name": str(name), "args": args}}:
            yield "call", _sent_id(call_id, name), name, json.dumps(args, sort_keys=True)
        case {"functionResponse": {"id": str(call_id), "name": str(name), "response": response}}:
            yield "answer", _sent_id(call_id, name), name, json.dumps(response, sort_keys=True)
        case _:
            yield role, json.dumps(part, sort_keys=True)


def _sent_id(call_id: str, name: str) -> str:
    """The id as the server gave it: the CLI keeps it with the name of the tool in front."""
    return call_id.removeprefix(f"{name}__")
