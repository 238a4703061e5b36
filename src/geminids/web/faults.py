"""Why there is no answer, as a document: one shape for all errors."""

from __future__ import annotations

from http import HTTPStatus

from starlette.responses import Response

from geminids.errors import (
    NOTHING_FOUND,
    PARTLY_DONE,
    STORE_DAMAGED,
    AmbiguousIdError,
    AmbiguousProjectError,
    GeminidsError,
)
from geminids.library import encode
from geminids.transcript import safe
from geminids.web.documents.base import Candidate, FaultyRequest

MEDIA_TYPE = "application/problem+json"
_STATUSES = {NOTHING_FOUND: 404, PARTLY_DONE: 503, STORE_DAMAGED: 503}
"""By what the command line would end with; all else is a question that cannot be answered."""


def fault(status: int, detail: str, error: GeminidsError | None = None) -> Response:
    """The answer that says what is wrong, and what to do."""
    document = FaultyRequest(
        type="about:blank",
        title=HTTPStatus(status).phrase,
        status=status,
        detail=safe.text(detail),
        candidates=[
            Candidate(id=one.id, title=one.title, place=one.place, at=one.at)
            for one in (error.candidates if error else ())
        ],
    )
    headers = {"retry-after": "1"} if status == HTTPStatus.SERVICE_UNAVAILABLE else None
    return Response(encode(document), status, headers, MEDIA_TYPE)


def fault_of(error: GeminidsError) -> Response:
    """The answer to an error that a user can understand and mend."""
    is_ambiguous = isinstance(error, AmbiguousIdError | AmbiguousProjectError)
    status = 409 if is_ambiguous else _STATUSES.get(error.exit_code, 400)
    return fault(status, str(error), error)


def fault_of_system(error: OSError) -> Response:
    """The answer where the operating system refused something."""
    return fault(503, f"The system refused it: {error.strerror or error}.")
