"""What Gemini CLI offers of custody. What answers a question is loaded when it is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from geminids.core.agents.fates import Fate, Forecast
    from geminids.core.agents.homes import Home
    from geminids.core.agents.rescue import Progress, Stranded
    from geminids.core.agents.restore import Copy, Restoring
    from geminids.core.agents.resume import Circumstances, Offer, Resuming
    from geminids.core.model import Session


class GeminiCustodian:
    """What Gemini CLI deletes and hides, and how its sessions come back."""

    finds_stranded = True

    def agent_view(self, path: Path) -> dict[str, Any] | None:
        """The record exactly as Gemini CLI's own loader returns it from this file."""
        from geminids.agents.gemini.reader import read_as_agent

        return read_as_agent(path)

    def resuming(self, session: Session, circumstances: Circumstances) -> Resuming:
        """How Gemini CLI would go on with a session, or why it cannot."""
        from geminids.agents.gemini.custody.resume import resuming

        return resuming(session, circumstances)

    def forecast(self, home: Home, fates: Sequence[Fate], circumstances: Circumstances) -> Forecast:
        """What Gemini CLI is going to delete of a home by itself."""
        from geminids.agents.gemini.custody.forecast import forecast

        return forecast(home, fates, circumstances)

    def restoring(self, home: Home, copies: Sequence[Copy], circumstances: Circumstances) -> Restoring:
        """Where the files of a kept session go so that Gemini CLI finds them, and with which bytes."""
        from geminids.agents.gemini.custody.restore import restoring

        return restoring(home, copies, circumstances)

    def stranded(
        self, home: Home, circumstances: Circumstances, progress: Progress | None = None
    ) -> Iterable[Stranded]:
        """Sessions that Gemini CLI cannot show or resume though they are there, or not all of them."""
        from geminids.agents.gemini.custody.rescue import stranded

        return stranded(home, circumstances, progress)

    def unlisted(self) -> Sequence[Offer]:
        """Return nothing: `stranded` finds what Gemini CLI does not show in the folder of a project."""
        return ()
