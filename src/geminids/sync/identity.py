"""What all sessions and our memory together know of each project, written beside what its files tell."""

from __future__ import annotations

from geminids.model import KnownBy, Project
from geminids.projects.identity import best_known
from geminids.projects.knowing import Folders
from geminids.store.index import Index
from geminids.sync.rows import project_facts

PROVEN = frozenset({KnownBy.CONTEXT, KnownBy.DIRECTORIES, KnownBy.ARGUMENTS, KnownBy.CURRENT_FOLDER})
"""Ways of knowing a folder that only some sessions of a project offer, or only here."""
_TOLD = "told_path, told_hash, told_slug, told_by, told_certain"
_BEST = "path, slug, known_by, certain"


def identify(index: Index, folders: Folders, *, learns: bool) -> None:
    """Write the best that is known of each project; what sessions proved is kept for those that do not."""
    folders.recall()
    sql = index.connection
    sql.execute("BEGIN IMMEDIATE")
    sql.execute(
        "DELETE FROM projects "
        "WHERE id NOT IN (SELECT project FROM sessions UNION SELECT project FROM shelves)"
    )
    # Of what is equally sure the first is taken, so the order must not depend on when what was read.
    rows = sql.execute(f"SELECT id, {_BEST}, {_TOLD} FROM projects ORDER BY {_TOLD}").fetchall()
    told = {row[0]: _project(*row[5:]) for row in rows}
    identity = best_known(told.values(), folders.remembered)
    for number, *before in (row[:5] for row in rows):
        path, _, slug, known_by, certain = project_facts(identity[told[number]])
        if before != [path, slug, known_by, certain]:
            sql.execute(
                "UPDATE projects SET path = ?, slug = ?, known_by = ?, certain = ? WHERE id = ?",
                (path, slug, known_by, certain, number),
            )
    sql.execute("COMMIT")
    if learns:
        folders.learn(p for p in identity.values() if p.certain and p.known_by in PROVEN)


def _project(
    path: str | None, name: str | None, slug: str | None, known_by: str | None, certain: int
) -> Project:
    return Project(path, name, slug, KnownBy(known_by) if known_by else None, bool(certain))
