"""Taking pieces out of a signed record, so that the rest still proves to be what was signed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from geminids.library.attest.attestation import wrapped
from geminids.library.attest.chain import fault_of
from geminids.library.attest.choices import Unwanted
from geminids.library.attest.signed_files import taken_apart
from geminids.sharing.records.errors import RecordError
from geminids.sharing.records.mismatches import check_record
from geminids.sharing.records.profile import COMMITMENT
from geminids.sharing.records.redaction import places_missing, withhold
from geminids.sharing.records.signature import excerpt
from geminids.sharing.records.standalone import (
    JSON,
    PublicKey,
    Verdict,
    body_of,
    content_type,
    decode_record,
    encode_record,
    pointer_of,
    verify,
)
from geminids.sharing.records.unwanted import differences, places_of, with_repeats

if TYPE_CHECKING:
    from geminids.sharing.redact import Redactor

ENTRIES = "/session/entries"
BEGINNING = 60
"""Characters of what an entry says, where it is listed."""


class Excerpt(NamedTuple):
    """What is left of a signed record, as it goes to the disk."""

    signed: bytes
    beside: bytes | None
    """The record, where it is a file of its own."""
    withheld: Sequence[str]
    """The places that were asked for, and those that repeat them, of the record as it was given."""
    missing: int
    """At how many places something is missing now; some would tell what stood in others."""


class ListedEntry(NamedTuple):
    """An entry of a record, to choose from."""

    number: int
    type: str
    id: str | None
    timestamp: str | int | None
    begins: str
    """The beginning of what it says."""


class _Signed(NamedTuple):
    """A signed record that can be cut."""

    signed: bytes
    content: bytes
    """Of the record."""
    is_apart: bool
    """Whether the record is a file of its own."""
    is_vcon: bool
    gone: int
    """How many places were taken out of it before."""


def excerpt_of(
    path: Path,
    signature: Path | None,
    unwanted: Unwanted,
    redactor: Redactor | None = None,
    keys: Sequence[PublicKey] = (),
) -> Excerpt:
    """A signed record without some of its pieces. Where the key is known, its signature is checked first."""
    given, record = _signed(path, signature, keys)
    places = list(dict.fromkeys(_places(record, unwanted)))
    if redactor is not None:
        places += _secrets(record, redactor)
    left = withhold(record, places := with_repeats(record, places))
    if left is record:
        raise RecordError(f"{str(path)!r} holds nothing of that. Nothing was written.")
    content = encode_record(left, content_type(given.content) or JSON)
    is_apart = given.is_apart or given.is_vcon
    signed = excerpt(given.signed, content, detached=is_apart)
    _refuse_left_over(unwanted.texts, content + signed)
    missing = places_missing(left)
    if given.is_vcon:
        return Excerpt(wrapped(decode_record(content), signed), None, places, missing)
    return Excerpt(signed, content if is_apart else None, places, missing)


def _refuse_left_over(texts: Sequence[str], written: bytes) -> None:
    """Raises RecordError if words that were to go stand where nothing can be taken out: in an id, say."""
    for text in texts:
        if text.encode() in written or json.dumps(text, ensure_ascii=False)[1:-1].encode() in written:
            raise RecordError(
                f"{text!r} also occurs where nothing can be removed, such as in the session id or the "
                "issuer. Nothing was written."
            )


def signed_record(path: Path, signature: Path | None, keys: Sequence[PublicKey] = ()) -> dict[str, Any]:
    """The record in a signed file. Raises RecordError if it is damaged, or nothing can be taken out of it."""
    return _signed(path, signature, keys)[1]


def listed_entries(record: Mapping[str, Any]) -> list[ListedEntry]:
    """The entries of a record in order."""
    return [_listed(number, entry) for number, entry in enumerate(record["session"]["entries"], start=1)]


def _listed(number: int, entry: Mapping[str, Any]) -> ListedEntry:
    children = [str(child.get("type")) for child in entry.get("children", ())]
    said = entry.get("content") or entry.get("event-type") or ", ".join(children)
    folded = " ".join((said if isinstance(said, str) else str(said)).split())
    return ListedEntry(
        number, str(entry.get("type")), entry.get("id"), entry.get("timestamp"), folded[:BEGINNING]
    )


def _signed(path: Path, signature: Path | None, keys: Sequence[PublicKey]) -> tuple[_Signed, dict[str, Any]]:
    given = taken_apart(path, signature)
    if given.signed is None:
        raise RecordError(f"{str(path)!r} is not signed. Sign it with `geminids attest`.")
    verdict = verify(given.signed, record=given.content, keys=keys)
    if verdict.record is not None and COMMITMENT not in verdict.record:
        raise RecordError(
            f"{str(path)!r} was signed without a commitment to its parts, so nothing can be removed."
        )
    fault = fault_of(verdict, keys)
    if fault or verdict.record is None:
        raise RecordError(f"{str(path)!r} is not a signed record, or was changed since: {fault}.")
    if mismatch := check_record(verdict.record):
        raise RecordError(f"{str(path)!r} is signed but not a record: {mismatch.sentence}")
    is_apart = given.content is not None and not given.is_vcon
    content = verdict.record_bytes or b""
    return _Signed(given.signed, content, is_apart, given.is_vcon, _gone(verdict)), verdict.record


def _gone(verdict: Verdict) -> int:
    """How many places a check finds taken out."""
    return sum(gap.count for gap in verdict.redactions)


def _places(record: dict[str, Any], unwanted: Unwanted) -> Iterator[str]:
    entries = record["session"]["entries"]
    if unwanted.only:
        kept = {_number(entries, wanted) for wanted in unwanted.only}
        yield from (f"{ENTRIES}/{number}" for number in range(len(entries)) if number not in kept)
    numbers = [_number(entries, wanted) for wanted in unwanted.entries]
    if unwanted.fields:
        for number in numbers or range(len(entries)):
            yield from _fields(entries[number], f"{ENTRIES}/{number}", unwanted.fields)
    else:
        yield from (f"{ENTRIES}/{number}" for number in numbers)
    for text in unwanted.texts:
        yield from places_of(record, text)
    yield from unwanted.places


def _number(entries: Sequence[Mapping[str, Any]], wanted: str) -> int:
    """The place of an entry that is meant by its number, from 1, or by its id."""
    if wanted.isdecimal() and 1 <= int(wanted) <= len(entries):
        return int(wanted) - 1
    for number, entry in enumerate(entries):
        if entry.get("id") == wanted:
            return number
    raise RecordError(f"No entry {wanted!r}; there are {len(entries):,}. --list shows them.")


def _fields(entry: Mapping[str, Any], place: str, names: Sequence[str]) -> Iterator[str]:
    """The members of these names, of an entry and of those that hang on it."""
    yield from (place + pointer_of((name,)) for name in names if name in entry)
    for number, child in enumerate(entry.get("children", ())):
        yield from _fields(child, f"{place}/children/{number}", names)


def _secrets(record: dict[str, Any], redactor: Redactor) -> list[str]:
    """The places that hold secrets."""
    plain = body_of(record)
    return differences(plain, redactor.redact_value(plain))
