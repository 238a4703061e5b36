"""A home in which every agent has a session in a folder that is there, and programs in their places."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from tests.support import claude_lines, codex_homes
from tests.support.fake_agents import install, path_with, script
from tests.support.homes import FIRST_ID, write_session

SAFE = "0.45.2"
"""A release that leaves alone what it resumes."""
PROMPTS = {
    "claude": "Move the cache to SQLite",
    "codex": "Write the deploy script",
    "gemini": "Fix the login redirect",
}
COMMANDS = {
    "claude": ("claude", "--resume", claude_lines.SESSION),
    "codex": ("codex", "resume", codex_homes.THREAD),
    "gemini": ("gemini", "--resume", FIRST_ID),
}
"""What goes on with the sessions."""


class AgentHomes(NamedTuple):
    """Where all of it lies."""

    home: Path
    project: Path
    programs: Path
    path: str
    """What the PATH is to be, so that the programs are found and no others."""


def every_agent(folder: Path, *, version: str | None = SAFE) -> AgentHomes:
    """A session of each agent in one project, and a program for each."""
    home, project = folder / "home", folder / "shop"
    project.mkdir()
    write_session(home, prompt=PROMPTS["gemini"], project=str(project))
    # No session rests too long, whenever this runs.
    settings = '{"general": {"sessionRetention": {"maxAge": "999999d"}}}'
    (home / ".gemini" / "settings.json").write_text(settings)
    where = str(project)
    typed = claude_lines.user("u1", None, PROMPTS["claude"], cwd=where)
    said = claude_lines.reply("u2", "u1", claude_lines.words("Done."), reply_id="m1", second=9, cwd=where)
    claude_lines.write(home, typed, said, slug=re.sub(r"[^A-Za-z0-9]", "-", where))
    lines = [
        codex_homes.meta(cwd=str(project)),
        codex_homes.said(PROMPTS["codex"]),
        codex_homes.event("user_message", message=PROMPTS["codex"]),
        codex_homes.said("Done.", "assistant"),
    ]
    codex_homes.write_rollout(home, lines)
    programs = install(folder / "agent", version)
    for name in ("claude", "codex"):
        script(programs / name)
    return AgentHomes(home, project, programs, path_with(programs))
