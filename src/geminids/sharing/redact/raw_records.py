"""Records as agents wrote them, without secrets."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from geminids.sharing.transcript.call_summary import value_words

if TYPE_CHECKING:
    from geminids.core.model import Session
    from geminids.sharing.redact import Redactor


def redacted_record(redactor: Redactor, session: Session, written: str, file: str) -> tuple[str, str]:
    """A record of a session and the name of its file: what is a secret anywhere in it is hidden here too.

    Secrets are known by the names they stand under as well, so a record is read and written anew.
    """
    try:
        value = json.loads(written)
    except (ValueError, RecursionError):
        value = written
    _, hidden, hidden_file = redactor.redact_value((session, value, file))
    return hidden if isinstance(hidden, str) else value_words(hidden, indented=True), hidden_file
