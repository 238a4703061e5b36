"""What one machine has written into a place, as its next run needs to know it."""

from __future__ import annotations

import msgspec

from geminids.scale.places.errors import PlaceError
from geminids.scale.places.stored import Store
from geminids.scale.schema import PARTITIONS, TABLES, VERSION

FOLDER = "_geminids"
"""Engines pass over names that begin with an underscore."""


class WrittenPart(msgspec.Struct, frozen=True):
    """A part that is up to date."""

    digest: str
    """Of what it was made of."""
    rows: dict[str, int]
    """Of each table that has any."""


class Manifest(msgspec.Struct, frozen=True):
    """All parts of one machine."""

    machine: str
    schema: int = VERSION
    parts: dict[str, WrittenPart] = {}

    @property
    def name(self) -> str:
        """The name of its file."""
        return f"{FOLDER}/{self.machine}.json"


def read_manifest(store: Store, machine: str) -> Manifest:
    """What was written before; nothing, where that cannot be told: then all is written anew."""
    empty = Manifest(machine)
    content = store.read(empty.name)
    if content is None:
        return empty
    try:
        found = msgspec.json.decode(content, type=Manifest)
    except msgspec.DecodeError:
        return empty
    if found.schema > VERSION:
        raise PlaceError(
            store.uri,
            f"its tables are of a newer release of geminids (version {found.schema}; this one writes "
            f"{VERSION}); update geminids on this machine, or choose another place",
        )
    return found if found.schema == VERSION and found.machine == machine else empty


def write_manifest(store: Store, manifest: Manifest) -> None:
    """Note what is up to date."""
    store.put(manifest.name, msgspec.json.format(msgspec.json.encode(manifest), indent=1))


def file_name(table: str, part: str, machine: str) -> str:
    """Where a table of a part lies; parts are called `<agent>/<month>`."""
    folders = (f"{name}={value}" for name, value in zip(PARTITIONS, part.split("/"), strict=True))
    return "/".join((table, *folders, f"{machine}.parquet"))


def part_of(name: str, machine: str) -> tuple[str, str] | None:
    """The table and the part that a file of a machine is of; None for all other files."""
    pieces = name.split("/")
    if len(pieces) != 2 + len(PARTITIONS) or pieces[0] not in TABLES or pieces[-1] != f"{machine}.parquet":
        return None
    values = [piece.partition("=")[2] for piece in pieces[1:-1]]
    return pieces[0], "/".join(values)
