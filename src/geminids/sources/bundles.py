"""Bundles of several homes: a session and its backup are one session, and are read together."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from functools import reduce

from geminids.model import Project
from geminids.sources.base import Bundle, FoundFile


def joined(bundles: Iterable[Bundle]) -> list[Bundle]:
    """The bundles of all homes, those of one agent, project and key as one, each file in it once."""
    together: dict[tuple[str, str, str], list[Bundle]] = {}
    for bundle in bundles:
        together.setdefault((bundle.agent, _project_key(bundle), bundle.key), []).append(bundle)
    seen: set[str] = set()
    read = [_as_one(same, tuple(_unseen(same, seen))) for same in together.values()]
    return [bundle for bundle in read if bundle.files]


def _as_one(bundles: Sequence[Bundle], files: tuple[FoundFile, ...]) -> Bundle:
    first = bundles[0]
    folders = dict.fromkeys(folder for bundle in bundles for folder in bundle.folders)
    project = reduce(better_known, (bundle.project for bundle in bundles))
    return Bundle(first.agent, first.key, project, tuple(folders), tuple(sorted(files)))


def better_known(one: Project, other: Project) -> Project:
    """What two places know of one project: the path by the surer way, hash and slug from either."""
    surer = one if one.path else other
    return Project(surer.path, one.hash or other.hash, one.slug or other.slug, surer.known_by)


def _project_key(bundle: Bundle) -> str:
    project = bundle.project
    return project.hash or project.path or project.slug or os.path.realpath(bundle.folders[0])


def _unseen(bundles: Sequence[Bundle], seen: set[str]) -> Iterator[FoundFile]:
    """The files that no path has led to yet."""
    for file in (file for bundle in bundles for file in bundle.files):
        real = os.path.realpath(file.path)
        if real not in seen:
            seen.add(real)
            yield file
