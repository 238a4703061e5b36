"""Which folder of its home Gemini CLI uses for a project now, also where it has none yet.

Until 0.28 the name is the hash of the project's path. Since 0.29 it is a slug: that of the registry, unless
the marker of its folder names another project; else that of a folder whose marker names this one; else a
new one, after the name of the project, with a number if others have it. Where the folder of the slug is not
there, or holds its marker alone, the next start copies the folder of the hash to it: then that is the one to
use, since something in the other would keep the start from copying.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from geminids.agents.gemini.custody.installed import Release
from geminids.agents.gemini.custody.lookup import SINCE_SLUGS, holds_more_than_marker, is_same
from geminids.agents.gemini.read.projects import MARKER, Registry, read_plain, read_registry
from geminids.core.lazy_patterns import lazy_pattern
from geminids.core.model import folder_hash

_PLACES = ("tmp", "history")
_LONGEST_PATH = 32_768
_NOT_IN_SLUG = lazy_pattern(r"[^a-z0-9]+")


def folder_used(data: Path, project: str, release: Release | None) -> str:
    """The name of the folder in which the CLI would look for the sessions of a project."""
    by_hash = folder_hash(project)
    if release is not None and release < SINCE_SLUGS:
        return by_hash
    slug = _slug(data, project)
    is_to_be_copied = (data / "tmp" / by_hash).is_dir() and not holds_more_than_marker(data / "tmp" / slug)
    return by_hash if is_to_be_copied else slug


def _slug(data: Path, project: str) -> str:
    registry = read_registry(data)
    registered = (slug for slug, path in registry.path_by_slug.items() if is_same(path, project))
    still_its = (slug for slug in registered if not _belongs_to_another(data, slug, project))
    marked = (folder.parent.name for folder in _markers(data) if is_same(_owner(folder) or "", project))
    return next(still_its, None) or next(marked, None) or next(_new_slugs(data, project, registry))


def _new_slugs(data: Path, project: str, registry: Registry) -> Iterator[str]:
    """The names that a project would be given, the first that is free first."""
    name = re.split(r"[/\\]", project.rstrip("/\\"))[-1]
    slug = _NOT_IN_SLUG.sub("-", name.lower()).strip("-") or "project"
    number = 0
    while True:
        candidate = f"{slug}-{number}" if number else slug
        if candidate not in registry.path_by_slug and not _belongs_to_another(data, candidate, project):
            yield candidate
        number += 1


def _belongs_to_another(data: Path, slug: str, project: str) -> bool:
    owners = (_owner(data / place / slug / MARKER) for place in _PLACES)
    return any(owner is not None and not is_same(owner, project) for owner in owners)


def _markers(data: Path) -> Iterator[Path]:
    for place in _PLACES:
        yield from sorted((data / place).glob(f"*/{MARKER}"))


def _owner(marker: Path) -> str | None:
    """What a marker names; None if there is none."""
    try:
        return read_plain(marker, _LONGEST_PATH).decode(errors="replace").strip()
    except OSError:
        return None
