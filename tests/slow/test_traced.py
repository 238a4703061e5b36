"""`web` and `watch` as the system sees them: what they open, whom they speak to, what others may read."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest

from tests.conftest import ROOT
from tests.support.homes import write_session
from tests.support.web_apps import PATIENCE, wait_until

CALLS = "trace=%network,open,openat,openat2,creat,mkdir,mkdirat,execve"
OPENED = re.compile(r'(?:open|openat|openat2|creat)\((?:[^"]*, )?"(?P<path>(?:[^"\\]|\\.)*)".* = \d+')
SYSTEM = (
    "/lib",
    "/usr",
    "/etc/ld.so",
    "/etc/localtime",
    "/etc/ssl",
    "/proc",
    "/sys",
    "/dev/null",
    "/dev/urandom",
)
"""Libraries, time zones, and what the system says of itself."""
PRIVATE = (".ssh/id_rsa", ".gemini/oauth_creds.json", ".gemini/google_accounts.json", "notes.txt", ".netrc")
ASKED = (
    "/",
    "/api/about",
    "/api/overview",
    "/api/sessions",
    "/api/search?q=login",
    "/api/projects",
    "/api/usage",
    "/api/health",
    "/api/health/doctor",
    "/api/session/opening?id=1f0c9a2b",
    "/api/session/raw?id=1f0c9a2b&number=1",
    "/api/session/export?id=1f0c9a2b&format=html",
    "/api/session/resume?id=1f0c9a2b",
)


class Traced(NamedTuple):
    """A command that runs on a machine of its own, and what the system heard of it."""

    machine: Path
    process: subprocess.Popen[str]

    @property
    def calls(self) -> list[str]:
        return (self.machine.parent / "calls").read_text(errors="replace").splitlines()

    def end(self) -> None:
        os.kill(int((self.machine.parent / "pid").read_text()), signal.SIGTERM)
        self.process.communicate(timeout=PATIENCE)

    def opened(self) -> set[str]:
        found = (OPENED.search(call) for call in self.calls)
        return {one["path"] for one in found if one}


@contextmanager
def traced(folder: Path, *line: str) -> Iterator[Traced]:
    """A command under strace, which lets others read whatever it does not itself close to them."""
    if not shutil.which("strace"):
        pytest.skip(
            "strace is not installed: what the commands open and whom they speak to was NOT looked at"
        )
    machine, temporary = folder / "machine", folder / "temporary"
    for path in (machine, temporary):
        path.mkdir()
    write_session(machine)
    for name in PRIVATE:
        (machine / name).parent.mkdir(exist_ok=True)
        (machine / name).write_text("secret")
    environment = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    environment |= {"HOME": str(machine), "TMPDIR": str(temporary), "PYTHONDONTWRITEBYTECODE": "1"}
    run = [
        "sh",
        "-c",
        'echo $$ > "$0"; exec "$@"',
        str(folder / "pid"),
        sys.executable,
        "-m",
        "geminids",
        *line,
    ]
    start = ["strace", "-f", "-qq", "-s", "4096", "-e", CALLS, "-o", str(folder / "calls"), *run]
    pipe = subprocess.PIPE
    with subprocess.Popen(start, stdout=pipe, stderr=pipe, text=True, env=environment, umask=0) as process:
        try:
            yield Traced(machine, process)
        finally:
            if process.poll() is None:
                process.kill()


def check(command: Traced, data: Path, *, listens: bool) -> None:
    calls = command.calls
    programs = [call for call in calls if "execve(" in call and " = 0" in call]
    assert len(programs) == 2, f"the shell and the program itself: {programs}"
    sockets = [call for call in calls if re.search(r"\bsocket\((?!AF_UNIX)", call)]
    assert len(sockets) == listens, sockets
    assert all("AF_INET," in call for call in sockets)
    bound = [call for call in calls if "bind(" in call]
    assert len(bound) == listens
    assert all('inet_addr("127.0.0.1")' in call for call in bound)
    spoken = [call for call in calls if re.search(r"\b(?:connect|sendto|sendmsg|sendmmsg)\(", call)]
    assert not [call for call in spoken if "sa_family" in call], spoken
    machine = command.machine
    homes = [machine / ".gemini", machine / ".claude", machine / ".codex"]
    program = {sys.prefix, sys.base_prefix, *sysconfig.get_paths().values(), str(ROOT)}
    allowed = (
        *SYSTEM,
        *program,
        *map(str, (*homes, data, machine.parent / "temporary", machine.parent / "pid")),
    )
    assert not [path for path in command.opened() if path.startswith("/") and not path.startswith(allowed)]
    assert not [path for path in command.opened() if path.endswith(PRIVATE)]
    assert str(next(homes[0].rglob("*.jsonl"))) in command.opened(), "the calls were heard"
    folders = [path for path in (data, *(machine.parent / "temporary").iterdir()) if path.exists()]
    left = [path for folder in folders for path in (folder, *folder.rglob("*"))]
    assert not [path for path in left if path.stat().st_mode & 0o077], "others may read it"


def append(home: Path) -> None:
    record = {"id": f"u{time.monotonic()}", "timestamp": "2026-05-01T11:00:00.000Z", "type": "user"}
    with next(home.rglob("*.jsonl")).open("a") as file:
        file.write(json.dumps({**record, "content": [{"text": "Go on"}]}) + "\n")


def until(is_told: Callable[[], bool], home: Path) -> None:
    def is_done() -> bool:
        append(home)
        time.sleep(0.2)
        return is_told()

    wait_until(is_done, "what is written", 60)


def test_web_opens_what_it_must_and_speaks_to_nobody_else(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with traced(tmp_path, "web", "--no-open", "--data", str(data)) as command:
        assert command.process.stdout
        address = urlsplit(command.process.stdout.readline().strip())
        (token,) = parse_qs(address.query)["token"]
        base, headers = f"http://{address.netloc}", {"x-geminids-token": token}
        with httpx2.Client(base_url=base, headers=headers, timeout=60) as client:
            wait_until(lambda: client.get("/api/sessions").status_code == 200, "the first index", 60)
            for path in ASKED:
                assert client.get(path).status_code == 200, path
            with client.stream("GET", "/api/events") as stream:
                lines = stream.iter_lines()
                until(lambda: "event: " in next(lines) or "event: " in next(lines), command.machine)
        command.end()
        check(command, data, listens=True)
        assert any(data.rglob("*.db"))


def test_watch_opens_what_it_must_and_speaks_to_nobody(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with traced(tmp_path, "watch", "--data", str(data)) as command:
        home = command.machine / ".gemini"
        wait_until(lambda: (tmp_path / "pid").exists() and bool(command.opened()), "the start", 60)
        for _ in range(20):
            append(home)
            time.sleep(0.2)
        command.end()
        check(command, data, listens=False)
