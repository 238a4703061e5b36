"""Words in the human's place: whose they are, piece by piece, and which event tells of the same ones."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from geminids.agents.codex.read.content import part_of, picture, pieces_of, texts_of
from geminids.agents.codex.read.drafts import Draft
from geminids.agents.codex.read.injected import is_around_picture, origin_of, run_by_hand, split_request
from geminids.core.model import AnyPart, Attachment, Origin, Text

_HUMAN, _INJECTED = Origin.HUMAN, Origin.INJECTED
_TELLING = (_HUMAN, Origin.SHELL, _INJECTED)
"""Of several origins in one message, the first of these is the message's."""


def parts_of(content: object, origin: Origin) -> list[Any]:
    """The pieces of a content as parts; what is encrypted or empty is none."""
    parts: list[Any] = []
    for piece in pieces_of(content):
        part = part_of(piece, origin)
        if part is not None and not (type(part) is Text and not part.text):
            parts.append(part)
    return parts


def user_parts(content: object) -> tuple[list[Any], Origin | None]:
    """The pieces of a message in the human's place, and whose it is; None for a picture alone."""
    parts: list[Any] = []
    origins: set[Origin] = set()
    for part in parts_of(content, _HUMAN):
        if type(part) is not Text:
            parts.append(part)
        elif is_around_picture(part.text):
            parts.append(Text(part.text, _INJECTED))
        else:
            origin = origin_of(part.text)
            parts += typed_parts(part.text) if origin is _HUMAN else [Text(part.text, origin)]
            origins.add(origin)
    origin_of_all = next((origin for origin in _TELLING if origin in origins), None)
    if origin_of_all is not _HUMAN:
        parts = [_put_in(part) for part in parts]
    return parts, origin_of_all


def typed_parts(text: str) -> list[Text]:
    """What the human typed, and before it what an editor added."""
    context, request = split_request(text)
    return [Text(context, _INJECTED), Text(request, _HUMAN)] if context else [Text(request, _HUMAN)]


def _put_in(part: Any) -> Any:
    return msgspec.structs.replace(part, origin=_INJECTED) if isinstance(part, Attachment) else part


def pictures_of(event: dict[str, Any]) -> list[AnyPart]:
    """The pictures that an event names."""
    named = [event.get(field) for field in ("images", "local_images")]
    urls = [url for urls in named if type(urls) is list for url in urls if type(url) is str]
    return [picture(url, _HUMAN) for url in urls]


def says_it_was_typed(item: dict[str, Any]) -> bool:
    """Whether an item says of itself that a human made it."""
    match item.get("internal_chat_message_metadata_passthrough"):
        case {"content_item_kinds": list(kinds)}:
            return "user.text" in kinds
        case _:
            return False


def is_same(typed: str, content: object) -> bool:
    """Whether words that were typed are those of a content, or a piece of them."""
    return _is_among(typed, [text for text in texts_of(content) if text])


def is_draft_of(typed: str, draft: Draft) -> bool:
    """Whether words that were typed are those of a message."""
    return _is_among(typed, [part.text for part in draft.parts if type(part) is Text])


def _is_among(typed: str, texts: Iterable[str]) -> bool:
    wanted = typed.strip()
    own = [text for text in texts if not is_around_picture(text)]
    if not wanted:
        return not any(text.strip() for text in own)
    return wanted in "".join(own)


def unwrap_shell(draft: Draft) -> None:
    """Tell a command of the human's own as people read it: what was typed, then what it printed."""
    parts: list[Any] = []
    for part in draft.parts:
        run = run_by_hand(part.text) if type(part) is Text and part.origin is Origin.SHELL else None
        if run is None:
            parts.append(part)
            continue
        parts.append(Text(run.command, _HUMAN))
        if run.output.strip():
            parts.append(Text(run.output, Origin.SHELL))
    draft.parts = parts


def make_nobodys(draft: Draft, origin: Origin) -> None:
    """Note that a program put these words in the human's place."""
    if draft.origin is _HUMAN:
        draft.origin = origin
    draft.parts = [
        msgspec.structs.replace(part, origin=origin)
        if isinstance(part, Text | Attachment) and part.origin is _HUMAN
        else part
        for part in draft.parts
    ]
