"""What a file that is no session looks like instead, in words for the person who gave it to us."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from geminids.core import agents

ENOUGH = 1 << 20
"""Bytes that are looked at."""

SIGNATURES = {
    b"\x89PNG\r\n\x1a\n": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"GIF8": "a GIF image",
    b"%PDF-": "a PDF document",
    b"PK\x03\x04": "a ZIP archive",
    b"\x1f\x8b": "a gzip archive",
    b"\x28\xb5\x2f\xfd": "a zstd archive",
    b"BZh": "a bzip2 archive",
    b"\xfd7zXZ\x00": "an xz archive",
    b"SQLite format 3\x00": "an SQLite database",
    b"\x7fELF": "a program",
}

NOT_YET = ", which geminids cannot read yet"
MOST_RECORDS = 20
"""Records of a log that are looked at: the first of some agents' logs say little."""

SPECIAL = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def describe(path: Path) -> str:
    """What the file looks like. Raises OSError if it cannot be opened."""
    mode = path.stat().st_mode
    for is_special, name in SPECIAL:
        if is_special(mode):
            return name
    with path.open("rb") as file:
        return describe_beginning(file.read(ENOUGH))


def describe_beginning(beginning: bytes) -> str:
    """What a file that begins like this looks like."""
    if not beginning:
        return "an empty file"
    if not beginning.strip():
        return "a file with only white space"
    for signature, name in SIGNATURES.items():
        if beginning.startswith(signature):
            return name
    if b"\x00" in beginning:
        return "binary data"
    return _describe_text(beginning.decode("utf-8", "replace").lstrip("\ufeff \t\r\n"))


def _describe_text(text: str) -> str:
    if not text.startswith(("{", "[")):
        is_page = text[:15].lower().startswith(("<!doctype html", "<html"))
        return _recognised(text) or ("an HTML page" if is_page else "plain text")
    try:
        return _describe_document(json.loads(text))
    except RecursionError:
        return "JSON nested too deeply to be a session"
    except ValueError:
        return _describe_lines(text)


def _describe_document(document: object) -> str:
    match document:
        case {"schema": str(schema)} if schema.startswith("geminids/"):
            return "the output of geminids itself"
        case dict():
            return _recognised(document) or "JSON of an unknown format"
        case _:
            return _recognised(document) or "JSON that is not an object"


def _describe_lines(text: str) -> str:
    records = list(islice(_records(text), MOST_RECORDS))
    if not records:
        return _recognised(text) or "text that begins like JSON but is not JSON"
    return next(filter(None, map(_recognised, records)), "JSON Lines of an unknown format")


def _records(text: str) -> Iterator[object]:
    for line in text.splitlines()[:MOST_RECORDS]:
        try:
            yield json.loads(line)
        except (ValueError, RecursionError):
            # One line that is no JSON does not hide what the others are.
            continue


def _recognised(content: object) -> str | None:
    """What an agent says that it is: those that can be read are asked, of the others we know the looks."""
    match content:
        case {"uuid": str(), "sessionId": str(), "message": {"parts": _}}:
            return "a Qwen Code session" + NOT_YET
    asked = (source.files().recognise(content) for source in agents.every())
    return next(filter(None, asked), None)
