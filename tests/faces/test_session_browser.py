"""docs/session-browser.md: every command on the page is run, and shows what the page says it does."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from geminids import sample
from tests.conftest import ROOT
from tests.support.fake_agents import install, path_with
from tests.support.homes import FIRST_ID, write_session
from tests.support.terminal import RUN

PAGE = ROOT / "docs" / "session-browser.md"
COMMAND = re.compile(r"`(geminids [^`]+)`")
WHEN = "2026-11-15T12:00:00+00:00"
SAVED_AT = datetime(2026, 11, 10, tzinfo=UTC).timestamp()

SHOWN = {
    "geminids list": "Which recipes have no photo?",
    "geminids list --project .": "Fix the login redirect",
    "geminids list --kind all": "Find out where skycast caches forecasts",
    "geminids list --project . --sort started --reverse": "Fix the login redirect",
    "geminids list --json": '"schema":"geminids/list/1"',
    "geminids list --sort messages": "Keep forecasts for an hour",
    "geminids list --sort title": "Add a --units flag",
    "geminids list --sort project": "Which recipes have no photo?",
    "geminids list --reverse": "Fix the lentil soup page",
    "geminids list --since 7d --until yesterday": "Which recipes have no photo?",
    'geminids mark 1f0c9a2b --name "The login bug" --tag keep': "",
    "geminids list -n 50": "The login bug",
    "geminids search lentil soup": "The lentil soup page says it serves 0 people",
    "geminids search lentil": "recipes/lentil-soup.json",
    "geminids show 5cc86b27 --at 5": "Red lentil soup",
    "geminids show 5cc86b27": "Which recipes have no photo?",
    "geminids search id:5cc86b27": "Red lentil soup",
    "geminids show 1f0c9a2b --detail prompts": "Fix the login redirect",
    "geminids show 1f0c9a2b": "Done.",
    "geminids show 1f0c9a2b --all": "Done.",
    "geminids resume 1f0c9a2b --yes": f"word={FIRST_ID}",
    "geminids resume latest --yes": f"word={FIRST_ID}",
    "geminids resume 1f0c9a2b --print": f"gemini --resume {FIRST_ID}",
    "geminids resume checkpoint-plan --yes": "word=/chat resume plan",
    "geminids export 1f0c9a2b -f gemini -o session.jsonl": "",
    "geminids list --kind checkpoint": "checkpoint-plan@shop",
    "geminids show checkpoint-plan": "Plan the move",
    "geminids export 1f0c9a2b -f json -o kept.json": "",
    "geminids export 1f0c9a2b -f markdown --share -o chat.md": "",
    "geminids export --project . -f markdown -o shared/": "",
    "geminids export 1f0c9a2b --redact -o chat.html": "",
    "geminids export 1f0c9a2b -f jsonl -o messages.jsonl": "",
    "geminids show chat.md": "Fix the login redirect",
}
"""What each command shows; those that show nothing write a file or say what they did."""
FIRST_TITLES = {
    "geminids list --sort messages": "Keep forecasts for an hour, written atomically",
    "geminids list --reverse": "Fix the lentil soup page that serves 0 people",
    "geminids list": "Fix the login redirect",
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder one is in; its session and a saved chat are in a home together with the sample."""
    home, project = tmp_path / "home", tmp_path / "shop"
    shutil.copytree(sample.home(), home)
    project.mkdir()
    written = write_session(home, project=str(project))
    newer = written.with_name(written.name.replace("2026-05-01", "2026-11-14"))
    newer.write_text(written.read_text().replace("2026-05-01", "2026-11-14"))
    written.unlink()
    turns = [{"role": "user", "parts": [{"text": "Plan the move"}]}]
    saved = newer.parent.parent / "checkpoint-plan.json"
    saved.write_text(json.dumps({"history": turns}))
    os.utime(saved, (SAVED_AT, SAVED_AT))
    monkeypatch.setenv("GEMINIDS_HOMES", str(home))
    monkeypatch.setenv("GEMINIDS_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("PATH", path_with(install(tmp_path / "agent")))
    return project


def run(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-c", RUN, WHEN, *shlex.split(line)[1:]]
    return subprocess.run(
        words, cwd=folder, check=False, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60
    )


def in_home() -> dict[Path, bytes]:
    files = Path(os.environ["GEMINIDS_HOMES"]).rglob("*")
    return {path: path.read_bytes() for path in files if path.is_file()}


def on_page() -> list[str]:
    return list(dict.fromkeys(COMMAND.findall(PAGE.read_text("utf-8"))))


@pytest.mark.slow
def test_every_command_on_the_page_does_what_it_says(project: Path) -> None:
    assert sorted(on_page()) == sorted(SHOWN), "the page and this test name the same commands"
    before = in_home()
    for line in on_page():
        done = run(line, project)
        assert done.returncode == 0, (line, done.stderr)
        assert SHOWN[line] in done.stdout, (line, done.stdout, done.stderr)
        if title := FIRST_TITLES.get(line):
            assert done.stdout.splitlines()[0].endswith(title), line
    written = {"session.jsonl", "kept.json", "chat.md", "chat.html", "messages.jsonl"}
    for name in written:
        assert "Fix the login redirect" in (project / name).read_text("utf-8"), name
    assert any((project / "shared").rglob("*.md"))
    assert in_home() == before, "nothing of the agent's was changed by it"


@pytest.mark.slow
def test_what_is_written_of_a_session_can_be_given_to_the_agent_again(project: Path) -> None:
    run("geminids export 1f0c9a2b -f gemini -o session.jsonl", project)
    done = run("geminids show session.jsonl --agent-view --json", project)
    assert "Fix the login redirect" in done.stdout


def test_every_row_of_the_page_has_an_answer() -> None:
    rows = [row for row in PAGE.read_text("utf-8").splitlines() if row.startswith("| ") and "---" not in row]
    rows = [row for row in rows if not row.startswith("| in Gemini CLI")]
    assert len(rows) > 20
    for row in rows:
        answer = re.split(r"(?<!\\)\|", row)[3].strip()
        assert COMMAND.fullmatch(answer.split(", ")[0]) or answer == "not available", row
