"""`geminids forget`: sessions out of the index and out of the kept copies, for good."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from geminids.core.errors import NOTHING_FOUND, GeminidsError
from geminids.faces.cli.completers import complete_ids
from geminids.faces.cli.confirmation import UnansweredError, ask
from geminids.faces.cli.options import (
    Choices,
    json_option,
    not_empty,
    pass_choices,
    shared_options,
    sync_option,
)
from geminids.faces.cli.talk import say

if TYPE_CHECKING:
    from geminids.faces.drawing.page import Page, Span
    from geminids.library import Library
    from geminids.query.health.kept_copies import Forgettable, Forgotten
    from geminids.storage.durable.values import Tombstone

INDENT = 2
MOST_DRAWN = 20
"""So many sessions are shown one by one."""


class NotForgottenError(GeminidsError):
    """No session of this id was forgotten."""

    exit_code = NOTHING_FOUND

    def __init__(self, wanted: str) -> None:
        super().__init__(f"{wanted!r} is not forgotten; `geminids forget --list` shows forgotten sessions.")


@click.command()
@click.argument("wanted", nargs=-1, metavar="[ID|QUERY]...", callback=not_empty, shell_complete=complete_ids)
@click.option("--until-changed", is_flag=True, help="Forget only until the files change.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--list", "only_list", is_flag=True, help="List forgotten sessions.")
@click.option("--undo", is_flag=True, help="Undo: list the sessions again if their files still exist.")
@sync_option
@json_option
@shared_options
@pass_choices
def forget(
    choices: Choices,
    *,
    wanted: tuple[str, ...],
    until_changed: bool,
    yes: bool,
    only_list: bool,
    undo: bool,
) -> int:
    """Remove sessions from the index and the kept copies, permanently.

    Give an id, the beginning of one, a name from `geminids mark`, or a number from the last `geminids list`;
    other words are searched for, as in `search`. Names, tags and notes are removed too, and no sync brings
    the sessions back. You see what would be removed, and are asked first.

    Files in the agent's own folder are kept and listed: geminids deletes nothing there.

    \b
    geminids forget 3
    geminids forget 1f0c9a2b --until-changed
    geminids forget project:secret
    geminids forget --list
    geminids forget --undo 1f0c9a2b
    """  # noqa: D301 - click wants the character itself
    _check(choices, wanted, changes=until_changed or yes, only_list=only_list, undo=undo)
    with choices.open_library(changes=True) as library:
        if only_list:
            return _list(choices, library.kept.tombstones())
        if undo:
            return _undo(choices, library, wanted)
        from geminids.faces.cli.sessions import sessions_meant

        going = library.kept.forgetting(
            sessions_meant(choices, library, wanted, "Nothing to forget: no session matches.")
        )
        if not going:
            return NOTHING_FOUND
        if not choices.json:
            _draw(choices, going)
        if not yes:
            ask(_question(len(going)), UnansweredError("forgotten"))
        done = library.kept.forget(going, until_changed=until_changed, now=choices.now)
        data_folder = library.data_folder
    _report(choices, done)
    if data_folder is not None and not until_changed:
        _name_tables(choices, data_folder)
    return 0


def _name_tables(choices: Choices, data_folder: str) -> None:
    """Name the places whose tables have the sessions until the next run."""
    from geminids.scale.tables.places import noted_places
    from geminids.sharing.transcript import words

    for uri in noted_places(data_folder):
        line = choices.spelled("tables", "--out", uri)
        say(f"The tables in {words.path(uri)} may have them until the next `{line}`.")


def _check(choices: Choices, wanted: Sequence[str], *, changes: bool, only_list: bool, undo: bool) -> None:
    """Refuse what cannot be meant."""
    if choices.sample:
        raise click.UsageError("Cannot forget the sample sessions: they are part of geminids.")
    if only_list and (undo or wanted or changes):
        raise click.UsageError("--list cannot be combined with other arguments.")
    if undo and changes:
        raise click.UsageError("--undo only takes ids.")
    if not wanted and not only_list:
        raise click.UsageError("Which sessions? Give an ID, a number from the last list, or a query.")


def _draw(choices: Choices, going: Sequence[Forgettable]) -> None:
    from geminids.sharing.transcript import words

    page = choices.open_page()
    for one in going[:MOST_DRAWN]:
        _draw_one(page, choices, one)
    if len(going) > MOST_DRAWN:
        page.line((f"… and {words.count(len(going) - MOST_DRAWN, 'more session')}", "quiet"))
    if any(one.remaining for one in going):
        page.words(
            "Files marked kept are in the agent's own folder, where geminids deletes nothing.", "warning"
        )


def _draw_one(page: Page, choices: Choices, one: Forgettable) -> None:
    from geminids.sharing.transcript import words

    session = one.session
    page.line((session.title or "untitled", "title" if session.title else "quiet"))
    when = words.when(session.last_at, choices.now)
    page.line((session.project.name, "human"), (f"  {when}  {session.id}", "quiet"), indent=INDENT)
    page.line(f"removed: {_going(one)}", indent=INDENT)
    _draw_staying(page, "kept, since another session uses it too: the copy of", one.shared)
    _draw_staying(page, "kept:", one.remaining)


def _draw_staying(page: Page, label: str, paths: Sequence[str]) -> None:
    from geminids.sharing.transcript import words

    if paths:
        page.words(label, indent=INDENT)
    for path in paths:
        # A line of its own, so that it can be copied.
        page.command(" " * 2 * INDENT, words.path(path))


def _going(one: Forgettable) -> str:
    from geminids.sharing.transcript import words

    subagents = words.count(len(one.subagents), "subagent") if one.subagents else ""
    copies = f"{words.count(one.copies, 'copy', 'copies')}, {words.size(one.bytes)}" if one.copies else ""
    return "; ".join(filter(None, ["its entry in the index", subagents, copies]))


def _question(number: int) -> str:
    from geminids.sharing.transcript import words

    return (
        "Forget it permanently?" if number == 1 else (f"Forget {words.count(number, 'session')} permanently?")
    )


def _report(choices: Choices, done: Forgotten) -> None:
    """Say what is true now; programs get it as data."""
    from geminids.sharing.transcript import words

    if choices.json:
        from geminids.faces.cli.json_output import print_filled
        from geminids.faces.documents.kept_copies import ForgetDocument

        print_filled(ForgetDocument, done)
    number = len(done.sessions)
    whose = "its" if number == 1 else "their"
    until = f" until {whose} files change" if done.until_changed else ""
    freed = f", {words.size(done.freed)} freed" if done.freed else ""
    say(
        f"{words.count(number, 'session')} forgotten{until}{freed}. "
        f"`{choices.spelled('forget', '--list')}` lists forgotten sessions."
    )


def _list(choices: Choices, stones: Sequence[Tombstone]) -> int:
    if choices.json:
        from geminids.faces.cli.json_output import print_json
        from geminids.faces.documents.kept_copies import forgotten_document

        print_json(forgotten_document(stones))
    else:
        _draw_stones(choices.open_page(), stones)
    if not stones:
        say("Nothing is forgotten.")
        return NOTHING_FOUND
    return 0


def _draw_stones(page: Page, stones: Sequence[Tombstone]) -> None:
    from datetime import datetime

    from geminids.faces.drawing.page import Column, DrawnPage
    from geminids.sharing.transcript import words

    rows: list[list[Span]] = []
    for stone in stones:
        how = "until changed" if stone.until_changed else "permanently"
        rows.append([(stone.session, "quiet"), words.moment(datetime.fromisoformat(stone.at)), how])
    if not (isinstance(page, DrawnPage) and page.is_terminal):
        for row in rows:
            page.fields(*row)
    elif rows:
        page.table((Column("session", least=12), Column("forgotten"), Column("")), rows)


def _undo(choices: Choices, library: Library, wanted: Sequence[str]) -> int:
    from geminids.sharing.transcript import words

    known = [stone.session for stone in library.kept.tombstones()]
    meant = list(dict.fromkeys(_forgotten_called(known, name) for name in wanted))
    library.kept.recall(meant)
    if choices.json:
        from geminids.faces.cli.json_output import print_json
        from geminids.faces.documents.kept_copies import forgotten_document

        print_json(forgotten_document(library.kept.tombstones()))
    number = len(meant)
    its = "its files are" if number == 1 else "their files are"
    say(
        f"{words.count(number, 'session')} no longer forgotten; listed again if {its} there: "
        f"`{choices.spelled('list')}`."
    )
    return 0


def _forgotten_called(known: Sequence[str], wanted: str) -> str:
    """The one forgotten session that is meant by its id, or by the beginning of it."""
    exact = [name for name in known if wanted in (name, name.partition(":")[2])]
    meant = exact or [name for name in known if f":{wanted}" in f":{name}"]
    match meant:
        case [one]:
            return one
        case []:
            raise NotForgottenError(wanted)
        case _:
            raise click.UsageError(f"{wanted!r} could be any of {', '.join(meant)}.")
