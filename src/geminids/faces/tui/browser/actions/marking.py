"""The name, the tags and the notes of a session."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

from geminids.faces.drawing.marks import marks_in_words
from geminids.faces.tui.browser.actions.failing import failing
from geminids.faces.tui.browser.dialogs import Ask, Choice, Choose, Type
from geminids.storage.durable.values import MarkChange

if TYPE_CHECKING:
    from geminids.faces.tui.browser.actions.subject import Subject
    from geminids.faces.tui.browser.view import Stage
    from geminids.query.sessions.marked import Marked
    from geminids.storage.durable.values import Marks, Note

    Change = Callable[[MarkChange], None]

_FAILED = "Nothing was changed"
_WHERE = "It is stored in the data directory of geminids; the agent's files are not changed."


def mark(stage: Stage, subject: Subject) -> None:
    """Ask what is to be said of it, or no more."""
    stage.ask(
        "marks",
        lambda library: (library.mark(subject.key).marks, library.tags()),
        lambda found: _choose(stage, subject, *found),
        failing(stage, _FAILED),
    )


def _choose(stage: Stage, subject: Subject, said: Marks, tags: Mapping[str, int]) -> None:
    change = partial(_change, stage, subject.key)
    choices = [*_of_name(stage, said, change), *_of_tags(stage, said, tags, change)]
    stage.show(Choose(stage, "Name, tag, note", [*choices, *_of_notes(stage, said, change)]))


def _of_name(stage: Stage, said: Marks, change: Change) -> Iterator[Choice]:
    hint = f"Replaces its title. {_WHERE}"

    def named(typed: str) -> None:
        if typed and typed != said.name:
            change(MarkChange(name=typed))

    typing = Type(stage, "Name", hint, named, said.name or "")
    yield Choice("Name it", partial(stage.show, typing), said.name or "")
    if said.name:
        yield Choice("Remove the name", partial(change, MarkChange(without_name=True)), said.name)


def _of_tags(stage: Stage, said: Marks, tags: Mapping[str, int], change: Change) -> Iterator[Choice]:
    hint = f"One word, or several with blanks between them; Tab completes. {_WHERE}"

    def tagged(typed: str) -> None:
        if typed:
            change(MarkChange(tags=typed.split()))

    others = [tag for tag in tags if tag not in said.tags]
    yield Choice("Add a tag", partial(stage.show, Type(stage, "Tag", hint, tagged, completions=others)))
    for tag in said.tags:
        yield Choice(f"Remove the tag {tag}", partial(change, MarkChange(without_tags=[tag])), f"#{tag}")


def _of_notes(stage: Stage, said: Marks, change: Change) -> Iterator[Choice]:
    def noted(typed: str) -> None:
        if typed:
            change(MarkChange(notes=[typed]))

    yield Choice("Add a note", partial(stage.show, Type(stage, "Note", _WHERE, noted)))
    for note in said.notes:
        yield Choice(f"Delete note {note.id}: {note.text}", partial(_ask_to_delete, stage, note, change))


def _ask_to_delete(stage: Stage, note: Note, change: Change) -> None:
    run = partial(change, MarkChange(without_notes=[note.id]))
    stage.show(Ask(stage, f"Delete note {note.id}", note.text, "delete", run))


def _change(stage: Stage, key: str, change: MarkChange) -> None:
    now = stage.now
    stage.ask(
        f"mark {key} {change}",
        lambda library: library.mark(key, change, now),
        partial(_changed, stage),
        failing(stage, _FAILED),
        is_write=True,
    )


def _changed(stage: Stage, session: Marked) -> None:
    stage.changed()
    stage.say(f"Saved: {marks_in_words(session.marks)}")
