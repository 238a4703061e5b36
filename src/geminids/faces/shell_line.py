"""Commands as lines to type into a shell: whatever the words hold, the shell takes them for words."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Mapping, Sequence


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
    settings = [f"{name}={shell_word(value)}" for name, value in variables.items()]
    # A folder that begins like an option would be taken for one.
    place = f"./{folder}" if folder.startswith("-") else folder
    return f"cd {shell_word(place)} && {' '.join([*settings, shell_words(command)])}"
