"""What can be done with a session, from the list and from its transcript.

In the list letters are typed into the box, so there an action is a control key; in a transcript it is a
letter. What asks the library is answered later, and the answer is a dialog or a sentence in the last line.

| module | what is in it |
|---|---|
| `subject` | with what something is done, and what can be done |
| `resuming` | going on in the agent, or why that is not possible and what is instead |
| `copying`, `clipboard` | its id, path, command and words for other programs |
| `exporting` | a file of it |
| `marking` | its name, tags and notes |
| `restoring` | putting back what was deleted |
| `opening` | its page in the web app, its project in the list |
| `palette` | all of it to choose from |
| `failing` | what is shown where something went wrong |
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from geminids.faces.tui.browser.actions.subject import Action, SessionList, Subject
from geminids.faces.tui.browser.view import Help, Stage

__all__ = [
    "ACTION_KEYS",
    "ACTION_LETTERS",
    "Action",
    "SessionList",
    "Subject",
    "actions_of",
]

ACTION_KEYS = (
    Help("^R", "resume"),
    Help("^Y", "copy"),
    Help("^X", "export"),
    Help("^G", "name, tag, note"),
    Help("^F", "its project"),
)
"""What is done from the list by a key alone."""
ACTION_LETTERS = (
    Help("r", "resume"),
    Help("y", "copy"),
    Help("e", "export"),
    Help("m", "name, tag, note"),
    Help("w", "open in the web app"),
    Help("p", "list its project"),
    Help("^P", "all actions"),
)
"""The same from a transcript."""


def actions_of(stage: Stage, subject: Subject) -> Sequence[Action]:
    """All that can be done with it now."""
    return [*_actions_of(stage, subject)]


def _actions_of(stage: Stage, subject: Subject) -> Iterator[Action]:
    # The list is there sooner without what is done by nobody who only looks.
    from geminids.faces.tui.browser.actions.copying import copy
    from geminids.faces.tui.browser.actions.exporting import export
    from geminids.faces.tui.browser.actions.marking import mark
    from geminids.faces.tui.browser.actions.opening import open_in_web, show_project
    from geminids.faces.tui.browser.actions.restoring import restore
    from geminids.faces.tui.browser.actions.resuming import resume

    yield Action("ctrl+r", "r", "Resume in its agent", partial(resume, stage, subject))
    yield Action("ctrl+y", "y", "Copy id, path, command, Markdown", partial(copy, stage, subject))
    yield Action("ctrl+x", "e", "Export to a file", partial(export, stage, subject))
    yield Action("ctrl+g", "m", "Name, tag, note", partial(mark, stage, subject))
    if subject.kept:
        yield Action("", "R", "Restore the deleted session", partial(restore, stage, subject))
    yield Action("", "w", "Open in the web app", partial(open_in_web, stage, subject))
    if subject.project and subject.sessions:
        yield Action("ctrl+f", "p", "List the sessions of its project", partial(show_project, subject))
