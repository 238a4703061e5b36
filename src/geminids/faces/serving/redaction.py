"""Hiding secrets in what is served: one engine for all threads, started when somebody wants it."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from geminids.core.model import Session
    from geminids.library import Library
    from geminids.sharing.redact import Redactor

Answer = TypeVar("Answer")


class Redaction:
    """What hides secrets, one question at a time: nobody promises that the engine can do more."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._redactor: Redactor | None = None

    def session(self, library: Library, session: Session) -> Session:
        """The session without its secrets."""
        return self.using(library, lambda redactor: redactor.redact(session).session)

    def value(self, library: Library, value: Answer) -> Answer:
        """An answer without secrets."""
        return self.using(library, lambda redactor: redactor.redact_value(value))

    def text(self, library: Library, text: str) -> str:
        """Words without secrets."""
        return self.using(library, lambda redactor: redactor.redact_text(text))

    def describe(self, library: Library) -> str:
        """What is hidden, in a few words."""
        return self.using(library, lambda redactor: redactor.describe())

    def using(self, library: Library, hide: Callable[[Redactor], Answer]) -> Answer:
        """What comes of something that is done with the one engine; others wait meanwhile."""
        with self._lock:
            if self._redactor is None:
                self._redactor = library.redactor()
            return hide(self._redactor)
