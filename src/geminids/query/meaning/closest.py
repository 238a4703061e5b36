"""The sessions whose meaning is closest to a text. The vectors of what is new are made first."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import NamedTuple, TypeVar

from geminids.core.hashes import blake2b
from geminids.query.meaning.embedding import SIZE, Embedding
from geminids.query.meaning.passages import passages
from geminids.storage.index.database import Index
from geminids.storage.index.vectors import DamagedVectorsError, SessionVectors, VectorFile

AT_ONCE = 100
"""Sessions whose vectors are written together; whoever is killed loses no more."""
_BYTES = 2
"""Of each number of a vector."""
_WHOLE = 0.5
"""How much all passages of a session together count beside the best of them."""
_LED = ("main", "lost")
"""Kinds of sessions that are compared: what agents asked agents is told in the sessions that they served."""
_SESSIONS = f"""
    SELECT s.id, s.sid, coalesce(s.file, ''), coalesce(s.title, ''), b.stamp
    FROM sessions AS s JOIN bundles AS b ON b.id = s.bundle WHERE s.kind IN {_LED} ORDER BY s.last DESC
"""

TextsOf = Callable[[int], Iterable[tuple[int, Mapping[str, str]]]]
Progress = Callable[[int, int], None]
Answer = TypeVar("Answer")


class Close(NamedTuple):
    """A session, how close it is, and the place of the message that is closest."""

    session: int
    score: float
    place: int


class _Known(NamedTuple):
    """A session as the index knows it."""

    number: int
    title: str
    stamp: bytes


def closest(
    text: str,
    index: Index,
    file: VectorFile,
    texts_of: TextsOf,
    *,
    among: Collection[int] | None,
    most: int,
    progress: Progress | None = None,
) -> list[Close]:
    """The sessions that are closest to a text, the closest first; only `among` some, if that is said.

    Raises MeaningNotInstalledError.
    """
    embedding = Embedding()
    known = _sessions(index)

    def found() -> list[Close]:
        with file:
            _renew(file, _new(file, known), embedding, texts_of, progress)
            return _nearest(embedding, text, known, file.all(SIZE * _BYTES), among)[:most]

    return _anew_where_damaged(file, found)


def renewed(index: Index, file: VectorFile, texts_of: TextsOf, progress: Progress | None = None) -> int:
    """Bring the vectors up to date; of how many sessions they were made.

    Where none is new, no model is loaded. Raises MeaningNotInstalledError.
    """
    known = _sessions(index)

    def made() -> int:
        with file:
            if new := _new(file, known):
                _renew(file, new, Embedding(), texts_of, progress)
            return len(new)

    return _anew_where_damaged(file, made)


def _anew_where_damaged(file: VectorFile, answer: Callable[[], Answer]) -> Answer:
    try:
        return answer()
    except DamagedVectorsError:
        file.remove()
        return answer()


def _sessions(index: Index) -> dict[str, _Known]:
    """All sessions that are compared, the newest first."""
    rows = index.connection.execute(_SESSIONS).fetchall()
    return {
        f"{sid} {path}": _Known(number, title, _stamp(stamp, title))
        for number, sid, path, title, stamp in rows
    }


def _stamp(stamp: bytes, title: str) -> bytes:
    return blake2b(stamp + title.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _new(file: VectorFile, known: Mapping[str, _Known]) -> dict[str, _Known]:
    """The sessions whose vectors are not there, or no longer theirs; the newest first."""
    there = file.stamps()
    file.drop(there.keys() - known.keys())
    return {key: session for key, session in known.items() if there.get(key) != session.stamp}


def _renew(
    file: VectorFile,
    new: Mapping[str, _Known],
    embedding: Embedding,
    texts_of: TextsOf,
    progress: Progress | None,
) -> None:
    made: list[SessionVectors] = []
    try:
        for number, (key, session) in enumerate(new.items(), start=1):
            made.append(_vectors(key, session, embedding, texts_of))
            if len(made) == AT_ONCE:
                file.put(made)
                made.clear()
            if progress:
                progress(number, len(new))
    finally:
        # Whoever is stopped by Ctrl-C goes on from here the next time.
        file.put(made)


def _vectors(key: str, session: _Known, embedding: Embedding, texts_of: TextsOf) -> SessionVectors:
    import numpy as np

    told = passages(session.title, texts_of(session.number))
    places = np.array([place for place, _ in told], np.int32)
    vectors = embedding.of([text for _, text in told])
    return SessionVectors(key, session.stamp, places.tobytes(), vectors.tobytes())


def _nearest(
    embedding: Embedding,
    text: str,
    known: Mapping[str, _Known],
    stored: Iterable[SessionVectors],
    among: Collection[int] | None,
) -> list[Close]:
    """Sessions by the best of their passages, and by all of them together."""
    import numpy as np

    wanted = embedding.of([text])[0].astype(np.float32)
    close: list[Close] = []
    for one in stored:
        session = known.get(one.key)
        if session is None or not one.vectors or (among is not None and session.number not in among):
            continue
        vectors = np.frombuffer(one.vectors, np.float16).reshape(-1, SIZE)
        *scores, whole = (vectors @ wanted).tolist()
        best = scores.index(max(scores))
        place = int(np.frombuffer(one.places, np.int32)[best])
        close.append(Close(session.number, (scores[best] + _WHOLE * whole) / (1 + _WHOLE), place))
    return sorted(close, key=lambda one: (-one.score, -one.session))
