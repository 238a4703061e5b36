"""Files that hold a record: how they are known, and the record in them.

    JSON    the record, or a vCon that carries it
    CBOR    the record, with its tag or without
    COSE    a statement, whose payload is the record, or an excerpt, which carries it in a header

Nothing is verified here. To know a file takes a look at its first bytes, and only where these could also be
an agent's, at all of it; what reads CBOR is loaded when a file is in CBOR.
"""

from __future__ import annotations

import json
import re
from binascii import b2a_base64
from collections.abc import Callable
from typing import Any

from geminids.sharing.records.errors import RecordError, SignatureAloneError
from geminids.sharing.records.profile import VERSION

BEGINNING = 1024
"""Bytes that tell most records."""

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_SIGNED = re.compile(rb"\xd2[\x80-\x9f]|\x84[\x40-\x5b]")
"""A list with the tag of a COSE_Sign1, or one of four parts that begins with bytes and lacks the tag."""
_CBOR = re.compile(rb"(?:\xd9\x10\x35)?(?:[\xa1-\xb7\xbf]|\xb8.)[\x60-\x7b\x7f]", re.DOTALL)
"""A map whose first key is a text, with the tag of a record or without. No text in UTF-8 begins like this."""
_PLAIN_MEMBERS = rb'(?:"(?:id|version|created)"\s*:\s*(?:"[^"\\]*"|\d+)\s*,\s*)*'
_CERTAIN = re.compile(
    rb'\s*\{\s*(?:"version"\s*:\s*"%b"|%b"(?:recording-agent|file-attribution)"\s*:\s*\{|"vcon"\s*:\s*")'
    % (re.escape(VERSION.encode()), _PLAIN_MEMBERS)
)
"""How records and vCons begin, and no file of an agent does."""
_MEMBERS_OF_RECORDS = rb"version|id|created|session|vcs|recording-agent|file-attribution|x-[^\"\\]*|\$schema"
_MEMBERS_OF_VCONS = (
    rb"uuid|created_at|updated_at|subject|redacted|amended|appended|group|extensions|critical|must_support"
    rb"|parties|dialog|analysis|attachments|meta"
)
_POSSIBLE = re.compile(rb'\s*\{\s*"(?:%b|%b)"\s*:' % (_MEMBERS_OF_RECORDS, _MEMBERS_OF_VCONS))


def is_record(beginning: bytes, whole: Callable[[], bytes]) -> bool:
    """Whether a file that begins so is a record of whomever, signed or not, or the signature of one.

    `whole` reads all of it, which is asked for where the beginning leaves doubts.
    """
    if _SIGNED.match(beginning) or _CBOR.match(beginning):
        return True
    text = beginning.removeprefix(_BYTE_ORDER_MARK)
    return bool(_CERTAIN.match(text)) or (bool(_POSSIBLE.match(text)) and _holds_record(whole()))


def record_in_file(content: bytes) -> dict[str, Any]:
    """The record that a file holds, as plain values.

    Raises SignatureAloneError where the record is another file, else RecordError for what holds none.
    """
    from geminids.sharing.records.encoding import decode
    from geminids.sharing.records.presentable import presentable
    from geminids.sharing.records.vcon import record_in

    if _SIGNED.match(content):
        content = _signed_content(content)
    content = content.removeprefix(_BYTE_ORDER_MARK)
    try:
        held = decode(content)[0] if content.lstrip()[:1] == b"{" else _from_cbor(content)
        record: dict[str, Any] = presentable(record_in(held)[0] if "vcon" in held else held)
    except RecursionError as error:
        raise RecordError("The record is nested too deep to be read.") from error
    return record


def _holds_record(content: bytes) -> bool:
    try:
        held = json.loads(content)
    except (ValueError, RecursionError):
        return False
    match held:
        case {"vcon": str()} | {"session": {"entries": list()}}:
            return True
        case _:
            return False


def _signed_content(signed: bytes) -> bytes:
    """The bytes of the record in a signed file."""
    from geminids.sharing.records import standalone

    try:
        envelope = standalone.open_envelope(signed)
    except standalone.RefusedError as error:
        raise RecordError(f"The signed file is damaged: {error}.") from error
    is_excerpt = (envelope.ours or {}).get("kind") == "seal"
    content = envelope.unsigned.get(standalone.RECORD) if is_excerpt else envelope.payload
    if not isinstance(content, bytes):
        raise SignatureAloneError
    return content


def _from_cbor(content: bytes) -> dict[str, Any]:
    from geminids.sharing.records import standalone

    try:
        record = standalone.decode_record(content)
    except standalone.RefusedError as error:
        raise RecordError(f"This is not a record in CBOR: {error}.") from error
    plain: dict[str, Any] = _plain(record)
    return plain


def _plain(value: Any) -> Any:
    """A value of CBOR as JSON has it: bytes as base64, keys as texts, and nothing of tags."""
    match value:
        case bytes():
            return b2a_base64(value, newline=False).decode()
        case dict():
            return {str(key): _plain(item) for key, item in value.items()}
        case list():
            return [_plain(item) for item in value]
        case tuple():
            return _plain(value[1])
        case _:
            return value
