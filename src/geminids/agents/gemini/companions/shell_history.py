"""`shell_history`: the last hundred commands of shell mode, oldest first.

One command on a line; a backslash at the end of a line joins it with the next. Refuses nothing.
Checked against releases 0.1.22 to 0.61.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from geminids.agents.gemini.companions.accounts import BesideLog
from geminids.core.agents.base import FoundFile
from geminids.core.disk import REAL, Disk
from geminids.core.lazy_patterns import lazy_pattern
from geminids.core.model import FileAccount, Problem, ProblemKind, Tally
from geminids.reading.file_log import refused

FORMAT = "gemini-shell-history"
_MOST_READ = 16_000_000
_CONTINUED = lazy_pattern(r"(?<!\\)(?:\\\\)*\\$")


class ShellHistory(msgspec.Struct, frozen=True):
    """The commands of one history, oldest first."""

    commands: tuple[str, ...]
    account: FileAccount
    problems: tuple[Problem, ...]


def read_shell_history(file: FoundFile, limit: int | None = None, disk: Disk = REAL) -> ShellHistory:
    """The commands of a shell history. With a limit, so many bytes at its end."""
    log = BesideLog(str(file.path), FORMAT, file.size)
    try:
        with disk.opened(file.path) as stream:
            begin, raw = log.read_tail(stream, _MOST_READ if limit is None else min(limit, _MOST_READ))
    except OSError as error:
        account, problem = refused(file, error, FORMAT, "any")
        return ShellHistory((), account, (problem,))
    if begin:
        log.leave_unread(begin)
    text = raw.decode(errors="replace")
    if "\ufffd" in text and text.encode() != raw:
        log.remark(ProblemKind.BAD_TEXT, "bytes that are no UTF-8", None, log.size - len(raw), log.size)
    commands = tuple(_commands(text))
    used = {"command": Tally(len(commands), len(raw))} if raw else {}
    account = msgspec.structs.replace(log.account(), used=used)
    return ShellHistory(commands, account, tuple(log.problems))


def _commands(text: str) -> Iterator[str]:
    """The commands, as the CLI reads them."""
    command = ""
    for line in filter(str.strip, text.replace("\r\n", "\n").split("\n")):
        if _CONTINUED.search(command):
            command = f"{command[:-1]} {line}"
            continue
        if command:
            yield command
        command = line
    if command:
        yield command
