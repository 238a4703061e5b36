"""The table `forgotten`: SHA-256 of the ids of sessions whose rows every reader leaves out.

    OUT/forgotten/<machine>.parquet        sessions that its user forgot; replaced with each run
    OUT/forgotten/<random>~asked.parquet   sessions that were forgotten in this place alone
    OUT/forgotten/none.parquet             no row: the table exists in each place

It has no manifest: an entry that is there twice forgets nothing more.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from hashlib import sha256
from io import BytesIO

from geminids.scale.places.errors import PlaceError
from geminids.scale.places.stored import Store
from geminids.scale.schema import SESSIONS
from geminids.scale.tables.manifest import AND, ENDING, is_of_table

FORGOTTEN = "forgotten"
"""The name of the table."""
COLUMN = "session"
"""Its only column."""
_ASKED = f"{AND}asked"
_NONE = f"{FORGOTTEN}/none{ENDING}"


def hashed(session_id: str) -> str:
    """Return the entry of a session."""
    return sha256(session_id.encode("utf-8", "surrogatepass")).hexdigest()


def session_column(table: str) -> str:
    """Return the column of a table that has the ids of sessions; `problems` has none."""
    return "id" if table == SESSIONS.name else "session_id"


def read_forgotten(store: Store) -> frozenset[str]:
    """Return all hashes of a place. Raises PlaceError for a file that cannot be read."""
    names = [stored.name for stored in store.listed(FORGOTTEN) if stored.is_plain]
    return frozenset().union(*(_read(store, name) for name in names if is_of_table(name) and name != _NONE))


def write_forgotten(store: Store, machine: str, hashes: Collection[str]) -> None:
    """Write the sessions that the user of a machine forgot, unless the table has them."""
    name = f"{FORGOTTEN}/{machine}{ENDING}"
    there = {stored.name for stored in store.listed(FORGOTTEN)}
    if _NONE not in there:
        _write(store, _NONE, ())
    if hashes and (name not in there or _read(store, name) != frozenset(hashes)):
        _write(store, name, hashes)
    elif not hashes and name in there:
        store.delete(name)


def add_forgotten(store: Store, ids: Iterable[str]) -> None:
    """Add sessions that are forgotten in one place, in a new file, so that no lock is needed."""
    _write(store, f"{FORGOTTEN}/{os.urandom(6).hex()}{_ASKED}{ENDING}", set(map(hashed, ids)))


def _read(store: Store, name: str) -> frozenset[str]:
    content = store.read(name)
    if content is None:
        return frozenset()
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return frozenset(pq.read_table(BytesIO(content), columns=[COLUMN])[COLUMN].to_pylist())
    except (pa.ArrowInvalid, OSError, KeyError) as error:
        raise PlaceError(f"{store.uri}/{name}", f"it cannot be read as Parquet ({error})") from error


def _write(store: Store, name: str, hashes: Collection[str]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    written = BytesIO()
    pq.write_table(pa.table({COLUMN: pa.array(sorted(hashes), pa.string())}), written)
    store.put(name, written.getvalue())
