"""The lines between a client and the server: every request is answered, and unread answers cost little.

The SDK drops lines that it cannot parse, confuses two requests with one id over HTTP, and reads on while a
client leaves its answers unread.
"""

from __future__ import annotations

import json
import sys
from io import TextIOWrapper
from typing import TYPE_CHECKING

import anyio
import mcp_types as types
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from mcp.shared._stream_protocols import WriteStream

MOST_UNANSWERED = 128
"""Requests whose answers are worked out, or not taken yet; until there are fewer, no line is read."""


class Wire:
    """The lines that a client writes, and the stream of answers to them."""

    def __init__(self) -> None:
        self._lines = anyio.wrap_file(TextIOWrapper(sys.stdin.buffer, encoding="utf-8", errors="replace"))
        self._writing: WriteStream[SessionMessage] | None = None
        self._is_open = anyio.Event()
        self._unanswered: set[types.RequestId] = set()
        self._answered = anyio.Event()

    def open(self, writing: WriteStream[SessionMessage]) -> None:
        """Begin to read, and write answers to a stream."""
        self._writing = writing
        self._is_open.set()

    # The lines of the client, as the SDK reads them

    async def __aiter__(self) -> AsyncIterator[str]:
        await self._is_open.wait()
        async for line in self._lines:
            if not line.isspace() and await self._is_accepted(line):
                yield line

    async def _is_accepted(self, line: str) -> bool:
        try:
            message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValidationError as error:
            await self._refuse(id_in(line), _fault(error))
            return False
        match message:
            case types.JSONRPCRequest(id=asked) if asked in self._unanswered:
                await self._refuse(asked, has_no_answer_yet(asked))
                return False
            case types.JSONRPCRequest(id=asked):
                await self._wait_for_room()
                self._unanswered.add(asked)
            case types.JSONRPCNotification() if '"id"' in line and "id" in json.loads(line):
                # The SDK takes a request for a notification if its id is neither a number nor a text.
                sentence = "The id of a request is a number or a text."
                await self._refuse(None, types.ErrorData(code=types.INVALID_REQUEST, message=sentence))
                return False
            case types.JSONRPCNotification(method="notifications/cancelled", params={"requestId": asked}):
                self._note_answer(asked)
        return True

    async def _wait_for_room(self) -> None:
        while len(self._unanswered) >= MOST_UNANSWERED:
            self._answered = anyio.Event()
            await self._answered.wait()

    def _note_answer(self, asked: object) -> None:
        self._unanswered -= {asked}
        self._answered.set()

    async def _refuse(self, asked: types.RequestId | None, error: types.ErrorData) -> None:
        assert self._writing is not None
        await self._writing.send(SessionMessage(types.JSONRPCError(jsonrpc="2.0", id=asked, error=error)))

    # The stream of answers, as the SDK writes it

    async def send(self, item: SessionMessage, /) -> None:
        """Write a message once the client has taken those before it."""
        assert self._writing is not None
        await self._writing.send(item)
        if isinstance(item.message, types.JSONRPCResponse | types.JSONRPCError):
            self._note_answer(item.message.id)

    async def aclose(self) -> None:
        """Write no more."""
        assert self._writing is not None
        await self._writing.aclose()

    async def __aenter__(self) -> Wire:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


def has_no_answer_yet(asked: types.RequestId) -> types.ErrorData:
    """Return the error of a request with the id of an earlier one that has no answer yet."""
    sentence = f"The request {asked!r} has no answer yet: each request needs an id of its own."
    return types.ErrorData(code=types.INVALID_REQUEST, message=sentence)


def id_in(line: str) -> types.RequestId | None:
    """Return the id of a request, also of one that the SDK does not read; None if no answer can name it."""
    try:
        match json.loads(line):
            case {"method": _, "id": int() | str() as asked} if not isinstance(asked, bool):
                return asked if str(asked).isprintable() else None
    except (ValueError, RecursionError):
        # No JSON, or nested too deeply: no id can be known, and the caller answers without one.
        pass
    return None


def _fault(error: ValidationError) -> types.ErrorData:
    if error.errors()[0]["type"] == "json_invalid":
        sentence = "The line is not JSON, or has half of a character (a lone surrogate)."
        return types.ErrorData(code=types.PARSE_ERROR, message=sentence)
    return types.ErrorData(code=types.INVALID_REQUEST, message="The line is not a message of JSON-RPC 2.0.")
