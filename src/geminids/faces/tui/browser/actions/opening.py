"""The page of a session in the web app, and its project in the list."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from geminids.faces.tui.browser.actions.failing import failing
from geminids.faces.tui.browser.results import OpenInWeb

if TYPE_CHECKING:
    from geminids.faces.tui.browser.actions.subject import Subject
    from geminids.faces.tui.browser.view import Stage
    from geminids.library import Library


def open_in_web(stage: Stage, subject: Subject) -> None:
    """Leave the browser for its page, if the web app is installed."""
    place = f"#{subject.message}" if subject.message else ""
    result = OpenInWeb(f"/sessions/{quote(subject.key, safe='')}{place}")
    stage.say("Opening the web app …", "quiet")
    stage.ask("web", _load, lambda _: stage.leave(result), failing(stage, "The web app cannot be opened"))


def _load(_: Library) -> None:
    """Load what serves it, where what is missing can still be told."""
    try:
        from geminids.faces.web import server  # noqa: F401
    except ModuleNotFoundError as error:
        from geminids.faces.web.errors import WebNotInstalledError

        raise WebNotInstalledError(str(error.name)) from error


def show_project(subject: Subject) -> None:
    """List the sessions of its project."""
    if subject.sessions:
        subject.sessions.show_project(subject)
