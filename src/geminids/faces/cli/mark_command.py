"""`geminids mark`: names, tags and notes of sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from geminids.core.errors import NOTHING_FOUND
from geminids.faces.cli.completers import complete_ids, complete_tags
from geminids.faces.cli.options import (
    Choices,
    json_option,
    not_empty,
    pass_choices,
    shared_options,
    sync_option,
)
from geminids.faces.cli.picked import picked
from geminids.faces.cli.talk import say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from geminids.library import Library
    from geminids.query.sessions.marked import Marked, MarkedSessions


@click.command()
@click.argument("wanted", nargs=-1, metavar="[ID]...", callback=not_empty, shell_complete=complete_ids)
@click.option(
    "--name",
    metavar="TEXT",
    callback=not_empty,
    help="Name the session; the name replaces its title. Only with one ID.",
)
@click.option("--no-name", "without_name", is_flag=True, help="Remove the name.")
@click.option(
    "--tag",
    "tags",
    multiple=True,
    metavar="TAG",
    callback=not_empty,
    shell_complete=complete_tags,
    help="Add a tag: one word. Repeatable.",
)
@click.option(
    "--untag",
    "without_tags",
    multiple=True,
    metavar="TAG",
    callback=not_empty,
    shell_complete=complete_tags,
    help="Remove a tag. Repeatable.",
)
@click.option(
    "--note",
    "notes",
    multiple=True,
    metavar="TEXT",
    callback=not_empty,
    help="Add a note of one or more lines. Repeatable.",
)
@click.option(
    "--forget-note",
    "without_notes",
    multiple=True,
    type=int,
    metavar="N",
    help="Delete note N. Repeatable; only with one ID.",
)
@sync_option
@json_option
@shared_options
@pass_choices
def mark(
    choices: Choices,
    *,
    wanted: tuple[str, ...],
    name: str | None,
    without_name: bool,
    tags: tuple[str, ...],
    without_tags: tuple[str, ...],
    notes: tuple[str, ...],
    without_notes: tuple[int, ...],
) -> int:
    """Name, tag and note sessions.

    ID is an id or the beginning of one, a name from `geminids mark`, a number from the last `geminids list`,
    or `latest`. With several, all sessions are changed, or none if one of them cannot be. Without an option,
    name, tags and notes are shown; without an ID, all tags and all marked sessions. In a pipe a tag is a line
    of `#tag` and the number of its sessions; a session is a line of id, `here` or `not here`, number of
    notes, tags, and name.

    Marks are stored in the data directory and outlive the sessions: marks of a session whose files are gone
    stay until you remove them. The agent's files are not changed.

    \b
    geminids mark 3 --name "The login bug"
    geminids mark latest --tag keep --tag bug
    geminids mark 1 2 3 --tag keep
    geminids mark 1f0c9a2b --note "The fix is in 4e1c0d7" --untag bug
    geminids mark 1f0c9a2b
    geminids mark
    geminids list --tag keep
    """  # noqa: D301 - click wants the character itself
    from geminids.storage.durable.values import MarkChange

    change = MarkChange(name, without_name, tags, without_tags, notes, without_notes)
    is_change = change != MarkChange()
    if name and without_name:
        raise click.UsageError("--name and --no-name cannot be combined.")
    for option, value in (("--name", name), ("--forget-note", without_notes)):
        if value and len(wanted) > 1:
            raise click.UsageError(f"{option} is for one session, and {len(wanted)} are given.")
    if is_change and not wanted and (chosen := picked(choices, "mark")):
        wanted = (chosen.key,)
    if is_change and not wanted:
        raise click.UsageError("Which session? Give an ID, a number from the last list, or `latest`.")
    library = choices.open_library(sample_if_empty=True, changes=is_change)
    if not wanted:
        return _show_all(choices, library.marked())
    if not is_change:
        return _show(choices, library, wanted)
    marked = library.mark_each(wanted, change, choices.now)
    _report(choices, library, marked)
    if name:
        _tell_same_name(library, marked[0])
    return 0


def _report(choices: Choices, library: Library, sessions: Sequence[Marked]) -> None:
    """Say what the marks are now; print them for programs."""
    from geminids.faces.drawing.marks import in_words

    if choices.json:
        _print(library, sessions)
    for session in sessions:
        say(in_words(session))


def _tell_same_name(library: Library, marked: Marked) -> None:
    """Say which other sessions have the name that a session was given."""
    name = marked.marks.name or ""
    if others := [sid for sid in library.sessions_named(name) if sid != marked.id]:
        say(f'Also named "{name}": {", ".join(others)}. To mean one of them, give its id.')


def _show(choices: Choices, library: Library, wanted: Sequence[str]) -> int:
    sessions = library.mark_each(wanted)
    if choices.json:
        _print(library, sessions)
        return 0
    from geminids.faces.drawing.marks import draw_marked
    from geminids.storage.durable.values import Marks

    page = choices.open_page()
    for number, session in enumerate(sessions):
        if number:
            page.line()
        draw_marked(page, session)
    if len(wanted) == 1 and sessions[0].marks == Marks():
        say(f"It is not marked yet; to add a tag: `{choices.spelled('mark', *wanted, '--tag', 'TAG')}`.")
    return 0


def _show_all(choices: Choices, found: MarkedSessions) -> int:
    if choices.json:
        from geminids.faces.cli.json_output import print_json
        from geminids.faces.documents.sessions import marks_document

        print_json(marks_document(found))
    elif found.sessions:
        from geminids.faces.drawing.marks import draw_all_marked

        draw_all_marked(choices.open_page(), found)
    if not found.sessions:
        say("No session is marked yet. To add a tag: `geminids mark ID --tag TAG`.")
        return NOTHING_FOUND
    _tell_absent(sum(not session.is_here for session in found.sessions))
    return 0


def _tell_absent(number: int) -> None:
    """Say why marks are shown of which no list shows the session."""
    from geminids.sharing.transcript import words

    if number:
        its = "Its files are" if number == 1 else "Their files are"
        marked = words.count(number, "marked session")
        say(f"{marked} not here. {its} gone or in another home; the marks stay.")


def _print(library: Library, sessions: Sequence[Marked]) -> None:
    from geminids.faces.cli.json_output import print_json
    from geminids.faces.documents.sessions import MarkDocument, marked_in_little, marks_document
    from geminids.query.sessions.marked import MarkedSessions

    if len(sessions) == 1:
        print_json(marked_in_little(MarkDocument, sessions[0]))
    else:
        print_json(marks_document(MarkedSessions(library.tags(), sessions)))
