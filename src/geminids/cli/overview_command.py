"""`geminids` alone: what there is, what is damaged, what to type next."""

from __future__ import annotations

from geminids.cli import words
from geminids.cli.data import print_json
from geminids.cli.documents import OverviewDocument, document
from geminids.cli.options import Choices
from geminids.cli.page import Page, open_page
from geminids.cli.screen import find_screen
from geminids.cli.sessions import draw_sessions, tell_nothing_found, tell_unreadable
from geminids.errors import NOTHING_FOUND
from geminids.library import AgentOverview, Library, Overview


def overview(choices: Choices) -> int:
    """Draw the overview."""
    library = choices.open_library(sample_if_empty=True)
    found = library.overview()
    if choices.json:
        print_json(document(OverviewDocument, found))
    else:
        _draw(choices, library, found)
    if not found.newest and not found.problems:
        tell_nothing_found()
    return tell_unreadable(found.problems) or (0 if found.newest else NOTHING_FOUND)


def _draw(choices: Choices, library: Library, found: Overview) -> None:
    page = open_page(find_screen(no_color=choices.no_color))
    for agent in found.agents:
        _draw_agent(page, agent)
    if found.newest:
        page.line()
        draw_sessions(page, library, found.newest, choices.now)
        _draw_next_steps(page, choices, found)


def _draw_agent(page: Page, agent: AgentOverview) -> None:
    counts = [words.count(agent.sessions, "session")]
    if agent.subagents:
        counts.append(words.count(agent.subagents, "subagent"))
    counts += [words.count(agent.projects, "project"), words.size(agent.bytes)]
    page.line((agent.title, "title"), "  ", ", ".join(counts))
    if agent.first and agent.last:
        page.line((f"{agent.first.astimezone():%Y-%m-%d} to {agent.last.astimezone():%Y-%m-%d}", "quiet"))


def _draw_next_steps(page: Page, choices: Choices, found: Overview) -> None:
    page.line()
    if found.damaged_files:
        damaged = words.count(found.damaged_files, "file")
        page.words(f"{damaged} damaged: {choices.spelled('doctor')}", "warning")
    page.words(f"Read the newest:  {choices.spelled('show', found.newest[0].native_id[:8])}")
    page.words(f"See more:         {choices.spelled('list')}")
