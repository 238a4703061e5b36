"""`geminids attest`: sessions as signed records that anyone can verify."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from geminids.core.errors import NOTHING_FOUND, PARTLY_DONE
from geminids.faces.cli.key_command import ask_passphrase
from geminids.faces.cli.list_answer import EVERY_KIND, ListOptions
from geminids.faces.cli.options import (
    Choices,
    absolute,
    complete_files,
    json_option,
    not_empty,
    pass_choices,
    shared_options,
    sync_option,
)
from geminids.faces.cli.picked import sessions_wanted
from geminids.faces.cli.redaction_options import hide_option, open_redactor
from geminids.faces.cli.show_command import complete_sessions
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

key_option = click.option(
    "--key",
    metavar="NAME|FILE",
    callback=not_empty,
    shell_complete=complete_files,
    help="A key of `geminids key list`, or a PEM file; else the first of your keys.",
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
    help="A file; or a folder (one that is there, or a name that ends with /) of chained statements.",
)
@click.option("--all", "everything", is_flag=True, help="All sessions that are new or have changed; -o DIR.")
@key_option
@click.option("--issuer", metavar="NAME", callback=not_empty, help="Who vouches; else as the key says.")
@click.option("--cbor", is_flag=True, help="The record as CBOR instead of JSON.")
@click.option("--detached", is_flag=True, help="The record as it is in FILE, its signature in FILE.cose.")
@click.option("--wrap", type=click.Choice(["vcon"]), help="Record and signature inside a vCon.")
@click.option("--simple", is_flag=True, help="The plainer translation of other tools; it loses much.")
@click.option("--redact", is_flag=True, help="Take secrets out; the rest still proves what was signed.")
@hide_option
@click.option("--keep-attachments", is_flag=True, help="With --redact also keep pictures and documents.")
@click.option(
    "--timestamp",
    metavar="FILE",
    callback=not_empty,
    shell_complete=complete_files,
    help="An RFC 3161 time stamp: over the bytes of a record FILE, or over the signature of a signed one.",
)
@click.option("--force", is_flag=True, help="Replace a file that is there.")
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
    """Turn sessions into signed records that anyone can verify, without network and without geminids.

    A record is complete: every message, every thought, every call with its result, what the agent wrote
    beside them, and hashes of the bytes it was read from. It is signed as it lies on the disk (COSE_Sign1).
    `geminids redact-record` can take pieces out later, and the rest still proves to be what was signed.

    It proves that whoever has the key held these bytes at the moment of signing, and that nothing was changed
    since. It does not prove what a model really did: whoever could write the files before could have changed
    them.

    In a folder each new or changed session gets one more statement, which names the hash of the one
    before it: a past that was rewritten shows. A record FILE that was exported or made elsewhere is signed in
    the bytes it has.

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
    with choices.open_library() as library:
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
        attested = _attested(library, attesting, wanted[0], as_it_is=not (cbor or simple))
        return _write(choices, attesting, attested, output, force=force)


def _check_wanted(wanted: Sequence[str], *, is_folder: bool, everything: bool) -> None:
    if everything and wanted:
        raise click.UsageError("--all and sessions cannot both be meant.")
    if not everything and not wanted:
        raise click.UsageError("Which session? Give an id, a number of the last list, `latest`, or --all.")
    if len(wanted) > 1 and not is_folder:
        raise click.UsageError("One file holds one record. `-o FOLDER/` signs several.")


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
        raise click.UsageError(f"{given[0]} goes with one file, and not with a folder of statements.")
    if simple and redacts:
        raise click.UsageError("--simple makes records from which nothing can be taken out.")
    if wraps_other:
        raise click.UsageError("A vCon holds the record as JSON, and its signature beside it.")
    if keep_attachments and not redacts:
        raise click.UsageError("--keep-attachments goes with --redact.")


def _attested(library: Library, attesting: Attester, wanted: str, *, as_it_is: bool) -> Attested:
    """The one session or record that is meant, signed."""
    path = absolute(wanted)
    if library.records.is_signed(path):
        raise click.UsageError(f"{wanted!r} is signed already. --timestamp FILE puts a time stamp over that.")
    if library.records.is_record(path):
        if not as_it_is:
            raise click.UsageError("A record file is signed as it is: --cbor and --simple go with sessions.")
        say("It is signed in the bytes it has: nothing can be taken out of it later.")
        return attesting.given(path.read_bytes())

    def read() -> Session:
        sessions = library.read(wanted).sessions
        if len(sessions) > 1:
            raise click.UsageError(
                f"{wanted!r} holds {len(sessions):,} sessions. `-o FOLDER/` signs them all."
            )
        return sessions[0]

    return attesting.signed(attesting.presented(attesting.record(read)))


def _write(choices: Choices, attesting: Attester, attested: Attested, output: str, *, force: bool) -> int:
    if output == STDOUT:
        if attested.beside is not None:
            raise click.UsageError("--detached writes two files: -o FILE names them.")
        _print(choices, attested.signed)
        return 0
    files = [str(path) for path in attesting.to_file(attested, absolute(output), force=force)]
    if choices.json:
        _print_attested(attesting, attested, files)
        return 0
    from geminids.sharing.transcript import words

    withheld = ""
    if attesting.is_redacting:
        withheld = f", {words.count(len(attested.withheld), 'place')} withheld"
    entries = words.count(attested.entries, "entry", "entries")
    say(f"{' and '.join(files)}: {entries} signed by {attesting.issuer}{withheld}.")
    return 0


def _print(choices: Choices, signed: bytes) -> None:
    """Give a signed record to the next program; letters on a screen could be anything."""
    if choices.json:
        raise click.UsageError("-o - prints the record itself; --json tells of a file.")
    if sys.stdout.isatty():
        raise click.UsageError("A signed record is nothing to read: -o FILE, or a pipe.")
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
            hidden=attesting.hidden if attesting.is_redacting else None,
        )
    )


def _fill_folder(
    choices: Choices, library: Library, attesting: Attester, wanted: Sequence[str], folder: Path
) -> int:
    from geminids.faces.cli.progress import progress

    items = library.items(wanted) if wanted else library.items_of(_every_session(choices, library))
    if not items:
        say("There is no session to sign.")
        return NOTHING_FOUND
    outcome = library.records.statements(folder).sign(items, attesting, progress("Signing"))
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
    say(f"{output}: the time stamp is in it; `geminids verify {output} --tsa CERTIFICATE` checks it.")
    return 0
