"""What messages tell of the records of Codex CLI."""

from __future__ import annotations

from typing import Any

from geminids.sharing.records.remnants import (
    Written,
    as_written,
    count,
    encoded,
    name,
    one_of,
    picture,
    role,
    text,
    time,
)

_PIECE: dict[str, Any] = {
    "type": one_of("input_text", "output_text", "text", "summary_text", "reasoning_text"),
    "text": text,
    "image_url": (picture, {"url": picture}),
}
_CONTENT = (text, _PIECE, [(text, _PIECE)])
_USAGE = {
    "input_tokens": count("input"),
    "cached_input_tokens": count("cached"),
    "cache_write_input_tokens": count("cache_write"),
    "output_tokens": count("output", "thoughts"),
    "reasoning_output_tokens": count("thoughts"),
    "total_tokens": count("total"),
}
_PAYLOAD: dict[str, Any] = {
    "role": role,
    "id": name,
    "call_id": name,
    "name": name,
    "arguments": encoded,
    "input": text,
    "action": as_written,
    "output": (text, {"content": _CONTENT, "output": text}, [(text, _PIECE)], Written({"output": text})),
    "content": _CONTENT,
    "summary": _CONTENT,
    "message": text,
    "text": text,
    "status": name,
    "result": name,
    "images": [picture],
    "local_images": [name],
    "info": {"last_token_usage": _USAGE},
    "usage": _USAGE,
    "response_id": name,
}
_PAYLOAD["item"] = {**_PAYLOAD, "summary_text": _CONTENT}
RECORD = {**_PAYLOAD, "timestamp": time, "payload": _PAYLOAD}
"""What a message may tell of a record; in the first files a payload stands alone."""
