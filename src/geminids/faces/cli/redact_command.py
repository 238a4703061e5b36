"""`geminids redact`: what would be hidden in a session, and why."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from geminids.core.errors import NOTHING_FOUND
from geminids.faces.cli.completers import complete_sessions
from geminids.faces.cli.options import Choices, json_option, pass_choices, shared_options, sync_option
from geminids.faces.cli.picked import session_wanted
from geminids.faces.cli.redaction_options import hide_option, open_redactor
from geminids.faces.cli.talk import say

if TYPE_CHECKING:
    from geminids.faces.drawing.page import Page, Span
    from geminids.sharing.redact import Finding, FoundAt, Redacted, Redactor


@click.command()
@click.argument("wanted", required=False, metavar="[ID|FILE]", shell_complete=complete_sessions)
@hide_option
@click.option(
    "--keep-attachments",
    is_flag=True,
    help="Do not list pictures and documents. Otherwise they are left out, since secrets in them are not "
    "found.",
)
@sync_option
@json_option
@shared_options
@pass_choices
def redact(choices: Choices, *, wanted: str | None, hide: tuple[str, ...], keep_attachments: bool) -> int:
    """Show what would be hidden in a session, and why.

    Nothing is changed: `geminids export --redact` writes a session without its secrets. Equal secrets get the
    same placeholder, in all sessions.

    In a pipe each place is one line of fields separated by tabs: rule, message (for `show --at`), field,
    first characters, placeholder, number of places, session. The exit code is 1 if nothing would be hidden.

    \b
    geminids redact latest
    geminids redact 3 --hide all
    geminids redact ~/backup/session-2026-05-01T10-00-1f0c9a2b.jsonl --json
    """  # noqa: D301 - click wants the character itself
    from geminids.faces.cli.sessions import tell_unreadable
    from geminids.query.sessions.input_files import file_meant

    wanted = session_wanted(choices, wanted, "show what would be hidden")
    library = choices.open_library(sample_if_empty=file_meant(wanted) is None)
    redactor = open_redactor(library, hide, keep_attachments=keep_attachments)
    sessions, unreadable = library.read(wanted)
    redacted = [redactor.redact(session) for session in sessions]
    if choices.json:
        _print(redactor, redacted)
    else:
        _draw(choices, redacted)
    if any(each.findings for each in redacted):
        if sys.stdout.isatty() and not choices.json:
            hiding = [word for what in hide for word in ("--hide", what)]
            hiding += ["--keep-attachments"] if keep_attachments else []
            export = choices.spelled("export", wanted, "--redact", *hiding, "-o", "page.html")
            say(f"To share it without these: `{export}`.")
        return tell_unreadable(unreadable)
    say("Nothing would be hidden.")
    return tell_unreadable(unreadable) or NOTHING_FOUND


def _print(redactor: Redactor, redacted: Sequence[Redacted]) -> None:
    from geminids.faces.cli.json_output import print_json
    from geminids.faces.documents.base import filled
    from geminids.faces.documents.exports import RedactDocument, RedactedSession

    sessions = [filled(RedactedSession, each.session, findings=each.findings) for each in redacted]
    print_json(filled(RedactDocument, redactor, hidden_by=redactor.describe(), sessions=sessions))


def _draw(choices: Choices, redacted: Sequence[Redacted]) -> None:

    page = choices.open_page()
    for each in redacted:
        if each.findings:
            _draw_findings(page, each, is_only=len(redacted) == 1)


def _draw_findings(page: Page, redacted: Redacted, *, is_only: bool) -> None:
    """A table on a terminal, a line for each place in a pipe."""
    from geminids.faces.drawing.page import Column, DrawnPage

    if not (isinstance(page, DrawnPage) and page.is_terminal):
        for finding in redacted.findings:
            for place in finding.places:
                page.fields(*_fields(finding, place), redacted.session.id)
        return
    if not is_only:
        page.line((redacted.session.id, "title"))
    columns = [
        Column("what", least=12, most=40),
        Column("begins", least=5, most=12, leaves=1),
        Column("times", is_number=True),
        Column("where", least=16, most=60),
        # Its last digits tell which secret it is.
        Column("hidden as", least=32, most=44, leaves=2, keeps_end=True),
    ]
    page.table(columns, [_row(finding) for finding in redacted.findings])


def _row(finding: Finding) -> list[Span]:
    begins = (finding.preview, "quiet")
    return [finding.kind, begins, str(finding.count), _where(finding), (finding.replacement, "quiet")]


def _fields(finding: Finding, place: FoundAt) -> tuple[str, ...]:
    number = "" if place.message is None else str(place.message)
    return (finding.rule, number, place.field, finding.preview, finding.replacement, str(finding.count))


def _where(finding: Finding) -> str:
    """The first place, and how many more there are."""
    first, *others = finding.places
    place = first.field if first.message is None else f"{first.message} {first.field}"
    return f"{place}, {len(others)} more" if others else place
