"""What Codex CLI offers of custody. What answers a question is loaded when it is asked."""

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


class CodexCustodian(PlainCustody):
    """How sessions of Codex CLI come back; it deletes none by itself."""

    def agent_view(self, path: Path) -> dict[str, Any] | None:
        """The history exactly as Codex CLI would rebuild it from this file."""
        from geminids.agents.codex.read.agent_view import agent_view

        return agent_view(path)

    def resuming(self, session: Session, circumstances: Circumstances) -> Resuming:
        """How Codex CLI would go on with a session, or why it cannot."""
        from geminids.agents.codex.custody.resume import resuming

        return resuming(session, circumstances)

    def forecast(self, home: Home, fates: Sequence[Fate], circumstances: Circumstances) -> Forecast:
        """Nothing: Codex CLI packs old rollouts, and deletes only what it is told to."""
        from geminids.core.agents.fates import Forecast, Retention

        return Forecast((), (Retention(agent=home.agent, home=home.folder),))

    def restoring(self, home: Home, copies: Sequence[Copy], circumstances: Circumstances) -> Restoring:
        """Where the files of a kept session go so that Codex CLI finds them, and with which bytes."""
        from geminids.agents.codex.custody.restore import restoring

        return restoring(home, copies)

    def unlisted(self) -> Sequence[Offer]:
        """Return what the picker of `codex resume` leaves out (0.128 to 0.169)."""
        from geminids.core.agents.resume import Offer

        everywhere = ("codex", "resume", "--all", "--include-non-interactive")
        return (
            Offer(
                "`codex resume` lists neither sessions of other folders nor of `codex exec`; to list them:",
                (everywhere,),
            ),
            Offer("It lists archived sessions only after this:", (("codex", "unarchive", "<id>"),)),
        )
