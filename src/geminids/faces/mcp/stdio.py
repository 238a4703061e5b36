"""The server that an agent starts: it speaks on stdin and stdout, and ends when its client does."""

from __future__ import annotations

import logging
import os
import signal
import sys
from typing import TYPE_CHECKING, NoReturn, cast

import anyio
from mcp.server.stdio import stdio_server

from geminids.faces.mcp.apart import AnswersApart
from geminids.faces.mcp.server import McpServer
from geminids.faces.mcp.wire import Wire

if TYPE_CHECKING:
    from geminids.faces.mcp.answering import Wanted


def serve(wanted: Wanted, *, prompts: bool = True) -> NoReturn:
    """Answer until stdin or stdout is closed, then end the process: nobody waits for what it is doing."""
    logging.getLogger("mcp").addHandler(logging.NullHandler())
    server = McpServer(lambda: AnswersApart(wanted), prompts=prompts)
    _end_at_once_when_told(server)
    try:
        if sys.stdin and sys.stdout:
            anyio.run(_speak, server)
    finally:
        server.end()
    os._exit(0)


def _end_at_once_when_told(server: McpServer) -> None:
    """Have signals end the process: an exception in the midst of tasks would be told as a fault of theirs."""

    def end(number: int, _: object) -> None:
        try:
            server.end()
        finally:
            os._exit(128 + number)

    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, end)


async def _speak(server: McpServer) -> None:
    wire = Wire()
    async with stdio_server(stdin=cast("anyio.AsyncFile[str]", wire)) as (reading, writing):
        wire.open(writing)
        try:
            await server.sdk.run(reading, wire, server.sdk.create_initialization_options())
        except anyio.get_cancelled_exc_class():
            # A client that reads no more has gone; the loop would wait for its next line nevertheless.
            server.end()
            os._exit(0)
        # The loop would wait for answers that nobody waits for any more.
        server.end()
