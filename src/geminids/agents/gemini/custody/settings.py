"""The settings of Gemini CLI as they count for one project, each with the file that it stands in.

    /etc/gemini-cli/system-defaults.json    what a machine's owner proposes
    ~/.gemini/settings.json                 the user's
    <project>/.gemini/settings.json         the project's, if the CLI trusts its folder
    /etc/gemini-cli/settings.json           what a machine's owner demands

A later file goes before an earlier one, value by value. A file that is no JSON object keeps the CLI from
starting at all. It may hold comments, and names of environment variables in its texts.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePath
from typing import Any, NamedTuple

from geminids.agents.gemini.custody.releases import Program
from geminids.core.lazy_patterns import lazy_pattern
from geminids.reading.jsonl import UndecodableError, decode

SETTINGS_FILE = "settings.json"

_SYSTEM_VARIABLE = "GEMINI_CLI_SYSTEM_SETTINGS_PATH"
_PROPOSED_VARIABLE = "GEMINI_CLI_SYSTEM_DEFAULTS_PATH"
_TRUSTED_VARIABLE = "GEMINI_CLI_TRUSTED_FOLDERS_PATH"
_TRUST_VARIABLE = "GEMINI_CLI_TRUST_WORKSPACE"
_RESTRICTED_VARIABLE = "GEMINI_RESTRICTED_MODE"
_SYSTEM_FILES = {
    "darwin": "/Library/Application Support/GeminiCli/settings.json",
    "win32": "C:\\ProgramData\\gemini-cli\\settings.json",
}
_SYSTEM_FILE = "/etc/gemini-cli/settings.json"
_PROPOSED_FILE = "system-defaults.json"
_TRUSTED_FILE = "trustedFolders.json"
_LARGEST_FILE = 4_000_000
_COMMENT = lazy_pattern(rb'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
"""Strings, which may hold what looks like a comment, and comments."""
_VARIABLE = lazy_pattern(r"\$(?:(\w+)|\{([^}]+?)(?::-([^}]*))?\})")


class Layer(NamedTuple):
    """What one file says."""

    file: str
    said: dict[str, Any]


class Settings(NamedTuple):
    """What counts, the weightiest last; or the file that keeps the CLI from starting."""

    layers: tuple[Layer, ...] = ()
    broken: str | None = None

    def group(self, *names: str, usual: Mapping[str, Any]) -> Any:
        """What is settled under some names, over what counts if nothing is: a group, unless one broke it."""
        settled: Any = dict(usual)
        for layer in self.layers:
            said = _below(layer.said, names)
            if said is not _UNSAID:
                settled = _merged(settled, said)
        return settled

    def file_of(self, *names: str) -> str | None:
        """The weightiest file that says something about it; None if none does."""
        telling = (layer.file for layer in reversed(self.layers) if _below(layer.said, names) is not _UNSAID)
        return next(telling, None)


_UNSAID = object()


def _below(said: object, names: Iterable[str]) -> Any:
    """What stands under some names; what is no group has nothing below it."""
    for name in names:
        if not isinstance(said, dict):
            return None
        said = said.get(name, _UNSAID)
        if said is _UNSAID:
            break
    return said


def _merged(settled: Any, said: Any) -> Any:
    return settled | said if isinstance(settled, dict) and isinstance(said, dict) else said


class Desk(NamedTuple):
    """Where the CLI is started from."""

    data: Path
    """The folder of the user's settings, nearly always `.gemini`."""
    environment: Mapping[str, str]
    program: Program

    def settings(self, project: Path | None = None) -> Settings:
        """What counts in the folder of a project, or where no project says anything."""
        own = project / ".gemini" / SETTINGS_FILE if project else None
        if own and project == self.data.parent:
            # The user's settings would count twice.
            own = None
        try:
            proposed, user = self._system(self.system_defaults_file), self._layer(self.user_file)
            projects, demanded = self._layer(own), self._system(self.system_file)
            above = Settings((*proposed, *user, *demanded))
            if own and projects and not self._trusts(own.parent.parent, above):
                return above
        except _BrokenError as error:
            return Settings(broken=str(error))
        return Settings((*proposed, *user, *projects, *demanded))

    @property
    def user_file(self) -> Path:
        """The file of the user's settings."""
        return self.data / SETTINGS_FILE

    @property
    def system_file(self) -> Path:
        """The file of what the machine's owner demands."""
        return Path(self.environment.get(_SYSTEM_VARIABLE) or _SYSTEM_FILES.get(sys.platform, _SYSTEM_FILE))

    @property
    def system_defaults_file(self) -> Path:
        """The file of what the machine's owner proposes."""
        return Path(self.environment.get(_PROPOSED_VARIABLE) or self.system_file.parent / _PROPOSED_FILE)

    def trusts(self, project: Path) -> bool:
        """Whether the CLI starts servers in a folder; none where it does not start at all."""
        try:
            return self._trusts(project, self.settings())
        except _BrokenError:
            return False

    def _system(self, file: Path) -> Iterable[Layer]:
        is_heeded = not self.program.checks_system_settings or _only_root_writes(file)
        return self._layer(file) if is_heeded else ()

    def _layer(self, file: Path | None) -> tuple[Layer, ...]:
        said = _object_in(file) if file else None
        return () if said is None else (Layer(str(file), self._resolved(said)),)

    def _resolved(self, value: Any) -> Any:
        """The same with the values of environment variables in the place of their names."""
        match value:
            case dict():
                return {name: self._resolved(one) for name, one in value.items()}
            case str():
                return _VARIABLE.sub(self._value_of_variable, value)
            case _:
                return value

    def _value_of_variable(self, found: re.Match[str]) -> str:
        otherwise = found[0] if found[3] is None else found[3]
        return self.environment.get(found[1] or found[2], otherwise)

    def _trusts(self, project: Path, settings: Settings) -> bool:
        """Whether the CLI heeds what the project itself settles. Where nobody was asked, it does not."""
        trust = self.environment.get(_TRUST_VARIABLE) if self.program.reads_logs else None
        if trust == "false" or self.environment.get(_RESTRICTED_VARIABLE) == "true":
            return False
        asks = settings.group("security", "folderTrust", usual={"enabled": True})
        if trust == "true" or (isinstance(asks, dict) and asks.get("enabled") in (False, "false")):
            return True
        file = Path(self.environment.get(_TRUSTED_VARIABLE) or self.data / _TRUSTED_FILE)
        return _is_trusted(os.path.realpath(project), _object_in(file) or {})


class _BrokenError(Exception):
    """The CLI does not start because of a file."""


def _object_in(file: Path) -> dict[str, Any] | None:
    """What a file says; None if it is not there. Unlike files of sessions, settings may be links."""
    try:
        if not file.exists():
            return None
        # A pipe would keep us waiting.
        written = b""
        if file.is_file():
            with file.open("rb") as opened:
                written = opened.read(_LARGEST_FILE)
        said = decode(_COMMENT.sub(_strings_only, written)).value
    except (OSError, ValueError, UndecodableError) as error:
        raise _BrokenError(str(file)) from error
    if not isinstance(said, dict):
        raise _BrokenError(str(file))
    return said


def _strings_only(found: re.Match[bytes]) -> bytes:
    return found[1] or b""


def _is_trusted(project: str, rules: Mapping[str, Any]) -> bool:
    """Whether the rule with the longest path that holds for a folder says so."""
    holding = [(path, level) for path, level in rules.items() if _holds_for(path, level, project)]
    _, level = max(holding, key=lambda rule: len(rule[0]), default=("", None))
    return level in ("TRUST_FOLDER", "TRUST_PARENT")


def _holds_for(path: str, level: object, project: str) -> bool:
    trusted = os.path.realpath(PurePath(path).parent if level == "TRUST_PARENT" else path)
    return PurePath(project).is_relative_to(trusted)


def _only_root_writes(file: Path) -> bool:
    """Whether nobody but the owner of the machine could have written a file."""
    return os.name != "posix" or all(map(_is_roots, _ways_to(file)))


def _ways_to(file: Path) -> Iterator[Path]:
    for way in {Path(os.path.abspath(file)), Path(os.path.realpath(file))}:  # noqa: PTH100 - links are looked at
        yield way
        yield from way.parents


def _is_roots(path: Path) -> bool:
    try:
        own, meant = path.lstat(), path.stat()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return own.st_uid == 0 == meant.st_uid and not meant.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
