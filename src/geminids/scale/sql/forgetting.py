"""Remove sessions and machines from tables, also those that other machines wrote."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from geminids.core.errors import GeminidsError
from geminids.scale.places.stored import Store
from geminids.scale.schema import FORMER, TABLES
from geminids.scale.sql.database import Database
from geminids.scale.tables.forgotten import add_forgotten
from geminids.scale.tables.manifest import part_of, read_manifests

_CALLED = """
    WITH RECURSIVE meant(id) AS (
        SELECT id FROM all_sessions WHERE {condition}
        UNION
        SELECT s.id FROM all_sessions s JOIN meant ON s.parent_id = meant.id WHERE s.kind = 'subagent'
    )
    SELECT id, any_value(kind) AS kind, list(DISTINCT machine ORDER BY machine) AS machines
    FROM all_sessions WHERE id IN (SELECT id FROM meant) GROUP BY id ORDER BY id"""
_NEAR = "SELECT DISTINCT id FROM all_sessions WHERE {condition} ORDER BY id LIMIT 6"


class StoredSession(NamedTuple):
    """A session in tables."""

    id: str
    kind: str
    machines: Sequence[str]
    """The machines that wrote it."""


class AmbiguousIdError(GeminidsError):
    """The beginning of an id is that of several sessions."""

    def __init__(self, wanted: str, ids: Sequence[str]) -> None:
        super().__init__(f"{wanted!r} could be any of {', '.join(ids)}. Type more of the id.")


def sessions_called(store: Store, wanted: Sequence[str]) -> list[StoredSession]:
    """Return the sessions of some ids, or beginnings of ids, with their subagents."""
    ids: list[str] = []
    with Database(store) as database:
        for name in wanted:
            quoted = "'{}'".format(name.replace("'", "''"))
            found = _rows(database, _NEAR.format(condition=f"id = {quoted} OR native_id = {quoted}"))
            if not found:
                begins = f"starts_with(id, {quoted}) OR starts_with(native_id, {quoted})"
                found = _rows(database, _NEAR.format(condition=f"({begins}) AND kind <> 'subagent'"))
            if len(found) > 1:
                raise AmbiguousIdError(name, [row["id"] for row in found])
            ids += (row["id"] for row in found)
        if not ids:
            return []
        listed = ", ".join("'{}'".format(one.replace("'", "''")) for one in ids)
        return [
            StoredSession(**row) for row in _rows(database, _CALLED.format(condition=f"id IN ({listed})"))
        ]


def _rows(database: Database, query: str) -> list[dict[str, Any]]:
    _, batches = database.ask(query)
    return [row for batch in batches for row in batch.to_pylist()]


def forget_sessions(store: Store, ids: Sequence[str]) -> None:
    """Note sessions that count nowhere in a place."""
    add_forgotten(store, ids)


def files_of_machine(store: Store, machine: str) -> list[str]:
    """Return all files of a machine, called by its name or its id; the manifest last."""
    manifests = [
        manifest
        for manifest in read_manifests(store).values()
        if machine in (manifest.title, manifest.machine)
    ]
    files = [
        stored.name
        for folder in (*TABLES, *FORMER)
        for stored in store.listed(folder)
        if any(part_of(stored.name, manifest.machine) for manifest in manifests)
    ]
    return [*files, *(manifest.name for manifest in manifests)]


def forget_machine(store: Store, files: Sequence[str]) -> None:
    """Delete the files of a machine in their order, so that the next try finds what is left."""
    for name in files:
        store.delete(name)
