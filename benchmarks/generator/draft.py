"""A session in the making: what is the same whoever the agent is, and the truth about it."""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from typing import Any

from generator.plan import NEEDLES, PlannedSession, Wish, log_normal
from generator.vocabulary import vocabulary_of

Record = dict[str, Any]
Tokens = Counter[str]


@dataclass
class SessionTruth:
    """What is so, whatever a reader makes of the files."""

    id: str
    project: str
    era: str
    flaw: str | None
    needles: list[str]
    start: str
    end: str = ""
    user: int = 0
    assistant: int = 0
    tool_echo: int = 0
    """Results of tools that are written once more, as if the user had said them."""
    other: int = 0
    tool_calls: int = 0
    thoughts: int = 0
    tokens: Tokens = field(default_factory=Counter)
    """Of what the session says in the end."""
    tokens_naive_lines: Tokens = field(default_factory=Counter)
    """What one gets who adds up every line."""
    tokens_spent: Tokens = field(default_factory=Counter)
    """With what was taken back: it was paid for."""
    tokens_first_line: Tokens = field(default_factory=Counter)
    """What one gets who takes the first line of every answer."""
    models: dict[str, Tokens] = field(default_factory=dict)
    days: dict[str, Tokens] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)
    bytes: int = 0

    def count(self, tokens: Mapping[str, int], model: str, day: str) -> None:
        """Add the tokens of an answer that counts."""
        self.tokens.update(tokens)
        self.days.setdefault(day, Counter()).update(tokens)
        self.models.setdefault(model, Counter()).update(tokens)

    def written(self) -> Record:
        """As it stands in `truth.json`."""
        record: Record = {
            "id": self.id,
            "project": self.project,
            "era": self.era,
            "flaw": self.flaw,
            "needles": self.needles,
            "start": self.start,
            "user": self.user,
            "assistant": self.assistant,
            "tool_echo": self.tool_echo,
            "other": self.other,
            "tool_calls": self.tool_calls,
            "thoughts": self.thoughts,
            "tokens": self.tokens,
            "tokens_naive_lines": self.tokens_naive_lines,
            "tokens_spent": self.tokens_spent,
        }
        if self.tokens_first_line:
            record["tokens_first_line"] = self.tokens_first_line
        return record | {"files": self.files, "bytes": self.bytes, "end": self.end}


class Draft(ABC):
    """One session, being written. What is drawn, and in which order, decides every byte that follows."""

    def __init__(self, wish: Wish, session: PlannedSession) -> None:
        self.session = session
        self.project = session.project
        self.random = Random(f"session:{wish.seed}:{wish.agent}:{session.number}:{session.id}")
        self.vocabulary = vocabulary_of(wish.seed)
        self.now = session.start
        self.files: list[tuple[str, str]] = []
        self.truth = SessionTruth(
            session.id, session.project.folder, session.era, session.flaw, session.needles, iso(session.start)
        )
        self._to_hide = list(session.needles)
        self._share_in_chinese = 0.7 if session.in_chinese else 0.0
        self._heaviness = max(1.0, min(40.0, session.size / 400_000))

    @abstractmethod
    def write(self) -> None:
        """Fill `files` and the truth."""

    def finish(self) -> None:
        """What is only known when all is written."""
        self.truth.needles = [name for name in self.truth.needles if name not in self._to_hide]
        self.truth.end = iso(self.now)

    def tick(self, least: float = 0.5, most: float = 40.0) -> str:
        """Some seconds pass: what time it is then."""
        seconds = least + self.random.random() * (most - least)
        self.now += timedelta(milliseconds=int(1000 * seconds))
        return iso(self.now)

    def needles(self, where: str) -> str:
        """The needles that are still to be hidden in such a place, as a sentence; empty if none is."""
        due = [name for name in self._to_hide if NEEDLES[name].where == where]
        if not due:
            return ""
        self._to_hide = [name for name in self._to_hide if name not in due]
        texts = [NEEDLES[name].text for name in due]
        if where == "cjk":
            return "".join(self._chinese()[:3] + text + self._chinese() for text in texts)
        return f" {', '.join(texts)}. "

    def _chinese(self) -> str:
        return self.vocabulary.chinese(self.random)

    def size(self, median: float, sigma: float, least: float, most: float) -> int:
        """How long the next thing is."""
        return log_normal(self.random, median, sigma, least, most)

    def prose(self, median: float, sigma: float, least: float, most: float) -> str:
        """Sentences of about that length, in the languages of the session."""
        size = self.size(median, sigma, least, most)
        return self.vocabulary.prose(self.random, size, self._share_in_chinese)

    def code(self, size: int) -> str:
        """Lines of code of that length."""
        return self.vocabulary.code(self.random, size)

    def prompt(self) -> str:
        """What the user types, now and then with a file."""
        text = self.prose(220, 0.9, 12, 6000) + self.needles("user") + self.needles("cjk")
        if self.random.random() < 0.06:
            path = self.random.choice(self.vocabulary.paths)
            file = self.code(self.size(4000, 0.9, 300, 60_000))
            heading = f"--- Content from referenced files ---\nContent from @{path}:"
            return f"@{path} {text}\n{heading}\n{file}\n--- End of content ---"
        return text

    def answer(self) -> str:
        """What the model says."""
        text = self.prose(700, 0.9, 0, 12_000) + self.needles("assistant")
        if self.random.random() < 0.3:
            text += f"\n\n```python\n{self.code(self.size(700, 0.8, 60, 8000))}\n```\n"
        return text

    def tool_output(self) -> str:
        """What a tool gives back; large sessions are large because of it."""
        heaviness = self._heaviness
        return self.code(self.size(1500 * math.sqrt(heaviness), 1.5, 20, 60_000 * heaviness)) + self.needles(
            "tool"
        )

    def steps(self) -> int:
        """How often the model calls tools before it answers; seldom in a small session."""
        return min(self.random.choice((1, 2, 3, 4, 6)), max(1, self.session.size // 12_000))


class LogDraft(Draft):
    """A session that is one file of lines."""

    def __init__(self, wish: Wish, session: PlannedSession) -> None:
        super().__init__(wish, session)
        self.lines: list[str] = []
        self.length = 0

    def add(self, record: Record) -> None:
        """One more line."""
        line = compact(record)
        self.lines.append(line)
        self.length += len(line)

    def body(self) -> str:
        """The lines of the file; of some the last was begun once more, and is torn."""
        torn = self.lines[-1][:60] if self.session.flaw == "torn" else ""
        return "\n".join(self.lines) + "\n" + torn

    def count_once(self, tokens: Mapping[str, int], model: str) -> None:
        """Add the tokens of an answer, which nobody takes back, on the day it is."""
        self.truth.count(tokens, model, iso(self.now)[:10])
        self.truth.tokens_spent.update(tokens)


def iso(time: datetime) -> str:
    """As agents write a time."""
    return f"{time:%Y-%m-%dT%H:%M:%S}.{time.microsecond // 1000:03d}Z"


def compact(value: object) -> str:
    """JSON as agents write it in lines."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def indented(value: object) -> str:
    """JSON as agents write it in whole documents."""
    return json.dumps(value, ensure_ascii=False, indent=2)
