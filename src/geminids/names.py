"""What things are called where people see them."""

from __future__ import annotations


def project_name(path: str | None, project_hash: str | None, slug: str | None) -> str:
    """What people call a project: the name of its folder, else the agent's name for it."""
    if path:
        return path.rstrip("/\\").replace("\\", "/").rpartition("/")[2] or path
    return slug or (project_hash[:8] if project_hash else "unknown")


def keepable(name: str) -> str:
    """A path or a name in letters that can be kept: not every name of a file is UTF-8."""
    return name.encode("utf-8", "backslashreplace").decode()
