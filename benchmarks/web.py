"""How soon the web app is there and how fast it answers: questions, a huge session, many who ask at once.

    python benchmarks/web.py [--sessions 1000] [--seed N] [--rounds 3] [--corpus DIR] [--keep]

Judged is the CPU time of the server, which a machine that is busy with something else does not change much;
the time of the clock stands beside it. Goals are stated for 10,000 sessions. An answer that is no answer
fails the run.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from random import Random
from time import perf_counter
from typing import Any, NamedTuple

from corpora import chosen, grow, linked, logs_by_size, truth_of
from generator.vocabulary import vocabulary_of
from huge import MESSAGES, NATIVE_ID, write_huge
from measuring import ROOT, Goal, Verdict, emptied, options
from ours import Place, write_bytecode
from served import Answer, Server, serving

LARGE = 10_000
"""Sessions for which the goals are stated."""
QUESTIONS = 60
"""Of each kind; each is another one, since answers are kept for a moment."""
CLIENTS = 20
REQUESTS = 50
WINDOWS = 40

Question = tuple[str, Mapping[str, object]]


def main() -> int:
    """Measure everything; 1 if an answer is missing or a goal is missed."""
    told = options(__doc__, rounds=3)
    if find_spec("uvicorn") is None:
        print("The extra `web` is not installed: nothing to measure.")
        return 0
    bench = emptied(ROOT / ".bench" / "web")
    corpus = chosen(told, bench)
    write_bytecode(bench)
    verdict = Verdict(truth_of(corpus)["sessions"])
    place = Place(linked(corpus, bench / "home"), bench / "data", "default scope")
    place.built()
    measure_start(verdict, place, told.rounds)
    with serving(place) as server:
        server.in_step()
        measure_questions(verdict, server, truth_of(corpus))
        measure_clients(verdict, server, place)
    measure_huge(verdict, bench, told.rounds)
    if not told.keep:
        shutil.rmtree(bench)
    return verdict.conclude()


# Start


def measure_start(verdict: Verdict, place: Place, rounds: int) -> None:
    """From the command to the first answer, and to what the page opens with."""
    starts = [_start(place) for _ in range(rounds)]
    for what, goal, figures in zip(
        ("it answers", "home is there"), (0.7, 1.0), zip(*starts, strict=True), strict=True
    ):
        cpu, wall = min(cpu for cpu, _ in figures), min(wall for _, wall in figures)
        verdict.line(f"start: {what}, by the clock", f"{wall:.2f} s")
        verdict.at_most(f"start: {what}", cpu, Goal(goal, "s CPU"))


def _start(place: Place) -> tuple[tuple[float, float], tuple[float, float]]:
    """CPU seconds and those of the clock, at two moments."""
    with serving(place) as server:
        asking = server.asking()
        alive = asking.ask("/healthz")
        first = server.cpu(), _since(server)
        home = asking.ask("/api/overview")
        if (alive.status, home.status) != (200, 200):
            raise RuntimeError(f"{alive.status}, {home.status}")
        return first, (server.cpu(), _since(server))


def _since(server: Server) -> float:
    return perf_counter() - server.began


# Questions


def measure_questions(verdict: Verdict, server: Server, truth: Mapping[str, Any]) -> None:
    """Each kind of question by itself."""
    words, random = _words(truth, Random(7)), Random(11)
    asking = server.asking()
    known = asking.ask("/api/projects", limit=200).document["projects"]
    projects = [one["project"]["name"] for one in known]
    kinds: dict[str, tuple[float | None, Iterable[Question]]] = {
        "list": (100, (("/api/sessions", {"limit": 20 + n}) for n in range(QUESTIONS))),
        "list, a project": (100, (("/api/sessions", {"project": p}) for p in projects[:QUESTIONS])),
        "list, since": (100, (("/api/sessions", {"since": f"{9 + n}d"}) for n in range(QUESTIONS))),
        "list, words": (100, (("/api/sessions", {"q": word}) for word in words[:QUESTIONS])),
        "list, words and since": (
            100,
            (
                ("/api/sessions", {"q": f"{word} since:{200 + n}d"})
                for n, word in enumerate(words[:QUESTIONS])
            ),
        ),
        "search, a word": (100, (("/api/search", {"q": word}) for word in words[:QUESTIONS])),
        "search, two words": (
            100,
            (("/api/search", {"q": " ".join(random.sample(words, 2))}) for _ in range(QUESTIONS)),
        ),
        "search, a word in a project": (
            100,
            (("/api/search", {"q": word, "project": random.choice(projects)}) for word in words[:QUESTIONS]),
        ),
        "facets": (150, (("/api/facets", {"since": f"{900 + n}d"}) for n in range(10))),
        "facets, words": (150, (("/api/facets", {"q": word}) for word in words[:QUESTIONS])),
        "usage": (None, (("/api/usage", {"limit": 300 + n}) for n in range(10))),
        "usage over time": (None, (("/api/usage/series", {"limit": 1 + n}) for n in range(10))),
    }
    for name, (bound, questions) in kinds.items():
        answers = [asking.ask(path, **asked) for path, asked in questions]
        _judge(verdict, f"{name}, p95", answers, bound)


def _words(truth: Mapping[str, Any], random: Random) -> list[str]:
    """Words of the corpus: half of them as common as they are, half drawn evenly."""
    vocabulary = vocabulary_of(truth["seed"])
    common = random.choices(vocabulary.words, cum_weights=vocabulary.cumulative_weights, k=4 * QUESTIONS)
    drawn = list(dict.fromkeys(common))[:QUESTIONS] + random.sample(vocabulary.words, QUESTIONS)
    random.shuffle(drawn)
    return [f'"{word}"' for word in drawn]


def _judge(verdict: Verdict, what: str, answers: list[Answer], bound: float | None) -> None:
    bad = [answer.status for answer in answers if answer.status != 200]
    if bad:
        verdict.line(what, f"{len(bad)} refused", f"{bad[0]}", good=False)
    cpu, wall = _at(answers, 0.95, "cpu"), _at(answers, 0.95, "wall")
    middle = f"p50 {_at(answers, 0.5, 'wall'):.1f} ms by the clock, p95 {wall:.1f}"
    if bound is None:
        verdict.line(what, f"{cpu:.1f} ms CPU", middle)
    else:
        verdict.line(what, f"{cpu:.1f} ms CPU", f"{middle}; at most {bound:.0f} ms CPU", good=cpu <= bound)


def _at(answers: list[Answer], share: float, which: str) -> float:
    figures = sorted(getattr(answer, which) for answer in answers)
    return float(figures[min(len(figures) - 1, int(len(figures) * share))])


# Many at once


def measure_clients(verdict: Verdict, server: Server, place: Place) -> None:
    """Twenty who ask fifty times each, while files grow and are taken in."""
    words = _words(truth_of(place.home), Random(13))
    ids = [one["id"] for one in server.asking().ask("/api/sessions", limit=100).document["sessions"]]
    before = server.cpu()
    with ThreadPoolExecutor(CLIENTS + 1) as pool:
        growing = pool.submit(_grow, server, place)
        asked = list(pool.map(partial(_ask_often, server, words, ids), range(CLIENTS)))
        growing.result()
    answers = [answer for some in asked for answer in some]
    each = (server.cpu() - before) / len(answers) * 1e3
    bad = sum(answer.status != 200 for answer in answers)
    verdict.line(f"{CLIENTS} clients, {len(answers)} requests: refused", str(bad), "none", good=not bad)
    clock = f"p50 {_at(answers, 0.5, 'wall'):.0f} ms by the clock, p95 {_at(answers, 0.95, 'wall'):.0f}"
    verdict.line(f"{CLIENTS} clients, a request", f"{each:.1f} ms CPU", clock)


def _ask_often(server: Server, words: list[str], ids: list[str], client: int) -> list[Answer]:
    asking = server.asking()
    answers = []
    for number in range(client * REQUESTS, (client + 1) * REQUESTS):
        word, session = words[number % len(words)], ids[number % len(ids)]
        questions: tuple[Question, ...] = (
            ("/api/search", {"q": word}),
            ("/api/sessions", {"limit": 1 + number % 200}),
            ("/api/session/messages", {"id": session}),
            ("/api/overview", {}),
            ("/api/sessions", {"q": word}),
        )
        path, asked = questions[number % len(questions)]
        answers.append(asking.ask(path, **asked))
    return answers


def _grow(server: Server, place: Place) -> None:
    """Something is written, and taken in, again and again."""
    asking = server.asking()
    for log in logs_by_size(place.home)[:10]:
        grow(log)
        asking.order("/api/sync")


# A huge session


def measure_huge(verdict: Verdict, bench: Path, rounds: int) -> None:
    """A session of 50,000 messages: its beginning when nobody has read it, all of it, and windows of it."""
    place = Place(write_huge(bench / "huge"), bench / "huge-data", "default scope")
    place.built()
    opened = [_opened(place) for _ in range(rounds)]
    huge = f"{MESSAGES:,} messages"
    _judge(verdict, f"{huge}: it opens", [_least(one.begun for one in opened)], 500)
    _judge(verdict, f"{huge}: all of it is read", [_least(one.whole for one in opened)], None)
    _judge(verdict, f"{huge}: a window, p95", [window for one in opened for window in one.windows], 100)


class Opened(NamedTuple):
    """What opening it took."""

    begun: Answer
    whole: Answer
    windows: list[Answer]


def _least(answers: Iterable[Answer]) -> Answer:
    """Noise only ever adds time."""
    every = list(answers)
    status = max(one.status for one in every)
    return Answer(status, None, min(one.wall for one in every), min(one.cpu for one in every))


def _opened(place: Place) -> Opened:
    with serving(place) as server:
        server.in_step()
        asking, session = server.asking(), f"gemini:{NATIVE_ID}"
        begun = asking.ask("/api/session/opening", id=session)
        whole = asking.ask("/api/session/opening", id=session, whole=True)
        if whole.document["messages"] != MESSAGES or not begun.document["story"]["entries"]:
            raise RuntimeError("messages are missing")
        random = Random(3)
        windows = [
            asking.ask("/api/session/messages", id=session, start=random.randrange(MESSAGES - 50))
            for _ in range(WINDOWS)
        ]
        return Opened(begun, whole, windows)


if __name__ == "__main__":
    sys.exit(main())
