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
from geminids.core.names import one_line
from geminids.faces.cli.completers import complete_files, complete_ids
from geminids.faces.cli.groups import NamingGroup
from geminids.faces.cli.hook_command import hook
from geminids.faces.cli.options import (
    Choices,
    absolute,
    json_option,
    not_empty,
    pass_choices,
    shared_options,
    sync_option,
)
from geminids.faces.cli.progress import stoppable
from geminids.faces.cli.talk import say

if TYPE_CHECKING:
    from geminids.faces.drawing.page import Page
    from geminids.library import Library
    from geminids.query.health.kept_copies import KeepStatus
    from geminids.storage.archive.values import Exported, Imported

all_option = click.option(
    "--all",
    "everything",
    is_flag=True,
    help="Show everything that will be deleted, not only the soonest.",
)


@click.group(cls=NamingGroup, invoke_without_command=True)
@all_option
@sync_option
@json_option
@shared_options
@click.pass_context
def keep(context: click.Context, *, everything: bool) -> int | None:
    """Keep copies of sessions, and show what agents will delete and when.

    Each sync copies the files of sessions, and the files beside them, into the data directory, compressed and
    byte for byte. A session whose files are gone stays in `list`, `search`, `show`, `export` and `stats`,
    marked `deleted`. `keep = false` in settings.toml turns this off.

    \b
    geminids keep                  what is kept, what will be deleted and when
    geminids keep versions 3       the kept versions of a session
    geminids keep verify           check every copy
    geminids keep export all.tar   all copies in one file, as a backup
    geminids keep import all.tar
    geminids restore 3             put a session back for its agent
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

    The forecast is based on the settings of each agent and on the known behaviour of its installed release.
    No agent is started and no setting is changed; the setting that would stop it is shown. In a pipe each
    file that will be deleted is one line of time, `kept` or `not kept`, agent, session, file, and reason;
    everything else goes to stderr.

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
    """Show the kept versions of a session's files.

    A file that only grew has one version. A file that its agent rewrote has several, oldest first; `geminids
    show ID --version N` shows the session as it was then. In a pipe each version is one line of number, time
    kept, time of the file's last change, bytes, SHA-256, and file.

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
        say(f"No copy of {one_line(found.session.id)} is kept. `{choices.spelled('keep')}` says why.")
        return NOTHING_FOUND
    return 0


@keep.command()
@json_option
@shared_options
@pass_choices
def verify(choices: Choices) -> int:
    """Read and check every copy, and repair damaged ones.

    A damaged copy is made again from the original file, if that still exists unchanged. Copies that cannot be
    repaired are listed.

    \b
    geminids keep verify
    """  # noqa: D301 - click wants the character itself
    stopped = "Stopped before every copy was checked; run the same command again to start over."
    with choices.open_library() as library, stoppable("Checking copies", stopped) as work:
        found = library.kept.verify(work)
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
@click.option("--force", is_flag=True, help="Replace an existing file.")
@sync_option
@json_option
@shared_options
@pass_choices
def export(choices: Choices, *, target: str, wanted: tuple[str, ...], force: bool) -> int:
    """Write copies into one file, for another machine or as a backup.

    The file holds all copies, or only those of the given sessions, in all versions. `geminids keep import`
    reads it.

    \b
    geminids keep export ~/sessions.tar
    geminids keep export one.tar 3
    """  # noqa: D301 - click wants the character itself
    if target == "-":
        raise click.BadParameter(
            "copies are written to a file, not to stdout; give a file name.", param_hint="'FILE'"
        )
    path = absolute(target)
    if path.is_dir():
        raise click.BadParameter("it is a folder; give a file name.", param_hint="'FILE'")
    if os.path.lexists(path) and not force:
        raise FileExistsAlreadyError(target)
    if not path.parent.is_dir():
        raise NoOutputFolderError(target, str(path.parent))
    stopped = "Stopped; nothing was written."
    with choices.open_library() as library, stoppable("Writing copies", stopped) as work:
        done = library.kept.export(str(path), wanted, work, replace=force)
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
    """Import copies that another machine exported.

    Copies that you already have are skipped, and damaged ones are refused. The sessions appear in lists,
    marked `deleted`; `geminids restore ID --to DIR` writes their files.

    \b
    geminids keep import ~/sessions.tar
    """  # noqa: D301 - click wants the character itself
    stopped = "Stopped before all copies were imported; run the same command again to import the rest."
    with choices.open_library() as library, stoppable("Importing copies", stopped) as work:
        done = library.kept.take_over(str(absolute(file)), work)
        is_left_out = library.kept.left_out(done)
    if choices.json:
        from geminids.faces.cli.json_output import print_json
        from geminids.faces.documents.kept_copies import imported_document

        print_json(imported_document(done, file))
    _tell_imported(choices, file, done)
    if is_left_out:
        say(f"`--home` leaves these sessions out: `{choices.spelled_anywhere('list')}` shows them.")
    return 0


def _tell_exported(choices: Choices, target: str, done: Exported) -> int:
    """Say what was written, and what could not be."""
    from geminids.sharing.transcript import words

    for version, reason in done.damaged:
        say(f"Skipped: the copy of {words.path(version.path)} is damaged: {reason}.")
    if not choices.json:
        copies = words.count(done.versions, "copy", "copies")
        say(f"{target}: {copies}, {words.size(done.size)} of distinct content.")
    return PARTLY_DONE if done.damaged else 0


def _tell_imported(choices: Choices, file: str, done: Imported) -> None:
    """Say what was taken over, and of what."""
    from geminids.sharing.transcript import words

    if choices.json:
        return
    taken = f"{words.count(done.versions, 'copy', 'copies')} imported"
    known = f", {done.known:,} already there" if done.known else ""
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
    from geminids.faces.cli.keep_page import print_forecast, tell_kept
    from geminids.faces.cli.pager import draw_paged
    from geminids.faces.cli.sessions import short_names
    from geminids.faces.drawing.keeping import SOONEST, Kept, draw_forecast, draw_kept, verdict
    from geminids.faces.drawing.page import DrawnPage
    from geminids.faces.drawing.screen import find_screen
    from geminids.query.sessions.listing import Filter

    gone = _gone(library) if found.sessions_gone else ""
    kept = Kept(found, gone, choices.spelled, library.agent_title, choices.sample)
    screen = find_screen(no_color=choices.no_color)
    if not screen.is_terminal:
        tell_kept(kept, choices.now)
        print_forecast(choices.open_page(), found.forecast)
        return
    names = short_names(library, library.listing(Filter()).sessions)

    def draw(page: Page) -> None:
        assert isinstance(page, DrawnPage)
        page.words(verdict(kept, choices.now), "title")
        page.line()
        draw_kept(page, kept)
        draw_forecast(page, kept, names, choices.now, most=None if everything else SOONEST)

    draw_paged(screen, draw, no_pager=not everything)


def _gone(library: Library) -> str:
    """How many sessions are read from copies alone, in the numbers that `list` gives."""
    from geminids.query.sessions.listing import Filter
    from geminids.sharing.transcript import words

    kinds = library.listing(Filter(kept=True)).kinds
    return words.sessions(kinds) if kinds else ""
