"""The best that is known of the projects that sessions name, as the index has settled it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

import msgspec

from geminids.core.model import Project
from geminids.core.names import storable
from geminids.storage.codec.packed import project_of, project_row
from geminids.storage.index.database import Index
from geminids.storage.index.projects import known_projects, project_as_told

if TYPE_CHECKING:
    from geminids.sync.projects.identity import Identity


def projects_known(index: Index) -> Callable[[Project], Project]:
    """What gives the best that is known of a project. Each is looked up by itself: few sessions name few."""

    @cache
    def best(project: Project) -> Project:
        known = project_as_told(index, project_row(in_letters(project)))
        return project_of(known.best) if known else project

    return best


def identity_of(index: Index) -> tuple[dict[int, Project], Identity]:
    """All projects as their sessions name them, by number, and what each of them is."""
    # One project is found without it.
    from geminids.sync.projects.identity import Identity

    known = known_projects(index)
    recorded = {project.number: project_of(project.recorded) for project in known}
    return recorded, Identity({recorded[project.number]: project_of(project.best) for project in known})


def in_letters(project: Project) -> Project:
    """A project as the index tells it: the names of its folders and its hash may be no text."""
    names = (project.path or "", project.hash or "", project.slug or "")
    path, project_hash, slug = map(storable, names)
    if (path, project_hash, slug) == names:
        return project
    return msgspec.structs.replace(project, path=path or None, hash=project_hash or None, slug=slug or None)
