"""Sessions that an agent can no longer show or go on with, though what was said is on the disk."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from enum import StrEnum

import msgspec

from geminids.core.model import Session

Progress = Callable[[int, int], None]
"""Is told how much of a work is done, and how much it is in all."""


class Severity(StrEnum):
    """How much of a session its agent does not show."""

    LOST = "lost"
    """All of it: the agent does not list it, or shows nothing of what the human said."""
    PARTLY = "partly"
    """Some of its turns."""
    SLIGHT = "slight"
    """Only what looks like a mistyped command, which the agent sent to the model."""
    TITLE = "title"
    """Nothing but what it is about: in the agent's list it has no title."""


class Obstacle(msgspec.Struct, frozen=True, kw_only=True):
    """What keeps an agent from showing a session."""

    kind: str
    """In one word, for programs."""
    sentence: str
    """What happened and what follows from it, for people."""
    file: str
    line: int | None = None
    """Where it can be seen."""


class Stranded(msgspec.Struct, frozen=True, kw_only=True):
    """A session that its agent cannot show or resume, or not all of it."""

    session: Session
    """As it was read."""
    obstacles: tuple[Obstacle, ...]
    severity: Severity
    hidden: int
    """How many of the human's prompts the agent would not show."""
    hidden_replies: int = 0
    """How many answers of the model."""
    mended: Session
    """As the agent is to see it: what was hidden stands in it as if nothing had happened."""
    last_used: datetime | None = None
    """When its files were last used, as the agent dates them: what is to be shown instead must be later."""
    target: str | None
    """The file to be written so that the agent can; None where that is not possible."""
    changes: tuple[str, ...] = ()
    """What is written otherwise than it was, in sentences that say why."""
    refusal: str | None = None
    """Why there is no target."""

    @property
    def is_slight(self) -> bool:
        """Whether nothing is hidden that a human would miss."""
        return self.severity in {Severity.SLIGHT, Severity.TITLE}
