"""The server in the foreground: a loopback socket, a browser that is opened, a clean end.

It listens on this machine alone, on a free port unless one is chosen, and ends on Ctrl-C or when it is told
to: browsers that listen are let go first, so that nobody waits for them.
"""

from __future__ import annotations

import signal
import socket
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread
from types import FrameType
from typing import TYPE_CHECKING

import uvicorn

from geminids.faces.serving.collecting import collect_seldom
from geminids.faces.serving.memory import keep_little
from geminids.faces.web.app import create_app
from geminids.faces.web.connections import ACCEPTED_AT_ONCE, MOST_IN_LINE, Connection
from geminids.faces.web.errors import PortTakenError
from geminids.faces.web.guard import Code, Key

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from geminids.faces.serving.libraries import OpenLibrary

LOOPBACK = "127.0.0.1"
PATIENCE = 1
"""Seconds that requests have to end after we were told to."""
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def serve(
    open_library: OpenLibrary,
    *,
    open_sample: OpenLibrary | None = None,
    port: int = 0,
    opens_browser: bool = True,
    page: str = "/",
    redacts: bool = False,
    syncs: bool = True,
    tell: Callable[[str], None],
) -> None:
    """Serve until somebody ends it. `tell` is told the address of the page once it answers.

    `open_sample` opens what is shown as long as there is no session. Raises KeyboardInterrupt on Ctrl-C, as
    whatever runs in the foreground does, but after all is ended.
    """
    # A folder that is not there is told now, and not to every question.
    open_library(sync=False).close()
    collect_seldom()
    keep_little()
    with _listening(port) as listening:
        key = Key.new(listening.getsockname()[1])
        code = Code() if opens_browser else None
        app = create_app(open_library, key, code=code, open_sample=open_sample, redacts=redacts, syncs=syncs)

        def ready() -> None:
            tell(key.address_of(page))
            # The system may hold more than we take over at once.
            listening.listen(MOST_IN_LINE)
            if code:
                # Some browsers keep whoever starts them waiting.
                Thread(target=webbrowser.open, args=(key.address_with(code, page),), daemon=True).start()

        server = _Server(app, ready)
        server.run(sockets=[listening])
    if server.was_interrupted:
        raise KeyboardInterrupt


@contextmanager
def _listening(port: int) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listening:
        # The protocol is named: only then does asyncio send small answers at once, and not 40 ms later.
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((LOOPBACK, port))
        except OSError as error:
            raise PortTakenError(port, error.strerror or str(error)) from error
        yield listening


class _Server(uvicorn.Server):
    """A server that tells when it answers, and lets everybody go who waits when it ends."""

    def __init__(self, app: Starlette, ready: Callable[[], None]) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http=Connection,
                ws="none",
                backlog=ACCEPTED_AT_ONCE,
                lifespan="on",
                log_level="error",
                access_log=False,
                server_header=False,
                timeout_graceful_shutdown=PATIENCE,
            )
        )
        self.was_interrupted = False
        self._live = app.state.live
        self._answers = app.state.answers
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._live.end_listening()
        self._answers.end()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """End on these; nobody raises them once more."""
        before = {one: signal.signal(one, self._end) for one in _SIGNALS}
        try:
            yield
        finally:
            for one, handler in before.items():
                signal.signal(one, handler)

    def _end(self, number: int, frame: FrameType | None) -> None:
        self.was_interrupted |= number == signal.SIGINT
        self.handle_exit(number, frame)
