"""The id, the path, the command and the words of a session, put where other programs can paste them from.

They are sent to the terminal, which may be far away (OSC 52), and given to the clipboard of this machine.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from geminids.core.errors import NOTHING_FOUND, GeminidsError
from geminids.faces.shell_line import shell_line, shell_word
from geminids.faces.tui.browser.actions.failing import failing
from geminids.faces.tui.browser.dialogs import Choice, Choose

if TYPE_CHECKING:
    from datetime import datetime

    from geminids.core.model import Session
    from geminids.faces.tui.browser.actions.subject import Subject
    from geminids.faces.tui.browser.view import Stage
    from geminids.library import Library

Make = Callable[["Library"], str]


class NothingToCopyError(GeminidsError):
    """What is to be copied is not there."""

    exit_code = NOTHING_FOUND


def copy(stage: Stage, subject: Subject) -> None:
    """Ask what is to be copied."""
    number, now = subject.message, stage.now
    message = f"message #{number}" if number else "the first message"

    def choice(name: str, make: Make) -> Choice:
        return Choice(f"{name[:1].upper()}{name[1:]}", partial(_copy, stage, name, make))

    choices = [
        choice("the id", lambda library: _word(_little(library, subject.key).id)),
        choice("the path of its file", lambda library: _path(library, subject.key)),
        choice("the command that resumes it", lambda library: _command(library, subject.key, now)),
        choice(f"{message} as Markdown", lambda library: _message(library, subject.key, number)),
        choice("the whole session as Markdown", lambda library: _whole(library, subject.key)),
    ]
    stage.show(Choose(stage, "Copy", choices))


def copy_text(stage: Stage, name: str, text: str) -> None:
    """Copy words that are known."""
    _copy(stage, name, lambda _: text)


def _copy(stage: Stage, name: str, make: Make) -> None:
    from geminids.faces.tui.browser.actions.clipboard import put_on_clipboard

    def made(library: Library) -> tuple[str, str | None]:
        text = make(library)
        return text, put_on_clipboard(text)

    def copied(done: tuple[str, str | None]) -> None:
        text, program = done
        stage.copy(text)
        stage.say(f"Copied {name} ({f'{program}, ' if program else ''}OSC 52)")

    stage.say(f"Copying {name} …", "quiet")
    stage.ask("copy", made, copied, failing(stage, "Nothing was copied"))


def _word(text: str) -> str:
    """A name as it is; one that would steer a terminal into which it is pasted, as a shell takes it."""
    return text if text.isprintable() else shell_word(text)


def _little(library: Library, key: str) -> Session:
    """A session with at least its first message."""
    beginning = library.beginning(key, 1)
    return beginning.session if beginning else library.session(key)


def _path(library: Library, key: str) -> str:
    file = _little(library, key).file
    if file is None:
        reason = "No file of this session is left."
        raise NothingToCopyError(reason)
    return _word(file)


def _command(library: Library, key: str, now: datetime) -> str:
    from geminids.query.sessions.resume import Resumable

    how = library.resuming(key, now).how
    if not isinstance(how, Resumable):
        raise NothingToCopyError(how.reason)
    return shell_line(how.folder, how.environment, how.command)


def _message(library: Library, key: str, number: int | None) -> str:
    from geminids.sharing.transcript.entries import LEVELS, Turn, transcript

    beginning = library.beginning(key, number or 1)
    is_enough = beginning and len(beginning.session.messages) >= (number or 1)
    session = beginning.session if beginning and is_enough else library.session(key)
    detail = LEVELS["tools" if number is None else "everything"]
    turns = (entry for entry in transcript(session, detail) if isinstance(entry, Turn))
    wanted = session.messages[number - 1] if number and number <= len(session.messages) else None
    found = next((turn for turn in turns if wanted is None or turn.message is wanted), None)
    if found is None:
        reason = "This message has no words."
        raise NothingToCopyError(reason)
    return library.as_markdown(session, [found], LEVELS["tools"])


def _whole(library: Library, key: str) -> str:
    return library.export(key).decode("utf-8", "replace")
