"""The sessions whose meaning is closest to a text. The vectors of what is new are made first."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import NamedTuple

from geminids.core.hashes import blake2b
from geminids.query.meaning.embedding import SIZE, Embedding
from geminids.query.meaning.passages import passages
from geminids.storage.index.database import Index
from geminids.storage.index.vectors import DamagedVectorsError, SessionVectors, VectorFile

AT_ONCE = 100
"""Sessions whose vectors are written together; whoever is stopped loses no more."""
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
            _bring_up_to_date(file, known, embedding, texts_of, progress)
            return _nearest(embedding, text, known, file.all(SIZE * _BYTES), among)[:most]

    try:
        return found()
    except DamagedVectorsError:
        file.remove()
        return found()


def _sessions(index: Index) -> dict[str, _Known]:
    """All sessions that are compared, the newest first."""
    rows = index.connection.execute(_SESSIONS).fetchall()
    return {
        f"{sid} {path}": _Known(number, title, _stamp(stamp, title))
        for number, sid, path, title, stamp in rows
    }


def _stamp(stamp: bytes, title: str) -> bytes:
    return blake2b(stamp + title.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _bring_up_to_date(
    file: VectorFile,
    known: Mapping[str, _Known],
    embedding: Embedding,
    texts_of: TextsOf,
    progress: Progress | None,
) -> None:
    there = file.stamps()
    file.drop(there.keys() - known.keys())
    new = [(key, session) for key, session in known.items() if there.get(key) != session.stamp]
    for start in range(0, len(new), AT_ONCE):
        file.put(
            [_vectors(key, session, embedding, texts_of) for key, session in new[start : start + AT_ONCE]]
        )
        if progress:
            progress(start + AT_ONCE, len(new))


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
