"""What keeps a list to choose from or the browser from being shown, in sentences for whoever asked."""

from __future__ import annotations

from geminids.core.errors import GeminidsError
from geminids.core.installation import who_adds


class BrowserNotInstalledError(GeminidsError):
    """The packages of the browser are missing."""

    def __init__(self, missing: str) -> None:
        super().__init__(f"`geminids browse` needs {missing!r}; {who_adds('tui')} adds it.")


class NoTerminalError(GeminidsError):
    """Nobody sits at a terminal that can be drawn on."""

    def __init__(self) -> None:
        super().__init__(
            "`geminids browse` needs a terminal. In a pipe, use `geminids list` or `geminids search`."
        )


class NoSharedIndexError(GeminidsError):
    """The index is nowhere but in the memory of who made it, and others want to ask it too."""

    def __init__(self, told: str) -> None:
        """`told` is what was said of it when it was made."""
        super().__init__(
            f"{told} Choosing from a list needs one that is stored. `--data DIR` names another directory for "
            "it; `geminids list` and `geminids search` work without."
        )
