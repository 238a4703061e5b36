"""What Claude Code is going to delete in a home, by the settings that count.

Some seconds after the first prompt of a session, and at most once a day, it goes through all projects of the
home, not only its own, and deletes the sessions that were not written to for `cleanupPeriodDays` (30 if
nothing is said), each with the folder of its subagents. What the settings of a project say counts for all
projects if the session is led in that one. Where it does not understand its settings, it deletes nothing; a 0
is one of the things that it does not understand. Checked with 2.1.325.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from geminids.agents.claude.custody.installed import find_installed
from geminids.agents.claude.homes import AGENT, DATA_FOLDER, HOME_VARIABLE, PROJECTS, projects_folder
from geminids.agents.claude.read.fates import DESKTOP, EMPTY, folder_of
from geminids.core.agents.fates import Deletion, Fate, Forecast, Retention, soonest_first
from geminids.core.agents.homes import Home
from geminids.core.agents.resume import Circumstances
from geminids.core.timestamps import disk_time
from geminids.reading.jsonl import UndecodableError, decode

_SETTING = "cleanupPeriodDays"
_FOR_LONG = '{"cleanupPeriodDays": 3650}'
USUAL_REST = timedelta(days=30)
_MOST_DAYS = 36_500
"""Longer periods would end after the calendar does."""
_SETTINGS_FILE = "settings.json"
_LOCAL_FILE = "settings.local.json"
_MANAGED_FILES = {
    "darwin": "/Library/Application Support/ClaudeCode/managed-settings.json",
    "win32": "C:\\Program Files\\ClaudeCode\\managed-settings.json",
}
_MANAGED_FILE = "/etc/claude-code/managed-settings.json"
_LAST_TIME = ".last-cleanup"
_BETWEEN = timedelta(days=1)
_LARGEST_FILE = 4_000_000
_SUFFIX = ".jsonl"


class Rule(NamedTuple):
    """How long what is not written to stays; for ever where nothing is deleted."""

    rest: timedelta | None
    told_by: str | None = None
    is_understood: bool = True


def forecast(home: Home, fates: Sequence[Fate], circumstances: Circumstances) -> Forecast:
    """What sessions of Claude Code delete in a home, now and later."""
    if Path(projects_folder(home)).name != PROJECTS:
        # It keeps nothing in a folder of another name, so nobody deletes anything there.
        return Forecast((), (Retention(agent=AGENT, home=home.folder),))
    beginning = os.path.join(projects_folder(home), "")  # noqa: PTH118 - tens of thousands are compared
    fates = [fate for fate in fates if fate.file.startswith(beginning)]
    cleanup = _Cleanup(home, circumstances)
    usual = rule_in(home.folder)
    rules: dict[str | None, Rule] = {None: usual}
    rules |= {folder: rule for folder in _folders(fates) if (rule := rule_in(home.folder, folder)) != usual}
    retentions = [cleanup.retention(rule, folder) for folder, rule in rules.items()]
    # The rule that deletes first, and the folder that it takes for that; None where any will do.
    where, rule = min(rules.items(), key=lambda pair: pair[1].rest or timedelta.max)
    deletions = cleanup.deletions(fates, rule, where) if rule.rest else ()
    return Forecast(soonest_first(deletions), tuple(retentions))


def _folders(fates: Iterable[Fate]) -> list[str]:
    """The folders in which sessions were begun and may be again."""
    found = dict.fromkeys(folder for fate in fates if (folder := folder_of(fate.traits)))
    return [folder for folder in found if os.path.isdir(folder)]  # noqa: PTH112 - pathlib may raise


def rule_in(data: str, project: str | None = None) -> Rule:
    """What counts for the folder of a home in sessions of a project, or where no project says anything."""
    found = Rule(USUAL_REST)
    is_understood = True
    for file in _settings_files(data, project):
        try:
            said = _said_in(file)
        except (OSError, UndecodableError, ValueError):
            is_understood = False
            found = Rule(None, str(file), is_understood=False)
            continue
        if said is not None:
            found = _rule_of(said, str(file))
            is_understood = is_understood and found.is_understood
    return found if is_understood else found._replace(rest=None, is_understood=False)


def _settings_files(data: str, project: str | None) -> Iterator[Path]:
    yield Path(data, _SETTINGS_FILE)
    own = Path(project, DATA_FOLDER) if project else None
    if own and os.path.realpath(own) != os.path.realpath(data):
        yield from (own / _SETTINGS_FILE, own / _LOCAL_FILE)
    yield _managed_file()


def _managed_file() -> Path:
    return Path(_MANAGED_FILES.get(sys.platform, _MANAGED_FILE))


def usual_home(circumstances: Circumstances) -> str:
    """The home that Claude Code uses without being told."""
    named = circumstances.environment.get(HOME_VARIABLE)
    return os.path.realpath(named or Path(circumstances.user_home, DATA_FOLDER))


class _Cleanup(NamedTuple):
    """What Claude Code deletes in a home, as somebody would see it happen."""

    home: Home
    circumstances: Circumstances

    def retention(self, rule: Rule, project: str | None) -> Retention:
        """The rule for people."""
        return Retention(
            agent=AGENT,
            home=self.home.folder,
            project=project,
            program=_installed(self.circumstances.environment),
            rest=rule.rest,
            told_by=rule.told_by,
            remedy=self._remedy(rule),
        )

    def _remedy(self, rule: Rule) -> str:
        if not rule.is_understood:
            return (
                f"Claude Code deletes nothing while it cannot read {rule.told_by!r}. When you repair that "
                f"file, add {_FOR_LONG}."
            )
        if rule.told_by == str(_managed_file()):
            return (
                f"{rule.told_by!r} sets it for all users of this machine. To stop this, its administrator "
                f"must add {_FOR_LONG} there."
            )
        file = rule.told_by or str(Path(self.home.folder, _SETTINGS_FILE))
        return f"To stop this, add {_FOR_LONG} to {file!r}."

    def deletions(self, fates: Sequence[Fate], rule: Rule, where: str | None) -> Iterator[Deletion]:
        """All files, with the day on which they are due."""
        rest = rule.rest or timedelta()
        first, led = self._first_chance(), self._led(where)
        sessions = {fate.file.removesuffix(_SUFFIX): fate for fate in fates if _is_session(fate.file)}
        for fate in fates:
            parent = sessions.get(_session_folder(fate.file) or "")
            deciding = parent or fate
            if deciding.last_used is None or _is_spared(deciding):
                continue
            due = deciding.last_used + rest
            yield Deletion(
                file=fate.file,
                at=max(due, first) if first else due,
                cause="age" if deciding is fate else "with-parent",
                reason=_reason(deciding, fate, rest, led),
                setting=rule.told_by,
            )

    def _first_chance(self) -> datetime | None:
        """Before when nothing is deleted, since something was not a day ago."""
        try:
            last = os.stat(os.path.join(self.home.folder, _LAST_TIME)).st_mtime  # noqa: PTH116, PTH118
        except OSError:
            return None
        moment = disk_time(last)
        return moment + _BETWEEN if moment else None

    def _led(self, where: str | None) -> str:
        """The sessions that delete in this home."""
        is_usual = os.path.realpath(self.home.folder) == usual_home(self.circumstances)
        home = "" if is_usual else f" with {HOME_VARIABLE}={self.home.folder}"
        return f"a session of Claude Code{f' in {where!r}' if where else ''}{home}"


def _reason(deciding: Fate, fate: Fate, rest: timedelta, led: str) -> str:
    days = f"{rest.days:,} day{'' if rest.days == 1 else 's'}"
    used = f"{deciding.last_used:%Y-%m-%d}"
    it = "it was"
    if deciding is not fate:
        it = f"it belongs to {os.path.basename(deciding.file)!r}, which was"  # noqa: PTH119
    return f"Deleted in the background by {led}: {it} last written to on {used}, and is kept for {days}."


def _rule_of(said: object, file: str) -> Rule:
    if isinstance(said, int) and not isinstance(said, bool) and said > 0:
        return Rule(timedelta(days=min(said, _MOST_DAYS)), file)
    return Rule(None, file, is_understood=False)


def _said_in(file: Path) -> Any:
    """What a file says about it; None if it is not there, or says nothing. Settings may be links."""
    try:
        if file.exists() and not file.is_file():
            # A pipe would keep us waiting.
            raise UndecodableError("not a regular file")
        with file.open("rb") as opened:
            written = opened.read(_LARGEST_FILE)
    except (FileNotFoundError, NotADirectoryError):
        return None
    if not written.strip():
        return None
    said = decode(written).value
    if not isinstance(said, dict):
        raise UndecodableError("no object")
    return said.get(_SETTING)


def _is_session(file: str) -> bool:
    """Whether a file lies in the folder of a project itself."""
    above = os.path.dirname(os.path.dirname(file))  # noqa: PTH120
    return file.endswith(_SUFFIX) and os.path.basename(above) == PROJECTS  # noqa: PTH119


def _session_folder(file: str) -> str | None:
    """The folder of a session that a file lies in; None if it lies in none."""
    parts = file.split(os.sep)  # noqa: PTH206 - tens of thousands are looked at
    for at in range(len(parts) - 4, -1, -1):
        if parts[at] == PROJECTS:
            return os.sep.join(parts[: at + 3])  # noqa: PTH118
    return None


def _is_spared(fate: Fate) -> bool:
    if not (EMPTY in fate.traits or DESKTOP in fate.traits) or not _is_session(fate.file):
        return False
    is_alone = EMPTY in fate.traits and not os.path.isdir(fate.file.removesuffix(_SUFFIX))  # noqa: PTH112
    return is_alone or DESKTOP in fate.traits


def _installed(environment: Mapping[str, str]) -> str | None:
    """The Claude Code that a shell would start, with its version if its place tells it; None if none."""
    found = find_installed(environment)
    return found.name if found else None
