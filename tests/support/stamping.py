"""An authority of one's own that stamps times: `openssl ts` with certificates made here, in a folder."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509 import (
    BasicConstraints,
    Certificate,
    CertificateBuilder,
    ExtendedKeyUsage,
    KeyUsage,
    Name,
    NameAttribute,
    random_serial_number,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID, ObjectIdentifier

TIME_STAMPING = ExtendedKeyUsageOID.TIME_STAMPING
SettledKey = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey

SETTINGS = """
[tsa]
default_tsa = ours
[ours]
serial = {folder}/serial
crypto_device = builtin
signer_digest = {digest}
default_policy = 1.2.3.4.1
digests = sha1, sha256, sha384, sha512
accuracy = secs:1
ordering = no
tsa_name = yes
ess_cert_id_chain = no
ess_cert_id_alg = {id_digest}
"""


class Holder:
    """A certificate and its key."""

    def __init__(self, certificate: Certificate, key: SettledKey) -> None:
        self.certificate = certificate
        self.key = key

    @property
    def pem(self) -> bytes:
        return self.certificate.public_bytes(Encoding.PEM)

    @property
    def key_pem(self) -> bytes:
        return self.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def certified(
    name: str,
    by: Holder | None = None,
    *,
    usages: Sequence[ObjectIdentifier] | None = (TIME_STAMPING,),
    is_critical: bool = True,
    days: tuple[int, int] = (-10, 10),
    key: SettledKey | None = None,
) -> Holder:
    """A certificate for some name; without an issuer, or without usages, one that can issue others."""
    own = key or ec.generate_private_key(ec.SECP256R1())
    subject = Name([NameAttribute(NameOID.COMMON_NAME, name)])
    is_authority = by is None or usages is None
    now = datetime.now(UTC)
    builder = (
        CertificateBuilder()
        .subject_name(subject)
        .issuer_name(by.certificate.subject if by else subject)
        .public_key(own.public_key())
        .serial_number(random_serial_number())
        .not_valid_before(now + timedelta(days=days[0]))
        .not_valid_after(now + timedelta(days=days[1]))
        .add_extension(BasicConstraints(is_authority, None), critical=True)
        .add_extension(_key_usage(is_authority=is_authority), critical=True)
    )
    if by is not None and usages:
        builder = builder.add_extension(ExtendedKeyUsage(usages), critical=is_critical)
    return Holder(builder.sign(by.key if by else own, SHA256()), own)


def _key_usage(*, is_authority: bool) -> KeyUsage:
    return KeyUsage(
        digital_signature=not is_authority,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=is_authority,
        crl_sign=is_authority,
        encipher_only=False,
        decipher_only=False,
    )


class Authority:
    """An authority that stamps what it is given."""

    def __init__(self, folder: Path, holder: Holder, more: Sequence[Holder] = ()) -> None:
        self._openssl = shutil.which("openssl")
        if self._openssl is None:
            pytest.skip("no openssl: there is no authority here that could stamp times")
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.holder = holder
        (folder / "serial").write_text("01\n")
        (folder / "signer.pem").write_bytes(holder.pem)
        (folder / "signer.key").write_bytes(holder.key_pem)
        (folder / "chain.pem").write_bytes(b"".join(one.pem for one in more))
        self._has_chain = bool(more)

    def reply(
        self,
        content: bytes,
        *,
        digest: str = "sha256",
        signer_digest: str = "sha256",
        id_digest: str = "sha256",
        with_certificate: bool = True,
        policy: str | None = None,
    ) -> bytes:
        """The reply (TimeStampResp) to a query over these bytes."""
        folder = self.folder
        settings = SETTINGS.format(folder=folder, digest=signer_digest, id_digest=id_digest)
        (folder / "tsa.cnf").write_text(settings)
        (folder / "content").write_bytes(content)
        query = ["-query", "-data", "content", f"-{digest}", "-out", "query"]
        self._run(
            *query, *(["-cert"] if with_certificate else []), *(["-tspolicy", policy] if policy else [])
        )
        reply = ["-reply", "-config", "tsa.cnf", "-queryfile", "query", "-signer", "signer.pem"]
        chain = ["-chain", "chain.pem"] if self._has_chain else []
        self._run(*reply, "-inkey", "signer.key", *chain, "-out", "reply")
        return (folder / "reply").read_bytes()

    def token(self, content: bytes, **wishes: str | bool) -> bytes:
        """The bare token of the reply, as openssl takes it out."""
        self.reply(content, **wishes)  # type: ignore[arg-type]
        self._run("-reply", "-in", "reply", "-token_out", "-out", "token")
        return (self.folder / "token").read_bytes()

    def accepts(self, token: bytes, content: bytes, root: Holder) -> bool:
        """Whether openssl itself takes a token over these bytes."""
        for name, written in (("their", token), ("content", content), ("root.pem", root.pem)):
            (self.folder / name).write_bytes(written)
        line = ["-verify", "-data", "content", "-in", "their", "-token_in", "-CAfile", "root.pem"]
        return self._call(*line).returncode == 0

    def _run(self, *arguments: str) -> None:
        done = self._call(*arguments)
        assert done.returncode == 0, done.stderr.decode()

    def _call(self, *arguments: str) -> subprocess.CompletedProcess[bytes]:
        line = [self._openssl or "openssl", "ts", *arguments]
        return subprocess.run(line, cwd=self.folder, capture_output=True, check=False, timeout=60)
