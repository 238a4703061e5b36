"""What the server answers: one class a shape. The OpenAPI document and the types of the page come from them.

Texts are words, never HTML, but for the fields named `html`: those hold markup of ours in which every letter
of a session is escaped. A number that nobody recorded is null. Costs are dollars at list price.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime

import msgspec

from geminids.model import (
    Counts,
    KnownBy,
    Level,
    Operation,
    Origin,
    Problem,
    Role,
    SessionFile,
    SessionKind,
    State,
    Status,
    Todo,
    ToolKind,
    ToolStatus,
    Usage,
)


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """Anything that is answered."""


class FaultyRequest(Document, frozen=True, kw_only=True):
    """Why there is no answer, as RFC 9457 has it."""

    type: str
    title: str
    status: int
    detail: str
    """What, where and what to do, in sentences."""
    candidates: Sequence[Candidate] = ()
    """Sessions that may have been meant."""


class Candidate(Document, frozen=True, kw_only=True):
    """A session that may have been meant."""

    id: str
    title: str | None
    place: str
    at: datetime | None


# What there is


class About(Document, frozen=True, kw_only=True):
    """What a page needs to know before anything else."""

    version: str
    agents: Mapping[str, str]
    """The agents that can be read: what people call them, by name."""
    formats: Sequence[FormatLine]
    levels: Mapping[str, str]
    """The levels of detail, the least first, and what each tells."""
    filters: Sequence[str]
    """The filters of the language of searches."""
    homes: Sequence[str]
    is_sample: bool
    is_redacted: bool
    """Whether secrets are hidden in all that is served."""
    token: str
    """To be sent as a header with whatever changes something."""
    syncing: SyncState


class FormatLine(Document, frozen=True, kw_only=True):
    """A format of an export."""

    name: str
    title: str
    summary: str
    suffix: str


class SyncState(Document, frozen=True, kw_only=True):
    """How the index stands."""

    is_running: bool
    generation: int
    """Grows whenever the index has taken something in."""
    at: datetime | None
    """When it was last brought up to date; null if it was not yet."""
    said: Sequence[str]
    """What a person should know about it."""


class ProjectName(Document, frozen=True, kw_only=True):
    """The folder of a session, as far as it is known."""

    name: str
    path: str | None
    hash: str | None
    slug: str | None
    known_by: KnownBy | None


class SessionLine(Document, frozen=True, kw_only=True):
    """A session in a list."""

    id: str
    agent: str
    kind: SessionKind
    parent_id: str | None
    project: ProjectName
    title: str | None
    name: str | None
    """What the user calls it; shown instead of the title."""
    tags: Sequence[str]
    status: Status
    started_at: datetime | None
    ended_at: datetime | None
    is_running: bool
    """Whether something was written to it a moment ago."""
    counts: Counts
    problems: int
    kept: bool
    """Whether its file is gone, and it is read from a kept copy."""


class Sessions(Document, frozen=True, kw_only=True):
    """A page of sessions."""

    sessions: Sequence[SessionLine]
    total: int
    is_exact: bool
    """Else there are at least so many."""
    next: str | None
    """What to give as `after` for the next page; null if this is the last one."""
    hidden: Mapping[str, int]
    """How many sessions (of words: messages) each part of the question leaves out."""
    near: Mapping[str, Sequence[str]]
    """What may have been meant by a word or a name that does not occur."""


class FacetValue(Document, frozen=True, kw_only=True):
    """A value, and how many sessions have it."""

    key: str
    name: str
    sessions: int


class Facets(Document, frozen=True, kw_only=True):
    """What the sessions of a question have in common, the most frequent first; months in order."""

    total: int
    agents: Sequence[FacetValue]
    projects: Sequence[FacetValue]
    kinds: Sequence[FacetValue]
    statuses: Sequence[FacetValue]
    months: Sequence[FacetValue]
    tags: Sequence[FacetValue]


class AgentCounts(Document, frozen=True, kw_only=True):
    """How much there is of one agent."""

    agent: str
    title: str
    sessions: int
    subagents: int
    prompts: int | None
    calls: int | None
    tokens: UsedTokens | None


class DayActivity(Document, frozen=True, kw_only=True):
    """What was done on a day, in local time."""

    day: date
    sessions: int
    prompts: int
    active: float
    """Seconds in which somebody was at work."""
    calls: int
    tokens: UsedTokens


class Overview(Document, frozen=True, kw_only=True):
    """What there is at a glance."""

    sessions: int
    subagents: int
    kept: int
    """Sessions whose files are gone, and that are read from copies."""
    prompts: int
    first_day: date | None
    last_day: date | None
    agents: Sequence[AgentCounts]
    days: Sequence[DayActivity]
    """Of the span that was asked for; days without anything are left out."""
    total: UsedTokens
    """Of that span."""
    newest: Sequence[SessionLine]
    suggestion: str | None
    """A search to try, of the user's own words."""
    is_sample: bool
    unreadable: int
    """Files and folders that could not be read."""


class Threatened(Document, frozen=True, kw_only=True):
    """A file that its agent is going to delete, and the session in it."""

    session_id: str | None
    title: str | None
    agent: str
    project: str | None
    file: str
    at: datetime | None
    """From when on; null: from now on."""
    reason: str
    kept: bool
    """Whether there is a copy of it."""


class RetentionRule(Document, frozen=True, kw_only=True):
    """How long an agent keeps sessions, and how to change that."""

    agent: str
    home: str
    project: str | None
    days: float | None
    """How long a session may lie unused; null: for ever."""
    most: int | None
    told_by: str | None
    remedy: str | None


class Forecast(Document, frozen=True, kw_only=True):
    """What agents are going to delete by themselves, the soonest first."""

    within_a_week: int
    """Sessions."""
    not_kept: int
    """Of how many of these there is no copy."""
    total: int
    """Files, listed or not."""
    threatened: Sequence[Threatened]
    rules: Sequence[RetentionRule]


# One session


class NoteLine(Document, frozen=True, kw_only=True):
    """What the user noted of a session."""

    at: datetime
    text: str


class Beside(Document, frozen=True, kw_only=True):
    """A file that the agent wrote beside a session."""

    kind: str
    path: str
    size: int
    modified_at: datetime | None


class SessionFacts(Document, frozen=True, kw_only=True):
    """A session without its messages."""

    line: SessionLine
    agent_title: str
    native_id: str
    summary: str | None
    kind_sentence: str
    """What it is, if no main one."""
    branch: str | None
    models: Sequence[str]
    usage: Usage
    reported: Usage | None
    messages: int
    entries: Mapping[str, int]
    """How many entries its story has at the level of detail that was asked for, by the level."""
    children: Sequence[str]
    """The sessions of the subagents that it started."""
    files: Sequence[SessionFile]
    directories: Sequence[str]
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
    prompts: Sequence[OutlineLine]
    """Of those from `start` on."""


class TurnUsage(Document, frozen=True, kw_only=True):
    """What a turn used, as far as it was recorded."""

    input: int | None
    fresh: int | None
    cached: int | None
    cache_write: int | None
    output: int | None
    thoughts: int | None
    total: int | None


class WordsPart(Document, frozen=True, kw_only=True, tag_field="part", tag="words"):
    """Words as they are to be shown: Markdown of a model, or lines as they were typed or printed."""

    origin: Origin
    html: str
    is_prose: bool
    """Whether it is Markdown; else lines and blanks count."""
    is_cut: bool


class ThoughtPart(Document, frozen=True, kw_only=True, tag_field="part", tag="thought"):
    """A piece of the model's reasoning."""

    title: str
    html: str
    is_cut: bool


class PicturePart(Document, frozen=True, kw_only=True, tag_field="part", tag="attachment"):
    """A picture or another attachment; its bytes have an address of their own."""

    name: str
    mime_type: str | None
    address: str | None
    """Null where the session holds no bytes of it."""
    is_picture: bool
    """Whether a browser may draw it."""


class FilePart(Document, frozen=True, kw_only=True, tag_field="part", tag="file"):
    """A file that the human pointed at."""

    path: str
    text: str | None
    is_cut: bool


class UnknownPart(Document, frozen=True, kw_only=True, tag_field="part", tag="unrecognised"):
    """Something that has no name yet, as JSON."""

    text: str
    is_cut: bool


class ResultPart(Document, frozen=True, kw_only=True, tag_field="part", tag="result"):
    """What a tool answered, where the agent recorded it as a message of its own."""

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
    """What a subagent gave back, as HTML of its Markdown; empty for other calls."""
    child_id: str | None
    """The session of the subagent that it started."""
    at: datetime | None
    """When it was done."""
    seconds: float | None
    details: CallDetails | None


AnyPartDocument = WordsPart | ThoughtPart | PicturePart | FilePart | UnknownPart | ResultPart | CallPart


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
    level: Level | None
    imported: bool
    at: datetime | None
    seconds: float | None
    """From the message before to its end, its calls included."""
    model: str | None
    usage: TurnUsage | None
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

    id: str
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


class FoundPlace(Document, frozen=True, kw_only=True):
    """A message that holds the words."""

    number: int
    entry: int | None
    """Its place in the story at this level of detail; null if it is not told there."""
    where: str
    """human, model, thoughts, arguments, output or other"""
    pieces: Sequence[SnippetPiece]


class FoundInSession(Document, frozen=True, kw_only=True):
    """Where words stand in a session."""

    total: int
    places: Sequence[FoundPlace]


class SnippetPiece(Document, frozen=True, kw_only=True):
    """Words of a snippet."""

    text: str
    is_match: bool


class TimelineCall(Document, frozen=True, kw_only=True):
    """A call on the time line."""

    number: int
    name: str
    kind: ToolKind
    status: ToolStatus
    start: datetime | None
    end: datetime | None
    argument: str


class TimelineTurn(Document, frozen=True, kw_only=True):
    """A prompt and all that followed until the next."""

    number: int
    text: str
    start: datetime | None
    end: datetime | None
    idle: float | None
    """Seconds until the next prompt."""
    tokens: int | None
    calls: Sequence[TimelineCall]


class Timeline(Document, frozen=True, kw_only=True):
    """What happened when."""

    total: int
    """Turns, listed or not."""
    turns: Sequence[TimelineTurn]


class ContextPoint(Document, frozen=True, kw_only=True):
    """How full the context was at a request."""

    number: int
    at: datetime | None
    model: str | None
    tokens: int
    """The whole prompt."""
    cached: int | None
    output: int | None


class ContextMark(Document, frozen=True, kw_only=True):
    """Where messages were taken out of the context."""

    number: int
    state: State
    messages: int
    before: int | None
    after: int | None
    """Tokens of the requests before and after."""


class ContextFill(Document, frozen=True, kw_only=True):
    """How the context filled, request by request; of very many, some."""

    total: int
    points: Sequence[ContextPoint]
    marks: Sequence[ContextMark]


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
    also_at: int
    """How many later versions and copies of it there are."""


class OfferLine(Document, frozen=True, kw_only=True):
    """Something that can be done."""

    sentence: str
    lines: Sequence[str]


class Resume(Document, frozen=True, kw_only=True):
    """How the agent would go on with a session, or why it cannot. Nothing is started."""

    is_resumable: bool
    reason: str | None
    command: Sequence[str]
    folder: str | None
    environment: Mapping[str, str]
    line: str | None
    """All of it as one line for a shell; null where a word cannot be typed."""
    is_installed: bool
    warnings: Sequence[str]
    may_lose: bool
    offers: Sequence[OfferLine]


# Search


class SearchHit(Document, frozen=True, kw_only=True):
    """A message that was found."""

    number: int
    id: str
    role: Role
    origin: Origin
    state: State
    at: datetime | None
    model: str | None
    tools: Sequence[str]
    where: Sequence[str]
    pieces: Sequence[SnippetPiece]
    """Empty if the file has changed or is gone, and where secrets are hidden: a piece may be half of one."""
    is_cut_before: bool
    is_cut_after: bool


class SearchSession(Document, frozen=True, kw_only=True):
    """A session in which something was found, with the best of it."""

    session: SessionLine
    matches: int
    hits: Sequence[SearchHit]


class Search(Document, frozen=True, kw_only=True):
    """A page of what was found, the best session first."""

    sessions: Sequence[SearchSession]
    matches: int
    total: int
    """Sessions."""
    is_exact: bool
    are_all_sessions: bool
    searched_sessions: int
    searched_messages: int
    left_out: str | None
    """What the index does not hold, in words."""
    hidden: Mapping[str, int]
    near: Mapping[str, Sequence[str]]
    is_spread: bool
    """No message has all the words; these sessions have each of them somewhere."""
    has_changed: bool
    next: str | None


# Usage


class UsedTokens(Document, frozen=True, kw_only=True):
    """Requests and what they used. `input` is the whole prompt: its parts are the three that follow."""

    requests: int
    unmeasured: int
    """Replies of which nothing was recorded: they are in no other number here."""
    input: int | None
    fresh: int | None
    cached: int | None
    cache_write: int | None
    output: int | None
    thoughts: int | None
    tool: int | None
    total: int | None
    cost: float | None
    unpriced: int
    """Requests that have no price."""


class UsageGroup(Document, frozen=True, kw_only=True):
    """What was done in one group; null where it is not told of such a group."""

    key: str
    name: str
    agent: str | None
    sessions: int
    subagents: int
    prompts: int | None
    replies: int | None
    active: float | None
    """Seconds."""
    calls: int | None
    errors: int | None
    cancelled: int | None
    failure_rate: float | None
    files: int | None
    added: int | None
    removed: int | None
    tokens: UsedTokens | None


class UnpricedModel(Document, frozen=True, kw_only=True):
    """A model without a price, and why."""

    model: str
    reason: str
    requests: int


class UsageFigures(Document, frozen=True, kw_only=True):
    """What sessions did, used and cost, in groups."""

    by: str
    since: datetime | None
    until: datetime | None
    total: UsageGroup
    groups: Sequence[UsageGroup]
    """In order of time, or the largest first."""
    left_out: int
    """Groups that the limit leaves out."""
    price_list: str | None
    unpriced: Sequence[UnpricedModel]


class SeriesPoint(Document, frozen=True, kw_only=True):
    """What was used in a day, week or month."""

    key: str
    tokens: UsedTokens


class Series(Document, frozen=True, kw_only=True):
    """One of the parts that a total is split into."""

    key: str
    name: str
    points: Sequence[SeriesPoint]


class UsageSeries(Document, frozen=True, kw_only=True):
    """Usage over time, split by model, agent or project; the largest first."""

    by: str
    split: str
    series: Sequence[Series]
    left_out: int
    """Parts that are not among them."""


class Hour(Document, frozen=True, kw_only=True):
    """What was said in an hour of a weekday."""

    weekday: int
    """0 is Monday."""
    hour: int
    prompts: int
    replies: int


class Hours(Document, frozen=True, kw_only=True):
    """When people typed and models answered, in local time; hours without anything are left out."""

    hours: Sequence[Hour]


# Projects and health


class ProjectLine(Document, frozen=True, kw_only=True):
    """A project and how much there is of it."""

    project: ProjectName
    also: Sequence[ProjectName]
    certain: bool
    agents: Sequence[str]
    sessions: int
    subagents: int
    checkpoints: int
    lost: int
    first: datetime | None
    last: datetime | None
    bytes: int


class Projects(Document, frozen=True, kw_only=True):
    """The projects there are, the last used first."""

    total: int
    projects: Sequence[ProjectLine]


class KeptPlace(Document, frozen=True, kw_only=True):
    """A home of which copies are kept."""

    agent: str
    folder: str
    files: int
    bytes: int
    is_there: bool


class KeptCopies(Document, frozen=True, kw_only=True):
    """How things stand with the kept copies."""

    is_on: bool
    folder: str | None
    files: int
    versions: int
    bytes: int
    bytes_on_disk: int
    last_kept_at: datetime | None
    sessions_gone: int
    """Sessions that are known by their copies alone."""
    left_out: Sequence[str]
    troubles: Sequence[str]
    homes: Sequence[KeptPlace]


class Health(Document, frozen=True, kw_only=True):
    """What could not be read, what is kept, and how the index stands."""

    version: str
    homes: Sequence[str]
    syncing: SyncState
    problem_counts: Mapping[str, int]
    """By kind."""
    problems: Sequence[Problem]
    """Some of them."""
    problem_total: int
    kept: KeptCopies


class IndexFigures(Document, frozen=True, kw_only=True):
    """How much the index holds."""

    path: str | None
    bytes: int
    source_bytes: int
    projects: int
    sessions: int
    messages: int
    words: int
    every_word: bool


class Tallied(Document, frozen=True, kw_only=True):
    """A total and its parts, which add up to it."""

    total: int
    used: int
    ignored: int
    problem: int


class Doctor(Document, frozen=True, kw_only=True):
    """What became of every byte and record of all files."""

    files: int
    bytes: Tallied
    records: Tallied
    ignored: Mapping[str, int]
    """Records by the reason for which they are ignored."""
    unknown_fields: Mapping[str, int]


# What happens


class LiveEvent(Document, frozen=True, kw_only=True):
    """What `/api/events` tells, as the data of an event of this name."""

    event: str
    """news, gone, synced, trouble or reset"""
    session_id: str | None = None
    parent_id: str | None = None
    title: str | None = None
    agent: str | None = None
    added: int = 0
    changed: int = 0
    dropped: int = 0
    """Messages."""
    generation: int | None = None
    detail: str | None = None


class Synced(Document, frozen=True, kw_only=True):
    """What a sync took in."""

    bundles: int
    """Groups of files that were read."""
    generation: int
    seconds: float
    said: Sequence[str]
