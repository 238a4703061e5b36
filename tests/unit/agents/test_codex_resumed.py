"""Our messages against what Codex itself sent when it went on with a session: the requests are the cases.

For each request the rollout is cut where it stood when the request was made.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from geminids.agents.codex import CodexSource
from geminids.agents.codex.read.rollout_text import opened
from geminids.agents.codex.read.rollouts import PACKED, rollout_name
from geminids.core.model import Session
from tests.conftest import FIXTURES
from tests.support import codex_histories as histories
from tests.support.reading import sessions

CASES = sorted((FIXTURES / "codex").glob("*/resume.json"))


def requests() -> Iterator[Any]:
    for case in CASES:
        for number, request in enumerate(json.loads(case.read_bytes())["requests"]):
            yield pytest.param(case.parent, request, id=f"{case.parent.name}-{number}")


@pytest.mark.parametrize(("case", "request_sent"), list(requests()))
def test_what_is_current_is_what_codex_sends(
    case: Path, request_sent: dict[str, Any], tmp_path: Path
) -> None:
    shutil.copytree(case / "home", tmp_path / "home")
    cut_back(tmp_path / "home", request_sent)
    session = thread(tmp_path / "home", request_sent["thread"])
    items, ours = histories.sent(request_sent["input"]), histories.told(session)
    assert ours == [said for said in histories.without_bridge(items, ours) if said != ("user", "")]


@pytest.mark.parametrize(("case", "request_sent"), list(requests()))
def test_what_tools_answered_is_what_codex_sends(
    case: Path, request_sent: dict[str, Any], tmp_path: Path
) -> None:
    shutil.copytree(case / "home", tmp_path / "home")
    cut_back(tmp_path / "home", request_sent)
    ours = histories.outputs_told(thread(tmp_path / "home", request_sent["thread"]))
    for call_id, output in histories.outputs_sent(request_sent["input"]).items():
        # Codex writes how a command ended above an output that it stored without.
        assert ours[call_id]
        assert output.endswith(ours[call_id])


def thread(home: Path, native_id: str) -> Session:
    return next(session for session in sessions(CodexSource(), home) if session.native_id == native_id)


def cut_back(home: Path, request_sent: dict[str, Any]) -> None:
    """Take away what was written to the thread after the prompt of a request."""
    named = ((path, rollout_name(path.name)) for path in home.rglob("rollout-*"))
    files = sorted(path for path, said in named if said and said.thread == request_sent["thread"])
    for file in reversed(files):
        lines = opened(file).text.beginning.split(b"\n")
        held = [number for number, line in enumerate(lines) if holds(line, request_sent["input"][-1])]
        file.unlink()
        if held:
            plain = file.with_name(file.name.removesuffix(PACKED))
            plain.write_bytes(b"\n".join(lines[: held[-1] + 1]) + b"\n")
            return
    raise AssertionError("no rollout holds the prompt of the request")


def holds(line: bytes, prompt: dict[str, Any]) -> bool:
    """Whether a line is that of a prompt; old releases wrote no ids."""
    payload = json.loads(line)["payload"] if line else {}
    if payload.get("role") != "user":
        return False
    if "id" in payload and "id" in prompt:
        return bool(payload["id"] == prompt["id"])
    return texts(payload) == texts(prompt)


def texts(item: dict[str, Any]) -> list[str]:
    return [piece["text"] for piece in item["content"] if "text" in piece]
