"""Going on with a session in its agent: at once where nothing is odd, else it is told what is and asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from geminids.faces.shell_line import OURS, command_line, offered_lines, shell_line
from geminids.faces.tui.browser.actions.copying import copy_text
from geminids.faces.tui.browser.actions.failing import failing
from geminids.faces.tui.browser.actions.restoring import restore
from geminids.faces.tui.browser.dialogs import Ask, Choice, Explain
from geminids.faces.tui.browser.results import Resume

if TYPE_CHECKING:
    from geminids.faces.tui.browser.actions.subject import Subject
    from geminids.faces.tui.browser.view import Stage
    from geminids.query.sessions.resume import NotResumable, Offer, Resumable, ToResume

NOT_RESUMED = "It cannot be resumed"


def resume(stage: Stage, subject: Subject) -> None:
    """Leave the browser for the agent, or say what stands in the way."""
    now, pressed = stage.now, stage.pressed
    stage.say("Looking how its agent resumes it …", "quiet")
    stage.ask(
        "resume",
        lambda library: library.resuming(subject.key, now),
        partial(_go_on, stage, subject, pressed),
        failing(stage, NOT_RESUMED),
    )


def _go_on(stage: Stage, subject: Subject, pressed: int, found: ToResume) -> None:
    from geminids.query.sessions.resume import Resumable

    stage.say("")
    how = found.how
    if not isinstance(how, Resumable):
        _explain(stage, subject, how)
    elif how.program is None:
        _explain_missing(stage, subject, how)
    else:
        _start(stage, subject, how, how.program, is_awaited=stage.pressed == pressed)


def _start(stage: Stage, subject: Subject, how: Resumable, program: str, *, is_awaited: bool) -> None:
    """Leave for the agent; where something is odd, or somebody did something else since, only on request."""
    leave = partial(stage.leave, Resume(how, program))
    line = command_line(how.environment, how.command)
    what = ["Folder:", f"  {how.folder}", "Command:", f"  {line}"]
    text = "\n".join([*what, "", *how.warnings, *_told(stage, how.offers)])
    if how.offers:
        anyway = Choice("Resume it anyway" if how.may_lose else "Resume it", leave)
        stage.show(Explain(stage, "Resume", text, [*_choices(stage, subject, how.offers), anyway]))
    elif how.warnings or how.may_lose or not is_awaited:
        stage.show(Ask(stage, "Resume", text, "resume", leave, is_awaited=is_awaited))
    else:
        leave()


def _explain(stage: Stage, subject: Subject, how: NotResumable) -> None:
    """Why it cannot be resumed, and what can be done instead."""
    text = "\n".join([how.reason, *_told(stage, how.offers)])
    choices = [*_choices(stage, subject, how.offers), Choice("Close", _nothing)]
    stage.show(Explain(stage, NOT_RESUMED, text, choices))


def _explain_missing(stage: Stage, subject: Subject, how: Resumable) -> None:
    """The agent is not installed: what to type once it is."""
    line = shell_line(how.folder, how.environment, how.command)
    text = "\n".join([*how.warnings, "", "Once it is installed, this resumes the session:", f"  {line}"])
    choices = [*_reading(subject), _copying(stage, line), Choice("Close", _nothing)]
    stage.show(Explain(stage, NOT_RESUMED, text, choices))


def _told(stage: Stage, offers: Sequence[Offer]) -> Iterator[str]:
    """What can be done outside of the browser, as it is typed."""
    for offer in offers:
        if not _is_done_here(offer):
            yield ""
            yield offer.sentence
            yield from (f"  {line}" for line in offered_lines(offer, stage.spelled))


def _is_done_here(offer: Offer) -> bool:
    match offer.commands:
        case ((program, "show" | "restore" | "resume", _),):
            return program == OURS
        case _:
            return False


def _choices(stage: Stage, subject: Subject, offers: Sequence[Offer]) -> list[Choice]:
    """What can be done here, then what can be pasted into a shell."""
    here = [
        choice for offer in offers if _is_done_here(offer) for choice in _done_here(stage, subject, offer)
    ]
    lines = [" && ".join(offered_lines(one, stage.spelled)) for one in offers if not _is_done_here(one)]
    return [*here, *_reading(subject), *(_copying(stage, line) for line in lines if line)]


def _done_here(stage: Stage, subject: Subject, offer: Offer) -> Iterator[Choice]:
    match offer.commands:
        case ((_, "restore", _),):
            yield Choice("Restore it", partial(restore, stage, subject))
        case ((_, "resume", other),):
            there = subject._replace(key=other, name=other, message=None, kept=False, is_open=False)
            yield Choice(offer.sentence.rstrip(":"), partial(resume, stage, there))


def _reading(subject: Subject) -> Iterator[Choice]:
    """Reading it, which is always possible."""
    if subject.sessions and not subject.is_open:
        yield Choice("Read it", partial(subject.sessions.read, subject.key, subject.message))


def _copying(stage: Stage, line: str) -> Choice:
    return Choice(f"Copy: {line}", partial(copy_text, stage, "the command", line))


def _nothing() -> None:
    """The dialog is closed."""
