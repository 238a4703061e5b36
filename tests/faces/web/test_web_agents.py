"""The server of agents inside the web app: behind the same guard, with the same answers."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from geminids.faces.web.guard import HEADER
from tests.support.homes import FIRST_ID, write_session
from tests.support.mcp_clients import text_of
from tests.support.web_apps import PATIENCE, Served, client_of, served

PASSWORD = "the db password is Uh2p0?xZ-mc0f27FF, please plant the harvest"


def talked(server: Served) -> tuple[int, Any, Any]:
    async def talk() -> tuple[int, Any, Any]:
        async with (
            httpx2.AsyncClient(headers={HEADER: server.token}, timeout=PATIENCE) as http,
            Client(streamable_http_client(f"{server.base}/mcp", http_client=http)) as client,
        ):
            tools = await client.list_tools()
            found = await client.call_tool("search_history", {"query": "harvest"})
            read = await client.call_tool("read_session", {"id": FIRST_ID})
            return len(tools.tools), found, read

    return asyncio.run(asyncio.wait_for(talk(), 2 * PATIENCE))


def test_agents_are_answered_over_http_and_secrets_are_hidden(tmp_path: Path) -> None:
    write_session(tmp_path / "home", prompt=PASSWORD)
    with served(tmp_path / "home", tmp_path / "data") as server:
        tools, found, read = talked(server)
        with server.client() as browser:
            assert browser.get("/api/about").status_code == 200
    assert tools == 6
    for answer in (found, read):
        assert "plant the harvest" in text_of(answer)
        assert "Uh2p0?xZ" not in text_of(answer)


def test_nobody_comes_past_the_guard(tmp_path: Path) -> None:
    write_session(tmp_path / "home")
    hello = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    with client_of([tmp_path / "home"], tmp_path / "data") as client:
        token = client.headers[HEADER]
        del client.headers[HEADER]
        refused = client.post("/mcp", json=hello)
        assert (refused.status_code, "header X-Geminids-Token" in refused.text) == (401, True)
        assert client.get("/mcp").status_code == 401
        evil = {HEADER: token, "origin": "https://evil.example"}
        assert client.post("/mcp", json=hello, headers=evil).status_code == 403
        assert (
            client.post("/mcp", json=hello, headers={HEADER: token, "host": "evil.example"}).status_code
            == 400
        )
        large = client.post("/mcp", content=b"x" * 300_000, headers={HEADER: token})
        assert large.status_code == 413


def test_every_request_of_a_session_is_answered(tmp_path: Path) -> None:
    write_session(tmp_path / "home")
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}
    search = {"name": "search_history", "arguments": {"query": "login"}}

    async def talk(server: Served) -> tuple[Any, list[Any], Any]:
        accepted = {HEADER: server.token, "accept": "application/json, text/event-stream"}
        limits = httpx2.Limits(max_connections=50)
        async with httpx2.AsyncClient(headers=accepted, timeout=PATIENCE, limits=limits) as http:

            async def ask(number: int, method: str, params: Any) -> Any:
                asked = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
                return await http.post(f"{server.base}/mcp", json=asked)

            begun = await ask(0, "initialize", hello)
            http.headers["mcp-session-id"] = begun.headers["mcp-session-id"]
            half = b'{"jsonrpc": "2.0", "id": 3, "method": "ping", "params": {"of": "\\ud800"}}'
            typed = {"content-type": "application/json"}
            torn = await http.post(f"{server.base}/mcp", content=half, headers=typed)
            together = await asyncio.gather(*(ask(1, "tools/call", search) for _ in range(40)))
            return torn, together, await ask(1, "tools/call", search)

    with served(tmp_path / "home", tmp_path / "data") as server:
        torn, together, after = asyncio.run(asyncio.wait_for(talk(server), 2 * PATIENCE))
    assert (torn.status_code, torn.json()["error"]["code"]) == (400, -32700)
    refused = [answer.json() for answer in together if answer.status_code == 400]
    assert {answer["error"]["code"] for answer in refused} == {-32600}
    assert {answer["id"] for answer in refused} == {1}
    answered = [answer for answer in (*together, after) if answer.status_code == 200]
    assert len(answered) + len(refused) == 41
    assert all(FIRST_ID in answer.text for answer in answered)
    assert after.status_code == 200
