"""`geminids projects`: the folders that sessions were worked in, and how they are known."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from geminids.core.errors import NOTHING_FOUND
from geminids.faces.cli.completers import complete_folders, complete_projects
from geminids.faces.cli.groups import NamingGroup
from geminids.faces.cli.options import (
    Choices,
    agent_option,
    json_option,
    not_empty,
    pass_choices,
    shared_options,
    sync_option,
)
from geminids.faces.cli.talk import say

if TYPE_CHECKING:
    from geminids.library import Library
    from geminids.query.projects.report import Projects
    from geminids.query.projects.timeline import ProjectStory

MOST_SECONDS = 600
ON_A_TERMINAL = 20
"""Projects that are listed, where nobody says how many."""


@click.group(cls=NamingGroup, invoke_without_command=True)
@agent_option
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(min=1),
    metavar="N",
    help=f"List at most N projects. Default: {ON_A_TERMINAL} on a terminal, all in a pipe.",
)
@sync_option
@json_option
@shared_options
@click.pass_context
def projects(context: click.Context, *, agents: tuple[str, ...], limit: int | None) -> int | None:
    """List projects, last used first.

    A project is a folder. The list shows how the folder is known; `?` marks a guess. If the folder is not
    known, the beginning of its hash is shown. All agents that worked in a folder share one project; with
    --agent only sessions of that agent are counted.

    \b
    geminids projects
    geminids projects show shop
    geminids projects resolve
    geminids projects link 3f2a91c0 ~/dev/shop
    geminids list --project shop
    """  # noqa: D301 - click wants the character itself
    if context.invoked_subcommand is not None:
        for option, is_given in (("--agent", agents), ("--limit", limit)):
            if is_given:
                raise click.UsageError(f"{option} cannot be combined with a subcommand.", context)
        return None
    return _list(context.ensure_object(Choices), agents, limit)


@projects.command()
@click.argument("wanted", metavar="PROJECT", callback=not_empty, shell_complete=complete_projects)
@click.option("--prompts", is_flag=True, help="Show every line that you typed instead.")
@click.option("--beside", is_flag=True, help="Also show the text of plans, tasks and notes.")
@json_option
@shared_options
@pass_choices
def show(choices: Choices, *, wanted: str, prompts: bool, beside: bool) -> int:
    """Show everything in a project, in order of time.

    PROJECT is a name or part of one, a path such as ., a slug, or the beginning of a hash. Sessions,
    subagents, checkpoints, lost sessions, plans and notes are shown in one timeline, with a gap where
    something was deleted. On a terminal sessions are numbered; give the numbers to `geminids show` and
    other commands.

    \b
    geminids projects show shop
    geminids projects show . --prompts
    """  # noqa: D301 - click wants the character itself
    from geminids.faces.cli.sessions import tell_unreadable

    library = choices.open_library(sample_if_empty=True)
    story = library.project_story(wanted)
    if choices.json:
        from geminids.faces.cli.json_output import print_filled
        from geminids.faces.documents.projects import ProjectDocument

        print_filled(ProjectDocument, story)
    else:
        _draw(choices, library, story, prompts=prompts, beside=beside)
    return tell_unreadable([problem for problem in story.problems if problem.is_unreadable])


@projects.command(short_help="Set the folder of a project.")
@click.argument("wanted", metavar="HASH", callback=not_empty, shell_complete=complete_projects)
@click.argument("path", metavar="PATH", callback=not_empty, shell_complete=complete_folders)
@shared_options
@pass_choices
def link(choices: Choices, *, wanted: str, path: str) -> int:
    """Set the folder of a project that was moved or could not be found.

    HASH is a hash or the beginning of one, or a name of the project. The link is stored in the data
    directory; the agent's files are not changed.

    \b
    geminids projects link 3f2a91c0 ~/dev/shop
    geminids projects link shop /srv/moved/shop
    """  # noqa: D301 - click wants the character itself
    from geminids.sharing.transcript import words

    linked = choices.open_library().link_project(wanted, path)
    proof = "its hash is that of the project" if linked.certain else "its hash is not that of the folder"
    say(f"{(linked.hash or '')[:8]} is {words.path(linked.path or '')}: {proof}.")
    return 0


@projects.command()
@click.argument("wanted", metavar="HASH", callback=not_empty, shell_complete=complete_projects)
@shared_options
@pass_choices
def unlink(choices: Choices, *, wanted: str) -> int:
    """Undo `link`.

    \b
    geminids projects unlink 3f2a91c0
    """  # noqa: D301 - click wants the character itself
    from geminids.sharing.transcript import words

    link = choices.open_library().unlink_project(wanted)
    say(f"{(link.hash or '')[:8]} is no longer linked to {words.path(link.path or '')}.")
    return 0


@projects.command()
@click.option("--deep", is_flag=True, help="Also search deep in your home directory and on other disks.")
@click.option(
    "--seconds",
    type=click.FloatRange(min=0, min_open=True, max=MOST_SECONDS),
    metavar="N",
    help="Search for at most N seconds. Default: 10, with --deep 120.",
)
@json_option
@shared_options
@pass_choices
def resolve(choices: Choices, *, deep: bool, seconds: float | None) -> int:
    """Find the folders of projects that are only known by a hash.

    Hashes folders until one matches: the current folder, projects of other agents, shell histories, git work
    trees, folders named in the sessions, then the usual places for projects; those of each --home before your
    own. A match is certain and is stored in the data directory; nothing else is written.

    \b
    geminids projects resolve
    geminids projects resolve --deep --seconds 300
    """  # noqa: D301 - click wants the character itself
    from geminids.sharing.transcript import words

    library = choices.open_library()
    with _progress() as progress:
        found = library.resolve_projects(
            choices.now, deep=deep, seconds=seconds or (120 if deep else 10), progress=progress
        )
    if choices.json:
        from geminids.faces.cli.json_output import print_filled
        from geminids.faces.documents.projects import ResolvedDocument

        print_filled(ResolvedDocument, found)
        return 0 if found.resolved or not found.missing else NOTHING_FOUND
    for project in found.resolved:
        how = words.KNOWN_BY[project.known_by] if project.known_by else "not known"
        say(f"{(project.hash or '')[:8]} is {words.path(project.path or '')} ({how}).")
    if found.resolved and not found.kept:
        say("The result cannot be stored; `geminids doctor` shows the data directory.")
    looked = f"{words.count(found.looked_at, 'folder')} searched"
    if not found.missing:
        known = "All projects are known" if found.resolved else "All projects are already known"
        say(f"{known}; {looked}.")
        return 0
    missing = words.count(len(found.missing), "folder")
    say(f"{missing} not found{'' if found.complete else ' before time was up'}; {looked}.")
    if not deep:
        say(f"`{choices.spelled('projects', 'resolve', '--deep')}` searches further.")
    say(f"`{choices.spelled('projects', 'link', found.missing[0][:8], 'PATH')}` sets a folder.")
    return NOTHING_FOUND if not found.resolved else 0


class _progress:  # noqa: N801 - reads as a phrase where it is used
    """A line on a terminal that tells how far a search has come, and is gone afterwards."""

    def __enter__(self) -> _progress:
        self._is_shown = sys.stderr.isatty()
        return self

    def __call__(self, looked_at: int, found: int) -> None:
        """Tell how far it has come."""
        if self._is_shown:
            sys.stderr.write(f"\r{looked_at:,} folders searched, {found} found \x1b[K")
            sys.stderr.flush()

    def __exit__(self, *_: object) -> None:
        if self._is_shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def _list(choices: Choices, agents: tuple[str, ...], limit: int | None) -> int:
    from geminids.faces.cli.sessions import tell_left_unread, tell_memory, tell_nothing_found, tell_unreadable

    library = choices.open_library(sample_if_empty=True)
    found = library.projects(choices.now, agents)
    tell_memory(library)
    most = limit or (ON_A_TERMINAL if sys.stdout.isatty() and not choices.json else None)
    shown = found.projects[:most]
    if choices.json:
        from geminids.faces.cli.json_output import print_filled
        from geminids.faces.documents.projects import ProjectsDocument

        print_filled(ProjectsDocument, found, projects=shown)
    elif shown:
        from geminids.faces.cli.projects import draw_projects

        draw_projects(choices.open_page(), shown, choices.now)
    if more := len(found.projects) - len(shown):
        _tell_more(choices, agents, more, len(found.projects))
    if not found.projects:
        tell_nothing_found(library.searched_places)
    _tell_unknown(choices, found)
    tell_left_unread(found.left_unread, lambda file: choices.spelled("show", file))
    return tell_unreadable(found.problems) or (0 if found.projects else NOTHING_FOUND)


def _tell_more(choices: Choices, agents: tuple[str, ...], more: int, total: int) -> None:
    from geminids.sharing.transcript import words

    chosen = [word for agent in agents for word in ("--agent", agent)]
    everything = choices.spelled("projects", *chosen, "--limit", str(total))
    say(f"{words.count(more, 'more project')}; `{everything}` shows {words.them(more)}.")


def _tell_unknown(choices: Choices, found: Projects) -> None:
    from geminids.sharing.transcript import words

    unknown = sum(not report.project.certain and not report.project.path for report in found.projects)
    if unknown:
        folders = words.count(unknown, "folder")
        search = choices.spelled("projects", "resolve")
        say(f"{folders} not known; `{search}` searches for {words.them(unknown)}.")


def _draw(choices: Choices, library: Library, story: ProjectStory, *, prompts: bool, beside: bool) -> None:
    from geminids.faces.cli.projects import draw_story, draw_typed
    from geminids.faces.cli.session_table import remember

    if not prompts:
        page = choices.open_page()
        if draw_story(page, story, library.text_beside if beside else None):
            remember(library, story.sessions, printed=True)
    elif story.typed:
        draw_typed(choices.open_page(), story.typed)
    elif all(problem.is_damage for problem in story.problems):
        say("No prompt was logged here: the agent only logs what is typed at its own prompt.")
