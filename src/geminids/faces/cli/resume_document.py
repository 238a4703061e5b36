"""`resume --json`: how an agent would go on with a session, or why it cannot."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from geminids.faces.cli.data import encode
from geminids.query.sessions.resume import NotResumable, Resumable


class OfferedCommand(msgspec.Struct, frozen=True, kw_only=True):
    """Something that can be done."""

    sentence: str
    line: str | None
    """What to type for it in a shell, in this folder; null where it is not done by a command.

    `<folder>` stands for one to choose.
    """


class ResumeDocument(msgspec.Struct, frozen=True, kw_only=True, tag_field="schema", tag="geminids/resume/1"):
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


def resume_document(
    session_id: str,
    agent: str,
    how: Resumable | NotResumable,
    line: str | None,
    offers: Iterable[tuple[str, str | None]],
) -> bytes:
    """An answer as a document; `line` is what would be run, `offers` are sentences and what to type."""
    told = msgspec.structs.asdict(how) | {
        "offers": [OfferedCommand(sentence=sentence, line=typed) for sentence, typed in offers]
    }
    is_resumable = isinstance(how, Resumable)
    return encode(ResumeDocument(id=session_id, agent=agent, resumable=is_resumable, line=line, **told))
