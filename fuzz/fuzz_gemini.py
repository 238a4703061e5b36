"""Damages recorded files and looks whether the reader of Gemini CLI still keeps its promises.

    python fuzz/fuzz_gemini.py [--seconds 300] [--engine atheris|random] [--seed N]

Whatever happens to a file: reading it never raises, its account adds up to its size, and every message of a
session file that lies wholly before the damage is still there. What lies beside sessions is damaged too.
A file that breaks a promise is left in `.fuzz/`, and the run ends with 1. Atheris steers by what the code
does with the files; without it the damage is random.
"""

from __future__ import annotations

import argparse
import importlib.util
import random
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    # The reader itself is loaded later, under the eyes of the fuzzer.
    from geminids.core.model import Message

ROOT = Path(__file__).resolve().parents[1]
FINDINGS = ROOT / ".fuzz"
SCRATCH = FINDINGS / "home" / ".gemini" / "tmp" / "fuzzed" / "chats"
sys.path.insert(0, str(Path(__file__).parent))

HAS_ATHERIS = importlib.util.find_spec("atheris") is not None
LARGEST = 60_000
"""Bigger files only make the rounds slower."""

SLOW = 20.0
"""Seconds after which a file counts as one that hangs the reader."""


class BrokenPromiseError(AssertionError):
    """The reader did with a file what it must not do."""


class Seed(NamedTuple):
    """A recorded file, and where each message of a session ends in it."""

    path: Path
    raw: bytes
    ends: dict[str, int]


class RandomChoices:
    """Decisions by chance."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def below(self, bound: int) -> int:
        """A number from 0 up to, not including, the bound."""
        return self._random.randrange(bound) if bound > 0 else 0


class LearntChoices:
    """Decisions out of the bytes that a fuzzer tries."""

    def __init__(self, provider: Any) -> None:
        self._provider = provider

    def below(self, bound: int) -> int:
        """A number from 0 up to, not including, the bound."""
        return int(self._provider.ConsumeIntInRange(0, bound - 1)) if bound > 0 else 0


class Target:
    """The check, with the seeds it damages and a folder to put them in."""

    def __init__(self, scratch: Path) -> None:
        from geminids.agents.gemini import GeminiSource

        self._source = GeminiSource()
        self._scratch = scratch
        self._seeds = [self._seed(path) for path in recorded_files()]
        self.rounds = 0

    def _seed(self, path: Path) -> Seed:
        is_session = "chats" in path.parts
        return Seed(path, path.read_bytes(), self._message_ends(path) if is_session else {})

    def _message_ends(self, path: Path) -> dict[str, int]:
        """Where each message first ends; not those that were already damaged when they were recorded."""
        reading = self._source.read_alone(path)
        if reading is None:
            return {}
        broken = {problem.end for problem in reading.problems}
        ends: dict[str, int] = {}
        for message in (message for session in reading.sessions for message in session.messages):
            end = message.source.end
            if end not in broken:
                ends[written_id(message)] = min(end, ends.get(written_id(message), end))
        return ends

    def one_round(self, choices: Any) -> None:
        """Damage one file and check it."""
        from damage import damaged

        self.rounds += 1
        seed = self._seeds[choices.below(len(self._seeds))]
        raw = damaged(seed.raw, choices)
        path = self._scratch / seed.path.name
        path.write_bytes(raw)
        try:
            self._check_in_time(seed, path, raw)
        except Exception as error:  # whatever it was, the file that caused it is worth keeping
            report(seed, raw, error)
            raise
        finally:
            path.unlink()

    def _check_in_time(self, seed: Seed, path: Path, raw: bytes) -> None:
        started = time.process_time()
        self._check(seed, path, raw)
        if time.process_time() - started > SLOW:
            raise BrokenPromiseError(f"reading took more than {SLOW:.0f} seconds")

    def _check(self, seed: Seed, path: Path, raw: bytes) -> None:
        before = len(common_start(seed.raw, raw))
        wanted = {name for name, end in seed.ends.items() if end <= before}
        reading = self._source.read_alone(path)
        if reading is None:
            if wanted:
                raise BrokenPromiseError(
                    f"no session any more, but {len(wanted)} messages lie before byte {before}"
                )
            return
        for account in reading.accounts:
            tallies = [*account.used.values(), *account.ignored.values(), *account.problem.values()]
            if not sum(tally.bytes for tally in tallies) == account.size == len(raw):
                raise BrokenPromiseError(f"{len(raw)} bytes, but the account has {account}")
        found = {written_id(message) for session in reading.sessions for message in session.messages}
        if wanted - found:
            raise BrokenPromiseError(f"lost {sorted(wanted - found)}, which lie before byte {before}")


def written_id(message: Message) -> str:
    """The id in the file: behind it, we name versions of a message, and what is new in one that repeats."""
    return message.id.removesuffix("+").partition("~")[0]


def recorded_files() -> list[Path]:
    """The session files of the fixtures, and the files beside them that hold conversations."""
    patterns = ("chats/**/*.json*", "logs.json*", "checkpoint*.json", "checkpoints/*", "bug-report*")
    cases = ROOT / "tests" / "fixtures" / "gemini"
    files = [path for pattern in patterns for path in cases.glob(f"*/home/.gemini/tmp/*/{pattern}")]
    files += cases.glob("*/beside/**/*.*")
    return sorted(path for path in files if path.is_file() and path.stat().st_size <= LARGEST)


def common_start(one: bytes, other: bytes) -> bytes:
    """The bytes with which both begin."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[:middle] == other[:middle] else (low, middle - 1)
    return one[:low]


def report(seed: Seed, raw: bytes, error: Exception) -> None:
    """Keep a file that broke a promise, under the name it needs to be read by."""
    folder = FINDINGS / f"finding-{time.time_ns()}"
    folder.mkdir(parents=True)
    (folder / seed.path.name).write_bytes(raw)
    print(f"{type(error).__name__}: {error}\n  damaged from {seed.path.relative_to(ROOT)}", file=sys.stderr)
    print(f"  kept as {(folder / seed.path.name).relative_to(ROOT)}", file=sys.stderr)


def fuzz_at_random(target: Target, seconds: float, seed: int) -> None:
    """Damage by chance until the time is up."""
    choices = RandomChoices(seed)
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        target.one_round(choices)
    print(f"{target.rounds} damaged files (seed {seed}), no promise broken")


def fuzz_with_atheris(seconds: float, seed: int) -> None:
    """Let atheris decide on the damage; it ends the process when the time is up."""
    import atheris

    with atheris.instrument_imports(include=["geminids"]):
        target = Target(SCRATCH)

    def one_round(tried: bytes) -> None:
        target.one_round(LearntChoices(atheris.FuzzedDataProvider(tried)))

    limits = [f"-max_total_time={seconds:.0f}", f"-seed={seed % 2**31}", "-max_len=256", "-len_control=0"]
    speech = ["-verbosity=0", "-print_final_stats=1", f"-artifact_prefix={FINDINGS}/"]
    print(f"damaging recorded files for {seconds:.0f} seconds (atheris, seed {seed})", flush=True)
    atheris.Setup([sys.argv[0], *limits, *speech], one_round)
    atheris.Fuzz()


def main() -> None:
    """Fuzz for a while."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument(
        "--engine", choices=["atheris", "random"], default="atheris" if HAS_ATHERIS else "random"
    )
    parser.add_argument("--seed", type=int, default=int(time.time()), help="a fresh one by default")
    options = parser.parse_args()
    SCRATCH.mkdir(parents=True, exist_ok=True)
    if options.engine == "atheris":
        fuzz_with_atheris(options.seconds, options.seed)
    else:
        fuzz_at_random(Target(SCRATCH), options.seconds, options.seed)


if __name__ == "__main__":
    main()
