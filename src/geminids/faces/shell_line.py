"""Commands as lines to type into a shell: whatever the words hold, the shell takes them for words."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from geminids.query.sessions.resume import Offer

OURS = "geminids"


def shell_word(word: str) -> str:
    """A word with as many quotes as it needs; what cannot be seen, or steers a terminal, in numbers."""
    if word.isprintable():
        return shlex.quote(word)
    return f"$'{''.join(map(_escaped, word))}'"


def _escaped(character: str) -> str:
    if character in "'\\":
        return f"\\{character}"
    if character.isprintable():
        return character
    return "".join(f"\\x{byte:02x}" for byte in os.fsencode(character))


def shell_words(words: Iterable[str]) -> str:
    """Words with blanks between them."""
    return " ".join(map(shell_word, words))


def shell_line(folder: str, variables: Mapping[str, str], command: Sequence[str]) -> str:
    """A line that goes to a folder, sets variables for a command and runs it."""
    # A folder that begins like an option would be taken for one.
    place = f"./{folder}" if folder.startswith("-") else folder
    return f"cd {shell_word(place)} && {command_line(variables, command)}"


def command_line(variables: Mapping[str, str], command: Sequence[str]) -> str:
    """The same without the folder."""
    settings = [f"{name}={shell_word(value)}" for name, value in variables.items()]
    return " ".join([*settings, shell_words(command)])


def offered_lines(offer: Offer, spelled: Callable[..., str]) -> list[str]:
    """What to type for an offer, one line after the other; `spelled` makes a line of a command of our own."""
    return [_typed(command, spelled) for command in offer.commands]


def _typed(command: Sequence[str], spelled: Callable[..., str]) -> str:
    from geminids.query.sessions.resume import ANY_FOLDER

    if command[-1] == ANY_FOLDER:
        # Without quotes and at the end: a shell refuses such a line until it is replaced.
        return f"{_typed(command[:-1], spelled)} {ANY_FOLDER}"
    return spelled(*command[1:]) if command[0] == OURS else shell_words(command)
