"""Reading what lies beside the sessions of a project: each kind of file by its own reader.

What the human typed is joined with the sessions first; what is left over are lost sessions. Saved
chats are then tied to the sessions and to the lost ones. The rest is listed, and opened only where
every byte is to be accounted for.

| modules | what they read |
|---|---|
| `prompt_log` → `typed` → `lost` | `logs.json`: every typed line, the message and the session it belongs to |
| `typed_words` | what was typed, told with a session whose files hold other words or none |
| `shell_history` | the commands of shell mode |
| `absence` | why a session is not there: nothing is called deleted that is only closed, empty or a link |
| `saved_chats`, `restore_points` → `ties` | `/chat save`, `/restore`, tied by the same calls or words |
| `captures` → `shared_chats`, `printed*`, `reports`, `activity` | files given by hand, told by content |
| `histories`, `spans` → `api_turns` → `copy_sessions` | documents that hold a history, as sessions |
| `accounts` | where every byte of these files went |
| `outputs` | whole outputs of tools, put back when a session is shown |
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from geminids.core.agents.base import CompanionFile, Companions, FoundFile, Reading
from geminids.core.agents.traces import Trace, trace
from geminids.core.model import CompanionKind, FileAccount, Problem, ProblemKind, Session, Tally

if TYPE_CHECKING:
    from geminids.agents.gemini.companions.prompt_log import PromptLog
    from geminids.agents.gemini.companions.shell_history import ShellHistory

_COPIES = frozenset({CompanionKind.RESTORE_POINT, CompanionKind.REPORT, CompanionKind.ACTIVITY_LOG})
_LARGEST = 256_000_000
"""A document of more bytes does not fit into memory once it is taken apart."""
_TELLING = frozenset({CompanionKind.PROMPT_LOG, CompanionKind.SAVED_CHAT})
"""What is listed among the sessions."""
_TYPED = _TELLING | {CompanionKind.SHELL_HISTORY}


def read_beside(companions: Companions, traces: Sequence[Trace], limit: int | None) -> Reading:
    """The sessions that lie beside those of a project, and an account of every file."""
    budget = _Budget(limit)
    typed = _typed(companions, traces, budget)
    if limit is not None:
        # Only who reads everything accounts for everything.
        return typed
    others = [file for file in companions.files if file.kind not in _TYPED]
    return Reading.joined([typed, *(_opened(file, companions) for file in others)])


class _Budget:
    """How many bytes may still be read."""

    def __init__(self, limit: int | None) -> None:
        self._left = limit

    def take(self, size: int) -> int | None:
        """So many of the bytes of a file may be read; None means all."""
        if self._left is None:
            return None
        granted = min(size, self._left)
        self._left -= granted
        return granted


def _typed(companions: Companions, traces: Sequence[Trace], budget: _Budget) -> Reading:
    """What the human typed, the sessions that only this is left of, and the chats that were saved."""
    by_kind: dict[CompanionKind, list[FoundFile]] = {}
    for companion in companions.files:
        if companion.kind in _TYPED:
            by_kind.setdefault(companion.kind, []).append(companion.file)
    if not by_kind:
        return Reading((), (), ())
    # Not every home has any of these, and every command would pay for loading them.
    from geminids.agents.gemini.companions.absence import Absence
    from geminids.agents.gemini.companions.lost import account_of, join
    from geminids.agents.gemini.companions.prompt_log import read_prompt_log
    from geminids.agents.gemini.companions.shell_history import read_shell_history

    disk = companions.disk
    logs = [
        read_prompt_log(file, budget.take(file.size), disk)
        for file in by_kind.get(CompanionKind.PROMPT_LOG, ())
    ]
    shells = [read_shell_history(file, None, disk) for file in by_kind.get(CompanionKind.SHELL_HISTORY, ())]
    commands = [command for shell in shells for command in shell.commands]
    joined = join(logs, traces, commands, companions.project, Absence(companions, traces))
    files: list[PromptLog | ShellHistory] = [*logs, *shells]
    accounts = (
        *(account_of(log, joined.whereabouts) for log in logs),
        *(shell.account for shell in shells),
    )
    problems = tuple(problem for file in files for problem in file.problems)
    known = [*traces, *map(trace, joined.lost)]
    saved = _saved(companions, by_kind.get(CompanionKind.SAVED_CHAT, ()), known, joined.saved_in, budget)
    words = Reading(tuple(joined.lost), accounts, problems, tuple(joined.typed))
    return Reading.joined([words, saved])


def _saved(
    companions: Companions,
    files: Sequence[FoundFile],
    known: Sequence[Trace],
    saved_in: dict[str, str],
    budget: _Budget,
) -> Reading:
    if not files:
        return Reading((), (), ())
    from geminids.agents.gemini.companions.saved_chats import counted_once, saved_chat, without_twins
    from geminids.agents.gemini.companions.ties import TraceIndex

    readings = []
    index = TraceIndex(known)
    for file in files:
        granted = budget.take(file.size)
        if file.size > _LARGEST or (granted is not None and granted < file.size):
            readings.append(_left_unread(file))
        else:
            folder = file.path.parent.name
            readings.append(
                saved_chat(file, companions.project, folder, index, saved_in, disk=companions.disk)
            )
    read = Reading.joined(readings)
    sessions: list[Session] = counted_once(without_twins(read.sessions))
    return Reading(tuple(sessions), read.accounts, read.problems)


def _opened(companion: CompanionFile, companions: Companions) -> Reading:
    """A file that is no session of ours to list, read for its account."""
    if companion.kind not in _COPIES:
        return Reading((), (_unopened(companion),), ())
    from geminids.agents.gemini.companions.captures import found_copy

    if companion.size > _LARGEST:
        return _left_unread(companion.file)
    read = found_copy(companion.file, companions.project, f"gemini-{companion.kind}", companions.disk)
    return Reading((), read.accounts, read.problems)


def _unopened(companion: CompanionFile) -> FileAccount:
    """The account of a file that is listed and shown on request: it is used as a whole."""
    used = {str(companion.kind): Tally(1, companion.size)}
    kind = f"gemini-{companion.kind}"
    return FileAccount(companion.path, kind, "any", companion.size, used, {}, {}, {})


def _left_unread(file: FoundFile) -> Reading:
    kind = ProblemKind.LEFT_UNREAD
    problem = Problem(str(file.path), kind, f"{file.size:,} bytes are more than is read here")
    tally = {str(kind): Tally(1, file.size)}
    account = FileAccount(str(file.path), "unknown", "any", file.size, {}, {}, tally, {})
    return Reading((), (account,), (problem,))
