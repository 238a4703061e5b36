"""A session as a file: in which format, with or without secrets, where to. It never writes over a file."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from geminids.core import config
from geminids.core.errors import FileExistsAlreadyError
from geminids.core.installation import who_adds
from geminids.faces.tui.browser.actions.failing import failing
from geminids.faces.tui.browser.dialogs import Ask, Choice, Choose, Type
from geminids.sharing.export import available as format_names
from geminids.sharing.transcript import words

if TYPE_CHECKING:
    from geminids.faces.tui.browser.actions.subject import Subject
    from geminids.faces.tui.browser.view import Stage
    from geminids.library import Library

_USUAL = ("html", "markdown", "json")
"""The formats that stand first."""
_FAILED = "Nothing was written"


class _Wish(NamedTuple):
    """What is to be written."""

    key: str
    format: str
    hides: bool
    """Whether secrets are hidden."""


class _Proposed(NamedTuple):
    """What would be written."""

    name: str
    """Of the file."""
    told: str
    """What becomes of secrets."""


def export(stage: Stage, subject: Subject) -> None:
    """Ask for the format."""
    names = [*_USUAL, *(name for name in format_names() if name not in _USUAL)]
    choices = [Choice(name, partial(_ask_secrets, stage, subject.key, name)) for name in names]
    stage.show(Choose(stage, "Export as", choices))


def _ask_secrets(stage: Stage, key: str, name: str) -> None:
    def choice(title: str, *, hides: bool) -> Choice:
        return Choice(title, partial(_propose, stage, _Wish(key, name, hides)))

    choices = [choice("Hide secrets", hides=True), choice("With secrets", hides=False)]
    stage.show(Choose(stage, f"Export as {name}", choices))


def _propose(stage: Stage, wish: _Wish) -> None:
    stage.say("Looking for secrets …" if wish.hides else "Reading it …", "quiet")
    stage.ask(
        "export",
        lambda library: _proposed(library, wish),
        partial(_ask_path, stage, wish),
        failing(stage, _FAILED),
        is_slow=True,
    )


def _proposed(library: Library, wish: _Wish) -> _Proposed:
    redactor = library.redactor() if wish.hides else None
    exporting = library.exporting(wish.format, redactor=redactor)
    name = exporting.name_in(_here(), library.items([wish.key])[0])
    if redactor is None:
        return _Proposed(name, "Secrets are not hidden.")
    told = f"{_hidden(exporting.hidden)}."
    if redactor.is_reduced:
        told += f" Only a small set of rules is used to find them; {who_adds('redact')} adds hundreds more."
    return _Proposed(name, told)


def _here() -> Path:
    return Path(config.current_folder(os.environ) or Path.home())


def _ask_path(
    stage: Stage, wish: _Wish, proposed: _Proposed, typed: str | None = None, wrong: str = ""
) -> None:
    stage.say("")
    hint = f"{wrong}Relative to {words.path(str(_here()))}. Enter shows what will be written."
    take = partial(_take_path, stage, wish, proposed)
    stage.show(Type(stage, "Export to", hint, take, typed or proposed.name))


def _take_path(stage: Stage, wish: _Wish, proposed: _Proposed, typed: str) -> None:
    """Ask whether to write, unless there is such a file."""
    if not typed:
        return
    path = _here() / config.expanded(typed)
    # A path that is too long, or in a folder that is closed, is told by writing there.
    if os.path.isdir(path):  # noqa: PTH112
        path /= proposed.name
    if os.path.lexists(path):
        _ask_another(stage, wish, proposed, typed, path)
        return
    text = f"{config.tidy(str(path))}\n\nFormat {wish.format}. {proposed.told}"
    stage.show(Ask(stage, "Write this file?", text, "write", partial(_write, stage, wish, proposed, path)))


def _ask_another(stage: Stage, wish: _Wish, proposed: _Proposed, typed: str, path: Path) -> None:
    wrong = f"{str(path)!r} exists and is not overwritten; give another name. "
    _ask_path(stage, wish, proposed, typed, wrong)


def _write(stage: Stage, wish: _Wish, proposed: _Proposed, path: Path) -> None:
    def failed(error: Exception) -> None:
        if isinstance(error, FileExistsAlreadyError):
            _ask_another(stage, wish, proposed, str(path), path)
        else:
            failing(stage, _FAILED)(error)

    stage.say(f"Writing {path} …", "quiet")
    stage.ask(
        f"export to {path}",
        lambda library: _written(library, wish, path),
        stage.say,
        failed,
        is_slow=True,
        is_write=True,
    )


def _written(library: Library, wish: _Wish, path: Path) -> str:
    """Write the file; what was written, in a sentence."""
    exporting = library.exporting(wish.format, redactor=library.redactor() if wish.hides else None)
    exporting.to_file(library.items([wish.key]), path)
    hidden = _hidden(exporting.hidden) if wish.hides else "Secrets are not hidden"
    return f"Written: {config.tidy(str(path))} ({hidden[:1].lower()}{hidden[1:]})"


def _hidden(number: int) -> str:
    return f"{words.count(number, 'secret')} hidden" if number else "No secrets found"
