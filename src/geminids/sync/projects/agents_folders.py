"""Folders in which agents on this machine were used, as far as the agents offer to tell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import inf
from pathlib import Path

from geminids.core import agents
from geminids.core.model import KnownBy
from geminids.sync.projects.resolution import Known


def agents_folders(home: Path, environment: Mapping[str, str], deadline: float = inf) -> Iterator[Known]:
    """The folders that agents know, each once, as far as the time allows."""
    seen: set[str] = set()
    for source in agents.every():
        for path in source.projects().known_folders(home, environment, deadline):
            if path not in seen:
                seen.add(path)
                yield path, KnownBy.OTHER_AGENT
