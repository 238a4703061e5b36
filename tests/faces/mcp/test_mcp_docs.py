"""docs/mcp.md: the reference of the tools is what the server says, and the example is an answer of it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mcp import Client

from geminids import sample
from tests.conftest import ROOT
from tests.support.mcp_clients import asked, text_of

PAGE = ROOT / "docs" / "mcp.md"
EXAMPLE = {"query": "cache", "sessions": 2}


async def told(client: Client) -> tuple[Any, str]:
    tools = (await client.list_tools()).tools
    text = text_of(await client.call_tool("search_history", EXAMPLE))
    # It tells when the first page was asked for.
    return tools, re.sub(r"^next: .*", "next: …", text, flags=re.MULTILINE)


def reference(tools: Any) -> Iterator[str]:
    """The tools with what they take, as Markdown."""
    for tool in tools:
        yield f"**`{tool.name}`** {tool.description}\n"
        yield "| argument | | default |\n|---|---|---|"
        required = tool.input_schema.get("required", ())
        properties = tool.input_schema["properties"]
        own = [name for name in properties if name not in {"size", "after"}]
        for name in (*own, "size", "after"):
            about = properties[name]
            default = "required" if name in required else _spelled(about["default"])
            words = about["description"] + _choices(about)
            yield f"| `{name}` | {words.replace('|', chr(92) + '|')} | {default} |"
        yield ""


def _spelled(default: Any) -> str:
    return f"`{str(default).lower()}`" if default != "" else ""


def _choices(about: dict[str, Any]) -> str:
    names = [f"`{one}`" for one in about.get("enum", ()) if one]
    return f" One of {', '.join(names)}." if names else ""


def between(page: str, name: str, content: str) -> str:
    begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    before, _, rest = page.partition(begin)
    _, _, after = rest.partition(end)
    return f"{before}{begin}\n{content.strip()}\n{end}{after}"


def test_the_page_says_what_the_server_says(tmp_path: Path) -> None:
    tools, example = asked([Path(sample.home())], tmp_path, told)
    page = PAGE.read_text("utf-8")
    wanted = between(page, "tools", "\n".join(reference(tools)))
    wanted = between(wanted, "example", f"```text\n{example}\n```")
    if os.environ.get("GEMINIDS_GOLDEN") == "rewrite":
        PAGE.write_text(wanted, "utf-8")
        page = wanted
    assert page == wanted
