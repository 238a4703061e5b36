"""`json`: the whole session as our own document, which `geminids show` and `geminids export` read again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from geminids.core.model import Session
from geminids.sharing.export.base import Manner, PlainFormat
from geminids.sharing.export.data import encode_harmless
from geminids.sharing.export.session_document import SessionDocument
from geminids.sharing.transcript.visible import visible_session


class JsonDocument(PlainFormat):
    """One session, one JSON document; the schema is in `docs/`."""

    name = "json"
    title = "JSON"
    summary = "The whole session in the schema of geminids; can be read again."
    suffix = ".json"
    level = "everything"

    def write(self, sessions: Iterable[Session], manner: Manner) -> Iterator[bytes]:
        """The document. What the user noted of a session stays with the user."""
        for session in sessions:
            fields = msgspec.structs.asdict(visible_session(session, manner.detail))
            name = manner.names.get(session.id)
            yield encode_harmless(SessionDocument(**fields, name=name, tags=(), notes=(), others=())) + b"\n"
