"""Checks signed records of conversations with coding agents. One file: Python 3.11, `cryptography`, no more.

    python standalone.py FILE --key PUBLIC.pem [--record FILE] [--source FILE] [--previous FILE] [--json]

FILE is a *statement* (a record signed as a whole) or an *excerpt* (what is left of a signed record after
pieces of it were taken out). Both are COSE_Sign1. Exit code 0: everything that was asked for holds; 1: it
does not; 2: a file or a key cannot be read.

How an excerpt still verifies: every map of the record is a Merkle tree over its members, every list one over
its elements, all else a leaf. Each leaf is hashed with a seed of its own, which only whoever has the seed of
something around it can work out. Who takes a piece out leaves its digest, and the seeds of what stays. The
root of the tree is signed a second time, alone: that is the *seal*.

    seed of a member     H(02 seed key)               member           H(04 digest of its value, key)
    seed of an element   H(03 seed uint64 index)      node             H(01 left right)
    leaf                 H(00 seed CBOR)              map, list        H(05 tree), H(06 uint64 length, tree)

H is SHA-256, CBOR is the deterministic encoding of RFC 8949, members stand in the order of their keys in
UTF-8, trees have the shape of RFC 9162. Empty maps and lists are leaves, and so are `x-native` and `x-source`
as wholes.

Nothing is trusted before it was checked, so CBOR is read by a small reader of our own: it knows no tags that
run code, and it makes no room for what a length only promises.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import struct
import sys
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from math import isfinite
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

if TYPE_CHECKING:
    # Loaded where keys are used: reading and hashing a record needs nothing but Python.
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    PublicKey = Ed25519PublicKey | EllipticCurvePublicKey
else:
    PublicKey = Any

Where = tuple[str, ...]
"""Where something stands in a record: keys, and indices as text."""

SCHEME = "geminids/merkle/1"
COMMITMENT = "x-commitment"
NATIVE = "x-native"
SOURCE = "x-source"
WHOLES = frozenset({NATIVE, SOURCE})
"""Members that are hashed in one piece: nobody takes half of a foreign record out."""

REDACTED = "[redacted]"
"""Stands for what was taken out, where a record may not do without."""
REDACTED_ENTRY = {"type": "system-event", "event-type": "redacted"}
"""Stands for entries that were taken out one after the other."""
SHOWN = frozenset(
    {
        *("content", "event-type", "input", "model-id", "model-provider"),
        *("name", "output", "path", "type", "working-dir"),
    }
)
"""Members that a map of the format may not do without, and that may be any text."""

JSON, CBOR = "application/json", "application/cbor"
TRACE_FORMAT = "ietf-vac-v3.0"

ALGORITHM, CRITICAL, CONTENT_TYPE, KEY_ID, CLAIMS = 1, 2, 3, 4, 15
METADATA = 100
TOKEN_OF_RECORD, TOKEN_OF_SIGNATURE = 269, 270
"""Time stamps of RFC 3161: one over the record, taken before it was signed, and one over the signature."""
OURS = "geminids"
SEAL = "geminids-seal"
RECORD = "geminids-record"

ED25519, ED25519_NAMED, ES256 = -8, -19, -7
ALGORITHMS = {ED25519: "Ed25519", ED25519_NAMED: "Ed25519", ES256: "ES256"}
ORDER_OF_P256 = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551

_STATEMENT_LABELS = {ALGORITHM, CONTENT_TYPE, KEY_ID, CLAIMS, OURS, TOKEN_OF_RECORD}
_STATEMENT_UNSIGNED = {METADATA, SEAL, TOKEN_OF_SIGNATURE}
_METADATA_MEMBERS = {
    *("session-id", "agent-vendor", "trace-format", "timestamp-start", "timestamp-end"),
    *("content-hash", "content-hash-alg"),
}
_SEAL_LABELS = {ALGORITHM, CONTENT_TYPE, KEY_ID, CLAIMS, OURS}
_WRAPPED_RECORD = 4149
"""The tag that the format asks for around a record in CBOR."""
_LONGEST_LIST = 2**53
_FIXED = frozenset({("version",), ("id",), ("session",), ("session", "session-id")})
_NEVER_WHOLE = frozenset({("session", "entries"), ("session", "agent-meta")})
"""Of these only pieces are taken out: a session is none without them, and no word stands in their place."""

sha256 = hashlib.sha256
_T = TypeVar("_T")


class RefusedError(ValueError):
    """Something is not what it should be; the text says what, and where."""


class Check(NamedTuple):
    """One thing that was looked at. `holds` is None if there is nothing of the kind, or nobody asked."""

    name: str
    holds: bool | None
    detail: str


class Redaction(NamedTuple):
    """A place of the record at which something was taken out, and how many elements of a list, or 1."""

    at: str
    count: int  # type: ignore[assignment]  # every tuple has a `count`, which nobody asks here


class Claims(NamedTuple):
    """What the signer says: who they are, which session it is about, when they signed (Unix time)."""

    issuer: str
    subject: str
    issued_at: int | None


class Verdict(NamedTuple):
    """All that was found. Whatever stands here is only as good as the checks are."""

    checks: tuple[Check, ...]
    form: str = "statement"
    """Or "excerpt"."""
    record: dict[str, Any] | None = None
    record_bytes: bytes | None = None
    claims: Claims | None = None
    key_id: bytes | None = None
    algorithm: int | None = None
    metadata: dict[str, Any] | None = None
    chain: dict[str, Any] | None = None
    redactions: tuple[Redaction, ...] = ()
    root: bytes | None = None
    signature: bytes | None = None
    token_of_record: bytes | None = None
    token_of_signature: bytes | None = None

    @property
    def holds(self) -> bool:
        """Whether everything that was looked at holds, the signature included."""
        return all(check.holds is not False for check in self.checks) and any(
            check.name == "signature" and check.holds for check in self.checks
        )


# ── CBOR ──────────────────────────────────────────────────────────────────────────────────────────────────


class Tagged(NamedTuple):
    """A value with a tag that means nothing to us."""

    number: int
    value: Any


_SHORT_TEXTS = [bytes((0x60 | length,)) for length in range(24)]
_SHORT_TEXTS += [bytes((0x78, length)) for length in range(24, 256)]


def _head(major: int, number: int) -> bytes:
    if number < 24:
        return bytes((major << 5 | number,))
    for more, (width, most) in enumerate(((1, 1 << 8), (2, 1 << 16), (4, 1 << 32), (8, 1 << 64))):
        if number < most:
            return bytes((major << 5 | 24 + more,)) + number.to_bytes(width, "big")
    raise RefusedError("a number is too large for CBOR")


def _encoded_text(text: str) -> bytes:
    written = text.encode()
    length = len(written)
    return (_SHORT_TEXTS[length] if length < 256 else _head(3, length)) + written


def _encoded_integer(number: int) -> bytes:
    if 0 <= number < 24:
        return number.to_bytes(1, "big")
    major, size = (0, number) if number >= 0 else (1, -1 - number)
    if size < 1 << 64:
        return _head(major, size)
    return _head(6, 2 + major) + encode_cbor(size.to_bytes((size.bit_length() + 7) // 8, "big"))


def _encoded_number(number: float) -> bytes:
    if not isfinite(number):
        raise RefusedError("a number is infinite or none at all")
    for head, form in ((b"\xf9", ">e"), (b"\xfa", ">f")):
        try:
            written = struct.pack(form, number)
        except OverflowError:
            # It is too large for this form; a longer one takes it.
            continue
        if struct.unpack(form, written)[0] == number:
            return head + written
    return b"\xfb" + struct.pack(">d", number)


def _encode(value: Any, write: Callable[[bytes], object]) -> None:
    kind = type(value)
    if kind is str:
        write(_encoded_text(value))
    elif kind is dict:
        write(_head(5, len(value)))
        members = [(encode_cbor(key) if type(key) is int else _encoded_text(key), key) for key in value]
        for written, key in sorted(members, key=lambda member: member[0]):
            write(written)
            _encode(value[key], write)
    elif kind is list:
        write(_head(4, len(value)))
        for element in value:
            _encode(element, write)
    elif kind is int:
        write(_encoded_integer(value))
    elif value is None or kind is bool:
        write(b"\xf6" if value is None else b"\xf5" if value else b"\xf4")
    elif kind is float:
        write(_encoded_number(value))
    elif kind is bytes:
        write(_head(2, len(value)) + value)
    elif kind is Tagged:
        write(_head(6, value.number))
        _encode(value.value, write)
    else:
        raise RefusedError(f"a record cannot hold a value of type {kind.__name__}")


def encode_cbor(value: Any) -> bytes:
    """A value in the one form of CBOR that RFC 8949 calls deterministic."""
    if type(value) is str:
        return _encoded_text(value)
    if type(value) is int:
        return _encoded_integer(value)
    pieces: list[bytes] = []
    _encode(value, pieces.append)
    return b"".join(pieces)


def decode_cbor(content: bytes) -> Any:
    """The value that some bytes are in CBOR, deterministic or not; a map has keys of text or numbers."""
    try:
        value, end = _item(content, 0)
    except IndexError:
        raise RefusedError("the CBOR ends too early") from None
    except UnicodeDecodeError:
        raise RefusedError("a text in the CBOR is not UTF-8") from None
    except RecursionError:
        raise RefusedError("the CBOR is nested too deep") from None
    if end != len(content):
        raise RefusedError(f"{len(content) - end:,} bytes follow after the end of the CBOR")
    return value


def _item(content: bytes, at: int) -> tuple[Any, int]:
    initial = content[at]
    major, low = initial >> 5, initial & 31
    at += 1
    if low < 24:
        number = low
    elif low < 28:
        width = 1 << low - 24
        number = int.from_bytes(_slice(content, at, width), "big")
        at += width
    elif low == 31 and major in {2, 3, 4, 5}:
        return _unending(content, at, major)
    else:
        raise RefusedError(f"byte {at - 1:,} begins nothing that CBOR knows")
    if major == 3:
        return _slice(content, at, number).decode(), at + number
    if major == 0:
        return number, at
    if major == 5:
        return _map_of(content, at, range(number))
    if major == 4:
        return _list_of(content, at, range(number))
    if major == 1:
        return -1 - number, at
    if major == 2:
        return _slice(content, at, number), at + number
    return _tagged(content, at, number) if major == 6 else (_simple(content, at, low, number), at)


def _slice(content: bytes, at: int, length: int) -> bytes:
    found = content[at : at + length]
    if len(found) != length:
        raise IndexError
    return found


def _list_of(content: bytes, at: int, elements: Iterable[int]) -> tuple[list[Any], int]:
    found = []
    for _ in elements:
        element, at = _item(content, at)
        found.append(element)
    return found, at


def _map_of(content: bytes, at: int, members: Iterable[int]) -> tuple[dict[Any, Any], int]:
    found: dict[Any, Any] = {}
    for _ in members:
        key, at = _item(content, at)
        if type(key) is not str and type(key) is not int:
            raise RefusedError("a key of a map is neither a text nor a number")
        if key in found:
            raise RefusedError("a key stands twice in a map")
        found[key], at = _item(content, at)
    return found, at


def _unending(content: bytes, at: int, major: int) -> tuple[Any, int]:
    """Something without a length, which a byte of its own ends."""
    if major == 5:
        found: dict[Any, Any] = {}
        while content[at] != 0xFF:
            one, at = _map_of(content, at, range(1))
            if one.keys() & found.keys():
                raise RefusedError("a key stands twice in a map")
            found |= one
        return found, at + 1
    pieces = []
    while content[at] != 0xFF:
        if major != 4 and content[at] >> 5 != major:
            raise RefusedError("a piece of a text or of bytes is something else")
        piece, at = _item(content, at)
        pieces.append(piece)
    return (pieces if major == 4 else ("" if major == 3 else b"").join(pieces)), at + 1


def _tagged(content: bytes, at: int, number: int) -> tuple[Any, int]:
    value, at = _item(content, at)
    if number in {2, 3} and type(value) is bytes:
        size = int.from_bytes(value, "big")
        return (size if number == 2 else -1 - size), at
    return Tagged(number, value), at


def _simple(content: bytes, at: int, low: int, number: int) -> Any:
    match low:
        case 20 | 21:
            return low == 21
        case 22:
            return None
        case 25 | 26 | 27:
            form = {25: ">e", 26: ">f", 27: ">d"}[low]
            return struct.unpack(form, content[at - struct.calcsize(form) : at])[0]
    raise RefusedError(f"the simple value {number} of CBOR means nothing here")


# ── Records as bytes ──────────────────────────────────────────────────────────────────────────────────────


def encode_json(record: dict[str, Any]) -> bytes:
    """A record in the one form of JSON that excerpts have: keys in order, no spaces, UTF-8."""
    try:
        return _JSON.encode(record).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise RefusedError(f"the record cannot be written as JSON: {error}") from None


_JSON = json.JSONEncoder(ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))


def content_type(content: bytes) -> str | None:
    """Whether bytes look like JSON or like CBOR: both begin with a map."""
    if content.lstrip(b" \t\r\n")[:1] == b"{":
        return JSON
    if content[:1] and (content[0] >> 5 == 5 or content[0] >> 5 == 6):
        return CBOR
    return None


def decode_record(content: bytes) -> dict[str, Any]:
    """The record that some bytes are, in JSON or in CBOR."""
    if content_type(content) == CBOR:
        value = decode_cbor(content)
        if isinstance(value, Tagged) and value.number == _WRAPPED_RECORD:
            value = value.value
        if isinstance(value, dict) and COMMITMENT in value and not _has_names_only(value):
            raise RefusedError("a key in the record is no text")
    else:
        value = _decode_json(content)
    if type(value) is not dict or not all(type(key) is str for key in value):
        raise RefusedError("the record is no map with names")
    return value


def _has_names_only(record: dict[Any, Any]) -> bool:
    waiting: list[Any] = [record]
    while waiting:
        value = waiting.pop()
        if type(value) is dict:
            if not all(type(key) is str for key in value):
                return False
            waiting.extend(value.values())
        elif type(value) is list:
            waiting.extend(value)
    return True


def encode_record(record: dict[str, Any], media_type: str) -> bytes:
    """A record in the one form that it has as JSON, or as CBOR."""
    if media_type == JSON:
        return encode_json(record)
    try:
        return encode_cbor(record)
    except (UnicodeEncodeError, RecursionError) as error:
        raise RefusedError(f"the record cannot be written as CBOR: {error}") from None


def _decode_json(content: bytes) -> Any:
    try:
        return json.loads(content.decode(), object_pairs_hook=_members, parse_constant=_no_number)
    except RefusedError:
        raise
    except ValueError as error:
        raise RefusedError(f"the record is neither JSON nor CBOR: {error}") from None
    except RecursionError:
        raise RefusedError("the record is nested too deep") from None


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise RefusedError("a key stands twice in a map")
    return members


def _no_number(written: str) -> Any:
    raise RefusedError(f"{written} is no number of JSON")


# ── Places ────────────────────────────────────────────────────────────────────────────────────────────────


def pointer_of(path: Where) -> str:
    """The JSON pointer of a place."""
    return "".join("/" + token.replace("~", "~0").replace("/", "~1") for token in path)


def path_of(pointer: str) -> Where:
    """The place that a JSON pointer names."""
    path = tuple(token.replace("~1", "/").replace("~0", "~") for token in pointer.split("/")[1:])
    if pointer_of(path) != pointer:
        raise RefusedError(f"{_plain(pointer)!r} is no JSON pointer")
    return path


def is_entry_list(path: Where) -> bool:
    """Whether a list at this place holds entries, which only another entry can stand for."""
    return path[:2] == ("session", "entries") and len(path) % 2 == 0 and set(path[3::2]) <= {"children"}


def is_fixed(path: Where) -> bool:
    """Whether nobody can take this out: a record is none without it, or the signature names it."""
    of_entry = len(path) > 3 and is_entry_list(path[:-2])
    return not path or path in _FIXED or path[0] == COMMITMENT or (of_entry and path[-1] == "type")


def is_shown(path: Where) -> bool:
    """Whether a member that was taken out leaves a word in its place; others are just not there."""
    return path[-1] in SHOWN and path[-2:-1] != ("token-usage",)


# ── The tree ──────────────────────────────────────────────────────────────────────────────────────────────


def member_seed(seed: bytes, key: str) -> bytes:
    """The seed of a member of a map."""
    return sha256(b"\x02" + seed + key.encode()).digest()


def element_seed(seed: bytes, index: int) -> bytes:
    """The seed of an element of a list."""
    return sha256(b"\x03" + seed + index.to_bytes(8, "big")).digest()


def leaf_digest(value: Any, seed: bytes) -> bytes:
    """The digest of a value that is hashed in one piece."""
    return sha256(b"\x00" + seed + encode_cbor(value)).digest()


def member_node(key: str, digest: bytes) -> bytes:
    """What stands for a member in the tree of its map."""
    return sha256(b"\x04" + digest + key.encode()).digest()


def node(left: bytes, right: bytes) -> bytes:
    """An inner node of a tree."""
    return sha256(b"\x01" + left + right).digest()


def map_digest(members: list[bytes]) -> bytes:
    """The digest of a map: `members` are its nodes, in the order of their keys."""
    return sha256(b"\x05" + _tree(members)).digest()


def list_digest(length: int, tree: bytes) -> bytes:
    """The digest of a list."""
    return sha256(b"\x06" + length.to_bytes(8, "big") + tree).digest()


def _tree(nodes: list[bytes]) -> bytes:
    # Joining neighbours level by level, an odd last one going up as it is, gives the tree of RFC 9162.
    while len(nodes) > 1:
        odd = nodes[-1:] if len(nodes) & 1 else []
        pairs = iter(nodes)
        nodes = [sha256(b"\x01" + left + right).digest() for left, right in zip(pairs, pairs, strict=False)]
        nodes += odd
    return nodes[0]


def digest_of(value: Any, seed: bytes) -> bytes:
    """The digest of a value and of all that is in it, worked out from its seed."""
    # One function without helpers: this runs for every piece of every record.
    kind = type(value)
    if kind is str:
        return sha256(b"\x00" + seed + _encoded_text(value)).digest()
    if kind is dict and value:
        nodes = []
        beginning = b"\x02" + seed
        for key in sorted(value):
            name = key.encode()
            member = value[key]
            own = sha256(beginning + name).digest()
            if type(member) is str:
                digest = sha256(b"\x00" + own + _encoded_text(member)).digest()
            elif key in WHOLES:
                digest = sha256(b"\x00" + own + encode_cbor(member)).digest()
            else:
                digest = digest_of(member, own)
            nodes.append(sha256(b"\x04" + digest + name).digest())
        return sha256(b"\x05" + _tree(nodes)).digest()
    if kind is list and value:
        beginning = b"\x03" + seed
        nodes = [
            digest_of(element, sha256(beginning + index.to_bytes(8, "big")).digest())
            for index, element in enumerate(value)
        ]
        return sha256(b"\x06" + len(nodes).to_bytes(8, "big") + _tree(nodes)).digest()
    return sha256(b"\x00" + seed + encode_cbor(value)).digest()


def split(length: int) -> int:
    """How many leaves stand left of the top of a tree: the largest power of two that leaves some."""
    return 1 << (length - 1).bit_length() - 1


class Mark(NamedTuple):
    """What is known of something taken out: digests, and of how many elements if it was in a list."""

    digests: tuple[bytes, ...]
    number: int | None


class Commitment(NamedTuple):
    """What a record says about its own tree."""

    root: bytes
    seeds: dict[Where, bytes]
    """Of each largest piece from which nothing was taken out: of a whole record, its own."""
    marks: dict[Where, Mark]


def commitment_of(record: dict[str, Any]) -> Commitment:
    """What a record says about its own tree; refuses all that it should not say."""
    match record.get(COMMITMENT):
        case {"scheme": scheme} if scheme != SCHEME:
            raise RefusedError(f"the commitment is of the kind {_label(scheme)!r}, which is not known here")
        case {"scheme": _, "root": root, "seed": seed, **other} if not other:
            return Commitment(_digest(root), {(): _digest(seed)}, {})
        case {"scheme": _, "root": root, "seeds": list(seeds), "redacted": list(marks), **other} if not other:
            if not marks:
                raise RefusedError("the commitment is one of a redacted record, but nothing was removed")
            return Commitment(_digest(root), _distinct(map(_seed, seeds)), _distinct(map(_mark, marks)))
    raise RefusedError(f"{COMMITMENT} is not of the shape that it should have")


def _seed(written: Any) -> tuple[Where, bytes]:
    match written:
        case {"at": str(at), "seed": seed, **other} if not other:
            return path_of(at), _digest(seed)
    raise RefusedError(f"a seed in {COMMITMENT} is not of the shape that it should have")


def _mark(written: Any) -> tuple[Where, Mark]:
    match written:
        case {"at": str(at), "digests": list(digests), **other} if digests and other.keys() <= {"count"}:
            if is_fixed(path := path_of(at)) or path in _NEVER_WHOLE:
                raise RefusedError(f"{_named(path)} cannot be removed from a record")
            if "count" not in other:
                return path, Mark(tuple(map(_digest, digests)), None)
            if type(number := other["count"]) is int and 0 < number < _LONGEST_LIST:
                return path, Mark(tuple(map(_digest, digests)), number)
    raise RefusedError(f"a redaction in {COMMITMENT} is not of the shape that it should have")


def _digest(written: Any) -> bytes:
    if type(written) is not str or not re.fullmatch("[0-9a-f]{64}", written):
        raise RefusedError(f"a digest or a seed in {COMMITMENT} is not 64 hexadecimal digits")
    return bytes.fromhex(written)


def _distinct(pairs: Iterable[tuple[Where, _T]]) -> dict[Where, _T]:
    found: dict[Where, _T] = {}
    for path, value in pairs:
        if path in found:
            raise RefusedError(f"{COMMITMENT} tells twice about {_named(path)}")
        found[path] = value
    return found


def body_of(record: dict[str, Any]) -> dict[str, Any]:
    """What the commitment of a record is about: all but itself."""
    return {key: value for key, value in record.items() if key != COMMITMENT}


def root_of(record: dict[str, Any]) -> bytes:
    """The root that a record really has, whatever it says; refuses a record whose commitment is not sound."""
    try:
        return Recount(commitment_of(record)).root(body_of(record))
    except RecursionError:
        raise RefusedError("the record is nested too deep") from None
    except UnicodeEncodeError:
        raise RefusedError("a text in the record is half a character and cannot be written") from None


class Recount:
    """Works out the root of a record from which pieces may have been taken out.

    There is one way to say what was taken out of a record, and this refuses all others, so that nothing in
    a record can be changed unnoticed.
    """

    def __init__(self, commitment: Commitment) -> None:
        self._seeds = commitment.seeds
        self._marks = commitment.marks
        self._marked_members: dict[Where, set[str]] = {}
        for path in commitment.marks:
            self._marked_members.setdefault(path[:-1], set()).add(path[-1])
        self._seeds_used: list[Where] = []
        self._marks_used: list[Where] = []

    def root(self, body: dict[str, Any]) -> bytes:
        """The root of a record without its commitment."""
        root = self.digest(body, ())
        _same_order("seed", list(self._seeds), self._seeds_used)
        _same_order("redaction", list(self._marks), self._marks_used)
        return root

    def digest(self, value: Any, path: Where) -> bytes:
        """The digest of a piece that stands at this place."""
        whole = path[-1:] and path[-1] in WHOLES
        if (seed := self._seeds.get(path)) is not None:
            self._seeds_used.append(path)
            return leaf_digest(value, seed) if whole else digest_of(value, seed)
        marks_before = len(self._marks_used)
        if type(value) is dict and not whole:
            digest = self._map(value, path)
        elif type(value) is list and not whole:
            digest = self._list(value, path)
        else:
            raise RefusedError(f"there is no seed for {_named(path)}, so nothing shows what was there")
        if len(self._marks_used) == marks_before:
            raise RefusedError(f"nothing was removed from {_named(path)}, but there is no seed for it")
        return digest

    def _map(self, value: dict[str, Any], path: Where) -> bytes:
        nodes = []
        for key in sorted(value.keys() | self._marked_members.get(path, set())):
            child = (*path, key)
            if child in self._marks:
                digest = self._taken_member(value, child)
            else:
                digest = self.digest(value[key], child)
            nodes.append(member_node(key, digest))
        if not nodes:
            raise RefusedError(f"there is no seed for {_named(path)}, so nothing shows what was there")
        return map_digest(nodes)

    def _taken_member(self, members: dict[str, Any], path: Where) -> bytes:
        mark = self._marks[path]
        if mark.number is not None or len(mark.digests) != 1:
            raise RefusedError(f"the redaction of {_named(path)} is not one of a member")
        stands = members.get(path[-1])
        if (is_shown(path) and stands != REDACTED) or (not is_shown(path) and path[-1] in members):
            raise RefusedError(f"{_named(path)} was removed, and something else is in its place")
        self._marks_used.append(path)
        return mark.digests[0]

    def _list(self, value: list[Any], path: Where) -> bytes:
        known: dict[int, bytes] = {}
        runs: list[_Run] = []
        length = 0
        for index, element in enumerate(value):
            child = (*path, str(index))
            if child not in self._marks:
                known[length] = self.digest(element, child)
                length += 1
                continue
            run = self._taken_run(element, child, length)
            if runs and runs[-1].end == length:
                raise RefusedError(f"{_named(child)} and what is before it were removed, but not as one")
            runs.append(run)
            length = run.end
        if not 0 < length < _LONGEST_LIST:
            raise RefusedError(f"{_named(path)} has no length that it could have")
        tree = _tree_with_runs(length, known, runs)
        if any(next(run.digests, None) for run in runs):
            raise RefusedError(f"a redaction in {_named(path)} has more digests than it needs")
        return list_digest(length, tree)

    def _taken_run(self, element: Any, path: Where, start: int) -> _Run:
        mark = self._marks[path]
        if mark.number is None:
            raise RefusedError(f"the redaction of {_named(path)} does not say how many it was")
        if element != (REDACTED_ENTRY if is_entry_list(path[:-1]) else REDACTED):
            raise RefusedError(f"{_named(path)} was removed, and something else is in its place")
        self._marks_used.append(path)
        return _Run(start, start + mark.number, iter(mark.digests))


class _Run(NamedTuple):
    """Neighbours in a list that were taken out together: from where to where, and their largest subtrees."""

    start: int
    end: int
    digests: Iterator[bytes]


def _tree_with_runs(length: int, known: dict[int, bytes], runs: list[_Run]) -> bytes:
    starts = [run.start for run in runs]

    def digest(low: int, high: int) -> bytes:
        place = bisect_right(starts, low) - 1
        if place >= 0 and high <= runs[place].end:
            found = next(runs[place].digests, None)
            if found is None:
                raise RefusedError("a redaction has fewer digests than it needs")
            return found
        if high - low == 1:
            return known[low]
        middle = low + split(high - low)
        return node(digest(low, middle), digest(middle, high))

    return digest(0, length)


def _same_order(what: str, written: list[Where], used: list[Where]) -> None:
    if written != used:
        needed = set(used)
        odd = next((path for path in written if path not in needed), None)
        detail = f"is about {_named(odd)}, where none is needed" if odd is not None else "is out of order"
        raise RefusedError(f"a {what} in {COMMITMENT} {detail}")


def _named(path: Where) -> str:
    return _plain(pointer_of(path)) or "the record as a whole"


def _label(label: object) -> str:
    """A label or a key, for people; numbers of a million digits are no names."""
    if isinstance(label, str):
        return _plain(label)
    return str(label) if isinstance(label, int) and -(2**64) < label < 2**64 else "something odd"


def _plain(text: str) -> str:
    """A text that cannot do anything to a terminal, and not too long a one."""
    shown = "".join(mark if mark.isprintable() else f"\\x{ord(mark):02x}" for mark in text[:200])
    return shown + ("…" if len(text) > 200 else "")


# ── Signatures ────────────────────────────────────────────────────────────────────────────────────────────


class Envelope(NamedTuple):
    """A COSE_Sign1, opened."""

    protected: bytes
    signed: dict[Any, Any]
    """What the protected bytes say."""
    unsigned: dict[Any, Any]
    payload: bytes | None
    signature: bytes

    @property
    def ours(self) -> dict[str, Any] | None:
        """What geminids says about the file; None if another program signed it."""
        ours = self.signed.get(OURS)
        return ours if isinstance(ours, dict) else None


def open_envelope(content: bytes) -> Envelope:
    """The parts of a COSE_Sign1. One that geminids made has exactly one form, and every other is refused."""
    match decode_cbor(content):
        case Tagged(18, [bytes(protected), dict(unsigned), bytes() | None as payload, bytes(signature)]):
            signed = decode_cbor(protected) if protected else {}
        case _:
            raise RefusedError("not a signed record: no COSE_Sign1 with its tag")
    if not isinstance(signed, dict):
        raise RefusedError("the protected header is no map")
    envelope = Envelope(protected, signed, unsigned, payload, signature)
    if OURS in signed and not _is_canonical(envelope, content):
        raise RefusedError("the bytes are not in the one form that they should have")
    return envelope


def _is_canonical(envelope: Envelope, content: bytes) -> bool:
    try:
        return encode_cbor(envelope.signed) == envelope.protected and content == close_envelope(envelope)
    except RecursionError:
        raise RefusedError("the CBOR is nested too deep") from None


def close_envelope(envelope: Envelope) -> bytes:
    """The bytes of a COSE_Sign1."""
    parts = [envelope.protected, envelope.unsigned, envelope.payload, envelope.signature]
    return encode_cbor(Tagged(18, parts))


def to_be_signed(protected: bytes, payload: bytes) -> bytes:
    """What a COSE_Sign1 signs."""
    return encode_cbor(["Signature1", protected, b"", payload])


def key_id(public: PublicKey) -> bytes:
    """What we call a key: SHA-256 over its public part in DER."""
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    return sha256(public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).digest()


def load_public_key(pem: bytes) -> PublicKey:
    """A public key from PEM; refuses kinds that records are not signed with."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePublicKey
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    try:
        key = load_pem_public_key(pem)
    except (ValueError, UnsupportedAlgorithm):
        raise RefusedError("it holds no PEM public key") from None
    if isinstance(key, Ed25519PublicKey):
        return key
    if isinstance(key, EllipticCurvePublicKey) and isinstance(key.curve, SECP256R1):
        return key
    raise RefusedError("the key is neither one for Ed25519 nor one on the curve P-256")


def _signature_holds(key: PublicKey, envelope: Envelope, payload: bytes) -> bool:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, SECP256R1, EllipticCurvePublicKey
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
    from cryptography.hazmat.primitives.hashes import SHA256

    algorithm = envelope.signed.get(ALGORITHM)
    signature = envelope.signature
    message = to_be_signed(envelope.protected, payload)
    try:
        if algorithm in {ED25519, ED25519_NAMED} and isinstance(key, Ed25519PublicKey):
            key.verify(signature, message)
            return True
        if algorithm == ES256 and isinstance(key, EllipticCurvePublicKey) and len(signature) == 64:
            if not isinstance(key.curve, SECP256R1):
                return False
            r, s = int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big")
            key.verify(encode_dss_signature(r, s), message, ECDSA(SHA256()))
            # Each such signature has a twin that holds as well. Ours is the lower one.
            return envelope.ours is None or s <= ORDER_OF_P256 // 2
    except InvalidSignature:
        # It does not hold, which is the answer.
        pass
    return False


def _signature_check(envelope: Envelope, payload: bytes, keys: Sequence[PublicKey]) -> Check:
    algorithm = envelope.signed.get(ALGORITHM)
    if not isinstance(algorithm, int) or algorithm not in ALGORITHMS:
        return Check("signature", False, "it is of a kind that is not known here")
    if not keys:
        return Check("signature", False, "no key given, so the signature was not checked")
    named = envelope.signed.get(KEY_ID)
    if envelope.ours is not None or isinstance(named, bytes):
        suitable = [key for key in keys if key_id(key) == named]
        if not suitable and envelope.ours is not None:
            given = ", ".join(key_id(key).hex() for key in keys)
            signer = named.hex() if isinstance(named, bytes) else "nobody"
            return Check("signature", False, f"made with the key {signer}, and the key given is {given}")
        # Others may call their keys by any name.
        keys = suitable or keys
    for key in keys:
        if _signature_holds(key, envelope, payload):
            return Check(
                "signature", True, f"{ALGORITHMS[algorithm]}, made with the key {key_id(key).hex()[:16]}…"
            )
    return Check("signature", False, "it does not fit these bytes and this key")


def claims_of(signed: dict[Any, Any]) -> Claims | None:
    """What a protected header says about who signed what and when."""
    match signed.get(CLAIMS):
        case {1: str(issuer), 2: str(subject), **more}:
            at = more.get(6)
            return Claims(issuer, subject, at if type(at) is int and 0 <= at < 2**53 else None)
    return None


# ── What a record says about itself ───────────────────────────────────────────────────────────────────────


def session_id_of(record: dict[str, Any]) -> str | None:
    """The id of the session that a record tells; bytes in hexadecimal digits."""
    match record.get("session"):
        case {"session-id": str(session_id)}:
            return session_id
        case {"session-id": bytes(session_id)}:
            return session_id.hex()
    return None


def metadata_of(record: dict[str, Any], content: bytes) -> dict[str, Any] | None:
    """The trace metadata of a record; None if nobody recorded when it began, for which there is no word."""
    session = record.get("session")
    if not isinstance(session, dict) or (start := _start(session)) is None:
        return None
    meta = session.get("agent-meta")
    vendor = meta.get("model-provider") if isinstance(meta, dict) else None
    metadata = {
        "session-id": session.get("session-id"),
        "agent-vendor": vendor if isinstance(vendor, str) else "unknown",
        "trace-format": TRACE_FORMAT,
        "timestamp-start": start,
        "content-hash": sha256(content).hexdigest(),
        "content-hash-alg": "sha-256",
    }
    if _is_moment(end := session.get("session-end")):
        metadata["timestamp-end"] = end
    return metadata


def _start(session: dict[str, Any]) -> Any:
    entries = session.get("entries")
    entries = entries if isinstance(entries, list) else []
    written = [session.get("session-start")]
    written += [entry.get("timestamp") for entry in entries if isinstance(entry, dict)]
    return next((moment for moment in written if _is_moment(moment)), None)


def _is_moment(value: object) -> bool:
    return isinstance(value, str) or (type(value) is int and value >= 0)


def _same_moment(one: object, other: object) -> bool:
    return one == other or (_instant(one) is not None and _instant(one) == _instant(other))


def _instant(value: object) -> datetime | None:
    try:
        if isinstance(value, str):
            return datetime.fromisoformat(value).astimezone(UTC)
        return datetime.fromtimestamp(value / 1000, UTC) if type(value) is int else None
    except (ValueError, OverflowError, OSError):
        return None


# ── Checks ────────────────────────────────────────────────────────────────────────────────────────────────


def verify(
    signed: bytes,
    *,
    record: bytes | None = None,
    keys: Sequence[PublicKey] = (),
    sources: Sequence[tuple[str, bytes]] = (),
    previous: bytes | None = None,
) -> Verdict:
    """Look at everything in a signed file, and at what is given beside it.

    `record` are the bytes of the record if they are not in the file, `sources` the files of the agent that
    it was made from, `previous` the statement that was made of the session before. Bad input is a failed
    check, never an error.
    """
    try:
        envelope = open_envelope(signed)
    except RefusedError as error:
        return Verdict((Check("envelope", False, str(error)),))
    case = _Case(envelope, record, tuple(keys), tuple(sources), previous)
    ours = envelope.ours
    if ours is not None and ours.get("kind") == "seal":
        return _verify_excerpt(case)
    return _verify_statement(case)


class _Case(NamedTuple):
    """What is to be looked at."""

    envelope: Envelope
    record: bytes | None
    keys: tuple[PublicKey, ...]
    sources: tuple[tuple[str, bytes], ...]
    previous: bytes | None


def _verify_statement(case: _Case) -> Verdict:
    envelope = case.envelope
    checks = [_statement_shape(envelope)]
    content = envelope.payload if envelope.payload is not None else case.record
    verdict = _beginning("statement", envelope, content)
    if content is None:
        checks.append(
            Check("signature", False, "the record is not in this file, and was not given beside it")
        )
        return verdict._replace(checks=tuple(checks))
    checks.append(_signature_check(envelope, content, case.keys))
    checks.append(_given_record(case.record, content))
    checks.append(_content_type(envelope, content))
    record, read = _read_record(content, verdict.claims if envelope.ours is not None else None)
    checks.append(read)
    if record is None:
        return verdict._replace(checks=tuple(checks))
    metadata = verdict.metadata
    checks += [_record_hash(metadata, content), _metadata(envelope, record, content)]
    checks.append(_seal(case, record))
    commitment, redactions = _commitment(
        record, needed=envelope.ours is not None and SEAL in envelope.unsigned
    )
    checks += [commitment, _redactions(redactions, commitment)]
    checks += [_sources(record, case.sources), _chain(case), *_tokens(verdict, content)]
    return verdict._replace(
        checks=tuple(checks), record=record, redactions=redactions, root=_root_said(record)
    )


def _verify_excerpt(case: _Case) -> Verdict:
    envelope = case.envelope
    attached = envelope.unsigned.get(RECORD)
    content = attached if isinstance(attached, bytes) else case.record
    verdict = _beginning("excerpt", envelope, content)
    checks = [_shape(envelope, _refuse_odd_excerpt, "an excerpt")]
    if envelope.payload is None or content is None:
        checks.append(
            Check("signature", False, "the record is not in this file, and was not given beside it")
        )
        return verdict._replace(checks=tuple(checks))
    checks.append(_signature_check(envelope, envelope.payload, case.keys))
    checks.append(_given_record(case.record, content))
    record, read = _read_record(content, verdict.claims)
    checks.append(read)
    if record is None:
        return verdict._replace(checks=tuple(checks))
    checks.append(_one_form(record, content))
    checks.append(_sealed(envelope.payload, record))
    commitment, redactions = _commitment(record, needed=True)
    checks += [commitment, _redactions(redactions, commitment), _sources(record, case.sources)]
    linked = None if case.previous is None else False
    checks.append(Check("chain", linked, "an excerpt carries no link to an earlier statement"))
    return verdict._replace(
        checks=tuple(checks), record=record, redactions=redactions, root=_root_said(record)
    )


def _beginning(form: str, envelope: Envelope, content: bytes | None) -> Verdict:
    signed, unsigned, ours = envelope.signed, envelope.unsigned, envelope.ours or {}
    return Verdict(
        checks=(),
        form=form,
        record_bytes=content,
        claims=claims_of(signed),
        key_id=_of_type(bytes, signed.get(KEY_ID)),
        algorithm=_of_type(int, signed.get(ALGORITHM)),
        metadata=_of_type(dict, unsigned.get(METADATA)),
        chain=_of_type(dict, ours.get("chain")),
        signature=envelope.signature,
        token_of_record=_of_type(bytes, signed.get(TOKEN_OF_RECORD)),
        token_of_signature=_of_type(bytes, unsigned.get(TOKEN_OF_SIGNATURE)),
    )


def _of_type(kind: type[_T], value: object) -> _T | None:
    return value if isinstance(value, kind) else None


def _statement_shape(envelope: Envelope) -> Check:
    if envelope.ours is None:
        return _foreign_shape(envelope)
    return _shape(envelope, _refuse_odd_statement, "a statement")


def _shape(envelope: Envelope, refuse_odd: Callable[[Envelope], None], what: str) -> Check:
    try:
        refuse_odd(envelope)
    except RefusedError as error:
        return Check("envelope", False, str(error))
    return Check("envelope", True, f"{what} of geminids, and every byte of it is accounted for")


def _refuse_odd_statement(envelope: Envelope) -> None:
    _refuse_odd_labels(envelope, _STATEMENT_LABELS, _STATEMENT_UNSIGNED)
    members: dict[object, type] = {"metadata": bytes, "seal": bytes, "chain": dict}
    match envelope.ours:
        case {"version": 1, "kind": "statement", **more}:
            if odd := [key for key, value in more.items() if type(value) is not members.get(key)]:
                raise RefusedError(f"the header of geminids holds something unknown: {_label(odd[0])}")
        case _:
            raise RefusedError("it was made by a later geminids, or is not a statement")
    for label in (TOKEN_OF_RECORD, TOKEN_OF_SIGNATURE):
        if type(envelope.signed.get(label, envelope.unsigned.get(label, b""))) is not bytes:
            raise RefusedError("a time stamp is something else than bytes")


def _foreign_shape(envelope: Envelope) -> Check:
    if OURS in envelope.signed:
        return Check("envelope", False, "the header of geminids is no map")
    if claims_of(envelope.signed) is None:
        return Check("envelope", False, "it does not say who signed it and about what")
    critical = envelope.signed.get(CRITICAL, [])
    if not isinstance(critical, list) or any(
        label not in (ALGORITHM, CONTENT_TYPE, KEY_ID, CLAIMS) for label in critical
    ):
        return Check("envelope", False, "it must not be trusted without knowing all its labels")
    others = sorted(_label(label) for label in envelope.unsigned if label != METADATA)
    more = f"; not covered by the signature: label {', '.join(others)}" if others else ""
    return Check("envelope", True, f"signed by another program than geminids{more}")


def _refuse_odd_excerpt(envelope: Envelope) -> None:
    _refuse_odd_seal(envelope, unsigned={RECORD})
    if not isinstance(envelope.unsigned.get(RECORD, b""), bytes):
        raise RefusedError("the record in the unprotected header is something else than bytes")


def _refuse_odd_seal(envelope: Envelope, unsigned: set[Any]) -> None:
    _refuse_odd_labels(envelope, _SEAL_LABELS, unsigned)
    if envelope.ours != {"version": 1, "kind": "seal"} or envelope.signed.get(CONTENT_TYPE) != CBOR:
        raise RefusedError("it is not a seal of geminids, or one of a later geminids")


def _refuse_odd_labels(envelope: Envelope, signed: set[Any], unsigned: set[Any]) -> None:
    for where, labels, known in (
        ("protected", envelope.signed, signed),
        ("unprotected", envelope.unsigned, unsigned),
    ):
        if odd := [label for label in labels if label not in known]:
            raise RefusedError(f"the {where} header holds something unknown: {_label(odd[0])}")
    claims = claims_of(envelope.signed)
    if claims is None or claims.issued_at is None or len(envelope.signed[CLAIMS]) != 3:
        raise RefusedError("the claims are not who signed, about what and when")
    for label, kind in ((ALGORITHM, int), (KEY_ID, bytes)):
        if type(envelope.signed.get(label)) is not kind:
            raise RefusedError(
                f"the protected header does not say the {'key' if kind is bytes else 'algorithm'}"
            )


def _given_record(given: bytes | None, content: bytes) -> Check:
    if given is None or given is content:
        return Check("given record", None, "no other copy of the record was given")
    if given == content:
        return Check("given record", True, "the same bytes as those in the file")
    return Check("given record", False, "the record given is not the one that the file holds")


def _content_type(envelope: Envelope, content: bytes) -> Check:
    said, found = envelope.signed.get(CONTENT_TYPE), content_type(content)
    if isinstance(said, str) and said in {JSON, CBOR}:
        detail = f"{said}, and the bytes are that" if said == found else f"{said}, which the bytes are not"
        return Check("content type", said == found, detail)
    if envelope.ours is not None:
        return Check("content type", False, "neither JSON nor CBOR")
    return Check("content type", None, f"{_label(said)}; read as {found or 'neither JSON nor CBOR'}")


def _read_record(content: bytes, claims: Claims | None) -> tuple[dict[str, Any] | None, Check]:
    """The record; where geminids signed it, the signature is about the session that it tells."""
    try:
        record = decode_record(content)
    except RefusedError as error:
        return None, Check("record", False, str(error))
    session_id = session_id_of(record)
    if type(record.get("id")) is not str or session_id is None:
        return None, Check("record", False, "the record has no id, or tells no session")
    about = f"the session {_plain(session_id)}"
    if claims is not None and claims.subject != session_id:
        said = f"the record tells {about}, but the signature is about {_plain(claims.subject)}"
        return None, Check("record", False, said)
    return record, Check("record", True, f"{about}, {len(content):,} bytes")


def _one_form(record: dict[str, Any], content: bytes) -> Check:
    # An excerpt's record is not signed as bytes, so its bytes have to follow from what it says.
    try:
        same = encode_record(record, content_type(content) or JSON) == content
    except RefusedError as error:
        return Check("content type", False, str(error))
    if same:
        return Check("content type", True, f"{content_type(content)}, in the one form that it has")
    return Check("content type", False, "the record is not written in the one form that it has")


def _record_hash(metadata: dict[str, Any] | None, content: bytes) -> Check:
    name = "record hash"
    if metadata is None or "content-hash" not in metadata:
        return Check(name, None, "no hash of the record stands beside it")
    if metadata.get("content-hash-alg", "sha-256") != "sha-256":
        return Check(name, False, "of another kind than SHA-256")
    if metadata["content-hash"] == sha256(content).hexdigest():
        return Check(name, True, "the metadata names these bytes")
    return Check(name, False, "the metadata names other bytes")


def _metadata(envelope: Envelope, record: dict[str, Any], content: bytes) -> Check:
    name, stated, ours = "metadata", envelope.unsigned.get(METADATA), envelope.ours
    if ours is None:
        return _foreign_metadata(stated, record)
    expected = metadata_of(record, content)
    if stated is None and expected is None and "metadata" not in ours:
        return Check(name, None, "there is none: the start of the session was not recorded")
    if ours.get("metadata") != sha256(encode_cbor(stated)).digest():
        return Check(name, False, "it is not what was signed")
    if expected != stated:
        return Check(name, False, "it does not fit the record")
    return Check(name, True, "it was signed too, and fits the record")


def _foreign_metadata(stated: Any, record: dict[str, Any]) -> Check:
    name = "metadata"
    if stated is None:
        return Check(name, None, "there is none")
    if not isinstance(stated, dict):
        return Check(name, False, "it is no map")
    if odd := [key for key in stated if key not in _METADATA_MEMBERS]:
        return Check(name, False, f"it holds something unknown: {_label(odd[0])}")
    session = record["session"]
    meta = session.get("agent-meta")
    facts = {"session-id": session["session-id"], "agent-vendor": None}
    if isinstance(meta, dict):
        facts["agent-vendor"] = meta.get("model-provider")
    odd = [key for key, fact in facts.items() if fact is not None and stated.get(key, fact) != fact]
    for key, fact in (("timestamp-start", "session-start"), ("timestamp-end", "session-end")):
        if key in stated and fact in session and not _same_moment(stated[key], session[fact]):
            odd.append(key)
    if odd:
        return Check(name, False, f"its {odd[0]} is not that of the record")
    return Check(name, True, "not covered by the signature, but it does not contradict the record")


def _seal(case: _Case, record: dict[str, Any]) -> Check:
    name, ours, seal = "seal", case.envelope.ours, case.envelope.unsigned.get(SEAL)
    if ours is None:
        return Check(name, None, "only geminids makes them")
    if seal is None and "seal" not in ours:
        holds = None if COMMITMENT not in record else False
        return Check(name, holds, "there is none, so nothing can be removed from the record")
    if not isinstance(seal, bytes) or ours.get("seal") != sha256(seal).digest():
        return Check(name, False, "it is not the one that was signed")
    try:
        envelope = open_envelope(seal)
        _refuse_odd_seal(envelope, unsigned=set())
    except RefusedError as error:
        return Check(name, False, str(error))
    signed = case.envelope.signed
    if any(envelope.signed[label] != signed.get(label) for label in (ALGORITHM, KEY_ID, CLAIMS)):
        return Check(name, False, "it says another signer, session or time than the statement")
    signature = _signature_check(envelope, envelope.payload or b"", case.keys)
    sealed = _sealed(envelope.payload, record)
    return sealed if signature.holds or not sealed.holds else Check(name, False, signature.detail)


def _sealed(payload: bytes | None, record: dict[str, Any]) -> Check:
    """Whether a seal is about this record."""
    name = "seal"
    try:
        root, record_id = _seal_contents(payload or b"")
    except RefusedError as error:
        return Check(name, False, str(error))
    if record_id != record.get("id"):
        return Check(name, False, f"it is about the record {_plain(record_id)}")
    if root != _root_said(record):
        return Check(name, False, "its root is not the one of this record")
    return Check(name, True, "signed with the same key and claims, over the root of this record")


def _seal_contents(payload: bytes) -> tuple[bytes, str]:
    match decode_cbor(payload):
        case {"root": bytes(root), "record": str(record_id)}:
            if payload == encode_cbor(seal_payload(root, record_id)):
                return root, record_id
    raise RefusedError("it is not over the root of a record, or of a later kind")


def seal_payload(root: bytes, record_id: str) -> dict[str, Any]:
    """What a seal signs."""
    return {"scheme": SCHEME, "root": root, "record": record_id}


def _root_said(record: dict[str, Any]) -> bytes | None:
    match record.get(COMMITMENT):
        case {"root": str(root)} if re.fullmatch("[0-9a-f]{64}", root):
            return bytes.fromhex(root)
    return None


def _commitment(record: dict[str, Any], *, needed: bool) -> tuple[Check, tuple[Redaction, ...]]:
    name = "commitment"
    match record.get(COMMITMENT):
        case {"scheme": scheme} if scheme != SCHEME and not needed:
            return Check(name, None, "of a kind that is not known here"), ()
        case None if COMMITMENT not in record and not needed:
            return Check(name, None, "there is none"), ()
    try:
        commitment = commitment_of(record)
        redactions = tuple(
            Redaction(pointer_of(at), mark.number or 1) for at, mark in commitment.marks.items()
        )
        if root_of(record) != commitment.root:
            return Check(name, False, "the record is not what the root was made of"), redactions
    except RefusedError as error:
        return Check(name, False, str(error)), ()
    return Check(name, True, f"the root {commitment.root.hex()[:16]}… follows from the record"), redactions


def _redactions(redactions: tuple[Redaction, ...], commitment: Check) -> Check:
    name = "redactions"
    if commitment.holds is None:
        return Check(name, None, "unknown without a commitment")
    if not commitment.holds:
        return Check(name, False, "unknown, since the commitment is not valid")
    if not redactions:
        return Check(name, None, "nothing was removed")
    places = len(redactions)
    return Check(name, True, f"removed at {places:,} place{'' if places == 1 else 's'}")


def _parts(number: int) -> str:
    return "1 part was" if number == 1 else f"{number:,} parts were"


def _sources(record: dict[str, Any], sources: Sequence[tuple[str, bytes]]) -> Check:
    name = "sources"
    if not sources:
        return Check(name, None, "no file of the agent was given")
    files = record.get(SOURCE)
    if not isinstance(files, list):
        return Check(name, False, "the record does not say (any more) which files it was made from")
    try:
        known: dict[int, bytes] = {}
        grown = [_matched(file, content, files, known) for file, content in sources]
        slices, elsewhere = _slices(record, known)
    except RefusedError as error:
        return Check(name, False, str(error))
    detail = f"{len(sources):,} given and the same; {_parts(slices)} found at the recorded places"
    if any(grown):
        detail += "; grown since, but only at the end"
    if elsewhere:
        detail += f"; {elsewhere:,} pieces are of files that were not given"
    return Check(name, True, detail)


def _matched(name: str, content: bytes, files: list[Any], known: dict[int, bytes]) -> bool:
    """Find which files of a record these bytes are; says whether the file has grown since."""
    listed = [(index, *facts) for index, file in enumerate(files) if (facts := _size_and_hash(file))]
    hashes = _hashes_of_beginnings(content, {size for _, size, _ in listed})
    found = {index: size for index, size, digest in listed if hashes.get(size) == digest}
    if not found:
        raise RefusedError(_other_than(name, content, files))
    exact = [index for index, size in found.items() if size == len(content)]
    known.update((index, content[: found[index]]) for index in exact or found)
    return not exact


def _hashes_of_beginnings(content: bytes, sizes: set[int]) -> dict[int, str]:
    """The hashes of the first so many bytes, worked out in one go: a record may name any number of files."""
    hashes: dict[int, str] = {}
    so_far, at = sha256(), 0
    for size in sorted(size for size in sizes if size <= len(content)):
        so_far.update(memoryview(content)[at:size])
        hashes[size], at = so_far.hexdigest(), size
    return hashes


def _other_than(name: str, content: bytes, files: list[Any]) -> str:
    """Why a file is none of those that a record was made from."""
    for file in files:
        match file:
            case {"path": str(path), "size": int(size)} if PurePath(path).name == PurePath(name).name:
                if size > len(content):
                    missing = size - len(content)
                    return (
                        f"{_plain(name)} has become shorter since it was read: {missing:,} bytes are missing"
                    )
                return f"{_plain(name)} is not as it was: its first {size:,} bytes are others"
    return f"{_plain(name)} is not a file of this record"


def _size_and_hash(file: Any) -> tuple[int, str] | None:
    match file:
        case {"size": int(size), "sha256": str(digest)} if size >= 0:
            return size, digest
    return None


def _slices(record: dict[str, Any], known: dict[int, bytes]) -> tuple[int, int]:
    """How many pieces of a record stand in the files given as it says, and how many in others."""
    there = elsewhere = 0
    for at, entry in entries_of(record):
        places = entry.get(SOURCE, [])
        for place in places if isinstance(places, list) else [None]:
            match place:
                case {"file": int(file)} if file not in known:
                    elsewhere += 1
                case {"file": int(), **more} if "sha256" not in more:
                    continue  # only a place: nothing of the entry was read there
                case {"file": int(file), "start": int(start), "end": int(end), "sha256": str(digest)}:
                    if sha256(memoryview(known[file])[max(start, 0) : max(end, 0)]).hexdigest() != digest:
                        raise RefusedError(f"what {_named(at)} was made from does not stand where it says")
                    there += 1
                case _:
                    raise RefusedError(f"{_named(at)} does not say properly where it was made from")
    return there, elsewhere


def entries_of(record: dict[str, Any]) -> Iterator[tuple[Where, dict[str, Any]]]:
    """Every entry of a record with its place, children after their parents."""
    session = record.get("session")
    waiting: list[tuple[Where, Any]] = []
    if isinstance(session, dict):
        waiting.append((("session", "entries"), session.get("entries")))
    while waiting:
        at, entries = waiting.pop()
        for index, entry in enumerate(entries if isinstance(entries, list) else []):
            if isinstance(entry, dict):
                place = (*at, str(index))
                yield place, entry
                waiting.append(((*place, "children"), entry.get("children")))


def _chain(case: _Case) -> Check:
    name, ours = "chain", case.envelope.ours or {}
    chain = ours.get("chain")
    link = chain.get("previous") if isinstance(chain, dict) else None
    if case.previous is None:
        detail = (
            "there is an earlier statement, which was not given" if link else "no earlier statement is named"
        )
        return Check(name, None, detail)
    if link != sha256(case.previous).digest():
        return Check(name, False, "the earlier statement given is not the one that this one follows")
    try:
        earlier = claims_of(open_envelope(case.previous).signed)
    except RefusedError as error:
        return Check(name, False, f"the earlier statement cannot be read: {error}")
    claims = claims_of(case.envelope.signed)
    if earlier is None or claims is None or earlier.subject != claims.subject:
        return Check(name, False, "the earlier statement is about another session")
    return Check(name, True, "this statement follows the earlier one that was given")


def _tokens(verdict: Verdict, content: bytes) -> Iterator[Check]:
    """Whether time stamps are over what they stand beside. Who made them is not looked at here."""
    for token, stamped, what in (
        (verdict.token_of_record, content, "the record"),
        (verdict.token_of_signature, encode_cbor(verdict.signature or b""), "the signature"),
    ):
        if token is not None:
            kinds = ("sha256", "sha384", "sha512")
            named = any(hashlib.new(kind, stamped).digest() in token for kind in kinds)
            detail = f"one names {what}; who made it was not checked" if named else f"one is not over {what}"
            yield Check("time stamp", None if named else False, detail)


# ── The command ───────────────────────────────────────────────────────────────────────────────────────────

NOT_PROVEN = (
    "who holds the key; that it was signed at the time it says (that is the signer's word); that the agent's "
    "files were complete and unchanged before that; what a model really did"
)


def proven(verdict: Verdict) -> str:
    """What follows from a verdict, without overclaiming."""
    if not verdict.holds or verdict.claims is None:
        return "nothing: a check failed"
    key = f"with the key {verdict.key_id.hex()[:16]}…" if verdict.key_id else "with a key that was given"
    listed = "every place where something was removed is listed"
    if verdict.form == "excerpt":
        return f"everything shown was in a record that was signed {key}, unchanged since; {listed}"
    before = f"; {listed}" if verdict.redactions else ""
    return f"the record is what was signed {key}, and nothing in it was changed since{before}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Check a file and tell what was found; the exit code says whether it holds."""
    options = _parser().parse_args(arguments)
    try:
        keys = [load_public_key(_content(path)) for path in options.key]
        verdict = verify(
            _content(options.file),
            record=_content(options.record) if options.record else None,
            keys=keys,
            sources=[(path, _content(path)) for path in options.source],
            previous=_content(options.previous) if options.previous else None,
        )
    except (RefusedError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    except ModuleNotFoundError as error:
        sys.stderr.write(f"{error}. `pip install cryptography` brings what checks signatures.\n")
        return 2
    lines = [json.dumps(as_json(verdict), indent=2)] if options.json else _lines(options.file, verdict)
    # A screen that cannot show a letter is no reason to give no answer.
    text = "".join(f"{line}\n" for line in lines)
    sys.stdout.buffer.write(text.encode(sys.stdout.encoding or "utf-8", "backslashreplace"))
    return 0 if verdict.holds else 1


def _content(path: str) -> bytes:
    return Path(path).read_bytes()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="Check a signed record of a conversation with a coding agent."
    )
    parser.add_argument("file", help="the signed file: a statement or an excerpt")
    parser.add_argument("--key", action="append", default=[], help="public key of the signer, PEM")
    parser.add_argument("--record", help="the record, if it is not in the signed file")
    parser.add_argument("--source", action="append", default=[], help="a file of the agent it was made from")
    parser.add_argument("--previous", help="the statement that was made of the same session before")
    parser.add_argument("--json", action="store_true", help="the findings as JSON")
    return parser


def as_json(verdict: Verdict) -> dict[str, Any]:
    """A verdict for programs, without the record itself."""
    claims = verdict.claims
    return {
        "holds": verdict.holds,
        "form": verdict.form,
        "checks": [check._asdict() for check in verdict.checks],
        "issuer": claims.issuer if claims else None,
        "subject": claims.subject if claims else None,
        "issued_at": claims.issued_at if claims else None,
        "key_id": verdict.key_id.hex() if verdict.key_id else None,
        "algorithm": ALGORITHMS.get(verdict.algorithm) if verdict.algorithm else None,
        "root": verdict.root.hex() if verdict.root else None,
        "redactions": [redaction._asdict() for redaction in verdict.redactions],
        "proven": proven(verdict),
        "not_proven": NOT_PROVEN,
    }


def _lines(file: str, verdict: Verdict) -> Iterator[str]:
    marks = {True: "OK", False: "FAILED", None: "-"}
    yield f"{_plain(file)}: {'VALID' if verdict.holds else 'NOT VALID'}"
    for check in verdict.checks:
        yield f"  {marks[check.holds]:6} {check.name:13} {check.detail}"
    if verdict.claims:
        at = _instant((verdict.claims.issued_at or 0) * 1000) if verdict.claims.issued_at else None
        yield f"Signed by {_plain(verdict.claims.issuer)}" + (f" at {at:%Y-%m-%d %H:%M:%S} UTC" if at else "")
    for redaction in verdict.redactions:
        many = f" ({redaction.count:,} in a row)" if redaction.count > 1 else ""
        yield f"Taken out: {_plain(redaction.at)}{many}"
    yield f"Proven: {proven(verdict)}."
    yield f"Not proven: {NOT_PROVEN}."


if __name__ == "__main__":
    sys.exit(main())
