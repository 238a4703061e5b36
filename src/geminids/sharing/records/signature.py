"""Signs records: COSE_Sign1 over the bytes of a record, and a seal that survives redaction.

    statement   over a record as it is; in its headers the trace metadata and the seal
    seal        over the root of the record's tree, with the same key and the same claims
    excerpt     a seal with a record from which pieces were taken out; made without the key

What these files look like, and whether one holds, is settled in `standalone`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, SECP256R1, EllipticCurvePrivateKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

from geminids.sharing.records import standalone
from geminids.sharing.records.errors import ExcerptError, SigningError
from geminids.sharing.records.standalone import Claims, Envelope, RefusedError

__all__ = ["Claims", "PrivateKey", "excerpt", "sign1", "statement", "with_token"]

PrivateKey = Ed25519PrivateKey | EllipticCurvePrivateKey
Header = Mapping[int | str, Any]


def sign1(
    payload: bytes, key: PrivateKey, protected: Header, unprotected: Header, *, detached: bool = False
) -> bytes:
    """A COSE_Sign1 over some bytes. The algorithm and the id of the key are added to the protected header."""
    header = {
        **protected,
        standalone.ALGORITHM: _algorithm(key),
        standalone.KEY_ID: standalone.key_id(key.public_key()),
    }
    written = standalone.encode_cbor(header)
    signature = _signature(key, standalone.to_be_signed(written, payload))
    envelope = Envelope(written, header, dict(unprotected), None if detached else payload, signature)
    return standalone.close_envelope(envelope)


def statement(
    content: bytes,
    record: dict[str, Any],
    key: PrivateKey,
    claims: Claims,
    *,
    detached: bool = False,
    chain: dict[str, Any] | None = None,
    token: bytes | None = None,
) -> bytes:
    """Sign the bytes of a record. With a commitment in it, pieces can be taken out of it later.

    `chain` links it to the statement before: `previous` is the SHA-256 of that file. `token` is a time stamp
    over the content.
    """
    if claims.subject != standalone.session_id_of(record):
        raise SigningError(f"the claims are about {claims.subject!r}, the record tells another session")
    media_type = standalone.content_type(content)
    if media_type is None:
        raise SigningError("the content is neither JSON nor CBOR")
    ours: dict[str, Any] = {"version": 1, "kind": "statement"}
    protected: dict[int | str, Any] = {
        standalone.CONTENT_TYPE: media_type,
        standalone.CLAIMS: _written(claims),
        standalone.OURS: ours,
    }
    unprotected: dict[int | str, Any] = {}
    if (metadata := standalone.metadata_of(record, content)) is not None:
        unprotected[standalone.METADATA] = metadata
        ours["metadata"] = _sha256(standalone.encode_cbor(metadata))
    if standalone.COMMITMENT in record:
        unprotected[standalone.SEAL] = seal = _seal(record, key, claims)
        ours["seal"] = _sha256(seal)
    if chain is not None:
        ours["chain"] = chain
    if token is not None:
        protected[standalone.TOKEN_OF_RECORD] = token
    return sign1(content, key, protected, unprotected, detached=detached)


def with_token(signed: bytes, token: bytes) -> bytes:
    """A statement with a time stamp over its signature, which was asked for after it was signed."""
    try:
        envelope = standalone.open_envelope(signed)
    except RefusedError as error:
        raise SigningError(str(error)) from error
    unsigned = {**envelope.unsigned, standalone.TOKEN_OF_SIGNATURE: token}
    return standalone.close_envelope(envelope._replace(unsigned=unsigned))


def excerpt(signed: bytes, redacted: bytes, *, detached: bool = False) -> bytes:
    """What still proves a record after pieces were taken out, from a statement or an earlier excerpt of it.

    Attached, the redacted record is in it; detached, it only proves the one it is given beside.
    """
    try:
        seal = _seal_of(standalone.open_envelope(signed))
        record = standalone.decode_record(redacted)
        root = standalone.root_of(record)
        written = standalone.encode_record(record, standalone.content_type(redacted) or standalone.JSON)
    except RefusedError as error:
        raise ExcerptError(str(error)) from error
    if written != redacted:
        raise ExcerptError("the record is not written in the one form that a redacted record has")
    if seal.payload != standalone.encode_cbor(standalone.seal_payload(root, record.get("id", ""))):
        raise ExcerptError("the record is not the one that was signed, less what was taken out of it")
    return standalone.close_envelope(
        seal._replace(unsigned={} if detached else {standalone.RECORD: redacted})
    )


def _seal(record: dict[str, Any], key: PrivateKey, claims: Claims) -> bytes:
    try:
        root = standalone.root_of(record)
    except RefusedError as error:
        raise SigningError(str(error)) from error
    if root != standalone.commitment_of(record).root:
        raise SigningError("the record was changed after it was committed to")
    protected: dict[int | str, Any] = {
        standalone.CONTENT_TYPE: standalone.CBOR,
        standalone.CLAIMS: _written(claims),
        standalone.OURS: {"version": 1, "kind": "seal"},
    }
    payload = standalone.encode_cbor(standalone.seal_payload(root, record["id"]))
    return sign1(payload, key, protected, {})


def _seal_of(envelope: Envelope) -> Envelope:
    match envelope.ours:
        case {"kind": "seal"}:
            return envelope
        case {"kind": "statement"} if isinstance(seal := envelope.unsigned.get(standalone.SEAL), bytes):
            return standalone.open_envelope(seal)
    raise ExcerptError("the statement has no seal: what it signs can only be shown as a whole")


def _written(claims: Claims) -> dict[int, Any]:
    return {1: claims.issuer, 2: claims.subject, 6: claims.issued_at}


def _algorithm(key: PrivateKey) -> int:
    if isinstance(key, Ed25519PrivateKey):
        return standalone.ED25519
    if isinstance(key.curve, SECP256R1):
        return standalone.ES256
    raise SigningError(f"a key on the curve {key.curve.name} cannot sign records; P-256 can")


def _signature(key: PrivateKey, message: bytes) -> bytes:
    if isinstance(key, Ed25519PrivateKey):
        return key.sign(message)
    r, s = decode_dss_signature(key.sign(message, ECDSA(hashes.SHA256())))
    s = min(s, standalone.ORDER_OF_P256 - s)
    return r.to_bytes(32, "big") + s.to_bytes(32, "big")


def _sha256(content: bytes) -> bytes:
    return standalone.sha256(content).digest()
