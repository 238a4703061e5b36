"""What Gemini CLI deletes by itself when it starts, as far as its settings say.

Since 0.33 it deletes by default what was not used for 30 days, and at once what it takes for rubbish. With
`general.sessionRetention.enabled` set to false it deletes neither. The settings of a project go before those
of a home; those of the whole system, which may overrule both, are not looked at.
"""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path
from typing import Any

from geminids.sources.gemini.installed import Release
from geminids.sources.gemini.projects import read_plain
from geminids.sources.jsonl import UndecodableError, decode

SETTINGS_FILE = "settings.json"
SWITCHED_OFF = '{"general": {"sessionRetention": {"enabled": false}}}'
"""What to write into a file of settings, so that nothing is deleted."""

_SINCE = (0, 33, 0)
_USUAL_AGE = "30d"
_SHORTEST_AGE = "1d"
_LARGEST_SETTINGS = 4_000_000
_PERIOD = re.compile(r"([1-9][0-9]{0,6})([hdwm])")
_UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1), "m": timedelta(days=30)}
_LONGEST = timedelta(days=36_500)
"""Longer periods would end before the calendar begins."""
_COMMENT = re.compile(rb'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
"""Strings, which may hold what looks like a comment, and comments."""


def longest_rest(data: Path, project: Path, release: Release | None) -> timedelta | None:
    """How long a session may lie untouched before a start deletes it; None if nothing is deleted."""
    settings = _settings(data / SETTINGS_FILE) | _settings(project / ".gemini" / SETTINGS_FILE)
    is_default = release is None or release >= _SINCE
    if not settings.get("enabled", is_default):
        return None
    age = _period(settings.get("maxAge", _USUAL_AGE))
    least = _period(settings.get("minRetention")) or _period(_SHORTEST_AGE)
    # The CLI does nothing at all where it does not understand what it is told, or where that is too short.
    return age if age and least and age >= least else None


def spoken(rest: timedelta) -> str:
    """How long that is, in words."""
    number, unit = (rest.days, "day") if rest.days else (rest // timedelta(hours=1), "hour")
    return f"{number:,} {unit}{'' if number == 1 else 's'}"


def _settings(file: Path) -> dict[str, Any]:
    """What a file says about keeping sessions; nothing if it cannot be read."""
    try:
        written = decode(_COMMENT.sub(_strings_only, read_plain(file, _LARGEST_SETTINGS))).value
    except (OSError, UndecodableError):
        return {}
    match written:
        case {"general": {"sessionRetention": dict(said)}}:
            return said
        case _:
            return {}


def _strings_only(found: re.Match[bytes]) -> bytes:
    return found[1] or b""


def _period(written: object) -> timedelta | None:
    found = _PERIOD.fullmatch(written) if isinstance(written, str) else None
    return min(int(found[1]) * _UNITS[found[2]], _LONGEST) if found else None
