"""`/mcp`: the server of agents behind the guard of the web app, loaded when somebody asks for it."""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import TYPE_CHECKING

from geminids.faces.web.faults import fault

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from geminids.faces.mcp.http import McpOverHttp
    from geminids.faces.serving.libraries import Libraries

PATH = "/mcp"
_SERVER = "geminids.faces.mcp.http"


class AgentsDoor:
    """Hands requests on. Secrets are hidden in all answers, whatever the page shows."""

    def __init__(self, libraries: Libraries) -> None:
        self._libraries = libraries
        self._server: McpOverHttp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        try:
            # Loading takes half a second, in which pages are answered.
            await asyncio.to_thread(import_module, _SERVER)
        except ModuleNotFoundError as error:
            from geminids.faces.mcp.errors import McpNotInstalledError

            missing = str(error.name).partition(".")[0]
            await fault(501, str(McpNotInstalledError(missing)))(scope, receive, send)
            return
        await self._opened().answer(scope, receive, send)

    async def end(self) -> None:
        """Let everybody go who listens."""
        if self._server is not None:
            await self._server.end()

    def _opened(self) -> McpOverHttp:
        if self._server is None:
            from geminids.faces.mcp.http import McpOverHttp

            self._server = McpOverHttp(self._libraries)
        return self._server
