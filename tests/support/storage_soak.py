"""Reads tables from object storage many times, with and without trouble on the way: none may hang.

    python -m tests.support.storage_soak [--server seaweedfs|moto] [--trouble none|slow|refused]
                                         [--rounds 200] [--at-once 1] [--machines 13] [--stop TERM|INT]

Each read is a `geminids sql --tables s3://…` of its own. `slow` delays a tenth of all requests by two
seconds, `refused` answers 503 to three in ten. With `--stop` each read gets a signal at a random moment, and
has to end within two seconds.

The figures are seconds by the clock. Exit code 1: a read hung, failed or took too long.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import NamedTuple

from geminids.scale.places.objects import ObjectStore
from tests.conftest import FIXTURES
from tests.support.large_homes import write_large_home
from tests.support.object_storage import Choose, Fault, Proxy, Server, moto_server, s3_server
from tests.support.tables import write_tables

SERVERS: Mapping[str, Callable[[Path], AbstractContextManager[Server]]] = {
    "seaweedfs": s3_server,
    "moto": moto_server,
}
LIMIT = 120.0
"""Seconds after which a read counts as hung."""
STOP_LIMIT = 2.0
"""Seconds within which a read ends after a signal."""
_DRAWN = random.Random(1)
TROUBLES: Mapping[str, Choose] = {
    "none": lambda method, path, number: None,
    "slow": lambda method, path, number: Fault(wait=2.0) if _DRAWN.random() < 0.1 else None,
    "refused": lambda method, path, number: Fault(503) if _DRAWN.random() < 0.3 else None,
}
QUERY = "select count(*), sum(total) from requests"
RECORDED = ("gemini/ask-user", "claude/tools", "claude/upgrade-2.0.76", "codex/tools", "codex/subagents")
"""Homes that every machine has a copy of."""


class Read(NamedTuple):
    """One read."""

    seconds: float
    code: int | None
    """None if the read hung."""
    out: str
    err: str


def write_lake(folder: Path, uri: str, machines: int) -> None:
    """Write the tables of so many machines, each with own sessions and recorded ones of every agent."""
    # SeaweedFS makes a bucket with the first object in it.
    ObjectStore(uri).put("README", b"tables")
    for machine in range(machines):
        home = folder / f"home-{machine}"
        write_large_home(home, range(4 * machine, 4 * machine + 4), turns=4)
        for case in RECORDED:
            shutil.copytree(FIXTURES / case / "home", home, dirs_exist_ok=True)
        write_tables(home, folder / f"data-{machine}", uri, f"machine-{machine}")


def read_once(uri: str, environment: Mapping[str, str], limit: float = LIMIT) -> Read:
    """Ask once, in a process of its own."""
    began = time.monotonic()
    with _started(uri, environment) as running:
        try:
            out, err = running.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            return Read(time.monotonic() - began, None, "", "")
    return Read(time.monotonic() - began, running.returncode, out, err)


def stop_once(
    uri: str, environment: Mapping[str, str], sent: signal.Signals, after: float, query: str = QUERY
) -> Read:
    """Ask, send a signal after some seconds, and measure how long the process goes on."""
    with _started(uri, environment, query) as running:
        try:
            out, err = running.communicate(timeout=after)
        except subprocess.TimeoutExpired:
            running.send_signal(sent)
        else:
            return Read(0.0, running.returncode, out, err)
        began = time.monotonic()
        try:
            out, err = running.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            return Read(time.monotonic() - began, None, "", "")
    return Read(time.monotonic() - began, running.returncode, out, err)


@contextmanager
def _started(uri: str, environment: Mapping[str, str], query: str = QUERY) -> Iterator[subprocess.Popen[str]]:
    line = [sys.executable, "-m", "geminids", "sql", "--tables", uri, "--format", "csv", query]
    running = subprocess.Popen(
        line, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        yield running
    finally:
        running.kill()
        running.communicate()


def main(arguments: Sequence[str] | None = None) -> int:
    """Write a lake, read it many times, print the figures."""
    parser = ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--server", choices=SERVERS, default="seaweedfs")
    parser.add_argument("--trouble", choices=TROUBLES, default="none")
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--at-once", type=int, default=1)
    parser.add_argument("--machines", type=int, default=13)
    parser.add_argument("--stop", choices=["TERM", "INT"])
    given = parser.parse_args(arguments)
    with (
        tempfile.TemporaryDirectory(prefix="geminids-soak-") as folder,
        SERVERS[given.server](Path(folder, "server")) as server,
    ):
        os.environ.update(server.variables())
        uri = "s3://team/sessions"
        write_lake(Path(folder), uri, given.machines)
        files = len(list(ObjectStore(uri).listed()))
        proxy = Proxy(server)
        proxy.choose = TROUBLES[given.trouble]
        url = server.url if given.trouble == "none" else proxy.url
        _print(f"{given.server}, {given.trouble}: {given.machines} machines, {files} files")
        environment = {**os.environ, **server.variables(url=url)}
        with ThreadPoolExecutor(given.at_once) as pool:
            reads = list(pool.map(lambda _: _round(uri, environment, given.stop), range(given.rounds)))
        proxy.close()
    return _conclude(reads, given.stop)


def _round(uri: str, environment: Mapping[str, str], stop: str | None) -> Read:
    if stop is None:
        read = read_once(uri, environment)
    else:
        read = stop_once(uri, environment, signal.Signals[f"SIG{stop}"], _DRAWN.uniform(0.2, 1.0))
    if read.code is None or (stop is None and read.code):
        _print(f"  {read.seconds:.1f} s, code {read.code}: {read.err.strip()[-300:]}")
    return read


def _conclude(reads: Sequence[Read], stop: str | None) -> int:
    seconds = sorted(read.seconds for read in reads)
    hung = sum(read.code is None for read in reads)
    failed = sum(bool(read.code) for read in reads) if stop is None else 0
    answers = {read.out for read in reads if read.code == 0}
    median = statistics.median(seconds)
    over = sum(read.seconds > 10 * median for read in reads) if stop is None else 0
    _print(
        f"  {len(reads)} reads: {hung} hung, {failed} failed, {len(answers)} different answers; "
        f"median {median:.2f} s, 95 % {seconds[int(0.95 * (len(seconds) - 1))]:.2f} s, "
        f"most {seconds[-1]:.2f} s, over ten medians: {over}"
    )
    late = stop is not None and seconds[-1] > STOP_LIMIT
    return int(bool(hung or failed or late or len(answers) > 1))


def _print(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
