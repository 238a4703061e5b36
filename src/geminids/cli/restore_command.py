"""`geminids restore`: a kept session, put back where its agent finds it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from geminids.cli.asking import UnansweredError, ask
from geminids.cli.options import (
    Choices,
    complete_folders,
    complete_ids,
    json_option,
    not_empty,
    pass_choices,
    shared_options,
    sync_option,
)
from geminids.cli.talk import say
from geminids.errors import NOTHING_FOUND, PARTLY_DONE, FileExistsAlreadyError

if TYPE_CHECKING:
    from geminids.cli.page import Page
    from geminids.library import Placement, RestorePlan

INDENT = 2


@click.command()
@click.argument("wanted", metavar="ID", callback=not_empty, shell_complete=complete_ids)
@click.option(
    "--to",
    "folder",
    metavar="DIR",
    callback=not_empty,
    shell_complete=complete_folders,
    help="Into this folder, byte for byte as it was, instead of where its agent looks.",
)
@click.option("--dry-run", is_flag=True, help="Only show what would be written.")
@click.option("--yes", is_flag=True, help="Write without asking.")
@sync_option
@json_option
@shared_options
@pass_choices
def restore(choices: Choices, *, wanted: str, folder: str | None, dry_run: bool, yes: bool) -> int:
    """Put a kept session back where its agent finds it.

    ID is an id or the beginning of one, a number from the last `geminids list`, or `latest`;
    `geminids list --kept` shows the sessions whose files are gone.

    First you see what would be written and what would be changed in it: Gemini CLI deletes what is
    old and takes sessions of one minute for one, so that the date, the name or the id may have to
    be another one. Then you are asked. No file that is there is ever touched.

    \b
    geminids restore 3 --dry-run
    geminids restore 1f0c9a2b
    geminids restore 1f0c9a2b --to ~/rescued
    """  # noqa: D301 - click wants the character itself
    if dry_run and yes:
        raise click.UsageError("--dry-run and --yes cannot both be meant.")
    with choices.open_library() as library:
        plan = library.kept.restoring(wanted, _absolute(folder), choices.now)
        if plan.refusal:
            return _refuse(choices, plan, folder)
        if not choices.json:
            _draw(choices, plan)
        if dry_run:
            return _end(choices, plan, folder, [])
        if not yes:
            ask("Write it?", UnansweredError("written"))
        try:
            written = library.kept.restore(plan)
        except FileExistsAlreadyError:
            say("A file of this name was written meanwhile. Nothing was put back; try again.")
            return PARTLY_DONE
    if not choices.json:
        _tell_written(choices, written, wanted, folder)
    return _end(choices, plan, folder, written)


def _absolute(folder: str | None) -> str | None:
    from pathlib import Path

    return str(Path(folder).expanduser().absolute()) if folder is not None else None


def _refuse(choices: Choices, plan: RestorePlan, folder: str | None) -> int:
    if choices.json:
        _end(choices, plan, folder, [])
    for warning in plan.warnings:
        say(warning)
    say(plan.refusal or "")
    return NOTHING_FOUND


def _end(choices: Choices, plan: RestorePlan, folder: str | None, written: list[str]) -> int:
    if choices.json:
        from geminids.cli.data import encode, print_json
        from geminids.cli.restore_document import restore_document

        print_json(encode(restore_document(plan, folder, written)))
    return 0


def _draw(choices: Choices, plan: RestorePlan) -> None:
    from geminids.cli.page import open_page
    from geminids.cli.screen import find_screen
    from geminids.transcript import words

    page = open_page(find_screen(no_color=choices.no_color))
    files = words.count(len(plan.placements), "file")
    page.line((plan.session_id, "title"), f"  {files}, {words.size(plan.size)}")
    for placement in plan.placements:
        _draw_placement(page, placement)
    for warning in plan.warnings:
        page.words(warning, "warning")


def _draw_placement(page: Page, placement: Placement) -> None:
    """Where a file goes; where it lay if that is elsewhere; what is not as it was."""
    from geminids.transcript import words

    margin = " " * INDENT
    page.command(margin, f"{words.path(placement.path)}  {words.size(placement.size)}")
    if placement.path != placement.origin:
        page.command(f"{margin}  it was ", words.path(placement.origin))
    for change in placement.changes:
        page.words(change, "quiet", indent=2 * INDENT)


def _tell_written(choices: Choices, written: list[str], wanted: str, folder: str | None) -> None:
    from geminids.transcript import words

    done = f"{words.count(len(written), 'file')} written"
    if folder is not None:
        say(f"{done} below {folder}.")
    else:
        say(f"{done}. Go on with it: `{choices.spelled('resume', wanted)}`.")
