"""Where numbers come from: a total down to the requests, what was not counted and why, what is missing.

A request is counted where it was made. What repeats it (later versions of a record, lines of one message,
forks of a session) is named beside it. What an agent says it used is compared with what its files hold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

import msgspec

from geminids.core.agents import available as available_agents
from geminids.core.agents import load as load_agent
from geminids.core.disk import REAL, Disk
from geminids.core.model import Location, Message, Session, SessionSummary, State, Unrecorded, Usage
from geminids.query.usage.costs import Costing
from geminids.query.usage.figures import Tokens
from geminids.query.usage.prices import Prices
from geminids.query.usage.stats import Statistics
from geminids.reading.bounded import read_whole
from geminids.storage.codec.packed import unpacked
from geminids.storage.index import copies
from geminids.storage.index.database import Index

_BEST_FIRST = (AGREES, EXPLAINED, BEHIND, DIFFERS) = ("agrees", "explained", "behind", "differs")
_COMPARED = ("input", "cached", "cache_write", "output", "thoughts", "tool", "total")
_TOLD = b'tokens"'
"""What stands in every record that tells of tokens, whatever the agent: the end of a name of a count."""
_TAKEN_OVER = "copied from another session and counted there"
_COPY = "also in another session and counted there"


class ExplainedRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One request, and where it is written."""

    at: datetime | None
    model: str | None
    usage: Usage
    source: Location
    copies: tuple[Location, ...]
    """Records of the same request, which count no second time."""
    state: State
    counted: bool
    why: str | None = None
    """Why it is not counted."""
    cost: Decimal | None = None


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """What the agent says it used, beside what its files hold."""

    reported: Usage
    ours: Usage
    with_copies: bool
    """Whether ours has requests in it that the session shares with others and that count there."""
    with_subagents: bool
    """Whether ours has what its subagents used in it."""
    difference: Usage | None
    """What the agent counted more, kind by kind; None if it is nothing."""
    verdict: str
    """It agrees or differs; the difference is explained by requests known to be missing; or the agent's
    total is behind: it was killed, or wrote its total before its last requests, which its files hold."""


class ExplainedSession(msgspec.Struct, frozen=True, kw_only=True):
    """A session's usage down to its requests."""

    session: SessionSummary
    requests: tuple[ExplainedRequest, ...]
    usage: Usage
    """Of those that are counted."""
    unrecorded: tuple[Unrecorded, ...]
    check: Check | None
    subagents: tuple[SessionSummary, ...] = ()


class ExplainedAgent(msgspec.Struct, frozen=True, kw_only=True):
    """How the sum of an agent comes about."""

    agent: str
    sessions: int
    requests: int
    total: int | None
    copies: int
    """Requests that several sessions hold, each time but once."""
    taken_over: int
    """Requests that a file itself says it took over."""
    unmeasured: int
    """Replies of which the agent recorded no tokens: they are in no other number."""


class ExplainedLine(msgspec.Struct, frozen=True, kw_only=True):
    """What one session adds to a sum."""

    id: str
    title: str | None
    agent: str
    requests: int
    total: int | None
    cost: Decimal | None
    unpriced: int
    """Requests of which nobody knows the price; they are not in the cost."""
    copies: int
    """Requests that another session holds as well, where they are counted."""
    taken_over: int
    """Requests that its file itself says it took over."""
    verdict: str | None
    """What a comparison with the agent's own total gave, where it keeps one."""


class UnrecordedSum(msgspec.Struct, frozen=True, kw_only=True):
    """Requests of one kind that are missing from the files of an agent."""

    agent: str
    what: str
    reason: str
    sessions: int
    requests: int | None
    usage: Usage | None


class Checks(msgspec.Struct, frozen=True, kw_only=True):
    """In how many sessions the sums agree with the agent's own."""

    agrees: int = 0
    explained: int = 0
    behind: int = 0
    differs: int = 0
    none: int = 0
    """The agent kept no total."""


class ExplainedTotal(msgspec.Struct, frozen=True, kw_only=True):
    """A total down to its sessions, which add up to it."""

    tokens: Tokens
    kinds: dict[str, int]
    """How many of the sessions are of each kind: main, subagent, checkpoint, lost."""
    agents: tuple[ExplainedAgent, ...]
    sessions: tuple[ExplainedLine, ...]
    unrecorded: tuple[UnrecordedSum, ...]
    checks: Checks
    incomplete: int
    """Sessions whose files could not be read completely: if there are any, the total is a lower bound."""


# One session


def explained_session(
    session: Session,
    copied: Collection[str],
    subagents: Sequence[SessionSummary],
    pricing: Callable[[Collection[tuple[str | None, str]]], Prices],
    disk: Disk = REAL,
) -> ExplainedSession:
    """A session down to its requests; `copied` are the ids of messages that are copies of other sessions'."""
    costing = Costing(pricing({(None, model) for model in session.models}))
    places = _TokenPlaces(session.agent, disk)
    requests = tuple(
        _request(message, places.of(message), costing, is_copy=message.id in copied)
        for message in session.messages
        if message.usage is not None
    )
    return ExplainedSession(
        session=session.without_messages(),
        requests=requests,
        usage=Usage.sum(request.usage for request in requests if request.counted),
        unrecorded=session.unrecorded,
        check=check_of(session, subagents, Usage.sum(r.usage for r in requests if not r.counted)),
        subagents=tuple(subagents),
    )


class _TokenPlaces:
    """Finds where tokens are written: a message has other records too, such as what tools answered."""

    def __init__(self, agent: str, disk: Disk) -> None:
        self._agent = agent
        self._disk = disk
        self._contents: dict[str, bytes] = {}

    def of(self, message: Message) -> tuple[Location, ...]:
        """The records of a message that tell its tokens, the first of which counts; or else all of them."""
        places = message.places
        if len(places) == 1:
            return places
        return tuple(place for place in places if _TOLD in self._content(place)) or places

    def _content(self, place: Location) -> bytes:
        if place.file not in self._contents:
            self._contents[place.file] = self._read(Path(place.file))
        return self._contents[place.file][place.start : place.end]

    def _read(self, path: Path) -> bytes:
        is_known = self._agent in available_agents()
        try:
            packed = load_agent(self._agent).files().unpacked(path, self._disk) if is_known else None
            return packed if packed is not None else read_whole(path, self._disk)
        except OSError:
            # It is gone since it was read, or was not read whole: then all records are named.
            return b""


def _request(
    message: Message, places: tuple[Location, ...], costing: Costing, *, is_copy: bool
) -> ExplainedRequest:
    usage = message.usage
    assert usage is not None
    return ExplainedRequest(
        at=message.at,
        model=message.model,
        usage=usage,
        source=places[0],
        copies=places[1:],
        state=message.state,
        counted=not message.imported,
        why=(_COPY if is_copy else _TAKEN_OVER) if message.imported else None,
        cost=costing.of(message),
    )


def check_of(
    session: SessionSummary, subagents: Iterable[SessionSummary] = (), elsewhere: Usage | None = None
) -> Check | None:
    """What the agent's own total says to ours.

    Some agents count subagents in, and what a fork took over from the session it began with (`elsewhere`): of
    our sums the one is told that fits theirs best.
    """
    reported = session.reported
    if reported is None:
        return None
    children = [child.usage for child in subagents]
    sums = [_Ours(session.usage)]
    if elsewhere:
        sums.append(_Ours(Usage.sum([session.usage, elsewhere]), with_copies=True))
    if children:
        sums += [_Ours(Usage.sum([own.usage, *children]), own.with_copies, True) for own in sums]
    missing = Usage.sum(part.usage for part in session.unrecorded if part.usage)
    checks = [_check(reported, ours, missing) for ours in sums]
    return min(checks, key=lambda check: (_BEST_FIRST.index(check.verdict), _distance(check)))


class _Ours(NamedTuple):
    """A sum of what files hold, and what is in it besides the session's own."""

    usage: Usage
    with_copies: bool = False
    with_subagents: bool = False


def _check(reported: Usage, ours: _Ours, missing: Usage) -> Check:
    difference = _difference(reported, ours.usage)
    if difference is None:
        verdict = AGREES
    elif _difference(difference, missing) is None:
        verdict = EXPLAINED
    elif all(getattr(difference, kind) is None or getattr(difference, kind) < 0 for kind in _COMPARED):
        verdict = BEHIND
    else:
        verdict = DIFFERS
    return Check(
        reported=reported,
        ours=ours.usage,
        with_copies=ours.with_copies,
        with_subagents=ours.with_subagents,
        difference=difference,
        verdict=verdict,
    )


def _distance(check: Check) -> int:
    return abs(check.difference.total or 0) if check.difference else 0


def _difference(one: Usage, other: Usage) -> Usage | None:
    """What one counted more than the other, of those kinds that it tells; None if it is nothing."""
    kinds: dict[str, int] = {}
    for kind in _COMPARED:
        number = getattr(one, kind)
        if number is not None and (more := number - (getattr(other, kind) or 0)):
            kinds[kind] = more
    return Usage(max(0, one.requests - other.requests), **kinds) if kinds else None


# All sessions


def explained_total(index: Index, found: Statistics) -> ExplainedTotal:
    """A total down to its sessions; the statistics are by session, each by itself."""
    held = copies.copies_by_session(index)
    summaries = {sid: unpacked(kept, SessionSummary) for sid, kept in copies.summaries(index)}
    led = descendants(summaries.values())
    lines = [
        _line(group.key, summaries[group.key], group.figures.tokens, held, led.get(group.key, ()))
        for group in found.groups
    ]
    shown = [summaries[line.id] for line in lines]
    verdicts = [line.verdict for line in lines]
    return ExplainedTotal(
        tokens=found.total.tokens,
        kinds=dict(Counter(str(session.kind) for session in shown)),
        agents=tuple(_agents(lines, found)),
        sessions=tuple(lines),
        unrecorded=tuple(_unrecorded(shown)),
        checks=Checks(
            agrees=verdicts.count(AGREES),
            explained=verdicts.count(EXPLAINED),
            behind=verdicts.count(BEHIND),
            differs=verdicts.count(DIFFERS),
            none=verdicts.count(None),
        ),
        incomplete=found.total.incomplete,
    )


def descendants(summaries: Iterable[SessionSummary]) -> dict[str, list[SessionSummary]]:
    """For each session those that it started, and those that these started in turn, by its id."""
    known = list(summaries)
    parents = {summary.id: summary.parent_id for summary in known}
    led: dict[str, list[SessionSummary]] = {}
    for summary in known:
        above, seen = summary.parent_id, {summary.id}
        while above is not None and above not in seen:
            led.setdefault(above, []).append(summary)
            seen.add(above)
            above = parents.get(above)
    return led


def _line(
    sid: str,
    summary: SessionSummary,
    tokens: Tokens,
    held: Mapping[str, copies.Held],
    subagents: Sequence[SessionSummary],
) -> ExplainedLine:
    shared = held.get(sid)
    elsewhere = Usage(shared.copies + shared.taken_over, **shared.tokens) if shared else None
    check = check_of(summary, subagents, elsewhere)
    return ExplainedLine(
        id=sid,
        title=summary.title,
        agent=summary.agent,
        requests=tokens.requests,
        total=tokens.total,
        cost=tokens.cost,
        unpriced=tokens.unpriced,
        copies=shared.copies if shared else 0,
        taken_over=shared.taken_over if shared else 0,
        verdict=check.verdict if check else None,
    )


def _agents(lines: Sequence[ExplainedLine], found: Statistics) -> Iterable[ExplainedAgent]:
    figures = {group.key: group.figures.tokens for group in found.groups}
    for agent in sorted({line.agent for line in lines}):
        own = [line for line in lines if line.agent == agent]
        totals = [line.total for line in own if line.total is not None]
        yield ExplainedAgent(
            agent=agent,
            sessions=len(own),
            requests=sum(line.requests for line in own),
            total=sum(totals) if totals else None,
            copies=sum(line.copies for line in own),
            taken_over=sum(line.taken_over for line in own),
            unmeasured=sum(figures[line.id].unmeasured for line in own),
        )


def _unrecorded(summaries: Iterable[SessionSummary]) -> Iterable[UnrecordedSum]:
    kinds: dict[tuple[str, str], list[Unrecorded]] = {}
    for summary in summaries:
        for part in summary.unrecorded:
            kinds.setdefault((summary.agent, part.what), []).append(part)
    for (agent, what), parts in sorted(kinds.items()):
        known = [part.requests for part in parts if part.requests is not None]
        used = [part.usage for part in parts if part.usage]
        yield UnrecordedSum(
            agent=agent,
            what=what,
            reason=parts[0].reason,
            sessions=len(parts),
            requests=sum(known) if len(known) == len(parts) else None,
            usage=Usage.sum(used) if used else None,
        )
