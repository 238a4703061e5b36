"""The folders that this machine writes tables to, as `doctor` looks at them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from geminids.core.config import is_below
from geminids.core.errors import GeminidsError
from geminids.scale.places.stores import LocalStore
from geminids.scale.tables.manifest import tables_there
from geminids.scale.tables.written import PlaceHealth


def places_health(data_folder: str) -> Iterator[PlaceHealth]:
    """Look at the folders that tables were written to; object storage is not asked."""
    for lock in sorted(Path(data_folder).glob("tables-*.lock")):
        uri = lock.read_bytes().decode("utf-8", "surrogateescape")
        if uri and "://" not in uri and Path(uri).is_dir() and not is_below(uri, [data_folder]):
            yield _health(uri)


def _health(uri: str) -> PlaceHealth:
    try:
        there = tables_there(LocalStore(uri))
    except GeminidsError as error:
        return PlaceHealth(uri=uri, error=str(error))
    return PlaceHealth(uri=uri, machines=len(there.manifests), strays=there.strays, damaged=there.damaged)
