"""Numbers, times and paths in words for people."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta, tzinfo

TYPE_CHECKING = False
if TYPE_CHECKING:
    from geminids.core.model import Usage

STATUS_MARKS = {
    "success": ("✓", "good"),
    "failure": ("✗", "bad"),
    "error": ("!", "bad"),
    "cancelled": ("⊘", "warning"),
    "interrupted": ("‖", "warning"),
}


KIND_MARKS = {"subagent": "↳", "checkpoint": "⎘", "lost": "✝"}
"""What stands before the title of a session that is no main one."""


KIND_NOUNS = {
    "main": ("session", "sessions"),
    "checkpoint": ("checkpoint", "checkpoints"),
    "subagent": ("subagent", "subagents"),
    "lost": ("lost session", "lost sessions"),
    "copy": ("copy", "copies"),
}
"""What sessions of each kind are called where they are counted, in the order in which they are told."""


KNOWN_BY = {
    "link": "your link",
    "records": "records",
    "marker": "marker",
    "registry": "registry",
    "context": "session",
    "directories": "session",
    "current-folder": "visited",
    "trusted": "trusted",
    "other-agent": "other agent",
    "worktree": "work tree",
    "shell-history": "shell",
    "search": "search",
    "arguments": "tool calls",
}
"""How a folder is known, as short as a column wants it."""
LINE_MARKS = {"prompt": ">", "command": "/", "shell": "!"}
"""What stands before a line that the human typed."""


def capital(sentence: str) -> str:
    """A sentence as it begins a paragraph."""
    return sentence[:1].upper() + sentence[1:]


def count(number: int, noun: str, plural: str | None = None) -> str:
    """A number and what it counts: 1 session, 2 sessions."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def sessions(kinds: Mapping[str, int]) -> str:
    """How many sessions there are of each kind: 495 sessions, 19 checkpoints, 85 subagents.

    Whatever counts sessions says so in these words, so that its numbers can be told from others.
    """
    told = [count(number, *nouns) for kind, nouns in KIND_NOUNS.items() if (number := kinds.get(kind, 0))]
    return ", ".join(told) or "0 sessions"


def them(number: int) -> str:
    """What so many things are called when they were named before."""
    return "it" if number == 1 else "them"


def hidden(number: int, partly: int, agents: Iterable[str]) -> str:
    """How many sessions agents do not show, and of how many they show a part."""
    told = f"{count(number, 'session')} {'is' if number == 1 else 'are'}"
    where = f"hidden from {listed(agents)}"
    if partly == number:
        return f"{told} partly {where}"
    return f"{told} {where}" + (f", {partly:,} of them partly" if partly else "")


def listed(names: Iterable[str]) -> str:
    """Names one after the other: shop, blog and thesis."""
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def no_page(wanted: int, last: int) -> str:
    """What is said of a page behind the last one."""
    return f"There is no page {wanted:,}; there {'is' if last == 1 else 'are'} {count(last, 'page')}."


def tags(given: Iterable[str]) -> str:
    """Tags as people write them: #bug #keep."""
    return " ".join(f"#{tag}" for tag in given)


def size(number: int) -> str:
    """Bytes in the unit that fits; the page of the web app says the same."""
    if number < 1000:
        return count(number, "byte")
    amount, units = float(number), iter(("kB", "MB", "GB", "TB"))
    unit = ""
    # From here on one place behind the point would say 1000.0.
    while amount >= 999.95 and unit != "TB":
        amount, unit = amount / 1000, next(units)
    return f"{amount:.1f} {unit}"


def tokens(usage: Usage) -> str:
    """What a session used, as far as it is known."""
    named = (
        ("in", usage.input),
        ("cached", usage.cached),
        ("cache writes", usage.cache_write),
        ("out", usage.output),
        ("thoughts", usage.thoughts),
    )
    known = ", ".join(f"{number:,} {name}" for name, number in named if number)
    return f"tokens: {known}" if known else "tokens unknown"


def when(at: datetime | None, now: datetime) -> str:
    """A moment in local time, as short as it can be told from today."""
    if at is None:
        return "no time"
    local, today = at.astimezone(), now.astimezone().date()
    days = (today - local.date()).days
    if days == 0:
        return f"today {local:%H:%M}"
    if 0 < days < 7:
        return f"{local:%a %H:%M}"
    return f"{local:%d %b %H:%M}" if local.year == today.year else f"{local:%Y-%m-%d}"


def moment(at: datetime, zone: tzinfo | None = None) -> str:
    """A moment in full, in a time zone or else in local time."""
    return f"{at.astimezone(zone):%Y-%m-%d %H:%M}"


def clock(at: datetime | None, zone: tzinfo | None = None) -> str:
    """The time of day, or nothing."""
    return f"{at.astimezone(zone):%H:%M}" if at else ""


def time_span(begin: datetime | None, end: datetime | None, zone: tzinfo | None = None) -> str:
    """When something was and how long it took, as far as that is known."""
    ends = span_ends(begin, end, zone)
    if not (begin and end) or len(ends) < 2:
        return "".join(ends) or "no time"
    return f"{' to '.join(ends)} ({duration(end - begin)})"


def span_ends(begin: datetime | None, end: datetime | None, zone: tzinfo | None = None) -> tuple[str, ...]:
    """The first moment and the last as far as they are known and differ; the zone is named if it is UTC."""
    known = [at for at in (begin, end) if at]
    if not known:
        return ()
    first, last = known[0].astimezone(zone), known[-1].astimezone(zone)
    name = " UTC" if zone is UTC else ""
    if first == last:
        return (f"{moment(first, zone)}{name}",)
    until = clock(last, zone) if first.date() == last.date() else moment(last, zone)
    return moment(first, zone), f"{until}{name}"


def duration(length: timedelta) -> str:
    """A length of time in its two largest units; so does the page of the web app from ten seconds on."""
    seconds = int(length.total_seconds())
    steps = ((86400, "d"), (3600, "h"), (60, "min"), (1, "s"))
    pieces: list[str] = []
    for step, unit in steps:
        if seconds >= step:
            pieces.append(f"{seconds // step} {unit}")
            seconds %= step
        if len(pieces) == 2:
            break
    return " ".join(pieces) or "0 s"


def about(length: timedelta) -> str:
    """The same in its largest unit alone."""
    return " ".join(duration(length).split()[:2])


def path(written: str) -> str:
    """A path with ~ for the user's home."""
    home = os.path.expanduser("~")  # noqa: PTH111 - pathlib raises where a user has no home
    return "~" + written[len(home) :] if written == home or written.startswith(home + "/") else written
