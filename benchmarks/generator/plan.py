"""What every session of a home is, settled before the first is written."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import NamedTuple

from generator.vocabulary import vocabulary_of

AGENTS = ("gemini", "claude", "codex")


class Needle(NamedTuple):
    """A text that nothing else in the home can hold."""

    text: str
    sessions: int | float
    """How many sessions hold it, or what share of them."""
    where: str
    """Who says it: the user, the assistant, a tool …"""


NEEDLES = {
    "rare1": Needle("zorblequin", 1, "user"),
    "few10": Needle("quaxiverde", 10, "assistant"),
    "mid1pct": Needle("frondelium", 0.01, "user"),
    "common30pct": Needle("velkomartin", 0.30, "assistant"),
    "phrase": Needle("amberkin lattices falconry", 5, "assistant"),
    "phrase_words_apart": Needle("falconry amberkin lattices", 40, "assistant"),
    "identifier": Needle("resolve_grumblewick_config", 8, "tool"),
    "tool_only": Needle("toolshadrix", 7, "tool"),
    "thought_only": Needle("mindspindle", 7, "thought"),
    "cjk2": Needle("龘靈", 6, "cjk"),
    "cjk4": Needle("麤麟密鑰", 6, "cjk"),
    "hangul": Needle("찾아보세요", 4, "user"),
    "accent": Needle("cafébrulée", 4, "user"),
    "ghost_rewound": Needle("ghostlywisp", 5, "rewound"),
}

FIRST_DAY = datetime(2025, 9, 1, tzinfo=UTC)
FIRST_LOG = datetime(2026, 3, 10, tzinfo=UTC)
"""When Gemini CLI began to write logs of changes (.jsonl) instead of whole documents (.json)."""
LAST_DAY = datetime(2026, 10, 1, tzinfo=UTC)

MEDIAN_SIZE, SIGMA = 36 * 1024, 1.6
"""Of the size aimed at, which is log-normal; files overshoot it by part of a turn: half are above 60 kB."""
LEAST_SIZE, MOST_SIZE = 1_500, 40 * 1024 * 1024
SHARE_IN_CHINESE = 0.12

LOG_FLAWS = {
    "torn": 0.01,
    "header_only": 0.015,
    "rewind": 0.055,
    "checkpoint": 0.075,
    "subagent": 0.105,
    "migrated": 0.125,
}
DOCUMENT_FLAWS = {"empty_file": 0.002, "split": 0.022}
OTHER_FLAWS = {"torn": 0.01}
"""What is odd about a session, where one number of it between 0 and 1 is below the bound."""
KEEPS_NEEDLES = (None, "torn", "checkpoint")
"""Flaws that take away nothing of what was said."""


@dataclass(frozen=True)
class Wish:
    """What home is wanted."""

    agent: str
    sessions: int
    seed: int
    home: Path

    @property
    def era(self) -> str:
        """Which kinds of files the home has."""
        return "mixed" if self.agent == "gemini" else "jsonl"


class PlannedProject(NamedTuple):
    """A folder that sessions were worked in."""

    folder: str
    slug: str
    hash: str
    era: str
    """json, jsonl, or both."""


@dataclass
class PlannedSession:
    """One session to be written."""

    number: int
    project: PlannedProject
    era: str
    start: datetime
    id: str
    size: int
    in_chinese: bool
    flaw: str | None = None
    needles: list[str] = field(default_factory=list)


class Plan:
    """Projects and sessions of a home."""

    def __init__(self, wish: Wish) -> None:
        random = Random(f"plan:{wish.seed}:{wish.agent}:{wish.era}:{wish.sessions}")
        self.projects = _projects(random, wish)
        weights = list(accumulate(1.0 / (rank + 3.0) for rank in range(len(self.projects))))
        self.sessions = [_session(random, number, self.projects, weights) for number in range(wish.sessions)]
        for session in self.sessions:
            session.flaw = _flaw(random.random(), _flaws_of(wish.agent, session.era))
        self._hide_needles(random)

    def _hide_needles(self, random: Random) -> None:
        sound = [session for session in self.sessions if session.flaw in KEEPS_NEEDLES]
        pools = {
            "rewound": [session for session in self.sessions if session.flaw == "rewind"],
            "cjk": [session for session in sound if session.in_chinese] or sound,
        }
        for name, needle in NEEDLES.items():
            pool = pools.get(needle.where, sound)
            wanted = needle.sessions
            if isinstance(wanted, float):
                wanted = max(1, round(wanted * len(self.sessions)))
            for session in random.sample(pool, min(wanted, len(pool))):
                session.needles.append(name)


def identity(random: Random) -> str:
    """A UUID of version 4."""
    digits = f"{random.getrandbits(128):032x}"
    variant = "89ab"[int(digits[16], 16) & 3]
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"


def log_normal(random: Random, median: float, sigma: float, least: float, most: float) -> int:
    """A size: most are near the median, a few are far larger."""
    return int(min(most, max(least, median * math.exp(random.gauss(0, sigma)))))


def _projects(random: Random, wish: Wish) -> list[PlannedProject]:
    words = vocabulary_of(wish.seed).words[:900]
    slugs: set[str] = set()
    projects = []
    for _ in range(max(3, wish.sessions // 25)):
        slug = _unused(random, words, slugs)
        slugs.add(slug)
        folder = f"/home/dev/{random.choice(('src', 'work', 'code/apps', 'oss'))}/{slug}"
        era = random.choice(("json", "jsonl", "both")) if wish.era == "mixed" else wish.era
        projects.append(PlannedProject(folder, slug, hashlib.sha256(folder.encode()).hexdigest(), era))
    return projects


def _unused(random: Random, words: list[str], used: set[str]) -> str:
    while True:
        slug = "-".join(random.choices(words, k=random.choice((1, 2))))
        if slug not in used:
            return slug


def _session(
    random: Random, number: int, projects: list[PlannedProject], weights: list[float]
) -> PlannedSession:
    (project,) = random.choices(projects, cum_weights=weights)
    era = random.choice(("json", "jsonl")) if project.era == "both" else project.era
    first, last = (FIRST_DAY, FIRST_LOG) if era == "json" else (FIRST_LOG, LAST_DAY)
    seconds = random.random() * (last - first).total_seconds()
    start = first + timedelta(seconds=seconds, milliseconds=random.randrange(1000))
    return PlannedSession(
        number,
        project,
        era,
        start.replace(microsecond=start.microsecond // 1000 * 1000),
        id=identity(random),
        size=log_normal(random, MEDIAN_SIZE, SIGMA, LEAST_SIZE, MOST_SIZE),
        in_chinese=random.random() < SHARE_IN_CHINESE,
    )


def _flaws_of(agent: str, era: str) -> dict[str, float]:
    if agent != "gemini":
        return OTHER_FLAWS
    return LOG_FLAWS if era == "jsonl" else DOCUMENT_FLAWS


def _flaw(chance: float, flaws: dict[str, float]) -> str | None:
    return next((flaw for flaw, bound in flaws.items() if chance < bound), None)
