"""`geminids rescue`: sessions that their agent can no longer show or resume, and a way back for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import click

from geminids.core.errors import (
    NOTHING_FOUND,
    PARTLY_DONE,
    FileExistsAlreadyError,
    GeminidsError,
    SessionNotFoundError,
)
from geminids.core.names import one_line
from geminids.faces.cli.completers import complete_ids
from geminids.faces.cli.options import (
    Choices,
    agent_option,
    json_option,
    not_empty,
    pass_choices,
    shared_options,
    sync_option,
)
from geminids.faces.cli.progress import stoppable
from geminids.faces.cli.talk import say
from geminids.faces.drawing.page import Column
from geminids.faces.drawing.wrapping import wrapped

if TYPE_CHECKING:
    from datetime import datetime

    from geminids.core.agents.protocols import Custodian
    from geminids.core.agents.rescue import Stranded
    from geminids.core.model import SessionSummary
    from geminids.faces.drawing.page import Page, Span
    from geminids.library import Library
    from geminids.storage.index.values import SessionRow

Spelled = Callable[..., str]
INDENT = 2
TOLD = {
    "lost": "all of it is hidden",
    "partly": "part of it is hidden",
    "slight": "only a mistyped command is hidden",
    "title": "only its title is missing",
}
IN_LITTLE = {"lost": "all", "partly": "part", "slight": "command", "title": "title"}
"""The same for a column of what is hidden."""
MOST_DRAWN = 20
"""So many sessions have a line on a terminal; `--verbose` shows all of them."""
COLUMNS = (
    Column("id", least=8, most=13),
    Column("when", leaves=2),
    Column("agent", most=8, leaves=1),
    Column("project", least=7, most=14, leaves=3),
    Column("title", least=20),
    Column("hidden"),
    Column("repair"),
)


@click.command()
@click.argument("wanted", nargs=-1, metavar="[ID]...", callback=not_empty, shell_complete=complete_ids)
@agent_option
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="Also show sessions that only lack a title or a mistyped command.",
)
@click.option(
    "--apply", is_flag=True, help="Write a new file for each session, which its agent can show and resume."
)
@click.option("--verbose", is_flag=True, help="Explain each session: why, where, and what would be written.")
@sync_option
@json_option
@shared_options
@pass_choices
def rescue(
    choices: Choices,
    *,
    wanted: tuple[str, ...],
    agents: tuple[str, ...],
    everything: bool,
    verbose: bool,
    apply: bool,
) -> int:
    """Find sessions on disk that an agent cannot show, and repair them.

    Some releases of agents lose the first line of a session file, join lines, hide a conversation within its
    own file, or hide a session behind another one. Each session is shown on one line; with --verbose or an ID
    it is explained, with the file and the line that show it. In a pipe each session is one line of fields
    separated by tabs: id, severity (`lost`, `partly`, `slight` or `title`), hidden prompts, hidden answers,
    `can be repaired` or `cannot`, title.

    With --apply a new file is written beside the old ones; from it the agent can list and resume the whole
    conversation. Existing files are never changed.

    \b
    geminids rescue
    geminids rescue 1f0c9a2b
    geminids rescue 1f0c9a2b --apply
    geminids rescue --all
    """  # noqa: D301 - click wants the character itself
    if choices.sample and apply:
        raise click.UsageError("Cannot repair the sample sessions: they are part of geminids.")
    with choices.open_library(changes=apply) as library:
        with stoppable("Reading sessions", "Stopped; nothing was written.") as work:
            every = library.kept.stranded(choices.now, agents, work)
        found, unmet = _meant(choices, library, every, wanted) if wanted else (every, False)
        shown = _shown(found, everything=everything or bool(wanted))
        written = _apply(library, shown, choices.now) if apply else {}
        if choices.json:
            _print(shown, written, len(found) - len(shown), _checked(library.kept.custodians(agents)))
        elif apply:
            _tell_written(choices, library, shown, written)
        else:
            spelled = _spelled(choices, wanted, agents, everything=everything)
            _tell(choices, library, shown, spelled, verbose=verbose or bool(wanted))
        if not wanted and not choices.json:
            _tell_checked(library, agents, is_any=bool(shown))
    if not shown:
        return NOTHING_FOUND
    _tell_lesser(choices, len(found) - len(shown))
    is_whole = len(written) == len(shown) and not unmet
    return 0 if is_whole or not apply else PARTLY_DONE


def _tell_checked(library: Library, agents: Sequence[str], *, is_any: bool) -> None:
    """Say which agents were checked, and of the others what their lists leave out and what to type for it."""
    from geminids.sharing.transcript import words

    custodians = library.kept.custodians(agents)
    checked = _checked(custodians)
    if checked and not is_any:
        titles = words.listed(map(library.agent_title, checked))
        say(f"Nothing to rescue: {titles} can show every session that is on the disk.")
    if not custodians:
        say("Nothing to rescue: no agent has a home here.")
    for name, custodian in custodians.items():
        if name not in checked:
            offers = custodian.unlisted() if custodian else ()
            typed = (
                f" {offer.sentence} `{' '.join(command)}`." for offer in offers for command in offer.commands
            )
            say(f"Not checked: {library.agent_title(name)}.{''.join(typed)}")


def _checked(custodians: Mapping[str, Custodian | None]) -> list[str]:
    """Return the agents that are known to be able to show a session or not."""
    return [name for name, custodian in custodians.items() if custodian and custodian.finds_stranded]


def _spelled(choices: Choices, wanted: Sequence[str], agents: Sequence[str], *, everything: bool) -> Spelled:
    """The command that asks for the same sessions, with more words."""
    of_agents = (word for agent in agents for word in ("--agent", agent))
    return partial(choices.spelled, "rescue", *wanted, *of_agents, *(["--all"] if everything else []))


def _meant(
    choices: Choices, library: Library, found: Sequence[Stranded], wanted: Sequence[str]
) -> tuple[list[Stranded], bool]:
    """Those that were asked for, each once, and whether there are others, of which it is said."""
    by_id = {one.session.id: one for one in found}
    ids = list(dict.fromkeys(_id_meant(library, found, name) for name in wanted))
    others = [session_id for session_id in ids if session_id not in by_id]
    for session_id in others:
        _tell_nothing_to_rescue(choices, library, session_id)
    return [by_id[session_id] for session_id in ids if session_id in by_id], bool(others)


def _tell_nothing_to_rescue(choices: Choices, library: Library, session_id: str) -> None:
    from geminids.query.sessions.listing import Filter

    rows = [row for row in library.listing(Filter(kept=True)).sessions if row.id == session_id]
    if rows:
        restore = choices.spelled("restore", _short_names(library, rows)[session_id])
        say(f"The file of {one_line(session_id)} is gone, but a copy is kept: `{restore}` restores it.")
    else:
        say(f"Nothing to rescue was found in {one_line(session_id)}.")


def _id_meant(library: Library, found: Sequence[Stranded], wanted: str) -> str:
    """The session that is meant; what no list shows may still be found by its id."""
    try:
        return library.session(wanted).id
    except SessionNotFoundError:
        names = {one.session.id for one in found if _begins(one, wanted.lower())}
        if len(names) == 1:
            return names.pop()
        raise


def _begins(one: Stranded, wanted: str) -> bool:
    return one.session.id.lower().startswith(wanted) or one.session.native_id.lower().startswith(wanted)


def _shown(found: Sequence[Stranded], *, everything: bool) -> list[Stranded]:
    """The worst first; lesser ones only where they are wanted, or all there is."""
    serious = [one for one in found if not one.is_slight]
    shown = found if everything or not serious else serious
    order = list(TOLD)
    return sorted(shown, key=lambda one: order.index(one.severity))


def _apply(library: Library, shown: Sequence[Stranded], now: datetime) -> dict[str, str]:
    """Write a file for each; the files, by the ids of the sessions. What cannot be written is told."""
    written: dict[str, str] = {}
    with stoppable(
        "Writing", "Stopped after {done} of {total} sessions; each file that was written is complete."
    ) as work:
        for one in work.over(shown):
            try:
                written[one.session.id] = library.kept.rescue(one, now).path
            except FileExistsAlreadyError:
                say(f"{one.target!r} now exists and was not overwritten. Try again.")
            except GeminidsError as error:
                say(str(error))
            except OSError as error:
                say(f"Cannot write {one.target!r}: {error.strerror}.")
    return written


def _print(
    shown: Sequence[Stranded], written: Mapping[str, str], left_out: int, checked: Sequence[str]
) -> None:
    from geminids.faces.cli.json_output import print_json
    from geminids.faces.documents.kept_copies import rescue_document

    print_json(rescue_document(shown, written, left_out, checked))


def _tell(
    choices: Choices, library: Library, shown: Sequence[Stranded], spelled: Spelled, *, verbose: bool
) -> None:
    """What it comes to, then a line for each, or all that is known of it; `spelled` asks for the same."""
    from geminids.faces.cli.pager import draw_paged
    from geminids.faces.drawing.screen import find_screen

    if not shown:
        return
    screen = find_screen(no_color=choices.no_color)
    verdict = _verdict(library, shown, None if choices.sample else spelled("--apply"))
    if not screen.is_terminal:
        say(verdict)
    is_told = verbose or (screen.is_terminal and len(shown) == 1)

    def draw(page: Page) -> None:
        if screen.is_terminal:
            for line in wrapped(verdict, screen.width or len(verdict)).split("\n"):
                page.command("", line)
            page.line()
        if is_told:
            _draw_each(page, choices, library, shown)
        else:
            _draw_lines(page, choices, library, shown, spelled("--verbose"))

    draw_paged(screen, draw, no_pager=not verbose)


def _verdict(library: Library, shown: Sequence[Stranded], apply: str | None) -> str:
    """How many sessions cannot be shown, and what brings them back, if anything does."""
    from geminids.sharing.transcript import words

    serious = [one for one in shown if not one.is_slight]
    number, lesser = len(serious), len(shown) - len(serious)
    partly = sum(one.severity == "partly" for one in serious)
    agents = sorted({library.agent_title(one.session.agent) for one in serious})
    verdict = words.hidden(number, partly, agents) if serious else "No conversation is hidden"
    lacking = f"{'lacks' if lesser == 1 else 'lack'} only a title or a mistyped command"
    if lesser and number:
        verdict = f"{verdict}, and {lesser:,} more {lacking}"
    elif lesser:
        verdict = f"{verdict}; {words.count(lesser, 'session')} {lacking}"
    possible = sum(one.target is not None for one in shown)
    if apply is None or not possible:
        return f"{verdict}." if possible else f"{verdict}, and cannot be repaired."
    which = words.them(possible) if possible == len(shown) else f"{possible:,} of them"
    return f"{verdict}; `{apply}` repairs {which}."


def _draw_lines(
    page: Page, choices: Choices, library: Library, shown: Sequence[Stranded], explain: str
) -> None:
    """One line for each: on a terminal the worst in a table, in a pipe all of them."""
    from geminids.faces.drawing.page import DrawnPage

    if not (isinstance(page, DrawnPage) and page.is_terminal):
        for one in shown:
            page.fields(*_line(one))
        return
    names = _short_names(library, [one.session for one in shown])
    is_mixed = len({one.session.agent for one in shown}) > 1
    places = [place for place, column in enumerate(COLUMNS) if is_mixed or column.heading != "agent"]
    rows = [_row(one, names, choices.now) for one in shown[:MOST_DRAWN]]
    page.table([COLUMNS[place] for place in places], [[row[place] for place in places] for row in rows])
    if (more := len(shown) - MOST_DRAWN) > 0:
        page.line((f"… and {more:,} more (--verbose)", "quiet"))
    page.line()
    page.command("See the details:  ", explain)


def _row(one: Stranded, names: Mapping[str, str], now: datetime) -> list[Span]:
    from geminids.sharing.transcript import words

    session = one.session
    return [
        (names[session.id], "quiet"),
        words.when(session.last_at, now),
        (session.agent, "quiet"),
        (session.project.name, "human"),
        session.title or "untitled",
        (IN_LITTLE[one.severity], "warning"),
        ("new file", "good") if one.target else ("none", "bad"),
    ]


def _line(one: Stranded) -> list[Span]:
    return [
        (one.session.id, "quiet"),
        str(one.severity),
        str(one.hidden),
        str(one.hidden_replies),
        "can be repaired" if one.target else "cannot",
        one.session.title or "",
    ]


def _draw_each(page: Page, choices: Choices, library: Library, shown: Sequence[Stranded]) -> None:
    """All that is known of each, and how to repair it."""
    names = _short_names(library, [one.session for one in shown])
    for one in shown:
        _draw_stranded(page, one, library.agent_title(one.session.agent), choices.now)
        page.line()
    possible = [names[one.session.id] for one in shown if one.target]
    if possible and not choices.sample:
        is_one = len(possible) == 1
        which = "it, in a new file" if is_one else f"all {len(possible):,}, in new files"
        command = choices.spelled("rescue", *(possible if is_one else ()), "--apply")
        page.command(f"Repair {which}:  ", command)
    page.command("Read one first:  ", choices.spelled("show", names[shown[0].session.id]))


def _short_names(library: Library, sessions: Iterable[SessionRow | SessionSummary]) -> dict[str, str]:
    from geminids.faces.cli.sessions import short_names

    return short_names(library, sessions)


def _draw_stranded(page: Page, one: Stranded, agent: str, now: datetime) -> None:
    from geminids.sharing.transcript import words

    session = one.session
    page.line((session.title or "untitled", "title"))
    place = words.path(session.project.path) if session.project.path else session.project.name
    page.line((place, "human"), (f"  {words.when(session.last_at, now)}  {session.id}", "quiet"))
    page.words(f"{agent}: {TOLD[one.severity]}{_how_much(one)}", "warning")
    for obstacle in one.obstacles:
        page.words(obstacle.sentence, indent=INDENT)
        line = f":{obstacle.line}" if obstacle.line else ""
        page.command(" " * INDENT, f"{words.path(obstacle.file)}{line}")
    if one.target:
        page.line("To be written:")
        page.command(" " * INDENT, words.path(one.target))
    for change in one.changes:
        page.words(change, "quiet", indent=INDENT)
    if one.refusal:
        page.words(f"Cannot be repaired: {one.refusal}", "bad")


def _how_much(one: Stranded) -> str:
    from geminids.sharing.transcript import words

    counts = ((one.hidden, "prompt"), (one.hidden_replies, "answer"))
    counted = [words.count(number, noun) for number, noun in counts if number]
    return f" ({' and '.join(counted)})" if counted else ""


def _tell_written(
    choices: Choices, library: Library, shown: Sequence[Stranded], written: Mapping[str, str]
) -> None:
    from geminids.sharing.transcript import words

    page = choices.open_page()
    names = _short_names(library, [one.session for one in shown])
    for one in shown:
        if path := written.get(one.session.id):
            page.line((one.session.title or "untitled", "title"))
            page.command(" " * INDENT, words.path(path))
            page.command("  Resume it:  ", choices.spelled("resume", names[one.session.id]))
    if written:
        say(f"{words.count(len(written), 'file')} written.")


def _tell_lesser(choices: Choices, number: int) -> None:
    from geminids.sharing.transcript import words

    if number:
        every = choices.spelled("rescue", "--all")
        lacks = "lacks" if number == 1 else "lack"
        missing = f"{words.count(number, 'more session')} only {lacks} a title or a mistyped command"
        say(f"{missing}; `{every}` shows {words.them(number)}.")
