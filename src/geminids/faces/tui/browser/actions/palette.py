"""All that can be done, to be found by a few letters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from geminids.faces.tui.browser.dialogs import Choice, Choose

if TYPE_CHECKING:
    from geminids.faces.tui.browser.actions.subject import Action
    from geminids.faces.tui.browser.view import Stage


def open_palette(
    stage: Stage,
    actions: Sequence[Action],
    views: Sequence[Choice] = (),
    *,
    hint: Callable[[Action], str] = lambda action: spelled(action.control),
) -> None:
    """Show the actions, each with its key, and other views."""
    choices = [Choice(action.name, action.run, hint(action)) for action in actions]
    stage.show(Choose(stage, "What to do", [*choices, *views]))


def spelled(key: str) -> str:
    """A key as people write it: ^R."""
    return f"^{key.removeprefix('ctrl+').upper()}" if key.startswith("ctrl+") else key
