"""How the agent of a session would go on with it. Nothing is started here."""

from __future__ import annotations

from collections.abc import Iterable

from geminids.faces.documents.resume import OfferLine, Resume, resume_answer
from geminids.faces.shell_line import shell_line, shell_word
from geminids.faces.web.endpoints import AskedOfSession, Desk, Endpoint
from geminids.query.sessions.resume import ANY_FOLDER, Offer, Resumable


def resume(desk: Desk, asked: AskedOfSession) -> Resume:
    """How to go on with a session in its agent, as a line for a shell, or why that cannot be done."""
    # Whatever is no id of a session is refused here: a file would be read.
    desk.opened.session(desk.library, asked.id, None)
    how = desk.library.resuming(asked.id, desk.now).how
    line = _line(how) if isinstance(how, Resumable) else None
    return resume_answer(how, line, [_offer(offer) for offer in how.offers])


ENDPOINTS = (Endpoint("/api/session/resume", AskedOfSession, Resume, resume),)


def _line(how: Resumable) -> str | None:
    """All of it as one line; None where a word cannot be seen, and so should not be copied."""
    words = (how.folder, *how.command, *how.environment, *how.environment.values())
    return shell_line(how.folder, how.environment, how.command) if _can_be_seen(words) else None


def _offer(offer: Offer) -> OfferLine:
    # Without quotes: a shell refuses such a line until it is replaced.
    lines = [
        " ".join(word if word == ANY_FOLDER else shell_word(word) for word in command)
        for command in offer.commands
        if _can_be_seen(command)
    ]
    return OfferLine(sentence=offer.sentence, lines=lines)


def _can_be_seen(words: Iterable[str]) -> bool:
    return all(map(str.isprintable, words))
