"""What is read, in pieces of about equal size: planned where the query is, read wherever there is room."""

from __future__ import annotations

import pickle
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import pyarrow as pa

from geminids.core.grouping import grouped
from geminids.scale.engine import Question, batches
from geminids.scale.homes import Piece, Unit, Wanted, look_again, pieces_of, units_of
from geminids.scale.only import Only
from geminids.scale.places.disks import EXPORTED, open_place
from geminids.scale.places.stored import Store
from geminids.scale.places.stores import open_store
from geminids.scale.spark.options import Asked
from geminids.scale.tables.stored import StoredPiece, holds_tables, stored_pieces

AnyPiece = Piece | StoredPiece


class Planned(NamedTuple):
    """Pieces on their way to who reads them, packed: there may be some hundred thousand of them."""

    packed: bytes

    @classmethod
    def of(cls, pieces: Sequence[AnyPiece]) -> Planned:
        """Pack pieces."""
        return cls(zlib.compress(pickle.dumps(pieces, pickle.HIGHEST_PROTOCOL), 1))

    @property
    def pieces(self) -> Sequence[AnyPiece]:
        """What is in it."""
        pieces: Sequence[AnyPiece] = pickle.loads(zlib.decompress(self.packed))
        return pieces


class Plan:
    """What is asked of a place."""

    def __init__(self, asked: Asked) -> None:
        self._asked = asked
        self._redactor = asked.redactor()

    def pieces(self, only: Only) -> Iterator[Planned]:
        """All that is to be read. Raises PlaceError for what cannot be."""
        wanted = self._asked.only.narrowed(only).files()
        store = tables_at(self._asked.uri)
        if store is not None:
            yield from self._planned(stored_pieces(store, self._asked.table, wanted, most=self._asked.most))
        else:
            yield from self.pieces_of_homes(wanted)

    def pieces_of_homes(self, wanted: Wanted) -> Iterator[Planned]:
        """The pieces of homes that hold what is wanted."""
        place = open_place(self._asked.uri)
        return self._planned(pieces_of(place, wanted, self._asked.most, self._asked.machine))

    def units(self) -> Iterator[Unit]:
        """What is told apart in homes."""
        return units_of(open_place(self._asked.uri), self._asked.only.files(), self._asked.machine)

    def rows(self, planned: Planned | None, only: Only) -> Iterator[pa.RecordBatch]:
        """What pieces hold of what is asked."""
        asked, wanted = self._asked, self._asked.only.narrowed(only)
        for piece in planned.pieces if planned else ():
            # A process that reads piece after piece may remember what was there before.
            if isinstance(piece, Piece):
                look_again(piece)
            yield from batches(Question(piece, asked.table, asked.columns, wanted, self._redactor))

    def _planned(self, pieces: Iterable[AnyPiece]) -> Iterator[Planned]:
        """Of machines that have little, several are read at once."""
        return map(Planned.of, grouped(pieces, lambda piece: piece.weight, self._asked.most))


def tables_at(uri: str) -> Store | None:
    """The tables that were written there, if any were."""
    if uri.endswith(EXPORTED):
        return None
    store = open_store(uri)
    return store if holds_tables(store) else None
