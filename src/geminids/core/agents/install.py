"""Bringing geminids into an agent: what is asked of a source, and what it answers. It writes nothing itself.

A package is a folder of files that hold `geminids` where a command stands: as it is, it works where that
command is on the path. Before it is written for an agent, the command becomes one that needs no path.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from geminids.core.atomic_files import opened_plain

PROGRAM = "geminids"
"""What packages are called, and the command in them."""
LARGEST_SETTINGS = 16_000_000
"""Bytes of a settings file above which it is not read."""


class Launch(msgspec.Struct, frozen=True, kw_only=True):
    """How agents start geminids."""

    command: tuple[str, ...]
    """What starts it from anywhere."""
    options: tuple[str, ...] = ()
    """Where it looks, if not where it does by itself."""
    environment: Mapping[str, str] = {}
    """The variables that say so, for agents that hand none of their own on."""
    version: str

    @property
    def server(self) -> list[str]:
        """What starts the server of tools."""
        return [*self.command, "mcp", *self.options]

    @property
    def hook(self) -> list[str]:
        """What keeps what is new."""
        return [*self.command, "keep", "hook", *self.options]


class Package(msgspec.Struct, frozen=True):
    """A folder that holds nothing but what is written there for geminids."""

    folder: str
    files: Mapping[str, bytes]
    """By their paths in it, with `/`."""


class Edit(msgspec.Struct, frozen=True, kw_only=True):
    """Something that is added to a file of settings."""

    path: str
    difference: Callable[[bytes, bytes], str]
    """Return the names of our settings in which two texts differ. Raises UneditableError."""
    add: Callable[[bytes], bytes]
    """The text with it. Raises UneditableError."""
    remove: Callable[[bytes, bytes | None], bytes]
    """The text without it; the second one is what it was before, if that is known. Raises UneditableError."""
    is_by_agent: bool = False
    """Whether the agent itself adds it, and it is only removed in the end."""


class Installing(msgspec.Struct, frozen=True, kw_only=True):
    """What makes an agent use geminids."""

    packages: tuple[Package, ...] = ()
    edits: tuple[Edit, ...] = ()
    notes: tuple[str, ...] = ()
    """What there is to know, in sentences."""


def read_package(folder: Path) -> dict[str, bytes]:
    """The files of a package as it comes with geminids."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def filled(files: Mapping[str, bytes], launch: Launch) -> dict[str, bytes]:
    """A package whose commands need no path, and whose manifests have the version of geminids."""
    return {name: _filled(name, content, launch) for name, content in files.items()}


def _filled(name: str, content: bytes, launch: Launch) -> bytes:
    if not name.endswith(".json"):
        return content
    told = _told(json.loads(content), launch)
    return (json.dumps(told, indent=2, ensure_ascii=False) + "\n").encode()


def _told(value: Any, launch: Launch) -> Any:
    match value:
        case {"type": "command", "command": str(line)} if line.startswith(f"{PROGRAM} "):
            return {**value, "command": command_line(launch.hook)}
        case {"command": str(command), "args": list(arguments)} if command == PROGRAM:
            return {
                **value,
                "command": launch.command[0],
                "args": [*launch.command[1:], *arguments, *launch.options],
            }
        case dict():
            told = {name: _told(one, launch) for name, one in value.items()}
            return {**told, "version": launch.version} if "version" in told else told
        case list():
            return [_told(one, launch) for one in value]
    return value


def command_line(words: list[str]) -> str:
    """Words as a shell reads them."""
    if os.name == "nt":
        from subprocess import list2cmdline

        return list2cmdline(words)
    from shlex import join

    return join(words)


def calls_hook_by_hand(settings: bytes) -> bool:
    """Whether settings that somebody wrote start the hook already; a comment starts nothing."""
    return any(
        b"keep" in line and b"hook" in line and b"geminids" in line
        for line in settings.splitlines()
        if not line.lstrip().startswith((b"#", b"//"))
    )


def read_settings(file: str) -> bytes:
    """Return the content of a settings file; nothing if it cannot be read, which only changing it reports."""
    try:
        with open(opened_plain(file), "rb") as opened:  # noqa: PTH123
            content = opened.read(LARGEST_SETTINGS + 1)
    except OSError:
        return b""
    return content if len(content) <= LARGEST_SETTINGS else b""
