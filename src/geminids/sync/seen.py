"""What homes looked like before any of them was read."""

# Annotations are no strings here: compiling them would take most of the time that loading this takes.
from collections.abc import Mapping
from typing import NamedTuple

from geminids.core.agents.homes import Home


class Seen(NamedTuple):
    """A home, and what lies in each of its folders."""

    home: Home
    footprints: Mapping[str, str]
