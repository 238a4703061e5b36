"""Time stamps of RFC 3161 in COSE headers: over what bytes, by whom, and what is wrong with them."""

from __future__ import annotations

import hashlib
import random
from base64 import encodebytes
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import cbor2
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import ExtendedKeyUsageOID
from hypothesis import given, settings
from hypothesis import strategies as st

from geminids.sharing.records import der
from geminids.sharing.records.errors import BadTokenError
from geminids.sharing.records.signature import statement, with_token
from geminids.sharing.records.standalone import (
    JSON,
    TOKEN_OF_SIGNATURE,
    Verdict,
    encode_record,
    open_envelope,
    verify,
)
from geminids.sharing.records.timestamps import (
    TokenCheck,
    check_token,
    check_tokens,
    read_token,
    signature_field,
)
from tests.support.examples import examples
from tests.support.record_making import CLAIMS, ED25519_KEY, PUBLIC_KEYS, small_record
from tests.support.stamping import TIME_STAMPING, Authority, Holder, certified

CONTENT = b"This is the content."
"""The payload of the examples in RFC 9921."""
SIGNATURE = bytes.fromhex(
    "8eb33e4ca31d1c465ab05aac34cc6b23d58fef5c083106c4d25a91aef0b0117e"
    "2af9a291aa32e14ab834dc56ed2a223444547e01f11d3b0916e5a4c345cacb36"
)
"""The signature of its example of a COSE_Sign1."""
ANYBODY = "not trusted: nothing says who this authority is; give its certificate with --tsa"


@pytest.fixture(scope="module")
def root() -> Holder:
    return certified("Our root")


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory, root: Holder) -> Authority:
    return Authority(tmp_path_factory.mktemp("tsa"), certified("Our clock", root))


@pytest.fixture(scope="module")
def token(authority: Authority) -> bytes:
    return authority.token(CONTENT)


def test_a_signature_is_stamped_with_the_head_of_its_byte_string() -> None:
    imprint = "44c2419d131d53d55584b5dd33b788c24e551c6d44b1afc8b2b85e6954763b4e"
    assert hashlib.sha256(signature_field(SIGNATURE)).hexdigest() == imprint


@pytest.mark.parametrize("length", [0, 23, 24, 64, 255, 256, 65535, 65536])
def test_the_field_of_a_signature_is_what_cbor_writes(length: int) -> None:
    assert signature_field(b"x" * length) == cbor2.dumps(b"x" * length)


def pem(content: bytes, label: str = "PKCS7") -> bytes:
    return f"-----BEGIN {label}-----\n{encodebytes(content).decode()}-----END {label}-----\n".encode()


def test_the_token_is_taken_out_of_whatever_holds_it(authority: Authority) -> None:
    token = authority.token(CONTENT)
    reply = (authority.folder / "reply").read_bytes()
    for content in (reply, token, pem(token), pem(reply, "TIMESTAMP REPLY"), b"\n" + pem(token)):
        assert read_token(content) == token
    assert read_token(pem(token).replace(b"\n", b"\r\n")) == token


def test_a_token_with_a_known_root_holds(authority: Authority, token: bytes, root: Holder) -> None:
    found = check_token(token, CONTENT, [root.pem])
    assert found.holds
    assert found.is_trusted
    assert found.reason == "the certificate of its authority leads to one that was given"
    assert found.authority == "CN=Our clock"
    assert found.time is not None
    assert abs(found.time - datetime.now(UTC)) < timedelta(minutes=5)
    assert authority.accepts(token, CONTENT, root)


def test_without_a_root_a_token_is_not_trusted(token: bytes) -> None:
    found = check_token(token, CONTENT)
    assert (found.holds, found.is_trusted, found.reason) == (True, False, ANYBODY)
    assert found.authority == "CN=Our clock"
    assert found.time is not None


def test_the_certificate_of_the_authority_itself_will_do(authority: Authority, token: bytes) -> None:
    found = check_token(token, CONTENT, [authority.holder.pem])
    assert (found.holds, found.is_trusted) == (True, True)


def test_certificates_may_come_together_or_one_by_one(token: bytes, root: Holder) -> None:
    other = certified("Another root")
    for roots in ([other.pem + root.pem], [other.pem, root.pem], [root.pem, root.pem]):
        assert check_token(token, CONTENT, roots).is_trusted


def test_another_root_is_no_help(token: bytes) -> None:
    found = check_token(token, CONTENT, [certified("Our root").pem])
    assert not found.holds
    assert not found.is_trusted
    assert found.reason.startswith("its certificate does not lead to one that was given")


def test_a_token_over_other_bytes_is_refused(token: bytes, root: Holder) -> None:
    for roots in ([], [root.pem]):
        for other in (b"", CONTENT + b"\n", cbor2.dumps(CONTENT), hashlib.sha256(CONTENT).digest()):
            found = check_token(token, other, roots)
            assert (found.holds, found.is_trusted, found.reason) == (
                False,
                False,
                "it is over something else",
            )


@pytest.mark.parametrize("digest", ["sha256", "sha384", "sha512"])
@pytest.mark.parametrize("signer_digest", ["sha256", "sha512"])
def test_all_hashes_that_count_are_known(
    authority: Authority, root: Holder, digest: str, signer_digest: str
) -> None:
    token = authority.token(CONTENT, digest=digest, signer_digest=signer_digest, id_digest=digest)
    assert check_token(token, CONTENT, [root.pem]).is_trusted
    assert not check_token(token, CONTENT + b" ", [root.pem]).holds


def test_sha1_does_not_count(authority: Authority, root: Holder) -> None:
    found = check_token(authority.token(CONTENT, digest="sha1"), CONTENT, [root.pem])
    assert (found.holds, found.reason) == (False, "it is over a hash that does not count (1.3.14.3.2.26)")
    found = check_token(authority.token(CONTENT, signer_digest="sha1"), CONTENT, [root.pem])
    assert (found.holds, found.reason) == (
        False,
        "it is signed with a hash that does not count (1.3.14.3.2.26)",
    )


def test_the_older_name_of_a_certificate_is_known(authority: Authority, root: Holder) -> None:
    token = authority.token(CONTENT, id_digest="sha1")
    assert check_token(token, CONTENT, [root.pem]).is_trusted


def test_an_authority_with_rsa(tmp_path: Path, root: Holder) -> None:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    authority = Authority(tmp_path, certified("Our RSA clock", root, key=key))
    token = authority.token(CONTENT)
    assert check_token(token, CONTENT, [root.pem]).is_trusted
    assert check_token(token, CONTENT).holds


def test_an_authority_below_another_one(tmp_path: Path, root: Holder) -> None:
    between = certified("Between", root, usages=None)
    with_chain = Authority(tmp_path / "with", certified("Below", between), [between])
    token = with_chain.token(CONTENT)
    assert check_token(token, CONTENT, [root.pem]).is_trusted
    alone = Authority(tmp_path / "alone", with_chain.holder)
    token = alone.token(CONTENT)
    assert not check_token(token, CONTENT, [root.pem]).holds
    assert check_token(token, CONTENT, [root.pem + between.pem]).is_trusted


def test_a_token_without_certificates_needs_that_of_its_authority(authority: Authority, root: Holder) -> None:
    token = authority.token(CONTENT, with_certificate=False)
    for roots in ([], [root.pem]):
        found = check_token(token, CONTENT, roots)
        assert not found.holds
        assert found.reason == "it does not carry the certificate that signed it; give that with --tsa"
        assert found.authority is None
    assert check_token(token, CONTENT, [root.pem, authority.holder.pem]).is_trusted


def test_a_certificate_that_was_not_valid_then_is_refused(tmp_path: Path, root: Holder) -> None:
    for days in ((-9, -1), (1, 9)):
        token = Authority(tmp_path, certified("Old", root, days=days)).token(CONTENT)
        for roots in ([], [root.pem]):
            found = check_token(token, CONTENT, roots)
            assert (found.holds, found.reason) == (False, "its certificate was not valid at that time")


def test_a_root_that_has_expired_since_is_none(tmp_path: Path) -> None:
    old = certified("Old root", days=(-9, -1))
    token = Authority(tmp_path, certified("Clock", old)).token(CONTENT)
    found = check_token(token, CONTENT, [old.pem])
    assert not found.holds
    assert "(certificate has expired)" in found.reason


@pytest.mark.parametrize("roots", [[b""], [b"junk"], [b"-----BEGIN CERTIFICATE-----\nAAAA\n"]])
def test_certificates_that_are_none_are_told(token: bytes, roots: list[bytes]) -> None:
    found = check_token(token, CONTENT, roots)
    assert found == TokenCheck(holds=False, reason="what was given with --tsa is no certificate in PEM")


# What goes wrong with files


def test_a_refusal_of_the_authority_is_told_in_its_words(authority: Authority) -> None:
    refusal = authority.reply(CONTENT, policy="1.2.3.4.99")
    with pytest.raises(
        BadTokenError, match=r"'r\.tsr': the authority gave no token: rejected \(.*policy"
    ) as error:
        read_token(refusal, "r.tsr")
    assert error.value.exit_code == 2


def test_a_query_is_no_reply(authority: Authority) -> None:
    authority.reply(CONTENT)
    with pytest.raises(BadTokenError, match="it is a query; the reply of the authority is wanted"):
        read_token((authority.folder / "query").read_bytes())


def test_what_holds_no_token_is_told(token: bytes, root: Holder) -> None:
    damaged = "it is damaged, or neither the reply of an authority nor a token"
    for content, reason in (
        (b"", damaged),
        (b"hello, world", damaged),
        (token[:-1], damaged),
        (token + b"\0", damaged),
        (token * 2, damaged),
        (b"0\x80" + token[4:] + b"\0\0", damaged),
        (root.certificate.public_bytes(Encoding.DER), damaged),
        (root.pem, damaged),
        (b"-----BEGIN PKCS7-----\nAAAA", "its PEM has no end"),
        (b"-----BEGIN PKCS7-----\nA*AA\n-----END PKCS7-----\n", "its PEM is damaged"),
        (bytes.fromhex("30053003020100"), "there is no token in the reply"),
        (b"0" * (1 << 21), "it is longer than"),
    ):
        with pytest.raises(BadTokenError, match=reason):
            read_token(content)


@given(st.binary(max_size=200))
@settings(max_examples=examples(300), deadline=None)
def test_any_bytes_are_answered(content: bytes) -> None:
    with pytest.raises(BadTokenError):
        read_token(content)
    assert not check_token(content, CONTENT).holds


@pytest.mark.slow
def test_no_bit_of_a_token_can_be_changed(authority: Authority, token: bytes, root: Holder) -> None:
    """Where the authority is known by its root, and where nobody knows it."""
    bits = random.Random(1).sample(range(len(token) * 8), 1500)
    for roots in ([], [root.pem], [authority.holder.pem]):
        for bit in bits:
            changed = bytearray(token)
            changed[bit // 8] ^= 1 << bit % 8
            found = check_token(bytes(changed), CONTENT, roots)
            assert not found.holds, (bit, found)
            assert not found.is_trusted


def test_no_part_of_a_token_can_be_cut_off(token: bytes, root: Holder) -> None:
    for length in range(0, len(token), 7):
        assert not check_token(token[:length], CONTENT, [root.pem]).holds
    assert not check_token(token + b"\0", CONTENT, [root.pem]).holds


# Tokens that no authority would make, made by hand


class Forge:
    """Makes a token piece by piece; what is done to the pieces is the trouble."""

    def __init__(self, info: bytes, holder: Holder) -> None:
        self.info = info
        self.holder = holder
        self.kind = self.kind_signed = "1.2.840.113549.1.9.16.1.4"
        self.more_attributes: list[bytes] = []
        self.has_certificate_id = True
        self.versions = (3, 1)
        self.unsigned = b""
        self.revocations = b""
        self.algorithm = "1.2.840.10045.4.3.2"
        self.signers = 1

    def made(self) -> bytes:
        certificate = self.holder.certificate
        digest = der.written(der.SEQUENCE, der.written_object("2.16.840.1.101.3.4.2.1"))
        attributes = sorted(self._attributes())
        signed = der.written(der.SET, *attributes)
        assert isinstance(self.holder.key, ec.EllipticCurvePrivateKey)
        signer = der.written(
            der.SEQUENCE,
            der.written_number(self.versions[1]),
            der.written(
                der.SEQUENCE,
                certificate.issuer.public_bytes(),
                der.written_number(certificate.serial_number),
            ),
            digest,
            der.written(0xA0, *attributes),
            der.written(der.SEQUENCE, der.written_object(self.algorithm)),
            der.written(der.OCTETS, self.holder.key.sign(signed, ec.ECDSA(SHA256()))),
            self.unsigned,
        )
        content = der.written(0xA0, der.written(der.OCTETS, self.info))
        body = der.written(
            der.SEQUENCE,
            der.written_number(self.versions[0]),
            der.written(der.SET, digest),
            der.written(der.SEQUENCE, der.written_object(self.kind), content),
            der.written(0xA0, certificate.public_bytes(Encoding.DER)),
            self.revocations,
            der.written(der.SET, *[signer] * self.signers),
        )
        return der.written(der.SEQUENCE, der.written_object("1.2.840.113549.1.7.2"), der.written(0xA0, body))

    def _attributes(self) -> list[bytes]:
        certificate = hashlib.sha256(self.holder.certificate.public_bytes(Encoding.DER)).digest()
        identity = der.written(der.SEQUENCE, der.written(der.OCTETS, certificate))
        named = der.written(der.SEQUENCE, der.written(der.SEQUENCE, identity))
        digest = der.written(der.OCTETS, hashlib.sha256(self.info).digest())
        return [
            attribute("1.2.840.113549.1.9.3", der.written_object(self.kind_signed)),
            attribute("1.2.840.113549.1.9.4", digest),
            *([attribute("1.2.840.113549.1.9.16.2.47", named)] if self.has_certificate_id else []),
            *self.more_attributes,
        ]


def attribute(name: str, value: bytes) -> bytes:
    return der.written(der.SEQUENCE, der.written_object(name), der.written(der.SET, value))


@pytest.fixture
def forge(token: bytes, root: Holder) -> Forge:
    """Makes tokens with what our authority said, signed with a certificate of another one."""
    from geminids.sharing.records.cms import read_envelope

    return Forge(read_envelope(token).content, certified("Another clock", root))


def test_what_is_made_by_hand_is_a_token_unless_something_is_done_to_it(
    forge: Forge, root: Holder, authority: Authority
) -> None:
    token = forge.made()
    # It says that our clock made it, which openssl compares with its certificate.
    assert read_token(token) == token
    assert check_token(token, CONTENT, [root.pem]).is_trusted


def set_kind(forge: Forge) -> None:
    forge.kind = "1.2.840.113549.1.7.1"


def sign_another_kind(forge: Forge) -> None:
    forge.kind_signed = "1.2.840.113549.1.7.1"


def leave_out_certificate_id(forge: Forge) -> None:
    forge.has_certificate_id = False


def say_twice(forge: Forge) -> None:
    digest = der.written(der.OCTETS, hashlib.sha256(b"another").digest())
    forge.more_attributes = [attribute("1.2.840.113549.1.9.4", digest)]


def add_unsigned(forge: Forge) -> None:
    forge.unsigned = der.written(0xA1, attribute("1.2.3.4", der.written_number(1)))


def add_revocations(forge: Forge) -> None:
    forge.revocations = der.written(0xA1)


def set_versions(forge: Forge) -> None:
    forge.versions = (3, 3)


def set_algorithm(forge: Forge) -> None:
    forge.algorithm = "1.2.840.10045.4.3.4"


def set_other_algorithm(forge: Forge) -> None:
    forge.algorithm = "1.2.840.113549.1.1.11"


def sign_twice(forge: Forge) -> None:
    forge.signers = 2


def sign_never(forge: Forge) -> None:
    forge.signers = 0


@pytest.mark.parametrize(
    ("trouble", "reason"),
    [
        (set_kind, "it is a signed message, but no time stamp"),
        (sign_another_kind, "its signature is over something else"),
        (leave_out_certificate_id, "its signature leaves out what a time stamp must sign"),
        (say_twice, "it says something twice"),
        (add_unsigned, "it has more or fewer parts than it must have"),
        (add_revocations, "its envelope has parts that no time stamp has"),
        (set_versions, "its signature is of an unknown version"),
        (set_algorithm, "its signature names two hashes"),
        (set_other_algorithm, "its signature is of a kind that is not known here (1.2.840.113549.1.1.11)"),
        (sign_twice, "it has more or fewer parts than it must have"),
        (sign_never, "it has more or fewer parts than it must have"),
    ],
)
def test_tokens_that_no_authority_makes_are_refused(
    forge: Forge, root: Holder, trouble: Callable[[Forge], None], reason: str
) -> None:
    trouble(forge)
    for roots in ([], [root.pem], [forge.holder.pem]):
        found = check_token(forge.made(), CONTENT, roots)
        assert (found.holds, found.is_trusted, found.reason) == (False, False, reason)


@pytest.mark.parametrize(
    ("usages", "is_critical"),
    [
        ([TIME_STAMPING], False),
        ([ExtendedKeyUsageOID.CODE_SIGNING], True),
        ([TIME_STAMPING, ExtendedKeyUsageOID.CODE_SIGNING], True),
        ([], True),
    ],
    ids=["not critical", "for code", "for both", "for all"],
)
def test_a_certificate_that_is_not_for_time_stamps_alone_is_refused(
    forge: Forge, root: Holder, usages: list[object], is_critical: bool
) -> None:
    forge.holder = certified("Not a clock", root, usages=usages, is_critical=is_critical)  # type: ignore[arg-type]
    for roots in ([], [root.pem], [forge.holder.pem]):
        found = check_token(forge.made(), CONTENT, roots)
        assert not found.holds
        assert found.reason.startswith("its certificate is not one for time stamps")


def test_a_certificate_put_in_the_place_of_another_is_refused(
    forge: Forge, token: bytes, root: Holder
) -> None:
    """Whoever changes the time has to sign anew, with a certificate that nobody issued."""
    forge.holder = certified("Our clock", certified("Our root"))
    assert check_token(forge.made(), CONTENT).reason == ANYBODY
    found = check_token(forge.made(), CONTENT, [root.pem])
    assert (found.holds, found.is_trusted) == (False, False)


# In a signed record


def verdict(record: bytes | None = None, signature: bytes | None = None) -> Verdict:
    return Verdict(
        checks=(),
        record_bytes=CONTENT,
        signature=SIGNATURE,
        token_of_record=record,
        token_of_signature=signature,
    )


def test_the_time_stamps_of_a_record_are_checked(authority: Authority, token: bytes, root: Holder) -> None:
    over_signature = authority.token(cbor2.dumps(SIGNATURE))
    found = list(check_tokens(verdict(token, over_signature), [root.pem]))
    assert [(check.name, check.holds) for check in found] == [("time stamp", True), ("time stamp", True)]
    assert found[0].detail.startswith("the record was there at 2")
    assert found[1].detail.startswith("the signature was there at 2")
    assert found[1].detail.endswith(" UTC, says CN=Our clock")


def test_a_time_stamp_in_the_place_of_the_other_is_refused(authority: Authority, token: bytes) -> None:
    over_signature = authority.token(cbor2.dumps(SIGNATURE))
    found = list(check_tokens(verdict(over_signature, token), []))
    assert [check.holds for check in found] == [False, False]
    assert found[0].detail == "the one over the record does not hold: it is over something else"
    bare = authority.token(SIGNATURE)
    assert [check.holds for check in check_tokens(verdict(signature=bare), [])] == [False]


def test_a_time_stamp_of_anybody_is_said_and_proves_nothing(token: bytes) -> None:
    (found,) = check_tokens(verdict(token), [])
    assert found.holds is None
    assert found.detail.endswith(f"says CN=Our clock; {ANYBODY}")


def test_who_asks_for_a_time_stamp_gets_one_or_a_no(root: Holder) -> None:
    assert list(check_tokens(verdict(), [])) == []
    (found,) = check_tokens(verdict(), [root.pem])
    assert found.holds is False


@pytest.fixture(scope="module")
def stamped(authority: Authority) -> bytes:
    """A signed record with both time stamps."""
    content = encode_record(small_record(), JSON)
    signed = statement(content, small_record(), ED25519_KEY, CLAIMS, token=authority.token(content))
    return with_token(signed, authority.token(cbor2.dumps(open_envelope(signed).signature)))


def test_a_record_is_signed_with_time_stamps_and_verified(stamped: bytes, root: Holder) -> None:
    verdict = verify(stamped, keys=PUBLIC_KEYS)
    assert verdict.holds
    assert [check.holds for check in check_tokens(verdict, [root.pem])] == [True, True]
    assert [check.holds for check in check_tokens(verdict, [])] == [None, None]


def test_no_bit_of_a_time_stamp_beside_a_signature_can_be_changed(stamped: bytes) -> None:
    """The signature does not cover it, so it has to speak for itself, even if nobody knows the authority."""
    token = open_envelope(stamped).unsigned[TOKEN_OF_SIGNATURE]
    start = stamped.index(token)
    for bit in random.Random(2).sample(range(len(token) * 8), 400):
        changed = bytearray(stamped)
        changed[start + bit // 8] ^= 1 << bit % 8
        verdict = verify(bytes(changed), keys=PUBLIC_KEYS)
        assert False in [check.holds for check in check_tokens(verdict, [])], bit
