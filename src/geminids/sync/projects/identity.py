"""Which projects are one: for each as its files tell it, the best that is known of it from all others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property

from geminids.core import agents
from geminids.core.model import KnownBy, Project, folder_hash
from geminids.core.spellings import main_place, same_place

_SURER = {known_by: rank for rank, known_by in enumerate(KnownBy)}
Remembered = Callable[[str], Project | None]
"""What was learnt before about the folder of a hash."""


class Identity(dict[Project, Project]):
    """For each project as its files tell it, the best that is known of it."""

    repositories: Mapping[str, str] = {}
    """The main folder of a repository, by the folder of another work tree of it."""

    def key(self, project: Project) -> str:
        """What two projects have in common if they are one: the folder where it is known, else the hash.

        A guessed folder is the one that another project is known to be in.
        """
        if project.path and (is_settled(project) or same_place(project.path) in self._settled_places):
            return main_place(self.repositories.get(project.path, project.path))
        return project.hash or project.path or project.slug or ""

    @cached_property
    def _settled_places(self) -> set[str]:
        return {same_place(project.path) for project in self.values() if project.path and is_settled(project)}


def best_known(projects: Iterable[Project], remembered: Remembered) -> Identity:
    """For each project the best that any of the others with its hash, or our memory, knows.

    Some agents write a folder and others its hash: where one is that of the other, the folder is proven.
    """
    distinct = dict.fromkeys(projects)
    best: dict[str, Project] = {}
    for project in distinct:
        if project.hash:
            best[project.hash] = _surer(best.get(project.hash), project)
    hashes = {project: project.hash or _hash_of_recorded(project) for project in distinct}
    for project, project_hash in hashes.items():
        if project_hash in best and not best[project_hash].certain and not project.hash:
            best[project_hash] = _surer(best[project_hash], _proven(project, project_hash))
    for project_hash, project in best.items():
        known = remembered(project_hash)
        if known and (known.known_by is KnownBy.LINK or not project.certain):
            best[project_hash] = _surer(project, known)
    known_best = {project: _with_path_of(project, best.get(hashes[project] or "")) for project in distinct}
    return Identity(_with_named_folders(known_best))


def _with_named_folders(best: Mapping[Project, Project]) -> dict[Project, Project]:
    """Add the folders of projects that are known by a name alone, if one known folder has that name."""
    nameless = {known.slug for known in best.values() if known.slug and not (known.path or known.hash)}
    if not nameless:
        return dict(best)
    folders: dict[str, dict[str, str]] = {}
    facts = [source.projects() for source in agents.every()]
    for path in sorted({known.path for known in best.values() if known.path and is_settled(known)}):
        for slug in nameless.intersection(filter(None, (agent.slug_of(path) for agent in facts))):
            folders.setdefault(slug, {}).setdefault(same_place(path), path)
    return {project: _in_named_folder(known, folders) for project, known in best.items()}


def _in_named_folder(project: Project, folders: Mapping[str, Mapping[str, str]]) -> Project:
    paths: Sequence[str] = list(folders.get(project.slug or "", {}).values())
    if project.path or project.hash or len(paths) != 1:
        return project
    # Several paths have the name, so the folder is a guess.
    return Project(paths[0], None, project.slug, KnownBy.MARKER)


def is_settled(project: Project) -> bool:
    """Whether nobody needs to look for its folder: it is proven, or the agent or the user says so."""
    return project.certain or project.known_by in (KnownBy.LINK, KnownBy.RECORDS)


def sureness(project: Project) -> tuple[bool, bool, bool, int]:
    """How well the folder of a project is known, for comparing."""
    # A person who says where a project is now knows better than a hash of where it was.
    is_link = project.known_by is KnownBy.LINK
    rank = -_SURER[project.known_by] if project.known_by else -len(_SURER)
    return is_link, project.certain, project.path is not None, rank


def _surer(one: Project | None, other: Project) -> Project:
    return max((p for p in (one, other) if p), key=sureness)


def _hash_of_recorded(project: Project) -> str | None:
    """The hash by which another agent would name a folder that an agent wrote down."""
    return folder_hash(project.path) if project.path and project.known_by is KnownBy.RECORDS else None


def _proven(project: Project, project_hash: str) -> Project:
    return Project(project.path, project_hash, None, project.known_by, certain=True)


def _with_path_of(project: Project, best: Project | None) -> Project:
    if best is None or best.path is None:
        return project
    return Project(best.path, project.hash, project.slug or best.slug, best.known_by, best.certain)
