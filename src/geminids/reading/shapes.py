"""Values as agents write them, if they are of the kind that they should be."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping

from geminids.core.model import Todo


def text_or_none(value: object) -> str | None:
    """The value if it is a text."""
    return value if type(value) is str else None


def texts_in(
    value: object, leave_out: Collection[str] = (), skip: Callable[[Mapping[str, object]], bool] | None = None
) -> Iterator[str]:
    """The texts in a JSON value, in order, however deep; without some members, and without some objects."""
    waiting = [value]
    while waiting:
        match waiting.pop():
            case str(text):
                yield text
            case dict(members) if skip is None or not skip(members):
                waiting += [inner for name, inner in reversed(members.items()) if name not in leave_out]
            case list(items) | tuple(items):
                waiting += reversed(items)


def todo_of(task: object, *names: str) -> Todo:
    """A task of a list that an agent writes; its words are the member of one of these names."""
    about = task if isinstance(task, dict) else {}
    text = next((about[name] for name in names if isinstance(about.get(name), str)), None)
    return Todo(str(task), "") if text is None else Todo(text, text_or_none(about.get("status")) or "")


def lines_in(text: str) -> list[str]:
    """The lines of a text: only a line feed ends one."""
    return text.removesuffix("\n").split("\n") if text else []


def is_absolute(path: str) -> bool:
    """Whether a path leads from a root, of whichever system."""
    return path.startswith(("/", "\\\\")) or path[1:3] in (":\\", ":/")
