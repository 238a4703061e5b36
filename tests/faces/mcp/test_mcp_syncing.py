"""How long an answer waits for what is read, where a first index takes its time."""

from __future__ import annotations

import asyncio
import time
from functools import partial
from pathlib import Path

import pytest

from geminids.faces.mcp import syncing
from geminids.faces.mcp.syncing import Syncing
from geminids.faces.serving.libraries import Libraries
from geminids.faces.serving.workers import Workers
from geminids.library import open_library
from geminids.storage.index.to_come import ToCome, note_to_come
from tests.support.homes import write_session


@pytest.mark.parametrize(("began", "waits"), [(0.0, True), (60.0, False)])
def test_who_asks_again_while_much_is_read_does_not_wait_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, began: float, *, waits: bool
) -> None:
    write_session(tmp_path / "home")
    monkeypatch.setattr(syncing, "PATIENCE", 0.0)
    monkeypatch.setattr(syncing, "FIRST_PATIENCE", 1.0)
    heard: list[tuple[int, int]] = []

    async def hear(done: int, of: int, _: str) -> None:
        heard.append((done, of))

    async def wait() -> float:
        workers = Workers(1)
        libraries = Libraries(
            partial(open_library, [str(tmp_path / "home")], str(tmp_path / "data")), syncs=True
        )
        waiting = Syncing(libraries, workers, [])
        # A sync that goes on and on.
        waiting._running = asyncio.create_task(asyncio.Event().wait())  # type: ignore[arg-type]
        waiting._began_at = time.monotonic() - began
        start = time.monotonic()
        await waiting.in_step(hear)
        workers.end()
        libraries.close()
        return time.monotonic() - start

    opening = partial(open_library, [str(tmp_path / "home")], str(tmp_path / "data"))
    with opening(sync=True) as library:
        library.sync()
        place = library._context.place()
    assert place is not None
    index = place.open_to_write()
    assert index is not None
    with index.connection:
        note_to_come(index, ToCome(5, 5_000, 10, 20))
    place.seal(index)
    index.close()
    taken = asyncio.run(wait())
    assert (taken >= 1.0) == waits
    assert heard == ([(1, 6)] * len(heard) if waits else [])
