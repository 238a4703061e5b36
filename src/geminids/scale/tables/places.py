"""The places that this machine writes tables to: `doctor` checks them, `forget` names them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from geminids.core.config import is_below
from geminids.core.errors import GeminidsError
from geminids.scale.places.stores import LocalStore
from geminids.scale.tables.manifest import tables_there
from geminids.scale.tables.written import PlaceHealth


def noted_places(data_folder: str) -> Iterator[str]:
    """Return the folders and addresses that this machine wrote tables to, without that of `sql`."""
    try:
        locks = [lock.read_bytes() for lock in sorted(Path(data_folder).glob("tables-*.lock"))]
    except PermissionError:
        # The data folder of another user: doctor goes on without it.
        return
    for lock in locks:
        uri = lock.decode("utf-8", "surrogateescape")
        if "://" in uri or (uri and Path(uri).is_dir() and not is_below(uri, [data_folder])):
            yield uri


def places_health(data_folder: str) -> Iterator[PlaceHealth]:
    """Look at the folders that tables were written to; object storage is not asked."""
    return (_health(uri) for uri in noted_places(data_folder) if "://" not in uri)


def _health(uri: str) -> PlaceHealth:
    try:
        there = tables_there(LocalStore(uri))
    except GeminidsError as error:
        return PlaceHealth(uri=uri, error=str(error))
    return PlaceHealth(uri=uri, machines=len(there.manifests), strays=there.strays, damaged=there.damaged)
