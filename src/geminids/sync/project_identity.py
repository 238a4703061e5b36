"""What all sessions and our memory together know of each project, written beside what its files tell."""

from __future__ import annotations

from geminids.core.model import KnownBy
from geminids.storage.codec.packed import project_of, project_row
from geminids.storage.index.database import Index
from geminids.storage.index.projects import forget_unused_projects, known_projects_in_fixed_order, note_best
from geminids.storage.index.writer import transaction
from geminids.sync.projects.identity import best_known
from geminids.sync.projects.knowledge import Folders

PROVEN = frozenset(
    {KnownBy.RECORDS, KnownBy.CONTEXT, KnownBy.DIRECTORIES, KnownBy.ARGUMENTS, KnownBy.CURRENT_FOLDER}
)
"""Ways of knowing a folder that only some sessions of a project offer, or only here."""


def identify(index: Index, folders: Folders, *, learns: bool) -> None:
    """Write the best that is known of each project; what sessions proved is kept for those that do not."""
    folders.recall()
    with transaction(index):
        forget_unused_projects(index)
        # Of what is equally sure the first is taken, so the order must not depend on when what was read.
        known = known_projects_in_fixed_order(index)
        recorded = {project.number: project_of(project.recorded) for project in known}
        identity = best_known(recorded.values(), folders.remembered)
        for project in known:
            note_best(index, project, project_row(identity[recorded[project.number]]))
    if learns:
        folders.learn(p for p in identity.values() if p.certain and p.known_by in PROVEN)
