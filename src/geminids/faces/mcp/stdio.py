"""The server that an agent starts: it speaks on stdin and stdout, and ends when its client does."""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING, NoReturn

import anyio
from mcp.server.stdio import stdio_server

from geminids.faces.mcp.apart import AnswersApart
from geminids.faces.mcp.server import McpServer

if TYPE_CHECKING:
    from geminids.faces.mcp.answering import Wanted


def serve(wanted: Wanted, *, prompts: bool = True) -> NoReturn:
    """Answer until stdin is closed, then end the process: nobody waits for what it is in the middle of."""
    logging.getLogger("mcp").addHandler(logging.NullHandler())
    server = McpServer(lambda: AnswersApart(wanted), prompts=prompts)
    code = 0
    try:
        anyio.run(_speak, server)
    except* KeyboardInterrupt:
        # It may come alone, or out of a group of tasks, wherever the process was.
        from geminids.core.signals import told_to_end

        code = told_to_end() or 130
    finally:
        server.end()
    os._exit(code)


async def _speak(server: McpServer) -> None:
    async with stdio_server() as (reading, writing):
        await server.sdk.run(reading, writing, server.sdk.create_initialization_options())
        # The loop would wait for answers that nobody waits for any more.
        server.end()
