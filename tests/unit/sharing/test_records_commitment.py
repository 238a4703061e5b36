"""The tree over a record, against a second one that was written straight from its definition."""

from __future__ import annotations

import hashlib
import json
import struct
from typing import Any

import cbor2
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as some

from geminids.sharing.records import standalone
from geminids.sharing.records.commitment import commit
from geminids.sharing.records.errors import CommitmentError
from geminids.sharing.records.redaction import withhold
from geminids.sharing.records.standalone import RefusedError
from tests.conftest import FIXTURES
from tests.support.examples import examples
from tests.support.golden import check_golden
from tests.support.record_making import SEED, WITHHELD, Record, records, small_record, values

VECTORS = FIXTURES / "records"
SETTINGS = settings(max_examples=examples(150), deadline=None)


# ── The definition, written a second time ─────────────────────────────────────────────────────────────────


def h(*pieces: bytes) -> bytes:
    return hashlib.sha256(b"".join(pieces)).digest()


def tree(leaves: list[bytes]) -> bytes:
    if len(leaves) == 1:
        return leaves[0]
    left = 1
    while left * 2 < len(leaves):
        left *= 2
    return h(b"\x01", tree(leaves[:left]), tree(leaves[left:]))


def digest(value: Any, seed: bytes, name: str | None = None) -> bytes:
    if isinstance(value, dict) and value and name not in {"x-native", "x-source"}:
        members = []
        for key, member in sorted((key.encode(), member) for key, member in by_keys(value)):
            inner = digest(member[0], h(b"\x02", seed, key), key.decode())
            members.append(h(b"\x04", inner, key))
        return h(b"\x05", tree(members))
    if isinstance(value, list) and value and name not in {"x-native", "x-source"}:
        elements = [
            digest(element, h(b"\x03", seed, index.to_bytes(8, "big"))) for index, element in enumerate(value)
        ]
        return h(b"\x06", len(value).to_bytes(8, "big"), tree(elements))
    return h(b"\x00", seed, cbor2.dumps(value, canonical=True))


def by_keys(value: Record) -> list[tuple[str, list[Any]]]:
    return [(key, [member]) for key, member in value.items()]


@SETTINGS
@given(records, some.binary(min_size=32, max_size=32))
@example(small_record(), SEED)
def test_the_root_is_what_the_definition_says(record: Record, seed: bytes) -> None:
    committed = commit(record, seed)
    root = digest(record, seed).hex()
    assert committed == {
        **record,
        "x-commitment": {"scheme": "geminids/merkle/1", "root": root, "seed": seed.hex()},
    }
    assert standalone.root_of(committed).hex() == root


@SETTINGS
@given(records, some.randoms(use_true_random=False))
def test_the_order_of_members_does_not_count(record: Record, random: Any) -> None:
    members = list(record.items())
    random.shuffle(members)
    assert standalone.digest_of(dict(members), SEED) == standalone.digest_of(record, SEED)


@SETTINGS
@given(records, records)
def test_two_records_have_two_roots(one: Record, other: Record) -> None:
    same = cbor2.dumps(one, canonical=True) == cbor2.dumps(other, canonical=True)
    assert (standalone.digest_of(one, SEED) == standalone.digest_of(other, SEED)) is same


@pytest.mark.parametrize("length", range(1, 20))
def test_lists_of_every_length_are_trees_of_the_same_shape(length: int) -> None:
    assert standalone.digest_of(list(range(length)), SEED) == digest(list(range(length)), SEED)


@pytest.mark.parametrize(
    ("one", "other"),
    [(1, True), (1, 1.0), (0.0, -0.0), ("1", 1), ([], {}), ([[]], [{}]), ("", None), ([1, 2], [2, 1])],
)
def test_what_python_or_json_may_take_for_the_same_is_told_apart(one: Any, other: Any) -> None:
    assert standalone.digest_of({"a": one}, SEED) != standalone.digest_of({"a": other}, SEED)


def test_every_commitment_has_a_seed_of_its_own() -> None:
    one, other = commit(small_record()), commit(small_record())
    assert one["x-commitment"]["seed"] != other["x-commitment"]["seed"]
    assert one["x-commitment"]["root"] != other["x-commitment"]["root"]


def test_what_cannot_be_committed_to_is_refused() -> None:
    deep: list[Any] = []
    for _ in range(5_000):
        deep = [deep]
    for record, reason in (
        (commit(small_record()), "already"),
        ({"text": "half \ud83d"}, "surrogates"),
        ({"number": float("nan")}, "infinite"),
        ({"set": {1, 2}}, "type set"),
        ({"deep": deep}, "recursion"),
    ):
        with pytest.raises(CommitmentError, match=reason):
            commit(record)
    with pytest.raises(CommitmentError, match="32 bytes"):
        commit(small_record(), b"short")


# ── Bytes ─────────────────────────────────────────────────────────────────────────────────────────────────


@settings(max_examples=examples(400), deadline=None)
@given(values)
@example(32767.5)
@example(65536.0)
@example(5.960464477539063e-08)
@example(1e-40)
@example(3.4028234663852886e38)
@example(2**64)
@example(-(2**64) - 1)
@example("x" * 255)
@example("é" * 128)
@example("x" * 70_000)
@example(list(range(300)))
def test_cbor_is_what_others_write_and_read(value: Any) -> None:
    written = standalone.encode_cbor(value)
    assert written == cbor2.dumps(value, canonical=True)
    assert cbor2.dumps(standalone.decode_cbor(written), canonical=True) == written


@settings(max_examples=examples(400), deadline=None)
@given(
    some.floats(allow_nan=False, allow_infinity=False)
    | some.floats(width=16, allow_nan=False, allow_infinity=False)
)
@example(65504.0)
@example(-32768.0)
def test_numbers_are_written_as_short_as_they_can_be(number: float) -> None:
    written = standalone.encode_cbor(number)
    shorter = {9: (">f", ">e"), 5: (">e",), 3: ()}[len(written)]
    assert struct.pack(">d", cbor2.loads(written)) == struct.pack(">d", number)
    for form in shorter:
        try:
            assert struct.unpack(form, struct.pack(form, number))[0] != number
        except OverflowError:
            continue


@SETTINGS
@given(records)
def test_a_record_is_the_same_in_json_and_in_cbor(record: Record) -> None:
    for media_type in (standalone.JSON, standalone.CBOR):
        written = standalone.encode_record(record, media_type)
        read = standalone.decode_record(written)
        assert standalone.content_type(written) == media_type
        assert standalone.encode_record(read, media_type) == written
        assert standalone.digest_of(read, SEED) == standalone.digest_of(record, SEED)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "neither JSON nor CBOR"),
        (b"{", "neither JSON nor CBOR"),
        (b'{"a":1,"a":2}', "twice"),
        (b'{"a":{"b":1,"b":1}}', "twice"),
        (b'{"a":NaN}', "no number"),
        (b'{"a":"\xff"}', "neither JSON nor CBOR"),
        (b"[1]", "no map"),
        (b'{"a":' + b"[" * 100_000, "too deep"),
        (b'{"a":' + b"9" * 5_000 + b"}", "neither JSON nor CBOR"),
        (b"\xa1\x61a\x01\x00", "follow"),
        (b"\xa2\x61a\x01\x61a\x02", "twice"),
        (b"\xbf\x61a\x01\x61a\x02\xff", "twice"),
        (b"\xa1\x61a", "too early"),
        (b"\xa1\x61a\x9b\xff\xff\xff\xff\xff\xff\xff\xff", "too early"),
        (b"\xa1\x61a\x5b\x7f\xff\xff\xff\xff\xff\xff\xff", "too early"),
        (b"\xa1\x61a" + b"\x81" * 100_000, "too deep"),
        (b"\xa1\x61a" + b"\xc1" * 100_000, "too deep"),
        (b"\xa1\x61\xff\x01", "not UTF-8"),
        (b"\xa1\x61a\xf7", "means nothing"),
        (b"\xa1\x61a\xfc", "begins nothing"),
        (b"\xa1\x61a\x7f\x01\xff", "something else"),
        (b"\xa1\x80\x01", "neither a text nor a number"),
        (b"\xa1\x01\x01", "no map with names"),
        (b"\xa2\x61a\xa1\x01\x01\x6cx-commitment\x01", "is no text"),
    ],
)
def test_bytes_that_are_no_record_are_refused(content: bytes, reason: str) -> None:
    with pytest.raises(RefusedError, match=reason):
        standalone.decode_record(content)


@SETTINGS
@given(some.binary(max_size=60))
def test_any_bytes_are_read_or_refused(content: bytes) -> None:
    try:
        value = standalone.decode_cbor(content)
    except RefusedError:
        return
    assert standalone.decode_cbor(content) == value or value != value


@pytest.mark.parametrize("value", [{"a": [1, "xy", b"z", {}]}, [], {}])
def test_cbor_without_lengths_is_read(value: Any) -> None:
    assert standalone.decode_cbor(cbor2.dumps(value, indefinite_containers=True)) == value


def test_texts_and_bytes_in_pieces_are_read() -> None:
    assert standalone.decode_cbor(b"\x7f\x61a\x61b\xff") == "ab"
    assert standalone.decode_cbor(b"\x5f\x41a\x41b\xff") == b"ab"


# ── What a commitment may say ─────────────────────────────────────────────────────────────────────────────


def damaged(change: str) -> Record:
    """A redacted record of which one thing in its commitment was changed."""
    record: Record = json.loads(json.dumps(withhold(commit(small_record(), SEED), WITHHELD)))
    commitment = record["x-commitment"]
    seeds, redacted = commitment["seeds"], commitment["redacted"]
    run = next(mark for mark in redacted if "count" in mark)
    match change:
        case "another scheme":
            commitment["scheme"] = "geminids/merkle/2"
        case "no scheme but anything":
            commitment["scheme"] = {"content": "something that nobody signed"}
        case "a list as the scheme":
            commitment["scheme"] = [commitment["scheme"]]
        case "something unknown":
            commitment["note"] = "x"
        case "something unknown in a seed":
            seeds[0]["note"] = "x"
        case "something unknown in a redaction":
            redacted[0]["note"] = "x"
        case "seed in capitals":
            seeds[0]["seed"] = seeds[0]["seed"].upper()
        case "a seed twice":
            seeds.append(seeds[0])
        case "a seed of nothing":
            seeds.append({"at": "/nothing", "seed": "00" * 32})
        case "a seed less":
            del seeds[3]
        case "seeds in another order":
            seeds.reverse()
        case "no pointer":
            seeds[0]["at"] = "id"
        case "a pointer with a bad escape":
            seeds[0]["at"] = "/a~2"
        case "a redaction of nothing":
            redacted.append({"at": "/z", "digests": ["00" * 32], "count": 1})
        case "redactions in another order":
            redacted.reverse()
        case "a redaction less":
            del redacted[1]
        case "a digest more":
            run["digests"].append("00" * 32)
        case "a digest less":
            run["digests"] = []
        case "another count":
            run["count"] += 1
        case "a count of none":
            run["count"] = 0
        case "an endless count":
            run["count"] = 10**30
        case "a count that is no number":
            run["count"] = True
        case "a run without a count":
            del run["count"]
        case "a member with a count":
            redacted[0]["count"] = 1
        case "the whole record taken out":
            redacted.insert(0, {"at": "", "digests": ["00" * 32]})
        case "the version taken out":
            redacted.append({"at": "/version", "digests": ["00" * 32]})
        case "all entries taken out, without a word":
            redacted.append({"at": "/session/entries", "digests": ["00" * 32]})
        case "nothing taken out":
            commitment["redacted"] = []
        case "something in the place of a member":
            record["x-source"] = "[redacted]"
        case "another word in the place of a text":
            record["session"]["entries"][0]["content"] = "[secret]"
        case "no word in the place of a text":
            del record["session"]["entries"][0]["content"]
        case "an entry with more in the place of entries":
            record["session"]["entries"][2]["id"] = "m3"
        case "a member more":
            record["session"]["entries"][0]["note"] = "x"
        case "an entry more":
            record["session"]["entries"].append({"type": "user"})
        case "seeds of pieces for the seed of the whole":
            split_seed(commitment, "/session/agent-meta", record["session"]["agent-meta"])
        case "no commitment":
            record["x-commitment"] = None
    return record


def split_seed(commitment: Record, at: str, members: Record) -> None:
    seeds = commitment["seeds"]
    place = next(index for index, seed in enumerate(seeds) if seed["at"] == at)
    seed = bytes.fromhex(seeds.pop(place)["seed"])
    for key in sorted(members, reverse=True):
        seeds.insert(place, {"at": f"{at}/{key}", "seed": standalone.member_seed(seed, key).hex()})


DAMAGES = [
    ("another scheme", "not known here"),
    ("no scheme but anything", "not known here"),
    ("a list as the scheme", "not known here"),
    ("something unknown", "not of the shape"),
    ("something unknown in a seed", "not of the shape"),
    ("something unknown in a redaction", "not of the shape"),
    ("seed in capitals", "64 hexadecimal digits"),
    ("a seed twice", "twice"),
    ("a seed of nothing", "none is needed"),
    ("a seed less", "no seed"),
    ("seeds in another order", "out of order"),
    ("no pointer", "no JSON pointer"),
    ("a pointer with a bad escape", "no JSON pointer"),
    ("a redaction of nothing", "not one of a member"),
    ("redactions in another order", "out of order"),
    ("a redaction less", "no seed"),
    ("a digest more", "more digests"),
    ("a digest less", "not of the shape"),
    ("another count", "fewer digests"),
    ("a count of none", "not of the shape"),
    ("an endless count", "not of the shape"),
    ("a count that is no number", "not of the shape"),
    ("a run without a count", "how many"),
    ("a member with a count", "not one of a member"),
    ("the whole record taken out", "cannot be removed"),
    ("the version taken out", "cannot be removed"),
    ("all entries taken out, without a word", "cannot be removed"),
    ("nothing taken out", "nothing was removed"),
    ("something in the place of a member", "in its place"),
    ("another word in the place of a text", "in its place"),
    ("no word in the place of a text", "in its place"),
    ("an entry with more in the place of entries", "in its place"),
    ("a member more", "no seed"),
    ("an entry more", "no seed"),
    ("seeds of pieces for the seed of the whole", "nothing was removed from"),
    ("no commitment", "not of the shape"),
]


@pytest.mark.parametrize(("change", "reason"), DAMAGES)
def test_there_is_one_way_to_say_what_was_taken_out(change: str, reason: str) -> None:
    undamaged = damaged("")
    assert standalone.root_of(undamaged).hex() == undamaged["x-commitment"]["root"]
    with pytest.raises(RefusedError, match=reason):
        standalone.root_of(damaged(change))


def test_neighbours_are_taken_out_as_one() -> None:
    record = withhold(commit({**small_record(), "list": [1, 2, 3, 4]}, SEED), ["/list/1"])
    beside = withhold(commit({**small_record(), "list": [1, 2, 3, 4]}, SEED), ["/list/2"])
    marks = record["x-commitment"]["redacted"]
    here = next(index for index, mark in enumerate(marks) if mark["at"] == "/list/1")
    other = next(mark for mark in beside["x-commitment"]["redacted"] if mark["at"] == "/list/2")
    record["list"] = [1, "[redacted]", "[redacted]", 4]
    marks.insert(here + 1, other)
    record["x-commitment"]["seeds"] = [s for s in record["x-commitment"]["seeds"] if s["at"] != "/list/2"]
    with pytest.raises(RefusedError, match="not as one"):
        standalone.root_of(record)


# ── Vectors ───────────────────────────────────────────────────────────────────────────────────────────────


def digests_of(value: Any, seed: bytes, at: str = "") -> dict[str, dict[str, str]]:
    """The seed and the digest of every piece of a value, by its pointer."""
    name = at.rpartition("/")[2]
    found = {at: {"seed": seed.hex(), "digest": digest(value, seed, name).hex()}}
    if name in {"x-native", "x-source"}:
        return found
    if isinstance(value, dict):
        for key, member in sorted(value.items()):
            step = key.replace("~", "~0").replace("/", "~1")
            found |= digests_of(member, h(b"\x02", seed, key.encode()), f"{at}/{step}")
    if isinstance(value, list):
        for index, element in enumerate(value):
            found |= digests_of(element, h(b"\x03", seed, index.to_bytes(8, "big")), f"{at}/{index}")
    return found


def test_vectors_of_the_tree() -> None:
    record = small_record()
    check_golden(VECTORS / "record.json", record)
    check_golden(VECTORS / "digests.json", digests_of(record, SEED))
    written = json.loads((VECTORS / "record.json").read_text("utf-8"))
    for pointer, expected in json.loads((VECTORS / "digests.json").read_text("utf-8")).items():
        path = standalone.path_of(pointer)
        value: Any = written
        for step in path:
            value = value[int(step)] if isinstance(value, list) else value[step]
        seed = bytes.fromhex(expected["seed"])
        whole = path[-1:] and path[-1] in standalone.WHOLES
        found = standalone.leaf_digest(value, seed) if whole else standalone.digest_of(value, seed)
        assert found.hex() == expected["digest"], pointer
