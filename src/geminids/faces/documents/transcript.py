"""One session: its facts, its story, its branches, its records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from geminids.core.model import Level, Origin, Problem, Role, SessionFile, State, Usage
from geminids.faces.documents.base import Document, Handle
from geminids.faces.documents.parts import AnyPartDocument
from geminids.faces.documents.sessions import SessionLine
from geminids.faces.documents.tokens import UsedTokens


class NoteLine(Document, frozen=True, kw_only=True):
    """What the user noted of a session."""

    at: datetime
    text: str


class Beside(Document, frozen=True, kw_only=True):
    """A file that the agent wrote beside a session."""

    kind: str
    path: str
    size: int


class SessionFacts(Document, frozen=True, kw_only=True):
    """A session without its messages."""

    line: SessionLine
    native_id: str
    summary: str | None
    kind_sentence: str
    """What it is, if no main one."""
    branch: str | None
    models: Sequence[str]
    usage: Usage
    cost: float | None
    """Dollars at list price of the requests that have a price; null if none has."""
    unpriced: int
    """Requests that have none."""
    messages: int
    entries: Mapping[str, int]
    """How many entries its story has at the level of detail that was asked for, by the level."""
    children: Sequence[Handle]
    """The sessions of the subagents that it started."""
    files: Sequence[SessionFile]
    beside: Sequence[Beside]
    problems: Sequence[Problem]
    notes: Sequence[NoteLine]
    redacted: str | None
    """What is hidden, in a few words; null if nothing was looked for."""


class OutlineLine(Document, frozen=True, kw_only=True):
    """A prompt in the outline of a session."""

    number: int
    """Of the message, from 1."""
    entry: int
    """Its place in the story at this level of detail, from 0."""
    text: str
    at: datetime | None
    state: State
    replies: int
    """Messages of the model until the next prompt."""
    calls: int
    errors: int
    tokens: int | None
    seconds: float | None
    """Until the last answer to it."""


class Outline(Document, frozen=True, kw_only=True):
    """The prompts of a session in order."""

    detail: str
    total: int
    kinds: Mapping[str, int]
    """How many of all lines are a `prompt`, a `command` or `copied`, and how many prompts are left out at
    this level of detail, by their state, or `hidden`."""
    prompts: Sequence[OutlineLine]
    """Of those from `start` on."""


class TurnEntry(Document, frozen=True, kw_only=True, tag_field="entry", tag="turn"):
    """A message, or what is told of it."""

    number: int
    id: str
    speaker: str
    """human, model, agent or parent"""
    name: str
    continues: bool
    """Whether the model goes on where the turn before ended."""
    role: Role
    origin: Origin
    state: State
    is_dropped: bool
    missing: str | None
    """Why the session's files do not hold it, if it is unrecorded."""
    level: Level | None
    imported: bool
    at: datetime | None
    seconds: float | None
    """From the message before to its end, its calls included."""
    model: str | None
    usage: UsedTokens | None
    """As far as it was recorded."""
    parts: Sequence[AnyPartDocument]


class PauseEntry(Document, frozen=True, kw_only=True, tag_field="entry", tag="pause"):
    """A long time in which nothing happened."""

    seconds: float
    until: datetime
    text: str


class MarkEntry(Document, frozen=True, kw_only=True, tag_field="entry", tag="mark"):
    """The place where messages before it were taken out of the agent's view."""

    state: State
    messages: int
    text: str


class LeftOutEntry(Document, frozen=True, kw_only=True, tag_field="entry", tag="left-out"):
    """What was not told at this level of detail, by name."""

    counts: Mapping[str, int]
    text: str


AnyEntry = TurnEntry | PauseEntry | MarkEntry | LeftOutEntry


class Story(Document, frozen=True, kw_only=True):
    """A window of the story of a session."""

    id: Handle
    detail: str
    start: int
    total: int
    """Entries at this level of detail."""
    entries: Sequence[AnyEntry]
    stamp: str
    """Another text whenever the session was read anew."""


class Branch(Document, frozen=True, kw_only=True):
    """Messages that stand together and were dropped by one record."""

    index: int
    state: State
    first: int
    last: int
    """Numbers of messages."""
    messages: int
    forked_after: int | None
    """The last message before them that stayed; null if they are the first."""
    prompt: str
    """What the human typed first in it."""
    at: datetime | None


class Branches(Document, frozen=True, kw_only=True):
    """What was taken out of the agent's view, in order."""

    branches: Sequence[Branch]


class RawRecord(Document, frozen=True, kw_only=True):
    """The record of a message as the agent wrote it."""

    file: str
    line: int
    start: int
    end: int
    pointer: str | None
    """Where it stands inside a larger document."""
    size: int
    text: str
    is_cut: bool
    version: int
    """Which of the versions it is, from 0."""
    versions: int
    """How often the agent wrote the message: versions of it, and copies."""


class Opening(Document, frozen=True, kw_only=True):
    """A session as it opens: all of it, or its beginning while all of it still is to be read."""

    line: SessionLine
    messages: int
    """How many there are in all."""
    story: Story
    """The first window. Of a beginning there may be fewer entries than asked for; its total is a guess."""
    is_whole: bool
    """Whether all of it was read. Else the same question with `whole` gives the rest, a little later."""
    facts: SessionFacts | None
    outline: Outline | None
    branches: Sequence[Branch] | None
    """These three are null for a beginning."""
