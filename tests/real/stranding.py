"""Ways in which sessions get stranded: the real Gemini CLI makes them, and does the damage where it can.

What only a process that dies or a second writer at the right moment would do is done to the files it wrote.
"""

from __future__ import annotations

import json
import re
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from geminids.core.model import folder_hash
from tests.conftest import FIXTURES
from tests.real.deleting import MINUTE, WAIT_SECONDS, Machine, Terminal
from tests.support.gemini_cli import REPLY

FIRST, SECOND, THIRD = "Remember the apple.", "And the pear.", "The plum too."
AN_ID = "11111111-2222-4333-8444-555555555555"
ALIKE = "11111111-2222-4333-8444-666666666666"
_SAVED = re.compile(r"Conversation checkpoint saved|checkpoint saved")


class Stranding(NamedTuple):
    """A session that the CLI no longer shows, or not all of it."""

    native_id: str
    hidden: tuple[str, ...]
    """Prompts that it does not send, though they are there."""
    kind: str
    """What we are to say of it."""


def headless(machine: Machine) -> Stranding:
    """Another start sweeps the file of a session away that is still empty."""
    with machine.terminal() as terminal:
        machine.listed()
        terminal.say(FIRST, REPLY)
        terminal.say(SECOND, REPLY)
    return Stranding(_logged_id(machine), (FIRST, SECOND), "headless")


def loaded(machine: Machine) -> Stranding:
    """A chat that was saved in one session is loaded in another that has begun."""
    with machine.terminal() as terminal:
        terminal.say(FIRST, REPLY)
        terminal.type("/chat save fruit")
        terminal.wait_for(_SAVED)
        terminal.leave()
    machine.later(MINUTE)
    before = set(machine.session_files())
    with machine.terminal() as terminal:
        terminal.say(SECOND, REPLY)
        terminal.type("/chat resume fruit")
        # What is loaded is drawn as if it had been said, in no way that can be waited for.
        terminal.rest(8)
        terminal.type(THIRD)
        _wait_until_written(machine, terminal, THIRD)
        terminal.leave()
    (file,) = set(machine.session_files()) - before
    return Stranding(_id_in(file), (SECOND,), "replaced")


def buried(machine: Machine) -> Stranding:
    """The CLI is started again in the same minute, and dies when it has begun the list anew."""
    machine.say(FIRST)
    (file,) = machine.session_files()
    lines = file.read_bytes().splitlines(keepends=True)
    header, opening = lines[:2]
    assert b"$set" in opening, "no list at the beginning"
    file.write_bytes(b"".join([*lines, header, opening]))
    return Stranding(_id_in(file), (FIRST,), "buried")


def shared(machine: Machine) -> Stranding:
    """Two sessions whose ids begin alike begin in the same minute."""
    machine.say(FIRST, "--session-id", AN_ID)
    (file,) = machine.session_files()
    # Under the clock the minute may have ended meanwhile.
    machine.say(SECOND, "--session-id", ALIKE)
    for other in set(machine.session_files()) - {file}:
        with file.open("ab") as joined:
            joined.write(other.read_bytes())
        other.unlink()
    return Stranding(AN_ID, (FIRST,), "shared")


def glued(machine: Machine) -> Stranding:
    """A record is cut off, and the next one is written behind it on the same line."""
    machine.say(FIRST)
    (file,) = machine.session_files()
    lines = file.read_bytes().splitlines(keepends=True)
    index = next(i for i, line in enumerate(lines) if FIRST.encode() in line)
    lines[index] = b'{"$set":{"lastUpdated":"2026' + lines[index]
    file.write_bytes(b"".join(lines))
    return Stranding(_id_in(file), (FIRST,), "damaged")


def cut(machine: Machine) -> Stranding:
    """The writing of a document ends half-way."""
    machine.say(FIRST)
    (file,) = machine.session_files()
    content = file.read_bytes()
    assert file.suffix == ".json"
    file.write_bytes(content[: content.index(REPLY.encode()) + 12])
    native_id = str(json.loads(content)["sessionId"])
    return Stranding(native_id, (FIRST,), "cut")


def unreadable(machine: Machine) -> Stranding:
    """The CLI could not read the file again, and put it aside."""
    return _put_aside(machine, ".unreadable-1794745248193")


def half_rewritten(machine: Machine) -> Stranding:
    """The CLI died while it rewrote the file."""
    return _put_aside(machine, ".tmp-4711")


def _put_aside(machine: Machine, ending: str) -> Stranding:
    machine.say(FIRST)
    (file,) = machine.session_files()
    native_id = _id_in(file)
    file.rename(file.with_name(file.name + ending))
    return Stranding(native_id, (FIRST,), "leftover")


def shadowed(machine: Machine) -> Stranding:
    """A new release goes on with a document in a log, and then an old one in the document."""
    newest = machine.version
    machine.use("0.38.2")
    machine.say(FIRST)
    (document,) = machine.session_files()
    native_id = str(json.loads(document.read_bytes())["sessionId"])
    machine.later(MINUTE)
    machine.use(newest)
    machine.say(SECOND, "--resume", native_id)
    machine.later(MINUTE)
    machine.use("0.38.2")
    machine.say(THIRD, "--resume", native_id)
    machine.use(newest)
    return Stranding(native_id, (SECOND,), "shadowed")


def orphaned(machine: Machine) -> Stranding:
    """An old release is used once more in a project that has a folder of the new kind."""
    newest = machine.version
    machine.say(SECOND)
    machine.use("0.28.2")
    machine.say(FIRST)
    machine.use(newest)
    (file,) = (machine.data / "tmp" / folder_hash(str(machine.project)) / "chats").iterdir()
    return Stranding(str(json.loads(file.read_bytes())["sessionId"]), (FIRST,), "orphaned")


def behind_subagent(machine: Machine) -> Stranding:
    """A subagent of an old release has the id of its parent, and its file is the last to be written."""
    chats = _recorded(machine, "agent-beside-unmarked")
    documents = {file: json.loads(file.read_bytes()) for file in sorted(chats.iterdir())}
    child = min(documents, key=lambda file: len(documents[file]["messages"]))
    (parent,) = documents.keys() - {child}
    documents[child]["lastUpdated"] = "2026-11-15T23:00:00.000Z"
    child.write_text(json.dumps(documents[child], indent=2))
    prompts = [m["content"] for m in documents[parent]["messages"] if m["type"] == "user"]
    said = tuple(_words(content) for content in prompts)
    return Stranding(documents[parent]["sessionId"], said, "shadowed")


def behind_hook(machine: Machine) -> Stranding:
    """What a hook says stands in front of the prompt."""
    chats = _recorded(machine, "hooks")
    (file,) = chats.glob("*48ff8f33*")
    return Stranding(_id_in(file), ("Try the shell.",), "ignored")


def like_a_command(machine: Machine) -> Stranding:
    """The prompt begins with a path."""
    prompt = "/etc/hosts is what?"
    machine.say(prompt)
    (file,) = machine.session_files()
    return Stranding(_id_in(file), (prompt,), "ignored")


def like_a_question(machine: Machine) -> Stranding:
    """The prompt begins with a question mark."""
    prompt = "?? What is that?"
    machine.say(prompt)
    (file,) = machine.session_files()
    return Stranding(_id_in(file), (prompt,), "ignored")


def _recorded(machine: Machine, case: str) -> Path:
    """The sessions of a recorded project, in the project of this machine."""
    machine.say(SECOND)
    (own,) = machine.session_files()
    chats = own.parent
    own.unlink()
    for recorded in (FIXTURES / "gemini" / case / "home").glob(".gemini/tmp/*/chats/session-*"):
        shutil.copy(recorded, chats)
    return chats


def _wait_until_written(machine: Machine, terminal: Terminal, words: str) -> None:
    end = time.monotonic() + WAIT_SECONDS
    while not any(words.encode() in file.read_bytes() for file in machine.session_files()):
        assert time.monotonic() < end, f"{words!r} was typed, and is in no file"
        terminal.rest(0.5)
    # The answer is written too.
    terminal.rest(2)


def _words(content: Any) -> str:
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


def _logged_id(machine: Machine) -> str:
    (log,) = machine.data.glob("tmp/*/logs.json")
    return str(json.loads(log.read_bytes())[0]["sessionId"])


def _id_in(file: Path) -> str:
    return next(_ids_in(file))


def _ids_in(file: Path) -> Iterator[str]:
    for line in file.read_bytes().splitlines():
        record = json.loads(line)
        if "sessionId" in record:
            yield str(record["sessionId"])


CASES: tuple[tuple[Callable[[Machine], Stranding], tuple[str, ...]], ...] = (
    (headless, ("0.61.0",)),
    (loaded, ("0.45.2", "0.61.0")),
    (buried, ("0.45.2", "0.61.0")),
    (shared, ("0.45.2", "0.61.0")),
    (glued, ("0.41.2", "0.45.2", "0.61.0")),
    (cut, ("0.28.2", "0.38.2")),
    (unreadable, ("0.61.0",)),
    (half_rewritten, ("0.61.0",)),
    (shadowed, ("0.45.2", "0.61.0")),
    (orphaned, ("0.38.2", "0.61.0")),
    (behind_subagent, ("0.61.0",)),
    (behind_hook, ("0.45.2", "0.61.0")),
    (like_a_command, ("0.45.2", "0.61.0")),
    (like_a_question, ("0.45.2", "0.61.0")),
)
"""How a session gets stranded, and by which releases that is tried."""
