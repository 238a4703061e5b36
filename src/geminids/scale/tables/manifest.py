"""Manifests: the files that each machine has written into a place, and their state.

The files of a machine are named after its id; a file that no manifest names is not read. A manifest of a
release that knew no ids has none: its files are named after the machine, and stay so when the machine takes
them over.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

import msgspec

from geminids.scale.places.errors import NameTakenError, PlaceError
from geminids.scale.places.stored import Store, Stored
from geminids.scale.schema import FORMER, PARTITIONS, TABLES, VERSION

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
    sizes: dict[str, int] = {}
    """Bytes of the file of each table; empty if a release wrote it that did not note them."""


class Manifest(msgspec.Struct, frozen=True):
    """All parts of one machine."""

    machine: str
    """The prefix of the names of its files."""
    id: str = ""
    """The machine and the homes that wrote it; empty if a release wrote it that knew no ids."""
    named: str = ""
    """The name of the machine in rows; empty if that is the prefix."""
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

    @property
    def title(self) -> str:
        """The name of the machine in rows."""
        return self.named or self.machine

    def files(self) -> dict[str, tuple[str, int | None]]:
        """Return the names of its files, each with the table and its size where that was noted."""
        return {
            file_name(table, part, self.machine): (table, written.sizes.get(table))
            for part, written in self.parts.items()
            for table in written.rows
        }


class TablesThere(NamedTuple):
    """The files of tables in a place."""

    manifests: Mapping[str, Manifest]
    """Of each machine, as the names of its files begin."""
    files: Mapping[str, Sequence[Stored]]
    """The files of each table, as manifests name them."""
    strays: Sequence[str]
    """Files below the folders of tables that no manifest names: they are not read."""
    damaged: Sequence[str]
    """Files that are gone, or have another size than the manifest of a finished run noted."""


def tables_there(store: Store, tables: Collection[str] = tuple(TABLES)) -> TablesThere:
    """Return the files of some tables in a place. Raises PlaceError if no manifest names any of them."""
    found = _tables_there(store, tables)
    if found.strays or found.damaged:
        # A machine may have written between a look at its manifest and one at its files.
        found = _tables_there(store, tables)
    if found.strays and not found.manifests:
        raise PlaceError(
            store.uri,
            f"no manifest in {FOLDER} names its {len(found.strays):,} files of tables; run `geminids tables` "
            "again on the machines that wrote them",
        )
    return found


def _tables_there(store: Store, tables: Collection[str]) -> TablesThere:
    manifests = read_manifests(store)
    named: dict[str, int | None] = {}
    missing: set[str] = set()
    for manifest in manifests.values():
        of_tables = {name: size for name, (table, size) in manifest.files().items() if table in tables}
        named |= of_tables
        missing.update(of_tables if manifest.finished else ())
    files: dict[str, list[Stored]] = {}
    strays: list[str] = []
    for table in tables:
        there = sorted(store.listed(table))
        files[table] = [stored for stored in there if stored.is_plain and stored.name in named]
        strays += (
            stored.name
            for stored in there
            if not (stored.is_plain and stored.name in named)
            and may_be_read(stored)
            and not _is_on_its_way(stored, manifests.get(machine_of(stored.name)))
        )
        missing -= {stored.name for stored in files[table] if named[stored.name] in (None, stored.size)}
    return TablesThere(manifests, files, strays, sorted(missing))


def may_be_read(stored: Stored) -> bool:
    """Return whether engines may take a file below the folder of a table for rows of it."""
    return is_of_table(stored.name if stored.is_plain else f"{stored.name}{ENDING}")


def _is_on_its_way(stored: Stored, manifest: Manifest | None) -> bool:
    """Return whether the machine that a file is named after may note it in a moment."""
    if manifest is None or manifest.finished or not stored.is_plain:
        return False
    return part_of(stored.name, manifest.machine) is not None


def machine_of(name: str) -> str:
    """Return what the name of a file of a table begins with: the machine, as files name it."""
    return name.rpartition("/")[2].removesuffix(ENDING).partition(AND)[0]


def read_manifests(store: Store) -> dict[str, Manifest]:
    """Return undamaged manifests, by machine. Raises PlaceError for one of a newer release."""
    names = [stored.name for stored in store.listed(FOLDER) if stored.is_plain]
    return _by_machine(store, zip(names, store.read_all(names), strict=True))


def _manifests_beside(store: Store) -> dict[str, Manifest]:
    """Return the manifests of other machines as far as this one may read and knows them."""
    # Another user may have closed a file, or another machine have a newer release.
    with suppress(PlaceError):
        return read_manifests(store)
    found: dict[str, Manifest] = {}
    for name in [stored.name for stored in store.listed(FOLDER) if stored.is_plain]:
        # This one is closed or newer: the others count.
        with suppress(PlaceError):
            found |= _by_machine(store, [(name, store.read(name))])
    return found


def _by_machine(store: Store, contents: Iterable[tuple[str, bytes | None]]) -> dict[str, Manifest]:
    found: dict[str, Manifest] = {}
    for name, content in contents:
        manifest = _decoded(store, content) if content is not None else None
        # A copy of a manifest has another name than its machine.
        if manifest is not None and manifest.name == name:
            found[manifest.machine] = manifest
    return found


def own_manifest(store: Store, wanted: Manifest, former: Collection[str]) -> Manifest:
    """Return the manifest that a machine goes on with, under the name and the homes that are wanted.

    `former` are the names that this machine had in releases that knew no ids. Raises NameTakenError if other
    tables have the wanted name.
    """
    likely = [f"{FOLDER}/{machine}.json" for machine in (wanted.machine, wanted.named)]
    for content in store.read_all(likely):
        own = _decoded(store, content) if content is not None else None
        if own is not None and (own.id, own.named) == (wanted.id, wanted.named):
            return _as_wanted(own, wanted)
    manifests = _manifests_beside(store)
    candidates = [one for one in manifests.values() if one.id == wanted.id]
    candidates += [one for one in manifests.values() if _is_former(one, wanted, former)]
    own = candidates[0] if candidates else None
    own_file = own.name if own else None
    if any(
        one.title == wanted.title or one.name == wanted.name
        for one in manifests.values()
        if one.name != own_file
    ):
        raise NameTakenError(store.uri, wanted.title)
    if own is None:
        return wanted
    return _as_wanted(own, wanted)


def _as_wanted(own: Manifest, wanted: Manifest) -> Manifest:
    if own.schema != VERSION:
        # The run writes all parts again and removes former tables.
        parts = {name: msgspec.structs.replace(part, digest="") for name, part in own.parts.items()}
        own = msgspec.structs.replace(own, schema=VERSION, finished=False, parts=parts)
    return msgspec.structs.replace(own, id=wanted.id, named=wanted.named, homes=wanted.homes)


def _is_former(manifest: Manifest, wanted: Manifest, former: Collection[str]) -> bool:
    return (
        not manifest.id
        and manifest.machine in former
        and (manifest.homes == wanted.homes or not manifest.parts)
    )


def _decoded(store: Store, content: bytes) -> Manifest | None:
    """Return a manifest; None if it is damaged. Raises PlaceError for one of a newer release."""
    refuse_newer(store, content)
    try:
        found = msgspec.json.decode(content, type=Manifest)
    except msgspec.DecodeError:
        return None
    return found if all(map(_is_part, found.parts.items())) else None


def _is_part(noted: tuple[str, WrittenPart]) -> bool:
    """Whether a part that somebody noted can be one of ours: files are removed by what is noted."""
    name, part = noted
    is_name = len(PARTITIONS) <= len(name.split("/")) <= len(PARTITIONS) + 1
    return is_name and part.rows.keys() <= {*TABLES, *FORMER}


def refuse_newer(store: Store, manifest: bytes) -> None:
    """Raise PlaceError for a manifest of a newer release."""
    try:
        version = msgspec.json.decode(manifest, type=_Version).schema
    except msgspec.DecodeError:
        # The machine of a damaged manifest replaces it with its next run.
        return
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
