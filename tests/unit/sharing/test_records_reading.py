"""Records that are read: ours come back whole, and whatever else there is, is refused with its place."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import cbor2
import msgspec
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from geminids.core.model import Role, Session, Text
from geminids.sharing.records.encoding import decode, encode_cbor, encode_json, presentable
from geminids.sharing.records.errors import RecordError
from geminids.sharing.records.reader import session_of
from geminids.sharing.records.translation import record_of
from tests.support.examples import examples
from tests.support.exporting import hostile_session, looked_at_sessions
from tests.support.records import JSON, fixture_homes, sessions_with_evidence

Place = tuple[str | int, ...]


def a_record() -> dict[str, Any]:
    """A record with every kind of member, that may be changed."""
    return copy.deepcopy(RECORD)


def _record() -> dict[str, Any]:
    (home,) = [home for home in fixture_homes("gemini") if home.parent.name == "rewind-jsonl-2"]
    session, evidence = next(sessions_with_evidence("gemini", home))
    hostile = hostile_session()
    more = tuple(msgspec.structs.replace(m, source=session.messages[0].source) for m in hostile.messages)
    whole = msgspec.structs.replace(session, messages=(*session.messages, *more))
    places = (*evidence.messages, *((),) * len(more))
    return record_of(whole, msgspec.structs.replace(evidence, messages=places))


RECORD = _record()


def _places(value: Any, at: Place = ()) -> Iterator[Place]:
    yield at
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from _places(item, (*at, key))


PLACES = [*_places(RECORD)][1:]
OTHERS: Sequence[Any] = ("a", 0, -1, 10**30, True, None, [], {}, [{}], [None])


def changed(place: Place, change: Callable[[Any, Any], None]) -> dict[str, Any]:
    record = a_record()
    holder: Any = record
    for step in place[:-1]:
        holder = holder[step]
    change(holder, place[-1])
    return record


def _remove(holder: Any, key: Any) -> None:
    del holder[key]


def check_never_fails(record: Any) -> None:
    """Read, or refused in a sentence; and what was read can be told again."""
    try:
        session, evidence = session_of(record)
    except RecordError:
        return
    assert isinstance(session, Session)
    again = record_of(session, evidence)
    assert session_of(again) == (session, evidence)


# What is no record, or a damaged one


@pytest.mark.parametrize("place", range(0, len(PLACES), 7))
def test_a_record_without_one_of_its_members_is_read_or_refused(place: int) -> None:
    check_never_fails(changed(PLACES[place], _remove))


@settings(deadline=None, max_examples=examples(400), suppress_health_check=list(HealthCheck))
@given(st.sampled_from(PLACES), JSON | st.sampled_from(OTHERS))
@example(("x-geminids", "replaced"), 0)
@example(("x-geminids", "replaced"), "1")
def test_a_record_with_another_value_anywhere_is_read_or_refused(place: Place, other: Any) -> None:
    def put(holder: Any, key: Any) -> None:
        holder[key] = other

    check_never_fails(changed(place, put))


@settings(deadline=None, max_examples=examples(200), suppress_health_check=list(HealthCheck))
@given(JSON)
def test_no_other_value_is_taken_for_a_record(value: Any) -> None:
    with pytest.raises(RecordError):
        session_of(value)


@pytest.mark.parametrize(
    ("place", "pointer"),
    [
        (("version",), "its root"),
        (("session", "session-id"), "/session"),
        (("session", "agent-meta", "model-id"), "/session/agent-meta"),
        (("session", "entries", 1, "type"), "/session/entries/1"),
        (("session", "entries", 1, "x-source", 0, "start"), "/session/entries/1/x-source/0"),
        (("session", "x-geminids", "counts"), "/session/x-geminids"),
        (("session", "x-geminids", "counts", "prompts"), "/session/x-geminids/counts"),
        (("x-geminids", "profile"), "/x-geminids/profile"),
        (("x-source", 0, "path"), "/x-source/0"),
    ],
)
def test_the_place_of_what_is_missing_is_named(place: Place, pointer: str) -> None:
    with pytest.raises(RecordError, match=rf"{pointer}( is missing)?\.$"):
        session_of(changed(place, _remove))


@pytest.mark.parametrize(
    "place",
    [
        ("odd",),
        ("session", "odd"),
        ("session", "entries", 1, "odd"),
        ("session", "entries", 1, "x-geminids", "odd"),
        ("session", "x-geminids", "odd"),
        ("session", "agent-meta", "odd"),
        ("x-geminids", "odd"),
        ("x-source", 0, "odd"),
    ],
)
def test_members_that_we_do_not_write_are_refused(place: Place) -> None:
    record = a_record()
    record["session"]["entries"][1].setdefault("x-geminids", {})
    holder: Any = record
    for step in place[:-1]:
        holder = holder[step]
    holder[place[-1]] = 1
    with pytest.raises(RecordError, match="odd"):
        session_of(record)


def test_words_of_a_record_are_not_repeated() -> None:
    record = a_record()
    record["session"]["x-geminids"]["status"] = "a secret"
    with pytest.raises(RecordError, match="is not known at /session/x-geminids/status") as caught:
        session_of(record)
    assert "secret" not in str(caught.value)


def test_a_record_of_another_profile_is_refused() -> None:
    record = a_record()
    record["x-geminids"]["profile"] = "geminids/vac/2"
    with pytest.raises(RecordError, match="geminids/vac/1"):
        session_of(record)


def test_a_record_of_another_tool_is_refused(corpus: Path) -> None:
    records = sorted((corpus / "vac" / "reference-translation").glob("*.json"))
    assert records
    for file in records:
        with pytest.raises(RecordError, match="not a record of geminids"):
            session_of(decode(file.read_bytes())[0])


def test_a_record_with_its_commitment_is_read() -> None:
    assert session_of(a_record() | {"x-commitment": {"root": "00"}}) == session_of(RECORD)


def test_a_file_that_is_not_listed_is_refused() -> None:
    record = a_record()
    record["session"]["entries"][1]["x-source"][0]["file"] = 99
    with pytest.raises(RecordError, match="/session/entries/1/x-source/0/file"):
        session_of(record)


def test_an_order_that_fits_no_content_is_refused() -> None:
    record = record_of(looked_at_sessions()["tool-calls-jsonl-2"])
    for after in ([1, 0], [5], [-1], [0, 0, 0, 0]):
        record["session"]["entries"][0].setdefault("x-geminids", {})["content_after"] = after
        with pytest.raises(RecordError, match="/session/entries/0/x-geminids/content_after"):
            session_of(record)


def test_times_that_cannot_be_told_are_refused() -> None:
    for at in ("1969-12-31T23:59:59Z", "3000-01-01T00:00:00Z", "2026-05-01T10:00:00", "yesterday"):
        record = a_record()
        record["session"]["session-start"] = at
        with pytest.raises(RecordError):
            session_of(record)


@pytest.mark.parametrize(
    "original", [("/content", "no JSON"), ("content", '"x"'), ("/odd/0", "1"), ("", "1")]
)
def test_what_cannot_be_put_back_is_refused(original: tuple[str, str]) -> None:
    record = a_record()
    record["session"]["entries"][1].setdefault("x-geminids", {})["originals"] = dict([original])
    record["x-geminids"]["replaced"] += 1
    with pytest.raises(RecordError, match="/session/entries/1/x-geminids/originals"):
        session_of(record)


def test_values_that_were_replaced_are_counted() -> None:
    record = a_record()
    record["x-geminids"]["replaced"] += 1
    with pytest.raises(RecordError, match="were replaced"):
        session_of(record)


def test_the_record_that_is_read_is_not_changed() -> None:
    before = encode_json(RECORD)
    session, _ = session_of(RECORD)
    assert encode_json(RECORD) == before
    assert any("\ud83d" in part.text for m in session.messages for part in m.parts if isinstance(part, Text))
    assert any(message.role is Role.SYSTEM for message in session.messages)


# Bytes


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "ends too early"),
        (b"{", "not JSON"),
        (b"[]", "not a record"),
        (b'{"a":1}x', "not JSON from byte 7"),
        (b'{"a":1,"a":2}', "'a' stands twice"),
        (b'{"a":{"b":1,"b":1}}', "'b' stands twice"),
        (b'{"a":NaN}', "a number in it is invalid"),
        (b'{"a":1e999}', "too large"),
        (b'{"a":"\xff"}', "not UTF-8 from byte 6"),
        (b'{"a":"\\ud83d"}', "half a character"),
        (b'{"\\ud83d":1}', "half a character"),
        (b'{"a":' + b"[" * 200 + b"]" * 200 + b"}", "deeper than 100 levels"),
        (b'{"a":' + b"[" * 200_000 + b"]" * 200_000 + b"}", "nested too deep"),
        (b'{"a":' + b"9" * 5000 + b"}", "a number in it is invalid"),
        (b"\xa1\x61a\x01\x00", "1 bytes follow after the end"),
        (b"\xa2\x61a\x01\x61a\x02", "a key stands twice"),
        (b"\xa1\x01\x01", "what JSON cannot"),
        (b"\xa1\x61a", "ends too early"),
        (b"\xa1\x61a\x41x", "what JSON cannot"),
        (b"\xa1\x61a\xc1\x01", "what JSON cannot"),
        (b"\xa1\x61a\xd8\x1c\x80", "what JSON cannot"),
        (b"\xa1\x61a\xf9\x7e\x00", "what JSON cannot"),
        (b"\xa1\x61a\xf7", "the simple value 23"),
        (b"\xa1\x61a\x62\xed\xa0", "not UTF-8"),
        (b"\xa1\x61a" + b"\x81" * 200 + b"\x01", "nested too deep"),
        (b"\xbb" + b"\xff" * 8, "ends too early"),
        (b"\x9b" + b"\xff" * 8, "ends too early"),
        (b"\x80", "not a record"),
        (b"\xf6", "not a record"),
    ],
)
def test_bytes_that_are_no_record_are_refused(content: bytes, reason: str) -> None:
    with pytest.raises(RecordError, match=reason):
        decode(content)


@settings(max_examples=examples(500))
@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(content: bytes) -> None:
    for some in (content, b"\xa1\x61a" + content, b'{"a":' + content):
        try:
            record, _ = decode(some)
        except RecordError:
            continue
        assert isinstance(record, dict)


@settings(max_examples=examples(300))
@given(st.dictionaries(st.text(max_size=4), JSON, max_size=4).map(presentable))
def test_cbor_is_read_as_others_read_it(record: dict[str, Any]) -> None:
    content = cbor2.dumps(record)
    assert decode(content) == (cbor2.loads(content), "cbor")
    assert decode(encode_cbor(record)) == (record, "cbor")
    assert json.loads(encode_json(record)) == record


def test_cbor_is_deterministic() -> None:
    written = encode_cbor({"bb": 1, "a": [1.5, 0, -1, 2**64], "ab": None})
    assert written.hex() == "a361618" + "4f93e000020c249010000000000000000" + "626162f6" + "62626201"
    backwards = dict(reversed(a_record().items()))
    assert encode_cbor(backwards) == encode_cbor(RECORD)


@pytest.mark.parametrize("encode", [encode_json, encode_cbor])
@pytest.mark.parametrize("value", [float("nan"), "\ud83d", {"\ud83d": 1}, {1, 2}])
def test_what_cannot_be_written_is_refused(encode: Callable[[dict[str, Any]], bytes], value: Any) -> None:
    with pytest.raises(RecordError):
        encode({"a": value})
