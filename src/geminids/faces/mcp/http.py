"""The same server over HTTP, inside the web app and behind its guard. It is loaded with the first request."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from geminids.faces.mcp.answers import Answers
from geminids.faces.mcp.server import McpServer

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from geminids.faces.serving.libraries import Libraries

MOST_SESSIONS = 50
MOST_BODY = 256_000
"""Bytes of a request: all that tools take are a few words."""


class McpOverHttp:
    """Answers requests of MCP; it lives in a task of its own until it is ended."""

    def __init__(self, libraries: Libraries) -> None:
        # What the SDK notes is for whoever looks for its bugs, and not for the terminal of the web app.
        logging.getLogger("mcp").addHandler(logging.NullHandler())
        # Whoever asks over HTTP is in no folder of this server, and has set nothing in its environment.
        self._server = McpServer(lambda: Answers(libraries, hides=True))
        self._manager = StreamableHTTPSessionManager(
            self._server.sdk, max_sessions=MOST_SESSIONS, max_request_body_size=MOST_BODY
        )
        self._is_ready = asyncio.Event()
        self._has_ended = asyncio.Event()
        self._running = asyncio.create_task(self._run())

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        await self._is_ready.wait()
        await self._manager.handle_request(scope, receive, send)

    async def end(self) -> None:
        """Let everybody go."""
        self._has_ended.set()
        await self._running

    async def _run(self) -> None:
        async with self._manager.run():
            self._is_ready.set()
            await self._has_ended.wait()
        self._server.end()
