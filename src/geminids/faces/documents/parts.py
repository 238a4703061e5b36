"""What a turn is made of."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from geminids.core.model import Operation, Origin, Todo, ToolKind, ToolStatus
from geminids.faces.documents.base import Document, Handle


class WordsPart(Document, frozen=True, kw_only=True, tag_field="part", tag="words"):
    """Words as they are to be shown: Markdown of a model, or lines as they were typed or printed."""

    index: int
    """Among all parts of the message: `/api/session/text` gives all words of the part."""
    origin: Origin
    html: str
    is_prose: bool
    """Whether it is Markdown; else lines and blanks count."""
    is_cut: bool


class ThoughtPart(Document, frozen=True, kw_only=True, tag_field="part", tag="thought"):
    """A piece of the model's reasoning."""

    index: int
    title: str
    html: str
    is_cut: bool


class PicturePart(Document, frozen=True, kw_only=True, tag_field="part", tag="attachment"):
    """A picture or another attachment; its bytes have an address of their own."""

    index: int
    name: str
    mime_type: str | None
    address: str | None
    """Null where the session holds no bytes of it."""
    is_picture: bool
    """Whether a browser may draw it."""


class FilePart(Document, frozen=True, kw_only=True, tag_field="part", tag="file"):
    """A file that the human pointed at."""

    index: int
    path: str
    text: str | None
    is_cut: bool


class UnknownPart(Document, frozen=True, kw_only=True, tag_field="part", tag="unrecognised"):
    """Something that has no name yet, as JSON."""

    index: int
    text: str
    is_cut: bool


class ResultPart(Document, frozen=True, kw_only=True, tag_field="part", tag="result"):
    """What a tool answered, where the agent recorded it as a message of its own."""

    index: int
    title: str
    output: Output | None
    pictures: Sequence[PicturePart]


class Run(Document, frozen=True, kw_only=True):
    """Words of a terminal in one style."""

    text: str
    style: str
    """Names of classes: bold, italic, underline, dim, inverse, fg-red, bg-bright-black and so on."""


class Output(Document, frozen=True, kw_only=True):
    """What a tool printed: lines of a terminal in colour where there are any, else plain words."""

    text: str | None
    lines: Sequence[Sequence[Run]] | None
    is_cut: bool
    """Whether there is more than this; `/api/session/text` has all of it."""


class DiffLine(Document, frozen=True, kw_only=True):
    """A line of a change."""

    kind: str
    """context, added or removed"""
    old: int | None
    new: int | None
    text: str


class Hunk(Document, frozen=True, kw_only=True):
    """Lines that stand together."""

    heading: str
    lines: Sequence[DiffLine]


class FileDiff(Document, frozen=True, kw_only=True):
    """What a call did to one file."""

    path: str
    operation: Operation
    added: int | None
    removed: int | None
    hunks: Sequence[Hunk]
    is_cut: bool


class Argument(Document, frozen=True, kw_only=True):
    """An argument of a call, in words."""

    name: str
    text: str
    is_cut: bool
    is_in_diff: bool
    """Whether a diff shows it better."""


class CallDetails(Document, frozen=True, kw_only=True):
    """All that is known of a call; told where tools are."""

    description: str | None
    arguments: Sequence[Argument]
    diffs: Sequence[FileDiff]
    output: Output | None
    todos: Sequence[Todo]
    pictures: Sequence[PicturePart]
    moved: str | None
    """Where the whole output lies, if the agent moved it."""


class CallPart(Document, frozen=True, kw_only=True, tag_field="part", tag="call"):
    """A tool call in a line, and what is behind it."""

    index: int
    call_id: str | None
    name: str
    kind: ToolKind
    status: ToolStatus
    """As it really ended: a command that ran and failed is an error."""
    mark: str
    argument: str
    added: int | None
    removed: int | None
    trouble: str
    """How it ended if not well: `exit 1`, `cancelled`."""
    error: str
    answers: Sequence[str]
    """What the human answered where the model asked."""
    handed_back: str
    """What a subagent gave back, as HTML of its Markdown; empty for other calls. It is no output besides."""
    child_id: Handle | None
    """The session of the subagent that it started."""
    at: datetime | None
    """When it was done."""
    seconds: float | None
    details: CallDetails | None


AnyPartDocument = WordsPart | ThoughtPart | PicturePart | FilePart | UnknownPart | ResultPart | CallPart
