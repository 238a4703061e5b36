"""`geminids` alone: what there is, what is damaged, what to type next."""

from __future__ import annotations

from collections import Counter

from geminids.core.errors import NOTHING_FOUND
from geminids.core.names import project_names
from geminids.faces.cli.json_output import print_filled
from geminids.faces.cli.options import Choices
from geminids.faces.cli.session_table import draw_sessions
from geminids.faces.cli.sessions import (
    kinds_of,
    tell_left_unread,
    tell_memory,
    tell_nothing_found,
    tell_unreadable,
)
from geminids.faces.drawing.page import Page
from geminids.library import Library
from geminids.query.health.overview import AgentOverview, NextStep, Overview
from geminids.sharing.transcript import safe, words


def overview(choices: Choices) -> int:
    """Draw the overview."""
    library = choices.open_library(sample_if_empty=True, early=not choices.json)
    found = library.overview(choices.now)
    tell_memory(library)
    if choices.json:
        from geminids.faces.documents.overview import OverviewDocument

        print_filled(OverviewDocument, found)
    else:
        _draw(choices, library, found)
    if not found.newest and not found.problems:
        tell_nothing_found(library.searched_places)
    tell_left_unread(found.left_unread, lambda file: choices.spelled("show", file))
    return tell_unreadable(found.problems) or (0 if found.newest else NOTHING_FOUND)


def _draw(choices: Choices, library: Library, found: Overview) -> None:
    page = choices.open_page()
    for agent in found.agents:
        _draw_agent(page, agent, so_far=" so far" if library.to_come() else "")
    if found.newest:
        _draw_projects(page, found)
        page.line()
        draw_sessions(page, library, found.newest, choices.now)
        _draw_next_steps(page, choices, library, found)


def _draw_agent(page: Page, agent: AgentOverview, so_far: str) -> None:
    counts = [
        f"{words.sessions(kinds_of(agent))}{so_far}",
        words.count(agent.projects, "project"),
        words.size(agent.bytes),
    ]
    page.line((agent.title, "title"), "  ", ", ".join(counts))
    if agent.first and agent.last:
        page.line((f"{agent.first.astimezone():%Y-%m-%d} to {agent.last.astimezone():%Y-%m-%d}", "quiet"))


def _draw_projects(page: Page, found: Overview) -> None:
    """The projects last used, in one line as far as it reaches; before them what several agents left."""
    names = project_names(report.project for report in found.projects)
    projects = [f"{names[report.project]} ({report.sessions + report.lost})" for report in found.projects]
    is_all = len(found.projects) == found.project_count
    every = sum((Counter(kinds_of(agent)) for agent in found.agents), Counter[str]())
    in_all = f"{words.sessions(every)} " if len(found.agents) > 1 else ""
    page.words(safe.line(f"{in_all}in " + ", ".join(projects) + ("" if is_all else ", …")), "quiet")


def _draw_next_steps(page: Page, choices: Choices, library: Library, found: Overview) -> None:
    page.line()
    if found.endangered:
        page.words(_endangered(library, found), "warning" if found.unkept else "quiet")
    if found.kept:
        gone = words.count(found.kept, "session")
        page.words(f"{gone} read from copies, since the files are gone (geminids list --deleted).", "quiet")
    if found.lost:
        gone = words.count(sum(agent.lost for agent in found.agents), "session")
        page.words(f"{gone} lost: only your prompts remain.", "warning")
    if found.damaged_files:
        page.words(f"{words.count(found.damaged_files, 'file')} damaged.", "warning")
    if found.unknown_folders:
        page.words(f"{words.count(found.unknown_folders, 'project')} only known by a hash.", "warning")
    why, command = _next_step(choices, found)
    page.command(f"{why}:  ", command)
    page.command(f"{'See more:':<{len(why) + 1}}  ", choices.spelled("list"))
    page.command(f"{'On one screen:':<{len(why) + 1}}  ", choices.spelled("browse"))


def _endangered(library: Library, found: Overview) -> str:
    """How much will be deleted within a week, by whom, and whether that matters."""
    agents = words.listed(map(library.agent_title, found.deleting))
    threatened = f"{words.count(found.endangered, 'session')} will be deleted by {agents} within 7 days"
    if not found.unkept:
        return f"{threatened}; copies are kept (geminids keep)."
    if found.unkept == found.endangered:
        return f"{threatened}; no copy is kept."
    return f"{threatened}; {found.unkept:,} of them {'is' if found.unkept == 1 else 'are'} not kept."


def _next_step(choices: Choices, found: Overview) -> tuple[str, str]:
    """The one command to type next."""
    match found.next_step:
        case NextStep.SEE_FORECAST:
            return "See what will be deleted", choices.spelled("keep")
        case NextStep.READ_LOST:
            return "Read what remains", choices.spelled("show", found.next_id or "")
        case NextStep.SEE_DAMAGE:
            return "See the damage", choices.spelled("doctor")
        case NextStep.FIND_FOLDERS:
            return "Find the folders", choices.spelled("projects", "resolve")
        case _:
            return "Read the newest", choices.spelled("show", found.next_id or "")
