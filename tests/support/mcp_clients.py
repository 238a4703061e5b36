"""Clients of the server of agents: in this process, and of the real command."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import mcp_types as types
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from geminids.faces.mcp.answers import Answers
from geminids.faces.mcp.server import McpServer
from geminids.faces.serving.libraries import Libraries
from geminids.library import open_library

Worth = TypeVar("Worth")
Talk = Callable[[Client], Awaitable[Worth]]
RUN = [sys.executable, "-m", "geminids", "mcp"]
PATIENCE = 60.0


def asked(
    homes: Sequence[Path],
    data: Path,
    talk: Talk[Worth],
    *,
    hides: bool = False,
    environment: Mapping[str, str] | None = None,
    here: Path | str | None = None,
    name: str = "a-client",
    roots: Sequence[str] | None = None,
) -> Worth:
    """What comes of talking to a server in this process that has taken everything in."""

    async def tell_roots(context: object) -> types.ListRootsResult | types.ErrorData:
        listed = [{"uri": f"file://{root}"} for root in roots or ()]
        return types.ListRootsResult.model_validate({"roots": listed})

    async def run() -> Worth:
        libraries = Libraries(partial(open_library, [str(home) for home in homes], str(data)), syncs=True)
        libraries.sync()
        folder = str(here) if here else None
        answers = Answers(libraries, hides=hides, environment=environment or {}, here=folder)
        server = McpServer(lambda: answers)
        try:
            async with Client(
                server.sdk,
                mode="legacy",
                client_info=types.Implementation(name=name, version="1.0"),
                list_roots_callback=tell_roots if roots is not None else None,
            ) as client:
                return await talk(client)
        finally:
            server.end()
            libraries.close()

    return asyncio.run(run())


def calls(*questions: tuple[str, dict[str, Any]], meta: dict[str, Any] | None = None) -> Talk[list[Any]]:
    """Talk that asks tools, one after the other."""

    async def talk(client: Client) -> list[Any]:
        sent: Any = meta
        return [await client.call_tool(name, given, meta=sent) for name, given in questions]

    return talk


def run_with_sdk(
    talk: Talk[Worth], *options: str, mode: str = "legacy", environment: Mapping[str, str] | None = None
) -> Worth:
    """What comes of talking to the real command by the SDK's own client."""

    async def run() -> Worth:
        command = StdioServerParameters(
            command=RUN[0], args=[*RUN[1:], *options], env={**os.environ, **(environment or {})}
        )
        async with asyncio.timeout(PATIENCE), Client(stdio_client(command), mode=mode) as client:
            return await talk(client)

    return asyncio.run(run())


def text_of(answer: Any) -> str:
    """The text of an answer."""
    (content,) = answer.content
    assert isinstance(content, types.TextContent)
    return content.text


def json_of(answer: Any) -> str:
    """The structure of an answer as an agent sends it on."""
    return json.dumps(answer.structured_content, ensure_ascii=False, separators=(",", ":"))


def leaves(value: Any) -> Iterator[Any]:
    """All that stands in a structure but its keys."""
    match value:
        case dict():
            for held in value.values():
                yield from leaves(held)
        case list():
            for held in value:
                yield from leaves(held)
        case _:
            yield value
