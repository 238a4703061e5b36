"""Sessions and evidence for tests of records: those of every recorded home, and any that could ever be."""

from __future__ import annotations

import types
import typing
from collections.abc import Iterator
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path
from typing import Any

import msgspec
from hypothesis import strategies as st

from geminids.core import agents
from geminids.core.model import Message, Session
from geminids.sharing.records.evidence import Evidence, FileEvidence, NativeEvidence, evidence_of
from geminids.sharing.records.natives import Natives, read_natives
from tests.conftest import FIXTURES
from tests.support.reading import sessions as read_sessions

AGENTS = ("gemini", "claude", "codex")


def fixture_homes(agent: str) -> list[Path]:
    """The homes of all fixtures of an agent."""
    return sorted(FIXTURES.glob(f"{agent}/*/home"))


def corpus_homes(corpus: Path) -> list[Path]:
    """The homes that releases of Gemini CLI have written."""
    return sorted((corpus / "real").glob("*/*/home"))


def sessions_with_evidence(agent: str, home: Path) -> Iterator[tuple[Session, Evidence]]:
    """The sessions of a home, and what stands in its files."""
    source = agents.load(agent)
    for session in read_sessions(source, home):
        whole = source.companions().with_outputs(session)
        yield whole, evidence_of(whole, natives_of(whole))


def natives_of(session: Session) -> Natives:
    """The records of a session as they stand in its files."""
    return read_natives(session, lambda path: Path(path).read_bytes())


# Any session: of every field of the model what its type allows, so that new fields are tried too.

WORDS = st.text(max_size=12).filter(lambda words: words.isascii() or _is_read_back(words))
"""Also with halves of characters; but two that make one in JSON are one."""
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=6,
)
MOMENTS = st.datetimes(datetime(1970, 1, 1), datetime(2999, 12, 31), timezones=st.just(UTC))  # noqa: DTZ001
NUMBERS = st.integers(-3, 3) | st.integers(-(2**70), 2**70)


def _is_read_back(words: str) -> bool:
    return words.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass") == words


def anything(kind: Any) -> st.SearchStrategy[Any]:
    """Any value of a type of the model."""
    if kind is Any:
        return JSON
    if kind in _PLAIN:
        return _PLAIN[kind]
    if isinstance(kind, type) and issubclass(kind, Enum):
        return st.sampled_from(kind)
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        fields = msgspec.structs.fields(kind)
        return st.builds(kind, **{field.name: anything(field.type) for field in fields})
    of = typing.get_args(kind)
    match typing.get_origin(kind):
        case types.UnionType | typing.Union:
            return st.one_of(*map(anything, of))
        case origin if origin is tuple:
            return st.lists(anything(of[0]), max_size=3).map(tuple)
        case origin if origin is list:
            return st.lists(anything(of[0]), max_size=2)
        case origin if origin is dict:
            return st.dictionaries(WORDS, anything(of[1]), max_size=3)
    raise AssertionError(f"tests know no values of {kind}")


_PLAIN: dict[Any, st.SearchStrategy[Any]] = {
    type(None): st.none(),
    str: WORDS,
    int: NUMBERS,
    float: st.floats(allow_nan=False),
    bool: st.booleans(),
    datetime: MOMENTS,
}

SESSIONS: st.SearchStrategy[Session] = st.deferred(lambda: anything(Session))
HASHES = st.sampled_from(("0" * 64, "ab" * 32))


@st.composite
def sessions_and_evidence(draw: st.DrawFn) -> tuple[Session, Evidence | None]:
    """Any session, and evidence that some of its places were looked at."""
    session = draw(SESSIONS)
    if draw(st.booleans()):
        return session, None
    messages = tuple(draw(_places(message)) for message in session.messages)
    others = draw(st.lists(anything(NativeEvidence), max_size=3).map(tuple))
    files = draw(st.lists(anything(FileEvidence), max_size=2).map(tuple))
    return session, Evidence(files, messages, others, draw(st.none() | WORDS))


@st.composite
def _places(draw: st.DrawFn, message: Message) -> tuple[NativeEvidence, ...]:
    sources_of = (message.source, *message.also_at)
    looked_at = [source for source in sources_of if draw(st.booleans())]
    return tuple(NativeEvidence(source, draw(HASHES), draw(JSON)) for source in looked_at)
