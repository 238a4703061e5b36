"""What a shell offers to complete, told without opening a library."""

from __future__ import annotations

import os
from collections.abc import Mapping

from geminids.core import config
from geminids.core.errors import GeminidsError


def last_listed(
    data: str | None = None, environment: Mapping[str, str] = os.environ, terminal: str | None = None
) -> list[str]:
    """The agents' own ids of the sessions in the last list, whatever homes it was made of."""
    from geminids.query.sessions import last_list

    folder = config.data_folder(data, environment)
    shown = last_list.recall(folder, terminal=terminal) if folder else None
    return [line.id.partition(":")[2] for line in shown.lines] if shown else []


def known_tags(data: str | None = None, environment: Mapping[str, str] = os.environ) -> list[str]:
    """The tags that were given to sessions, the most used first; none where they cannot be read."""
    from geminids.storage.durable.marks import tag_counts

    folder = config.data_folder(data, environment)
    try:
        return list(tag_counts(folder)) if folder else []
    except (GeminidsError, OSError):
        return []
