"""What homes looked like before any of them was read."""

from __future__ import annotations

from collections.abc import Mapping

from geminids.core.agents.homes import Home
from geminids.core.values import NamedTuple


class Seen(NamedTuple):
    """A home, and what lies in each of its folders."""

    home: Home
    footprints: Mapping[str, str]
