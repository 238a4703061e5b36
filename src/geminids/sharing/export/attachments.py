"""Pictures and other attachments as files: named by what they hold, so that each is written once."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from geminids.core.model import AnyPart, Attachment, Session, ToolCall, ToolResult

# Pages and drawings that can hold scripts are left out: opened from a disk, they would run.
SUFFIXES = {
    "application/pdf": ".pdf",
    "audio/aac": ".aac",
    "audio/aiff": ".aiff",
    "audio/flac": ".flac",
    "audio/mp3": ".mp3",
    "audio/mpeg": ".mp3",
    "audio/ogg": ".ogg",
    "audio/wav": ".wav",
    "image/bmp": ".bmp",
    "image/gif": ".gif",
    "image/heic": ".heic",
    "image/heif": ".heif",
    "image/jpeg": ".jpg",
    "image/png": ".png",
    "image/webp": ".webp",
    "text/csv": ".csv",
    "text/plain": ".txt",
    "video/mp4": ".mp4",
    "video/mpeg": ".mpeg",
    "video/quicktime": ".mov",
    "video/webm": ".webm",
}
"""How names of files end, by the type of what they hold."""
OTHER_SUFFIX = ".bin"
DIGITS = 16
"""Of the digest that a file is called by."""


def attachment_files(session: Session) -> Iterator[tuple[str, bytes]]:
    """The names and the bytes of all that is attached to a session, each once."""
    named: set[str] = set()
    for attachment in _attachments(session):
        content = content_of(attachment)
        if content is None:
            continue
        name = file_name(attachment, content)
        if name not in named:
            named.add(name)
            yield name, content


def content_of(attachment: Attachment) -> bytes | None:
    """The bytes of an attachment; None if the session does not hold them, or holds no base64."""
    try:
        return base64.b64decode(attachment.data or "", validate=True) or None
    except (binascii.Error, ValueError):
        return None


def file_name(attachment: Attachment, content: bytes) -> str:
    """The name of the file that holds an attachment."""
    return sha256(content).hexdigest()[:DIGITS] + SUFFIXES.get(attachment.mime_type or "", OTHER_SUFFIX)


def holds_what_it_is_called(path: Path) -> bool:
    """Whether a file holds what its name says: nobody has changed it since it was written."""
    if path.is_symlink() or not path.is_file():
        return False
    return sha256(path.read_bytes()).hexdigest()[:DIGITS] == path.stem


def is_picture(attachment: Attachment) -> bool:
    """Whether a browser can show the file."""
    return SUFFIXES.get(attachment.mime_type or "") in {".bmp", ".gif", ".jpg", ".png", ".webp"}


def _attachments(session: Session) -> Iterator[Attachment]:
    for message in session.messages:
        for part in message.parts:
            yield from _in_part(part)


def _in_part(part: AnyPart) -> Iterator[Attachment]:
    match part:
        case Attachment():
            yield part
        case ToolCall(result=parts) | ToolResult(parts=parts):
            yield from (piece for piece in parts if isinstance(piece, Attachment))
