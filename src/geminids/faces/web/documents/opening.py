"""What a page needs to show a session, in one answer."""

from __future__ import annotations

from collections.abc import Sequence

from geminids.faces.web.documents.base import Document
from geminids.faces.web.documents.sessions import SessionLine
from geminids.faces.web.documents.transcript import Branch, Outline, SessionFacts, Story


class Opening(Document, frozen=True, kw_only=True):
    """A session as it opens: all of it, or its beginning while all of it still is to be read."""

    line: SessionLine
    messages: int
    """How many there are in all."""
    story: Story
    """The first window. Of a beginning there may be fewer entries than asked for; its total is a guess."""
    is_whole: bool
    """Whether all of it was read. Else the same question with `whole` gives the rest, a little later."""
    facts: SessionFacts | None
    outline: Outline | None
    branches: Sequence[Branch] | None
    """These three are null for a beginning."""
