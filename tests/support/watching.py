"""Listening to a watch, in this process or as the command that people run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from geminids.core.model import AnyPart, Session, State, Text
from geminids.sync.watch import AnyEvent, Happened, News, Quiet, SessionGone, SessionNews

SECOND_ID = "2e1d9a2b-0000-4000-8000-000000000002"
PATIENCE = 15.0
"""Seconds after which a test no longer believes that something will come; usually it takes a tenth of one."""

Messages = dict[tuple[str, str], tuple[State, tuple[AnyPart, ...]]]


class Listener:
    """Somebody who knows of sessions only what a watch tells."""

    def __init__(self) -> None:
        self.messages: Messages = {}
        self.news: list[News] = []
        self.words = ""

    def hear(self, events: Iterable[AnyEvent]) -> None:
        for event in events:
            match event:
                case SessionNews(session=session, news=news):
                    for one in news:
                        self._hear(session.id, one)
                case SessionGone(session_id=gone):
                    self.messages = {key: told for key, told in self.messages.items() if key[0] != gone}

    def _hear(self, session_id: str, news: News) -> None:
        key = (session_id, news.message_id)
        self.news.append(news)
        self.words += "".join(part.text for part in news.new_parts if isinstance(part, Text))
        assert (key not in self.messages) == (news.happened is Happened.ADDED), f"{key} is told twice"
        if news.message is None:
            del self.messages[key]
        else:
            self.messages[key] = (news.message.state, news.message.parts)


def messages_of(sessions: Iterable[Session]) -> Messages:
    """The messages of sessions as a listener would know them."""
    return {(s.id, message.id): (message.state, message.parts) for s in sessions for message in s.messages}


def heard(events: Iterator[AnyEvent], enough: Callable[[list[AnyEvent]], bool]) -> list[AnyEvent]:
    """What a watch tells until it is enough; it must have a heartbeat."""
    told: list[AnyEvent] = []
    deadline = time.monotonic() + PATIENCE
    for event in events:
        if not isinstance(event, Quiet):
            told.append(event)
        if enough(told):
            return told
        assert time.monotonic() < deadline, f"nothing more came than {told}"
    raise AssertionError(f"the watch ended after {told}")


def silence(events: Iterator[AnyEvent], beats: int = 4) -> None:
    """So many heartbeats in which nothing is told."""
    for _, event in zip(range(beats), events, strict=False):
        assert isinstance(event, Quiet), f"told without need: {event}"


class Command:
    """A running `geminids watch`, and what it has printed so far."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.lines: list[str] = []
        self.said: list[str] = []
        self._threads = [
            threading.Thread(target=_collect, args=pair, daemon=True)
            for pair in ((process.stdout, self.lines), (process.stderr, self.said))
        ]
        for thread in self._threads:
            thread.start()

    def wait_for(self, is_there: Callable[[], object]) -> None:
        """Wait until something is there."""
        deadline = time.monotonic() + PATIENCE
        while not is_there():
            assert time.monotonic() < deadline, f"did not come; there are: {self.lines} {self.said}"
            assert self.process.poll() is None or is_there(), f"ended: {self.lines} {self.said}"
            time.sleep(0.005)

    def wait_for_words(self, words: str) -> None:
        """Wait until some words are printed."""
        self.wait_for(lambda: any(words in line for line in list(self.lines)))

    def end(self) -> int:
        """Wait until it ends by itself; its exit code."""
        code = self.process.wait(PATIENCE)
        for thread in self._threads:
            thread.join(PATIENCE)
        return code

    @property
    def documents(self) -> list[dict[str, Any]]:
        """What it has printed as JSON."""
        return [json.loads(line) for line in list(self.lines)]


def _collect(stream: Any, lines: list[str]) -> None:
    lines.extend(line.decode().rstrip("\n") for line in stream)


@contextmanager
def watching(*arguments: object, **environment: str) -> Iterator[Command]:
    """The command while it runs; it has begun to watch."""
    line = [sys.executable, "-m", "geminids", "watch", *map(str, arguments)]
    pipe = subprocess.PIPE
    with subprocess.Popen(line, stdout=pipe, stderr=pipe, env=os.environ | environment) as process:
        try:
            command = Command(process)
            command.wait_for(lambda: any("Watching" in said for said in command.said))
            yield command
        finally:
            process.kill()


WRITER = """
import sys, time
path, size, pause = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
content = sys.stdin.buffer.read()
for start in range(0, len(content), size):
    with open(path, "ab") as file:
        file.write(content[start:start + size])
    time.sleep(pause)
"""


def append_elsewhere(path: Path, content: bytes, size: int = 1 << 30, pause: float = 0) -> None:
    """Let another process append something, in pieces of a size, with a pause after each."""
    line = [sys.executable, "-c", WRITER, str(path), str(size), str(pause)]
    subprocess.run(line, input=content, check=True, timeout=60)


def message(name: str, words: str, **fields: Any) -> dict[str, Any]:
    """A message as Gemini CLI writes it."""
    kind = {"type": "user", "content": [{"text": words}]}
    return {"id": name, "timestamp": "2026-05-01T11:00:00.000Z", **kind, **fields}


def answer(name: str, words: str, **fields: Any) -> dict[str, Any]:
    return message(name, words, **{"type": "gemini", "content": words, "model": "gemini-3-pro", **fields})


def append(path: Path, *records: dict[str, Any]) -> None:
    with path.open("a") as file:
        file.write("".join(json.dumps(record) + "\n" for record in records))
