"""Homes with the settings of agents as people write them, and agents that are installed in some release."""

from __future__ import annotations

from pathlib import Path

GEMINI = ".gemini/settings.json"
CLAUDE = ".claude/settings.json"
CODEX = ".codex/config.toml"
BY_HAND = {
    GEMINI: b'{\n  // which key\n  "security": {"auth": {"selectedType": "gemini-api-key"},\n'
    b'    "folderTrust": {"enabled": false}}\n}',
    CLAUDE: b'{\r\n    "model": "opus",\r\n\r\n    "permissions": {"allow": ["Bash(ls:*)"]}\r\n}',
    CODEX: b'# mine\nmodel = "gpt-5.5"   # best\n\n[mcp_servers.other]  # theirs\ncommand = "other"',
}
"""Settings with comments, odd blanks and line ends, and without an end of the last line."""


def home_with_agents(home: Path) -> Path:
    """A home in which all three agents were used."""
    for name, content in BY_HAND.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_bytes(content)
    return home


def files_of(home: Path) -> dict[str, bytes]:
    """All that is in the folders of agents."""
    return {
        path.relative_to(home).as_posix(): path.read_bytes()
        for folder in (".gemini", ".claude", ".codex")
        for path in sorted((home / folder).rglob("*"))
        if path.is_file()
    }


def folders_of(home: Path) -> set[str]:
    """All folders of agents."""
    return {
        path.relative_to(home).as_posix()
        for folder in (".gemini", ".claude", ".codex")
        for path in (home / folder).rglob("*")
        if path.is_dir()
    }


def put_claude(folder: Path, version: str) -> Path:
    """Claude Code as its own installer leaves it: the folder to put on the PATH."""
    program = folder / "share" / "claude" / "versions" / version
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    (folder / "bin").mkdir(exist_ok=True)
    (folder / "bin" / "claude").unlink(missing_ok=True)
    (folder / "bin" / "claude").symlink_to(program)
    return folder / "bin"
