"""Why there is no answer, as a document: one shape for all errors."""

from __future__ import annotations

import re
from collections.abc import Callable
from http import HTTPStatus

from starlette.responses import Response

from geminids.core import errors
from geminids.core.errors import (
    NOTHING_FOUND,
    PARTLY_DONE,
    STORE_DAMAGED,
    AmbiguousIdError,
    AmbiguousProjectError,
    GeminidsError,
    HomeNotFoundError,
    NoIndexError,
    SessionGoneError,
    SessionNotFoundError,
)
from geminids.faces.documents.base import Candidate, FaultyRequest
from geminids.faces.serving.outgoing import harmless
from geminids.sharing.transcript import safe

MEDIA_TYPE = "application/problem+json"
_STATUSES = {NOTHING_FOUND: 404, PARTLY_DONE: 503, STORE_DAMAGED: 503}
"""By what the command line would end with; all else is a question that cannot be answered."""
_SENTENCES = re.compile(r"(?<=[.!?]) (?=[A-Z`'])")
_COLUMN = re.compile(r" At column (\d+):")
_EXAMPLE = re.compile(r"geminids search '([^']*)'")
_TYPED = re.compile(r"`geminids |(?<![\w-])--[a-z]|pip install|pipx inject")
"""What one would type in a terminal."""


def fault(status: int, detail: str) -> Response:
    """The answer that says what is wrong, and what to do."""
    return _answer(_document(status, detail), harmless)


def _document(status: int, detail: str, error: GeminidsError | None = None) -> FaultyRequest:
    return FaultyRequest(
        type="about:blank",
        title=HTTPStatus(status).phrase,
        status=status,
        detail=safe.text(detail),
        candidates=[_candidate(one) for one in (error.candidates if error else ())],
    )


def _answer(document: FaultyRequest, write: Callable[[FaultyRequest], bytes]) -> Response:
    headers = {"retry-after": "1"} if document.status == HTTPStatus.SERVICE_UNAVAILABLE else None
    return Response(write(document), document.status, headers, MEDIA_TYPE)


def _candidate(one: errors.Candidate) -> Candidate:
    title = safe.line(one.title) if one.title else None
    return Candidate(id=one.key or one.id, title=title, place=safe.line(one.place), at=one.at)


def fault_of(error: GeminidsError, write: Callable[[FaultyRequest], bytes] = harmless) -> Response:
    """The answer to an error that a user can understand and mend; `write` may take secrets out of it."""
    is_ambiguous = isinstance(error, AmbiguousIdError | AmbiguousProjectError)
    status = 409 if is_ambiguous else _STATUSES.get(error.exit_code, 400)
    if isinstance(error, HomeNotFoundError):
        # It was there when we started: nothing is wrong with the question.
        status = 503
    return _answer(_document(status, _for_a_page(error), error), write)


def _for_a_page(error: GeminidsError) -> str:
    """What went wrong, for somebody who has no command line before him."""
    match error:
        case AmbiguousIdError(candidates=candidates):
            return f"This could be any of {len(candidates)} sessions. Choose one of them."
        case SessionNotFoundError(candidates=near):
            return "There is no such session." + (" These are the nearest." if near else "")
        case SessionGoneError():
            return "This session is gone: its file no longer holds it."
        case HomeNotFoundError():
            return "The folder of these sessions no longer exists. They come back when it does."
        case NoIndexError():
            return "There is no index of these sessions, and the server was started without sync."
        case _:
            said = [one for one in _SENTENCES.split(_without_pointing(str(error))) if not _TYPED.search(one)]
            return " ".join(said) or type(error).__doc__ or ""


def _without_pointing(said: str) -> str:
    """What is wrong with a question, without the lines that point at it in letters of one width."""
    sentences = " ".join(line for line in said.split("\n") if not line.startswith(" "))
    return _EXAMPLE.sub(r"\1", _COLUMN.sub(r" See letter \1.", sentences))


def fault_of_system(error: OSError) -> Response:
    """The answer where the operating system refused something."""
    return fault(503, f"The operating system refused it: {error.strerror or error}.")
