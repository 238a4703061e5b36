"""Signed records: what others make of ours, what we make of others', and what is refused to be signed."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import cbor2
import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP384R1, generate_private_key
from cwt import COSE, COSEKey
from cwt.cose_key_interface import COSEKeyInterface

from geminids.sharing.records import standalone
from geminids.sharing.records.commitment import commit
from geminids.sharing.records.errors import ExcerptError, SigningError
from geminids.sharing.records.redaction import withhold
from geminids.sharing.records.signature import excerpt, sign1, statement, with_token
from geminids.sharing.records.standalone import Check, Verdict, key_id, load_public_key, verify
from tests.conftest import CORPUS, FIXTURES
from tests.support.record_making import (
    CLAIMS,
    ED25519_KEY,
    ES256_KEY,
    KEYS,
    OTHER_KEY,
    PUBLIC_KEYS,
    SEED,
    WITHHELD,
    PrivateKey,
    Record,
    Signed,
    pem_of,
    signed_in_every_way,
    small_record,
    source_file,
)

VECTORS = FIXTURES / "records"
SIGNED = CORPUS / "vac" / "signed"
COMMITTED = commit(small_record(), SEED)
CONTENT = standalone.encode_json(COMMITTED)
WAYS = [signed.name for signed in signed_in_every_way(small_record(), ED25519_KEY)]


def check(verdict: Verdict, name: str) -> Check:
    return next(check for check in verdict.checks if check.name == name)


def failed(verdict: Verdict) -> list[str]:
    return [check.name for check in verdict.checks if check.holds is False]


def made(name: str, key: PrivateKey = ED25519_KEY) -> Signed:
    return next(signed for signed in signed_in_every_way(small_record(), key) if signed.name == name)


# ── What others make of ours ──────────────────────────────────────────────────────────────────────────────


def theirs(key: PrivateKey) -> COSEKeyInterface:
    algorithm = "EdDSA" if key is ED25519_KEY else "ES256"
    return COSEKey.from_pem(pem_of(key), alg=algorithm, kid=key_id(key.public_key()))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("algorithm", KEYS)
def test_another_library_verifies_what_we_sign(way: str, algorithm: str) -> None:
    key = KEYS[algorithm]
    signed = made(way, key)
    detached = signed.record if "statement" in way else None
    protected, unprotected, payload = COSE.new().decode_with_headers(
        signed.signed, theirs(key), detached_payload=detached
    )
    assert protected[15] == {1: CLAIMS.issuer, 2: CLAIMS.subject, 6: CLAIMS.issued_at}
    assert protected[4] == key_id(key.public_key())
    if "statement" in way:
        assert (
            protected["geminids"]["metadata"]
            == hashlib.sha256(cbor2.dumps(unprotected[100], canonical=True)).digest()
        )
        assert unprotected[100]["content-hash"] == hashlib.sha256(payload).hexdigest()
        seal = unprotected["geminids-seal"]
        assert protected["geminids"]["seal"] == hashlib.sha256(seal).digest()
        payload = COSE.new().decode(seal, theirs(key))
    root = bytes.fromhex(COMMITTED["x-commitment"]["root"])
    assert cbor2.loads(payload) == {"scheme": "geminids/merkle/1", "root": root, "record": "record-1"}


def test_another_library_refuses_what_was_changed() -> None:
    signed = made("statement.json").signed
    changed = signed.replace(b"Ports", b"Parts")
    with pytest.raises(Exception, match="Failed to verify"):
        COSE.new().decode(changed, theirs(ED25519_KEY))


# ── What we make of ours ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("algorithm", KEYS)
def test_what_we_sign_holds(way: str, algorithm: str) -> None:
    signed = made(way, KEYS[algorithm])
    verdict = verify(signed.signed, record=signed.record, keys=PUBLIC_KEYS)
    assert verdict.holds, verdict.checks
    assert verdict.form == way.partition(".")[0]
    assert verdict.claims == CLAIMS
    assert verdict.key_id == key_id(KEYS[algorithm].public_key())
    assert verdict.root == bytes.fromhex(COMMITTED["x-commitment"]["root"])
    assert verdict.record is not None
    expected = COMMITTED if verdict.form == "statement" else withhold(COMMITTED, WITHHELD)
    assert standalone.encode_cbor(verdict.record) == standalone.encode_cbor(expected)
    assert {redaction.at for redaction in verdict.redactions} == {
        mark["at"] for mark in expected["x-commitment"].get("redacted", [])
    }


def test_the_key_decides() -> None:
    signed = made("statement.json").signed
    assert "no key given" in check(verify(signed), "signature").detail
    other = check(verify(signed, keys=[OTHER_KEY.public_key()]), "signature")
    assert not other.holds
    assert key_id(OTHER_KEY.public_key()).hex()[:16] in other.detail
    assert key_id(ED25519_KEY.public_key()).hex()[:16] in other.detail
    assert verify(signed, keys=[OTHER_KEY.public_key(), *PUBLIC_KEYS]).holds


def test_the_twin_of_a_signature_is_refused() -> None:
    signed = made("statement.json.detached", ES256_KEY)
    envelope = standalone.open_envelope(signed.signed)
    s = int.from_bytes(envelope.signature[32:])
    twin = envelope.signature[:32] + (standalone.ORDER_OF_P256 - s).to_bytes(32, "big")
    changed = standalone.close_envelope(envelope._replace(signature=twin))
    COSE.new().decode(changed, theirs(ES256_KEY), detached_payload=signed.record)
    assert failed(verify(changed, record=signed.record, keys=PUBLIC_KEYS)) == ["signature"]


def test_a_key_of_one_kind_does_not_do_for_another() -> None:
    protected: dict[int | str, Any] = {
        3: standalone.JSON,
        15: {1: "i", 2: CLAIMS.subject, 6: 1},
        "geminids": {"version": 1, "kind": "statement"},
    }
    envelope = standalone.open_envelope(sign1(CONTENT, ED25519_KEY, protected, {}))
    as_es256 = standalone.encode_cbor({**envelope.signed, 1: standalone.ES256})
    signature = ED25519_KEY.sign(standalone.to_be_signed(as_es256, CONTENT))
    changed = standalone.close_envelope(envelope._replace(protected=as_es256, signature=signature))
    assert "signature" in failed(verify(changed, keys=PUBLIC_KEYS))


def test_a_record_that_is_not_there_is_asked_for() -> None:
    for way in ("statement.json.detached", "excerpt.json.detached"):
        signed = made(way)
        verdict = verify(signed.signed, keys=PUBLIC_KEYS)
        assert not verdict.holds
        assert "not given" in check(verdict, "signature").detail
        assert verify(signed.signed, record=signed.record, keys=PUBLIC_KEYS).holds


def test_a_copy_of_the_record_beside_it_has_to_be_the_same() -> None:
    for way in ("statement.json", "excerpt.json"):
        signed = made(way).signed
        content = verify(signed).record_bytes
        assert content is not None
        assert verify(signed, record=content, keys=PUBLIC_KEYS).holds
        assert failed(verify(signed, record=content + b" ", keys=PUBLIC_KEYS)) == ["given record"]


def test_a_record_without_a_commitment_is_signed_without_a_seal() -> None:
    record = small_record()
    content = json.dumps(record, indent=2).encode()
    signed = statement(content, record, ED25519_KEY, CLAIMS)
    verdict = verify(signed, keys=PUBLIC_KEYS)
    assert verdict.holds
    assert check(verdict, "seal").holds is None
    assert check(verdict, "commitment").holds is None
    with pytest.raises(ExcerptError, match="no seal"):
        excerpt(signed, content)


def test_a_session_that_began_nobody_knows_when_has_no_metadata() -> None:
    record = small_record()
    del record["session"]["session-start"]
    at_first_entry = statement(standalone.encode_json(record), record, ED25519_KEY, CLAIMS)
    assert (verify(at_first_entry).metadata or {})["timestamp-start"] == "2026-06-15T12:00:05Z"
    del record["session"]["entries"][1]["timestamp"]
    signed = statement(standalone.encode_json(record), record, ED25519_KEY, CLAIMS)
    verdict = verify(signed, keys=PUBLIC_KEYS)
    assert verdict.holds
    assert verdict.metadata is None


def test_a_redacted_record_can_be_signed_as_it_is() -> None:
    left = withhold(COMMITTED, WITHHELD)
    content = standalone.encode_json(left)
    signed = statement(content, left, ED25519_KEY, CLAIMS)
    verdict = verify(signed, keys=PUBLIC_KEYS)
    assert verdict.holds
    assert verdict.form == "statement"
    assert len(verdict.redactions) == len(left["x-commitment"]["redacted"])
    assert "listed" in standalone.proven(verdict)


def test_an_excerpt_is_made_of_an_excerpt() -> None:
    first = made("excerpt.json").signed
    record = verify(first).record
    assert record is not None
    less = withhold(record, ["/session/entries/3", "/session/environment/working-dir"])
    second = excerpt(first, standalone.encode_json(less))
    verdict = verify(second, keys=PUBLIC_KEYS)
    assert verdict.holds
    assert len(verdict.redactions) == 9
    assert standalone.encode_cbor(less) == standalone.encode_cbor(
        withhold(COMMITTED, [*WITHHELD, "/session/entries/3", "/session/environment/working-dir"])
    )


def test_what_cannot_be_signed_is_refused() -> None:
    with pytest.raises(SigningError, match="another session"):
        statement(CONTENT, COMMITTED, ED25519_KEY, CLAIMS._replace(subject="other"))
    with pytest.raises(SigningError, match="neither JSON nor CBOR"):
        statement(b"text", COMMITTED, ED25519_KEY, CLAIMS)
    with pytest.raises(SigningError, match="P-256"):
        statement(CONTENT, COMMITTED, generate_private_key(SECP384R1()), CLAIMS)
    with pytest.raises(SigningError, match="changed after"):
        statement(CONTENT, {**COMMITTED, "more": 1}, ED25519_KEY, CLAIMS)
    with pytest.raises(SigningError, match="not of the shape"):
        statement(CONTENT, {**COMMITTED, "x-commitment": {}}, ED25519_KEY, CLAIMS)
    with pytest.raises(SigningError, match="not a signed record"):
        with_token(CONTENT[:0] + b"\x01", b"")


def test_what_no_signature_would_prove_makes_no_excerpt() -> None:
    signed = made("statement.json").signed
    left = withhold(COMMITTED, WITHHELD)
    for record, reason in (
        (small_record(), "not of the shape"),
        (withhold(commit(small_record()), WITHHELD), "not the one that was signed"),
        (left | {"id": "other"}, "not the one that was signed"),
        (left | {"more": 1}, "no seed"),
    ):
        with pytest.raises(ExcerptError, match=reason):
            excerpt(signed, standalone.encode_json(record))
    with pytest.raises(ExcerptError, match="one form"):
        excerpt(signed, json.dumps(left).encode())
    with pytest.raises(ExcerptError, match="not a signed record"):
        excerpt(b"\x01", standalone.encode_json(left))


# ── Sources, chains and time stamps ───────────────────────────────────────────────────────────────────────


def test_the_files_of_the_agent_are_compared() -> None:
    signed = made("statement.json").signed
    source = source_file()

    def sources(*given: tuple[str, bytes]) -> Check:
        verdict = verify(signed, keys=PUBLIC_KEYS, sources=given)
        assert verdict.holds is (check(verdict, "sources").holds is not False)
        return check(verdict, "sources")

    assert sources().holds is None
    assert sources(("copy.jsonl", source)).holds
    assert "3 parts were found" in sources(("copy.jsonl", source)).detail
    assert "grown" in sources(("s.jsonl", source + b"{}\n")).detail
    assert sources(("s.jsonl", source + b"{}\n")).holds
    assert "shorter" in sources(("elsewhere/s.jsonl", source[:-1])).detail
    assert "1 bytes are missing" in sources(("elsewhere/s.jsonl", source[:-1])).detail
    assert "not as it was" in sources(("s.jsonl", source.replace(b"yes", b"no!"))).detail
    assert "not a file of this record" in sources(("other.jsonl", b"{}")).detail
    assert not sources(("s.jsonl", source), ("other.jsonl", b"{}")).holds


def test_a_record_that_says_another_place_of_its_source_fails() -> None:
    for change, reason in (
        ({"start": 1}, "does not stand where it says"),
        ({"end": 10**12}, "does not stand where it says"),
        ({"start": -5}, "does not stand where it says"),
        ({"sha256": "00" * 32}, "does not stand where it says"),
        ({"start": "0"}, "does not say properly"),
        ({"file": 7}, "not given"),
        ({"file": "0"}, "does not say properly"),
    ):
        record = small_record()
        record["session"]["entries"][1]["x-source"][0] |= change
        signed = statement(standalone.encode_json(record), record, ED25519_KEY, CLAIMS)
        verdict = verify(signed, keys=PUBLIC_KEYS, sources=[("s.jsonl", source_file())])
        assert reason in check(verdict, "sources").detail
        assert verdict.holds is (change == {"file": 7})


def test_a_place_without_a_hash_is_only_a_place() -> None:
    record = small_record()
    del record["session"]["entries"][1]["x-source"][0]["sha256"]
    signed = statement(standalone.encode_json(record), record, ED25519_KEY, CLAIMS)
    verdict = verify(signed, keys=PUBLIC_KEYS, sources=[("s.jsonl", source_file())])
    assert "2 parts were found" in check(verdict, "sources").detail
    assert verdict.holds


def test_an_excerpt_no_longer_tells_its_sources() -> None:
    verdict = verify(made("excerpt.json").signed, keys=PUBLIC_KEYS, sources=[("s.jsonl", source_file())])
    assert failed(verdict) == ["sources"]


def test_statements_are_linked() -> None:
    first = statement(CONTENT, COMMITTED, ED25519_KEY, CLAIMS, chain={"sequence": 1})
    link = {"sequence": 2, "previous": hashlib.sha256(first).digest()}
    second = statement(CONTENT, COMMITTED, ED25519_KEY, CLAIMS, chain=link)
    assert verify(first, keys=PUBLIC_KEYS).chain == {"sequence": 1}
    verdict = verify(second, keys=PUBLIC_KEYS, previous=first)
    assert verdict.holds
    assert verdict.chain == link
    assert check(verdict, "chain").holds
    assert "not given" in check(verify(second, keys=PUBLIC_KEYS), "chain").detail
    for signed, previous in ((second, second), (second, first + b"\0"), (first, second), (second, b"")):
        assert failed(verify(signed, keys=PUBLIC_KEYS, previous=previous)) == ["chain"]
    assert failed(verify(made("excerpt.json").signed, keys=PUBLIC_KEYS, previous=first)) == ["chain"]


def test_a_link_to_another_session_fails() -> None:
    other = small_record()
    other["session"]["session-id"] = "another"
    claims = CLAIMS._replace(subject="another")
    before = statement(standalone.encode_json(other), other, ED25519_KEY, claims)
    link = {"sequence": 2, "previous": hashlib.sha256(before).digest()}
    signed = statement(CONTENT, COMMITTED, ED25519_KEY, CLAIMS, chain=link)
    verdict = verify(signed, keys=PUBLIC_KEYS, previous=before)
    assert "another session" in check(verdict, "chain").detail
    broken = statement(
        CONTENT, COMMITTED, ED25519_KEY, CLAIMS, chain={"previous": hashlib.sha256(b"no statement").digest()}
    )
    assert failed(verify(broken, keys=PUBLIC_KEYS, previous=b"no statement")) == ["chain"]


def test_time_stamps_are_over_what_they_stand_beside() -> None:
    over_record = b"token " + hashlib.sha256(CONTENT).digest() + b" end"
    signed = statement(CONTENT, COMMITTED, ED25519_KEY, CLAIMS, token=over_record)
    signature = verify(signed).signature or b""
    over_signature = b"token " + hashlib.sha384(cbor2.dumps(signature)).digest()
    stamped = with_token(signed, over_signature)
    verdict = verify(stamped, keys=PUBLIC_KEYS)
    assert verdict.holds
    assert verdict.token_of_record == over_record
    assert verdict.token_of_signature == over_signature
    stamps = [check for check in verdict.checks if check.name == "time stamp"]
    assert [stamp.holds for stamp in stamps] == [None, None]
    assert "not checked" in stamps[0].detail
    assert failed(verify(with_token(signed, b"another token"), keys=PUBLIC_KEYS)) == ["time stamp"]
    wrong = statement(CONTENT, COMMITTED, ED25519_KEY, CLAIMS, token=b"another token")
    assert failed(verify(wrong, keys=PUBLIC_KEYS)) == ["time stamp"]


# ── What we make of others' ───────────────────────────────────────────────────────────────────────────────


def published(name: str) -> bytes:
    if not SIGNED.exists():
        pytest.skip(f"no corpus at {CORPUS}")
    return (SIGNED / name).read_bytes()


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("record.ed25519.attached.cose", "ed25519"),
        ("record.ed25519.detached.cose", "ed25519"),
        ("record.ed25519-alg19.detached.cose", "ed25519"),
        ("record.es256.detached.cose", "es256"),
    ],
)
def test_the_published_files_hold(name: str, key: str) -> None:
    record = published("record.json") if "detached" in name else None
    keys = [load_public_key(published(f"{key}.pub.pem"))]
    verdict = verify(published(name), record=record, keys=keys)
    assert verdict.holds, verdict.checks
    assert check(verdict, "metadata").holds
    assert check(verdict, "record hash").holds
    assert check(verdict, "seal").holds is None
    assert verdict.record == json.loads(published("record.json"))
    other = verify(published(name), record=record, keys=PUBLIC_KEYS)
    assert failed(other) == ["signature"]


def test_the_published_tampered_file_is_refused() -> None:
    keys = [load_public_key(published("ed25519.pub.pem"))]
    verdict = verify(
        published("tampered-signature.ed25519.detached.cose"), record=published("record.json"), keys=keys
    )
    assert failed(verdict) == ["signature"]
    changed = published("record.json").replace(b'"hi"', b'"ho"')
    verdict = verify(published("record.ed25519.detached.cose"), record=changed, keys=keys)
    assert failed(verdict) == ["signature", "record hash"]


def signed_by_others(
    unprotected: Record | dict[Any, Any],
    protected: dict[Any, Any] | None = None,
    record: Record | None = None,
) -> bytes:
    """What a program might sign that does not know of geminids."""
    payload = json.dumps(record or small_record()).encode()
    header = cbor2.dumps(protected or {1: -8, 15: {1: "them", 2: "about"}})
    message = cbor2.dumps(["Signature1", header, b"", payload])
    return cbor2.dumps(cbor2.CBORTag(18, [header, unprotected, payload, ED25519_KEY.sign(message)]))


METADATA = {
    "session-id": CLAIMS.subject,
    "agent-vendor": "google",
    "trace-format": "ietf-vac-v3.0",
    "timestamp-start": "2026-06-15T14:00:00+02:00",
}


def test_what_others_add_is_only_named() -> None:
    receipt = cbor2.CBORTag(18, [b"", {}, None, b""])
    verdict = verify(signed_by_others({100: METADATA, 394: [receipt], "note": 1}), keys=PUBLIC_KEYS)
    assert verdict.holds, verdict.checks
    assert "label 394, note" in check(verdict, "envelope").detail
    assert check(verdict, "metadata").holds
    assert verify(signed_by_others({}), keys=PUBLIC_KEYS).holds
    critical = {1: -8, 2: [15], 15: {1: "them", 2: "about"}}
    assert verify(signed_by_others({}, critical), keys=PUBLIC_KEYS).holds


@pytest.mark.parametrize(
    "change",
    [
        {"session-id": "another"},
        {"agent-vendor": "anthropic"},
        {"timestamp-start": "2026-06-15T12:00:01Z"},
        {"timestamp-start": 1},
        {"timestamp-start": 10**40},
        {"timestamp-start": "no time"},
        {"content-hash": "00" * 32},
        {"content-hash": "00" * 64, "content-hash-alg": "sha-512"},
        {"more": "than there may be"},
        {5: "a number"},
    ],
    ids=str,
)
def test_metadata_that_contradicts_the_record_fails(change: dict[Any, Any]) -> None:
    verdict = verify(signed_by_others({100: {**METADATA, **change}}), keys=PUBLIC_KEYS)
    name = "record hash" if "content-hash" in change else "metadata"
    assert failed(verdict) == [name]


@pytest.mark.parametrize(
    "protected",
    [
        {1: -8},
        {1: -8, 15: {1: "them"}},
        {1: -8, 15: {1: 5, 2: "about"}},
        {1: -8, 15: []},
        {1: -8, 15: {1: "them", 2: "about"}, "geminids": 1},
        {1: -8, 15: {1: "them", 2: "about"}, "geminids": {}},
        {1: -8, 15: {1: "them", 2: "about"}, "geminids": {"version": 2, "kind": "statement"}},
        {1: -8, 15: {1: "them", 2: "about"}, "geminids": {"version": 1, "kind": "seal"}},
        {1: -8, 15: {1: "them", 2: "about"}, 3: "application/cbor"},
        {1: -8, 15: {1: "them", 2: "about"}, 2: [15, 99], 99: 1},
        {1: -8, 15: {1: "them", 2: "about"}, 2: 15},
        {1: -7, 15: {1: "them", 2: "about"}},
        {1: -65535, 15: {1: "them", 2: "about"}},
        {1: "EdDSA", 15: {1: "them", 2: "about"}},
        {1: [], 15: {1: "them", 2: "about"}},
        {15: {1: "them", 2: "about"}},
    ],
    ids=str,
)
def test_headers_that_do_not_say_what_they_should_fail(protected: dict[Any, Any]) -> None:
    assert not verify(signed_by_others({}, protected), keys=PUBLIC_KEYS).holds


def test_a_commitment_that_others_sign_is_looked_at_too() -> None:
    assert verify(signed_by_others({}, record=COMMITTED), keys=PUBLIC_KEYS).holds
    broken = {**COMMITTED, "more": 1}
    verdict = verify(signed_by_others({}, record=broken), keys=PUBLIC_KEYS)
    assert failed(verdict) == ["commitment", "redactions"]
    theirs_alone = {**small_record(), "x-commitment": {"scheme": "other/1"}}
    assert verify(signed_by_others({}, record=theirs_alone), keys=PUBLIC_KEYS).holds


# ── Vectors ───────────────────────────────────────────────────────────────────────────────────────────────


def is_kept(path: Path, signed: Signed) -> bool:
    """Whether a vector is there that holds. A signature on a curve is another one each time."""
    record = (VECTORS / "signed" / f"{signed.name}.record").read_bytes() if signed.record else None
    return path.exists() and verify(path.read_bytes(), record=record, keys=PUBLIC_KEYS).holds


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("algorithm", KEYS)
def test_vectors_of_signed_records(way: str, algorithm: str) -> None:
    key, folder = KEYS[algorithm], VECTORS / "signed"
    signed = made(way, key)
    path = folder / f"{way}.{algorithm}.cose"
    if os.environ.get("GEMINIDS_GOLDEN") == "rewrite":
        (folder / f"{algorithm}.pub.pem").write_bytes(pem_of(key))
        if signed.record is not None:
            (folder / f"{way}.record").write_bytes(signed.record)
        if algorithm == "ed25519" or not is_kept(path, signed):
            path.write_bytes(signed.signed)
    assert (folder / f"{algorithm}.pub.pem").read_bytes() == pem_of(key)
    if signed.record is not None:
        assert (folder / f"{way}.record").read_bytes() == signed.record
    if algorithm == "ed25519":
        assert path.read_bytes() == signed.signed
    assert is_kept(path, signed)
