"""What one machine has written into a place, as its next run needs to know it."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from geminids.scale.places.errors import PlaceError
from geminids.scale.places.stored import Store, Stored
from geminids.scale.schema import PARTITIONS, TABLES, VERSION

FOLDER = "_geminids"
"""A name that engines pass over."""
ENDING = ".parquet"
HIDDEN = (".", "_")
"""What names begin with that engines pass over."""
AND = "~"
"""Between the name of a machine, which has none in it, and that of a group."""


class WrittenPart(msgspec.Struct, frozen=True):
    """A part that is up to date."""

    digest: str
    """Of what it was made of; empty if it is to be written anew."""
    hiding: str
    """What was hidden in it: rows of it may stay where the same is to be."""
    rows: dict[str, int]
    """Of each table that has any."""


class Manifest(msgspec.Struct, frozen=True):
    """All parts of one machine."""

    machine: str
    homes: str = ""
    """Which homes of the machine, in a few letters that tell nothing of them."""
    schema: int = VERSION
    finished: bool = False
    """Whether the last run came to its end: else there may be files that nobody noted."""
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
    refuse_newer(store, content)
    try:
        found = msgspec.json.decode(content, type=Manifest)
    except msgspec.DecodeError:
        return empty
    is_ours = found.schema == VERSION and found.machine == machine and all(map(_is_part, found.parts.items()))
    return found if is_ours else empty


def _is_part(noted: tuple[str, WrittenPart]) -> bool:
    """Whether a part that somebody noted can be one of ours: files are removed by what is noted."""
    name, part = noted
    is_name = len(PARTITIONS) <= len(name.split("/")) <= len(PARTITIONS) + 1
    return is_name and part.rows.keys() <= TABLES.keys()


def refuse_newer_tables(store: Store) -> set[str]:
    """Return the machines whose manifests have a version. Raises PlaceError for a version unknown here."""
    names = [stored.name for stored in store.listed(FOLDER)]
    contents = zip(names, store.read_all(names), strict=True)
    return {
        name.rpartition("/")[2].removesuffix(".json")
        for name, content in contents
        if content is not None and refuse_newer(store, content)
    }


def refuse_newer(store: Store, manifest: bytes) -> bool:
    """Raise PlaceError for a manifest of a newer release; return whether the manifest has a version."""
    try:
        version = msgspec.json.decode(manifest, type=_Version).schema
    except msgspec.DecodeError:
        # Damaged: whoever wrote it writes it anew.
        return False
    refuse_newer_version(store, version)
    return True


def refuse_newer_version(store: Store, version: int) -> None:
    """Raise PlaceError for a version of tables that this release does not know."""
    if version > VERSION:
        raise PlaceError(
            store.uri,
            f"it has tables of a newer release of geminids (version {version}; this one knows {VERSION}); "
            "update geminids, or choose another place",
        )


class _Version(msgspec.Struct):
    """As much of a manifest as every release has in it."""

    schema: int


def write_manifest(store: Store, manifest: Manifest) -> None:
    """Note what is up to date."""
    store.put(manifest.name, msgspec.json.format(msgspec.json.encode(manifest), indent=1))


def file_name(table: str, part: str, machine: str) -> str:
    """Where a table of a part lies; parts are called `<agent>/<month>`, and the further ones of a month
    `<agent>/<month>/<group>`.
    """
    *values, group = part.split("/") if part.count("/") == len(PARTITIONS) else (*part.split("/"), "")
    folders = (f"{name}={value}" for name, value in zip(PARTITIONS, values, strict=True))
    return "/".join((table, *folders, f"{machine}{AND}{group}{ENDING}" if group else f"{machine}{ENDING}"))


def files_of_table(store: Store, table: str) -> Sequence[Stored]:
    """Return the files of a table that are read, by name."""
    return sorted(stored for stored in store.listed(table) if is_of_table(stored.name))


def machine_of(name: str) -> str:
    """Return the machine that wrote a file of a table."""
    return name.rpartition("/")[2].removesuffix(ENDING).partition(AND)[0]


def is_of_table(name: str) -> bool:
    """Whether a file below the folder of a table holds rows of it, and is none that a system left there."""
    return name.endswith(ENDING) and not any(piece.startswith(HIDDEN) for piece in name.split("/"))


def part_of(name: str, machine: str) -> tuple[str, str] | None:
    """The table and the part that a file of a machine is of; None for all other files."""
    *above, file = name.split("/")
    table, folders = above[0] if above else "", above[1:]
    whose, _, group = file.removesuffix(ENDING).partition(AND)
    known = [folder.partition("=") for folder in folders]
    if not file.endswith(ENDING) or whose != machine or tuple(key for key, _, _ in known) != PARTITIONS:
        return None
    return table, "/".join(filter(None, (*(value for _, _, value in known), group)))
