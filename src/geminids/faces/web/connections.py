"""One connection: how long it may wait for a request, how many may wait, whose program is at its other end.

A request that never ends costs a file descriptor, and a process has a thousand of these. So a request has to
come whole within some seconds, slowly or not, and of those that are waited for there are only so many: when
one more comes, the one that has waited longest is let go. Whoever is being answered counts in neither.
"""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

PATIENCE = 10.0
"""Seconds in which a request must have come, its body included."""
MOST_WAITING = 256
"""Connections of which no whole request has come yet, those between two requests included."""
ACCEPTED_AT_ONCE = 64
"""Taken over before any of them is looked at: with these, too, a process has descriptors left."""
MOST_IN_LINE = 1024
"""Connections that the system may hold until we take them over."""
PEER = "geminids.peer"
"""Where the state of a request tells who is at the other end."""
_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")
_STILL_COMING = frozenset({h11.IDLE, h11.SEND_BODY})


class Connection(H11Protocol):
    """HTTP over one connection."""

    _waiting: dict[Connection, None] = {}  # noqa: RUF012 - of all connections of this process
    """Those of which no whole request has come yet, the longest first."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait."""
        super().connection_made(transport)
        self.app_state = {**self.app_state, PEER: Peer(transport)}
        self._look()

    def data_received(self, data: bytes) -> None:
        """Go on waiting, or not. Another byte gives nobody more time."""
        super().data_received(data)
        self._look()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        super().connection_lost(exc)
        self._end_waiting()

    def _look(self) -> None:
        if self.transport.is_closing() or self.conn.their_state not in _STILL_COMING:
            self._end_waiting()
        elif self._deadline is None:
            self._deadline = self.loop.call_later(PATIENCE, self.let_go)
            self._waiting[self] = None
            if len(self._waiting) > MOST_WAITING:
                next(iter(self._waiting)).let_go()

    def _end_waiting(self) -> None:
        self._waiting.pop(self, None)
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def let_go(self) -> None:
        """End it, whatever it is in the middle of."""
        self._end_waiting()
        # Not closed: what may still be sent to somebody who takes nothing would keep it open.
        self.transport.abort()


class Peer:
    """The program at the other end."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport

    @cached_property
    def is_another_user(self) -> bool:
        """Whether it is known to run for another user of this machine, who is not the superuser.

        Linux tells whose a socket is. It also shows all command lines to everybody, and browsers are started
        with the address that they open, by us or by a terminal in which somebody clicks on it. A server of
        the superuser asks nobody: in containers it is often the only user.
        """
        if os.name != "posix" or os.geteuid() == 0:
            return False
        return _owner(self._transport) not in {None, 0, os.geteuid()}


def _owner(transport: asyncio.Transport) -> int | None:
    """The user of the other end of a connection within this machine; None if nobody can tell."""
    theirs, ours = transport.get_extra_info("peername"), transport.get_extra_info("sockname")
    if not theirs or not ours:
        return None
    ends = [f"{_in_table(address)}:{port:04X}" for address, port in (theirs, ours)]
    for local, remote, owner in _connections():
        # An address of version 4 ends the same where it is written as one of version 6.
        if local.endswith(ends[0]) and remote.endswith(ends[1]):
            return int(owner)
    return None


def _in_table(address: str) -> str:
    return f"{int.from_bytes(socket.inet_aton(address), sys.byteorder):08X}"


def _connections() -> Iterator[tuple[str, str, str]]:
    """Both ends and the user of each connection that the system knows."""
    for table in _TABLES:
        # Other systems have no such table, and some machines no addresses of version 6: then nobody can tell.
        with suppress(OSError), Path(table).open(encoding="ascii") as lines:
            next(lines, None)
            for line in lines:
                _, local, remote, _, _, _, _, owner, *_ = line.split()
                yield local, remote, owner
