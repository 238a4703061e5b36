"""`geminids restore`: kept sessions, put back where their agents find them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import click

from geminids.core.errors import (
    NOTHING_FOUND,
    PARTLY_DONE,
    AgentFolderError,
    FileExistsAlreadyError,
    GeminidsError,
)
from geminids.core.names import one_line
from geminids.faces.cli.completers import complete_folders, complete_ids
from geminids.faces.cli.confirmation import UnansweredError, ask
from geminids.faces.cli.options import (
    Choices,
    absolute,
    json_option,
    not_empty,
    pass_choices,
    shared_options,
    sync_option,
)
from geminids.faces.cli.picked import sessions_wanted
from geminids.faces.cli.progress import stoppable
from geminids.faces.cli.talk import say

if TYPE_CHECKING:
    from geminids.core.agents.restore import Placement
    from geminids.faces.documents.kept_copies import RestoredSession
    from geminids.faces.drawing.page import Page
    from geminids.library import Library
    from geminids.library.custody.restore import RestorePlan
    from geminids.storage.index.values import SessionRow

INDENT = 2
SIZE_WIDTH = 9
"""Columns for a size, so that paths stand below each other."""
MOST_DRAWN = 20
"""So many sessions are shown one by one."""
STOPPED = (
    "Stopped after {done} of {total} sessions: what was restored of them is complete, and nothing of the "
    "others was written."
)
MOST_NAMED = 5
"""So many of those that need nothing are named."""


class Planned(NamedTuple):
    """A session, and how it is put back."""

    session: SessionRow
    plan: RestorePlan
    folder: str | None
    """Where to, if not where its agent finds it."""

    @property
    def is_needless(self) -> bool:
        """Whether there is nothing to put back, since all of it is there."""
        is_with_agent = bool(self.plan.refusal) and not self.session.kept and self.folder is None
        return self.plan.is_there or is_with_agent


class Done(NamedTuple):
    """What became of a plan."""

    planned: Planned
    written: Sequence[str] = ()
    """The paths of the files."""
    failure: str | None = None
    """Why it could not be written though it was planned."""


@click.command()
@click.argument("wanted", nargs=-1, metavar="[ID|QUERY]...", callback=not_empty, shell_complete=complete_ids)
@click.option(
    "--to",
    "folder",
    metavar="DIR",
    callback=not_empty,
    shell_complete=complete_folders,
    help="Write the files into this folder, byte for byte, instead of where their agents look.",
)
@click.option("--dry-run", is_flag=True, help="Only show what would be written.")
@click.option("--yes", is_flag=True, help="Write without asking.")
@sync_option
@json_option
@shared_options
@pass_choices
def restore(
    choices: Choices, *, wanted: tuple[str, ...], folder: str | None, dry_run: bool, yes: bool
) -> int:
    """Put deleted sessions back where their agents find them.

    Give an id, the beginning of one, a name from `geminids mark`, a number from the last `geminids list`, or
    `latest`; other words are searched for, as in `search`. `geminids list --deleted` shows the sessions whose
    files are gone.

    First you see what would be written and what would change: agents may delete old sessions, or confuse
    sessions of the same minute, so a date, a name or an id may have to change. Then you are asked. Existing
    files are never changed. Sessions that cannot be put back are listed with the reason; the others are still
    put back.

    \b
    geminids restore 3 --dry-run
    geminids restore 1f0c9a2b
    geminids restore is:deleted project:shop
    geminids restore 1f0c9a2b --to ~/rescued
    """  # noqa: D301 - click wants the character itself
    from geminids.faces.cli.sessions import sessions_meant
    from geminids.query.sessions.listing import Filter

    if dry_run and yes:
        raise click.UsageError("--dry-run and --yes cannot be combined.")
    if not wanted and not choices.open_library().listing(Filter(kept=True), 1).sessions:
        say("No session needs to be restored: the files of all sessions are there.")
        return NOTHING_FOUND
    wanted = sessions_wanted(choices, wanted, "restore", deleted=True)
    if not wanted:
        raise click.UsageError("Which session? `geminids list --deleted` shows those that can be restored.")
    target = str(absolute(folder)) if folder is not None else None
    with choices.open_library(changes=not dry_run) as library:
        rows = sessions_meant(choices, library, wanted, "There is nothing to restore.")
        plan = partial(_planned, choices, library, wanted, target)
        with stoppable("Reading copies", "Stopped; nothing was written.") as work:
            planned = [plan(row) for row in work.over(_leaders(rows))]
        possible = [one for one in planned if not one.plan.refusal]
        _tell_refused(planned)
        if possible and not choices.json:
            _draw(choices, possible)
        done: list[Done] = []
        if possible and not dry_run:
            if not yes:
                ask(_question(len(possible)), UnansweredError("written"))
            with stoppable("Restoring", STOPPED) as work:
                # Planned again, since files and names that it shares with one before it are there by then.
                done = [_write(library, one, plan(one.session)) for one in work.over(possible)]
            _tell_written(choices, library, done, folder)
    if choices.json:
        _print(folder, planned, done)
    return _exit_code(planned, done)


def _leaders(rows: Sequence[SessionRow]) -> list[SessionRow]:
    """Without those that are put back with the session that led them."""
    ids = {row.id for row in rows}
    return [row for row in rows if row.parent_id not in ids or row.parent_id == row.id]


def _planned(
    choices: Choices, library: Library, wanted: Sequence[str], folder: str | None, row: SessionRow
) -> Planned:
    from geminids.library.custody.restore import RestorePlan

    try:
        plan = library.kept.restoring(_name(library, wanted, row), folder, choices.now)
    except AgentFolderError:
        # The folder is to blame, and would be for every other session.
        raise
    except GeminidsError as error:
        plan = RestorePlan(row.id, refusal=str(error))
    return Planned(row, plan, folder)


def _name(library: Library, wanted: Sequence[str], row: SessionRow) -> str:
    """What means this session: the number in a list, which also tells it from one with the same id."""
    numbers = wanted if all(word.isdecimal() for word in wanted) else ()
    return next((number for number in numbers if library.session(number).file == row.file), row.id)


def _write(library: Library, one: Planned, now: Planned) -> Done:
    """Write a session as it is planned now; what stands in the way is said."""
    if now.plan.refusal:
        return _failed(now, now.plan.refusal)
    try:
        written = library.kept.restore(now.plan)
    except FileExistsAlreadyError:
        return _failed(
            now, "A file of this name was written in the meantime. Nothing was restored; try again."
        )
    except GeminidsError as error:
        return _failed(now, str(error))
    except OSError as error:
        return _failed(now, f"Cannot use {error.filename!r}: {error.strerror}.")
    for path in written:
        if path not in {placement.path for placement in one.plan.placements}:
            say(f"{one_line(now.session.id)}: written to {path!r}, since another session has that name now.")
    return Done(now, written)


def _failed(one: Planned, why: str) -> Done:
    say(f"{one_line(one.session.id)}: {why}")
    return Done(one, failure=why)


def _exit_code(planned: Sequence[Planned], done: Sequence[Done]) -> int:
    is_refused = any(one.plan.refusal and not one.is_needless for one in planned)
    if all(one.plan.refusal for one in planned):
        return NOTHING_FOUND
    return PARTLY_DONE if is_refused or any(one.failure for one in done) else 0


def _tell_refused(planned: Sequence[Planned]) -> None:
    """Say what cannot be put back; of several those that are there are only named."""
    needless = [one_line(one.session.id) for one in planned if one.is_needless]
    if len(planned) > 1 and needless:
        more = len(needless) - MOST_NAMED
        others = f" and {more:,} more" if more > 0 else ""
        say(f"Nothing to restore of {', '.join(needless[:MOST_NAMED])}{others}.")
    for one in planned:
        if one.plan.refusal and (len(planned) == 1 or not one.is_needless):
            say("\n".join([*one.plan.warnings, f"{_whose(planned, one)}{one.plan.refusal}"]))


def _whose(planned: Sequence[Planned], one: Planned) -> str:
    return f"{one_line(one.session.id)}: " if len(planned) > 1 else ""


def _question(number: int) -> str:
    from geminids.sharing.transcript import words

    return "Restore it?" if number == 1 else f"Restore {words.count(number, 'session')}?"


def _draw(choices: Choices, possible: Sequence[Planned]) -> None:
    from geminids.sharing.transcript import words

    page = choices.open_page()
    shown: set[str] = set()
    for one in possible[:MOST_DRAWN]:
        _draw_plan(page, one, shown)
        shown.update(placement.path for placement in one.plan.placements)
    if len(possible) > MOST_DRAWN:
        page.line((f"… and {words.count(len(possible) - MOST_DRAWN, 'more session')}", "quiet"))
    if len(possible) > 1:
        sizes = {placement.path: placement.size for one in possible for placement in one.plan.placements}
        files = f"{words.count(len(sizes), 'file')}, {words.size(sum(sizes.values()))}"
        page.line(f"{words.count(len(possible), 'session')}: {files}")
    if any(placement.changes for one in possible for placement in one.plan.placements):
        page.words("`--to DIR` writes the files exactly as they were.", "quiet")


def _draw_plan(page: Page, one: Planned, shown: Collection[str]) -> None:
    """What is written for a session, without files that it shares with one before."""
    session = one.session
    page.line((session.title or "untitled", "title" if session.title else "quiet"))
    page.line((session.project.name, "human"), (f"  {session.id}", "quiet"), indent=INDENT)
    for placement in one.plan.placements:
        if placement.path not in shown:
            _draw_placement(page, placement)
    for warning in one.plan.warnings:
        page.words(warning, "warning", indent=INDENT)


def _draw_placement(page: Page, placement: Placement) -> None:
    """Where a file goes; where it lay if that is elsewhere; what is not as it was."""
    from geminids.sharing.transcript import words

    _draw_path(page, words.size(placement.size), placement.path)
    if placement.path != placement.origin:
        _draw_path(page, "it was", placement.origin)
    for change in placement.changes:
        page.words(change, "quiet", indent=2 * INDENT)


def _draw_path(page: Page, label: str, path: str) -> None:
    from geminids.faces.drawing.screen import find_screen
    from geminids.sharing.transcript import words

    before, shown = f"{' ' * INDENT}{label:>{SIZE_WIDTH}}", words.path(path)
    width = find_screen().width
    if width is None or len(before) + 2 + len(shown) <= width:
        page.command(f"{before}  ", shown)
    else:
        # A path is never broken, and below its label it has more room.
        page.line(before)
        page.command(" " * 2 * INDENT, shown)


def _tell_written(choices: Choices, library: Library, done: Iterable[Done], folder: str | None) -> None:
    """Say how much was written, and how to go on."""
    from geminids.faces.cli.sessions import short_names
    from geminids.sharing.transcript import words

    complete = [one for one in done if one.written]
    if not complete or choices.json:
        return
    files = sum(len(one.written) for one in complete)
    number = f" of {words.count(len(complete), 'session')}" if len(complete) > 1 else ""
    written = f"{words.count(files, 'file')}{number} written"
    if folder is not None:
        say(f"{written} below {folder}.")
        return
    first = complete[0].planned.session
    if not _can_resume(choices, library, first):
        say(f"{written}.")
        return
    resume = choices.spelled("resume", short_names(library, [first])[first.id])
    say(f"{written}. Resume {'it' if len(complete) == 1 else 'the first'}: `{resume}`.")


def _can_resume(choices: Choices, library: Library, session: SessionRow) -> bool:
    """Whether the agent of a session that was just put back can go on with it."""
    from geminids.query.sessions.resume import Resumable

    if choices.no_sync:
        # Nothing here knows yet that it is back.
        return False
    library.sync()
    return isinstance(library.resuming(session.id, choices.now).how, Resumable)


def _print(folder: str | None, planned: Sequence[Planned], done: Sequence[Done]) -> None:
    from geminids.faces.cli.json_output import print_json
    from geminids.faces.documents.kept_copies import RestoreDocument

    became = {one.planned.session.number: one for one in done}
    ended = [became.get(one.session.number, Done(one)) for one in planned]
    print_json(RestoreDocument(folder=folder, sessions=[_restored(one) for one in ended]))


def _restored(done: Done) -> RestoredSession:
    from geminids.faces.documents.base import filled
    from geminids.faces.documents.kept_copies import RestoredFile, RestoredSession

    plan = done.planned.plan
    return RestoredSession(
        id=plan.session_id,
        files=[
            filled(RestoredFile, placement, written=placement.path in done.written)
            for placement in plan.placements
        ],
        warnings=plan.warnings,
        refusal=done.failure or plan.refusal,
        written=bool(done.written),
    )
