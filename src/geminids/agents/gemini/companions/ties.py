"""Which session a saved chat was taken from: told by its words, its calls, the prompt log and the times.

A saved chat is a copy that names no session. The prompt log may say where it was saved (the hint); words
and calls say which sessions hold it, and which of these only loaded it with `/chat resume`. What a
session said itself is counted there, and is marked as imported in the copy; what no session said is
counted in the copy, whoever loaded it later.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from enum import IntEnum
from typing import NamedTuple

import msgspec

from geminids.core.agents.traces import Said, Trace, key
from geminids.core.lazy_patterns import lazy_pattern
from geminids.core.model import Message, Origin, Session, SessionKind, Text
from geminids.core.model.summary import counts_of

_ASKED = frozenset({Origin.HUMAN, Origin.COMMAND, Origin.SHELL})
_INVISIBLE = lazy_pattern("[\u200b-\u200f\ufeff]")
_COMMENT = lazy_pattern("<!--.*?-->", re.DOTALL)
_DEEPEST_COMMENT = 8
_ESCAPED_TICK = lazy_pattern(r"\\(`)")
_ESCAPED = lazy_pattern(r"\\([\\`])")
_LONG_AGO = timedelta(days=1)
"""A session that ended so long before a chat was saved is not the one it was saved from."""
_COARSE = timedelta(seconds=5)
"""Some disks know the time of a file to two seconds only."""
_NO_CLOCK = datetime(1980, 1, 2, tzinfo=UTC)
"""Archives that know no times leave files of 1970 or 1980."""
_MOST_ALIKE = 100
"""So many sessions with the same words are compared, the last ones before a chat was saved."""
_TELLING = 40
"""So many characters somebody types are hardly typed twice; `continue` is."""
_BEFORE_ALL = datetime.min.replace(tzinfo=UTC)
_AFTER_ALL = datetime.max.replace(tzinfo=UTC) - _COARSE


class Spoken(NamedTuple):
    """A message with words, in what it may be recognised by."""

    number: int
    """Where it stands among the messages."""
    by_model: bool
    keys: frozenset[int]
    length: int


def spoken_in(messages: Sequence[Message]) -> Iterator[Spoken]:
    """The messages in which the human or the model says something."""
    for index, message in enumerate(messages):
        by_model = message.origin is Origin.MODEL
        if not by_model and message.origin not in _ASKED:
            continue
        whose = Origin.MODEL if by_model else Origin.HUMAN
        texts = [part.text for part in message.parts if isinstance(part, Text) and part.origin is whose]
        words = "".join(texts)
        if words.strip():
            forms = {words, "\n\n".join(texts), *_other_forms(words, message.origin)}
            keys = frozenset(key(form) for form in forms if form.strip())
            yield Spoken(index, by_model, keys, len(words))


def _other_forms(words: str, origin: Origin) -> Iterator[str]:
    """How the same words may stand in a session or in the prompt log."""
    if origin is Origin.MODEL:
        yield _as_stored(words)
    elif origin is Origin.SHELL and "\\" in words:
        # Late releases escape the commands that they tell the model of.
        yield _ESCAPED_TICK.sub(r"\1", words)
        yield _ESCAPED.sub(r"\1", words)


def _as_stored(text: str) -> str:
    """An answer as sessions hold it since 0.53.1: without invisible characters and comments in HTML."""
    text = _INVISIBLE.sub("", text)
    for _ in range(_DEEPEST_COMMENT):
        before, text = text, _COMMENT.sub("", text)
        if before == text:
            break
    return text


def is_distinctive(prompts: Sequence[Spoken]) -> bool:
    """Whether prompts are hardly typed twice: there are several, or one of some length."""
    return len(prompts) > 1 or any(spoken.length >= _TELLING for spoken in prompts)


class _Copy:
    """A saved chat, in what it may be recognised by."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self.size = len(messages)
        self.spoken = list(spoken_in(messages))
        self.prompts = [spoken for spoken in self.spoken if not spoken.by_model]
        self.calls = [
            (index, call.call_id)
            for index, message in enumerate(messages)
            for call in message.tool_calls
            if call.call_id
        ]


class TraceIndex:
    """The sessions of a project by what was said and called in them, so that few are compared with a copy."""

    def __init__(self, traces: Iterable[Trace]) -> None:
        self._by_id: dict[str, list[Trace]] = {}
        self._by_call: dict[str, list[Trace]] = {}
        self._by_words: dict[tuple[SessionKind, bool, int], list[Trace]] = {}
        self._own_words: set[tuple[bool, int]] = set()
        self._places: dict[int, dict[tuple[bool, int], list[int]]] = {}
        for trace in sorted(traces, key=_began):
            if trace.kind in (SessionKind.MAIN, SessionKind.LOST):
                self._add(trace)

    def _add(self, trace: Trace) -> None:
        self._by_id.setdefault(trace.native_id, []).append(trace)
        for call_id in trace.calls:
            self._by_call.setdefault(call_id, []).append(trace)
        for by_model, words in {_words(said) for said in trace.said}:
            self._by_words.setdefault((trace.kind, by_model, words), []).append(trace)
        self._own_words.update(_words(said) for said in trace.said if not said.imported)

    def named(self, native_id: str | None) -> list[Trace]:
        """The sessions with an id."""
        return self._by_id.get(native_id, []) if native_id else []

    def alike(self, copy: _Copy, saved_at: datetime | None) -> list[Trace]:
        """The sessions that a copy may be of: begun before, with a call of it or with its rarest words."""
        lists = [self._by_call[call_id] for _, call_id in copy.calls if call_id in self._by_call]
        lists += [self._saying(SessionKind.MAIN, copy.spoken), self._saying(SessionKind.LOST, copy.prompts)]
        found = (trace for traces in lists for trace in _begun_by(saved_at, traces))
        return list({id(trace): trace for trace in found}.values())

    def _saying(self, kind: SessionKind, spoken: Iterable[Spoken]) -> list[Trace]:
        """Those that may say all of this: no more than say what is said least often."""
        return min((self._saying_one(kind, one) for one in spoken), key=len, default=[])

    def _saying_one(self, kind: SessionKind, spoken: Spoken) -> list[Trace]:
        lists = [self._by_words.get((kind, spoken.by_model, words), []) for words in spoken.keys]
        filled = [traces for traces in lists if traces]
        if len(filled) < 2:
            return filled[0] if filled else []
        return sorted({id(trace): trace for traces in filled for trace in traces}.values(), key=_began)

    def says(self, spoken: Spoken) -> bool:
        """Whether any session says this, and did not only load it."""
        return any((spoken.by_model, words) in self._own_words for words in spoken.keys)

    def said_in(self, trace: Trace, spoken: Iterable[Spoken]) -> dict[int, Said]:
        """Which messages a session has too, in order, and what it has there."""
        places = self._places_in(trace)
        found: dict[int, Said] = {}
        position = 0
        for one in spoken:
            lists = (places.get((one.by_model, words), []) for words in one.keys)
            following = [p[at] for p in lists if (at := bisect_left(p, position)) < len(p)]
            if following:
                place = min(following)
                found[one.number] = trace.said[place]
                position = place + 1
        return found

    def _places_in(self, trace: Trace) -> dict[tuple[bool, int], list[int]]:
        places = self._places.get(id(trace))
        if places is None:
            places = self._places[id(trace)] = {}
            for place, said in enumerate(trace.said):
                places.setdefault(_words(said), []).append(place)
        return places


def _words(said: Said) -> tuple[bool, int]:
    return said.origin is Origin.MODEL, said.key


def _began(trace: Trace) -> datetime:
    return trace.started_at or _BEFORE_ALL


def _begun_by(saved_at: datetime | None, traces: Sequence[Trace]) -> Sequence[Trace]:
    """The last of some sessions, in order of time, that had begun when a file was written.

    A copied file is later than what it tells, never earlier, and a restored one keeps its time.
    """
    end = len(traces)
    if saved_at is not None and saved_at > _NO_CLOCK:
        end = bisect_right(traces, min(saved_at, _AFTER_ALL) + _COARSE, key=_began)
    return traces[max(0, end - _MOST_ALIKE) : end]


class _Proof(IntEnum):
    """What proves that a copy is of a session, the best last."""

    SOME = 1
    """It has some of the prompts; enough only where the prompt log names it."""
    TYPED = 2
    """The human typed the same; of a lost session there is nothing else."""
    WORDS = 3
    CALLS = 4


class _Fit(NamedTuple):
    """How a copy stands in a session."""

    trace: Trace
    proof: _Proof
    said: dict[int, Said]
    """What the session has of it, message by message."""
    end: int
    """Up to here the copy is the session's, in whatever words; 0 if only what was found is."""

    @property
    def is_own(self) -> bool:
        """Whether any of it was said there, and not only loaded."""
        return not self.said or any(not said.imported for said in self.said.values())


def tie(session: Session, known: TraceIndex, saved_at: datetime | None, hint: str | None = None) -> Session:
    """A copy with the session that it was taken from as its parent; what is counted there is imported.

    `hint` is the session that the prompt log names, by the agent's own id. It proves nothing alone, but
    with some of the words it is worth more than all of them elsewhere.
    """
    copy = _Copy(session.messages)
    named = list(_fits(copy, known, known.named(hint), are_named=True))
    others = list(_fits(copy, known, known.alike(copy, saved_at)))
    chosen = _chosen(named or _best(others), saved_at)
    if chosen is None:
        return session
    standing = _standing(copy, chosen, known)
    for other in others:
        if other.proof is _Proof.CALLS and other.is_own:
            standing |= _standing(copy, other, known)
    return with_imported(msgspec.structs.replace(session, parent_id=chosen.trace.id), standing)


def with_imported(session: Session, indexes: Iterable[int]) -> Session:
    """A session in which more messages are counted elsewhere."""
    messages = list(session.messages)
    for index in indexes:
        messages[index] = msgspec.structs.replace(messages[index], imported=True)
    return msgspec.structs.replace(session, messages=tuple(messages), counts=counts_of(messages))


def _fits(
    copy: _Copy, known: TraceIndex, traces: Iterable[Trace], *, are_named: bool = False
) -> Iterator[_Fit]:
    for trace in traces:
        is_lost = trace.kind is SessionKind.LOST
        fit = _fit_of_lost(copy, known, trace) if is_lost else _fit(copy, known, trace)
        if fit is None and are_named:
            some = known.said_in(trace, copy.prompts)
            fit = _Fit(trace, _Proof.SOME, some, 0) if some else None
        if fit is not None:
            yield fit


def _fit(copy: _Copy, known: TraceIndex, trace: Trace) -> _Fit | None:
    """How a copy stands in a session that is there; None if nothing proves that it does."""
    said = known.said_in(trace, copy.spoken)
    calls = [index for index, call_id in copy.calls if call_id in trace.calls]
    if said and len(said) == len(copy.spoken):
        return _Fit(trace, _Proof.CALLS if calls else _Proof.WORDS, said, copy.size)
    # What stands before something that is the session's is the session's too, in whatever words.
    return _Fit(trace, _Proof.CALLS, said, max([*calls, *said]) + 1) if calls else None


def _fit_of_lost(copy: _Copy, known: TraceIndex, trace: Trace) -> _Fit | None:
    """How a copy stands in a session of which only what was typed is left."""
    said = known.said_in(trace, copy.prompts)
    is_proven = len(said) == len(copy.prompts) and is_distinctive(copy.prompts)
    return _Fit(trace, _Proof.TYPED, said, 0) if is_proven else None


def _best(fits: Iterable[_Fit]) -> list[_Fit]:
    """Those with the best proof; who only loaded a chat is not where it was saved."""
    own = [fit for fit in fits if fit.is_own]
    best = max((fit.proof for fit in own), default=None)
    return [fit for fit in own if fit.proof is best]


def _chosen(fits: Sequence[_Fit], saved_at: datetime | None) -> _Fit | None:
    """The session that was at work when a copy was taken; None if that could be said of several."""
    if len(fits) < 2 or saved_at is None:
        return fits[0] if len(fits) == 1 else None
    works = sorted(
        ((moment, fit.trace.native_id, fit) for fit in fits if (moment := _last_word(fit.trace, saved_at))),
        key=lambda work: work[:2],
    )
    if not works or saved_at - works[-1][0] > _LONG_AGO:
        return None
    last = works[-1][2]
    began = last.trace.started_at
    is_clear = began is not None and all(moment < began for moment, _, _ in works[:-1])
    return last if is_clear else None


def _last_word(trace: Trace, before: datetime) -> datetime | None:
    return max((said.at for said in trace.said if said.at and said.at <= before), default=None)


def _standing(copy: _Copy, fit: _Fit, known: TraceIndex) -> set[int]:
    """The messages of a copy that are counted elsewhere: in its session, or where that has them from."""
    counted = {
        spoken.number: not fit.said[spoken.number].imported or known.says(spoken)
        for spoken in copy.spoken
        if spoken.number in fit.said
    }
    # What has no words, or other ones, goes with what was said before it.
    fate = next(iter(counted.values()), True)
    for index in range(fit.end):
        fate = counted.setdefault(index, fate)
    return {index for index, is_counted in counted.items() if is_counted}
