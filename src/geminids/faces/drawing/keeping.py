"""What is kept and what will be deleted, in words and drawn."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple

from geminids.faces.drawing.page import Column, DrawnPage, Page, Span
from geminids.query.health.forecast import SOON
from geminids.sharing.transcript import words

if TYPE_CHECKING:
    from geminids.query.health.forecast import Endangered, Expiring, Retention
    from geminids.query.health.kept_copies import KeepStatus

SOONEST = 10
"""So many of those that will be deleted are shown unless all are wished."""
NEXT_START = "next start"
LABEL = 10
VARIABLE = "GEMINIDS_KEEP"
RUBBISH = frozenset({"unreadable", "nothing-to-resume"})
"""Why an agent throws away what it cannot show."""
MAY_BE_REPAIRED = "Files that an agent cannot show may be repairable:"
LEFT_OUT = {"*": "everything else"}
CAUSES = {
    "age": "not used for as long as the settings allow",
    "count": "there are more sessions than the settings allow",
    "nothing-to-resume": "the agent finds nothing in it to resume",
    "unreadable": "the agent finds no session in it",
    "subagent": "the agent treats it as a subagent, which cannot be resumed",
    "with-parent": "it is deleted with the session that started it",
    "twin": "another file has the same id, and both are deleted together",
    "same-suffix": "the name of another file has the same end, and both are deleted together",
}
"""Why an agent deletes, in words for people."""
FORECAST_COLUMNS = (
    Column("deleted"),
    Column("id", least=8, most=20),
    Column("agent", most=8, leaves=2),
    Column("project", least=7, most=14, leaves=3),
    Column("title", least=12),
    Column("why", most=17, leaves=1),
    Column("copy"),
)
Spelled = Callable[..., str]


class Fact(NamedTuple):
    """Something about the copies."""

    label: str
    value: str
    command: Sequence[str] = ()
    """What shows more of it."""


class Kept(NamedTuple):
    """What is to be told of the copies."""

    found: KeepStatus
    gone: str
    """How many sessions are read from copies alone, in words."""
    spelled: Spelled
    """A command to type that looks where this one did."""
    agent_title: Callable[[str], str]
    is_sample: bool


def verdict(kept: Kept, now: datetime) -> str:
    """What it comes to: how many sessions are going to be deleted, and whether that matters."""
    forecast = kept.found.forecast
    every, soon = forecast.sessions(), forecast.sessions(now + SOON)
    if not every:
        return "No agent will delete any of the known sessions."
    if not soon:
        return f"No session expires within 7 days; {len(every):,} {_expire(every)} later; {_are_kept(every)}."
    first = soon[0].first
    which = "" if len(soon) == 1 else "the first "
    is_next = due(first.at, now) == NEXT_START
    when = f", {which}at the next start of {kept.agent_title(first.agent)}" if is_next else ""
    return f"{expiring_soon(soon)}{when}; {_are_kept(soon)}."


def expiring_soon(soon: Sequence[Expiring]) -> str:
    """How many sessions expire soon, as the beginning of a sentence."""
    return f"{words.count(len(soon), 'session')} {_expire(soon)} within {SOON.days} days"


def _expire(expiring: Sequence[Expiring]) -> str:
    return "expires" if len(expiring) == 1 else "expire"


def _are_kept(expiring: Sequence[Expiring]) -> str:
    unkept = sum(not one.kept for one in expiring)
    if not unkept:
        return "copies of all are kept" if len(expiring) > 1 else "a copy is kept"
    if unkept == len(expiring):
        return "no copy is kept"
    return f"{unkept:,} of them {'has' if unkept == 1 else 'have'} no copy"


def draw_kept(page: Page, kept: Kept) -> None:
    """Draw where the copies are, how much they are, of what, and what stands in their way."""
    for fact in spelled_facts(kept):
        # Paths and commands are copied from here: the terminal may break them, we do not.
        page.command("", fact)
    for trouble in kept.found.troubles:
        page.words(trouble, "warning")


def spelled_facts(kept: Kept) -> Iterator[str]:
    """The same as lines, with the commands that show more."""
    for label, value, command in facts(kept):
        more = f":  {kept.spelled(*command)}" if command else ""
        yield f"{label:<{LABEL}}{value}{more}"


def facts(kept: Kept) -> Iterator[Fact]:
    """Where the copies are, how much they are and of what."""
    found = kept.found
    if found.folder is None:
        why = "this is the sample" if kept.is_sample else "this user has no home directory"
        yield Fact("copies", f"none: {why}")
    else:
        yield Fact("copies", words.path(found.folder))
        yield Fact("keeping", _is_on(found))
    if found.files:
        yield Fact("files", _amount(found))
        yield Fact("last kept", words.moment(found.last_kept_at) if found.last_kept_at else "no time")
    elif not found.sessions:
        yield Fact("files", "none: there is no session here")
    yield from map(Fact, ["from", *[""] * len(found.homes)], _homes(found))
    if kept.gone:
        yield Fact("gone", f"{kept.gone} read from copies", ("list", "--deleted"))
    if found.forgotten:
        yield Fact("forgotten", words.count(found.forgotten, "session"), ("forget", "--list"))


def _homes(found: KeepStatus) -> list[str]:
    """A line for each home, with its columns below each other."""
    folders = [words.path(home.folder) for home in found.homes]
    wide, wide_agent = max(map(len, folders), default=0), max((len(h.agent) for h in found.homes), default=0)
    lines: list[str] = []
    for folder, home in zip(folders, found.homes, strict=True):
        state = [word for word, is_so in (("gone", not home.is_there), ("imported", home.imported)) if is_so]
        facts = ", ".join([words.count(home.files, "file"), words.size(home.bytes), *state])
        lines.append(f"{folder:<{wide}}  {home.agent:<{wide_agent}}  {facts}")
    return lines


def _is_on(found: KeepStatus) -> str:
    settings = words.path(found.settings) if found.settings else "settings.toml"
    if not found.is_on:
        # The variable goes before the file.
        return f"off ({VARIABLE if os.environ.get(VARIABLE) else settings})"
    left_out = ", ".join(LEFT_OUT.get(name) or words.path(name) for name in found.left_out)
    return f"on, except {left_out} ({settings})" if left_out else "on"


def _amount(found: KeepStatus) -> str:
    earlier = found.versions - found.files
    files = f"{found.files:,}, {words.size(found.bytes)}"
    if earlier > 0:
        files += f", and {words.count(earlier, 'earlier version')}"
    return f"{files}; {words.size(found.bytes_on_disk)} on disk"


def draw_forecast(
    page: DrawnPage, kept: Kept, names: Mapping[str, str], now: datetime, *, most: int | None
) -> None:
    """Draw what will be deleted when, the soonest first, and what to do about it."""
    expiring = kept.found.forecast.sessions()
    shown = expiring[:most]
    if shown:
        page.line()
        page.table(FORECAST_COLUMNS, [_row(one, names, now) for one in shown])
    if more := len(expiring) - len(shown):
        page.line((f"… and {words.count(more, 'more session')} (--all)", "quiet"))
    for cause in dict.fromkeys(one.first.cause for one in shown):
        if cause in CAUSES:
            page.words(f"{cause_in_words(cause)}: {CAUSES[cause]}", "quiet")
    if is_rubbish_among(kept.found.forecast.endangered):
        page.line()
        page.command(f"{MAY_BE_REPAIRED}  ", kept.spelled("rescue"))
    for remedy in remedies(kept).values():
        page.line()
        page.words(remedy)
    for reason in spared(kept):
        page.line()
        page.words(reason, "quiet")


def is_rubbish_among(endangered: Sequence[Endangered]) -> bool:
    """Whether something goes since its agent cannot read or show it, which need not be so."""
    return any(one.cause in RUBBISH for one in endangered)


def _row(expiring: Expiring, names: Mapping[str, str], now: datetime) -> list[Span]:
    one = expiring.first
    return [
        due(one.at, now),
        (names.get(one.session_id or "", ""), "quiet"),
        (one.agent, "quiet"),
        (PurePath(one.project).name if one.project else "", "human"),
        one.title or PurePath(one.file).name,
        (cause_in_words(one.cause), "quiet"),
        ("kept", "good") if expiring.kept else ("none", "bad"),
    ]


def cause_in_words(cause: str) -> str:
    """Return a cause as columns show it."""
    return "same id" if cause == "twin" else cause.replace("-", " ")


def due(at: datetime | None, now: datetime) -> str:
    """When something is deleted, as short as it can be told."""
    if at is None or at <= now:
        return NEXT_START
    days = (at.astimezone().date() - now.astimezone().date()).days
    if days == 0:
        return f"today {at.astimezone():%H:%M}"
    return f"in {words.count(days, 'day')}, {at.astimezone():%d %b}"


def remedies(kept: Kept) -> dict[str, str]:
    """What to do so that nothing is deleted, for each agent that is going to delete something."""
    forecast = kept.found.forecast
    agents = {one.agent for one in forecast.endangered}
    said = {rule.agent: rule.remedy for rule in reversed(forecast.retentions) if rule.remedy}
    return {agent: f"{kept.agent_title(agent)}: {text}" for agent, text in said.items() if agent in agents}


def spared(kept: Kept) -> list[str]:
    """Why agents delete nothing that is known here, a sentence for each of them."""
    forecast = kept.found.forecast
    deleting = {one.agent for one in forecast.endangered}
    # What counts for one project alone comes after what counts for all.
    rules = {rule.agent: rule for rule in reversed(forecast.retentions) if rule.agent not in deleting}
    return [_why_spared(rule, kept.agent_title(rule.agent)) for rule in rules.values()]


def _why_spared(rule: Retention, agent: str) -> str:
    if rule.rest:
        unused = (
            words.count(rule.rest.days, "day") if rule.rest.days else f"{rule.rest.seconds // 3600} hours"
        )
        return (
            f"{agent} deletes sessions that were not used for {unused}; none was found that it will delete."
        )
    if rule.most:
        return f"{agent} keeps {words.count(rule.most, 'session')} of a project; no project has more."
    if rule.told_by:
        return rule.remedy or f"{agent} deletes no sessions, as {words.path(rule.told_by)} says."
    return f"{rule.program or agent} deletes no sessions by itself."
