"""A pager around what is long, where somebody sits at a terminal."""

from __future__ import annotations

import io
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING

from geminids.core.signals import ToldToEndError, told_to_end
from geminids.faces.cli.talk import say

if TYPE_CHECKING:
    from geminids.faces.drawing.page import Page
    from geminids.faces.drawing.screen import Screen

LESS_OPTIONS = "-FX"
"""Quit if it fits on one screen, leave the text on the screen. Colours come through (-R) in any case."""


def draw_paged(
    screen: Screen, draw: Callable[[Page], None], *, no_pager: bool, notes: Sequence[str] = ()
) -> bool:
    """Draw on a page that ends in the pager where somebody sits at a terminal, unless none is wished.

    Notes stand first in the pager, since what is said beside it is seen only when it is left. Returns whether
    there was one.
    """
    from geminids.faces.drawing.page import open_page

    with paged(wanted=screen.is_terminal and not no_pager) as stream:
        page = open_page(screen, stream)
        is_paged = stream is not sys.stdout
        if is_paged and notes:
            for note in notes:
                page.words(note)
            page.line()
        draw(page)
    return is_paged


@contextmanager
def paged(*, wanted: bool, environment: Mapping[str, str] = os.environ) -> Iterator[IO[str]]:
    """A stream that ends in the pager, or stdout where none is wanted or found."""
    command = _pager(environment) if wanted else []
    if not command or shutil.which(command[0]) is None:
        yield sys.stdout
        return
    less = f"-R {environment.get('LESS', LESS_OPTIONS)}"
    pager = subprocess.Popen(command, stdin=subprocess.PIPE, env={**environment, "LESS": less})
    assert pager.stdin is not None
    stream = io.TextIOWrapper(pager.stdin, encoding="utf-8", errors="replace", write_through=False)
    try:
        yield stream
    except BrokenPipeError:
        # The person has read enough.
        return
    finally:
        _finish(pager, stream)


def _pager(environment: Mapping[str, str]) -> list[str]:
    if environment.get("TERM") == "dumb":
        return []
    try:
        return shlex.split(environment.get("PAGER", "less"))
    except ValueError as error:
        say(f"PAGER is not a command ({error}): no pager is used.")
        return []


def _finish(pager: subprocess.Popen[bytes], stream: IO[str]) -> None:
    """Let the person read to the end, unless we are told to end."""
    while pager.poll() is None:
        try:
            if told_to_end():
                pager.terminate()
            _close(stream)
            pager.wait()
        except KeyboardInterrupt:
            # Ctrl-C belongs to the pager, which uses it to stop a search.
            continue
    _close(stream)
    if told_to_end():
        raise ToldToEndError


def _close(stream: IO[str]) -> None:
    # Whoever leaves the pager early has seen what he wanted to see.
    with suppress(BrokenPipeError):
        stream.close()
