"""What is left of a record when pieces are taken out of it: it still proves, and tells nothing of them."""

from __future__ import annotations

import base64
import copy
import hashlib
import json
import random
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import cbor2
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as some

from geminids.core import agents
from geminids.sharing.records import standalone
from geminids.sharing.records.commitment import commit
from geminids.sharing.records.encoding import encode_cbor, encode_json
from geminids.sharing.records.errors import CommitmentError, WithholdingError
from geminids.sharing.records.evidence import evidence_of
from geminids.sharing.records.mismatches import check_record
from geminids.sharing.records.natives import read_natives
from geminids.sharing.records.redaction import subtrees, withhold
from geminids.sharing.records.signature import excerpt, statement
from geminids.sharing.records.translation import record_of
from geminids.sharing.records.unwanted import differences, places_of, with_repeats
from tests.conftest import CORPUS, FIXTURES
from tests.support.examples import examples
from tests.support.golden import check_golden
from tests.support.reading import sessions
from tests.support.record_making import (
    CLAIMS,
    ED25519_KEY,
    SEED,
    SESSION,
    Record,
    records,
    small_record,
    source_file,
)

VECTORS = FIXTURES / "records"
SETTINGS = settings(max_examples=examples(120), deadline=None)
ENTRIES = "/session/entries"


def pointers_of(value: Any, at: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every place of a record that can be taken out on its own, those around others first."""
    if at and not standalone.is_fixed(at):
        yield at
    if at and at[-1] in standalone.WHOLES:
        return
    children = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, child in sorted(children):
        yield from pointers_of(child, (*at, str(key)))


def at(record: Any, pointer: str) -> Any:
    for step in standalone.path_of(pointer):
        record = record[int(step)] if isinstance(record, list) else record[step]
    return record


def proves(record: Record) -> bool:
    written: Record = json.loads(json.dumps(record))
    return standalone.root_of(written) == bytes.fromhex(written["x-commitment"]["root"])


def taken_out(record: Record) -> dict[str, int | None]:
    return {mark["at"]: mark.get("count") for mark in record["x-commitment"]["redacted"]}


def a_list_of(length: int) -> Record:
    return commit({**small_record(), "list": [f"element {index}" for index in range(length)]}, SEED)


# ── Taking out ────────────────────────────────────────────────────────────────────────────────────────────


@SETTINGS
@given(records, some.data())
def test_whatever_is_taken_out_the_rest_still_proves(record: Record, data: some.DataObject) -> None:
    there = list(pointers_of(record))
    assume(there)
    chosen = data.draw(some.lists(some.sampled_from(there), min_size=1, max_size=6, unique=True))
    committed = commit(record, SEED)
    before = copy.deepcopy(committed)
    left = withhold(committed, map(standalone.pointer_of, chosen))
    assert proves(left)
    assert committed == before
    assert left["x-commitment"]["root"] == committed["x-commitment"]["root"]
    # A list without entries has nothing that could be taken out of it.
    assert (SEED.hex() in json.dumps(left)) is (chosen == [("session", "entries")] and left == committed)


@SETTINGS
@given(records, some.data())
def test_taking_out_one_after_the_other_is_taking_out_at_once(record: Record, data: some.DataObject) -> None:
    there = list(pointers_of(record))
    assume(there)
    chosen = data.draw(some.lists(some.sampled_from(there), min_size=1, max_size=5, unique=True))
    at_once = withhold(commit(record, SEED), map(standalone.pointer_of, chosen))
    # From the end, so that no place moves before its turn comes, and what is inside before what is around.
    left = commit(record, SEED)
    for path in sorted(chosen, key=there.index, reverse=True):
        left = withhold(left, [standalone.pointer_of(path)])
        assert proves(left)
    assert left == at_once


@pytest.mark.parametrize("length", [1, 2, 3, 5, 8, 13])
def test_every_run_of_a_list_can_be_taken_out(length: int) -> None:
    record = a_list_of(length)
    for start in range(length):
        for end in range(start + 1, length + 1):
            left = withhold(record, [f"/list/{index}" for index in range(start, end)])
            assert left["list"] == [*record["list"][:start], "[redacted]", *record["list"][end:]]
            assert taken_out(left)[f"/list/{start}"] == end - start
            assert proves(left)


def test_a_run_has_the_digests_of_its_largest_subtrees() -> None:
    assert subtrees(8, 0, 8) == [(0, 8)]
    assert subtrees(8, 1, 7) == [(1, 2), (2, 4), (4, 6), (6, 7)]
    assert subtrees(7, 4, 7) == [(4, 7)]
    assert subtrees(7, 3, 6) == [(3, 4), (4, 6)]
    assert subtrees(1, 0, 1) == [(0, 1)]


def test_a_member_that_the_format_needs_leaves_a_word_and_others_are_gone() -> None:
    entry = f"{ENTRIES}/1"
    left = withhold(
        commit(small_record(), SEED),
        [f"{entry}/content", f"{entry}/timestamp", f"{entry}/token-usage/input", f"{entry}/children/1/input"],
    )
    message = left["session"]["entries"][1]
    assert message["content"] == "[redacted]"
    assert "timestamp" not in message
    assert "input" not in message["token-usage"]
    assert message["children"][1] == {
        "type": "tool-call",
        "name": "read_file",
        "call-id": "c1",
        "input": "[redacted]",
    }
    assert proves(left)


def test_entries_that_stand_together_leave_one_entry() -> None:
    record = commit(small_record(), SEED)
    placeholder = {"type": "system-event", "event-type": "redacted"}
    left = withhold(record, [f"{ENTRIES}/1", f"{ENTRIES}/3", f"{ENTRIES}/2", f"{ENTRIES}/1/content"])
    assert left["session"]["entries"][1:] == [placeholder]
    assert taken_out(left)[f"{ENTRIES}/1"] == 3
    again = withhold(left, [f"{ENTRIES}/0"])
    assert again["session"]["entries"] == [placeholder]
    assert taken_out(again)[f"{ENTRIES}/0"] == 4
    assert again == withhold(record, [ENTRIES])
    assert proves(again)


def test_nothing_taken_out_changes_nothing() -> None:
    record = commit(small_record(), SEED)
    assert withhold(record, []) == record
    left = withhold(record, [f"{ENTRIES}/0/content"])
    assert withhold(left, [f"{ENTRIES}/0/content", f"{ENTRIES}/0/x-source"]) == left


def test_what_cannot_stand_alone_goes_with_what_is_around_it() -> None:
    record = commit(small_record(), SEED)
    assert "/file-attribution" in taken_out(
        withhold(record, ["/file-attribution/files/0/conversations/0/ranges/0/start-line"])
    )
    assert f"{ENTRIES}/0/x-native" in taken_out(withhold(record, [f"{ENTRIES}/0/x-native/0/extra"]))
    meta = withhold(record, ["/session/agent-meta"])
    assert meta["session"]["agent-meta"] == {"model-id": "[redacted]", "model-provider": "[redacted]"}
    assert proves(meta)


@pytest.mark.parametrize(
    ("pointer", "reason"),
    [
        ("", "whole record"),
        ("/version", "a record is none without it"),
        ("/id", "a record is none without it"),
        ("/session", "a record is none without it"),
        ("/session/session-id", "a record is none without it"),
        ("/x-commitment", "a record is none without it"),
        ("/x-commitment/seed", "a record is none without it"),
        (f"{ENTRIES}/0/type", "a record is none without it"),
        (f"{ENTRIES}/1/children/0/type", "a record is none without it"),
        (f"{ENTRIES}/4", "there is nothing at this place"),
        (f"{ENTRIES}/00", "there is nothing at this place"),
        (f"{ENTRIES}/-1", "there is nothing at this place"),
        (f"{ENTRIES}/" + "9" * 5_000, "there is nothing at this place"),
        (f"{ENTRIES}/0/content/0", "there is nothing at this place"),
        ("/nothing", "there is nothing at this place"),
        ("session", "no JSON pointer"),
        ("/a~", "no JSON pointer"),
    ],
)
def test_what_cannot_be_taken_out_is_refused(pointer: str, reason: str) -> None:
    with pytest.raises(WithholdingError, match=reason):
        withhold(commit(small_record(), SEED), [pointer])


def test_a_record_without_a_sound_commitment_is_refused() -> None:
    with pytest.raises(CommitmentError, match="has none"):
        withhold(small_record(), [f"{ENTRIES}/0"])
    with pytest.raises(CommitmentError, match="not of the shape"):
        withhold({**small_record(), "x-commitment": {}}, [f"{ENTRIES}/0"])
    left = json.loads(json.dumps(withhold(commit(small_record(), SEED), [f"{ENTRIES}/0"])))
    run = next(mark for mark in left["x-commitment"]["redacted"] if "count" in mark)
    run["digests"] *= 2
    with pytest.raises(CommitmentError, match="does not fit"):
        withhold(left, [f"{ENTRIES}/1"])
    left["x-commitment"]["seeds"] = []
    with pytest.raises(CommitmentError, match="does not fit"):
        withhold(left, ["/session/x-geminids/title"])


# ── Hashes that would tell ────────────────────────────────────────────────────────────────────────────────


def test_hashes_of_what_a_piece_was_read_from_go_with_it() -> None:
    left = withhold(commit(small_record(), SEED), [f"{ENTRIES}/1/children/2/output"])
    content_hash = "/file-attribution/files/0/conversations/0/ranges/0/content-hash"
    assert set(taken_out(left)) == {
        f"{ENTRIES}/1/children/2/output",
        f"{ENTRIES}/1/x-source",
        f"{ENTRIES}/2/x-source",
        content_hash,
        "/x-source",
    }
    assert left["session"]["entries"][0]["x-source"] == small_record()["session"]["entries"][0]["x-source"]


def test_how_long_a_line_was_is_not_told_by_those_around_it() -> None:
    record = small_record()
    entries = record["session"]["entries"]
    entries[0]["x-geminids"] = {
        "dropped_by": {"file": 0, "line": 9, "start": 900, "end": 990},
        "state": "rewound",
    }
    record["session"]["x-geminids"]["files"] = [{"path": "a.jsonl", "size": 1000}]
    left = withhold(commit(record, SEED), [f"{ENTRIES}/1/content"])
    behind = entries[1]["x-source"][0]["start"]
    for _, entry in standalone.entries_of(left):
        assert all(place["end"] <= behind for place in entry.get("x-source", []))
        assert "dropped_by" not in entry.get("x-geminids", {})
    assert left["session"]["entries"][0]["x-geminids"] == {"state": "rewound"}
    assert "files" not in left["session"]["x-geminids"]


def test_what_we_say_in_other_words_goes_with_a_call_and_its_result() -> None:
    record = small_record()
    _, call, result = record["session"]["entries"][1]["children"]
    call["x-geminids"] = {"kind": "edit", "changes": [{"diff": "+one\n+two"}], "gist": "write 'one'"}
    result["x-geminids"] = {"exit_code": 0, "display": {"diff": "+one\n+two"}}
    left = withhold(commit(record, SEED), [f"{ENTRIES}/1/children/1/input/file_path"])
    assert proves(left)
    _, call, result = left["session"]["entries"][1]["children"]
    assert (call["x-geminids"], result["x-geminids"]) == ({"kind": "edit"}, {"exit_code": 0})
    # The numbers of lines that were written tell how long the text was.
    assert "file-attribution" not in left


def test_what_a_text_was_before_it_was_made_to_fit_goes_with_it() -> None:
    record = small_record()
    record["session"]["entries"][0] |= {
        "content": "the word is \ufffd",
        "x-geminids": {"originals": {"/content": '"the word is \\ud800"'}},
    }
    record["session"]["x-geminids"]["originals"] = {"/environment/branch": '"\\ud800"'}
    left = withhold(commit(record, SEED), [f"{ENTRIES}/0/content"])
    assert not holds_text(standalone.encode_json(left), "the word is")
    assert "originals" not in left["session"]["x-geminids"]


def test_sums_do_not_tell_what_was_used_by_an_entry_that_is_taken_out() -> None:
    record = small_record()
    record["session"]["x-geminids"] |= {"usage": {"output": 3}, "counts": {"replies": 2}}
    for piece in (f"{ENTRIES}/1", f"{ENTRIES}/1/token-usage"):
        assert (
            not {"usage", "counts"} & withhold(commit(record, SEED), [piece])["session"]["x-geminids"].keys()
        )
    left = withhold(commit(record, SEED), [f"{ENTRIES}/1/content"])
    assert left["session"]["x-geminids"]["usage"] == {"output": 3}


def test_hashes_of_other_entries_over_the_same_bytes_go_too() -> None:
    record = small_record()
    first, second, third = record["session"]["entries"][:3]
    third["x-source"] = [{**first["x-source"][0], "start": first["x-source"][0]["end"] - 1, "end": 10_000}]
    second["x-source"][0]["file"] = 1
    left = withhold(commit(record, SEED), [f"{ENTRIES}/0/content"])
    assert f"{ENTRIES}/2/x-source" in taken_out(left)
    assert f"{ENTRIES}/1/x-source" not in taken_out(left)


def test_the_hashes_of_an_entry_inside_one_that_is_taken_out_are_not_left_elsewhere() -> None:
    record = small_record()
    entries = record["session"]["entries"]
    entries[1]["children"][0]["x-source"] = entries[2]["x-source"]
    left = withhold(commit(record, SEED), [f"{ENTRIES}/1"])
    assert f"{ENTRIES}/2/x-source" in taken_out(left)


# ── Nothing is told ───────────────────────────────────────────────────────────────────────────────────────

MARKER = 'removed "text"\n— ü 端口 '


def marked_record() -> tuple[Record, dict[str, str]]:
    """A record in which every text that can be taken out is one of a kind, and where each of them stands."""
    record = small_record()
    del record["x-source"], record["file-attribution"]
    markers: dict[str, str] = {}
    for path in list(pointers_of(record)):
        *above, last = path
        holder = at(record, standalone.pointer_of(tuple(above)))
        key = int(last) if isinstance(holder, list) else last
        if isinstance(holder[key], str):
            holder[key] = markers[standalone.pointer_of(path)] = f"{MARKER}{len(markers)}."
    return record, markers


def spellings(text: str) -> Iterator[bytes]:
    """A text in every way in which somebody might write it into a file."""
    escaped = json.dumps(text)[1:-1]
    for written in (text, escaped, json.dumps(text, ensure_ascii=False)[1:-1], json.dumps(escaped)[1:-1]):
        content = written.encode()
        yield content
        yield content.hex().encode()
        yield content.hex().upper().encode()
        for shift in range(3):
            # What stands before and after changes the letters at both ends.
            for encode in (base64.b64encode, base64.urlsafe_b64encode):
                yield encode(b"\0" * shift + content)[4 * bool(shift) : -4]
    yield text.encode("utf-16-le")


def holds_text(content: bytes, text: str) -> bool:
    return any(spelling in content for spelling in spellings(text))


def test_the_removed_text_is_nowhere_in_the_bytes() -> None:
    record, markers = marked_record()
    committed = commit(record)
    whole = standalone.encode_json(committed)
    signed = statement(whole, committed, ED25519_KEY, CLAIMS)
    assert len(markers) > 15
    for pointer, text in markers.items():
        left = withhold(committed, [pointer])
        assert holds_text(whole, text)
        for media_type in (standalone.JSON, standalone.CBOR):
            made = excerpt(signed, standalone.encode_record(left, media_type))
            assert not holds_text(made, text), pointer
            others = [other for at_, other in markers.items() if at_ != pointer]
            assert sum(other.encode() in cbor2.dumps(left) for other in others) == len(others), pointer


def derived(seed: bytes, keys: list[str]) -> Iterator[bytes]:
    """A seed, and those of what could be in it."""
    yield seed
    for key in keys:
        yield standalone.member_seed(seed, key)
    for index in range(4):
        yield standalone.element_seed(seed, index)


def one_form(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()


def guesses(candidate: str, seeds: list[bytes], around: list[Record]) -> Iterator[bytes]:
    """Every digest that a value would have if it were this one, to whoever knows all that is left."""
    forms: list[Any] = [
        candidate,
        [candidate],
        {"content": candidate},
        {"type": "assistant", "content": candidate},
    ]
    for form in (*forms, *({**holder, "content": candidate} for holder in around)):
        for content in (cbor2.dumps(form, canonical=True), json.dumps(form).encode(), one_form(form)):
            yield hashlib.sha256(content).digest()
            yield hashlib.sha256(content + b"\n").digest()
        for seed in seeds:
            yield standalone.digest_of(form, seed)
            yield standalone.leaf_digest(form, seed)
            yield standalone.member_node("content", standalone.digest_of(form, seed))
    yield hashlib.sha256(candidate.encode()).digest()


def digests_in(value: Any) -> set[bytes]:
    """Everything in a record that may be a digest."""
    if isinstance(value, dict):
        return set().union(*map(digests_in, value.values())) if value else set()
    if isinstance(value, list):
        return set().union(*map(digests_in, value)) if value else set()
    return {bytes.fromhex(value)} if isinstance(value, str) and len(value) == 64 else set()


def confirmed(record: Record, seeds: list[bytes], answers: tuple[str, ...]) -> list[str]:
    """Which answers somebody could confirm who has this record, and knows all but the answer."""
    keys = sorted({step for path in pointers_of(record) for step in path})
    every = [inner for seed in seeds for inner in derived(seed, keys)]
    lines = [json.loads(line) for line in source_file().splitlines()]
    known = [{**entry} for entry in record["session"]["entries"]] + lines
    there = digests_in(record)
    return [answer for answer in answers if not there.isdisjoint(guesses(answer, every, known))]


ANSWERS = ("yes", "no", "maybe", "")


@pytest.mark.slow
def test_a_short_answer_that_was_taken_out_cannot_be_guessed() -> None:
    committed = commit(small_record())
    left = withhold(committed, [f"{ENTRIES}/1/content"])
    assert left["session"]["entries"][1]["content"] == "[redacted]"
    revealed = [bytes.fromhex(seed["seed"]) for seed in left["x-commitment"]["seeds"]]
    zeros = [bytes(32), bytes.fromhex(left["x-commitment"]["root"])]
    assert confirmed(left, [*revealed, *zeros], ANSWERS) == []


def test_the_guessing_above_would_find_what_is_not_salted() -> None:
    committed = commit(small_record(), SEED)
    left = withhold(committed, [f"{ENTRIES}/1/content"])
    path = ("session", "entries")
    seed = SEED
    for step in path:
        seed = standalone.member_seed(seed, step)
    seed = standalone.element_seed(seed, 1)
    # With the seed of the entry, which nobody gets:
    assert confirmed(left, [seed], ANSWERS) == ["yes"]
    # With the hash of the line that it was read from, which goes with it:
    entry = small_record()["session"]["entries"][1]
    holder = {**left, "x-source": entry["x-source"]}
    lines = [json.loads(line) for line in source_file().splitlines()]
    written = json.dumps({**lines[2], "content": "yes"}, ensure_ascii=False).encode()
    assert hashlib.sha256(written).digest() in digests_in(holder)
    assert hashlib.sha256(written).digest() not in digests_in(left)


# ── What to take out ──────────────────────────────────────────────────────────────────────────────────────


def test_differences_are_named_by_the_smallest_piece() -> None:
    record, other = small_record(), small_record()
    entries = other["session"]["entries"]
    entries[0]["content"] = "hidden"
    entries[0]["x-native"][0]["extra"] = []
    entries[1]["children"][1]["input"]["limits"] = [1]
    entries[1]["children"][2]["output"][0] = 8443
    entries[2] = {"type": "user", "content": "x"}
    entries[3]["data"]["more"] = 1
    del other["session"]["x-geminids"]["title"]
    other["x-commitment"] = {"seed": "x"}
    assert set(differences(record, other)) == {
        f"{ENTRIES}/0/content",
        f"{ENTRIES}/0/x-native",
        f"{ENTRIES}/1/children/1/input/limits",
        f"{ENTRIES}/1/children/2/output/0",
        f"{ENTRIES}/2",
        f"{ENTRIES}/3/data",
        "/session/x-geminids/title",
    }
    assert differences(record, small_record()) == []
    assert differences({"a": 1, "b": 0.5}, {"a": True, "b": 0.5}) == ["/a"]


@SETTINGS
@given(records, records)
def test_without_the_differences_two_records_tell_the_same(one: Record, other: Record) -> None:
    found = differences(one, other)
    assert bool(found) is (standalone.encode_cbor(one) != standalone.encode_cbor(other))
    for pointer in found:
        at(one, pointer)


def test_places_of_a_text() -> None:
    record = commit(small_record(), SEED)
    assert places_of(record, "8443") == [
        "/session/x-geminids/title",
        f"{ENTRIES}/0/content",
        f"{ENTRIES}/1/children/2/output/0",
    ]
    record["session"]["entries"][0]["x-native"] = [{"deep": ["a", {"say": 'the "port"'}]}]
    record["session"]["entries"][1]["children"][1]["input"] = {
        "code": json.dumps({"a": 'the "port"'}),
        "n": 120,
    }
    record["session"]["entries"][2]["data"] = {'the "port"': 1}
    assert places_of(record, 'the "port"') == [
        f"{ENTRIES}/0/x-native",
        f"{ENTRIES}/1/children/1/input/code",
        f"{ENTRIES}/2/data",
    ]
    assert places_of(record, "120") == [f"{ENTRIES}/1/token-usage/input", f"{ENTRIES}/1/children/1/input/n"]
    assert places_of(record, "") == []
    assert places_of(record, SESSION) == []
    assert places_of(record, "not there") == []


def test_repeats_of_what_is_taken_out_are_found() -> None:
    record = small_record()
    entries = record["session"]["entries"]
    prompt = entries[0]["content"] = "Where is the  password of\nthe second door?"
    entries[0]["x-native"] = [{"display": prompt}]
    entries[1]["content"] = f"You asked: {prompt}"
    entries[2]["data"] = {"value": json.dumps({"prompt": prompt}), "other": "the password"}
    entries[3]["x-native"] = [None, {"deep": [{"last": prompt}]}]
    entries[3]["note"] = "Where is the password of…"
    record["session"]["x-geminids"] = {"title": "Where is the password of the …", "kind": "passwords"}
    found = with_repeats(commit(record, SEED), [f"{ENTRIES}/0/content"])
    assert found[0] == f"{ENTRIES}/0/content"
    assert set(found[1:]) == {
        f"{ENTRIES}/0/x-native",
        f"{ENTRIES}/1/content",
        f"{ENTRIES}/2/data/value",
        f"{ENTRIES}/3/x-native",
        f"{ENTRIES}/3/note",
        "/session/x-geminids/title",
    }
    around = with_repeats(record, [f"{ENTRIES}/0"])
    assert {f"{ENTRIES}/0", *found} == {*around, f"{ENTRIES}/0/content", f"{ENTRIES}/0/x-native"}
    left = withhold(commit(record, SEED), found)
    assert not holds_text(standalone.encode_json(left), prompt)


def test_repeats_that_are_spelt_a_little_otherwise_are_found() -> None:
    record = small_record()
    entries = record["session"]["entries"]
    entries[0]["content"] = "1\tfirst of all\n2\tthe second line\t\n"
    entries[1]["content"] = "It says: 1\tfirst of all\n2\tthe second line\n<end>"
    entries[2]["data"] = {"diff": "@@\n+the  second line\n", "other": "the second"}
    assert set(with_repeats(record, [f"{ENTRIES}/0/content"])) >= {
        f"{ENTRIES}/1/content",
        f"{ENTRIES}/2/data/diff",
    }
    assert f"{ENTRIES}/2/data/other" not in with_repeats(record, [f"{ENTRIES}/0/content"])


@pytest.mark.parametrize("piece", [f"{ENTRIES}/1", f"{ENTRIES}/1/content"])
def test_a_short_answer_is_found_where_the_agent_keeps_a_copy(piece: str) -> None:
    record = small_record()
    record["session"]["entries"][2]["data"] = {"lastPrompt": "yes\n", "type": "yes", "other": "yes or no"}
    record["session"]["x-geminids"] |= {"title": "yes", "kind": "yes"}
    record["session"]["entries"][0]["content"] = "yes"
    assert set(with_repeats(record, [piece])) == {
        piece,
        f"{ENTRIES}/2/data/lastPrompt",
        "/session/x-geminids/title",
    }


def test_names_that_a_tool_was_asked_for_are_repeats_and_so_are_keys_of_ours() -> None:
    record = small_record()
    entries = record["session"]["entries"]
    entries[1]["children"][1]["input"] = {"name": "Project Falcon"}
    entries[2]["data"] = {"note": "about Project Falcon"}
    assert f"{ENTRIES}/2/data/note" in with_repeats(record, [f"{ENTRIES}/1/children/1/input"])
    entries[0]["x-geminids"] = {"other": {"Project Falcon": 1}}
    assert f"{ENTRIES}/0/x-geminids/other" in places_of(record, "Falcon")


def test_short_texts_kinds_and_names_are_no_repeats() -> None:
    record = small_record()
    assert with_repeats(record, [f"{ENTRIES}/1"]) == [f"{ENTRIES}/1"]
    with pytest.raises(WithholdingError, match="no JSON pointer"):
        with_repeats(record, ["nothing"])


def test_a_real_session_loses_what_is_taken_out_and_keeps_the_rest() -> None:
    path = CORPUS / "vac" / "reference-translation" / "gemini-gemini-3-pro-preview.spec.json"
    if not path.exists():
        pytest.skip(f"no corpus at {CORPUS}")
    record = commit(json.loads(path.read_bytes()))
    prompt = record["session"]["entries"][0]["content"]
    found = with_repeats(record, [f"{ENTRIES}/0/content"])
    left = withhold(record, found)
    assert proves(left)
    assert len(left["session"]["entries"]) == len(record["session"]["entries"])
    assert not holds_text(standalone.encode_json(left), prompt)
    assert left["session"]["entries"][1:] == record["session"]["entries"][1:]


# ── Still a record ────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.slow
def test_whatever_is_taken_out_a_record_is_left() -> None:
    record = commit(full_record(), SEED)
    assert check_record(record) is None
    for path in pointers_of(full_record()):
        left = withhold(record, [standalone.pointer_of(path)])
        assert proves(left)
        assert check_record(left) is None, path


def full_record() -> Record:
    """A record with every member that the format knows."""
    record = small_record()
    vcs = {"type": "git", "revision": "abc", "branch": "main", "repository": "https://example.org/r"}
    record |= {
        "created": "2026-06-15T12:00:00Z",
        "vcs": vcs,
        "recording-agent": {"name": "x", "version": "1"},
    }
    session = record["session"]
    session |= {"format": "interactive", "session-end": 1_781_524_800_000}
    session["agent-meta"] |= {"cli-name": "gemini-cli", "cli-version": "0.61"}
    session["environment"] |= {"vcs": vcs, "sandboxes": ["/tmp/a", "/tmp/b"]}
    session["entries"][0] |= {"model-id": "m", "parent-id": "m0", "timestamp": 5}
    session["entries"][1]["token-usage"] |= {"cached": 1, "reasoning": 2}
    session["entries"][1]["children"][0] |= {"encrypted": "x", "id": "t", "timestamp": 5, "children": []}
    session["entries"][1]["children"][2] |= {"status": "ok", "id": "r"}
    contributor = {"type": "ai", "model-id": "m"}
    (file,) = record["file-attribution"]["files"]
    (conversation,) = file["conversations"]
    related = [{"type": "plan", "url": "https://example.org/p"}]
    conversation |= {"url": "https://example.org/c", "contributor": contributor, "related": related}
    conversation["ranges"][0] |= {"content-hash-alg": "sha-256", "contributor": contributor}
    return record


@pytest.mark.parametrize("agent", ["claude", "codex", "gemini"])
def test_recorded_sessions_can_be_redacted_anywhere(agent: str) -> None:
    homes = sorted((FIXTURES / agent).glob("*/home"))
    chance = random.Random(agent)
    for home in chance.sample(homes, 8):
        for session in sessions(agents.load(agent), home):
            natives = read_natives(session, lambda path: content_of(agent, path))
            record = commit(record_of(session, evidence_of(session, natives)))
            places = list(map(standalone.pointer_of, pointers_of(standalone.body_of(record))))
            left = withhold(record, chance.sample(places, min(7, len(places))))
            assert proves(left)
            assert check_record(left) is None


def content_of(agent: str, path: str) -> bytes:
    unpacked = agents.load(agent).files().unpacked(Path(path))
    return Path(path).read_bytes() if unpacked is None else unpacked


# ── Vectors ───────────────────────────────────────────────────────────────────────────────────────────────

REDACTIONS = {
    "a-member": [f"{ENTRIES}/1/content"],
    "an-optional-member": [f"{ENTRIES}/1/timestamp"],
    "an-element": [f"{ENTRIES}/1/children/1/input/limits/2"],
    "a-run-of-elements": [f"{ENTRIES}/1/children/1/input/limits/{index}" for index in (1, 2, 3, 4)],
    "a-child": [f"{ENTRIES}/1/children/1"],
    "an-entry": [f"{ENTRIES}/1"],
    "a-run-of-entries": [f"{ENTRIES}/1", f"{ENTRIES}/2", f"{ENTRIES}/3"],
    "two-runs": [f"{ENTRIES}/0", f"{ENTRIES}/2"],
    "everything": [ENTRIES, "/session/agent-meta", "/session/environment", "/session/x-geminids"],
}


@pytest.mark.parametrize("name", REDACTIONS)
def test_vectors_of_redacted_records(name: str) -> None:
    left = withhold(commit(small_record(), SEED), REDACTIONS[name])
    check_golden(VECTORS / "redacted" / f"{name}.json", left)
    written = json.loads((VECTORS / "redacted" / f"{name}.json").read_text("utf-8"))
    assert standalone.root_of(written) == standalone.digest_of(small_record(), SEED)


@pytest.mark.parametrize("pointer", [f"{ENTRIES}/0", f"{ENTRIES}/0/content"], ids=["entry", "member"])
@pytest.mark.parametrize("encode", [encode_json, encode_cbor], ids=["JSON", "CBOR"])
def test_neither_the_length_nor_the_kind_of_what_was_taken_out_can_be_told_by_sizes(
    pointer: str, encode: Callable[[Record], bytes]
) -> None:
    texts = ["", "y", "no", "yes", "é" * 50, "a" * 5000, "line\n" * 40, '"\\' * 30]
    seen = set()
    for text in texts:
        record = small_record()
        record["session"]["entries"][0]["content"] = text
        left = withhold(commit(record, secrets.token_bytes(32)), [pointer])
        shape = json.loads(encode_json(left))
        marks = [(mark["at"], len(json.dumps(mark))) for mark in shape["x-commitment"]["redacted"]]
        seen.add((len(encode(left)), len(shape["x-commitment"]["seeds"]), tuple(marks)))
    assert len(seen) == 1, seen
