"""How long Gemini CLI keeps sessions, as far as its settings say.

Since 0.33 it deletes by default what was not used for 30 days, and at once what it takes for rubbish. With
`general.sessionRetention.enabled` set to false it deletes neither, and likewise where it does not understand
what it is told.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

from geminids.agents.gemini.custody.installed import Installed, Release
from geminids.agents.gemini.custody.releases import Program
from geminids.agents.gemini.custody.settings import SETTINGS_FILE, Desk, Settings
from geminids.core.lazy_patterns import lazy_pattern

__all__ = ["SETTINGS_FILE", "SWITCHED_OFF", "Rule", "longest_rest", "rule_of", "spoken"]

SWITCHED_OFF = '{"general": {"sessionRetention": {"enabled": false}}}'
"""What to write into a file of settings, so that nothing is deleted."""

_NAMES = ("general", "sessionRetention")
_USUAL_AGE = timedelta(days=30)
_USUAL = {"enabled": True, "maxAge": "30d"}
_SHORTEST_AGE = timedelta(days=1)
_PERIOD = lazy_pattern(r"([0-9]+)([hdwm])")
_UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1), "m": timedelta(days=30)}
_LONGEST = timedelta(days=36_500)
"""Longer periods would end before the calendar begins."""


class Rule(NamedTuple):
    """What is kept; all of it, unless deleting is on."""

    deletes: bool
    rest: timedelta | None = None
    """How long a session may lie unused; None: for ever."""
    most: float | None = None
    """How many sessions of a project; None: all."""
    told_by: str | None = None
    """The file of settings that says so; None: what the CLI does if nothing is said."""


def rule_of(settings: Settings, program: Program) -> Rule:
    """What the settings make the CLI keep."""
    if settings.broken:
        return Rule(deletes=False, told_by=settings.broken)
    told_by = settings.file_of(*_NAMES)
    said = settings.group(*_NAMES, usual=_USUAL if program.cleans_unasked else {})
    if program.cleans and isinstance(said, dict):
        said = _corrected(said) if program.corrects_settings else said
        if said.get("enabled") and (found := _limits(said)):
            rest, most = found
            return Rule(True, rest, most, told_by)
    return Rule(deletes=False, told_by=told_by)


def _corrected(said: Mapping[str, Any]) -> dict[str, Any]:
    """The same with what is meant where the words for it were written."""
    corrected = dict(said)
    match said.get("enabled"):
        case str(word) if word.lower() in ("true", "false"):
            corrected["enabled"] = word.lower() == "true"
    return corrected


def _limits(said: Mapping[str, Any]) -> tuple[timedelta | None, float | None] | None:
    """How long and how many; None where the CLI refuses what it is told, and then deletes nothing."""
    rest, most = None, None
    if said.get("maxAge"):
        rest = _period(said["maxAge"])
        least = _period(said.get("minRetention")) or _SHORTEST_AGE
        if rest is None or rest < least:
            return None
    if "maxCount" in said:
        most = _number(said["maxCount"])
        if most is None or most < 1:
            return None
    return None if rest is None and most is None else (rest, most)


def _period(written: object) -> timedelta | None:
    found = _PERIOD.fullmatch(written) if isinstance(written, str) else None
    if found is None or not int(found[1][:20]):
        return None
    return min(min(int(found[1][:20]), _LONGEST // timedelta(hours=1)) * _UNITS[found[2]], _LONGEST)


def _number(written: object) -> float | None:
    if isinstance(written, bool) or not isinstance(written, int | float | str):
        return None
    try:
        return float(written)
    except ValueError:
        return None


def longest_rest(data: Path, project: Path, release: Release | None) -> timedelta | None:
    """How long a session may lie untouched before a start deletes it; None if nothing is deleted."""
    version = ".".join(map(str, release)) if release else None
    program = Program(Installed("", version) if version else None)
    settings = Desk(data, {}, program).settings(project)
    # A start that fails deletes nothing; but who resumes a session mends the settings first.
    return _USUAL_AGE if settings.broken and program.cleans_unasked else rule_of(settings, program).rest


def spoken(rest: timedelta) -> str:
    """How long that is, in words."""
    number, unit = (rest.days, "day") if rest.days else (rest // timedelta(hours=1), "hour")
    return f"{number:,} {unit}{'' if number == 1 else 's'}"
