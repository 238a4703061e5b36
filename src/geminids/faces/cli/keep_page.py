"""What is kept and what will be deleted, beside lines for programs; versions and checks of copies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from geminids.faces.cli.talk import say
from geminids.faces.drawing.keeping import (
    MAY_BE_REPAIRED,
    NEXT_START,
    Kept,
    is_rubbish_among,
    remedies,
    spared,
    spelled_facts,
    verdict,
)
from geminids.faces.drawing.page import Column, DrawnPage, Page, Span
from geminids.sharing.transcript import words

if TYPE_CHECKING:
    from geminids.query.health.forecast import Endangered, ForecastReport
    from geminids.query.health.kept_copies import FileVersion, SessionVersions
    from geminids.storage.archive.values import Damage, Verified

VERSION_COLUMNS = (
    Column("#", is_number=True),
    Column("kept"),
    Column("changed", leaves=1),
    Column("size", is_number=True),
    Column("file", least=12),
    Column("", leaves=2),
)


def tell_kept(kept: Kept, now: datetime) -> None:
    """Say the same beside lines for programs, and what to do about what will be deleted."""
    say(verdict(kept, now))
    say("\n  ".join(["Copies:", *spelled_facts(kept)]))
    for sentence in (*kept.found.troubles, *remedies(kept).values(), *spared(kept)):
        say(sentence)
    if is_rubbish_among(kept.found.forecast.endangered):
        say(f"{MAY_BE_REPAIRED} `{kept.spelled('rescue')}`.")


def print_forecast(page: Page, forecast: ForecastReport) -> None:
    """Print all that will be deleted, a line for each, for programs."""
    for one in forecast.endangered:
        page.fields(*_line(one))


def _line(one: Endangered) -> list[Span]:
    """For a pipe: when, whether a copy is kept, agent, session, file, why."""
    return [
        f"{one.at.astimezone():%Y-%m-%dT%H:%M}" if one.at else NEXT_START,
        "kept" if one.kept else "not kept",
        one.agent,
        (one.session_id or "-", "quiet"),
        one.file,
        one.reason,
    ]


def draw_versions(page: Page, found: SessionVersions, show: Callable[[str], str]) -> None:
    """Draw the states of a session's files, and how to read an earlier one."""
    if not (isinstance(page, DrawnPage) and page.is_terminal):
        for version in found.versions:
            page.fields(*_version_line(version))
        return
    session = found.session
    page.line((session.title or "untitled", "title"), (f"  {session.id}", "quiet"))
    files = {version.file for version in found.versions}
    if len(files) == 1:
        # Then no row need say it.
        page.command("", words.path(files.pop()))
    page.line()
    _draw_version_table(page, [_version_row(version) for version in found.versions], with_files=bool(files))
    earlier = [version for version in found.versions if not version.is_newest]
    if earlier:
        page.line()
        page.command("Read an earlier version:  ", show(str(earlier[-1].number)))


def _draw_version_table(page: DrawnPage, rows: Sequence[Sequence[Span]], *, with_files: bool) -> None:
    places = [place for place, column in enumerate(VERSION_COLUMNS) if with_files or column.heading != "file"]
    columns = [VERSION_COLUMNS[place] for place in places]
    page.table(columns, [[row[place] for place in places] for row in rows])


def _version_row(version: FileVersion) -> list[Span]:
    return [
        (str(version.number), "quiet"),
        words.moment(version.kept_at),
        words.moment(version.modified_at) if version.modified_at else "no time",
        words.size(version.size),
        PurePath(version.file).name,
        ("newest" if version.is_newest else "", "quiet"),
    ]


def _version_line(version: FileVersion) -> list[Span]:
    moments = (version.kept_at, version.modified_at)
    times = [f"{at.astimezone():%Y-%m-%dT%H:%M}" if at else "-" for at in moments]
    return [str(version.number), *times, str(version.size), version.digest, version.file]


def draw_verified(page: Page, found: Verified) -> None:
    """Draw what was damaged and what became of it, then how much was read."""
    for sentence in found.mended:
        page.words(sentence, "warning")
    for damage in found.damage:
        _draw_damage(page, damage)
    if found.cut:
        page.words(
            f"Removed {words.size(found.cut)} that an interrupted process had left; they held no copy."
        )
    page.line(_sum(found))


def _draw_damage(page: Page, damage: Damage) -> None:
    healed = ("repaired from the original file", "good")
    became, style = healed if damage.is_healed else (_not_healed(damage), "bad")
    page.command("", words.path(damage.version.path))
    page.words(f"{words.capital(damage.what)}{_place(damage)}: {became}.", style, indent=2)


def _place(damage: Damage) -> str:
    """Where it is, if what is wrong does not say so; what is not there at all has no place."""
    pack = f"pack {damage.pack}"
    return f" ({pack}, byte {damage.offset:,})" if damage.pack and pack not in damage.what else ""


def _not_healed(damage: Damage) -> str:
    is_there = Path(damage.version.path).exists()
    return f"lost, since the original file {'has changed' if is_there else 'is gone'}"


def _sum(found: Verified) -> str:
    read = f"{words.count(found.versions, 'copy', 'copies')}, {words.size(found.size)} of distinct content"
    damaged = list(found.damage)
    lost = sum(not damage.is_healed for damage in damaged)
    if not damaged:
        return f"{read}: all are intact."
    healed = len(damaged) - lost
    counts = [f"{healed:,} repaired" if healed else "", f"{lost:,} damaged" if lost else ""]
    return f"{read}: {', '.join(filter(None, counts))}; all others are intact."
