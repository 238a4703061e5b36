"""What an endpoint is: where it is, what may be asked, what is answered, and who answers.

Every subject lists its endpoints; routes and the OpenAPI document are made of these lists, so that they
cannot disagree. What may be asked is a class: each field is a parameter, checked by its type.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Annotated, Any, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

import msgspec
from starlette.datastructures import QueryParams
from starlette.responses import Response

from geminids.faces.documents.base import Document
from geminids.faces.serving.libraries import Libraries
from geminids.faces.serving.opened_sessions import OpenedSession, OpenedSessions
from geminids.faces.serving.outgoing import Answer, JsonWriter
from geminids.faces.serving.redaction import Redaction
from geminids.faces.web.errors import BadParameterError
from geminids.library import Library

MOST_WORDS = 2_000
"""Characters of a parameter."""

Words = Annotated[str, msgspec.Meta(max_length=MOST_WORDS)]
Page = Annotated[int, msgspec.Meta(ge=1, le=200)]
Index = Annotated[int, msgspec.Meta(ge=0, le=10_000_000)]
Number = Annotated[int, msgspec.Meta(ge=1, le=10_000_000)]
SomeWords = Annotated[tuple[Words, ...], msgspec.Meta(max_length=20)]


class Asked(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What may be asked of any endpoint."""

    redact: bool = False
    """Hide secrets in the answer."""


class AskedOfSessions(Asked, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which sessions are meant."""

    q: Words = ""
    """In the language of searches; may hold filters such as `project:shop since:7d`."""
    project: Words | None = None
    agent: SomeWords = ()
    since: Words | None = None
    until: Words | None = None


class AskedOfSession(Asked, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What may be asked of one session."""

    id: Words
    """The id of the session, or the beginning of it."""


class Desk(NamedTuple):
    """What is at hand while a question is answered."""

    library: Library
    libraries: Libraries
    opened: OpenedSessions
    redaction: Redaction
    is_redacted: bool
    """Whether secrets are to be hidden in this answer."""
    token: str
    writer: JsonWriter

    @property
    def now(self) -> datetime:
        """The time of this question."""
        return datetime.now(UTC)

    def hidden(self, document: Answer) -> Answer:
        """A document without secrets where that is wished."""
        return self.writer.hidden(document, self.library) if self.is_redacted else document

    def session(self, wanted: str) -> OpenedSession:
        """A session, read again only if it has changed; without its secrets where that is wished."""
        redaction = self.redaction if self.is_redacted else None
        return self.opened.session(self.library, wanted, redaction)


class Endpoint(NamedTuple):
    """One address."""

    path: str
    asked: type[Asked]
    answer: type[Document] | str
    """What is answered, or the media type of what is no JSON."""
    give: Callable[[Desk, Any], Document | Response]
    """Gives the answer; its docstring is the summary."""
    method: str = "GET"
    is_cached: bool = False
    """Whether an answer stays the same until the index changes, so that it is worth caching a while."""
    hides_itself: bool = False
    """Whether it gives no secret away by itself where they are to be hidden."""


AskedType = TypeVar("AskedType", bound=Asked)


def parameters(kind: type[AskedType], given: QueryParams) -> AskedType:
    """The parameters of a request. Raises BadParameterError, which says what is wrong with which."""
    many = _fields_of_many(kind)
    values: dict[str, str | Sequence[str]] = {
        name: given.getlist(name) if name in many else given[name] for name in given
    }
    try:
        return msgspec.convert(values, kind, strict=False)
    except msgspec.ValidationError as error:
        raise BadParameterError(f"{error}.".replace("Object", "The question").replace("$.", "")) from error


@cache
def _fields_of_many(kind: type[Asked]) -> set[str]:
    """The parameters that may be given several times."""
    return {name for name, hint in get_type_hints(kind).items() if _is_many(hint)}


def _is_many(hint: Any) -> bool:
    return get_origin(hint) is tuple or any(get_origin(inner) is tuple for inner in get_args(hint))
