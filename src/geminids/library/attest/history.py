"""Statements of the same session over time: each at its place, and nothing that was signed rewritten."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from geminids.sharing.records.profile import SOURCE
from geminids.sharing.records.standalone import Check, Verdict, entries_of, pointer_of

PLACE, PAST = "place", "past"
"""What the checks are called."""
NATIVE_EVENT = "native:"
"""How entries are called that are records of no message."""


def linked(before: Verdict | None, number: int, verdict: Verdict | None, sequence: int) -> Iterator[Check]:
    """Whether a statement stands at its place in the chain, and still says what the one before it said."""
    said = (verdict.chain or {}).get("sequence") if verdict else None
    if said != sequence:
        detail = (
            f"it says that it is number {said}" if isinstance(said, int) else "it has no number in a chain"
        )
        yield Check(PLACE, False, f"{detail}, and stands at number {sequence}")
    elif sequence != number + 1:
        yield Check(PLACE, False, f"it is number {sequence}, and number {number + 1} is not there")
    if before is not None:
        yield past(before, verdict)


def past(before: Verdict, after: Verdict | None) -> Check:
    """Whether every native record of the earlier statement is in the later one, byte for byte."""
    earlier, later = _slices(before.record), _slices(after.record if after else None)
    if not earlier or not later:
        return Check(PAST, None, "unknown: hashes of the source are withheld or missing")
    if missing := [place for digest, place in earlier.items() if digest not in later]:
        detail = (
            f"rewritten: {len(missing):,} of {len(earlier):,} records that were signed before are missing"
        )
        return Check(PAST, False, f"{detail}, first {missing[0]} of the earlier statement")
    return Check(PAST, True, f"all {len(earlier):,} records that were signed before are in it")


def _slices(record: Mapping[str, Any] | None) -> dict[str, str]:
    """The hashes of all native records that later versions of a file repeat, and where each stands."""
    found: dict[str, str] = {}
    logs = _logs(record or {})
    for at, entry in entries_of(dict(record or {})):
        places = entry.get(SOURCE)
        is_of_message = not str(entry.get("event-type", "")).startswith(NATIVE_EVENT)
        for place in places if isinstance(places, list) else ():
            match place:
                # The head of a document is written anew with every message.
                case {"file": file, "sha256": str(digest)} if is_of_message or file in logs:
                    found.setdefault(digest, pointer_of(at))
    return found


def _logs(record: Mapping[str, Any]) -> set[int]:
    """Which files of a record are logs, to which their agent only appends."""
    files = record.get(SOURCE)
    formats = (
        [file.get("format") for file in files if isinstance(file, dict)] if isinstance(files, list) else []
    )
    return {number for number, name in enumerate(formats) if "jsonl" in str(name)}
