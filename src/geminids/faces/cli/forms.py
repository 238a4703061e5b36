"""What can be typed after a command: one table of options, of which click's are made and plain lines read."""

from __future__ import annotations

from geminids.core.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

FLAG = "flag"
TEXT = "text"
"""Any words but blanks."""
NUMBER = "number"
"""From `least` on."""
WORD = "word"
"""One of `words`."""
AGENT = "agent"
"""The name of an agent, however it is written."""
TEXT_OR_NOTHING = "text or nothing"
SEVERAL = "several"
"""What a shell offers where some of `words` are typed with commas between."""


class Option(NamedTuple):
    """An option of a command."""

    name: str
    """Of the parameter that it sets."""
    spelled: str
    """How it is typed; with a blank between, if there are two ways."""
    takes: str
    help: str
    """`{agents}` stands for their names."""
    metavar: str | None = None
    many: bool = False
    """Whether it may be given several times."""
    least: int = 1
    words: Sequence[str] = ()
    default: Any = None
    completes: str | None = None
    """What a shell offers for it: agents, folders, projects, sessions, tags, or several of its words."""
    for_run: bool = False
    """Whether it is for the whole run (`Choices`), and may stand before the command too."""


class Form(NamedTuple):
    """What a command takes."""

    options: Sequence[Option]
    """In the order in which help tells them."""
    argument: str | None = None
    """The parameter of what is typed beside options."""
    many: bool = False
    """Whether that may be any number of words, and not one."""


JSON = Option("json", "--json", FLAG, "Print one JSON document on stdout.", for_run=True)
NO_SYNC = Option(
    "no_sync",
    "--no-sync",
    FLAG,
    "Use the index as it is; do not look for new or changed sessions.",
    for_run=True,
)
NO_PAGER = Option("no_pager", "--no-pager", FLAG, "Do not use a pager.")
WHERE_AND_HOW = (
    Option(
        "home",
        "--home",
        TEXT,
        "Home directory to read; repeatable. Default: GEMINIDS_HOMES, else the folders that the agents use "
        "on this machine.",
        metavar="DIR",
        many=True,
        completes="folders",
        for_run=True,
    ),
    Option(
        "data",
        "--data",
        TEXT,
        "Data directory of geminids. Default: GEMINIDS_DATA, else the standard place of this system.",
        metavar="DIR",
        completes="folders",
        for_run=True,
    ),
    Option("sample", "--sample", FLAG, "Use the sample sessions that come with geminids.", for_run=True),
    Option("no_color", "--no-color", FLAG, "Do not use colour.", for_run=True),
)
"""Where to look and how to draw."""
AGENTS = Option(
    "agents",
    "--agent",
    AGENT,
    "Only sessions of this agent ({agents}); repeatable. Default: all agents.",
    metavar="NAME",
    many=True,
    completes="agents",
)
PROJECT = Option(
    "project",
    "--project",
    TEXT,
    "Only sessions of this project: a name or part of one, a path such as ., a slug, or the beginning "
    "of a hash.",
    metavar="WHICH",
    completes="projects",
)
