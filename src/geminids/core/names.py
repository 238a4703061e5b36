"""What things are called where people see them."""

from __future__ import annotations

from collections.abc import Iterable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable
    from typing import Protocol, TypeVar

    class NamedFolder(Hashable, Protocol):
        """A project, as far as telling it from others takes."""

        @property
        def name(self) -> str: ...  # noqa: D102
        @property
        def path(self) -> str | None: ...  # noqa: D102
        @property
        def hash(self) -> str | None: ...  # noqa: D102
        @property
        def slug(self) -> str | None: ...  # noqa: D102

    Project = TypeVar("Project", bound=NamedFolder)


def project_name(path: str | None, project_hash: str | None, slug: str | None) -> str:
    """What people call a project: the name of its folder, else the agent's name for it."""
    if path:
        return path.rstrip("/\\").replace("\\", "/").rpartition("/")[2] or path
    return slug or (project_hash[:8] if project_hash else "unknown")


UNNAMED_TOOL = "unknown"
"""What a call is named of which no record tells the tool."""


def one_line(name: str) -> str:
    """Return a name that a session gave, an id too, without line breaks of any kind."""
    return " ".join(name.split())


def storable(name: str) -> str:
    """A path or a name in letters that can be kept: not every name of a file is UTF-8."""
    return name.encode("utf-8", "backslashreplace").decode()


def project_names(projects: Iterable[Project]) -> dict[Project, str]:
    """What to call each project where several stand together: namesakes by the folder above them too."""
    different: dict[str, set[str | None]] = {}
    for project in (known := list(projects)):
        different.setdefault(project.name, set()).add(project.path or project.hash)
    return {
        project: project.name if len(different[project.name]) == 1 else _longer_name(project)
        for project in known
    }


def _longer_name(project: NamedFolder) -> str:
    if project.path:
        return "/".join(project.path.rstrip("/\\").replace("\\", "/").split("/")[-2:])
    return f"{project.name} ({project.hash[:8]})" if project.hash else project.name
