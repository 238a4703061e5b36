"""The verifier: nothing that was changed is accepted, nothing hostile is more than a failed check.

It is one file that is given to people who do not have geminids, so it also runs here as such.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from time import process_time
from typing import Any

import cbor2
import cryptography
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as some

from geminids.sharing.records import standalone
from geminids.sharing.records.commitment import commit
from geminids.sharing.records.redaction import withhold
from geminids.sharing.records.signature import statement
from geminids.sharing.records.standalone import Tagged, Verdict, encode_cbor, verify
from tests.conftest import FIXTURES
from tests.support.examples import examples
from tests.support.record_making import (
    CLAIMS,
    ED25519_KEY,
    KEYS,
    PUBLIC_KEYS,
    SEED,
    SESSION,
    Record,
    Signed,
    records,
    signed_in_every_way,
    small_record,
    source_file,
    values,
)

VECTORS = FIXTURES / "records"
SCRIPT = Path(standalone.__file__)
WAYS = [signed.name for signed in signed_in_every_way(small_record(), ED25519_KEY)]


@cache
def made(way: str, algorithm: str = "ed25519") -> Signed:
    every = signed_in_every_way(small_record(), KEYS[algorithm])
    return next(signed for signed in every if signed.name == way)


@cache
def made_small(way: str) -> Signed:
    """The same of a record that is as small as one can be with a redaction in a list, a map and a run."""
    record: Record = {
        "version": "3",
        "id": "r",
        "session": {
            "session-id": "s",
            "session-start": 5,
            "agent-meta": {},
            "entries": [
                {"type": "user", "content": "a"},
                {"type": "user"},
                {"type": "user", "n": [0.5, None, True]},
            ],
        },
    }
    places = ["/session/entries/0", "/session/entries/1", "/session/entries/2/n/1"]
    every = signed_in_every_way(record, ED25519_KEY, places)
    return next(signed for signed in every if signed.name == way)


def look(signed: Signed) -> Verdict:
    return verify(signed.signed, record=signed.record, keys=PUBLIC_KEYS)


# ── Nothing that was changed is accepted ──────────────────────────────────────────────────────────────────


def with_one_byte_changed(content: bytes) -> Iterator[bytes]:
    """Each byte changed once, in ways that take turns: one bit, the case of a letter, all of it."""
    for position, byte in enumerate(content):
        mask = (0x01, 0x20, 0xFF, 0x80, 0x10, 0x02)[position % 6]
        yield content[:position] + bytes((byte ^ mask,)) + content[position + 1 :]


@pytest.mark.parametrize("way", WAYS)
def test_no_byte_can_be_changed(way: str) -> None:
    signed = made_small(way)
    assert look(signed).holds
    for changed in with_one_byte_changed(signed.signed):
        assert not look(signed._replace(signed=changed)).holds
    for changed in with_one_byte_changed(signed.record or b""):
        assert not look(signed._replace(record=changed)).holds


@pytest.mark.parametrize("way", WAYS)
def test_nothing_can_be_cut_off_or_added(way: str) -> None:
    signed = made_small(way)
    for length in range(len(signed.signed)):
        assert not look(signed._replace(signed=signed.signed[:length])).holds
    for length in range(len(signed.record or b"")):
        assert not look(signed._replace(record=(signed.record or b"")[:length])).holds
    for byte in range(256):
        assert not look(signed._replace(signed=signed.signed + bytes((byte,)))).holds
        assert not look(signed._replace(signed=bytes((byte,)) + signed.signed)).holds
        if signed.record is not None:
            assert not look(signed._replace(record=signed.record + bytes((byte,)))).holds


changes = some.tuples(
    some.sampled_from(["flip", "insert", "delete", "double", "swap", "cut", "append", "truncate"]),
    some.integers(0, 2**32),
    some.integers(1, 255),
    some.integers(1, 60),
)


def changed_by(content: bytes, change: tuple[str, int, int, int]) -> bytes:
    kind, where, byte, length = change
    at = where % (len(content) + 1)
    before, after = content[:at], content[at:]
    match kind:
        case "flip":
            return before + bytes(value ^ byte for value in after[:1]) + after[1:]
        case "insert":
            return before + bytes((byte,)) + after
        case "delete":
            return before + after[1:]
        case "double":
            return before + after[:length] + after
        case "swap":
            return before + after[1:2] + after[:1] + after[2:]
        case "cut":
            return before + after[length:]
        case "append":
            return content + bytes((byte,)) * length
        case _:
            return before


@settings(max_examples=examples(600), deadline=None)
@given(some.sampled_from(WAYS), some.sampled_from([*KEYS]), some.booleans(), changes)
def test_no_change_of_any_kind_is_accepted(
    way: str, algorithm: str, in_record: bool, change: tuple[str, int, int, int]
) -> None:
    signed = made(way, algorithm)
    if in_record and signed.record is not None:
        changed = signed._replace(record=changed_by(signed.record, change))
    else:
        changed = signed._replace(signed=changed_by(signed.signed, change))
    assume(changed != signed)
    assert look(signed).holds
    assert not look(changed).holds


def holders_in(value: Any) -> Iterator[Any]:
    """Every map and list in a value that holds something."""
    if isinstance(value, dict | list) and value:
        yield value
        for inner in value.values() if isinstance(value, dict) else value:
            yield from holders_in(inner)


@settings(max_examples=examples(400), deadline=None)
@given(some.data(), some.sampled_from(["replace", "delete", "rename", "double", "swap", "hide"]), values)
def test_no_redacted_record_can_be_made_to_say_anything_else(
    data: some.DataObject, change: str, value: Any
) -> None:
    signed = made("excerpt.json.detached")
    record = json.loads(signed.record or b"")
    holder = data.draw(some.sampled_from(list(holders_in(record))))
    place: Any = data.draw(some.sampled_from([*holder] if isinstance(holder, dict) else range(len(holder))))
    other: Any = data.draw(some.sampled_from([*holder] if isinstance(holder, dict) else range(len(holder))))
    match change:
        case "replace":
            holder[place] = value
        case "delete":
            del holder[place]
        case "rename" if isinstance(holder, dict):
            holder[f"{place}x"] = holder.pop(place)
        case "double":
            holder.insert(place, holder[place]) if isinstance(holder, list) else holder.update(
                x=holder[place]
            )
        case "swap":
            holder[place], holder[other] = holder[other], holder[place]
        case "hide" if isinstance(holder, dict):
            # As somebody would who takes more out without knowing how.
            holder.pop(place)
            record.setdefault("x-commitment", {}).setdefault("redacted", []).append(
                {"at": f"/{place}", "digests": ["00" * 32]}
            )
    content = standalone.encode_json(record)
    assume(content != signed.record)
    assert not look(signed._replace(record=content)).holds


def of_another_record(**members: Any) -> Record:
    other = small_record() | members
    other["session"]["entries"][1]["content"] = "no"
    return other


@pytest.mark.parametrize("other_id", ["record-1", "record-2"])
@pytest.mark.parametrize("form", ["json", "cbor"])
def test_parts_of_two_statements_make_no_third(form: str, other_id: str) -> None:
    one = {signed.name: signed for signed in signed_in_every_way(small_record(), ED25519_KEY)}
    record = of_another_record(id=other_id)
    two = {signed.name: signed for signed in signed_in_every_way(record, ED25519_KEY)}
    for way in (f"statement.{form}", f"excerpt.{form}"):
        assert look(two[way]).holds
        ours, theirs = (cbor2.loads(signed[way].signed).value for signed in (one, two))
        for part in range(4):
            mixed = [theirs[index] if index == part else ours[index] for index in range(4)]
            assert mixed == ours or not look(Signed(way, encode_cbor(Tagged(18, mixed)), None)).holds, part
        for label in ours[1]:
            headers = {**ours[1], label: theirs[1][label]}
            mixed = [ours[0], headers, *ours[2:]]
            assert not look(Signed(way, encode_cbor(Tagged(18, mixed)), None)).holds, label
        apart = f"{way}.detached"
        assert not look(one[apart]._replace(record=two[apart].record)).holds
        assert not look(one[apart]._replace(signed=two[apart].signed)).holds


def test_a_seal_is_no_statement_and_a_statement_no_seal() -> None:
    signed = standalone.open_envelope(made("statement.json").signed)
    seal = signed.unsigned["geminids-seal"]
    content = signed.payload or b""
    assert not verify(seal, keys=PUBLIC_KEYS).holds
    # The whole record beside its seal is an excerpt from which nothing is missing.
    whole = verify(seal, record=content, keys=PUBLIC_KEYS)
    assert whole.holds
    assert whole.form == "excerpt"
    assert whole.redactions == ()
    opened = standalone.open_envelope(seal)
    as_statement = standalone.close_envelope(opened._replace(unsigned=signed.unsigned))
    assert not verify(as_statement, record=content, keys=PUBLIC_KEYS).holds
    as_seal = standalone.close_envelope(signed._replace(unsigned={"geminids-record": content}))
    assert not verify(as_seal, record=content, keys=PUBLIC_KEYS).holds


@pytest.mark.parametrize("label", [5, 33, 394, 271, "note", 2**70])
def test_nothing_can_be_added_to_our_headers(label: int | str) -> None:
    for way in ("statement.json", "excerpt.json"):
        envelope = standalone.open_envelope(made(way).signed)
        more = standalone.close_envelope(envelope._replace(unsigned={**envelope.unsigned, label: b""}))
        verdict = verify(more, keys=PUBLIC_KEYS)
        assert [check.name for check in verdict.checks if check.holds is False] == ["envelope"]


@pytest.mark.parametrize("way", ["statement.json", "excerpt.json", "excerpt.cbor"])
def test_the_same_in_another_form_is_refused(way: str) -> None:
    signed = made(way)
    tag = cbor2.loads(signed.signed)
    reordered = cbor2.CBORTag(18, [tag.value[0], dict(reversed(tag.value[1].items())), *tag.value[2:]])
    others = [cbor2.dumps(tag, indefinite_containers=True), b"\xd8\x12" + signed.signed[1:]]
    others += [cbor2.dumps(reordered)] if len(tag.value[1]) > 1 else []
    for other in others:
        assert cbor2.loads(other) == tag
        assert other != signed.signed
        assert not verify(other, keys=PUBLIC_KEYS).holds


def one_line(record: Record) -> bytes:
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode()


def test_an_excerpt_of_the_same_record_in_another_form_is_refused() -> None:
    signed = made("excerpt.json.detached")
    record = json.loads(signed.record or b"")
    for content in (
        json.dumps(record).encode(),
        one_line(dict(reversed(record.items()))),
        (signed.record or b"") + b"\n",
        cbor2.dumps(record),
        b"\xd9\x10\x35" + cbor2.dumps(record, canonical=True),
        (signed.record or b"").replace(b'"input":120', b'"input":120.0'),
        (signed.record or b"").replace(b'"cost":0.0125', b'"cost":1.25e-2'),
    ):
        assert content != signed.record
        assert not look(signed._replace(record=content)).holds
    assert one_line(record) == signed.record
    assert look(signed._replace(record=encode_cbor(record))).holds


# ── Hostile files ─────────────────────────────────────────────────────────────────────────────────────────

DEEP_LIST = b"\x81" * 200_000
DEEP_JSON = b'{"id":"record-1","session":{"session-id":"' + SESSION.encode() + b'","a":' + b"[" * 200_000
HUGE = [
    DEEP_LIST,
    b"\xa1\x01" * 200_000,
    b"\xc1" * 200_000,
    b"\xd2\x84" + DEEP_LIST,
    b"\xd2\x84\x40\xa0\xf6" + b"\x5b" + b"\xff" * 8,
    b"\xd2\x84\x40\xa0\xf6" + b"\x9b" + b"\xff" * 8,
    b"\xd2\x84\x40\xbb" + b"\xff" * 8,
    b"\xd2\x84\x5a\x00\x03\x0d\x40" + DEEP_LIST + b"\xa0\xf6\x40",
    b"\xd2\x84\x43\xa1\x01\xc2\xa0\xf6\x40",
    b"\xd2\x9f\xff",
    b"\x9f" * 200_000,
    b"\x7f" * 200_000,
    b"\xd8\x1d\x00",
    b"\xc5\x82\x1b\x7f\xff\xff\xff\xff\xff\xff\xff\x01",
    b"\xd8\x23\x78\x20" + b"(a+)+$" * 6,
]


@pytest.mark.parametrize("content", HUGE, ids=lambda content: content[:8].hex())
def test_hostile_bytes_fail_a_check(content: bytes) -> None:
    for verdict in (
        verify(content),
        verify(content, record=content, keys=PUBLIC_KEYS, sources=[("x", content)], previous=content),
        verify(made("statement.json.detached").signed, record=content, keys=PUBLIC_KEYS),
        verify(made("excerpt.json.detached").signed, record=content, keys=PUBLIC_KEYS),
        verify(made("excerpt.json.detached").signed, record=DEEP_JSON, keys=PUBLIC_KEYS),
        verify(made("statement.json").signed, keys=PUBLIC_KEYS, previous=content),
    ):
        assert not verdict.holds
        assert all(check.detail for check in verdict.checks)


@settings(max_examples=examples(400), deadline=None)
@given(some.binary(max_size=80), some.binary(max_size=80))
def test_any_bytes_fail_a_check(signed: bytes, record: bytes) -> None:
    for beginning in (b"", b"\xd2\x84", b"\xd2\x84\x58\x20"):
        verdict = verify(beginning + signed, record=record, keys=PUBLIC_KEYS, previous=record)
        assert not verdict.holds


headers = some.dictionaries(
    some.sampled_from(
        [1, 3, 4, 15, 33, 100, 269, 270, 2**80, "geminids", "geminids-seal", "geminids-record"]
    ),
    values
    | some.binary(max_size=8)
    | some.sampled_from([-8, -7, {1: "i", 2: SESSION, 6: 1}, {"version": 1, "kind": "seal"}, 2**99_999])
    | some.fixed_dictionaries(
        {"version": some.just(1), "kind": some.just("statement")}, optional={"chain": values}
    ),
    max_size=6,
)


@settings(max_examples=examples(200), deadline=None)
@given(headers, headers, some.none() | some.binary(max_size=30), some.binary(max_size=64))
def test_any_headers_fail_a_check(
    protected: dict[Any, Any], unprotected: dict[Any, Any], payload: bytes | None, signature: bytes
) -> None:
    content = encode_cbor(Tagged(18, [encode_cbor(protected), unprotected, payload, signature]))
    record = standalone.encode_json(small_record())
    verdict = verify(content, record=record, keys=PUBLIC_KEYS, previous=content)
    assert not verdict.holds
    json.dumps(standalone.as_json(verdict))
    "".join(standalone._lines("file", verdict))


odd_commitments = some.fixed_dictionaries(
    {"scheme": some.just(standalone.SCHEME)},
    optional={
        "root": some.just("00" * 32) | values,
        "seed": some.just("00" * 32) | values,
        "seeds": some.lists(
            some.fixed_dictionaries(
                {"at": some.sampled_from(["", "/", "/id", "/session", "/session/entries/0"]) | values},
                optional={"seed": some.just("00" * 32)},
            )
        )
        | values,
        "redacted": some.lists(
            some.fixed_dictionaries(
                {
                    "at": some.sampled_from(["", "/", "/id", "/more", "/more/0", "/session/entries/0"])
                    | values
                },
                optional={"digests": some.just(["00" * 32]), "count": some.integers(-1, 2**60) | values},
            )
        )
        | values,
    },
)


@settings(max_examples=examples(300), deadline=None)
@given(records, odd_commitments | values, values, values)
def test_any_record_that_was_not_signed_fails_a_check(
    record: Record, commitment: Any, source: Any, entries: Any
) -> None:
    record = {**record, "x-commitment": commitment, "x-source": source, "id": "record-1"}
    record["session"] = {**record["session"], "session-id": SESSION, "more": entries}
    for odd in (record, {**record, "session": {"session-id": SESSION, "entries": entries}}):
        for form in (standalone.encode_json(odd), encode_cbor(odd)):
            for way in ("statement.json.detached", "excerpt.json.detached"):
                signed = made(way).signed
                verdict = verify(signed, record=form, keys=PUBLIC_KEYS, sources=[("s", source_file())])
                assert not verdict.holds


def test_half_a_character_in_a_record_fails_a_check() -> None:
    for way in ("statement.json.detached", "excerpt.json.detached"):
        signed = made(way)
        for old in (b'"gemini-3-pro"', b'"google"', b'"2026-06-15T12:00:00Z"', b'"record-1"', b'"user"'):
            changed = (signed.record or b"").replace(old, b'"\\ud83d"')
            assert changed != signed.record
            assert not look(signed._replace(record=changed)).holds


EXCHANGED: tuple[Any, ...] = (
    *(None, True, False, 0, 1, 1.0, -0.0, "", "[redacted]", [], {}, ["[redacted]"]),
    {"type": "system-event", "event-type": "redacted"},
)
"""What is put in the place of every single thing."""


def exchanged(value: Any) -> Iterator[Any]:
    """A value with one thing in it exchanged or left out, in every place."""
    yield from (other for other in EXCHANGED if repr(other) != repr(value))
    if isinstance(value, dict):
        yield {**value, "more": 1}
        for key, member in value.items():
            yield {other: value[other] for other in value if other != key}
            yield from ({**value, key: other} for other in exchanged(member))
    elif isinstance(value, list):
        yield [*value, *value[:1]]
        for index, element in enumerate(value):
            yield [*value[:index], *value[index + 1 :]]
            yield from ([*value[:index], other, *value[index + 1 :]] for other in exchanged(element))
    elif isinstance(value, str):
        yield from (value + " ", [value], {value: value})
    elif isinstance(value, int) and not isinstance(value, bool):
        yield from (float(value), -value, value + 1)


@pytest.mark.parametrize("way", ["excerpt.json.detached", "excerpt.cbor.detached"])
def test_nothing_in_an_excerpt_can_be_exchanged(way: str) -> None:
    signed = made_small(way)
    assert look(signed).holds
    record = standalone.decode_record(signed.record or b"")
    media_type = standalone.content_type(signed.record or b"") or ""
    others = {standalone.encode_record(o, media_type) for o in exchanged(record) if isinstance(o, dict)}
    others.discard(signed.record or b"")
    assert len(others) > 500
    for other in others:
        assert not look(signed._replace(record=other)).holds, other


def test_a_record_may_name_any_number_of_files() -> None:
    content = bytes(2 << 20)
    half = standalone.sha256(content[: 1 << 20]).hexdigest()
    files = [
        {"path": "a", "size": size, "sha256": "00" * 32} for size in range((1 << 20) + 1, (1 << 20) + 30_000)
    ]
    record = {**small_record(), "x-source": [*files, {"path": "b", "size": 1 << 20, "sha256": half}]}
    for entry in record["session"]["entries"]:
        entry.pop("x-source", None)
    signed = statement(standalone.encode_json(record), record, ED25519_KEY, CLAIMS)
    before = process_time()
    verdict = verify(signed, keys=PUBLIC_KEYS, sources=[("b", content)])
    assert verdict.holds
    assert "grown" in next(check.detail for check in verdict.checks if check.name == "sources")
    # Hashing every beginning by itself takes more than ten times as long.
    assert process_time() - before < 10


# ── As a program of its own ───────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The verifier alone in a folder, run by a Python that has nothing but what it needs."""
    folder = tmp_path_factory.mktemp("alone")
    shutil.copy(SCRIPT, folder / "verify_record.py")
    packages = folder / "packages"
    packages.mkdir()
    installed = Path(cryptography.__file__).parent.parent
    for name in (
        "cryptography",
        "cffi",
        "pycparser",
        *(path.name for path in installed.glob("_cffi_backend*")),
    ):
        if (installed / name).exists():
            (packages / name).symlink_to(installed / name)
    start = f"import sys, runpy; sys.path.append({str(packages)!r}); sys.argv = sys.argv[1:]; "
    return [
        *(sys.executable, "-I", "-S", "-W", "error", "-c"),
        start + "runpy.run_path(sys.argv[0], run_name='__main__')",
        str(folder / "verify_record.py"),
    ]


def run(script: list[str], *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [*script, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, encoding="utf-8", check=False, timeout=60)


def test_the_script_imports_nothing_of_ours() -> None:
    imported = re.findall(r"^\s*(?:from|import) ([\w.]+)", SCRIPT.read_text("utf-8"), re.MULTILINE)
    others = {name.partition(".")[0] for name in imported} - set(sys.stdlib_module_names)
    assert others == {"cryptography"}


@pytest.mark.parametrize("way", WAYS)
def test_the_script_agrees_about_the_vectors(script: list[str], way: str) -> None:
    folder = VECTORS / "signed"
    record = ("--record", folder / f"{way}.record") if "detached" in way else ()
    for algorithm in KEYS:
        path, key = folder / f"{way}.{algorithm}.cose", folder / f"{algorithm}.pub.pem"
        outcome = run(script, path, "--key", key, *record, "--json")
        assert outcome.returncode == 0, outcome
        told = json.loads(outcome.stdout)
        verdict = verify(
            path.read_bytes(), record=record[1].read_bytes() if record else None, keys=PUBLIC_KEYS
        )
        assert told == json.loads(json.dumps(standalone.as_json(verdict)))
        assert told["holds"]
        assert "what a model really did" in told["not_proven"]


@pytest.mark.slow
def test_the_script_tells_people(script: list[str], tmp_path: Path) -> None:
    folder = VECTORS / "signed"
    key = folder / "ed25519.pub.pem"
    source = tmp_path / "s.jsonl"
    source.write_bytes(source_file())
    holds = run(script, folder / "statement.json.ed25519.cose", "--key", key, "--source", source)
    assert holds.returncode == 0
    assert ": VALID\n" in holds.stdout
    assert "3 parts were found at the recorded places" in holds.stdout
    assert "Not proven: who holds the key" in holds.stdout
    taken = run(script, folder / "excerpt.json.ed25519.cose", "--key", key)
    assert taken.returncode == 0
    assert "Taken out: /session/entries/1/children/1\n" in taken.stdout
    changed = tmp_path / "changed.cose"
    changed.write_bytes((folder / "statement.json.ed25519.cose").read_bytes().replace(b"Ports", b"Parts"))
    fails = run(script, changed, "--key", key)
    assert fails.returncode == 1
    assert ": NOT VALID\n" in fails.stdout
    assert "Proven: nothing" in fails.stdout
    assert run(script, folder / "statement.json.ed25519.cose").returncode == 1
    wrong = run(script, folder / "statement.json.ed25519.cose", "--key", source)
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "no PEM public key" in wrong.stderr
    assert run(script, tmp_path / "missing").returncode == 2
    assert run(script).returncode == 2


def test_the_script_follows_a_chain_and_shows_hostile_words_safely(script: list[str], tmp_path: Path) -> None:
    record = small_record()
    content = standalone.encode_json(record)
    claims = CLAIMS._replace(issuer="evil \x1b[31m\u202e 端口")
    first, second = tmp_path / "1.cose", tmp_path / "2.cose"
    first.write_bytes(statement(content, record, ED25519_KEY, claims, chain={"sequence": 1}))
    link = {"sequence": 2, "previous": standalone.sha256(first.read_bytes()).digest()}
    second.write_bytes(statement(content, record, ED25519_KEY, claims, chain=link))
    key = VECTORS / "signed" / "ed25519.pub.pem"
    outcome = run(script, second, "--key", key, "--previous", first)
    assert outcome.returncode == 0
    assert "\x1b" not in outcome.stdout
    assert "\u202e" not in outcome.stdout
    assert "端口" in outcome.stdout
    assert run(script, second, "--key", key, "--previous", second).returncode == 1


def test_a_public_key_of_another_kind_is_refused() -> None:
    from cryptography.hazmat.primitives.asymmetric.ec import SECP384R1, generate_private_key

    from tests.support.record_making import pem_of

    with pytest.raises(standalone.RefusedError, match="neither one for Ed25519"):
        standalone.load_public_key(pem_of(generate_private_key(SECP384R1())))


def test_a_long_record_with_many_redactions_is_checked_quickly() -> None:
    record = small_record()
    record["session"]["entries"] = [
        {"type": "user", "id": str(index), "content": f"message {index}"} for index in range(3_000)
    ]
    left = withhold(commit(record, SEED), [f"/session/entries/{index}" for index in range(0, 3_000, 3)])
    assert standalone.root_of(left).hex() == left["x-commitment"]["root"]
    assert len(left["x-commitment"]["redacted"]) > 1_000
