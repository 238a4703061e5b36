"""What Gemini CLI offers to write: sessions of any agent in its own shapes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from geminids.agents.gemini.write.chat_share import shared
from geminids.core.agents.records import Translation
from geminids.core.model import Session


class GeminiWriter:
    """Writes sessions as Gemini CLI would."""

    def shared(self, sessions: Iterable[Session]) -> Iterator[bytes]:
        """As `/chat share FILE.md` does."""
        return shared(sessions)

    def translation(self, session: Session) -> Translation:
        """The plainer translation of the messages that Gemini CLI would write."""
        from geminids.agents.gemini.record.translation import translation

        return translation(session)
