"""`geminids projects`: the folders that sessions were worked in, and how they are known."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from geminids.cli.options import Choices, json_option, not_empty, pass_choices, shared_options
from geminids.cli.talk import say
from geminids.errors import NOTHING_FOUND

if TYPE_CHECKING:
    from geminids.cli.page import Page
    from geminids.library import Event, ProjectReport, Projects, ProjectStory
    from geminids.model import Companion, TypedLine

MOST_SECONDS = 600


@click.group(invoke_without_command=True)
@json_option
@shared_options
@click.pass_context
def projects(context: click.Context) -> int | None:
    """List projects, the last used first.

    A project is known by its folder. How that is known stands beside it; a `?` means that nothing
    proves it. One whose folder is not known is shown by the first letters of its hash.

    \b
    geminids projects
    geminids projects show shop
    geminids projects resolve
    geminids projects link 3f2a91c0 ~/dev/shop
    geminids list --project shop
    """  # noqa: D301 - click wants the character itself
    if context.invoked_subcommand is not None:
        return None
    return _list(context.ensure_object(Choices))


@projects.command()
@click.argument("wanted", metavar="PROJECT", callback=not_empty)
@click.option("--prompts", is_flag=True, help="Every line that was typed, instead.")
@click.option("--beside", is_flag=True, help="The words of plans, tasks and notes, too.")
@json_option
@shared_options
@pass_choices
def show(choices: Choices, *, wanted: str, prompts: bool, beside: bool) -> int:
    """Show everything a project holds, in order of time.

    PROJECT is a name or a piece of one, a path such as ., a slug, or the beginning of a hash.
    Sessions, subagents, saved chats, lost sessions, plans and notes stand in one line of time;
    a gap is shown where what remains proves that something was deleted.

    \b
    geminids projects show shop
    geminids projects show . --prompts
    """  # noqa: D301 - click wants the character itself
    from geminids.cli.sessions import tell_unreadable

    story = choices.open_library(sample_if_empty=True).project_story(wanted)
    if choices.json:
        from geminids.cli.data import print_json
        from geminids.cli.documents import ProjectDocument, document

        print_json(document(ProjectDocument, story))
    elif prompts:
        _draw_typed(choices, story)
    else:
        _draw_story(choices, story, beside=beside)
    return tell_unreadable([problem for problem in story.problems if problem.is_unreadable])


@projects.command()
@click.argument("wanted", metavar="HASH", callback=not_empty)
@click.argument("path", metavar="PATH", type=click.Path(), callback=not_empty)
@shared_options
@pass_choices
def link(choices: Choices, *, wanted: str, path: str) -> int:
    """Say which folder a project is: one that was moved, or that could not be found.

    HASH is a hash or the beginning of one, or whatever else means the project. The link is kept in
    our own folder; nothing of the agent's is changed.

    \b
    geminids projects link 3f2a91c0 ~/dev/shop
    geminids projects link shop /srv/moved/shop
    """  # noqa: D301 - click wants the character itself
    from geminids.cli import words

    linked = choices.open_library().link_project(wanted, path)
    proof = "its hash is that of the project" if linked.certain else "nothing proves it, so it is your word"
    say(f"{(linked.hash or '')[:8]} is {words.path(linked.path or '')}: {proof}.")
    return 0


@projects.command()
@click.argument("wanted", metavar="HASH", callback=not_empty)
@shared_options
@pass_choices
def unlink(choices: Choices, *, wanted: str) -> int:
    """Take back what was said with `link`.

    \b
    geminids projects unlink 3f2a91c0
    """  # noqa: D301 - click wants the character itself
    from geminids.cli import words

    link = choices.open_library().unlink_project(wanted)
    say(f"{(link.hash or '')[:8]} is no longer linked to {words.path(link.path or '')}.")
    return 0


@projects.command()
@click.option("--deep", is_flag=True, help="Also look deep into the home and into other disks.")
@click.option(
    "--seconds",
    type=click.FloatRange(min=0, min_open=True, max=MOST_SECONDS),
    metavar="N",
    help="Look for at most N seconds. Else 10, with --deep 120.",
)
@json_option
@shared_options
@pass_choices
def resolve(choices: Choices, *, deep: bool, seconds: float | None) -> int:
    """Look for the folders of projects that are known by a hash alone.

    Folders that this machine knows of are hashed until one fits: where you are, the projects of
    other agents, git work trees, shell histories, then the usual places for projects. What is found
    is certain, and remembered. Nothing is written but in our own folder.

    \b
    geminids projects resolve
    geminids projects resolve --deep --seconds 300
    """  # noqa: D301 - click wants the character itself
    from geminids.cli import words

    library = choices.open_library()
    with _progress() as progress:
        found = library.resolve_projects(
            choices.now, deep=deep, seconds=seconds or (120 if deep else 10), progress=progress
        )
    if choices.json:
        from geminids.cli.data import print_json
        from geminids.cli.documents import ResolvedDocument, document

        print_json(document(ResolvedDocument, found))
        return 0 if found.resolved or not found.missing else NOTHING_FOUND
    for project in found.resolved:
        how = words.KNOWN_BY[project.known_by] if project.known_by else "not known"
        say(f"{(project.hash or '')[:8]} is {words.path(project.path or '')} ({how}).")
    if found.resolved and not found.kept:
        say("What was found cannot be remembered; see `geminids doctor` for our own folder.")
    looked = f"{words.count(found.looked_at, 'folder')} looked at"
    if not found.missing:
        known = "Every project is known" if found.resolved else "Every project was known already"
        say(f"{known}; {looked}.")
        return 0
    rest = words.count(len(found.missing), "project")
    how = "and the places to look are done" if found.complete else "when the time was over"
    say(f"{rest} not found, {how}; {looked}.")
    if not deep:
        say(f"`{choices.spelled('projects', 'resolve', '--deep')}` looks further.")
    say(f"`{choices.spelled('projects', 'link', found.missing[0][:8], 'PATH')}` says where one is.")
    return NOTHING_FOUND if not found.resolved else 0


class _progress:  # noqa: N801 - reads as a phrase where it is used
    """A line on a terminal that tells how far a search has come, and is gone afterwards."""

    def __enter__(self) -> _progress:
        self._is_shown = sys.stderr.isatty()
        return self

    def __call__(self, looked_at: int, found: int) -> None:
        """Tell how far it has come."""
        if self._is_shown:
            sys.stderr.write(f"\r{looked_at:,} folders looked at, {found} found \x1b[K")
            sys.stderr.flush()

    def __exit__(self, *_: object) -> None:
        if self._is_shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def _list(choices: Choices) -> int:
    from geminids.cli.sessions import tell_left_unread, tell_memory, tell_nothing_found, tell_unreadable

    library = choices.open_library(sample_if_empty=True)
    found = library.projects(choices.now)
    tell_memory(library)
    if choices.json:
        from geminids.cli.data import print_json
        from geminids.cli.documents import ProjectsDocument, document

        print_json(document(ProjectsDocument, found))
    else:
        _draw(choices, found)
    if not found.projects:
        tell_nothing_found()
    _tell_unknown(choices, found)
    tell_left_unread(found.left_unread, lambda file: choices.spelled("show", file))
    return tell_unreadable(found.problems) or (0 if found.projects else NOTHING_FOUND)


def _tell_unknown(choices: Choices, found: Projects) -> None:
    from geminids.cli import words

    unknown = sum(not report.project.certain and not report.project.path for report in found.projects)
    if unknown:
        folders = words.count(unknown, "folder")
        search = choices.spelled("projects", "resolve")
        say(f"{folders} not known; `{search}` looks for {words.them(unknown)}.")


def _draw(choices: Choices, found: Projects) -> None:
    from geminids.cli.page import Column, DrawnPage, open_page
    from geminids.cli.screen import find_screen

    page = open_page(find_screen(no_color=choices.no_color))
    if not (isinstance(page, DrawnPage) and page.is_terminal):
        for report in found.projects:
            page.fields(*_fields(report))
        return
    columns = (
        Column("project", least=16),
        Column("known by", leaves=3),
        Column("sessions", is_number=True),
        Column("last used", leaves=4),
        Column("size", is_number=True, leaves=2),
    )
    page.table(columns, [_row(choices, report) for report in found.projects])


def _row(choices: Choices, report: ProjectReport) -> list[str | tuple[str, str]]:
    from geminids.cli import words

    return [
        (_name(report), "human"),
        _known_by(report),
        _sessions(report),
        words.when(report.last, choices.now),
        words.size(report.bytes),
    ]


def _fields(report: ProjectReport) -> Sequence[str]:
    """One line of a pipe: nothing is cut, and what programs take up comes first."""
    from geminids.cli import words

    project = report.project
    return [
        project.hash or "-",
        project.path or "-",
        _known_by(report),
        str(report.sessions),
        str(report.lost),
        words.moment(report.last) if report.last else "-",
        str(report.bytes),
    ]


def _name(report: ProjectReport) -> str:
    from geminids.cli import words

    project = report.project
    if project.path:
        return words.path(project.path)
    return project.slug or (project.hash or "unknown")[:8]


def _known_by(report: ProjectReport) -> str:
    from geminids.cli import words

    project = report.project
    if project.known_by is None:
        return "not known"
    return words.KNOWN_BY[project.known_by] + ("" if project.certain else "?")


def _sessions(report: ProjectReport) -> str:
    return f"{report.sessions} + {report.lost} lost" if report.lost else str(report.sessions)


def _draw_story(choices: Choices, story: ProjectStory, *, beside: bool) -> None:
    from geminids.cli.beside import draw_companion, shown_beside
    from geminids.cli.page import open_page
    from geminids.cli.screen import find_screen
    from geminids.library import text_beside

    page = open_page(find_screen(no_color=choices.no_color))
    _draw_head(page, story.report)
    page.line()
    _draw_rows(page, [_event_row(event) for event in story.events])
    companions = [event.companion for event in story.events if event.companion]
    for companion in shown_beside(companions) if beside else ():
        draw_companion(page, companion, text_beside(companion))


def _draw_typed(choices: Choices, story: ProjectStory) -> None:
    from geminids.cli import words
    from geminids.cli.page import open_page
    from geminids.cli.screen import find_screen

    rows: list[Sequence[str | tuple[str, str]]] = [
        [
            words.moment(line.at) if line.at else "",
            (words.LINE_MARKS[line.kind], "quiet"),
            line.text,
            (_whose(line), "quiet"),
        ]
        for line in story.typed
    ]
    if not rows and not any(not problem.is_damage for problem in story.problems):
        say("No line that was typed here was logged: the agent logs only what is typed at its own prompt.")
    _draw_rows(open_page(find_screen(no_color=choices.no_color)), rows)


def _whose(line: TypedLine) -> str:
    """The session a line was typed in, marked if that does not hold it any more."""
    from geminids.model import LineKind

    is_gone = line.missing is not None and line.kind is LineKind.PROMPT
    return f"{_short(line.session_id)}{' ✝' if is_gone else ''}".strip()


def _draw_rows(page: Page, rows: Sequence[Sequence[str | tuple[str, str]]]) -> None:
    from geminids.cli.page import Column, DrawnPage

    if isinstance(page, DrawnPage) and page.is_terminal:
        columns = (Column("when"), Column(""), Column("what", least=20), Column("id", leaves=1))
        page.table(columns, rows)
    else:
        for row in rows:
            page.fields(*row)


def _draw_head(page: Page, report: ProjectReport) -> None:
    from geminids.cli import words

    page.line((_name(report), "title"), "  ", (_known_by(report), "quiet"))
    counts = [
        words.count(report.sessions, "session"),
        *(words.count(number, noun) for number, noun in _rarer(report) if number),
        words.size(report.bytes),
    ]
    page.words(", ".join(counts))
    for other in report.also:
        names = [words.path(other.path) if other.path else "", other.slug or "", (other.hash or "")[:8]]
        page.words("also " + ", ".join(name for name in names if name), "quiet")


def _rarer(report: ProjectReport) -> Sequence[tuple[int, str]]:
    return [(report.subagents, "subagent"), (report.checkpoints, "saved chat"), (report.lost, "lost session")]


def _event_row(event: Event) -> Sequence[str | tuple[str, str]]:
    from geminids.cli import words
    from geminids.library import EventKind

    when = words.moment(event.at) if event.at else ""
    if event.kind is EventKind.GAP:
        return [when, ("╌", "warning"), (event.title or "", "warning"), (_short(event.session_id), "quiet")]
    if event.companion is not None:
        return [when, ("·", "quiet"), (_beside(event.companion), "quiet"), ""]
    session = event.session
    if session is None:
        return [when, "", event.title or "", ""]
    mark = words.KIND_MARKS.get(session.kind)
    status = (mark, "quiet") if mark else words.STATUS_MARKS[session.status]
    return [when, status, session.title or "untitled", (_short(session.id), "quiet")]


def _beside(companion: Companion) -> str:
    from geminids.cli import words
    from geminids.cli.beside import KIND_NAMES

    name = companion.path.replace("\\", "/").rpartition("/")[2]
    return f"{KIND_NAMES[companion.kind][0]} {name}, {words.size(companion.size)}"


def _short(session_id: str | None) -> str:
    from geminids.cli import words

    return words.short_id((session_id or "").partition(":")[2])
