"""A folder in object storage: Amazon S3 and what speaks its protocol, Google Cloud Storage, Azure.

Credentials, regions and addresses of servers are those of the environment, by the names that the vendors'
own tools use. An object appears whole or not at all, in the place of the one before. What the storage fails
at is tried again for a while.
"""

from __future__ import annotations

import asyncio
import re
import shutil
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from datetime import timedelta
from functools import cache, partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, TypeVar
from urllib.parse import urlsplit

from geminids.core.piecewise import BUFFER, opened_piecewise
from geminids.scale.places.errors import PlaceError, ScaleNotInstalledError, StoreFailedError
from geminids.scale.places.requests import answer_of
from geminids.scale.places.stored import Stored

if TYPE_CHECKING:
    from obstore import GetOptions
    from obstore.store import RetryConfig

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
    "retry_timeout": timedelta(seconds=45),
    "backoff": {"init_backoff": timedelta(milliseconds=100), "max_backoff": timedelta(seconds=5), "base": 2},
}
DEADLINE = 60.0
"""Seconds in which a request to read is answered, tries and pauses included."""
_CHUNK, _AT_ONCE = 8 << 20, 2
"""Bytes of a large file that are sent in one request, and requests at once."""
_PIECE, _PIECES_AT_ONCE = 4 << 20, 8
"""Bytes of a file that are fetched in one request, and requests at once: slow lines meet the deadline."""
MOST_FETCHED = 10_000_000_000
"""Bytes of files that are fetched for one query."""
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
        "QuotaExceeded|StorageFull|InsufficientStorage|507 Insufficient Storage|status code: 507"
        "|[Nn]o space left|not enough space|disk full|AccountBeingQuotaLimited",
        "the storage is full, or a quota of it is used up",
        is_fault=True,
    ),
    Reason(
        "status code: 412|Precondition",
        "a file of it was written anew while it was read; try again",
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
        """Return all objects below a folder of it."""
        import obstore

        async def collect() -> list[Stored]:
            found: list[Stored] = []
            pages = aiter(obstore.list(self._store, prefix=below or None))
            while (page := await self._in_time(anext(pages, None), below)) is not None:
                found += map(_stored, page)
            return found

        yield from self._ask(collect, is_bounded=False)

    def held_in(self, folder: str) -> tuple[Sequence[str], Sequence[Stored]]:
        """The folders and the objects right in a folder, by their whole names."""
        import obstore

        found = self._ask(lambda: obstore.list_with_delimiter_async(self._store, folder or None), folder)
        return found["common_prefixes"], [_stored(one) for one in found["objects"]]

    def about(self, name: str) -> Stored | None:
        """What an object looks like from outside; None if there is none."""
        import obstore

        try:
            return _stored(self._ask(lambda: obstore.head_async(self._store, name), name))
        except FileNotFoundError:
            return None

    def read(self, name: str) -> bytes | None:
        """All that is in an object."""
        try:
            return self._ask(partial(self._whole, name), name)
        except FileNotFoundError as error:
            self._refuse_missing_bucket(error)
            return None

    def read_all(self, names: Sequence[str]) -> Sequence[bytes | None]:
        """Return the contents of small objects, fetched some at once; None for those that are gone."""

        async def content(name: str) -> bytes | None:
            try:
                return await self._answered(partial(self._whole, name), name)
            except FileNotFoundError:
                return None

        return answer_of(_some_at_once(list(map(content, names))))

    def part(self, name: str, start: int, end: int) -> memoryview:
        """The bytes of an object between two places. Raises FileNotFoundError if it is gone."""
        import obstore

        return memoryview(
            self._ask(lambda: obstore.get_range_async(self._store, name, start=start, end=end), name)
        )

    def opened(self, name: str, size: int, buffer: int = BUFFER) -> BinaryIO:
        """An object to be read piece by piece, so many bytes at least at a time."""
        return opened_piecewise(size, partial(self.part, name), buffer)

    def put(self, name: str, content: Path | bytes) -> None:
        """Write an object, whole or not at all."""
        import obstore

        self._ask(
            lambda: obstore.put_async(
                self._store, name, content, chunk_size=_CHUNK, max_concurrency=_AT_ONCE
            ),
            name,
            # A large file takes long; each of its requests has a limit of its own.
            is_bounded=False,
            writing=True,
        )

    def delete(self, name: str) -> None:
        """Remove an object, if it is there."""
        import obstore

        try:
            self._ask(lambda: obstore.delete_async(self._store, name), name, writing=True)
        except FileNotFoundError as error:
            self._refuse_missing_bucket(error)

    def fetched(self, files: Sequence[Stored], folder: Path) -> Sequence[str]:
        """Copy objects into a folder of this machine, some at once, and return the paths of the copies.

        The paths of the copies keep folders with values such as month=2026-01. Raises PlaceError for more
        than fits.
        """
        paths = [_path_of_copy(folder, number, file) for number, file in enumerate(files)]
        try:
            folder.mkdir(parents=True, exist_ok=True)
            _refuse_too_much(self._uri, files, folder)
            for parent in {path.parent for path in paths}:
                parent.mkdir(parents=True, exist_ok=True)
            answer_of(_some_at_once([self._fetch(*wanted) for wanted in zip(files, paths, strict=True)]))
        except FileNotFoundError as error:
            raise PlaceError(self._uri, "a file of it was removed while it was read; try again") from error
        except OSError as error:
            raise PlaceError(str(folder), error.strerror or str(error)) from error
        return list(map(str, paths))

    async def _fetch(self, file: Stored, path: Path) -> None:
        """Copy an object: in one request if it is small, else piece by piece."""
        with path.open("wb") as copy:
            if file.size <= _PIECE:
                copy.write(await self._answered(partial(self._whole, file.name), file.name))
                return
            version: str | None = None
            for start in range(0, file.size, _PIECE):
                end = min(start + _PIECE, file.size)
                ask = partial(self._piece, file.name, (start, end), version)
                content, version = await self._answered(ask, file.name)
                copy.write(content)

    async def _whole(self, name: str) -> bytes:
        import obstore

        return bytes(await (await obstore.get_async(self._store, name)).bytes_async())

    async def _piece(self, name: str, span: tuple[int, int], version: str | None) -> tuple[bytes, str | None]:
        """Return some bytes of an object and its version, or refuse another version than the one given."""
        import obstore

        options: GetOptions = {"range": span} if version is None else {"range": span, "if_match": version}
        got = await obstore.get_async(self._store, name, options=options)
        return bytes(await got.bytes_async()), got.meta["e_tag"]

    def _refuse_missing_bucket(self, error: FileNotFoundError) -> None:
        if re.search(_REASONS[0].pattern, str(error)):
            raise PlaceError(self._uri, _REASONS[0].says) from error

    def _ask(self, question: Callable[[], Awaitable[Answer]], name: str = "", **how: bool) -> Answer:
        """Return what the storage answers. Raises PlaceError or StoreFailedError, which say why not."""
        return answer_of(self._answered(question, name, **how))

    async def _answered(
        self,
        question: Callable[[], Awaitable[Answer]],
        name: str,
        *,
        is_bounded: bool = True,
        writing: bool = False,
    ) -> Answer:
        from obstore.exceptions import BaseError

        for tries in count():
            try:
                return await (self._in_time(question(), name) if is_bounded else question())
            except BaseError as error:
                said = str(error)
                if tries < TRIES and _BROKEN_OFF.search(said):
                    # Where an answer breaks off in the middle, the library does not ask again.
                    await asyncio.sleep(_pause(tries))
                    continue
                reason, is_fault = reason_of(said, self._uri)
                failed = StoreFailedError if writing and is_fault else PlaceError
                raise failed(self._uri, reason) from error
        raise AssertionError

    async def _in_time(self, request: Awaitable[Answer], name: str) -> Answer:
        try:
            async with asyncio.timeout(DEADLINE):
                return await request
        except TimeoutError as error:
            where = "/".join(filter(None, (self._uri.rstrip("/"), name)))
            raise PlaceError(where, f"the storage did not answer within {DEADLINE:g} seconds") from error


async def _some_at_once(requests: Sequence[Coroutine[Any, Any, Answer]]) -> list[Answer]:
    """Return all answers, in order; the first error cancels what is left."""
    room = asyncio.Semaphore(_PIECES_AT_ONCE)

    async def in_turn(request: Coroutine[Any, Any, Answer]) -> Answer:
        async with room:
            return await request

    tasks = [asyncio.ensure_future(in_turn(request)) for request in requests]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for request in requests:
            # A request that was cancelled before its turn was never begun.
            request.close()


def _path_of_copy(folder: Path, number: int, file: Stored) -> Path:
    values = [part for part in file.name.split("/")[:-1] if "=" in part]
    return folder.joinpath(*values, f"{number}{Path(file.name).suffix}")


def _refuse_too_much(uri: str, files: Sequence[Stored], folder: Path) -> None:
    size, free = sum(file.size for file in files), shutil.disk_usage(folder).free
    if size > min(MOST_FETCHED, free // 2):
        raise PlaceError(
            uri,
            f"this needs {len(files):,} files of {size / 1e9:.1f} GB from it; at most "
            f"{MOST_FETCHED / 1e9:.0f} GB are fetched, and half of what is free in {str(folder.parent)!r} "
            f"({free / 1e9:.1f} GB). Ask a copy of the tables on a disk (--tables FOLDER)",
        )


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
