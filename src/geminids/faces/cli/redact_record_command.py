"""`geminids redact-record`: pieces taken out of a signed record, of which the rest still verifies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from geminids.faces.cli.completers import complete_files
from geminids.faces.cli.options import Choices, absolute, json_option, not_empty, pass_choices, shared_options
from geminids.faces.cli.redaction_options import open_redactor
from geminids.faces.cli.talk import say

if TYPE_CHECKING:
    from geminids.faces.drawing.page import Page, Span
    from geminids.library.attest.excerpt import Excerpt, ListedEntry


@click.command("redact-record")
@click.argument("file", metavar="FILE", callback=not_empty, shell_complete=complete_files)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    callback=not_empty,
    shell_complete=complete_files,
    help="Write the redacted record to this file.",
)
@click.option(
    "--signature",
    metavar="FILE",
    shell_complete=complete_files,
    help="The detached signature. Default: FILE.cose.",
)
@click.option("--list", "lists", is_flag=True, help="List the entries and their numbers; change nothing.")
@click.option("--entry", "entries", multiple=True, metavar="N|ID", help="Remove this entry.")
@click.option("--only", multiple=True, metavar="N|ID", help="Remove all entries but this one.")
@click.option(
    "--field",
    "fields",
    multiple=True,
    metavar="NAME",
    callback=not_empty,
    help="Remove only this member (content, input, output …) of the given --entry, or of all entries.",
)
@click.option(
    "--text",
    "texts",
    multiple=True,
    metavar="WORDS",
    callback=not_empty,
    help="Remove everything that contains these words.",
)
@click.option(
    "--at",
    "places",
    multiple=True,
    metavar="POINTER",
    callback=not_empty,
    help="Remove the value at this JSON pointer.",
)
@click.option(
    "--secrets", is_flag=True, help="Remove everything that contains a secret, as found by `geminids redact`."
)
@click.option("--force", is_flag=True, help="Replace an existing file.")
@json_option
@shared_options
@pass_choices
def redact_record(
    choices: Choices,
    *,
    file: str,
    output: str | None,
    signature: str | None,
    lists: bool,
    entries: tuple[str, ...],
    only: tuple[str, ...],
    fields: tuple[str, ...],
    texts: tuple[str, ...],
    places: tuple[str, ...],
    secrets: bool,
    force: bool,
) -> int:
    """Remove parts of a signed record; the rest can still be verified.

    No key is needed. Each removed part is replaced by a salted hash, from which the content cannot be
    guessed; with the full record you can prove later what it was. If the same text is repeated elsewhere in
    the record, it is removed there too, and so are the hashes of the source files. The number of entries and
    the names of members stay visible.

    \b
    geminids redact-record session.acr --list
    geminids redact-record session.acr -o share.acr --entry 4 --text Falcon
    geminids redact-record session.acr -o share.acr --field output --secrets
    geminids redact-record session.acr -o one.acr --only 12
    geminids verify share.acr
    """  # noqa: D301 - click wants the character itself
    from geminids.library.attest.choices import Unwanted

    given = absolute(signature) if signature else None
    with choices.open_library() as library:
        if lists:
            _list(choices, file, library.records.entries(absolute(file), given))
            return 0
        unwanted = Unwanted(entries, only, fields, texts, places)
        if not unwanted and not secrets:
            raise click.UsageError("Remove what? Give --entry, --only, --field, --text, --at or --secrets.")
        if output is None:
            raise click.UsageError("Missing -o FILE: the signed record itself is not changed.")
        if absolute(output).resolve() == absolute(file).resolve():
            raise click.UsageError(
                "-o is the signed record itself, which would be overwritten. Choose another file."
            )
        redactor = open_redactor(library, (), keep_attachments=True) if secrets else None
        excerpt = library.records.excerpt(absolute(file), given, unwanted, redactor)
        files = library.records.write_excerpt(excerpt, absolute(output), force=force)
    _tell(choices, excerpt, [str(path) for path in files])
    return 0


def _tell(choices: Choices, excerpt: Excerpt, files: Sequence[str]) -> None:
    from geminids.sharing.transcript import words

    if choices.json:
        from geminids.faces.cli.json_output import print_json
        from geminids.faces.documents.records import ExcerptDocument

        print_json(ExcerptDocument(files=files, withheld=excerpt.withheld, missing=excerpt.missing))
        return
    removed = f"{words.count(len(excerpt.withheld), 'place')} removed"
    if excerpt.missing != len(excerpt.withheld):
        removed += f", and others that would reveal {'it' if len(excerpt.withheld) == 1 else 'them'}"
    missing = f"{words.count(excerpt.missing, 'place')} missing in total, as `verify` counts them"
    say(f"{' and '.join(files)}: {removed}; {missing}.")


def _list(choices: Choices, file: str, entries: Sequence[ListedEntry]) -> None:
    if choices.json:
        from geminids.faces.cli.json_output import print_json
        from geminids.faces.documents.base import filled
        from geminids.faces.documents.records import EntriesDocument, RecordEntry

        listed = [filled(RecordEntry, entry) for entry in entries]
        print_json(EntriesDocument(file=file, entries=listed))
        return
    _draw(choices.open_page(), entries)


def _draw(page: Page, entries: Sequence[ListedEntry]) -> None:
    from geminids.faces.drawing.page import Column, DrawnPage

    if not (isinstance(page, DrawnPage) and page.is_terminal):
        for entry in entries:
            page.fields(str(entry.number), entry.type, entry.id or "", entry.begins)
        return
    columns = (
        Column("", is_number=True),
        Column("entry"),
        Column("begins", least=20),
        Column("id", leaves=1, least=8),
    )
    rows: list[list[Span]] = [
        [str(entry.number), entry.type, entry.begins, (entry.id or "", "quiet")] for entry in entries
    ]
    if rows:
        page.table(columns, rows)
