"""What a file that is no session looks like instead, in words for the person who gave it to us."""

from __future__ import annotations

import json
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

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
NOTHING = " that holds nothing to show"
"""What is ours to read and yet was given to us as unreadable has no message in it."""

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
        return "a file of nothing but white space"
    for signature, name in SIGNATURES.items():
        if beginning.startswith(signature):
            return name
    if b"\x00" in beginning:
        return "binary data"
    return _describe_text(beginning.decode("utf-8", "replace").lstrip("\ufeff \t\r\n"))


def _describe_text(text: str) -> str:
    if "\n## USER" in f"\n{text}" or "\n## MODEL" in f"\n{text}":
        return "text that quotes a conversation shared from Gemini CLI as Markdown"
    if not text.startswith(("{", "[")):
        return "an HTML page" if text[:15].lower().startswith(("<!doctype html", "<html")) else "plain text"
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
        case {"history": list(), "toolCall": _}:
            return "a /restore checkpoint of Gemini CLI" + NOTHING
        case {"history": list()} | [{"role": "user" | "model", "parts": list()}, *_]:
            return "a saved chat of Gemini CLI" + NOTHING
        case [{"sessionId": _, "messageId": _, "message": _}, *_]:
            return "the list of prompts that Gemini CLI keeps (logs.json)"
        case {"response": _, "stats": dict()}:
            return "the answer of a headless run of Gemini CLI (--output-format json)" + NOTHING
        case {"projects": dict()}:
            return "the list of projects that Gemini CLI keeps (projects.json)"
        case {"sessionId": _, "messages": _} | {"sessionId": _, "projectHash": _}:
            return "a session of Gemini CLI" + NOTHING
        case dict():
            return _describe_record(document) or "JSON without a sessionId"
        case _:
            return "JSON, but no object"


def _describe_lines(text: str) -> str:
    for line in text.splitlines()[:20]:
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(record, dict) and (known := _describe_record(record)):
            return known
        return "JSON Lines without a sessionId"
    return "text that begins like JSON but is none"


def _describe_record(record: Mapping[str, Any]) -> str | None:
    match record:
        case {"type": "session_meta", "payload": dict()}:
            return "a Codex CLI session" + NOT_YET
        case {"uuid": str(), "sessionId": str(), "message": {"parts": _}}:
            return "a Qwen Code session" + NOT_YET
        case {"uuid": str(), "sessionId": str()} | {"type": "summary", "leafUuid": str()}:
            return "a Claude Code session" + NOT_YET
        case {"type": "queue-operation" | "file-history-snapshot" | "mode" | "permission-mode"}:
            return "a Claude Code session" + NOT_YET
        case {"type": "init", "session_id": str()}:
            return "the output of a headless run of Gemini CLI (--output-format stream-json)" + NOTHING
        case {"type": "console" | "network", "payload": _}:
            return "an activity log of Gemini CLI" + NOTHING
        case {"sessionId": str(), "projectHash": str()}:
            return "a session of Gemini CLI" + NOTHING
        case _:
            return None
