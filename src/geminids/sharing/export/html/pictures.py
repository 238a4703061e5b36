"""Attachments: pictures that every browser draws stand in the page, everything else is named."""

from __future__ import annotations

import base64
import re

from geminids.core.model import Attachment
from geminids.sharing.export.html.markup import Markup, attribute, filled, line
from geminids.sharing.transcript.labels import attachment_name

_BASE64 = re.compile(r"(?:[A-Za-z0-9+/]{4})*+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")
_BEGINNINGS = {
    "image/png": re.compile(rb"\x89PNG\r\n\x1a\n"),
    "image/jpeg": re.compile(rb"\xff\xd8\xff"),
    "image/gif": re.compile(rb"GIF8[79]a"),
    "image/webp": re.compile(rb"RIFF(?s:....)WEBP"),
}
"""The kinds of pictures that are drawn, and how their bytes begin."""


def attachment(part: Attachment) -> Markup:
    """A picture, or what is known of something else."""
    kind = _drawn_kind(part)
    name = attachment_name(part)
    if kind is None or part.data is None:
        return filled('<p class="attachment">▣ {}</p>', line(name))
    picture = '<figure><img src="data:{};base64,{}" alt="{}"><figcaption>{}</figcaption></figure>'
    # The data is nothing but the letters of Base64.
    return filled(picture, Markup(kind), Markup(part.data), attribute(f"Picture, {name}"), line(name))


def attachments(parts: tuple[object, ...]) -> list[Markup]:
    """Those among the parts of a result."""
    return [attachment(part) for part in parts if isinstance(part, Attachment)]


def _drawn_kind(part: Attachment) -> str | None:
    """The kind of a picture that can be drawn: told by its name and its bytes, which must agree."""
    kind = (part.mime_type or "").lower()
    if not part.data or kind not in _BEGINNINGS or not _BASE64.fullmatch(part.data):
        return None
    first = base64.b64decode(part.data[:32])
    return kind if _BEGINNINGS[kind].match(first) else None
