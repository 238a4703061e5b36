"""What Gemini CLI is going to delete in a home, by the release that is installed and the settings that count.

Only a start deletes, also one that merely lists sessions, and only in the folder of the project it is started
in. So nothing is told of what no start would look into: folders named by a hash since 0.29, folders of which
nobody knows whose they are, and projects that are not there any more.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from geminids.agents.gemini.custody.cleanup import Doom, doomed
from geminids.agents.gemini.custody.installed import find_installed
from geminids.agents.gemini.custody.releases import Program
from geminids.agents.gemini.custody.retention import SWITCHED_OFF, Rule, rule_of
from geminids.agents.gemini.custody.session_files import HOME_VARIABLE, usual_home
from geminids.agents.gemini.custody.settings import Desk, Settings
from geminids.agents.gemini.homes import AGENT, projects_folder, registry_folder
from geminids.agents.gemini.read.projects import Registry, read_registry
from geminids.core.agents.fates import Deletion, Fate, Forecast, Retention, soonest_first
from geminids.core.agents.homes import Home, may_be_folder
from geminids.core.agents.resume import Circumstances

DATA_FOLDER = ".gemini"
_CHATS = "chats"


def forecast(home: Home, fates: Sequence[Fate], circumstances: Circumstances) -> Forecast:
    """What starts of the CLI delete in a home, now and later."""
    data = Path(registry_folder(home))
    if data.name != DATA_FOLDER:
        # The CLI uses no folder of another name, so nobody deletes anything there.
        return Forecast((), (Retention(agent=AGENT, home=home.folder),))
    program = Program(find_installed(circumstances.environment))
    desk = Desk(_settings_folder(data), circumstances.environment, program)
    cleanup = _HomeCleanup(home, data, desk, _home_to_name(data, circumstances, program))
    return cleanup.answer(fates)


def _settings_folder(data: Path) -> Path:
    """The folder of the user's settings; in the sandbox of macOS the sessions lie elsewhere."""
    above = data.parent
    return above.parent / DATA_FOLDER if above.name == ".cache" else data


def _home_to_name(data: Path, circumstances: Circumstances, program: Program) -> str | None:
    """What the CLI must be told in order to use a home; None if it uses it anyway."""
    own = _settings_folder(data).parent
    usual = os.path.realpath(usual_home(circumstances, program))
    return None if os.path.realpath(own) == usual else str(own)


class _HomeCleanup(NamedTuple):
    """A home, and who would delete there."""

    home: Home
    data: Path
    desk: Desk
    named_home: str | None

    def answer(self, fates: Sequence[Fate]) -> Forecast:
        deletions: list[Deletion] = []
        usual = self.desk.settings()
        retentions = [self._retention(usual, None)]
        for folder, of_folder in self._cleaned(fates):
            settings = self.desk.settings(Path(folder))
            rule = rule_of(settings, self.desk.program)
            if settings != usual and rule != rule_of(usual, self.desk.program):
                retentions.append(self._retention(settings, folder))
            if rule.deletes:
                found = doomed(of_folder, self.desk.program, rule)
                deletions += (self._deletion(file, doom, folder, rule) for file, doom in found.items())
        return Forecast(soonest_first(deletions), tuple(retentions))

    def _cleaned(self, fates: Iterable[Fate]) -> Iterator[tuple[str, Sequence[Fate]]]:
        """The files of each project that a start would look at, with the folder to start in."""
        by_name = _by_project(projects_folder(self.home), fates)
        registry = read_registry(self.data)
        slugs = {os.path.normcase(path): slug for slug, path in registry.path_by_slug.items()}
        for name, of_project in by_name.items():
            folder = self._folder_of(name, registry, slugs)
            if folder and may_be_folder(folder):
                yield folder, of_project

    def _folder_of(self, name: str, registry: Registry, slugs: Mapping[str, str]) -> str | None:
        """The folder in which a start looks into a project of this name; None if none does."""
        project = registry.project(Path(projects_folder(self.home)) / name, self.data)
        if project.path is None or (project.slug is not None) != self.desk.program.names_folders:
            return None
        if project.slug and slugs.get(os.path.normcase(project.path), name) != name:
            # The same folder has got another name since.
            return None
        return project.path

    def _deletion(self, file: str, doom: Doom, folder: str, rule: Rule) -> Deletion:
        with_home = f" with {HOME_VARIABLE}={self.named_home}" if self.named_home else ""
        reason = (
            f"Deleted whenever {self.desk.program.name} is started in {folder!r}{with_home}: {doom.because}."
        )
        return Deletion(file=file, at=doom.at, cause=doom.cause, reason=reason, setting=rule.told_by)

    def _retention(self, settings: Settings, project: str | None) -> Retention:
        program, rule = self.desk.program, rule_of(settings, self.desk.program)
        return Retention(
            agent=AGENT,
            home=self.home.folder,
            project=project,
            program=program.name if program.installed else None,
            rest=rule.rest,
            most=None if rule.most is None else math.ceil(rule.most),
            told_by=rule.told_by,
            remedy=self._remedy(settings, rule),
        )

    def _remedy(self, settings: Settings, rule: Rule) -> str | None:
        if settings.broken:
            return (
                "Gemini CLI deletes nothing, since it does not start while it cannot read "
                f"{settings.broken!r}. When you repair that file, add {SWITCHED_OFF}."
            )
        if not rule.deletes:
            return None
        if rule.told_by == str(self.desk.system_file):
            return (
                f"{rule.told_by!r} sets it for all users of this machine. To stop this, its administrator "
                f"must add {SWITCHED_OFF} there."
            )
        file = str(self.desk.user_file)
        if rule.told_by and rule.told_by != str(self.desk.system_defaults_file):
            file = rule.told_by
        return f"To stop this, add {SWITCHED_OFF} to {file!r}."


def _by_project(projects: str, fates: Iterable[Fate]) -> dict[str, list[Fate]]:
    """The files in the folders of projects, by the name of the folder."""
    found: dict[str, list[Fate]] = {}
    beginning = os.path.join(projects, "")  # noqa: PTH118 - tens of thousands of names are cut
    for fate in fates:
        if fate.file.startswith(beginning):
            name, *inside = fate.file[len(beginning) :].split(os.sep)  # noqa: PTH206 - as above
            if inside and inside[0] == _CHATS:
                found.setdefault(name, []).append(fate)
    return found
