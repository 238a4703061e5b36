"""A session as a file: Enter writes it without secrets into the current folder; two choices lead to another
place and to a file with secrets. No file is overwritten.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from geminids.core import config
from geminids.core.errors import FileExistsAlreadyError
from geminids.core.installation import who_adds
from geminids.faces.tui.browser.actions.failing import failing
from geminids.faces.tui.browser.dialogs import Choice, Choose, Type, tell_words
from geminids.sharing.export import available as format_names
from geminids.sharing.transcript import words

if TYPE_CHECKING:
    from geminids.faces.tui.browser.actions.subject import Subject
    from geminids.faces.tui.browser.view import Stage
    from geminids.library import Library

_FAILED = "Nothing was written"
_USUAL = ("html", "markdown", "json")
"""The formats that stand first."""


class _Wish(NamedTuple):
    """A file to write."""

    key: str
    format: str
    hides: bool = True
    """Whether secrets are hidden."""


class _Written(NamedTuple):
    """A file that was written."""

    sentence: str
    is_reduced: bool
    """Whether secrets were looked for with a small set of rules."""


def export(stage: Stage, subject: Subject) -> None:
    """Ask for the format, then write."""

    def elsewhere(name: str, *, hides: bool) -> None:
        _ask_path(stage, _Wish(subject.key, name, hides))

    def ask_format(title: str, *, hides: bool) -> None:
        stage.show(Choose(stage, title, _formats(partial(elsewhere, hides=hides))))

    choices = [
        *_formats(lambda name: _write(stage, _Wish(subject.key, name))),
        Choice("To another place …", partial(ask_format, "Export to another place", hides=True)),
        Choice("With secrets …", partial(ask_format, "Export with secrets", hides=False)),
    ]
    stage.show(Choose(stage, f"Export without secrets to {words.path(str(_here()))}", choices))


def _formats(run: Callable[[str], None]) -> list[Choice]:
    names = [*_USUAL, *(name for name in format_names() if name not in _USUAL)]
    return [Choice(name, partial(run, name)) for name in names]


def _here() -> Path:
    return Path(config.current_folder(os.environ) or Path.home())


def _ask_path(stage: Stage, wish: _Wish, typed: str = "", wrong: str = "") -> None:
    def ask(proposed: str) -> None:
        stage.say("")
        secrets = "Secrets are hidden." if wish.hides else "Secrets are not hidden."
        hint = f"{wrong}{secrets} Relative to {words.path(str(_here()))}. Enter writes the file."
        stage.show(Type(stage, "Export to", hint, partial(_take_path, stage, wish), proposed))

    if typed:
        ask(typed)
    else:
        stage.say("Reading …", "quiet")
        question = partial(_new_name, wish=wish, folder=_here())
        stage.ask("export", question, ask, failing(stage, _FAILED), is_slow=True)


def _take_path(stage: Stage, wish: _Wish, typed: str) -> None:
    if typed:
        _write(stage, wish, typed)


def _write(stage: Stage, wish: _Wish, typed: str = "") -> None:
    """Write the file that was typed, by default one in the current folder under the usual name."""
    path = _here() / config.expanded(typed) if typed else None

    def failed(error: Exception) -> None:
        if isinstance(error, FileExistsAlreadyError) and typed:
            wrong = f"{str(path)!r} exists and is not overwritten; give another name. "
            _ask_path(stage, wish, typed, wrong)
        else:
            failing(stage, _FAILED)(error)

    def written(done: _Written) -> None:
        stage.say(done.sentence)
        if done.is_reduced:
            rules = (
                f"Only a small set of rules is used to find secrets; {who_adds('redact')} adds hundreds more."
            )
            stage.show(tell_words(stage, "Export", f"{done.sentence}. {rules}"))

    stage.say("Writing …", "quiet")
    stage.ask(
        f"export {wish} to {path}",
        lambda library: _written(library, wish, path),
        written,
        failed,
        is_slow=True,
        is_write=True,
    )


def _new_name(library: Library, wish: _Wish, folder: Path) -> str:
    """Return a name that no file in the folder has."""
    # A title that becomes a name may have a secret, too.
    redactor = library.redactor() if wish.hides else None
    exporting = library.exporting(wish.format, redactor=redactor)
    return exporting.name_in(folder, library.items([wish.key])[0])


def _written(library: Library, wish: _Wish, path: Path | None) -> _Written:
    """Write the file, and say which."""
    redactor = library.redactor() if wish.hides else None
    exporting = library.exporting(wish.format, redactor=redactor)
    target = path or _here()
    # A path that is too long, or in a closed folder, is reported by writing there.
    if os.path.isdir(target):  # noqa: PTH112
        target /= _new_name(library, wish, target)
    exporting.to_file(library.items([wish.key]), target)
    secrets = "secrets are not hidden"
    if redactor:
        number = exporting.hidden
        secrets = f"{words.count(number, 'secret')} hidden" if number else "no secrets found"
    name = config.tidy(str(target)) if path else target.name
    return _Written(f"Written, {secrets}: {name}", bool(redactor and redactor.is_reduced))
