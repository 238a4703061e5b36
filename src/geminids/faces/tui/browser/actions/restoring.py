"""Putting back a session whose files are gone, where its agent finds it. It never writes over a file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from geminids.faces.tui.browser.actions.failing import failing
from geminids.faces.tui.browser.dialogs import Ask, tell_words
from geminids.sharing.transcript import words

if TYPE_CHECKING:
    from datetime import datetime

    from geminids.core.agents.restore import Placement
    from geminids.faces.tui.browser.actions.subject import Subject
    from geminids.faces.tui.browser.view import Stage
    from geminids.library import Library
    from geminids.library.custody.restore import RestorePlan

_FAILED = "Nothing was restored"


def restore(stage: Stage, subject: Subject) -> None:
    """Show what would be written, and ask."""
    now, pressed = stage.now, stage.pressed
    stage.say("Reading the copies …", "quiet")
    stage.ask(
        "restore",
        lambda library: library.kept.restoring(subject.key, now=now),
        partial(_ask, stage, subject, pressed),
        failing(stage, _FAILED),
        is_slow=True,
    )


def _ask(stage: Stage, subject: Subject, pressed: int, plan: RestorePlan) -> None:
    stage.say("")
    if plan.refusal:
        stage.show(tell_words(stage, _FAILED, "\n".join([*plan.warnings, plan.refusal])))
        return
    title, text = "Restore: write these files?", "\n".join(_told(plan))
    run = partial(_write, stage, subject, plan)
    stage.show(Ask(stage, title, text, "write", run, width=76, is_awaited=stage.pressed == pressed))


def _told(plan: RestorePlan) -> Iterator[str]:
    """Where files go; where they lay if that is elsewhere; what is not as it was."""
    for placement in plan.placements:
        yield f"{words.path(placement.path)} ({words.size(placement.size)})"
        yield from (f"  {line}" for line in _differences(placement))
    yield from plan.warnings


def _differences(placement: Placement) -> Iterator[str]:
    if placement.path != placement.origin:
        yield f"it was {words.path(placement.origin)}"
    yield from placement.changes


def _write(stage: Stage, subject: Subject, shown: RestorePlan) -> None:
    now, pressed = stage.now, stage.pressed
    stage.say("Restoring …", "quiet")
    stage.ask(
        f"restore {subject.key}",
        lambda library: _written(library, subject.key, shown, now),
        partial(_done, stage, subject, pressed, shown),
        failing(stage, _FAILED),
        is_slow=True,
        is_write=True,
    )


def _written(library: Library, key: str, shown: RestorePlan, now: datetime) -> Sequence[str] | RestorePlan:
    """The paths that were written; what would be written now, if that is not what was shown."""
    plan = library.kept.restoring(key, now=now)
    if plan.refusal or _paths(plan) != _paths(shown):
        return plan
    return library.kept.restore(plan)


def _paths(plan: RestorePlan) -> list[str]:
    return [placement.path for placement in plan.placements]


def _done(
    stage: Stage, subject: Subject, pressed: int, shown: RestorePlan, done: Sequence[str] | RestorePlan
) -> None:
    from geminids.library.custody.restore import RestorePlan

    if isinstance(done, RestorePlan):
        _ask(stage, subject, pressed, done)
        return
    stage.changed()
    where = f" below {words.path(shown.within)}" if shown.within else ""
    stage.say(f"{words.count(len(done), 'file')} written{where}")
