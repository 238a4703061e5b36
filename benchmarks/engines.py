"""How fast engines read homes: one process, the process pool, Spark on this machine; by the clock.

    python benchmarks/engines.py [--sessions 1000] [--seed N] [--rounds 3] [--corpus DIR] [--keep]

All ask for the table of messages with its words, secrets not hidden. Rounds are interleaved, and the least
time of each counts. Spark is measured where it is installed (`make bench-scale`), after it has started; the
first answer, for which its Pythons start, is told apart.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from corpora import chosen, truth_of
from measuring import ROOT, Verdict, emptied, options

from geminids.core.disk import REAL
from geminids.scale.engine import Question, read
from geminids.scale.homes import pieces

POOL, SPARK = 1.7, 2.0
"""The least that two processes gain over one, and the most that Spark takes over these."""
TABLE = "messages"
BYTES = 16_000_000
"""Of a piece: enough of them for two cores, also of a small corpus."""
Rows = Callable[[], int]


def main() -> int:
    """Measure everything; 1 if engines differ or a bound is broken."""
    told = options(__doc__, rounds=3)
    bench = emptied(ROOT / ".bench" / "engines")
    corpus = chosen(told, bench)
    truth = truth_of(corpus)
    verdict = Verdict(truth["sessions"])
    verdict.line("cores, load", f"{os.cpu_count()}, {os.getloadavg()[0]:.1f}")
    with _spark() as spark:
        ways: dict[str, Rows] = {name: partial(_read, corpus, jobs) for name, jobs in (("1", 1), ("2", 2))}
        if spark is not None:
            ways["spark"] = partial(spark, corpus)
            _first_answer(verdict, ways["spark"])
        taken, rows = _measured(ways, told.rounds)
    verdict.line("rows, the same for all", ", ".join(map(str, sorted(rows))), good=len(rows) == 1)
    for name, label in (("1", "one process"), ("2", "pool of two"), ("spark", "Spark local[2]")):
        if name in taken:
            rate = f"{truth['bytes'] / 1e6 / taken[name]:.0f} MB/s, {max(rows) / taken[name]:,.0f} rows/s"
            verdict.line(label, f"{taken[name]:.2f} s, {rate}")
    gained = taken["1"] / taken["2"]
    verdict.line("the pool over one process", f"{gained:.2f}x", f"at least {POOL}x", gained >= POOL)
    if spark is not None:
        over = taken["spark"] / taken["2"]
        verdict.line("Spark over the pool", f"{over:.2f}x", f"at most {SPARK}x", over <= SPARK)
    if not told.keep:
        shutil.rmtree(bench)
    return verdict.conclude()


def _measured(ways: dict[str, Rows], rounds: int) -> tuple[dict[str, float], set[int]]:
    """The least time of each, and how many rows they told."""
    taken: dict[str, float] = {}
    rows: set[int] = set()
    for _ in range(rounds):
        for name, way in ways.items():
            began = time.perf_counter()
            rows.add(way())
            seconds = time.perf_counter() - began
            taken[name] = min(seconds, taken.get(name, seconds))
    return taken, rows


def _read(corpus: Path, jobs: int) -> int:
    questions = (Question(piece, TABLE) for piece in pieces(REAL, str(corpus), most=BYTES))
    return sum(batch.num_rows for batch in read(questions, jobs))


def _first_answer(verdict: Verdict, ask: Rows) -> None:
    began = time.perf_counter()
    ask()
    verdict.line("Spark, the first answer", f"{time.perf_counter() - began:.1f} s")


@contextmanager
def _spark() -> Iterator[Callable[[Path], int] | None]:
    """What asks Spark; nothing, where it is not installed."""
    if importlib.util.find_spec("py4j") is None:
        print("No Spark here: `make bench-scale` has it in an environment of its own.")
        yield None
        return
    from pyspark.sql import SparkSession

    from geminids.scale.spark import register

    os.environ["PYSPARK_PYTHON"] = sys.executable
    began = time.perf_counter()
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.ui.showConsoleProgress", "false")
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    register(spark)
    print(f"Spark started in {time.perf_counter() - began:.1f} s")

    def ask(corpus: Path) -> int:
        loading = spark.read.format("geminids").option("table", TABLE).option("redact", "false")
        told = loading.option("bytes", str(BYTES)).load(str(corpus))
        # All columns are made and handed over, whatever is done with them.
        rows, _ = told.selectExpr("count(*)", "sum(length(text))").collect()[0]
        return int(rows)

    yield ask
    spark.stop()


if __name__ == "__main__":
    sys.exit(main())
