"""How fast searches are inside one process, beside raw ranked FTS5 on the same index; prints one JSON object.

    python benchmarks/searched.py HOME DATA

300 queries: words of the corpus, half of them drawn by how common they are and half evenly, one to three in a
query; one query in six is a phrase from a message. The same text is a query of ours and one of FTS5. Ours
gives what a command shows: sessions, messages, snippets. Then one query of each kind, by itself.
"""

from __future__ import annotations

import json
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

from corpora import truth_of
from generator.vocabulary import vocabulary_of

from geminids.core.model import Origin
from geminids.library import Library
from geminids.query.search.found import Found
from geminids.query.search.question import Question
from geminids.storage.index.search import WINDOW

QUERIES = 300
ROUNDS = 3
NOW = datetime(2026, 10, 1, tzinfo=UTC)
"""The generator's sessions end here."""

RANKED = "SELECT rowid FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT 20"
MATCHES = f"SELECT count(*) FROM (SELECT 1 FROM texts WHERE texts MATCH ? LIMIT {WINDOW})"


def main() -> None:
    """Measure the mix and the kinds."""
    home, data = map(Path, sys.argv[1:])
    with Library([home], data, sync=False) as library:
        raw = _connect(library)
        queries = list(_queries(library, truth_of(home), Random(7)))
        answer = {
            "raw": [_least(partial(_ranked, raw, words)) for words in queries],
            "ours": [_least(partial(_search, library, words)) for words in queries],
            "wrong": [words for words in queries if not _finds_all(library, raw, words)],
            "kinds": {kind: _kind(library, words) for kind, words in _kinds(truth_of(home)).items()},
        }
    print(json.dumps(answer))


def _connect(library: Library) -> sqlite3.Connection:
    connection = sqlite3.connect(f"file:{library.index_facts().path}?mode=ro", uri=True)
    connection.execute("PRAGMA mmap_size = 2000000000")
    return connection


def _queries(library: Library, truth: dict[str, Any], random: Random) -> Iterator[str]:
    vocabulary = vocabulary_of(truth["seed"])
    sound = [session["id"] for session in truth["by_session"] if session["user"] and not session["flaw"]]
    for number in range(QUERIES):
        if number % 6 == 0:
            yield f'"{_phrase(library, sound, random)}"'
        elif number % 2:
            yield _quoted(
                random.choices(
                    vocabulary.words, cum_weights=vocabulary.cumulative_weights, k=random.choice((1, 2, 3))
                )
            )
        else:
            yield _quoted(random.choices(vocabulary.words, k=random.choice((1, 2))))


def _quoted(words: list[str]) -> str:
    return " ".join(f'"{word}"' for word in words)


def _phrase(library: Library, sessions: list[str], random: Random) -> str:
    """Two words that stand beside each other in what a model said."""
    while True:
        messages = library.session(random.choice(sessions)).messages
        said = [text for message in messages if (text := message.text(Origin.MODEL))]
        words = random.choice(said).split() if said else []
        pairs = [pair for pair in pairwise(words) if all(map(_is_plain, pair))]
        if pairs:
            return " ".join(random.choice(pairs))


def _is_plain(word: str) -> bool:
    """Whether raw FTS5 takes it for the word that we take it for: we look for the parts of `camelCase`."""
    return word.isascii() and word.isalpha() and word[1:].islower()


def _kinds(truth: dict[str, Any]) -> dict[str, str]:
    needles = {name: needle["text"] for name, needle in truth["needles"].items()}
    return {
        "rare word": needles["rare1"],
        "word in 30 % of sessions": needles["common30pct"],
        "the most common word": "the",
        "phrase": f'"{needles["phrase"]}"',
        "two Chinese characters": needles["cjk2"],
        "four Chinese characters": needles["cjk4"],
        "one Chinese character": needles["cjk2"][0],
        "part of an identifier": needles["identifier"].split("_")[1],
        "prefix, rare": f"{needles['rare1'][:5]}*",
        "prefix, common": "co*",
        "substring": f"*{needles['rare1'][2:8]}*",
        "regular expression": f"/{needles['few10'][:4]}[a-z]+{needles['few10'][-3:]}/",
        "filtered by role and time": f"{needles['common30pct']} role:assistant since:2026-06-01",
        "filtered by tool": "error tool:run_shell_command",
        "a filter alone": "is:rewound",
    }


def _ranked(raw: sqlite3.Connection, words: str) -> list[Any]:
    return raw.execute(RANKED, (words,)).fetchall()


def _search(library: Library, words: str) -> Found:
    return library.search(Question(words), NOW)


def _kind(library: Library, words: str) -> tuple[float, int]:
    """Milliseconds, and how many messages match."""
    return _least(partial(_search, library, words)), _search(library, words).total.matches


def _finds_all(library: Library, raw: sqlite3.Connection, words: str) -> bool:
    """Whether we find as many messages as FTS5; sessions with the words in several do not count."""
    found = _search(library, words)
    (matches,) = raw.execute(MATCHES, (words,)).fetchone()
    return bool(matches == (0 if found.is_spread else found.total.matches))


def _least(work: Callable[[], object]) -> float:
    """Milliseconds of CPU: the least of some rounds."""
    taken = []
    for _ in range(ROUNDS):
        before = time.process_time()
        work()
        taken.append(time.process_time() - before)
    return min(taken) * 1e3


if __name__ == "__main__":
    main()
