"""The keys that this user signs records with.

    <data folder>/keys/<name>.pem        the private half, for this user alone, with or without a passphrase
    <data folder>/keys/<name>.pub.pem    the public half
    <data folder>/keys/<name>.json       who signs with it, when it was made, whether it is the default

The facts can get lost: what a key is follows from its halves. What else lies in the folder is named and left
alone. Nothing here prints, and no private key or passphrase is ever part of a message.
"""

from __future__ import annotations

import os
import re
import shlex
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import msgspec

from geminids.core import small_files
from geminids.core.errors import FileExistsAlreadyError
from geminids.sharing.export.private_files import PrivateFile, write_private
from geminids.sharing.records.errors import (
    AmbiguousKeyError,
    EmptyPassphraseError,
    IssuerError,
    KeyAlgorithmError,
    KeyExistsError,
    KeyNameError,
    KeyNotFoundError,
    NoDefaultKeyError,
    NoKeyError,
    UnusableKeyError,
)
from geminids.sharing.records.key_files import (
    ED25519,
    ES256,
    Ask,
    PrivateKey,
    PublicKey,
    algorithm_of,
    check_mode,
    exposure,
    has_passphrase,
    made_key,
    parse_private,
    parse_public,
    private_pem,
    public_pem,
    read_file,
)
from geminids.sharing.records.public_keys import FoundKeys, SigningKey, StrangeKeyFile
from geminids.sharing.records.standalone import key_id

__all__ = [
    "ALGORITHMS",
    "FOLDER",
    "Ask",
    "KeyStore",
    "PrivateKey",
    "PublicKey",
    "algorithm_of",
    "load_private",
]

FOLDER = "keys"
"""Where keys are, in our own folder."""
ALGORITHMS = (ED25519, ES256)

LEAST_OF_AN_ID = 4
"""So many digits of a key's id mean it at least."""
LONGEST_ISSUER = 300

_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9_-])?")
_PRIVATE, _PUBLIC, _FACTS = ".pem", ".pub.pem", ".json"
_CHANGED_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH


class _Facts(msgspec.Struct, frozen=True, kw_only=True):
    """What the halves of a key do not tell."""

    issuer: str | None = None
    created_at: datetime | None = None
    default: bool = False


class KeyStore:
    """The keys in a folder."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def new(
        self,
        name: str,
        algorithm: str = ED25519,
        issuer: str | None = None,
        passphrase: bytes | None = None,
        at: datetime | None = None,
    ) -> SigningKey:
        """Make a key; the first one becomes the default. It is kept whole or not at all."""
        _check_new(name, algorithm, issuer, passphrase)
        self._check_folder()
        private = made_key(algorithm)
        created = at or datetime.now(UTC)
        facts = _Facts(issuer=issuer, created_at=created, default=not self.names())
        wanted = {
            _PRIVATE: private_pem(private, passphrase),
            _PUBLIC: public_pem(private.public_key()),
            _FACTS: _written(facts),
        }
        self._write(name, wanted)
        return self.get(name)

    def change(self, wanted: str, *, issuer: str | None = None, is_default: bool = False) -> SigningKey:
        """Note who signs with a key, or that it signs where no other is named; the key as it is then."""
        _check_issuer(issuer)
        key = self.get(wanted)
        self._check_folder()
        for name in self.names() if is_default else ():
            facts = self._facts(name, [])
            if facts.default and name != key.name:
                self._note(name, msgspec.structs.replace(facts, default=False))
        before = self._facts(key.name, [])
        self._note(
            key.name,
            _Facts(
                issuer=before.issuer if issuer is None else issuer,
                created_at=before.created_at or key.created_at,
                default=before.default or is_default,
            ),
        )
        return self.get(key.name)

    def delete(self, wanted: str) -> SigningKey:
        """Delete a key for good; the key as it was. What it signed can be verified with its public half."""
        key = self.get(wanted)
        self._check_folder()
        # What must not be left over goes first.
        for suffix in (_PRIVATE, _PUBLIC, _FACTS):
            # Only the private half need be there.
            with suppress(FileNotFoundError):
                Path(self._path(key.name, suffix)).unlink()
        return key

    def found(self) -> FoundKeys:
        """All keys, and all that is in the folder and should not be there as it is."""
        marked: list[tuple[SigningKey, bool]] = []
        strange: list[StrangeKeyFile] = list(self._foreign())
        for name in self.names():
            try:
                marked.append(self._read(name, strange))
            except UnusableKeyError as error:
                strange.append(StrangeKeyFile(error.path, error.reason))
        marked.sort(key=lambda one: (one[0].created_at, one[0].name))
        return FoundKeys(_with_default(marked), strange)

    def all(self) -> list[SigningKey]:
        """All keys that can be read, the oldest first."""
        return list(self.found().keys)

    def names(self) -> list[str]:
        """The names of all keys, whether they can be read or not."""
        stems = (file.removesuffix(_PRIVATE) for file in self._files() if _is_private_half(file))
        return [name for name in stems if _is_name(name)]

    def get(self, wanted: str) -> SigningKey:
        """The key of this name, else the one whose id begins so."""
        known = self.found()
        for key in known.keys:
            if key.name == wanted:
                return key
        if _is_name(wanted) and wanted in self.names():
            # It is there and cannot be read; this says why.
            self._read(wanted, [])
        return _called(wanted, known.keys)

    def default(self) -> SigningKey:
        """The key that signs where none is named."""
        keys = self.all()
        if not keys:
            raise NoKeyError
        for key in keys:
            if key.is_default:
                return key
        raise NoDefaultKeyError([key.name for key in keys])

    def public(self, wanted: str) -> PublicKey:
        """The public half of a key."""
        key = self.get(wanted)
        return parse_public(self._path(key.name, _PUBLIC), key.public_pem.encode())

    def private(self, wanted: str, ask: Ask | None = None) -> PrivateKey:
        """The private half of a key. `ask` gives its passphrase, if it has one."""
        key = self.get(wanted)
        path = self.private_path(key.name)
        self._check_folder()
        check_mode(path)
        private = parse_private(path, read_file(path), ask, f"the key {key.name!r}")
        if key_id(private.public_key()).hex() != key.key_id:
            reason = f"its public key, {self._path(key.name, _PUBLIC)!r}, is that of another key"
            raise UnusableKeyError(path, reason)
        return private

    def private_path(self, name: str) -> str:
        """Where the private half of a key is."""
        return self._path(name, _PRIVATE)

    def _path(self, name: str, suffix: str) -> str:
        return os.path.join(self.folder, f"{name}{suffix}")  # noqa: PTH118 - a text as all else here

    def _files(self) -> list[str]:
        """What is in the folder. Hidden files are left out: systems put theirs everywhere."""
        try:
            return sorted(file.name for file in Path(self.folder).iterdir() if not file.name.startswith("."))
        except FileNotFoundError:
            return []
        except OSError as error:
            raise UnusableKeyError(self.folder, error.strerror or "the folder cannot be read") from None

    def _foreign(self) -> Iterator[StrangeKeyFile]:
        """What belongs to no key."""
        names = set(self.names())
        for file in self._files():
            stem = _stem(file)
            if stem in names:
                continue
            path = os.path.join(self.folder, file)  # noqa: PTH118
            if stem is not None and _is_name(stem) and not _is_private_half(file):
                yield StrangeKeyFile(path, f"the private key, {self._path(stem, _PRIVATE)!r}, is missing")
            else:
                yield StrangeKeyFile(path, "it is no key of geminids, and is left alone")

    def _read(self, name: str, strange: list[StrangeKeyFile]) -> tuple[SigningKey, bool]:
        """A key, and whether it was marked as the default; what is not as it should be is noted."""
        path = self._path(name, _PRIVATE)
        content = _regular(path)
        if reason := exposure(path):
            strange.append(StrangeKeyFile(path, reason))
        public = self._public(name, content)
        facts = self._facts(name, strange)
        key = SigningKey(
            name=name,
            algorithm=algorithm_of(public),
            key_id=key_id(public).hex(),
            issuer=facts.issuer,
            created_at=facts.created_at or _written_at(path),
            has_passphrase=has_passphrase(content),
            is_default=False,
            public_pem=public_pem(public).decode(),
        )
        return key, facts.default

    def _public(self, name: str, private: bytes) -> PublicKey:
        """The public half: that of its file, else of the private half if that needs no passphrase."""
        path, private_path = self._path(name, _PUBLIC), self._path(name, _PRIVATE)
        if os.path.lexists(path):
            return parse_public(path, _regular(path))
        if has_passphrase(private):
            command = shlex.join(["openssl", "pkey", "-in", private_path, "-pubout", "-out", path])
            raise UnusableKeyError(path, f"the file is missing. `{command}` makes it again")
        return parse_private(private_path, private, None, f"the key {name!r}").public_key()

    def _facts(self, name: str, strange: list[StrangeKeyFile]) -> _Facts:
        path = self._path(name, _FACTS)
        if not os.path.lexists(path):
            return _Facts()
        try:
            facts = msgspec.json.decode(_regular(path), type=_Facts)
        except (UnusableKeyError, msgspec.DecodeError, UnicodeDecodeError):
            strange.append(StrangeKeyFile(path, "it cannot be read, so who signs with this key is not known"))
            return _Facts()
        if facts.created_at is not None and facts.created_at.tzinfo is None:
            return msgspec.structs.replace(facts, created_at=facts.created_at.replace(tzinfo=UTC))
        return facts

    def _write(self, name: str, wanted: dict[str, bytes]) -> None:
        files = [PrivateFile(self._path(name, suffix), partial(bytes, it)) for suffix, it in wanted.items()]
        try:
            write_private(files)
        except FileExistsAlreadyError:
            taken = (path for path in (file.path for file in files) if os.path.lexists(path))
            raise KeyExistsError(name, next(taken, self._path(name, _PRIVATE))) from None

    def _note(self, name: str, facts: _Facts) -> None:
        small_files.write(self.folder, f"{name}{_FACTS}", _written(facts))

    def _check_folder(self) -> None:
        """Raises UnusableKeyError if others could put keys of theirs here."""
        try:
            mode = Path(self.folder).stat().st_mode
        except FileNotFoundError:
            return
        except OSError as error:
            raise UnusableKeyError(self.folder, error.strerror or "the folder cannot be read") from None
        if not stat.S_ISDIR(mode):
            raise UnusableKeyError(self.folder, "it is not a folder")
        if os.name == "posix" and mode & _CHANGED_BY_OTHERS:
            mend = f"`chmod 700 {shlex.quote(self.folder)}` mends that"
            raise UnusableKeyError(self.folder, f"other users can change files in this folder. {mend}")


def load_private(path: str | os.PathLike[str], ask: Ask | None = None) -> PrivateKey:
    """A private key from a file that was given by hand. A pipe will do, so that no file need be there."""
    given = os.fspath(path)
    content = read_file(given)
    if b"PRIVATE KEY" in content:
        # A public half may be read by anybody, and what else it is will be said.
        check_mode(given)
    return parse_private(given, content, ask, repr(given))


def _check_new(name: str, algorithm: str, issuer: str | None, passphrase: bytes | None) -> None:
    if not _is_name(name):
        raise KeyNameError(name)
    if algorithm not in ALGORITHMS:
        raise KeyAlgorithmError(algorithm, ALGORITHMS)
    _check_issuer(issuer)
    if passphrase == b"":
        raise EmptyPassphraseError


def _check_issuer(issuer: str | None) -> None:
    if issuer is not None and not (issuer.isprintable() and 0 < len(issuer.strip()) <= LONGEST_ISSUER):
        raise IssuerError


def _written(facts: _Facts) -> bytes:
    return msgspec.json.format(msgspec.json.encode(facts), indent=2) + b"\n"


def _is_name(name: str) -> bool:
    return bool(_NAME.fullmatch(name)) and not name.lower().endswith(".pub")


def _is_private_half(file: str) -> bool:
    return file.endswith(_PRIVATE) and not file.endswith(_PUBLIC)


def _stem(file: str) -> str | None:
    """The name of the key that a file would belong to."""
    for suffix in (_PUBLIC, _PRIVATE, _FACTS):
        if file.endswith(suffix):
            return file.removesuffix(suffix)
    return None


def _with_default(marked: Sequence[tuple[SigningKey, bool]]) -> list[SigningKey]:
    """The keys with the default among them: the only one, else the oldest of those that are marked."""
    chosen = [key for key, is_marked in marked if is_marked or len(marked) == 1][:1]
    return [msgspec.structs.replace(key, is_default=key in chosen) for key, _ in marked]


def _called(wanted: str, keys: Sequence[SigningKey]) -> SigningKey:
    """The key whose id begins so."""
    beginning = wanted.lower().strip()
    meant = (
        [key for key in keys if key.key_id.startswith(beginning)] if len(beginning) >= LEAST_OF_AN_ID else []
    )
    match meant:
        case [one]:
            return one
        case []:
            raise KeyNotFoundError(wanted, [key.name for key in keys])
        case several:
            raise AmbiguousKeyError(wanted, [key.name for key in several])


def _regular(path: str) -> bytes:
    """What is in a file of ours. Others than regular ones could keep us waiting for ever."""
    if os.path.lexists(path) and not Path(path).is_file():
        raise UnusableKeyError(path, "it is no regular file")
    return read_file(path)


def _written_at(path: str) -> datetime:
    """When a file was last written: the only trace of when a key was made, if its facts are lost."""
    try:
        return datetime.fromtimestamp(Path(path).stat().st_mtime, UTC)
    except OSError as error:
        raise UnusableKeyError(path, error.strerror or "it cannot be read") from None
