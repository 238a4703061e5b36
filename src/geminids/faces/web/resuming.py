"""How the agent of a session would go on with it. Nothing is started here."""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from geminids.faces.web.documents.transcript import OfferLine, Resume
from geminids.faces.web.endpoints import AskedOfSession, Desk, Endpoint
from geminids.query.sessions.resume import ANY_FOLDER, NotResumable, Offer, Resumable


def resume(desk: Desk, asked: AskedOfSession) -> Resume:
    """How to go on with a session in its agent, as a line for a shell, or why that cannot be done."""
    # Whatever is no id of a session is refused here: a file would be read.
    desk.opened.session(desk.library, asked.id, None)
    match desk.library.resuming(asked.id, desk.now).how:
        case Resumable() as how:
            return Resume(
                is_resumable=True,
                reason=None,
                command=how.command,
                folder=how.folder,
                environment=how.environment,
                line=_line(how),
                is_installed=how.program is not None,
                warnings=how.warnings,
                offers=_offers(how.offers),
            )
        case NotResumable(reason=reason, offers=offers):
            return Resume(
                is_resumable=False,
                reason=reason,
                command=(),
                folder=None,
                environment={},
                line=None,
                is_installed=False,
                warnings=(),
                offers=_offers(offers),
            )


ENDPOINTS = (Endpoint("/api/session/resume", AskedOfSession, Resume, resume),)


def _line(how: Resumable) -> str | None:
    """All of it as one line; None where a word cannot be seen, and so should not be copied."""
    settings = [f"{name}={shlex.quote(value)}" for name, value in how.environment.items()]
    # A folder that begins like an option would be taken for one.
    place = f"./{how.folder}" if how.folder.startswith("-") else how.folder
    line = f"cd {shlex.quote(place)} && {' '.join([*settings, shlex.join(how.command)])}"
    return line if line.isprintable() else None


def _offers(offers: Iterable[Offer]) -> list[OfferLine]:
    return [
        OfferLine(sentence=offer.sentence, lines=[line for one in offer.commands if (line := _typed(one))])
        for offer in offers
    ]


def _typed(command: tuple[str, ...]) -> str | None:
    # Without quotes: a shell refuses such a line until it is replaced.
    line = " ".join(word if word == ANY_FOLDER else shlex.quote(word) for word in command)
    return line if line.isprintable() else None
