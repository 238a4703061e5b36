"""`geminids export`: sessions as files, to read, to share, to carry elsewhere."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from geminids.core.config import expanded
from geminids.core.errors import NOTHING_FOUND, PARTLY_DONE
from geminids.faces.cli.completers import (
    complete_files,
    complete_projects,
    complete_sessions,
    complete_tags,
    complete_words,
)
from geminids.faces.cli.list_answer import EVERY_KIND, KINDS, ListOptions
from geminids.faces.cli.options import (
    Choices,
    agent_option,
    click_option,
    json_option,
    not_empty,
    pass_choices,
    shared_options,
    sync_option,
)
from geminids.faces.cli.picked import sessions_wanted
from geminids.faces.cli.progress import stoppable
from geminids.faces.cli.redaction_options import hide_option, open_redactor
from geminids.faces.cli.show_answer import DETAIL
from geminids.faces.cli.talk import say
from geminids.sharing.export import available as format_names

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from geminids.library import Library
    from geminids.library.export import Exporter
    from geminids.library.export_items import FolderOutcome, Item
    from geminids.sharing.export.folder import Refused

STDOUT = "-"
USUAL_FORMAT = "markdown"
SUFFIXES = {
    "": USUAL_FORMAT,
    ".md": "markdown",
    ".htm": "html",
    ".txt": "text",
    ".vac.json": "vac",
    ".vac.cbor": "vac-cbor",
    ".vac-simple.json": "vac-simple",
}
"""Endings of files that are not called as their format is."""
FLAGS = {"share": "--share", "files_folder": "--images", "table": "--table", "touched_at": "--fresh"}
"""What has to be typed for the options that only some formats have."""
STOPPED = (
    "Stopped after {done} of {total} sessions. The files written so far are complete; "
    "run the same command again to continue."
)
MOST_NAMED = 10
"""So many files that were left alone are named."""


class Chosen(NamedTuple):
    """Which sessions are meant, as it was typed."""

    wanted: tuple[str, ...]
    query: str | None
    everything: bool
    asked: ListOptions

    @property
    def is_filter(self) -> bool:
        """Whether a list of sessions is asked for."""
        return self.everything or any(self.asked)


def complete_formats(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The formats there are."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(name) for name in format_names() if name.startswith(incomplete)]


@click.command()
@click.argument("wanted", nargs=-1, metavar="[ID|FILE|QUERY]...", shell_complete=complete_sessions)
@click.option(
    "-f",
    "--format",
    "format_name",
    metavar="FORMAT",
    shell_complete=complete_formats,
    help=f"{', '.join(format_names())}. Default: by the extension of the output file, else markdown.",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE|DIR|-",
    default=STDOUT,
    callback=not_empty,
    shell_complete=complete_files,
    help="Write to this file; to a folder, one file per session (an existing folder, or a name that ends "
    "with /); or to stdout (-). Default: stdout.",
)
@click.option(
    "-q",
    "--query",
    metavar="QUERY",
    callback=not_empty,
    shell_complete=complete_words,
    help="Export all sessions that match QUERY.",
)
@click.option("--all", "everything", is_flag=True, help="Export all sessions.")
@click.option(
    "--project",
    metavar="WHICH",
    callback=not_empty,
    shell_complete=complete_projects,
    help="Export all sessions of a project, as in `list`.",
)
@click.option("--since", metavar="WHEN", callback=not_empty, help="Export all sessions active after WHEN.")
@click.option(
    "--until",
    metavar="WHEN",
    callback=not_empty,
    help="Export all sessions started before the end of WHEN.",
)
@click.option(
    "--kind", type=click.Choice([*KINDS, EVERY_KIND]), help="Export all sessions of this kind, as in `list`."
)
@agent_option
@click.option(
    "--tag",
    multiple=True,
    metavar="TAG",
    callback=not_empty,
    shell_complete=complete_tags,
    help="Export all sessions tagged TAG.",
)
@click_option(DETAIL)
@click.option("--redact", is_flag=True, help="Hide secrets; `geminids redact` shows what would be hidden.")
@hide_option
@click.option(
    "--keep-attachments",
    is_flag=True,
    help="With --redact: keep pictures and documents. Secrets in them are not found.",
)
@click.option(
    "--images", is_flag=True, help="With markdown: write pictures and other attachments as files beside it."
)
@click.option("--share", is_flag=True, help="With markdown: write it as the agent's own share command does.")
@click.option(
    "--table",
    type=click.Choice(["messages", "calls"]),
    help="With csv: which table to write. Default: messages.",
)
@click.option(
    "--fresh",
    is_flag=True,
    help="In an agent's own format: date the session now, since agents may delete old ones.",
)
@click.option("--force", is_flag=True, help="Replace existing files, even if they were edited.")
@click.option("--report", is_flag=True, help="Also report what the format leaves out.")
@sync_option
@json_option
@shared_options
@pass_choices
def export(
    choices: Choices,
    *,
    wanted: tuple[str, ...],
    format_name: str | None,
    output: str,
    query: str | None,
    everything: bool,
    project: str | None,
    since: str | None,
    until: str | None,
    kind: str | None,
    agents: tuple[str, ...],
    tag: tuple[str, ...],
    detail_level: str | None,
    redact: bool,
    hide: tuple[str, ...],
    keep_attachments: bool,
    images: bool,
    share: bool,
    table: str | None,
    fresh: bool,
    force: bool,
    report: bool,
) -> int:
    """Write sessions as files, to read or to share.

    Choose sessions by ID or FILE as in `show`, by QUERY as in `search`, by --project, --since, --tag and
    other options as in `list`, or with --all. In a folder each session has its own file; unchanged sessions
    are not written again, and files that geminids did not write are left alone.

    \b
    geminids export latest                          Markdown on stdout
    geminids export 3 -o session.html               one page, no network
    geminids export 3 -f html -o share/ --redact    without secrets
    geminids export cors preflight -o found/        all that match
    geminids export --project . -f html -o history/
    geminids export --all -f jsonl -o all.jsonl
    geminids export 3 --report > session.md         say what is left out
    """  # noqa: D301 - click wants the character itself
    from geminids.faces.cli.sessions import tell_unreadable

    name = format_name or _format_of(output)
    options = _options(images=images, share=share, table=table, touched_at=choices.now if fresh else None)
    _check_options(name, options, keep_attachments=keep_attachments, redacts=bool(redact or hide))
    if images and output == STDOUT:
        raise click.UsageError("--images needs -o FILE or -o DIR.")
    if choices.json and output == STDOUT:
        raise click.UsageError("--json needs -o FILE or -o DIR: it describes the files that were written.")
    asked = ListOptions(project, since, until, kind, None, tag, agents=agents)
    chosen = Chosen(wanted, query, everything, asked)
    if query is None and not chosen.is_filter:
        chosen = chosen._replace(wanted=tuple(sessions_wanted(choices, wanted, "export")))
    library = choices.open_library()
    items = _items(choices, library, chosen)
    if not items:
        if not chosen.wanted:
            _tell_nothing(library)
        return tell_unreadable(library.unreadable()) or NOTHING_FOUND
    redactor = open_redactor(library, hide, keep_attachments=keep_attachments) if redact or hide else None
    exporting = library.exporting(name, _detail(detail_level), redactor=redactor, report=report, **options)
    code = _write(choices, exporting, items, output, force=force)
    for reason in exporting.failed.values():
        say(reason)
        code = PARTLY_DONE
    if chosen.is_filter:
        # What could not be read may be among what was asked for.
        code = tell_unreadable(library.unreadable()) or code
    if report and not choices.json and exporting.losses:
        from geminids.faces.cli.losses import say_losses

        say_losses(exporting.losses)
    return code


def _format_of(output: str) -> str:
    """The format that the ending of a file names. Raises click.UsageError for one that names none."""
    from geminids.sharing.export import load as format_called

    if output == STDOUT or _is_folder(output):
        return USUAL_FORMAT
    double = "".join(Path(output).suffixes[-2:]).lower()
    suffix = double if double in SUFFIXES else Path(output).suffix.lower()
    name = SUFFIXES.get(suffix, suffix.removeprefix("."))
    if name in format_names() and (suffix in SUFFIXES or format_called(name).suffix == suffix):
        return name
    raise click.UsageError(
        f"Unknown extension {suffix!r}. Give a format with -f: {', '.join(format_names())}."
    )


def _is_folder(output: str) -> bool:
    return output.endswith(("/", "\\")) or Path(expanded(output)).is_dir()


def _options(*, images: bool, share: bool, table: str | None, touched_at: Any) -> dict[str, Any]:
    """The options that only some formats have, as far as they were typed."""
    typed = {"files_folder": "" if images else None, "share": share, "table": table, "touched_at": touched_at}
    return {name: value for name, value in typed.items() if value not in (None, False)}


def _check_options(
    format_name: str, options: dict[str, Any], *, keep_attachments: bool, redacts: bool
) -> None:
    """Refuse what would have no effect."""
    from geminids.sharing.export import load as format_called

    known = format_called(format_name).options
    for option in options.keys() - known:
        having = [name for name in format_names() if option in format_called(name).options]
        raise click.UsageError(f"{FLAGS[option]} goes with -f {' or '.join(having)}, not with {format_name}.")
    if keep_attachments and not redacts:
        raise click.UsageError("--keep-attachments needs --redact.")


def _detail(level: str | None) -> Any:
    if level is None:
        return None
    from geminids.sharing.transcript.entries import LEVELS

    return LEVELS[level]


def _items(choices: Choices, library: Library, chosen: Chosen) -> list[Item]:
    """The sessions that are meant."""
    if sum((bool(chosen.wanted), chosen.query is not None, chosen.is_filter)) > 1:
        raise click.UsageError("Give ids, or a query, or options as in `list`, but not several of these.")
    if chosen.is_filter:
        listing = library.listing(chosen.asked.filter(choices.now))
        if chosen.asked.project and not listing.matched:
            raise listing.no_such_project(chosen.asked.project)
        return library.items_of(listing.sessions)
    if chosen.query is not None:
        found = library.found_sessions(chosen.query, choices.now)
        if not found and (unknown := library.no_such_project(chosen.query, choices.now)):
            raise unknown
        return library.items_of(found)
    if not chosen.wanted:
        raise click.UsageError("Which sessions? Give an id, a query, --project, --since or --all.")
    return _named(choices, library, chosen.wanted)


def _tell_nothing(library: Library) -> None:
    if library.is_empty():
        from geminids.faces.cli.sessions import tell_nothing_found

        tell_nothing_found(library.searched_places)
    else:
        say("No session matches.")


def _named(choices: Choices, library: Library, wanted: Sequence[str]) -> list[Item]:
    """The sessions that words name; words that name none are looked for."""
    items, were_searched = library.items_meant(wanted, choices.now)
    if were_searched:
        from geminids.faces.cli.sessions import tell_search

        tell_search(choices, library, wanted, len(items))
    return items


def _write(choices: Choices, exporting: Exporter, items: Sequence[Item], output: str, *, force: bool) -> int:
    if output == STDOUT:
        return _to_stdout(exporting, items)
    target = Path(expanded(output))
    if _is_folder(output):
        return _to_folder(choices, exporting, items, target, force=force)
    with stoppable("Exporting", "Stopped; nothing was written.") as work:
        exporting.to_file(items, target, force=force, progress=work)
    if choices.json:
        _print_outcome(exporting, output, written=1, failed=exporting.failed)
    else:
        from geminids.sharing.transcript import words

        kinds = Counter(item.kind for item in items if item.id not in exporting.failed)
        say(f"{output}: {words.sessions(kinds)}{_hidden(exporting)}.")
    return 0


def _to_stdout(exporting: Exporter, items: Sequence[Item]) -> int:
    if exporting.format.is_binary and sys.stdout.isatty():
        raise click.UsageError(f"{exporting.format.name} is binary data: use -o FILE or a pipe.")
    sys.stdout.flush()
    with stoppable("Exporting", "Stopped; the output is incomplete.") as work:
        # On a terminal it is seen how far it is.
        for piece in exporting.pieces(items, None if sys.stdout.isatty() else work):
            sys.stdout.buffer.write(piece)
        sys.stdout.buffer.flush()
    return 0


def _to_folder(
    choices: Choices, exporting: Exporter, items: Sequence[Item], target: Path, *, force: bool
) -> int:
    from geminids.faces.documents.base import filled
    from geminids.faces.documents.exports import LeftAlone

    with stoppable("Exporting", STOPPED) as work:
        outcome = exporting.to_folder(items, target, force=force, progress=work)
    if choices.json:
        _print_outcome(
            exporting,
            str(target),
            written=outcome.written,
            unchanged=outcome.unchanged,
            refused=[filled(LeftAlone, refused) for refused in outcome.refused],
            failed=outcome.failed,
            contents_refused=filled(LeftAlone, outcome.contents) if outcome.contents else None,
        )
    else:
        from geminids.sharing.transcript import words

        # A file for each session.
        written = f"{words.count(outcome.written, 'file')} written, {outcome.unchanged:,} unchanged"
        say(f"{target}: {written}{_hidden(exporting)}.")
    return _tell_left_alone(outcome)


def _force_hint(refused: Refused) -> str:
    return " --force replaces it." if refused.can_be_forced else ""


def _tell_left_alone(outcome: FolderOutcome) -> int:
    for refused in outcome.refused[:MOST_NAMED]:
        say(f"Left alone: {refused.file} ({refused.reason}).{_force_hint(refused)}")
    if len(outcome.refused) > MOST_NAMED:
        say(f"And {len(outcome.refused) - MOST_NAMED:,} more files were left alone.")
    if outcome.contents:
        hint = _force_hint(outcome.contents)
        say(f"No table of contents: {outcome.contents.file} exists and was not written by geminids.{hint}")
    for reason in outcome.failed.values():
        say(reason)
    return PARTLY_DONE if outcome.refused or outcome.failed else 0


def _print_outcome(exporting: Exporter, output: str, **outcome: Any) -> None:
    from geminids.faces.cli.json_output import print_json
    from geminids.faces.documents.exports import ExportDocument

    print_json(
        ExportDocument(
            format=exporting.format.name,
            output=output,
            redacted=exporting.redacted,
            hidden=exporting.hidden,
            losses=exporting.losses,
            **outcome,
        )
    )


def _hidden(exporting: Exporter) -> str:
    """How much was hidden, or that nothing was looked for: who shares it should know."""
    from geminids.sharing.transcript import words

    if not exporting.redacted:
        return "; secrets are not hidden (--redact hides them)"
    return f"; {words.count(exporting.hidden, 'thing')} hidden"


def _count(number: int) -> str:
    from geminids.sharing.transcript import words

    return words.count(number, "session")
