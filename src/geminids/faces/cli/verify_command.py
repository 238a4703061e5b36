"""`geminids verify`: whether a signed record still says what was signed, and who signed it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import click

from geminids.core.errors import NOTHING_FOUND
from geminids.faces.cli.options import (
    Choices,
    absolute,
    complete_files,
    json_option,
    not_empty,
    pass_choices,
    shared_options,
)
from geminids.faces.cli.progress import stoppable
from geminids.faces.cli.talk import say

if TYPE_CHECKING:
    from geminids.faces.cli.page import Page
    from geminids.faces.documents.records import VerifiedFile

SHOWS = (
    "Whoever has this key held what is shown here when they signed it, and nothing of it was changed since."
)
DOES_NOT_SHOW = (
    "It does not show what a model really did, nor who the holder of the key is, nor that the time is right "
    "unless a time stamp says so, nor that nothing was left out before signing."
)
VERDICTS = {True: ("holds", "good"), False: ("FAILED", "bad"), None: ("-", "quiet")}
SHOWN_VERDICTS = {**VERDICTS, True: ("OK", "good")}
"""The same for people; programs read the others."""
INDENT = 2
NAME_WIDTH = 17
DETAILS_AT = INDENT + 7 + NAME_WIDTH
LEAST_DETAILS = 10
"""Columns that details get on the narrowest terminal."""
STOPPED = "Stopped after {done} of {total} statements: of the others it is not known whether they hold."
MOST_WITHHELD = 10
"""So many places that were taken out are named on a terminal."""


@click.command()
@click.argument("file", metavar="FILE|DIR", required=False, callback=not_empty, shell_complete=complete_files)
@click.option(
    "--signature", metavar="FILE", shell_complete=complete_files, help="Of a record; else FILE.cose."
)
@click.option(
    "--key",
    "keys",
    multiple=True,
    metavar="NAME|FILE",
    callback=not_empty,
    shell_complete=complete_files,
    help="Whom you believe: a public key (PEM), or one of `geminids key list`; else all of yours.",
)
@click.option(
    "--source",
    "sources",
    multiple=True,
    metavar="FILE",
    shell_complete=complete_files,
    help="The agent's file: are these the bytes, and does it say the same? May be given several times.",
)
@click.option(
    "--tsa",
    "authorities",
    multiple=True,
    metavar="FILE",
    shell_complete=complete_files,
    help="Whose time stamps you believe: certificates (PEM).",
)
@click.option("--previous", metavar="FILE", shell_complete=complete_files, help="The statement before it.")
@click.option("--unsigned", is_flag=True, help="Only the shape of a record that nobody signed.")
@click.option(
    "--write-verifier",
    metavar="FILE",
    callback=not_empty,
    shell_complete=complete_files,
    help="Write the verifier as one Python file, for somebody who does not have geminids.",
)
@json_option
@shared_options
@pass_choices
def verify(
    choices: Choices,
    *,
    file: str | None,
    signature: str | None,
    keys: tuple[str, ...],
    sources: tuple[str, ...],
    authorities: tuple[str, ...],
    previous: str | None,
    unsigned: bool,
    write_verifier: str | None,
) -> int:
    """Check a signed record: its signature, its shape, its hashes, and what was taken out of it.

    The file may hold record and signature together, or the record alone with its signature beside it
    (FILE.cose), or both in a vCon, or be a folder of statements, of which each must be tied to the one before
    it. The exit code is 0 only if everything that was asked for holds.

    In a pipe each check is a line of file, `holds`, `failed` or `-` (nothing of the kind is there, or it was
    not asked for), name, and words.

    \b
    geminids verify session.acr
    geminids verify session.acr --key ana.pub.pem --source session-2026-05-01T10-00-1f0c9a2b.jsonl
    geminids verify statements/
    geminids verify --write-verifier verify_record.py
    """  # noqa: D301 - click wants the character itself
    from geminids.faces.documents.records import verified_file

    choices.no_sync = True
    with choices.open_library() as library:
        if write_verifier is not None:
            library.records.write_verifier(absolute(write_verifier))
            say(f"`python {write_verifier} FILE --key KEY` verifies without geminids.")
            if file is None:
                return 0
        if file is None:
            raise click.UsageError("Which file? Give a signed record, or a folder of them.")
        verifying = library.records.verifying(
            keys=keys,
            sources=[absolute(source) for source in sources],
            authorities=[absolute(authority) for authority in authorities],
            previous=absolute(previous) if previous else None,
            is_unsigned=unsigned,
        )
        path = absolute(file)
        if path.is_dir() and (signature or sources or previous):
            raise click.UsageError("--signature, --source and --previous go with one file.")
        with stoppable("Checking", STOPPED) as work:
            if path.is_dir():
                # Whole records are let go of one by one.
                files = [verified_file(one) for one in verifying.folder(path, work)]
            else:
                files = [verified_file(verifying.file(path, absolute(signature) if signature else None))]
        return _tell(choices, files, is_folder=path.is_dir())


def _tell(choices: Choices, files: Sequence[VerifiedFile], *, is_folder: bool) -> int:
    from geminids.faces.documents.records import VerifyDocument

    if not files:
        say("There is no statement in this folder.")
        return NOTHING_FOUND
    holds = all(file.holds for file in files)
    if choices.json:
        from geminids.faces.cli.json_output import print_json

        print_json(VerifyDocument(holds=holds, files=files, shows=SHOWS, does_not_show=DOES_NOT_SHOW))
    else:
        from geminids.faces.cli.screen import find_screen

        page, screen = choices.open_page(), find_screen()
        width = screen.width if screen.is_terminal else None
        for file in files:
            _draw(page, width, file, is_folder=is_folder)
        _sum_up(files, tell=say if width is None else page.words, is_folder=is_folder)
    return 0 if holds else NOTHING_FOUND


def _draw(page: Page, width: int | None, file: VerifiedFile, *, is_folder: bool) -> None:
    """A few lines on a terminal, of a folder only those that failed; a line for each check in a pipe."""
    from geminids.sharing.transcript import words

    if width is None:
        for check in file.checks:
            page.fields(file.file, VERDICTS[check.holds][0].lower(), check.name, check.detail)
        return
    if is_folder and file.holds:
        return
    _draw_verdict(page, file)
    page.command("", file.file)
    if file.issuer is not None:
        at = f", {words.moment(file.issued_at)}" if file.issued_at else ""
        _draw_line(page, width, ("", ""), "signer", f"{file.issuer}{at}, by their own word")
    for check in file.checks:
        _draw_line(page, width, SHOWN_VERDICTS[check.holds], check.name, check.detail)
    for place in file.withheld[:MOST_WITHHELD]:
        entries = f" ({place.count:,} entries)" if place.count > 1 else ""
        _draw_line(page, width, ("", ""), "withheld", f"{place.at}{entries}")
    if len(file.withheld) > MOST_WITHHELD:
        more = len(file.withheld) - MOST_WITHHELD
        _draw_line(page, width, ("", ""), "withheld", f"and at {more:,} more places")


def _draw_verdict(page: Page, file: VerifiedFile) -> None:
    """What all checks come to, before any of them."""
    if not file.holds:
        page.line(("NOT VALID", "bad"), ": do not rely on it")
    elif file.form == "record":
        page.line(("A record", "warning"), " that nobody signed")
    else:
        page.line(("VALID", "good"), f", signed by {file.issuer}" if file.issuer else ", signed")


def _draw_line(page: Page, width: int, verdict: tuple[str, str], name: str, detail: str) -> None:
    """A verdict, a name, and words that go on below themselves."""
    from textwrap import wrap

    word, style = verdict
    room = max(width - DETAILS_AT, LEAST_DETAILS)
    first, *more = wrap(detail, room, break_on_hyphens=False) or [""]
    page.line((f"{word:<7}", style), f"{name:<{NAME_WIDTH}}", first, indent=INDENT)
    for line in more:
        page.line(line, indent=DETAILS_AT)


def _sum_up(files: Sequence[VerifiedFile], *, tell: Callable[[str], None], is_folder: bool) -> None:
    """What it comes to: on a terminal below the checks, since it is long, else beside the data."""
    failed = [file for file in files if not file.holds]
    if is_folder:
        say(f"{len(files) - len(failed):,} of {len(files):,} statements hold.")
    if not failed:
        is_signed = any(file.form != "record" for file in files)
        tell(f"{SHOWS} {DOES_NOT_SHOW}" if is_signed else "It has the shape of a record; nobody signed it.")
    elif not is_folder:
        names = ", ".join(check.name for check in files[0].checks if check.holds is False)
        say(f"Do not rely on it: {names} failed.")
