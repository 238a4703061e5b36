"""Time stamps of an authority that both sides trust: RFC 3161 tokens in COSE headers, as RFC 9921 has them.

    269  3161-ttc  protected    over the payload: its bytes as they are, without the head of a byte string.
                                Proves that the payload was there then; nothing about when it was signed.
    270  3161-ctt  unprotected  over the signature: the CBOR byte string that it is, with its head (58 40 …).
                                Proves that the signature was there then.

Nothing is sent anywhere: tokens come from files, which `openssl ts` or another client got from an authority.
Who the authority is has to be known by its certificate. Without one, a token proves no more than that its
author wrote this time into it.
"""

from __future__ import annotations

import binascii
import hashlib
import re
import warnings
from base64 import b64decode
from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from geminids.sharing.records import der
from geminids.sharing.records.errors import BadTokenError, SigningNotInstalledError
from geminids.sharing.records.standalone import encode_cbor

if TYPE_CHECKING:
    from cryptography.x509 import Certificate
    from rfc3161_client import TimeStampResponse

    from geminids.sharing.records.cms import Envelope
    from geminids.sharing.records.standalone import Check, Verdict

NAME = "time stamp"
"""What the checks are called, as the verifier calls them."""

LONGEST = 1024 * 1024
"""Bytes; no token is longer, even with all certificates in it."""

_ARMOUR = re.compile(rb"-----BEGIN ([^-\r\n]+)-----(.+?)-----END \1-----", re.DOTALL)
_GRANTED = {0: "granted", 1: "granted with changes"}
_STATUS = {2: "rejected", 3: "put off", 4: "a revocation is near", 5: "its certificate is revoked"}
_WORDS_OF_PARSERS = ("ASN.1", "Malformed", "error parsing")
_OF_A_GIVEN_ONE = "the certificate of its authority leads to one that was given"
_OF_ANYBODY = "not trusted: nothing says who this authority is; give its certificate with --tsa"
_CHAIN_REASON = re.compile(r"Verify error: ?([^\"]+)")


class TokenCheck(msgspec.Struct, frozen=True, kw_only=True):
    """What came of checking a token."""

    holds: bool
    """Whether it is over these bytes and signed with the certificate that it names, and, where certificates
    were given, whether that leads to one of them."""
    reason: str
    """What is wrong, or how far it was checked; words without a full stop."""
    is_trusted: bool = False
    """Whether the certificate of the authority leads to one that was given. Else anybody may have made it."""
    time: datetime | None = None
    """When the bytes were there, as the authority says."""
    authority: str | None = None
    """Who signed it, as its certificate says."""


class _Token(NamedTuple):
    """What there is to check."""

    envelope: Envelope
    response: TimeStampResponse
    """The same, as the library that traces certificates takes it."""
    time: datetime
    hash_name: str
    hashed: bytes
    given: Sequence[Certificate]
    signer: Certificate | None
    authority: str | None


def signature_field(signature: bytes) -> bytes:
    """The bytes that a token over a signature is about: the field of COSE_Sign1 as CBOR writes it."""
    return encode_cbor(signature)


def read_token(content: bytes, path: str | None = None) -> bytes:
    """The bare token, as a COSE header carries it, from a token or the reply of an authority; DER or PEM.

    Raises BadTokenError with what is wrong, and the path if one is given.
    """
    from geminids.sharing.records.cms import read_envelope

    try:
        token = _bare(_without_armour(content))
        read_envelope(token)
    except der.DerError:
        reason = "it is damaged, or neither the reply of an authority nor a token"
        raise BadTokenError(path, reason) from None
    except ValueError as error:
        raise BadTokenError(path, str(error)) from None
    return token


def check_token(token: bytes, imprinted: bytes, roots: Sequence[bytes] = ()) -> TokenCheck:
    """Check a bare token over these bytes, and its authority by certificates (PEM, one or several in each).

    Bad tokens and bad certificates are answers, no exceptions.
    """
    with warnings.catch_warnings():
        # Of odd certificates, which the checks below refuse or trace to one that the user trusts.
        warnings.simplefilter("ignore")
        return _checked(token, imprinted, roots)


def check_tokens(verdict: Verdict, roots: Sequence[bytes]) -> Iterator[Check]:
    """Check the time stamps of a signed record; where certificates were given, there has to be one."""
    from geminids.sharing.records.standalone import Check

    stamped = (
        (verdict.token_of_record, verdict.record_bytes, "the record"),
        (verdict.token_of_signature, signature_field(verdict.signature or b""), "the signature"),
    )
    there = [(token, over, what) for token, over, what in stamped if token is not None and over is not None]
    for token, over, what in there:
        found = check_token(token, over, roots)
        yield Check(NAME, found.holds and (found.is_trusted or None), _sentence(found, what))
    if roots and not there:
        yield Check(NAME, False, "there is none that the certificates given with --tsa could be for")


def _sentence(found: TokenCheck, what: str) -> str:
    if not found.holds or found.time is None:
        return f"the one over {what} does not hold: {found.reason}"
    sentence = f"{what} was there at {found.time:%Y-%m-%d %H:%M:%S} UTC, says {found.authority}"
    return sentence if found.is_trusted else f"{sentence}; {found.reason}"


def _checked(content: bytes, imprinted: bytes, roots: Sequence[bytes]) -> TokenCheck:
    try:
        token = _read(content, roots)
    except ValueError as error:
        return TokenCheck(holds=False, reason=_in_our_words(error))
    checked = partial(TokenCheck, time=token.time, authority=token.authority)
    try:
        _check(token, imprinted)
    except ValueError as error:
        return checked(holds=False, reason=_in_our_words(error))
    if token.given:
        return checked(holds=True, reason=_OF_A_GIVEN_ONE, is_trusted=True)
    return checked(holds=True, reason=_OF_ANYBODY)


def _read(content: bytes, roots: Sequence[bytes]) -> _Token:
    """Raises ValueError with what cannot be read."""
    from geminids.sharing.records.cms import read_envelope, signer_of

    envelope, response, given = read_envelope(content), _response(content), certificates(roots)
    info, signer = response.tst_info, signer_of(envelope, given)
    return _Token(
        envelope=envelope,
        response=response,
        time=info.gen_time,
        hash_name=info.message_imprint.hash_algorithm.dotted_string,
        hashed=info.message_imprint.message,
        given=given,
        signer=signer,
        authority=signer.subject.rfc4514_string() if signer else None,
    )


def _check(token: _Token, imprinted: bytes) -> None:
    """Raises ValueError with what is wrong."""
    from geminids.sharing.records.cms import HASHES, check_signature

    if token.hash_name not in HASHES:
        raise ValueError(f"it is over a hash that does not count ({token.hash_name})")
    if hashlib.new(HASHES[token.hash_name], imprinted).digest() != token.hashed:
        raise ValueError("it is over something else")
    if token.signer is None:
        raise ValueError("it does not carry the certificate that signed it; give that with --tsa")
    check_signature(token.envelope, token.signer)
    _check_signer(token.signer, token.time)
    if token.given and token.signer not in token.given:
        _check_chain(token)


def _without_armour(content: bytes) -> bytes:
    """The DER that is in the lines of a PEM file; all else as it is. Raises ValueError."""
    if len(content) > LONGEST:
        raise ValueError(f"it is longer than {LONGEST:,} bytes")
    if not content.lstrip().startswith(b"-----BEGIN"):
        return content
    armour = _ARMOUR.search(content)
    if armour is None:
        raise ValueError("its PEM has no end")
    try:
        return b64decode(b"".join(armour[2].split()), validate=True)
    except binascii.Error:
        raise ValueError("its PEM is damaged") from None


def _bare(content: bytes) -> bytes:
    """The token in a reply, or itself. Raises ValueError."""
    outer = der.single(content)
    match outer.inner(der.SEQUENCE):
        case [der.Element(tag=der.OBJECT), *_]:
            return content
        case [der.Element(tag=der.SEQUENCE) as status, *rest]:
            return _granted(status, rest)
        case [der.Element(tag=der.INTEGER), *_]:
            raise ValueError("it is a query; the reply of the authority is wanted")
        case _:
            raise ValueError("it is neither the reply of an authority nor a token")


def _granted(status: der.Element, rest: Sequence[der.Element]) -> bytes:
    number, *more = status.inner()
    code = der.whole_number(number)
    if code not in _GRANTED:
        status_text = b" ".join(text.body for one in more if one.tag == der.SEQUENCE for text in one.inner())
        words = f" ({status_text.decode(errors='replace')})" if status_text else ""
        raise ValueError(f"the authority gave no token: {_STATUS.get(code, f'status {code}')}{words}")
    match rest:
        case [token]:
            return token.whole
        case _:
            raise ValueError("there is no token in the reply")


def _response(token: bytes) -> TimeStampResponse:
    """The token as rfc3161-client takes it: as a reply. Raises ValueError."""
    try:
        from rfc3161_client import decode_timestamp_response
    except ImportError as missing:
        raise SigningNotInstalledError(missing.name or "rfc3161-client") from None

    from geminids.sharing.records.cms import in_order

    granted = der.written(der.SEQUENCE, der.written_number(0))
    return decode_timestamp_response(der.written(der.SEQUENCE, granted, in_order(token)))


def certificates(roots: Sequence[bytes]) -> list[Certificate]:
    """The certificates that were given, each once. Raises ValueError."""
    from cryptography.x509 import load_pem_x509_certificates

    given: list[Certificate] = []
    for content in roots:
        try:
            found = load_pem_x509_certificates(content)
        except ValueError:
            raise ValueError("what was given with --tsa is no certificate in PEM") from None
        given += [certificate for certificate in found if certificate not in given]
    return given


def _check_signer(signer: Certificate, time: datetime) -> None:
    """Raises ValueError if a certificate may not sign time stamps, or could not do so then."""
    from cryptography.x509 import (
        DuplicateExtension,
        ExtendedKeyUsage,
        ExtensionNotFound,
        UnsupportedGeneralNameType,
    )
    from cryptography.x509.oid import ExtendedKeyUsageOID

    try:
        usage = signer.extensions.get_extension_for_class(ExtendedKeyUsage)
    except (ExtensionNotFound, DuplicateExtension, UnsupportedGeneralNameType, ValueError):
        raise ValueError("its certificate is not one for time stamps") from None
    if not usage.critical or list(usage.value) != [ExtendedKeyUsageOID.TIME_STAMPING]:
        raise ValueError("its certificate is not one for time stamps alone")
    if not signer.not_valid_before_utc <= time <= signer.not_valid_after_utc:
        raise ValueError("its certificate was not valid at that time")


def _check_chain(token: _Token) -> None:
    """Raises ValueError if the certificate of the signer does not lead to one that was given."""
    from rfc3161_client import VerificationError, VerifierBuilder

    try:
        VerifierBuilder(roots=list(token.given)).build().verify(token.response, token.hashed)
    except (VerificationError, ValueError) as error:
        found = _CHAIN_REASON.search(str(error))
        why = f" ({found[1].strip()})" if found else ""
        raise ValueError(f"its certificate does not lead to one that was given{why}") from None


def _in_our_words(error: ValueError) -> str:
    """What is wrong, in our words: those of the libraries say where their parsers stopped."""
    is_damage = isinstance(error, der.DerError) or str(error).startswith(_WORDS_OF_PARSERS)
    return "it is damaged" if is_damage else str(error)
