"""One command line: what runs it, and what becomes of errors: one line and an exit code."""

from __future__ import annotations

import errno
import os
import sys

from geminids.core.errors import (
    INTERRUPTED,
    MOST_CANDIDATES,
    PARTLY_DONE,
    DoubtfulNumberError,
    GeminidsError,
    NoSessionsError,
    SessionNotFoundError,
)
from geminids.core.names import one_line
from geminids.core.signals import told_to_end
from geminids.faces.cli.choices import Choices
from geminids.faces.cli.plain_lines import as_meant, plain_command
from geminids.faces.cli.talk import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from typing import TextIO


def run(arguments: Sequence[str], now: datetime | None = None) -> int:
    """Run one command line and return its exit code. No exception leaves except a bug of ours."""
    _prepare_streams()
    choices = Choices(now)
    try:
        code = _run(arguments, choices)
        sys.stdout.flush()
    except GeminidsError as error:
        code = _failed(error, choices, arguments)
    except KeyboardInterrupt as interrupt:
        code = _interrupted(interrupt)
    except OSError as error:
        code = _system_failed(error)
    return code


def _run(arguments: Sequence[str], choices: Choices) -> int:
    try:
        arguments = as_meant(arguments)
        if plain := plain_command(arguments, choices):
            answer, typed = plain
            return answer(choices, **typed)
        from geminids.faces.cli.commands import run_with_click

        return run_with_click(arguments, choices)
    finally:
        choices.close()


def _prepare_streams() -> None:
    """Make sure that whatever a session holds can be written: odd characters become `?`."""
    if sys.stdout is None:
        sys.stdout = _nowhere()
    if sys.stderr is None:
        sys.stderr = _nowhere()
    for stream in (sys.stdout, sys.stderr):
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="replace")


def _nowhere() -> TextIO:
    """A stream in the place of one that is closed; like Python's own, it is open until the end."""
    return open(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8", closefd=False)


def _interrupted(interrupt: KeyboardInterrupt) -> int:
    """Say what was done until then, where somebody noted it."""
    _end_line()
    for note in getattr(interrupt, "__notes__", ()):
        say(note)
    ended = told_to_end()
    if ended:
        # Nobody may be reading what is still in the buffer; Python would wait for that at exit.
        _let_go_of_output()
    return ended or INTERRUPTED


def _let_go_of_output() -> None:
    with open(os.devnull, "wb") as nowhere:  # noqa: PTH123
        os.dup2(nowhere.fileno(), sys.stdout.fileno())


def _end_line() -> None:
    """Leave the line of a progress, and of `^C`, to what comes next."""
    if sys.stderr.isatty():
        sys.stderr.write("\n")
        sys.stderr.flush()


def _failed(error: GeminidsError, choices: Choices, arguments: Sequence[str]) -> int:
    """Say what is wrong, which sessions may have been meant, where else they may lie, and what to type."""
    from geminids.faces.cli.sessions import candidate_line, tell_nothing_found, tell_unreadable
    from geminids.faces.drawing.screen import terminal

    tell_unreadable(error.unreadable)
    if isinstance(error, NoSessionsError):
        tell_nothing_found(error.places)
        return error.exit_code
    say(
        "\n".join(
            [f"{error}{_instead(error, arguments)}", *map(candidate_line, error.candidates[:MOST_CANDIDATES])]
        )
    )
    if isinstance(error, DoubtfulNumberError):
        say(f"To use it anyway: {_with_id(arguments, error)}.")
        if terminal():
            say(f"To see new numbers: `{choices.spelled('list')}`.")
    return error.exit_code


def _with_id(arguments: Sequence[str], error: DoubtfulNumberError) -> str:
    """The same command line, with the id of a session in the place of its number."""
    return _with(arguments, error.number, error.session_id) or f"give {one_line(error.session_id)} instead"


def _instead(error: GeminidsError, arguments: Sequence[str]) -> str:
    """The same command line with the name of a session that may be meant, or one that looks for the words."""
    if not isinstance(error, SessionNotFoundError):
        return ""
    if len(error.names) == 1:
        return f" {_with(arguments, error.wanted, error.names[0])}".rstrip()
    is_word = any(map(str.isalpha, error.wanted)) and ":" not in error.wanted
    if error.names or error.candidates or not is_word:
        return ""
    from shlex import join

    return f" To find messages: `{join(['geminids', 'search', error.wanted])}`."


def _with(arguments: Sequence[str], typed: str, meant: str) -> str:
    """A command line with another word in the place of one; nothing if that word may be something else."""
    from geminids.faces.shell_line import shell_words

    words = list(arguments)
    if words.count(typed) != 1:
        # One of them may be a note, or the value of an option.
        return ""
    words[words.index(typed)] = meant
    return f"`{shell_words(['geminids', *words])}`"


def _system_failed(error: OSError) -> int:
    """A reader that went away is no error; a full disk is, and so is a file that vanished under our hands."""
    if error.filename is not None:
        say(f"Cannot use {error.filename!r}: {error.strerror}.")
        return PARTLY_DONE
    # What is still in the buffer can no longer go anywhere; Python would complain about it at exit.
    _let_go_of_output()
    if error.errno == errno.EPIPE:
        return 0
    say(f"Cannot write the output: {error.strerror}. The output is incomplete.")
    return PARTLY_DONE
