"""A machine with sessions of three agents, and commands on it that end before they are done."""

from __future__ import annotations

import ctypes
import json
import os
import random
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from tests.conftest import FIXTURES, NOW
from tests.support.homes import write_session

CASES = ("gemini/tool-calls-jsonl-1", "claude/fork", "codex/fork")
ROUNDS_AN_EPISODE = 25
WRITTEN = 4
"""Sessions beside those of the cases."""
LONGEST = 30.0
"""Seconds after which a command counts as blocked."""
BUG = 70
"""The exit code of a command that ended with an exception."""


class Ended(NamedTuple):
    """How a command ended."""

    code: int
    """Its exit code, or the negative number of the signal that ended it."""
    out: str
    err: str
    seconds: float
    calls: int
    """Calls that changed the disk."""

    @property
    def has_bug(self) -> bool:
        """Whether it ended in a way in which no command may end."""
        return self.code == BUG or "Traceback" in self.err or self.seconds >= LONGEST

    def __str__(self) -> str:
        return f"exit {self.code} after {self.seconds:.1f} s\n{self.out[-1000:]}\n{self.err}"

    def document(self) -> Any:
        """What it printed with `--json`."""
        return json.loads(self.out)


class Strike(NamedTuple):
    """When a command is hit, and how."""

    call: int = 0
    """At which call that changes the disk; 0 for none."""
    error: int = 0
    """Fail with this error; killed if it is 0."""
    goes_on: bool = False
    """Whether all calls after it fail, too."""
    seconds: float = 0
    """Or at which time it is killed."""


class Machine:
    """A home, our data folder and a folder for what is written, all below one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home, self.data, self.out = folder / "home", folder / "data", folder / "out"
        for path in (self.home, self.data, self.out):
            path.mkdir(parents=True)

    def settle(self, prompt: str = "Write about the harbour") -> None:
        """Put sessions of all agents into the home, as their agents have written them."""
        for case in CASES:
            shutil.copytree(FIXTURES / case / "home", self.home, dirs_exist_ok=True, symlinks=True)
        for number in range(WRITTEN):
            native = f"{number + 1}c0ffee{number}-0000-4000-8000-00000000000{number}"
            write_session(
                self.home, native, slug=f"place-{number}", day=number + 1, prompt=f"{prompt} {number}"
            )

    def session_files(self) -> list[Path]:
        """The sessions that were written beside the cases."""
        return sorted((self.home / ".gemini" / "tmp").glob("place-*/chats/session-*.jsonl"))

    def run(self, *arguments: object, strike: Strike | None = None) -> Ended:
        """One command in a process of its own, hit as is wished."""
        line = [*map(str, arguments), "--home", str(self.home), "--data", str(self.data)]
        return forked(lambda: _command(line), strike or Strike())

    def ask(self, *arguments: object) -> Any:
        """The document that a command prints."""
        return self.must(*arguments, "--json").document()

    def must(self, *arguments: object) -> Ended:
        """Run a command that has no reason to fail. Raises BrokenPromiseError."""
        ended = self.run(*arguments)
        if ended.code or ended.has_bug:
            raise BrokenPromiseError(f"{arguments}: {ended}")
        return ended

    def copies(self) -> dict[str, list[str]]:
        """The digests of what every kept copy really holds, by its path."""
        ended = forked(lambda: _tell_copies(self.data, []), Strike())
        if ended.code:
            raise BrokenPromiseError(f"copies cannot be read:\n{ended.err}")
        copies: dict[str, list[str]] = ended.document()
        return copies

    def copies_that_can_be_read(self) -> dict[str, list[str]]:
        """The same where some may be damaged: those are left out."""
        from geminids.core.errors import GeminidsError

        ended = forked(lambda: _tell_copies(self.data, [GeminidsError]), Strike())
        if ended.code:
            raise BrokenPromiseError(f"copies cannot be read:\n{ended.err}")
        copies: dict[str, list[str]] = ended.document()
        return copies


class BrokenPromiseError(Exception):
    """Something is lost, wrong without a word, or blocked."""


def forked(work: Callable[[], int], strike: Strike) -> Ended:
    """Do something in a copy of this process, which has all modules at hand, and wait for its end."""
    began = time.monotonic()
    told = Path(os.environ["FAULTS_TOLD_IN"], str(os.getpid()))
    for kind in (".out", ".err", ".calls"):
        told.with_suffix(kind).write_text("")
    child = os.fork()
    if not child:
        try:
            os._exit(_as_a_process(work, told, strike))
        finally:
            # Nothing of the parent's may be cleaned up here, whatever happens.
            os._exit(BUG)
    status = _waited_for(child, strike.seconds or LONGEST)
    seconds = time.monotonic() - began
    code = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
    out, err = ((told.with_suffix(kind)).read_text(errors="replace") for kind in (".out", ".err"))
    return Ended(code, out, err, seconds, int(told.with_suffix(".calls").read_text() or 0))


def _waited_for(child: int, seconds: float) -> int:
    until = time.monotonic() + seconds
    pause = 0.0005
    while time.monotonic() < until:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return status
        time.sleep(pause)
        pause = min(pause * 1.3, 0.02)
    os.kill(child, signal.SIGKILL)
    return os.waitpid(child, 0)[1]


def _as_a_process(work: Callable[[], int], told: Path, strike: Strike) -> int:
    """What the child does: everything it prints goes into files."""
    code = BUG
    for number, kind in ((1, ".out"), (2, ".err")):
        handle = os.open(told.with_suffix(kind), os.O_WRONLY)
        os.dup2(handle, number)
        os.close(handle)
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - until the process ends
    sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    try:
        _arm(strike)
        code = work()
        sys.stdout.flush()
        told.with_suffix(".calls").write_text(str(_disarmed()))
    except BaseException:  # noqa: BLE001 - it is what the campaign looks for
        traceback.print_exc()
    sys.stderr.flush()
    return code


def _arm(strike: Strike) -> None:
    if arm := getattr(ctypes.CDLL(None), "fault_arm", None):
        arm(ctypes.c_long(strike.call), strike.error, int(strike.goes_on))


def _disarmed() -> int:
    shim = ctypes.CDLL(None)
    if not hasattr(shim, "fault_calls"):
        return 0
    calls = int(shim.fault_calls())
    shim.fault_arm(ctypes.c_long(0), 0, 0)
    return calls


def _command(line: list[str]) -> int:
    from geminids.faces.cli.main import run

    return run(line, now=NOW)


def _tell_copies(data: Path, forgiven: list[type[Exception]]) -> int:
    from geminids.storage.archive.archive import Archive

    archive = Archive(str(data / "kept"))
    found: dict[str, list[str]] = {}
    if archive.exists():
        for version in archive.all_versions():
            with suppress(*forgiven):
                content = archive.content(version)
                found.setdefault(version.path, []).append(sha256(content).hexdigest())
    print(json.dumps(found))  # noqa: T201
    archive.close()
    return 0


def load_everything() -> None:
    """Import what the commands need, so that forks have it."""
    import geminids.agents.claude.reader
    import geminids.agents.codex.reader
    import geminids.agents.gemini.reader
    import geminids.faces.cli.attest_command
    import geminids.faces.cli.doctor_command
    import geminids.faces.cli.export_command
    import geminids.faces.cli.forget_command
    import geminids.faces.cli.keep_command
    import geminids.faces.cli.list_command
    import geminids.faces.cli.mark_command
    import geminids.faces.cli.restore_command
    import geminids.faces.cli.search_command
    import geminids.faces.cli.show_command
    import geminids.faces.cli.stats_command
    import geminids.faces.cli.sync_command
    import geminids.faces.cli.verify_command
    import geminids.library.attest.attestation
    import geminids.library.attest.records
    import geminids.library.attest.verification  # noqa: F401


def state_of(folder: Path) -> dict[str, tuple[str, int, int]]:
    """Every file below a folder: what is in it, its time and its mode."""
    return {str(path.relative_to(folder)): _state(path) for path in _files(folder)}


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir())


def _state(path: Path) -> tuple[str, int, int]:
    facts = path.lstat()
    content = os.fsencode(path.readlink()) if path.is_symlink() else path.read_bytes()
    return sha256(content).hexdigest(), facts.st_mtime_ns, facts.st_mode


def rounds_random(campaign: str, seed: int, number: int) -> random.Random:
    """All that is left to chance in one round."""
    return random.Random(f"{campaign} {seed} {number}")
