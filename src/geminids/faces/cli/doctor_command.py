"""`geminids doctor`: what was found, understood, ignored, broken. Safe to paste into a bug report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from geminids.core.errors import PARTLY_DONE, GeminidsError
from geminids.faces.cli.completers import complete_files
from geminids.faces.cli.options import Choices, json_option, pass_choices, shared_options
from geminids.faces.cli.talk import say

if TYPE_CHECKING:
    from geminids.faces.drawing.page import Page
    from geminids.library import Library
    from geminids.library.installing.record import Installed
    from geminids.query.health.fidelity import Fidelity
    from geminids.scale.tables.written import PlaceHealth

MOST_PROBLEMS = 50
WIDEST_NAME = 48


@click.command()
@click.argument("files", nargs=-1, metavar="[FILE]...", shell_complete=complete_files)
@click.option("--paths", is_flag=True, help="Also show the names of projects and folders, and every problem.")
@json_option
@shared_options
@pass_choices
def doctor(choices: Choices, files: tuple[str, ...], paths: bool) -> int:
    """Report which files were read, and what became of every record in them, or in FILE.

    The report contains no text of a session. Names that may be private are replaced by numbers unless you
    give --paths, so it is safe to paste into a bug report. With --json, files have their real paths.

    \b
    geminids doctor
    geminids doctor --paths
    geminids doctor ~/backup/session-2026-05-01T10-00-1f0c9a2b.jsonl
    geminids doctor --json | jq .bytes
    """  # noqa: D301 - click wants the character itself
    library = choices.open_library()
    report = library.doctor(files, with_names=paths or choices.json)
    from geminids.scale.tables.places import places_health

    tables = [] if files or library.data_folder is None else list(places_health(library.data_folder))
    if choices.json:
        from geminids.faces.cli.json_output import print_filled
        from geminids.faces.documents.base import filled
        from geminids.faces.documents.health import DoctorDocument, InstalledIn

        installed = [filled(InstalledIn, one) for one in _installed(library)]
        print_filled(DoctorDocument, report, installed=installed, tables=tables)
    else:
        _draw(choices, library, report, every_problem=paths)
        _draw_tables(choices.open_page(), tables, with_names=paths)
    is_damaged = any(place.damaged or place.error for place in tables)
    return PARTLY_DONE if report.is_partial or is_damaged else 0


def _draw_tables(page: Page, places: Sequence[PlaceHealth], *, with_names: bool) -> None:
    """Show what is wrong with the tables in folders; names of files only if they are wished."""
    from geminids.sharing.transcript import words

    if places:
        _heading(page, "Tables")
    for number, place in enumerate(places, 1):
        page.words(place.uri if with_names else f"folder {number}", indent=2)
        wrong = place.strays or place.damaged or place.error
        page.line((words.count(place.machines, "machine"), "bad" if wrong else "quiet"), indent=4)
        if place.error:
            page.words(place.error if with_names else "cannot be read (--paths says why)", "bad", indent=4)
        for files, what in (
            (place.damaged, "damaged or gone; the next `geminids tables` writes those of this machine again"),
            (place.strays, "not read, since no machine wrote it there; remove it"),
        ):
            if files:
                page.words(f"{words.count(len(files), 'file')} {what}", "warning", indent=4)
            for file in files if with_names else ():
                page.words(file, indent=6)


def _draw(choices: Choices, library: Library, report: Fidelity, *, every_problem: bool) -> None:
    page = choices.open_page()
    _draw_verdict(page, choices, library, report)
    page.line(f"geminids {report.version}, Python {report.python}, {report.system}")
    page.line(f"data directory: {report.data_folder or 'none: this user has no home directory'}")
    _draw_installed(page, choices, library, report.version)
    _draw_homes(page, report)
    _draw_totals(page, report)
    _draw_kinds(page, report)
    _draw_problems(page, report, every_problem=every_problem)


def _draw_verdict(page: Page, choices: Choices, library: Library, report: Fidelity) -> None:
    """One sentence before all figures: whether anything is wrong, and what there is to do."""
    from geminids.sharing.transcript import words

    closed = {problem.file for problem in report.problems if problem.is_unreadable}
    damaged = {problem.file for problem in report.problems} - closed
    if closed:
        page.words(f"{words.count(len(closed), 'place')} could not be read: see Problems below.", "warning")
    if damaged:
        what = f"{words.count(len(damaged), 'file')} damaged or incomplete"
        which = words.them(len(damaged))
        page.words(f"{what}; everything readable in {which} is shown.", "warning")
    elif not closed:
        page.words("Everything was read.", "good")
    hidden = report.hidden
    if hidden and hidden.sessions:
        agents = map(library.agent_title, hidden.agents)
        page.words(f"{words.hidden(hidden.sessions, hidden.partly, agents)}.", "warning")
        page.command("See what can be repaired:  ", choices.spelled("rescue"))
    elif damaged:
        page.line("Nothing needs to be done.")
    page.line()


def _installed(library: Library) -> Sequence[Installed]:
    """The agents that geminids was installed into; what is wrong with the list of them is a message."""
    try:
        return library.installation.installed()
    except GeminidsError as error:
        say(str(error))
    except OSError as error:
        say(f"Cannot read {error.filename!r}: {error.strerror}.")
    return ()


def _draw_installed(page: Page, choices: Choices, library: Library, version: str) -> None:
    installed = _installed(library)
    if installed:
        named = ", ".join(f"{library.agent_title(one.agent)} ({one.version})" for one in installed)
        page.line(f"installed into: {named}")
    if any(one.version != version for one in installed):
        page.command("Update what is installed:  ", choices.spelled("install"))


def _draw_homes(page: Page, report: Fidelity) -> None:
    from geminids.sharing.transcript import words

    if report.homes:
        _heading(page, "Places")
    for home in report.homes:
        found = words.count(home.files, "session file") if home.exists else "not there"
        page.words(home.path, indent=2)
        state = "" if home.complete else ", partly unreadable"
        page.line(
            (f"{home.agent}, {home.known_by}: {found}{state}", "quiet" if home.complete else "bad"), indent=4
        )


def _draw_totals(page: Page, report: Fidelity) -> None:
    from geminids.sharing.transcript import words

    _heading(page, "Account")
    sessions = ", ".join(f"{number} {kind}" for kind, number in report.sessions.items()) or "none"
    page.line(f"sessions  {sessions}", indent=2)
    for name, split in (("bytes  ", report.bytes), ("records", report.records)):
        page.line(
            f"{name}   {split.total:,} = {split.used:,} used + {split.ignored:,} ignored + ",
            (f"{split.problem:,} broken", "bad" if split.problem else ""),
            indent=2,
        )
    for heading, tallies in (
        ("Eras", report.eras),
        ("Formats", report.formats),
        ("Ignored files", report.skipped),
    ):
        _draw_table(
            page,
            heading,
            {
                name: f"{words.count(tally.files, 'file')}, {words.size(tally.bytes)}"
                for name, tally in tallies.items()
            },
        )


def _draw_kinds(page: Page, report: Fidelity) -> None:
    from geminids.sharing.transcript import words

    for heading, tallies in (("Used", report.used), ("Ignored", report.ignored), ("Broken", report.problem)):
        _draw_table(
            page,
            heading,
            {
                name: f"{words.count(tally.records, 'record')}, {words.size(tally.bytes)}"
                for name, tally in tallies.items()
            },
        )
    fields = {name: f"{number:,} times" for name, number in report.unknown_fields.items()}
    _draw_table(page, "Unknown fields (kept as they are)", fields)


def _draw_table(page: Page, heading: str, rows: Mapping[str, str]) -> None:
    if rows:
        _heading(page, heading)
    width = min(max(map(len, rows), default=0), WIDEST_NAME)
    for name, value in rows.items():
        page.line(f"{name:<{width}}  ", (value, "quiet"), indent=2)


def _draw_problems(page: Page, report: Fidelity, *, every_problem: bool) -> None:
    from geminids.sharing.transcript import words

    if report.problems:
        _heading(page, "Problems")
    shown = report.problems if every_problem else report.problems[:MOST_PROBLEMS]
    for problem in shown:
        place = f"{problem.file}:{problem.line}" if problem.line else problem.file
        page.line((str(problem.kind), "bad"), f"  {place}  ", (problem.detail, "quiet"), indent=2)
    if more := len(report.problems) - len(shown):
        page.line((f"… {words.count(more, 'more problem')} (--paths or --json)", "quiet"), indent=2)


def _heading(page: Page, words: str) -> None:
    page.line()
    page.line((words, "title"))
