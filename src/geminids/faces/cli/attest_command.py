"""`geminids attest`: sessions as signed records that anyone can verify."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from geminids.core.errors import NOTHING_FOUND, PARTLY_DONE
from geminids.faces.cli.completers import complete_files, complete_sessions
from geminids.faces.cli.key_command import ask_passphrase
from geminids.faces.cli.list_answer import EVERY_KIND, ListOptions
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
from geminids.faces.cli.redaction_options import hide_option, open_redactor
from geminids.faces.cli.talk import say

if TYPE_CHECKING:
    from geminids.core.model import Session
    from geminids.library import Library
    from geminids.library.attest.attestation import Attested, Attester
    from geminids.library.attest.chain import ChainOutcome
    from geminids.storage.index.values import SessionRow

STDOUT = "-"
MOST_NAMED = 10
"""So many sessions that could not be signed are named."""

STOPPED = (
    "Stopped after {done} of {total} sessions. The statements written so far are kept; "
    "run the same command again to continue."
)

key_option = click.option(
    "--key",
    metavar="NAME|FILE",
    callback=not_empty,
    shell_complete=complete_files,
    help="Sign with this key: a name from `geminids key list`, or a PEM file. Default: your default key.",
)


@click.command()
@click.argument("wanted", nargs=-1, metavar="[ID|FILE]...", shell_complete=complete_sessions)
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="FILE|DIR|-",
    callback=not_empty,
    shell_complete=complete_files,
    help="Write to this file; or to a folder of chained statements (an existing folder, or a name that ends "
    "with /).",
)
@click.option("--all", "everything", is_flag=True, help="Sign all new and changed sessions; needs -o DIR.")
@key_option
@click.option(
    "--issuer", metavar="NAME", callback=not_empty, help="Who signs. Default: the issuer of the key."
)
@click.option("--cbor", is_flag=True, help="Write the record as CBOR instead of JSON.")
@click.option(
    "--detached", is_flag=True, help="Write the plain record to FILE and its signature to FILE.cose."
)
@click.option("--wrap", type=click.Choice(["vcon"]), help="Put record and signature into a vCon.")
@click.option(
    "--simple", is_flag=True, help="Use the simpler record form of other tools; it leaves out much."
)
@click.option("--redact", is_flag=True, help="Remove secrets; the rest can still be verified.")
@hide_option
@click.option("--keep-attachments", is_flag=True, help="With --redact: keep pictures and documents.")
@click.option(
    "--timestamp",
    metavar="FILE",
    callback=not_empty,
    shell_complete=complete_files,
    help="Add this RFC 3161 time stamp: of a record FILE, or of the signature of a signed one.",
)
@click.option("--force", is_flag=True, help="Replace an existing file.")
@sync_option
@json_option
@shared_options
@pass_choices
def attest(
    choices: Choices,
    *,
    wanted: tuple[str, ...],
    output: str,
    everything: bool,
    key: str | None,
    issuer: str | None,
    cbor: bool,
    detached: bool,
    wrap: Literal["vcon"] | None,
    simple: bool,
    redact: bool,
    hide: tuple[str, ...],
    keep_attachments: bool,
    timestamp: str | None,
    force: bool,
) -> int:
    """Sign sessions as records that anyone can verify, offline and without geminids.

    A record is complete: every message, thought and tool call with its result, everything else the agent
    wrote, and hashes of the files it was read from. It is signed with COSE_Sign1. `geminids redact-record`
    can remove parts later; the rest can still be verified.

    A record proves that the holder of the key had these bytes when signing, and that nothing was changed
    since. It does not prove what a model really did: the files could have been changed before signing.

    In a folder each new or changed session adds a statement with the hash of the one before it, so that a
    rewritten past can be detected. An exported record FILE is signed as it is.

    \b
    geminids key new --issuer "Ana Lopez"
    geminids attest latest -o session.acr
    geminids attest 3 -o session.json --detached
    geminids attest 3 -o share.acr --redact
    geminids attest --all -o statements/
    geminids verify session.acr
    """  # noqa: D301 - click wants the character itself
    is_folder = everything or output.endswith(("/", "\\")) or absolute(output).is_dir()
    if not everything:
        wanted = sessions_wanted(choices, wanted, "sign")
    _check_wanted(wanted, is_folder=is_folder, everything=everything)
    _check_options(
        is_folder=is_folder,
        of_files={"--detached": detached, "--wrap": wrap, "--timestamp": timestamp, "--force": force},
        redacts=redact or bool(hide),
        simple=simple,
        wraps_other=bool(wrap) and (cbor or detached),
        keep_attachments=keep_attachments,
    )
    with choices.open_library(changes=True) as library:
        for path in map(absolute, wanted):
            is_signable = library.records.is_record(path) or library.records.is_signed(path)
            if is_folder or not is_signable:
                library.records.refuse_document(path)
        if timestamp and library.records.is_signed(absolute(wanted[0])):
            return _add_time_stamp(choices, library, wanted[0], timestamp, output, force=force)
        from geminids.library.attest.choices import SigningManner

        signer = library.records.signer(key, issuer, ask_passphrase)
        redactor = None
        if redact or hide:
            redactor = open_redactor(library, hide, keep_attachments=keep_attachments)
        token = library.records.token(absolute(timestamp)) if timestamp else None
        form: Literal["json", "cbor"] = "cbor" if cbor else "json"
        manner = SigningManner(form=form, simple=simple, detached=detached, wrap=wrap, token=token)
        attesting = library.records.attesting(signer, manner, redactor)
        if is_folder:
            return _fill_folder(choices, library, attesting, wanted, absolute(output))
        with stoppable("Signing", "Stopped; nothing was written."):
            attested = _attested(library, attesting, wanted[0], as_it_is=not (cbor or simple))
            return _write(choices, attesting, attested, output, force=force)


def _check_wanted(wanted: Sequence[str], *, is_folder: bool, everything: bool) -> None:
    if everything and wanted:
        raise click.UsageError("--all cannot be combined with sessions.")
    if not everything and not wanted:
        raise click.UsageError("Which session? Give an ID, a number from the last list, `latest`, or --all.")
    if len(wanted) > 1 and not is_folder:
        raise click.UsageError("A file holds one record. To sign several sessions, use `-o FOLDER/`.")


def _check_options(
    *,
    is_folder: bool,
    of_files: Mapping[str, object],
    redacts: bool,
    simple: bool,
    wraps_other: bool,
    keep_attachments: bool,
) -> None:
    """Refuse what cannot be meant together."""
    given = [option for option, value in of_files.items() if value]
    if is_folder and given:
        raise click.UsageError(f"{given[0]} needs a single file, not a folder of statements.")
    if simple and redacts:
        raise click.UsageError("Nothing can be redacted from a --simple record.")
    if wraps_other:
        raise click.UsageError(
            "--cbor and --detached cannot be combined with --wrap: a vCon holds the record as JSON, with "
            "its signature."
        )
    if keep_attachments and not redacts:
        raise click.UsageError("--keep-attachments needs --redact.")


def _attested(library: Library, attesting: Attester, wanted: str, *, as_it_is: bool) -> Attested:
    """The one session or record that is meant, signed."""
    path = absolute(wanted)
    if library.records.is_signed(path):
        raise click.UsageError(f"{wanted!r} is already signed. --timestamp FILE adds a time stamp to it.")
    if library.records.is_record(path):
        if not as_it_is:
            raise click.UsageError("A record file is signed as it is: --cbor and --simple need a session.")
        say("The file is signed as it is: nothing can be redacted from it later.")
        return attesting.given(path.read_bytes())

    def read() -> Session:
        sessions = library.read(wanted).sessions
        if len(sessions) > 1:
            raise click.UsageError(
                f"{wanted!r} has {len(sessions):,} sessions. To sign them all, use `-o FOLDER/`."
            )
        return sessions[0]

    return attesting.signed(attesting.presented(attesting.record(read)))


def _write(choices: Choices, attesting: Attester, attested: Attested, output: str, *, force: bool) -> int:
    if output == STDOUT:
        if attested.beside is not None:
            raise click.UsageError("--detached writes two files; give a name with -o FILE.")
        _print(choices, attested.signed)
        return 0
    files = [str(path) for path in attesting.to_file(attested, absolute(output), force=force)]
    if choices.json:
        _print_attested(attesting, attested, files)
        return 0
    from geminids.sharing.transcript import words

    withheld = ""
    if attesting.is_redacting:
        withheld = f", {words.count(attested.missing, 'place')} withheld"
    entries = words.count(attested.entries, "entry", "entries")
    say(f"{' and '.join(files)}: {entries} signed by {attesting.issuer}{withheld}.")
    return 0


def _print(choices: Choices, signed: bytes) -> None:
    """Give a signed record to the next program; letters on a screen could be anything."""
    if choices.json:
        raise click.UsageError("--json needs -o FILE: with -o - stdout is the record itself.")
    if sys.stdout.isatty():
        raise click.UsageError("A signed record is binary data: use -o FILE or a pipe.")
    sys.stdout.buffer.write(signed)
    sys.stdout.buffer.flush()


def _print_attested(attesting: Attester, attested: Attested, files: Sequence[str]) -> None:
    from geminids.faces.cli.json_output import print_json
    from geminids.faces.documents.records import AttestDocument

    print_json(
        AttestDocument(
            issuer=attesting.issuer,
            key_id=attesting.key_id,
            id=attested.id,
            files=files,
            entries=attested.entries,
            withheld=attested.withheld,
            missing=attested.missing,
            hidden=attesting.hidden if attesting.is_redacting else None,
        )
    )


def _fill_folder(
    choices: Choices, library: Library, attesting: Attester, wanted: Sequence[str], folder: Path
) -> int:
    items = library.items(wanted) if wanted else library.items_of(_every_session(choices, library))
    if not items:
        say("No session to sign.")
        return NOTHING_FOUND
    with stoppable("Signing", STOPPED) as work:
        outcome = library.records.statements(folder).sign(items, attesting, work)
    if choices.json:
        _print_outcome(attesting, outcome, folder)
    else:
        say(f"{folder}: {len(outcome.signed):,} signed, {outcome.unchanged:,} unchanged.")
    for reason in list(outcome.failed.values())[:MOST_NAMED]:
        say(reason)
    if len(outcome.failed) > MOST_NAMED:
        say(f"And {len(outcome.failed) - MOST_NAMED:,} more sessions were not signed.")
    return PARTLY_DONE if outcome.failed else 0


def _every_session(choices: Choices, library: Library) -> Sequence[SessionRow]:
    everything = ListOptions(None, None, None, EVERY_KIND, None, ())
    return library.listing(everything.filter(choices.now)).sessions


def _print_outcome(attesting: Attester, outcome: ChainOutcome, folder: Path) -> None:
    from geminids.faces.cli.json_output import print_json
    from geminids.faces.documents.records import StatementsDocument

    print_json(
        StatementsDocument(
            issuer=attesting.issuer,
            key_id=attesting.key_id,
            folder=str(folder),
            signed=[str(path) for path in outcome.signed],
            unchanged=outcome.unchanged,
            failed=outcome.failed,
        )
    )


def _add_time_stamp(
    choices: Choices, library: Library, signed: str, token: str, output: str, *, force: bool
) -> int:
    stamped = library.records.stamped(absolute(signed), absolute(token))
    if output == STDOUT:
        _print(choices, stamped)
        return 0
    library.records.write(absolute(output), stamped, force=force)
    if choices.json:
        from geminids.faces.cli.json_output import print_json
        from geminids.faces.documents.records import StampedDocument

        print_json(StampedDocument(files=[str(absolute(output))]))
        return 0
    say(f"{output}: time stamp added; `geminids verify {output} --tsa CERTIFICATE` checks it.")
    return 0
