"""Files whose content says which state it is, and processes that write and keep them.

A state is an epoch and a number of lines: files grow line by line, and with each epoch they are written anew.
Run as `python -m tests.support.kept_states WHAT …`; what has become durable is printed.
"""

from __future__ import annotations

import os
import sys
import time
from hashlib import sha256
from pathlib import Path
from random import Random

from geminids.storage.archive import keeper, packs, rewrite, steady
from geminids.storage.archive.archive import Archive
from geminids.storage.archive.rewrite import remove
from geminids.storage.archive.values import Version

FILES = 8
_SIZE_OF_DOCUMENT = 300_000


def tell(words: str) -> None:
    """Say something to whoever has started this process."""
    sys.stdout.write(f"{words}\n")
    sys.stdout.flush()


def line(name: str, epoch: int, number: int) -> bytes:
    """A line of a file: words that pack badly."""
    words = sha256(f"{name} {epoch} {number}".encode()).hexdigest()
    return f"{name} {epoch} {number} {words * (1 + number % 40)}\n".encode()


def is_state(name: str, content: bytes) -> bool:
    """Whether a file had this content at some moment."""
    lines = content.splitlines(keepends=True)
    if not lines:
        return True
    epoch = int(lines[0].split()[1])
    return all(written == line(name, epoch, number) for number, written in enumerate(lines))


def document(number: int) -> bytes:
    """A document of a fixed size that is written over the one before."""
    return f"{number:09}\n".encode() * (_SIZE_OF_DOCUMENT // 10)


def is_document(content: bytes) -> bool:
    """Whether it is one document from beginning to end."""
    return len(content) == _SIZE_OF_DOCUMENT and len(set(content.split())) == 1


def _keep_for_ever(kept: str, home: str, seed: str) -> None:
    """Change files and keep them, in small packs that are soon written anew."""
    packs.LIMIT = 150_000
    # Nobody else writes these files, so none need be read twice.
    steady.TICK_NS = 0
    keeper.LONGEST_SEGMENT = 20_000
    rewrite._LEAST_DEAD = 30_000
    random = Random(seed)
    archive = Archive(kept)
    epochs = {f"{number}.jsonl": random.randrange(10**9) for number in range(FILES)}
    tell("ready")
    while True:
        with archive.writing() as writer:
            done = [_kept_one(writer, random, Path(home), name, epochs) for name in epochs]
            if random.random() < 0.3:
                gone = {random.choice(done).number}
                remove(writer, gone)
                done = [version for version in done if version.number not in gone]
        for version in done:
            tell(f"{version.path} {version.digest} {version.size}")


def _kept_one(
    writer: keeper.Writer, random: Random, home: Path, name: str, epochs: dict[str, int]
) -> Version:
    path = home / name
    content = path.read_bytes() if path.exists() and random.random() < 0.8 else b""
    # Who was killed may have left half a line, which is no state.
    lines = content.count(b"\n") if is_state(name, content) else 0
    if not lines:
        epochs[name] += 1
        path.write_bytes(b"")
    elif int(path.read_bytes().split()[1]) != epochs[name]:
        epochs[name] = int(path.read_bytes().split()[1])
    with path.open("ab") as out:
        for number in range(lines, lines + random.randrange(1, 30)):
            out.write(line(name, epochs[name], number))
    version = writer.keep("gemini", str(home), str(path))
    assert version is not None
    return version


def _append_for_ever(path: str) -> None:
    random = Random(1)
    name = Path(path).name
    tell("ready")
    epoch = 0
    while True:
        epoch += 1
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND)
        for number in range(random.randrange(5, 60)):
            os.write(handle, line(name, epoch, number))
            if random.random() < 0.3:
                time.sleep(random.random() * 0.04)
        os.close(handle)


def _overwrite_for_ever(path: str) -> None:
    random = Random(2)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT)
    os.write(handle, document(0))
    tell("ready")
    number = 0
    while True:
        for _ in range(random.randrange(1, 8)):
            number += 1
            os.pwrite(handle, document(number), 0)
        time.sleep(random.random() * 0.06)


def _keep_folder(kept: str, home: str) -> None:
    archive = Archive(kept)
    tell("ready")
    for path in sorted(Path(home).iterdir()):
        with archive.writing(patience=60) as writer:
            assert writer.keep("gemini", home, str(path)) is not None


if __name__ == "__main__":
    what, *arguments = sys.argv[1:]
    match what, arguments:
        case "keep", [kept, home, seed]:
            _keep_for_ever(kept, home, seed)
        case "append", [path]:
            _append_for_ever(path)
        case "overwrite", [path]:
            _overwrite_for_ever(path)
        case "folder", [kept, home]:
            _keep_folder(kept, home)
