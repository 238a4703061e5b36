"""The same server over HTTP, inside the web app and behind its guard. It is loaded with the first request."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types import JSONRPCError, RequestId

from geminids.faces.mcp.answers import Answers
from geminids.faces.mcp.server import McpServer
from geminids.faces.mcp.wire import has_no_answer_yet, id_in

if TYPE_CHECKING:
    from starlette.types import Message, Receive, Scope, Send

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
        self._unanswered: set[tuple[bytes | None, str]] = set()
        """Sessions, each with the id of a request."""
        self._is_ready = asyncio.Event()
        self._has_ended = asyncio.Event()
        self._running = asyncio.create_task(self._run())

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        await self._is_ready.wait()
        session = dict(scope["headers"]).get(b"mcp-session-id")
        body, receive = await _body(receive) if session and scope["method"] == "POST" else (b"", receive)
        asked = id_in(body.decode(errors="replace"))
        key = session, str(asked)
        if asked is None:
            await self._manager.handle_request(scope, receive, send)
        elif key in self._unanswered:
            # The SDK would take the second for the first, and answer neither.
            await _refuse_second(asked, send)
        else:
            self._unanswered.add(key)
            try:
                await self._manager.handle_request(scope, receive, send)
            finally:
                self._unanswered.discard(key)

    async def end(self) -> None:
        """Let everybody go."""
        self._has_ended.set()
        await self._running

    async def _run(self) -> None:
        async with self._manager.run():
            self._is_ready.set()
            await self._has_ended.wait()
        self._server.end()


async def _body(receive: Receive) -> tuple[bytes, Receive]:
    """Return the body of a request, the beginning of one that is too large, and what receives it again."""
    messages: list[Message] = []
    body = b""
    while len(body) <= MOST_BODY:
        message = await receive()
        messages.append(message)
        body += message.get("body", b"")
        if not message.get("more_body"):
            break

    async def again() -> Message:
        return messages.pop(0) if messages else await receive()

    return body, again


async def _refuse_second(asked: RequestId, send: Send) -> None:
    refusal = JSONRPCError(jsonrpc="2.0", id=asked, error=has_no_answer_yet(asked))
    body = refusal.model_dump_json().encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 400, "headers": headers})
    await send({"type": "http.response.body", "body": body})
