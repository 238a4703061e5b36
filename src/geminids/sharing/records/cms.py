"""The envelope of a time stamp token: CMS SignedData with one signature (RFC 5652, RFC 3161).

What is signed are the attributes of the signature. They hold a hash of the content and one of the certificate
that signed, so nothing of either can change. All else is compared with what RFC 3161 says it must be. Whether
the certificate deserves trust is not asked here; `rfc3161-client` traces it to one that was given.

Why that library does not do all of it: a token beside a signature is covered by nothing but itself, so none
of its bits may change, also where nobody knows the authority; the library (1.0.9) always asks for a root.
With one, it takes tokens whose signature is over another kind of content, names no certificate or another
algorithm, was made with SHA-1, or has attributes beside it that nobody signed, and 77 of 6,960 changed
bits. It refuses the order in which openssl writes certificates. The ASN.1 of `cryptography` could read the
envelope, but is said to be unstable there, and `cryptography` 46 has none.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import msgspec

from geminids.sharing.records import der
from geminids.sharing.records.errors import SigningNotInstalledError

try:
    from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, EllipticCurvePublicKey
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
    from cryptography.hazmat.primitives.serialization import Encoding
    from cryptography.x509 import Certificate, InvalidVersion, load_der_x509_certificate
except ImportError as missing:
    raise SigningNotInstalledError(missing.name or "cryptography") from None

SIGNED_DATA = "1.2.840.113549.1.7.2"
TOKEN_INFO = "1.2.840.113549.1.9.16.1.4"

HASHES = {
    "2.16.840.1.101.3.4.2.1": "sha256",
    "2.16.840.1.101.3.4.2.2": "sha384",
    "2.16.840.1.101.3.4.2.3": "sha512",
}
"""The hashes that count; SHA-1, which TSAs once used, does not."""

_CONTENT_TYPE = "1.2.840.113549.1.9.3"
_DIGEST = "1.2.840.113549.1.9.4"
_CERTIFICATE = "1.2.840.113549.1.9.16.2.12"
_CERTIFICATE_V2 = "1.2.840.113549.1.9.16.2.47"

_RSA = frozenset({f"1.2.840.113549.1.1.{number}" for number in (1, 11, 12, 13)})
_ECDSA = frozenset({"1.2.840.10045.2.1", *(f"1.2.840.10045.4.3.{number}" for number in (2, 3, 4))})
_ED25519 = "1.3.101.112"
_OF_SIGNATURE = {
    "1.2.840.113549.1.1.11": "sha256",
    "1.2.840.113549.1.1.12": "sha384",
    "1.2.840.113549.1.1.13": "sha512",
    "1.2.840.10045.4.3.2": "sha256",
    "1.2.840.10045.4.3.3": "sha384",
    "1.2.840.10045.4.3.4": "sha512",
}
"""The hash that the name of a signature holds; it must be the one that is named beside it."""
_DIGESTS: dict[str, hashes.HashAlgorithm] = {
    "sha256": hashes.SHA256(),
    "sha384": hashes.SHA384(),
    "sha512": hashes.SHA512(),
}

_CERTIFICATES = der.FIRST
_ATTRIBUTES = der.FIRST


class Envelope(msgspec.Struct, frozen=True, kw_only=True):
    """A content, the one signature over it, and the certificates that came with it."""

    content: bytes
    digest: str
    """The hash that the signer took."""
    issuer: bytes
    serial: int
    """By whom the certificate of the signer was issued, and its number there."""
    attributes: dict[str, bytes]
    """What is signed, each by its name: the one value that it has."""
    signed: bytes
    algorithm: str
    signature: bytes
    certificates: tuple[bytes, ...]


def read_envelope(token: bytes) -> Envelope:
    """The envelope that these bytes are. Raises ValueError with what is not as it must be."""
    kind, wrapped = _several(der.single(token), 2)
    _expect(der.object_name(kind) == SIGNED_DATA, "it is no signed message")
    match _only(wrapped, der.FIRST).inner(der.SEQUENCE):
        case [version, digests, content, *others, signers]:
            _expect(der.whole_number(version) == 3, "its envelope is of an unknown version")
        case _:
            raise ValueError("its envelope lacks parts that every time stamp has")
    envelope = _with_signer(_content(content), _only(signers, der.SET), _certificates(others))
    named = [HASHES.get(_algorithm(one)) for one in digests.inner(der.SET)]
    _expect(named == [envelope.digest], "it names other hashes than its signature")
    return envelope


def in_order(token: bytes) -> bytes:
    """An envelope with its certificates in the order that DER wants of a set, and openssl does not keep.

    That order is not signed. Raises ValueError.
    """
    kind, wrapped = _several(der.single(token), 2)
    parts = [
        der.written(part.tag, *sorted(one.whole for one in part.inner()))
        if part.tag == _CERTIFICATES
        else part.whole
        for part in _only(wrapped, der.FIRST).inner(der.SEQUENCE)
    ]
    return der.written(der.SEQUENCE, kind.whole, der.written(der.FIRST, der.written(der.SEQUENCE, *parts)))


def signer_of(envelope: Envelope, given: Sequence[Certificate]) -> Certificate | None:
    """The certificate of the signer: one that came with it; if none came, one that was given.

    Raises ValueError.
    """
    # One that came and is not that of the signer is no reason to look further: it may have been changed.
    for certificate in [_loaded(carried) for carried in envelope.certificates] or given:
        if certificate.serial_number == envelope.serial and (
            certificate.issuer.public_bytes() == envelope.issuer
        ):
            return certificate
    return None


def check_signature(envelope: Envelope, certificate: Certificate) -> None:
    """Raises ValueError, with what is wrong, if it was not signed with this certificate as it stands."""
    digest = hashlib.new(envelope.digest, envelope.content).digest()
    _expect(_attribute(envelope, _DIGEST) == der.written(der.OCTETS, digest), "its content was changed")
    kind = _attribute(envelope, _CONTENT_TYPE)
    _expect(kind == der.written_object(TOKEN_INFO), "its signature is over something else")
    _check_certificate_id(envelope, certificate)
    named = _OF_SIGNATURE.get(envelope.algorithm, envelope.digest)
    _expect(named == envelope.digest, "its signature names two hashes")
    try:
        _verify(envelope, certificate)
    except InvalidSignature:
        raise ValueError("its signature does not hold") from None
    except UnsupportedAlgorithm:
        raise ValueError("its certificate has a key of a kind that is not known here") from None


def _verify(envelope: Envelope, certificate: Certificate) -> None:
    algorithm, signature, signed = envelope.algorithm, envelope.signature, envelope.signed
    digest = _DIGESTS[envelope.digest]
    match certificate.public_key():
        case RSAPublicKey() as key if algorithm in _RSA:
            key.verify(signature, signed, PKCS1v15(), digest)
        case EllipticCurvePublicKey() as key if algorithm in _ECDSA:
            key.verify(signature, signed, ECDSA(digest))
        case Ed25519PublicKey() as key if algorithm == _ED25519:
            key.verify(signature, signed)
        case _:
            raise ValueError(f"its signature is of a kind that is not known here ({algorithm})")


def _content(element: der.Element) -> bytes:
    kind, wrapped = _several(element, 2)
    _expect(der.object_name(kind) == TOKEN_INFO, "it is a signed message, but no time stamp")
    content = _only(wrapped, der.FIRST)
    _expect(content.tag == der.OCTETS, "it has no content")
    return content.body


def _certificates(others: Sequence[der.Element]) -> tuple[bytes, ...]:
    """The certificates, if there are any. Nothing else may stand between content and signature."""
    match others:
        case []:
            return ()
        case [der.Element(tag=tag) as certificates] if tag == _CERTIFICATES:
            return tuple(one.whole for one in certificates.inner())
        case _:
            raise ValueError("its envelope has parts that no time stamp has")


def _with_signer(content: bytes, signer: der.Element, certificates: tuple[bytes, ...]) -> Envelope:
    # Attributes that nobody signed could stand behind these six. They are refused: anybody could change them.
    version, whose, digest, attributes, algorithm, signature = _several(signer, 6)
    _expect(der.whole_number(version) == 1, "its signature is of an unknown version")
    issuer, serial = _several(whose, 2)
    name = _algorithm(digest)
    _expect(name in HASHES, f"it is signed with a hash that does not count ({name})")
    _expect(signature.tag == der.OCTETS, "it has no signature")
    return Envelope(
        content=content,
        digest=HASHES[name],
        issuer=issuer.whole,
        serial=der.whole_number(serial),
        attributes=_attributes(attributes),
        # They stand there as `[0]` and are signed as the set that they are.
        signed=bytes((der.SET,)) + attributes.whole[1:],
        algorithm=_algorithm(algorithm),
        signature=signature.body,
        certificates=certificates,
    )


def _attributes(element: der.Element) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for attribute in element.inner(_ATTRIBUTES):
        kind, values = _several(attribute, 2)
        name = der.object_name(kind)
        _expect(name not in found, "it says something twice")
        found[name] = values.body
    return found


def _check_certificate_id(envelope: Envelope, certificate: Certificate) -> None:
    """Compare the certificate with the hash of it that was signed. Raises ValueError."""
    if _CERTIFICATE_V2 in envelope.attributes:
        match _certificate_id(envelope, _CERTIFICATE_V2):
            case [der.Element(tag=der.OCTETS, body=written), *_]:
                # SHA-256 is meant where no hash is named.
                name = "sha256"
            case [der.Element(tag=der.SEQUENCE) as named, der.Element(tag=der.OCTETS, body=written), *_]:
                name = HASHES.get(_algorithm(named), "")
            case _:
                name, written = "", b""
        _expect(bool(name), "it names its certificate by a hash that does not count")
    else:
        # The older form knows nothing but SHA-1. It is a second look only: the signature itself must hold.
        name, written = "sha1", _certificate_id(envelope, _CERTIFICATE)[0].body
    is_same = (
        hashlib.new(name, certificate.public_bytes(Encoding.DER), usedforsecurity=False).digest() == written
    )
    _expect(is_same, "it names another certificate than the one that signed")


def _certificate_id(envelope: Envelope, name: str) -> list[der.Element]:
    """What names the first certificate of the list that was signed; at least one element."""
    certificates = _first(der.single(_attribute(envelope, name)))
    found = _first(certificates).inner(der.SEQUENCE)
    _expect(bool(found), "it names no certificate")
    return found


def _loaded(certificate: bytes) -> Certificate:
    try:
        return load_der_x509_certificate(certificate)
    except (ValueError, InvalidVersion):
        raise ValueError("a certificate in it cannot be read") from None


def _attribute(envelope: Envelope, name: str) -> bytes:
    value = envelope.attributes.get(name)
    if value is None:
        raise ValueError("its signature leaves out what a time stamp must sign")
    return value


def _several(element: der.Element, number: int) -> list[der.Element]:
    found = element.inner(der.SEQUENCE)
    _expect(len(found) == number, "it has more or fewer parts than it must have")
    return found


def _only(element: der.Element, tag: int) -> der.Element:
    """The one element in another one."""
    match element.inner(tag):
        case [one]:
            return one
        case _:
            raise ValueError("it has more or fewer parts than it must have")


def _first(element: der.Element) -> der.Element:
    """The first element of a sequence."""
    match element.inner(der.SEQUENCE):
        case [first, *_]:
            return first
        case _:
            raise ValueError("it lacks parts that every time stamp has")


def _algorithm(element: der.Element) -> str:
    """The name of an algorithm that has no parameters."""
    match element.inner(der.SEQUENCE):
        case [name] | [name, der.Element(tag=0x05, body=b"")]:
            return der.object_name(name)
        case _:
            raise ValueError("an algorithm in it has parameters that are not known here")


def _expect(is_so: bool, otherwise: str) -> None:
    if not is_so:
        raise ValueError(otherwise)
