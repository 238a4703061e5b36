"""What is shown where something went wrong: the reason, in a dialog, so that none of it is cut."""

from __future__ import annotations

from typing import TYPE_CHECKING

from geminids.faces.tui.browser.dialogs import tell_words
from geminids.faces.tui.browser.failures import in_words

if TYPE_CHECKING:
    from geminids.faces.tui.browser.questions import Failed
    from geminids.faces.tui.browser.view import Stage


def failing(stage: Stage, title: str) -> Failed:
    """What tells an error under a title."""

    def tell(error: Exception) -> None:
        stage.say("")
        stage.show(tell_words(stage, title, in_words(error)))

    return tell
