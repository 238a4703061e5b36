"""Watching: what agents write, told while they write it.

What is new is decided on the model, not on lines: an agent's file may be a log of changes in which a
record takes back an earlier one, or a document that is written anew each time. So when a file has changed,
its bundle is read again and its messages are compared with what was told of them before. Of that only ids
and digests are kept.

Nothing here starts a thread or outlives the iterator that it gives.
"""

from geminids.sync.watch.events import (
    AnyEvent,
    Happened,
    News,
    Quiet,
    SessionGone,
    SessionNews,
    Trouble,
    Watching,
)
from geminids.sync.watch.files import FileFinder, Finder, HomesFinder
from geminids.sync.watch.stream import Pace, Wanted, watch

__all__ = [
    "AnyEvent",
    "FileFinder",
    "Finder",
    "Happened",
    "HomesFinder",
    "News",
    "Pace",
    "Quiet",
    "SessionGone",
    "SessionNews",
    "Trouble",
    "Wanted",
    "Watching",
    "watch",
]
