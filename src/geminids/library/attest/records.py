"""Signed records, for whoever makes, checks and cuts them. `Library.records` gives it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from geminids.core.config import is_below
from geminids.core.errors import AgentFolderError
from geminids.library.attest.attestation import Attester, Signer, write_signed
from geminids.library.attest.chain import Statements
from geminids.library.attest.choices import SigningManner, Unwanted
from geminids.library.attest.excerpt import Excerpt, ListedEntry, excerpt_of, listed_entries, signed_record
from geminids.library.attest.signed_files import is_cose, read_given
from geminids.library.attest.verification import Asked, RecordVerifier
from geminids.library.attest.verified import TrustedKey
from geminids.query.sessions.input_files import is_document
from geminids.sharing.export.files import write_file
from geminids.sharing.records import encoding, standalone
from geminids.sharing.records.errors import BadTokenError, RecordError
from geminids.sharing.records.keys import FOLDER, KeyStore, load_private
from geminids.sharing.records.record_maker import RecordMaker
from geminids.sharing.records.signature import with_token
from geminids.sharing.records.timestamps import certificates, check_token, read_token, signature_field

if TYPE_CHECKING:
    from geminids.core.model import Session
    from geminids.library.context import LibraryContext
    from geminids.sharing.records.standalone import PublicKey
    from geminids.sharing.redact import Redactor

Ask = Callable[[str], bytes]
"""Asks for the passphrase of a key that is named."""


class Records:
    """What can be done with signed records."""

    def __init__(self, context: LibraryContext, read: Callable[[Path], list[Session]]) -> None:
        """`read` gives the sessions in a file of an agent."""
        self._context = context
        self._read = read
        self._maker = RecordMaker(context.content)

    @cached_property
    def keys(self) -> KeyStore:
        """The keys that are kept here."""
        if self._context.data_folder is None:
            raise RecordError(
                "Keys are stored in the data directory, and this user has none. Set one with --data."
            )
        return KeyStore(f"{self._context.data_folder}/{FOLDER}")

    # Making

    def record(self, session: Session) -> dict[str, Any]:
        """A session with all that its files say beside it, as a record."""
        return self._maker.whole(session).record

    def signer(self, key: str | None, issuer: str | None, ask: Ask | None) -> Signer:
        """Who signs: with a kept key, the only or first one if none is named, or with that of a file."""
        if key is not None and _is_file(key):
            private, known = load_private(Path(key), ask), None
        else:
            kept = self.keys.get(key) if key is not None else self.keys.default()
            private, known = self.keys.private(kept.name, ask), kept.issuer
        if not (said := issuer or known):
            raise RecordError(
                "Who signs? Give --issuer NAME, or set it once with `geminids key set --issuer NAME`."
            )
        return Signer(private, said)

    def attesting(self, signer: Signer, manner: SigningManner, redactor: Redactor | None = None) -> Attester:
        """All that is chosen for signed records."""
        return Attester(self._maker, signer, manner, redactor, self._context.agents_folders())

    def statements(self, folder: Path) -> Statements:
        """A folder in which each statement of a session is tied to the one before it."""
        return Statements(folder, self._context.agents_folders())

    def is_record(self, path: Path) -> bool:
        """Whether a file is a record, of whomever, that is not signed yet."""
        try:
            record, _ = encoding.decode(path.read_bytes())
        except (OSError, ValueError, RecordError):
            return False
        return "version" in record and isinstance(record.get("session"), dict)

    def is_signed(self, path: Path) -> bool:
        """Whether a file is a signature, with a record in it or without."""
        return path.is_file() and is_cose(read_given(path))

    def token(self, path: Path) -> bytes:
        """The time stamp in a file."""
        return read_token(read_given(path), str(path))

    def stamped(self, signed: Path, token: Path) -> bytes:
        """A signed record with a time stamp over its signature."""
        content, stamp = read_given(signed), self.token(token)
        verdict = standalone.verify(content)
        if verdict.form == "excerpt":
            raise RecordError(
                f"{str(signed)!r} is an excerpt, which cannot have a time stamp. Add it to the whole record."
            )
        check = check_token(stamp, signature_field(verdict.signature or b""))
        if not check.holds:
            raise BadTokenError(str(token), check.reason)
        return with_token(content, stamp)

    def refuse_document(self, path: Path) -> None:
        """Refuse a session that was exported: what it says of files is anybody's word, and none is opened."""
        if is_document(path):
            raise RecordError(
                f"{str(path)!r} is an exported session, not a file of an agent. Sign the session itself, "
                "or the output of `geminids export -f vac`."
            )

    def write(self, target: Path, content: bytes, *, force: bool) -> None:
        """Write a file, whole or not at all, and never into the folder of an agent."""
        self._refuse_agents_folder(target)
        write_file(target, [content], force=force)

    # Cutting

    def excerpt(
        self, path: Path, signature: Path | None, unwanted: Unwanted, redactor: Redactor | None = None
    ) -> Excerpt:
        """A signed record without some of its pieces."""
        return excerpt_of(path, signature, unwanted, redactor, list(self._own_keys().values()))

    def entries(self, path: Path, signature: Path | None) -> list[ListedEntry]:
        """The record in a signed file, to choose pieces of it."""
        return listed_entries(signed_record(path, signature, list(self._own_keys().values())))

    def write_excerpt(self, excerpt: Excerpt, target: Path, *, force: bool) -> list[Path]:
        """Write what is left of a signed record; the files that were written."""
        self._refuse_agents_folder(target)
        return write_signed(target, excerpt.signed, excerpt.beside, force=force)

    # Checking

    def verifying(
        self,
        *,
        keys: Sequence[str] = (),
        sources: Sequence[Path] = (),
        authorities: Sequence[Path] = (),
        previous: Path | None = None,
        is_unsigned: bool = False,
    ) -> RecordVerifier:
        """All that is asked of signed records. Without keys, those that are kept here are taken."""
        own = {} if keys else self._own_keys()
        asked = Asked(
            keys=[self._public(key) for key in keys] or list(own.values()),
            trusted=[TrustedKey(key, not _is_file(key)) for key in keys or own],
            are_chosen=bool(keys),
            sources=sources,
            authorities=_authorities(authorities),
            previous=previous,
            is_unsigned=is_unsigned,
        )
        return RecordVerifier(asked, self._read, self.record)

    def write_verifier(self, target: Path) -> None:
        """Write the verifier as one file that needs nothing of ours. Only an older one is replaced."""
        written = Path(standalone.__file__).read_bytes()
        is_verifier = target.is_file() and target.read_bytes().startswith(written.splitlines()[0])
        self.write(target, written, force=is_verifier)

    def _refuse_agents_folder(self, target: Path) -> None:
        if is_below(str(target), self._context.agents_folders()):
            raise AgentFolderError(str(target))

    def _public(self, key: str) -> PublicKey:
        if not _is_file(key):
            return standalone.load_public_key(self.keys.get(key).public_pem.encode())
        try:
            return standalone.load_public_key(read_given(Path(key)))
        except ValueError as error:
            raise RecordError(
                f"{key!r} holds no usable public key. `geminids key show` prints one."
            ) from error

    def _own_keys(self) -> dict[str, PublicKey]:
        """The public keys of this user, by their names."""
        if self._context.data_folder is None:
            return {}
        return {key.name: standalone.load_public_key(key.public_pem.encode()) for key in self.keys.all()}


def _is_file(key: str) -> bool:
    """Whether a file is meant, and not the name of a kept key."""
    return "/" in key or "\\" in key or key.endswith((".pem", ".pub", ".key"))


def _authorities(paths: Sequence[Path]) -> list[bytes]:
    """Certificates of whom time stamps are believed. Raises RecordError for a file that holds none."""
    for path in paths:
        try:
            certificates([read_given(path)])
        except ValueError as error:
            raise RecordError(f"{str(path)!r} holds no PEM certificate.") from error
    return [read_given(path) for path in paths]
