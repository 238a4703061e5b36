"""Errors of the records, with messages a user can act on: what, where, what to do."""

from __future__ import annotations

from collections.abc import Sequence

from geminids.core.errors import NOTHING_FOUND, GeminidsError
from geminids.core.installation import who_adds


class RecordError(GeminidsError):
    """Something about a record that cannot be done, and why."""


class SessionTooDeepError(RecordError):
    """A session that no record can hold."""

    def __init__(self) -> None:
        super().__init__("The session cannot be written as a record: it is nested too deeply.")


class SigningNotInstalledError(GeminidsError):
    """What signs and verifies is not there."""

    def __init__(self, package: str) -> None:
        super().__init__(
            f"Signing and verifying need {package}, which cannot be loaded; {who_adds('sign')} adds it."
        )


class NoKeyError(GeminidsError):
    """There is no key to sign with."""

    exit_code = NOTHING_FOUND

    def __init__(self) -> None:
        super().__init__("You have no signing key yet. Create one with `geminids key new --issuer NAME`.")


class NoDefaultKeyError(GeminidsError):
    """There are several keys, and nothing says which one is meant."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(
            f"None of your {len(names)} keys is the default. Choose one with --key: {', '.join(names)}."
        )


class KeyNotFoundError(GeminidsError):
    """No key is meant by this."""

    exit_code = NOTHING_FOUND

    def __init__(self, wanted: str, names: Sequence[str]) -> None:
        none = "You have none; create one with `geminids key new --issuer NAME`."
        there = f"Available: {', '.join(names)}." if names else none
        super().__init__(f"No key {wanted!r}. {there}")


class AmbiguousKeyError(GeminidsError):
    """Several keys are meant by this."""

    def __init__(self, wanted: str, names: Sequence[str]) -> None:
        super().__init__(f"{wanted!r} could be any of {', '.join(names)}; give a name, or more of the id.")


class KeyNameError(GeminidsError):
    """A name that no key can have."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"A key cannot be called {name!r}. A name has up to 64 letters (a-z, A-Z), digits, `-`, `_` and "
            "`.`, begins with a letter or a digit, and ends neither with `.` nor with `.pub`."
        )


class KeyExistsError(GeminidsError):
    """There is a key of this name."""

    def __init__(self, name: str, path: str) -> None:
        super().__init__(f"A key {name!r} already exists: {path!r}. Give the new key another name.")


class KeyAlgorithmError(GeminidsError):
    """No key of this kind can be made."""

    def __init__(self, wanted: str, known: Sequence[str]) -> None:
        super().__init__(f"Unknown algorithm {wanted!r}. Available: {', '.join(known)}.")


class IssuerError(GeminidsError):
    """An issuer that is none."""

    def __init__(self) -> None:
        super().__init__("An issuer is a name or an address on one line, of up to 300 characters.")


class EmptyPassphraseError(GeminidsError):
    """A passphrase that protects nothing."""

    def __init__(self) -> None:
        super().__init__("The passphrase is empty. Without one, leave --passphrase out.")


class UnusableKeyError(GeminidsError):
    """A file that should hold a key cannot be used."""

    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        self.reason = reason
        super().__init__(f"Cannot use the key {path!r}: {reason}.")


class PassphraseNeededError(GeminidsError):
    """A key has a passphrase, and there is nobody who could give it."""

    def __init__(self, whose: str) -> None:
        super().__init__(
            f"{whose} needs a passphrase, and there is no terminal to ask. Set GEMINIDS_KEY_PASSPHRASE."
        )


class BadTokenError(GeminidsError):
    """A file holds no time stamp token."""

    def __init__(self, path: str | None, reason: str) -> None:
        whose = f" {path!r}" if path else ""
        super().__init__(f"Cannot use the time stamp{whose}: {reason}.")


class CommitmentError(RecordError):
    """A record that cannot be committed to."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"Cannot commit to the record: {reason}.")


class SigningError(RecordError):
    """Something that cannot be signed."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"Cannot sign: {reason}.")


class ExcerptError(RecordError):
    """A redacted record that no signature would prove."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"Cannot make an excerpt: {reason}.")


class WithholdingError(RecordError):
    """A piece that cannot be taken out of a record."""

    def __init__(self, pointer: str, reason: str) -> None:
        super().__init__(f"Cannot remove {pointer or 'the whole record'!r} from the record: {reason}.")


class SignatureAloneError(RecordError):
    """A signature without the record that was signed."""

    def __init__(self) -> None:
        super().__init__("This is only a signature. Give the file of the record that it signs.")
