"""No word of a session begins a line of an answer outside a quotation, whatever separates its lines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp import Client

from tests.support.mcp_clients import asked, json_of, text_of
from tests.support.poisoned_homes import FORGED, FORGED_LINES, forged_in, write_poisoned


async def every_answer(client: Client) -> list[str]:
    """Return the texts of all tools, resources, prompts and errors about all sessions."""
    listed = await client.call_tool("list_sessions", {"project": "all", "sessions": 100, "size": 11_500})
    sessions = structured(listed)["sessions"]
    questions: list[tuple[str, dict[str, Any]]] = [
        *(("usage", {"by": by}) for by in ("session", "model", "project", "tool", "agent")),
        *(("search_history", {"query": words, "sessions": 20, "size": 11_500}) for words in ("human", "the")),
        ("search_history", {"query": "human", "project": sessions[0]["project"][:9]}),
        ("search_history", {"query": "human", "project": "nowhere"}),
        ("find_edits", {"file": "py"}),
        ("find_edits", {"file": "txt"}),
        ("read_session", {"id": "gemini:"}),
        *(("session_brief", {"id": one["id"]}) for one in sessions),
        *(("read_session", {"id": one["id"], "detail": "everything"}) for one in sessions),
        *(("search_history", {"query": f"human id:{one['id']}"}) for one in sessions),
    ]
    answers = [listed, *[await client.call_tool(*question) for question in questions]]
    prompts = [await client.get_prompt("recall", {"about": "human"})]
    prompts += [await client.get_prompt("handover", {"session": one["id"]}) for one in sessions]
    resources = (await client.list_resources()).resources
    read = [await client.read_resource(one.uri) for one in resources]
    return [
        *map(text_of, answers),
        *(text for prompt in prompts for text in texts_of(prompt.messages[0].content)),
        *(text for found in read for text in texts_of(found.contents[0])),
        *(str(value) for one in resources for value in (one.uri, one.name, one.title, one.description)),
        *(json_of(answer) for answer in answers),
    ]


def texts_of(content: object) -> list[str]:
    return [content.text] if isinstance(content, types.TextContent | types.TextResourceContents) else []


def structured(answer: Any) -> dict[str, Any]:
    found: dict[str, Any] = answer.structured_content
    return found


@pytest.mark.parametrize("hides", [False, True], ids=["secrets shown", "secrets hidden"])
def test_no_word_of_a_session_begins_a_line_of_an_answer(tmp_path: Path, hides: bool) -> None:
    home = write_poisoned(tmp_path / "home", poison=FORGED_LINES)
    texts = asked([home], tmp_path / "data", every_answer, hides=hides)
    assert sum(FORGED in text for text in texts) > 100
    assert [line for text in texts for line in forged_in(text)] == []
