"""`geminids keep`: the copies of what agents may delete, and what they are about to delete."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

import click

from geminids.core.errors import (
    NOTHING_FOUND,
    PARTLY_DONE,
    STORE_DAMAGED,
    FileExistsAlreadyError,
    NoOutputFolderError,
)
from geminids.faces.cli.groups import NamingGroup
from geminids.faces.cli.hook_command import hook
from geminids.faces.cli.options import (
    Choices,
    absolute,
    complete_files,
    complete_ids,
    json_option,
    not_empty,
    pass_choices,
    shared_options,
    sync_option,
)
from geminids.faces.cli.talk import say

if TYPE_CHECKING:
    from geminids.library import Library
    from geminids.query.health.kept_copies import KeepStatus
    from geminids.storage.archive.values import Exported, Imported

all_option = click.option(
    "--all",
    "everything",
    is_flag=True,
    help="All that will be deleted, not only the soonest, on a terminal too.",
)


@click.group(cls=NamingGroup, invoke_without_command=True)
@all_option
@sync_option
@json_option
@shared_options
@click.pass_context
def keep(context: click.Context, *, everything: bool) -> int | None:
    """Keep copies of what agents may delete, and say what they are about to delete.

    Whatever is read is also kept: every sync copies the files of sessions, and what lies beside them,
    into the data directory, packed and byte for byte. A session whose files are gone stays in `list`,
    `search`, `show`, `export` and `stats`, marked as kept. `keep = false` in settings.toml turns it off.

    \b
    geminids keep                  what is kept, what will be deleted and when
    geminids keep versions 3       the states of a session's files
    geminids keep verify           read and check every copy
    geminids keep export all.tar   for another machine, or a disk in a drawer
    geminids keep import all.tar
    geminids restore 3             put one back where its agent finds it
    """  # noqa: D301 - click wants the character itself
    if context.invoked_subcommand is not None:
        if everything:
            raise click.UsageError("--all goes with `geminids keep` alone.", context)
        return None
    return _status(context.ensure_object(Choices), everything=everything)


keep.add_command(hook)


@keep.command()
@all_option
@sync_option
@json_option
@shared_options
@pass_choices
def status(choices: Choices, *, everything: bool) -> int:
    """Show what is kept, and what agents will delete and when.

    What will be deleted follows from the settings of each agent and from what its installed release is
    known to do. Nothing is started to find out, and no setting is changed: what to change is said. In a pipe
    each file that will be deleted, all of them, is a line of when, `kept` or `not kept`, agent, session,
    file, and why; all else is said on stderr.

    \b
    geminids keep status
    geminids keep status --json | jq '.forecast'
    """  # noqa: D301 - click wants the character itself
    return _status(choices, everything=everything)


@keep.command()
@click.argument("wanted", metavar="ID", callback=not_empty, shell_complete=complete_ids)
@sync_option
@json_option
@shared_options
@pass_choices
def versions(choices: Choices, *, wanted: str) -> int:
    """Show the states of a session's files that are kept.

    A file that only grows has one. One that its agent wrote anew, and perhaps shorter, has several, the
    oldest first; `geminids show ID --version N` shows the session as it was then. In a pipe each is a
    line of number, when it was kept, when the file was changed, bytes, SHA-256, and file.

    \b
    geminids keep versions 3
    geminids show 3 --version 1
    """  # noqa: D301 - click wants the character itself
    with choices.open_library() as library:
        found = library.kept.versions(wanted)
    if choices.json:
        from geminids.faces.cli.json_output import print_filled
        from geminids.faces.documents.kept_copies import VersionsDocument

        print_filled(VersionsDocument, found)
    elif found.versions:
        from geminids.faces.cli.keep_page import draw_versions

        show = partial(choices.spelled, "show", wanted, "--version")
        draw_versions(choices.open_page(), found, show)
    if not found.versions:
        say(f"No copy of {found.session.id} is kept. `{choices.spelled('keep')}` says why.")
        return NOTHING_FOUND
    return 0


@keep.command()
@json_option
@shared_options
@pass_choices
def verify(choices: Choices) -> int:
    """Read and check every copy, and heal what is damaged.

    A copy that is not what it was is made anew from the file itself, if that is still there and the
    same. What cannot be healed is named.

    \b
    geminids keep verify
    """  # noqa: D301 - click wants the character itself
    from geminids.faces.cli.progress import progress

    with choices.open_library() as library:
        found = library.kept.verify(progress("Checking copies"))
    if choices.json:
        from geminids.faces.cli.json_output import print_json
        from geminids.faces.documents.kept_copies import verified_document

        print_json(verified_document(found))
    else:
        from geminids.faces.cli.keep_page import draw_verified

        draw_verified(choices.open_page(), found)
    return 0 if found.is_sound else STORE_DAMAGED


@keep.command()
@click.argument("target", metavar="FILE", callback=not_empty, shell_complete=complete_files)
@click.argument("wanted", nargs=-1, metavar="[ID]...", callback=not_empty, shell_complete=complete_ids)
@click.option("--force", is_flag=True, help="Replace a file that is there.")
@sync_option
@json_option
@shared_options
@pass_choices
def export(choices: Choices, *, target: str, wanted: tuple[str, ...], force: bool) -> int:
    """Write copies into one file, for another machine or for a drawer.

    It holds all copies, or those of the sessions that are named, in all their versions. `geminids keep
    import` takes them over.

    \b
    geminids keep export ~/sessions.tar
    geminids keep export one.tar 3
    """  # noqa: D301 - click wants the character itself
    from geminids.faces.cli.progress import progress

    if target == "-":
        raise click.BadParameter("copies go into a file, not to stdout; give it a name.", param_hint="'FILE'")
    path = absolute(target)
    if path.is_dir():
        raise click.BadParameter("it is a folder.", param_hint="'FILE'")
    if os.path.lexists(path) and not force:
        raise FileExistsAlreadyError(target)
    if not path.parent.is_dir():
        raise NoOutputFolderError(target, str(path.parent))
    with choices.open_library() as library:
        done = library.kept.export(str(path), wanted, progress("Writing copies"), replace=force)
    if choices.json:
        from geminids.faces.cli.json_output import print_json
        from geminids.faces.documents.kept_copies import exported_document

        print_json(exported_document(done, target))
    return _tell_exported(choices, target, done)


@keep.command(name="import")
@click.argument("file", metavar="FILE", callback=not_empty, shell_complete=complete_files)
@json_option
@shared_options
@pass_choices
def import_(choices: Choices, *, file: str) -> int:
    """Take over the copies that another machine exported.

    What is there already is not taken twice, and what is damaged is refused. The sessions show in lists
    as kept ones; `geminids restore ID --to DIR` writes their files.

    \b
    geminids keep import ~/sessions.tar
    """  # noqa: D301 - click wants the character itself
    from geminids.faces.cli.progress import progress

    with choices.open_library() as library:
        done = library.kept.take_over(str(absolute(file)), progress("Taking over copies"))
    if choices.json:
        from geminids.faces.cli.json_output import print_json
        from geminids.faces.documents.kept_copies import imported_document

        print_json(imported_document(done, file))
    _tell_imported(choices, file, done)
    return 0


def _tell_exported(choices: Choices, target: str, done: Exported) -> int:
    """Say what was written, and what could not be."""
    from geminids.sharing.transcript import words

    for version, reason in done.damaged:
        say(f"Left out: the copy of {words.path(version.path)} is damaged: {reason}.")
    if not choices.json:
        copies = words.count(done.versions, "copy", "copies")
        say(f"{target}: {copies}, {words.size(done.size)} of distinct content.")
    return PARTLY_DONE if done.damaged else 0


def _tell_imported(choices: Choices, file: str, done: Imported) -> None:
    """Say what was taken over, and of what."""
    from geminids.sharing.transcript import words

    if choices.json:
        return
    taken = f"{words.count(done.versions, 'copy', 'copies')} taken over"
    known = f", {done.known:,} there already" if done.known else ""
    homes = "".join(f"\n  {words.path(folder)} of {agent}" for agent, folder in done.homes)
    say(f"{file}: {taken}{known}{':' if homes else '.'}{homes}")


def _status(choices: Choices, *, everything: bool) -> int:
    with choices.open_library() as library:
        found = library.kept.status(choices.now)
        if choices.json:
            from geminids.faces.cli.json_output import print_filled
            from geminids.faces.documents.kept_copies import KeepDocument

            print_filled(KeepDocument, found)
        else:
            _draw_status(choices, library, found, everything=everything)
    return 0


def _draw_status(choices: Choices, library: Library, found: KeepStatus, *, everything: bool) -> None:
    """On a terminal all of it; in a pipe what will be deleted as lines, and what is about it beside them."""
    from geminids.faces.cli.keep_page import (
        SOONEST,
        Kept,
        draw_forecast,
        draw_kept,
        print_forecast,
        tell_kept,
    )
    from geminids.faces.cli.page import DrawnPage
    from geminids.faces.cli.sessions import short_names
    from geminids.query.sessions.listing import Filter

    gone = _gone(library) if found.sessions_gone else ""
    kept = Kept(found, gone, choices.spelled, library.agent_title, choices.sample)
    page = choices.open_page()
    if isinstance(page, DrawnPage) and page.is_terminal:
        draw_kept(page, kept)
        names = short_names(library, library.listing(Filter()).sessions)
        draw_forecast(page, kept, names, choices.now, most=None if everything else SOONEST)
    else:
        tell_kept(kept)
        print_forecast(page, found.forecast)


def _gone(library: Library) -> str:
    """How many sessions are read from copies alone, in the numbers that `list` gives."""
    from geminids.query.sessions.listing import Filter
    from geminids.sharing.transcript import words

    kinds = library.listing(Filter(kept=True)).kinds
    return words.sessions(kinds) if kinds else ""
