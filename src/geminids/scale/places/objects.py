"""A folder in object storage: Amazon S3 and what speaks its protocol, Google Cloud Storage, Azure.

Credentials, regions and addresses of servers are those of the environment, by the names that the vendors'
own tools use. An object appears whole or not at all, in the place of the one before. What the storage fails
at is tried again for a while.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from functools import cache, partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, TypeVar
from urllib.parse import urlsplit

from geminids.core.piecewise import BUFFER, opened_piecewise
from geminids.scale.places.errors import PlaceError, ScaleNotInstalledError, StoreFailedError
from geminids.scale.places.stored import Stored

if TYPE_CHECKING:
    from obstore.store import RetryConfig
    from pyarrow.fs import FileSystem

Answer = TypeVar("Answer")

SCHEMES = {
    "s3": "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
    "gs": "GOOGLE_APPLICATION_CREDENTIALS",
    "az": "AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY",
}
"""What addresses begin with, and the variables that hold credentials."""
TRIES = 8
"""So often is anything tried again, with growing pauses: some twenty seconds in all."""
_RETRY: RetryConfig = {
    "max_retries": TRIES,
    "retry_timeout": timedelta(seconds=60),
    "backoff": {"init_backoff": timedelta(milliseconds=100), "max_backoff": timedelta(seconds=5), "base": 2},
}
_CHUNK, _AT_ONCE = 8 << 20, 2
"""Bytes of a large file that are sent in one request, and requests at once."""
_ADDRESS = re.compile(r"([a-z][a-z0-9+.-]*)://([^/?#]+)(/.*)?")

_TOLD = re.compile(r"<Code>(\w{1,80})</Code>\s*<Message>([^<>\x00-\x1f]{1,300})</Message>")
"""What a storage says in its own words."""
_BROKEN_OFF = re.compile("response body error|error decoding response body")


class Reason(NamedTuple):
    """What is said of an answer of the storage."""

    pattern: str
    says: str
    is_fault: bool = False
    """Whether it may be well the next time, with nothing changed."""


_REASONS = (
    Reason(
        "NoSuchBucket|ContainerNotFound|container does not exist|bucket does not exist",
        "there is no such bucket; create it, or check its name and the region",
    ),
    Reason(
        "169.254.169.254|metadata.google.internal|TokenRequest|CredentialsError|MissingAccount"
        "|Account must be specified|CredentialsProviderError",
        "no credentials were found; set {credentials}",
    ),
    Reason(
        "SignatureDoesNotMatch|InvalidAccessKeyId|AuthenticationFailed|ExpiredToken|InvalidToken"
        "|InvalidAuthenticationInfo|invalid_grant|401 Unauthorized",
        "the storage refuses the credentials; check {credentials}",
    ),
    Reason(
        "QuotaExceeded|StorageFull|InsufficientStorage|507|[Nn]o space left|not enough space|disk full"
        "|AccountBeingQuotaLimited",
        "the storage is full, or a quota of it is used up",
        is_fault=True,
    ),
    Reason(
        "403 Forbidden",
        "these credentials may not do that there; listing, reading, writing and deleting are needed",
    ),
    Reason(
        "builder error",
        "its server is asked over http:// only where AWS_ALLOW_HTTP=true says so",
    ),
    Reason(r"status code: (5\d\d|429)", "the storage answered {0}, also when asked again", is_fault=True),
    Reason(
        f"error sending request|timed out|connection|dns error|{_BROKEN_OFF.pattern}",
        "the storage cannot be reached, or breaks off each time",
        is_fault=True,
    ),
)


class ObjectStore:
    """A folder in a bucket."""

    def __init__(self, uri: str) -> None:
        """Raises PlaceError for an address that is none; nothing is asked yet."""
        self._uri = uri
        self.bucket, self.folder = address(uri)
        self._store = _opened(uri)

    def __reduce__(self) -> tuple[object, ...]:
        """How another process makes the same of it."""
        return ObjectStore, (self._uri,)

    @property
    def uri(self) -> str:
        """Its address."""
        return self._uri

    def listed(self, below: str = "") -> Iterator[Stored]:
        """All objects below a folder of it."""
        import obstore

        yield from map(_stored, self._ask(lambda: obstore.list(self._store, prefix=below or None).collect()))

    def held_in(self, folder: str) -> tuple[Sequence[str], Sequence[Stored]]:
        """The folders and the objects right in a folder, by their whole names."""
        import obstore

        found = self._ask(lambda: obstore.list_with_delimiter(self._store, folder or None))
        return found["common_prefixes"], [_stored(one) for one in found["objects"]]

    def about(self, name: str) -> Stored | None:
        """What an object looks like from outside; None if there is none."""
        import obstore

        try:
            return _stored(self._ask(lambda: obstore.head(self._store, name)))
        except FileNotFoundError:
            return None

    def read(self, name: str) -> bytes | None:
        """All that is in an object."""
        import obstore

        try:
            return self._ask(lambda: bytes(obstore.get(self._store, name).bytes()))
        except FileNotFoundError as error:
            self._refuse_missing_bucket(error)
            return None

    def part(self, name: str, start: int, end: int) -> memoryview:
        """The bytes of an object between two places. Raises FileNotFoundError if it is gone."""
        import obstore

        return self._ask(lambda: memoryview(obstore.get_range(self._store, name, start=start, end=end)))

    def opened(self, name: str, size: int, buffer: int = BUFFER) -> BinaryIO:
        """An object to be read piece by piece, so many bytes at least at a time."""
        return opened_piecewise(size, partial(self.part, name), buffer)

    def put(self, name: str, content: Path | bytes) -> None:
        """Write an object, whole or not at all."""
        import obstore

        self._ask(
            lambda: obstore.put(self._store, name, content, chunk_size=_CHUNK, max_concurrency=_AT_ONCE),
            writing=True,
        )

    def delete(self, name: str) -> None:
        """Remove an object, if it is there."""
        import obstore

        try:
            self._ask(lambda: obstore.delete(self._store, name), writing=True)
        except FileNotFoundError as error:
            self._refuse_missing_bucket(error)

    def file_system(self) -> tuple[FileSystem, str]:
        """The same for pyarrow: read by what reads it here, so with the same credentials and as often."""
        from pyarrow.fs import PyFileSystem

        from geminids.scale.places.arrow_files import ObjectFiles

        return PyFileSystem(ObjectFiles(self)), ""

    def _refuse_missing_bucket(self, error: FileNotFoundError) -> None:
        if re.search(_REASONS[0].pattern, str(error)):
            raise PlaceError(self._uri, _REASONS[0].says) from error

    def _ask(self, question: Callable[[], Answer], *, writing: bool = False) -> Answer:
        """What the storage answers; what it refuses is said in words."""
        from obstore.exceptions import BaseError

        for tries in count():
            try:
                return question()
            except BaseError as error:
                said = str(error)
                if tries < TRIES and _BROKEN_OFF.search(said):
                    # Where an answer breaks off in the middle, the library does not ask again.
                    time.sleep(_pause(tries))
                    continue
                reason, is_fault = reason_of(said, self._uri)
                failed = StoreFailedError if writing and is_fault else PlaceError
                raise failed(self._uri, reason) from error
        raise AssertionError


def _pause(tries: int) -> float:
    """Seconds before it is tried again."""
    backoff = _RETRY["backoff"]
    pause: timedelta = min(backoff["init_backoff"] * 2**tries, backoff["max_backoff"])
    return pause.total_seconds()


def address(uri: str) -> tuple[str, str]:
    """The bucket and the folder that an address names. Raises PlaceError."""
    written = _ADDRESS.fullmatch(uri)
    if written is None or written[1] not in SCHEMES:
        known = ", ".join(f"{scheme}://BUCKET/FOLDER" for scheme in SCHEMES)
        raise PlaceError(uri, f"this kind of address is not supported; give a folder, or {known}")
    return written[2], (written[3] or "").strip("/")


def reason_of(error: str, uri: str) -> tuple[str, bool]:
    """What the storage's answer means, and whether it may be well the next time."""
    credentials = SCHEMES[urlsplit(uri).scheme]
    for reason in _REASONS:
        if found := re.search(reason.pattern, error):
            return reason.says.format(*found.groups(), credentials=credentials), reason.is_fault
    if told := _TOLD.search(error):
        return f"the storage refuses it: {told[2].strip().rstrip('.')} ({told[1]})", False
    # What else is said is of the library's wording; all after the first line is for who mends it.
    return error.partition("\n")[0].strip().rstrip("."), True


@cache
def _opened(uri: str) -> Any:
    try:
        from obstore.exceptions import BaseError
        from obstore.store import AzureStore, GCSStore, S3Store
    except ModuleNotFoundError as error:
        raise ScaleNotInstalledError(str(error.name)) from error
    bucket, folder = address(uri)
    kinds: dict[str, Callable[..., object]] = {"s3": S3Store, "gs": GCSStore, "az": AzureStore}
    try:
        return kinds[urlsplit(uri).scheme](bucket, prefix=folder or None, retry_config=_RETRY)
    except (BaseError, ValueError) as error:
        raise PlaceError(uri, reason_of(str(error), uri)[0]) from error


def _stored(told: Any) -> Stored:
    moment: Callable[[], float] = told["last_modified"].timestamp
    return Stored(told["path"], told["size"], int(moment() * 1e6) * 1_000)
