"""`geminids` alone: what there is, what is damaged, what to type next."""

from __future__ import annotations

from geminids.cli import words
from geminids.cli.data import print_json
from geminids.cli.options import Choices
from geminids.cli.page import Page, open_page
from geminids.cli.screen import find_screen
from geminids.cli.sessions import draw_lines, draw_table, remember, tell_unreadable
from geminids.cli.talk import say
from geminids.library import AgentOverview, Overview


def overview(choices: Choices) -> int:
    """Draw the overview."""
    library = choices.open_library(sample_if_empty=True)
    found = library.overview()
    if choices.json:
        print_json("geminids/overview/1", found)
        return tell_unreadable(found.problems)
    screen = find_screen(no_color=choices.no_color)
    page = open_page(screen)
    for agent in found.agents:
        _draw_agent(page, agent)
    if found.newest:
        page.line()
        if screen.is_drawn:
            draw_table(page, found.newest, choices.now)
        else:
            draw_lines(page, found.newest)
        remember(library, found.newest)
        _draw_next_steps(page, found)
    elif not found.problems:
        say("No session found. `--home DIR` looks elsewhere, `--sample` shows some that come with geminids.")
    return tell_unreadable(found.problems) or int(not found.newest)


def _draw_agent(page: Page, agent: AgentOverview) -> None:
    counts = [words.count(agent.sessions, "session")]
    if agent.subagents:
        counts.append(words.count(agent.subagents, "subagent"))
    counts += [words.count(agent.projects, "project"), words.size(agent.bytes)]
    page.line((agent.title, "title"), "  ", ", ".join(counts))
    if agent.first and agent.last:
        page.line((f"{agent.first.astimezone():%Y-%m-%d} to {agent.last.astimezone():%Y-%m-%d}", "quiet"))


def _draw_next_steps(page: Page, found: Overview) -> None:
    page.line()
    if found.damaged_files:
        page.line((f"{words.count(found.damaged_files, 'file')} damaged: ", "warning"), "geminids doctor")
    page.line(("Read the newest:  ", "quiet"), f"geminids show {found.newest[0].native_id[:8]}")
    page.line(("See more:         ", "quiet"), "geminids list --since 30d")
