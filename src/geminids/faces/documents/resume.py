"""How the agent of a session would go on with it, or why it cannot. Nothing is started to find out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from geminids.core.agents.resume import NotResumable, Resumable, Resuming
from geminids.faces.documents.base import Document, Printed, filled


class OfferedCommand(Document, frozen=True, kw_only=True):
    """Something that can be done."""

    sentence: str
    line: str | None
    """What to type for it in a shell, in this folder; null where it is not done by a command.

    `<folder>` stands for one to choose.
    """


class ResumeDocument(Printed, frozen=True, kw_only=True, tag="geminids/resume/1"):
    """How the agent of a session would go on with it. Nothing is started to find out."""

    id: str
    agent: str
    resumable: bool
    reason: str | None = None
    """Why it cannot be resumed; null if it can."""
    command: Sequence[str] | None = None
    """The words of the agent's own command; null if it cannot be resumed."""
    folder: str | None = None
    """The folder to run it in."""
    environment: Mapping[str, str] = {}
    """The variables to set for it besides those there are."""
    program: str | None = None
    """Where the program was found; null if it was not."""
    line: str | None = None
    """All of it as one line for a shell."""
    warnings: Sequence[str] = ()
    may_lose: bool = False
    """Whether part of what there is may be deleted by it."""
    offers: Sequence[OfferedCommand] = ()
    """What can be done before, or instead."""


class OfferLine(Document, frozen=True, kw_only=True):
    """Something that can be done."""

    sentence: str
    lines: Sequence[str]


class Resume(Document, frozen=True, kw_only=True):
    """How the agent would go on with a session, or why it cannot. Nothing is started."""

    is_resumable: bool
    reason: str | None
    command: Sequence[str]
    folder: str | None
    environment: Mapping[str, str]
    line: str | None
    """All of it as one line for a shell; null where a word cannot be typed."""
    is_installed: bool
    warnings: Sequence[str]
    offers: Sequence[OfferLine]


def resume_document(
    session_id: str, agent: str, how: Resuming, line: str | None, offers: Sequence[OfferedCommand]
) -> ResumeDocument:
    """How to go on, or why not; `line` is what would be run."""
    is_resumable = isinstance(how, Resumable)
    return filled(
        ResumeDocument, how, id=session_id, agent=agent, resumable=is_resumable, line=line, offers=offers
    )


def resume_answer(how: Resuming, line: str | None, offers: Sequence[OfferLine]) -> Resume:
    """The same for the page."""
    match how:
        case Resumable(program=program):
            return filled(
                Resume,
                how,
                is_resumable=True,
                reason=None,
                line=line,
                is_installed=program is not None,
                offers=offers,
            )
        case NotResumable(reason=reason):
            return Resume(
                is_resumable=False,
                reason=reason,
                command=(),
                folder=None,
                environment={},
                line=None,
                is_installed=False,
                warnings=(),
                offers=offers,
            )
