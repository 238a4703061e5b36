"""Taking pieces out of a signed record, so that the rest still proves to be what was signed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from geminids.records.errors import RecordError
from geminids.records.profile import COMMITMENT
from geminids.records.redacting import differences, places_of, with_repeats, withhold
from geminids.records.signing import excerpt
from geminids.records.standalone import JSON, Verdict, content_type, encode_record, verify
from geminids.verifying import Given, taken_apart

if TYPE_CHECKING:
    from geminids.redact import Redactor

ENTRIES = "/session/entries"


class Unwanted(NamedTuple):
    """What is to be taken out of a record."""

    entries: Sequence[str] = ()
    """By their numbers, from 1, or their ids; all that hangs on them goes too."""
    only: Sequence[str] = ()
    """Entries that stay; all others go."""
    fields: Sequence[str] = ()
    """Members, of the entries above or of all."""
    texts: Sequence[str] = ()
    """Words; whatever holds them goes."""
    places: Sequence[str] = ()
    """JSON pointers."""

    def __bool__(self) -> bool:
        return any((self.entries, self.only, self.fields, self.texts, self.places))


class Excerpt(NamedTuple):
    """What is left of a signed record, as it goes to the disk."""

    signed: bytes
    beside: bytes | None
    """The record, where it is a file of its own."""
    withheld: Sequence[str]
    """The places that were taken out, of the record as it was given."""


def excerpt_of(
    path: Path, signature: Path | None, unwanted: Unwanted, redactor: Redactor | None = None
) -> Excerpt:
    """A signed record without some of its pieces."""
    given, verdict = _signed(path, signature)
    record = _committed(path, verdict.record)
    places = list(dict.fromkeys(_places(record, unwanted)))
    if redactor is not None:
        places += _secrets(record, redactor)
    if not places:
        raise RecordError(f"Nothing of that is in {str(path)!r}; nothing was written.")
    places = with_repeats(record, places)
    content = encode_record(withhold(record, places), content_type(verdict.record_bytes or b"") or JSON)
    is_apart = given.content is not None
    signed = excerpt(given.signed or b"", content, detached=is_apart)
    return Excerpt(signed, content if is_apart else None, places)


def signed_record(path: Path, signature: Path | None) -> dict[str, Any]:
    """The record in a signed file. Raises RecordError if it cannot be taken apart."""
    _, verdict = _signed(path, signature)
    return _committed(path, verdict.record)


def _signed(path: Path, signature: Path | None) -> tuple[Given, Verdict]:
    given = taken_apart(path, signature)
    if given.signed is None:
        raise RecordError(f"{str(path)!r} is not signed; `geminids attest` does that.")
    return given, verify(given.signed, record=given.content)


def _committed(path: Path, record: dict[str, Any] | None) -> dict[str, Any]:
    if record is None:
        raise RecordError(f"{str(path)!r} is no signed record; `geminids verify` says what is wrong with it.")
    if COMMITMENT not in record:
        raise RecordError(
            f"{str(path)!r} was signed without a commitment to its pieces: none can be taken out of it."
        )
    return record


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
    yield from (f"{place}/{_escaped(name)}" for name in names if name in entry)
    for number, child in enumerate(entry.get("children", ())):
        yield from _fields(child, f"{place}/children/{number}", names)


def _escaped(name: str) -> str:
    """A name as a piece of a JSON pointer."""
    return name.replace("~", "~0").replace("/", "~1")


def _secrets(record: Mapping[str, Any], redactor: Redactor) -> list[str]:
    """The places that hold secrets."""
    plain = {key: value for key, value in record.items() if key != COMMITMENT}
    return differences(plain, redactor.redact_value(plain))
