"""The server that an agent starts: it speaks on stdin and stdout, and ends when its client does."""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING, NoReturn

import anyio
from mcp.server.stdio import stdio_server

from geminids.faces.mcp.server import McpServer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from geminids.faces.mcp.answers import Answers
    from geminids.faces.serving.libraries import OpenLibrary


def serve(open_library: OpenLibrary, *, options: Sequence[str] | None, hides: bool) -> NoReturn:
    """Answer until stdin is closed, then end the process: nobody waits for what it is in the middle of.

    With `options`, a sync with these brings the index up to date.
    """
    logging.getLogger("mcp").addHandler(logging.NullHandler())

    def answers() -> Answers:
        from geminids.core.config import current_folder
        from geminids.faces.mcp.answers import Answers
        from geminids.faces.serving.libraries import Libraries

        environment = dict(os.environ)
        libraries = Libraries(open_library, syncs=options is not None)
        here = current_folder(environment)
        return Answers(libraries, hides=hides, options=options, environment=environment, here=here)

    server = McpServer(answers)
    code = 0
    try:
        anyio.run(_speak, server)
    except KeyboardInterrupt:
        from geminids.core.signals import told_to_end

        code = told_to_end() or 130
    finally:
        server.end()
    os._exit(code)


async def _speak(server: McpServer) -> None:
    async with stdio_server() as (reading, writing):
        await server.sdk.run(reading, writing, server.sdk.create_initialization_options())
