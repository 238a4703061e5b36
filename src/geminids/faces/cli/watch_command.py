"""`geminids watch`: new messages as they are written."""

from __future__ import annotations

import errno
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import click

from geminids.faces.cli.completers import complete_projects, complete_sessions
from geminids.faces.cli.options import Choices, agent_option, not_empty, pass_choices, shared_options
from geminids.faces.cli.talk import say

if TYPE_CHECKING:
    from geminids.library import Library
    from geminids.sharing.transcript.entries import Detail
    from geminids.sync.watch import AnyEvent, SessionGone, SessionNews, Watching

OF_ONE_SESSION = 3
"""So many of the last messages are told first where one session is followed."""
HEARTBEAT = 0.2
"""Seconds between two looks at the clock and at who reads our output."""
SHORTEST = 0.05
_POSITIVE = click.FloatRange(min=0, min_open=True)


class Limits(NamedTuple):
    """When to stop, in seconds."""

    after: float | None
    idle: float | None


@click.command()
@click.argument(
    "wanted", metavar="[ID|FILE]", required=False, callback=not_empty, shell_complete=complete_sessions
)
@click.option(
    "-n",
    "--last",
    type=click.IntRange(min=0),
    metavar="N",
    help=f"Begin with the last N messages of running sessions. Default: {OF_ONE_SESSION} for one session, 0 "
    "for all.",
)
@click.option(
    "--project",
    metavar="WHICH",
    callback=not_empty,
    shell_complete=complete_projects,
    help="Only sessions of this project: a name or part of one, a path such as ., a slug or a hash.",
)
@agent_option
@click.option("--thoughts", is_flag=True, help="Also print the model's thoughts.")
@click.option("--tools", is_flag=True, help="Also print tool arguments, tool outputs and whole diffs.")
@click.option(
    "--notices", is_flag=True, help="Also print notices of the agent. Warnings and errors are always printed."
)
@click.option(
    "--all", "everything", is_flag=True, help="Print everything, also context that the agent added."
)
@click.option(
    "--json", "--jsonl", "as_json", is_flag=True, help="Print one JSON value per line, one for each message."
)
@click.option(
    "--poll",
    type=click.FloatRange(min=SHORTEST),
    metavar="SECONDS",
    help="Check every SECONDS instead of waiting for file events, such as on a network disk.",
)
@click.option("--for", "after", type=_POSITIVE, metavar="SECONDS", help="Stop after SECONDS.")
@click.option(
    "--until-idle", "idle", type=_POSITIVE, metavar="SECONDS", help="Stop if nothing was written for SECONDS."
)
@shared_options
@pass_choices
def watch(
    choices: Choices,
    *,
    wanted: str | None,
    last: int | None,
    project: str | None,
    agents: tuple[str, ...],
    thoughts: bool,
    tools: bool,
    notices: bool,
    everything: bool,
    as_json: bool,
    poll: float | None,
    after: float | None,
    idle: float | None,
) -> int:
    """Print new messages as they are written, of all sessions or of one and its subagents.

    ID is an id or the beginning of one, a name from `geminids mark`, a number from the last `geminids list`,
    or `latest`; a FILE is a path. Results and other additions to a message are printed when they arrive; so
    are messages that you or the agent undo. Ctrl-C ends it.

    \b
    geminids watch
    geminids watch latest
    geminids watch --project . --tools
    geminids watch --json | jq 'select(.message.origin == "human").message'
    geminids watch latest --until-idle 60
    """  # noqa: D301 - click wants the character itself
    from geminids.faces.cli.show_answer import detail_of
    from geminids.sync.watch import Pace

    library = choices.open_library()
    detail = detail_of(thoughts=thoughts, tools=tools, notices=notices, everything=everything)
    tell = _printer() if as_json or choices.json else _drawer(choices, library, detail)
    if last is None:
        last = OF_ONE_SESSION if wanted else 0
    pace = Pace(poll, HEARTBEAT)
    events = library.watch(wanted, project=project, agents=agents, last=last, pace=pace)
    for event in _until(events, Limits(after, idle)):
        tell(event)
    return 0


def _until(events: Iterator[AnyEvent], limits: Limits) -> Iterator[SessionNews | SessionGone]:
    """What happened in sessions, until one of the limits is reached or nobody reads it any more."""
    from geminids.sync.watch import Quiet, SessionGone, SessionNews, Trouble, Watching

    began = written_at = time.monotonic()
    for event in events:
        match event:
            case Watching():
                say(_where(event))
            case Trouble(problem=problem):
                from geminids.faces.cli.sessions import tell_unreadable

                tell_unreadable([problem])
            case SessionNews() | SessionGone():
                yield event
                written_at = time.monotonic()
            case Quiet():
                _check_reader()
        now = time.monotonic()
        if (limits.after and now >= began + limits.after) or (
            limits.idle and now >= written_at + limits.idle
        ):
            return


def _where(event: Watching) -> str:
    from geminids.sharing.transcript import words

    places = ", ".join(map(words.path, event.places)) or "for a home to appear"
    if event.by_events:
        return f"Watching {places} by file events."
    because = f" ({event.because})" if event.because else ""
    return f"Watching {places} by looking every {event.seconds:g} s{because}."


def _check_reader() -> None:
    """Raise BrokenPipeError if the reader of our output went away: it may be long until we write again."""
    import select

    if not hasattr(select, "poll") or sys.stdout.isatty():
        return
    poll = select.poll()
    try:
        poll.register(sys.stdout.fileno(), 0)
    except (OSError, ValueError):
        return
    if any(happened & select.POLLERR for _, happened in poll.poll(0)):
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))


def _printer() -> Callable[[SessionNews | SessionGone], None]:
    from geminids.faces.cli.json_output import print_lines
    from geminids.faces.documents.live import watch_documents

    def tell(event: SessionNews | SessionGone) -> None:
        print_lines(watch_documents(event))
        sys.stdout.flush()

    return tell


def _drawer(
    choices: Choices, library: Library, detail: Detail
) -> Callable[[SessionNews | SessionGone], None]:
    from geminids.faces.cli.watch_page import Drawing, LivePage

    page = choices.open_page()
    live = LivePage(
        Drawing(page, detail, library.agent_title, lambda wanted: choices.spelled("show", wanted))
    )

    def tell(event: SessionNews | SessionGone) -> None:
        live.draw(event)
        sys.stdout.flush()

    return tell
