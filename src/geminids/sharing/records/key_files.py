"""Keys as they stand in files: PEM, with or without a passphrase.

    PRIVATE KEY, ENCRYPTED PRIVATE KEY    PKCS #8, which is also what we write
    EC PRIVATE KEY                        SEC 1
    OPENSSH PRIVATE KEY                   what ssh-keygen writes

Of their kinds only Ed25519 and P-256 are taken, the two that statements are signed with. No error ever tells
what is in a private key, or a passphrase.
"""

from __future__ import annotations

import os
import secrets
import shlex
import stat
from base64 import encodebytes
from collections.abc import Callable
from pathlib import Path

from geminids.sharing.records import der
from geminids.sharing.records.errors import PassphraseNeededError, SigningNotInstalledError, UnusableKeyError

try:
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ec import (
        SECP256R1,
        EllipticCurvePrivateKey,
        EllipticCurvePublicKey,
        generate_private_key,
    )
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
    from cryptography.hazmat.primitives.ciphers import Cipher
    from cryptography.hazmat.primitives.ciphers.algorithms import AES256
    from cryptography.hazmat.primitives.ciphers.modes import CBC
    from cryptography.hazmat.primitives.kdf.scrypt import Scrypt
    from cryptography.hazmat.primitives.padding import PKCS7
    from cryptography.hazmat.primitives.serialization import (
        Encoding,
        NoEncryption,
        PrivateFormat,
        PublicFormat,
        load_pem_private_key,
        load_pem_public_key,
        load_ssh_private_key,
    )
except ImportError as missing:
    raise SigningNotInstalledError(missing.name or "cryptography") from None

PrivateKey = Ed25519PrivateKey | EllipticCurvePrivateKey
PublicKey = Ed25519PublicKey | EllipticCurvePublicKey
Ask = Callable[[str], bytes]
"""Asked for a passphrase with the words that say of what."""

ED25519 = "ed25519"
ES256 = "es256"

LONGEST = 64 * 1024
"""Bytes; no file of a key is longer."""

_OF_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_KINDS = "only Ed25519 and P-256 keys can sign records"

_PBES2 = "1.2.840.113549.1.5.13"
_SCRYPT = "1.3.6.1.4.1.11591.4.11"
_AES256_CBC = "2.16.840.1.101.3.4.1.42"
_COST, _BLOCK, _LANES = 2**14, 8, 5
"""What it costs to try a passphrase. With more memory at a time, openssl would not read the file."""


def made_key(algorithm: str) -> PrivateKey:
    """A new key."""
    return Ed25519PrivateKey.generate() if algorithm == ED25519 else generate_private_key(SECP256R1())


def algorithm_of(key: PublicKey) -> str:
    """What a key signs with."""
    return ED25519 if isinstance(key, Ed25519PublicKey) else ES256


def public_pem(key: PublicKey) -> bytes:
    """The public half as it is handed to others."""
    return key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def private_pem(key: PrivateKey, passphrase: bytes | None) -> bytes:
    """The private half as it is kept: PKCS #8."""
    if passphrase is None:
        return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    plain = key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())
    return _armoured("ENCRYPTED PRIVATE KEY", _encrypted(plain, passphrase))


def has_passphrase(content: bytes) -> bool:
    """Whether the private half that we wrote asks for a passphrase."""
    return b"-----BEGIN ENCRYPTED PRIVATE KEY-----" in content


def read_file(path: str) -> bytes:
    """What is in the file of a key. Raises UnusableKeyError if it cannot be read, or is far too long."""
    try:
        with Path(path).open("rb") as file:
            content = file.read(LONGEST + 1)
    except OSError as error:
        raise UnusableKeyError(path, error.strerror or "it cannot be read") from None
    if len(content) > LONGEST:
        raise UnusableKeyError(path, f"it is longer than {LONGEST:,} bytes and cannot be a key")
    return content


def check_mode(path: str) -> None:
    """Raises UnusableKeyError if others can get at what is in a file."""
    if reason := exposure(path):
        raise UnusableKeyError(path, reason)


def exposure(path: str) -> str | None:
    """Why a file is not for its user alone, and what to do about it; None: it is, or nothing tells."""
    try:
        mode = Path(path).stat().st_mode
    except OSError:
        # Whoever reads it will say so.
        return None
    if os.name != "posix" or not stat.S_ISREG(mode) or not mode & _OF_OTHERS:
        return None
    return (
        f"other users can read it (mode {stat.S_IMODE(mode):03o}). `chmod 600 {shlex.quote(path)}` fixes that"
    )


def parse_public(path: str, content: bytes) -> PublicKey:
    """The public half that is in a file. Raises UnusableKeyError."""
    try:
        key = load_pem_public_key(content)
    except (ValueError, UnsupportedAlgorithm):
        raise UnusableKeyError(path, "it holds no readable public key") from None
    match key:
        case Ed25519PublicKey():
            return key
        case EllipticCurvePublicKey(curve=SECP256R1()):
            return key
        case _:
            raise UnusableKeyError(path, f"it is of another kind; {_KINDS}")


def parse_private(path: str, content: bytes, ask: Ask | None, whose: str) -> PrivateKey:
    """The private half that is in a file. Raises UnusableKeyError, or PassphraseNeededError without `ask`."""
    try:
        key = _load(content, None)
    except TypeError:
        # So the loaders say that it has a passphrase.
        key = _unlocked(path, content, ask, whose)
    except UnsupportedAlgorithm:
        raise UnusableKeyError(path, f"it is of another kind; {_KINDS}") from None
    except ValueError:
        raise UnusableKeyError(path, _why_none(content)) from None
    match key:
        case Ed25519PrivateKey():
            return key
        case EllipticCurvePrivateKey(curve=SECP256R1()):
            return key
        case _:
            raise UnusableKeyError(path, f"it is of another kind; {_KINDS}")


def _load(content: bytes, passphrase: bytes | None) -> object:
    if b"-----BEGIN OPENSSH PRIVATE KEY-----" in content:
        return load_ssh_private_key(content, passphrase)
    return load_pem_private_key(content, passphrase)


def _unlocked(path: str, content: bytes, ask: Ask | None, whose: str) -> object:
    if ask is None:
        raise PassphraseNeededError(whose)
    try:
        return _load(content, ask(f"Passphrase of {whose}"))
    except UnsupportedAlgorithm:
        reason = (
            "its passphrase cannot be used here. `ssh-keygen -p -N '' -f COPY` on a copy removes it; "
            "`geminids key new --passphrase` creates a key with a usable one"
        )
        raise UnusableKeyError(path, reason) from None
    except (ValueError, TypeError, MemoryError):
        # A file may say that guessing takes more memory than there is.
        raise UnusableKeyError(path, "wrong passphrase, or the file is damaged") from None


def _why_none(content: bytes) -> str:
    if b"PUBLIC KEY-----" in content:
        return "it is a public key; signing needs the private key"
    if b"-----BEGIN" not in content:
        return "it is not a PEM file: it has no line `-----BEGIN … PRIVATE KEY-----`"
    return "it holds no readable private key"


def _encrypted(plain: bytes, passphrase: bytes) -> bytes:
    """An EncryptedPrivateKeyInfo with scrypt; what cryptography itself writes costs far less to guess."""
    salt, start = secrets.token_bytes(16), secrets.token_bytes(16)
    secret = Scrypt(salt=salt, length=32, n=_COST, r=_BLOCK, p=_LANES).derive(passphrase)
    padder = PKCS7(128).padder()
    encryptor = Cipher(AES256(secret), CBC(start)).encryptor()
    hidden = encryptor.update(padder.update(plain) + padder.finalize()) + encryptor.finalize()
    costs = map(der.written_number, (_COST, _BLOCK, _LANES))
    derivation = _algorithm(_SCRYPT, der.written(der.SEQUENCE, der.written(der.OCTETS, salt), *costs))
    cipher = _algorithm(_AES256_CBC, der.written(der.OCTETS, start))
    scheme = _algorithm(_PBES2, der.written(der.SEQUENCE, derivation, cipher))
    return der.written(der.SEQUENCE, scheme, der.written(der.OCTETS, hidden))


def _algorithm(name: str, parameters: bytes) -> bytes:
    return der.written(der.SEQUENCE, der.written_object(name), parameters)


def _armoured(label: str, content: bytes) -> bytes:
    lines = encodebytes(content).replace(b"\n", b"")
    broken = b"\n".join(lines[at : at + 64] for at in range(0, len(lines), 64))
    return b"-----BEGIN %b-----\n%b\n-----END %b-----\n" % (label.encode(), broken, label.encode())
