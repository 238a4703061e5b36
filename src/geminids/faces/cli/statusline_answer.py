"""What `geminids statusline` does: one line about a session, for an agent that shows one below its prompt.

Agents run it every few hundred milliseconds, give it JSON on stdin, and show what it prints. So it is bounded
in time, never fails, and says in its line what is wrong.
"""

from __future__ import annotations

import os
import sys
import time

from geminids.core.errors import GeminidsError
from geminids.core.values import NamedTuple
from geminids.faces.cli.forms import NO_SYNC, WHERE_AND_HOW, Form

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime
    from decimal import Decimal
    from typing import Any, NoReturn

    from geminids.faces.cli.choices import Choices
    from geminids.library import Library
    from geminids.query.usage.blocks import Block
    from geminids.query.usage.present import OpenSession, Present

FORM = Form((NO_SYNC, *WHERE_AND_HOW))
LONGEST_SYNC = 0.5
"""Seconds to wait until what is new is read."""
LOOKS_AGAIN = 0.004
"""Seconds between two looks whether it is."""
LOCK_FILE = "statusline.lock"
"""In the data directory; held while a status line has a sync under way."""
UNDER_WAY = 2
"""The exit code of a sync that found another one at work."""
LONGEST_NAME = 30
BETWEEN = " · "


class SenselessWordsError(ValueError):
    """What stands on stdin is not what an agent says to its status line."""


class UnwritableIndexError(GeminidsError):
    """There is no index, and none can be written."""

    def __init__(self) -> None:
        super().__init__("no index can be written; `geminids sync` shows why")


class Heard(NamedTuple):
    """What the agent said of itself."""

    session: str | None = None
    file: str | None = None
    model: str | None = None
    cost: float | None = None
    """Dollars that the session cost, as the agent counts."""
    context_window: int | None = None
    ends_at: float | None = None
    """When the present window of five hours ends, in seconds since 1970, as the provider says."""
    used_percentage: float | None = None
    """How much of its limit is used."""


class Piece(NamedTuple):
    """A part of the line."""

    words: str
    rank: int
    """The larger, the sooner it is left out where there is no room."""


def statusline(choices: Choices) -> int:
    """Print the line; the exit code is 0, since agents show nothing of a command that fails."""
    from geminids.faces.drawing.page import open_page
    from geminids.faces.drawing.screen import find_screen

    try:
        pieces = list(_line(choices))
    except SenselessWordsError:
        pieces = [Piece("geminids: stdin is not JSON of a status line", 0)]
    except (GeminidsError, OSError) as error:
        pieces = [Piece(f"geminids: {str(error).splitlines()[0]}", 0)]
    screen = find_screen(no_color=choices.no_color)
    open_page(screen).line(_fitted(pieces, screen.width or _told_width()))
    if screen.is_terminal:
        _tell_how_to_install()
    return 0


def _line(choices: Choices) -> Iterator[Piece]:
    """What there is to say, from left to right. Raises SenselessWordsError."""
    heard = _heard()
    library = _opened(choices)
    if library is None:
        yield Piece("geminids: reading sessions for the first time", 0)
        return
    found = library.present(choices.now, heard.session, heard.file)
    session = found.sessions[0] if found.sessions else None
    if session is None and heard == Heard():
        yield Piece("geminids: no sessions yet", 0)
        return
    yield from _pieces(library, found, session, heard, choices.now)
    if library.to_come():
        yield Piece("still reading older sessions", 2)


def _tell_how_to_install() -> None:
    """To a person who tries it."""
    from geminids.core.installation import own_command
    from geminids.faces.cli.talk import say

    say(
        f"To set it up, use `{own_command()} statusline` as the status line command of your agent; "
        "see docs/stats.md."
    )


# What the agent says


def _heard() -> Heard:
    if sys.stdin is None or sys.stdin.isatty():
        return Heard()
    from geminids.faces.cli.hook_answer import heard_out

    said = heard_out()
    if not said.strip():
        return Heard()
    from json import loads

    try:
        record = loads(said)
    except (ValueError, RecursionError) as error:
        raise SenselessWordsError from error
    if not isinstance(record, dict):
        raise SenselessWordsError
    return Heard(
        session=_at(record, str, "session_id"),
        file=_at(record, str, "transcript_path"),
        model=_at(record, str, "model", "display_name") or _at(record, str, "model", "id"),
        cost=_at(record, float, "cost", "total_cost_usd"),
        context_window=_at(record, int, "context_window", "context_window_size"),
        ends_at=_at(record, float, "rate_limits", "five_hour", "resets_at"),
        used_percentage=_at(record, float, "rate_limits", "five_hour", "used_percentage"),
    )


def _at(record: object, kind: type, *keys: str) -> Any:
    """What stands below some keys, if it is of a kind; agents leave out what they do not know."""
    for key in keys:
        record = record.get(key) if isinstance(record, dict) else None
    if isinstance(record, bool):
        return None
    if kind is float and isinstance(record, int | float):
        return float(record) if abs(record) < 1e15 else None
    return record if isinstance(record, kind) and record else None


# What the index says


def _opened(choices: Choices) -> Library | None:
    """The library, up to date if that takes no longer than it may; None if there is no index yet."""
    from geminids.core.errors import NoIndexError

    has_ended = not choices.no_sync and _sync_beside(choices)
    is_synced, choices.no_sync = not choices.no_sync, True
    library = choices.open_library(is_quiet=True)
    try:
        library.to_come()
    except NoIndexError:
        if has_ended:
            raise UnwritableIndexError from None
        if is_synced:
            return None
        raise
    return library


def _sync_beside(choices: Choices) -> bool:
    """Sync in a process of its own, and wait for it as long as may be; it goes on if that is too short.

    Tells whether it came to its end.
    """
    if not hasattr(os, "fork"):
        choices.open_library(is_quiet=True, early=True).to_come()
        choices.close()
        return False
    # Nothing is open yet, and no thread runs: a fork of this process is as good as a new one.
    child = os.fork()
    if not child:
        _sync_and_end(choices)
    until = time.monotonic() + LONGEST_SYNC
    while time.monotonic() < until:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status) != UNDER_WAY
        time.sleep(LOOKS_AGAIN)
    return False


def _sync_and_end(choices: Choices) -> NoReturn:
    """Sync, unless another status line has one under way, which the exit code tells."""
    from geminids.faces.cli.hook_answer import let_go_of_everything

    code = 0
    try:
        let_go_of_everything()
        library = choices.open_library(is_quiet=True)
        if _is_alone(choices):
            library.sync()
            choices.close()
        else:
            code = UNDER_WAY
    finally:
        os._exit(code)


def _is_alone(choices: Choices) -> bool:
    """Whether no other status line syncs; the lock is let go of when this process ends."""
    from geminids.core import config
    from geminids.core.locks import locked

    folder = config.data_folder(choices.data, os.environ)
    if folder is None:
        return True
    os.makedirs(folder, mode=0o700, exist_ok=True)  # noqa: PTH103
    return locked(os.open(f"{folder}/{LOCK_FILE}", os.O_RDWR | os.O_CREAT, 0o600))


def _pieces(
    library: Library, found: Present, session: OpenSession | None, heard: Heard, now: datetime
) -> Iterator[Piece]:
    from geminids.faces.drawing.amounts import at_least

    model = heard.model or (session.model if session else None)
    if model:
        yield Piece(model if len(model) <= LONGEST_NAME else f"{model[: LONGEST_NAME - 1]}…", 0)
    if session and session.used and (spent := _spent(session.used.cost, session.used.tokens)):
        is_incomplete = session.row.is_incomplete or session.used.is_incomplete
        yield Piece(f"{at_least(spent, is_bound=is_incomplete)} session", 1)
    elif heard.cost is not None:
        yield Piece(f"${heard.cost:,.2f} session", 1)
    today = _spent(found.today.cost, found.today.total) or "nothing"
    yield Piece(f"{at_least(today, is_bound=found.is_incomplete)} today", 2)
    yield from _window(_block_meant(found.blocks, session), heard, now)
    if session and session.context is not None:
        yield Piece(_context(library, session.model, session.context, heard.context_window), 3)


def _spent(cost: Decimal | None, tokens: int | None) -> str:
    """What was used: dollars, or tokens that have no price, or nothing."""
    from geminids.faces.drawing.amounts import dollars, short

    if cost is not None:
        return dollars(cost)
    return f"{short(tokens)} tokens" if tokens else ""


def _block_meant(blocks: Sequence[Block], session: OpenSession | None) -> Block | None:
    """The window of the session's agent; where that is not known, the one that was used last."""
    own = [block for block in blocks if session is None or block.agent == session.row.agent]
    return max(own, key=lambda block: block.last, default=None)


def _window(block: Block | None, heard: Heard, now: datetime) -> Iterator[Piece]:
    """How much is left of the present window, and how fast it is used."""
    from datetime import timedelta

    from geminids.faces.cli.stats_blocks import rates
    from geminids.sharing.transcript import words

    burn = block.burn(now) if block else None
    left = burn.left if burn else None
    if heard.ends_at is not None and 0 < heard.ends_at - now.timestamp() <= 7 * 86_400:
        left = timedelta(seconds=round(heard.ends_at - now.timestamp()))
    if left is not None:
        used = f", {heard.used_percentage:.0f} % used" if heard.used_percentage is not None else ""
        yield Piece(f"{words.duration(left)} left{used}", 4)
    if burn is not None:
        for number, rate in enumerate(rates(burn)):
            yield Piece(rate, 6 - number)


def _context(library: Library, model: str | None, used: int, window: int | None) -> str:
    from geminids.faces.drawing.amounts import percent, short

    window = window or (library.context_windows([model]).get(model) if model else None)
    share = f" ({percent(used, window)})" if window and used <= window else ""
    return f"{short(used)} context{share}"


# The line


def _told_width() -> int | None:
    """The columns that there are in a pipe, if somebody says so."""
    written = os.environ.get("COLUMNS", "")
    return int(written) if written.isdecimal() and 0 < int(written) < 10_000 else None


def _fitted(pieces: Sequence[Piece], width: int | None) -> str:
    """As many of the pieces as there is room for."""
    from geminids.faces.drawing.number_tables import cells, cut

    kept = list(pieces)
    while width and len(kept) > 1 and cells(BETWEEN.join(piece.words for piece in kept)) > width:
        kept.remove(max(kept, key=lambda piece: piece.rank))
    line = BETWEEN.join(piece.words for piece in kept)
    return cut(line, width) if width else line
