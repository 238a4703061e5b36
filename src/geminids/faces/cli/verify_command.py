"""`geminids verify`: whether a signed record still says what was signed, and who signed it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import click

from geminids.core.errors import NOTHING_FOUND
from geminids.faces.cli.completers import complete_files
from geminids.faces.cli.options import Choices, absolute, json_option, not_empty, pass_choices, shared_options
from geminids.faces.cli.progress import stoppable
from geminids.faces.cli.talk import say

if TYPE_CHECKING:
    from geminids.faces.documents.records import VerifiedFile
    from geminids.faces.drawing.page import Page

SHOWS = "The holder of this key had this record when signing it, and nothing was changed since."
DOES_NOT_SHOW = (
    "This does not prove what a model really did, who holds the key, that nothing was left out before "
    "signing, or, without a time stamp, when it was signed."
)
NO_RECORD = "This is not a signed record."
GIVE_KEY = "Give the signer's key with --key."
VERDICTS = {True: ("OK", "good"), False: ("FAILED", "bad"), None: ("-", "quiet")}
INDENT = 2
NAME_WIDTH = 17
DETAILS_AT = INDENT + 7 + NAME_WIDTH
LEAST_DETAILS = 10
"""Columns that details get on the narrowest terminal."""
STOPPED = "Stopped after {done} of {total} statements; the others were not checked."
MOST_WITHHELD = 10
"""So many places that were taken out are named on a terminal."""


@click.command()
@click.argument("file", metavar="FILE|DIR", required=False, callback=not_empty, shell_complete=complete_files)
@click.option(
    "--signature",
    metavar="FILE",
    shell_complete=complete_files,
    help="The detached signature. Default: FILE.cose.",
)
@click.option(
    "--key",
    "keys",
    multiple=True,
    metavar="NAME|FILE",
    callback=not_empty,
    shell_complete=complete_files,
    help="Trust this key: a public key (PEM), or a name from `geminids key list`. Default: all your keys.",
)
@click.option(
    "--source",
    "sources",
    multiple=True,
    metavar="FILE",
    shell_complete=complete_files,
    help="Compare the record with this file of the agent, bytes and content. Repeatable.",
)
@click.option(
    "--tsa",
    "authorities",
    multiple=True,
    metavar="FILE",
    shell_complete=complete_files,
    help="Trust time stamps of these certificates (PEM).",
)
@click.option(
    "--previous", metavar="FILE", shell_complete=complete_files, help="The statement before this one."
)
@click.option("--unsigned", is_flag=True, help="Accept a record without a signature and check only its form.")
@click.option(
    "--write-verifier",
    metavar="FILE",
    callback=not_empty,
    shell_complete=complete_files,
    help="Write the verifier as one Python file, for people who do not have geminids.",
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
    """Check a signed record: its signature, form and hashes, and what was removed.

    FILE is a signed record, a record with its signature in FILE.cose, or a vCon with both. DIR is a folder of
    statements; each must refer to the one before it. The exit code is 0 only if every check passes.

    In a pipe each check is one line of file, `ok`, `failed` or `-` (not present, or not asked for), name, and
    details.

    \b
    geminids verify session.acr
    geminids verify session.acr --key ana.pub.pem --source session.jsonl
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
            raise click.UsageError("--signature, --source and --previous need a single file.")
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
        say("No statement in this folder.")
        return NOTHING_FOUND
    holds = all(file.holds for file in files)
    if choices.json:
        from geminids.faces.cli.json_output import print_json

        print_json(VerifyDocument(holds=holds, files=files, shows=SHOWS, does_not_show=DOES_NOT_SHOW))
    else:
        from geminids.faces.drawing.screen import find_screen

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
        _draw_line(page, width, ("", ""), "signer", f"{file.issuer}{at}, as stated by the signer")
    for check in file.checks:
        # What was not checked has not failed.
        holds = check.holds or (None if file.unchecked else check.holds)
        _draw_line(page, width, VERDICTS[holds], check.name, check.detail)
    for place in file.withheld[:MOST_WITHHELD]:
        entries = f" ({place.count:,} entries)" if place.count > 1 else ""
        _draw_line(page, width, ("", ""), "withheld", f"{place.at}{entries}")
    if len(file.withheld) > MOST_WITHHELD:
        more = len(file.withheld) - MOST_WITHHELD
        _draw_line(page, width, ("", ""), "withheld", f"and {more:,} more places")


def _draw_verdict(page: Page, file: VerifiedFile) -> None:
    """What all checks come to, before any of them."""
    if not file.is_record:
        page.line((NO_RECORD, "bad"))
    elif file.unchecked:
        page.words(f"NOT CHECKED: {file.unchecked}. {GIVE_KEY}", "warning")
    elif not file.holds:
        page.line(("NOT VALID", "bad"), ": do not rely on it")
    elif file.form == "record":
        page.line(("A record", "warning"), " without a signature")
    else:
        page.words(f"VALID, signed{_by_whom(file)}", "good")


def _by_whom(file: VerifiedFile) -> str:
    """Who signed, by their own word, and whose key that was."""
    issuer = f" by {file.issuer}" if file.issuer else ""
    if file.key is None:
        return issuer
    return (
        f"{issuer} with {f'your key {file.key.name}' if file.key.is_own else f'the key of {file.key.name}'}"
    )


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
        say(f"{len(files) - len(failed):,} of {len(files):,} statements are valid.")
    if not failed:
        is_signed = any(file.form != "record" for file in files)
        tell(f"{SHOWS} {DOES_NOT_SHOW}" if is_signed else "It has the form of a record, but no signature.")
    elif not is_folder and (not files[0].is_record or files[0].unchecked):
        # On a terminal it stands above the checks.
        if tell is say:
            say(NO_RECORD if not files[0].is_record else f"Not checked: {files[0].unchecked}. {GIVE_KEY}")
    elif not is_folder:
        names = ", ".join(check.name for check in files[0].checks if check.holds is False)
        say(f"Do not rely on it: {names} failed.")
