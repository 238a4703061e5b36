"""What Claude Code offers of custody. What answers a question is loaded when it is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from geminids.core.agents.plain import PlainCustody

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from geminids.core.agents.fates import Fate, Forecast
    from geminids.core.agents.homes import Home
    from geminids.core.agents.restore import Copy, Restoring
    from geminids.core.agents.resume import Circumstances, Offer, Resuming
    from geminids.core.model import Session


class ClaudeCustodian(PlainCustody):
    """What Claude Code deletes, and how its sessions come back."""

    def agent_view(self, path: Path) -> dict[str, Any] | None:
        """The records that Claude Code would go on with, in order, from its last compaction on."""
        from geminids.agents.claude.reader import read_as_agent

        return read_as_agent(path)

    def resuming(self, session: Session, circumstances: Circumstances) -> Resuming:
        """How Claude Code would go on with a session, or why it cannot."""
        from geminids.agents.claude.custody.resume import resuming

        return resuming(session, circumstances)

    def forecast(self, home: Home, fates: Sequence[Fate], circumstances: Circumstances) -> Forecast:
        """What Claude Code is going to delete of a home by itself."""
        from geminids.agents.claude.custody.forecast import forecast

        return forecast(home, fates, circumstances)

    def restoring(self, home: Home, copies: Sequence[Copy], circumstances: Circumstances) -> Restoring:
        """Where the files of a kept session go so that Claude Code finds them, and with which bytes."""
        from geminids.agents.claude.custody.restore import restoring

        return restoring(home, copies)

    def unlisted(self) -> Sequence[Offer]:
        """Return what the picker of `claude --resume` filters out (2.1.150 to 2.1.328)."""
        from geminids.core.agents.resume import Offer

        sentence = (
            "`claude --resume` lists neither sessions of other folders nor of `claude -p` and the SDKs; "
            "to resume one, in its folder:"
        )
        return (Offer(sentence, (("claude", "--resume", "<id>"),)),)
