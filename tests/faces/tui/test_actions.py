"""What is done with a session from the browser: resume, copy, export, mark, restore, open elsewhere."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from threading import Event

import pytest
from textual.events import Key as KeyPressed
from textual.events import Paste

from geminids.faces import web
from geminids.faces.tui.browser.actions.clipboard import put_on_clipboard
from geminids.faces.tui.browser.results import OpenInWeb, Resume
from geminids.library import Library
from tests.conftest import FIXTURES
from tests.support.agent_homes import COMMANDS, PROMPTS, AgentHomes, every_agent
from tests.support.browsing import Browsing, browse
from tests.support.fake_agents import path_with
from tests.support.homes import FIRST_ID, write_session
from tests.support.kept_homes import FIRST, lose_everything, user_home

KEY = "ghp_" + "0123456789abcdefABCD" * 2
"""A secret that nobody ever had."""


def use(homes: AgentHomes, monkeypatch: pytest.MonkeyPatch) -> AgentHomes:
    monkeypatch.setenv("HOME", str(homes.home))
    monkeypatch.setenv("PATH", homes.path)
    monkeypatch.chdir(homes.project)
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    return homes


@pytest.fixture
def homes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AgentHomes:
    """A session of every agent, and the agents."""
    return use(every_agent(tmp_path), monkeypatch)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


async def find(seen: Browsing, words: str, name: str) -> None:
    """Have one session listed."""
    await seen.paste(words)
    await seen.wait_for(name, "  1 session")


# Resuming.


@pytest.mark.parametrize("agent", sorted(PROMPTS))
def test_a_session_is_resumed_in_its_folder(homes: AgentHomes, data: Path, agent: str) -> None:
    async def script(seen: Browsing) -> None:
        await seen.wait_for("3 sessions")
        await find(seen, PROMPTS[agent], PROMPTS[agent])
        await seen.press("ctrl+r")
        await seen.until_closed()

    left = browse([homes.home], data, script)
    assert isinstance(left, Resume)
    assert left.how.command == COMMANDS[agent]
    assert left.how.folder == str(homes.project)
    assert left.program == str(homes.programs / agent)
    assert left.how.environment == {}


def test_the_session_that_was_typed_is_resumed_however_quickly(homes: AgentHomes, data: Path) -> None:
    async def script(seen: Browsing) -> None:
        await seen.wait_for("3 sessions")
        other = next(agent for agent in PROMPTS if PROMPTS[agent] != seen.chosen)
        wanted.append(other)
        seen.app.on_paste(Paste(PROMPTS[other]))
        seen.app.on_key(KeyPressed("ctrl+r", None))
        await seen.until_closed()

    wanted: list[str] = []
    left = browse([homes.home], data, script)
    assert isinstance(left, Resume)
    assert left.how.command == COMMANDS[wanted[0]]


def test_enter_reads_unless_it_was_opened_to_resume(homes: AgentHomes, data: Path) -> None:
    async def reading(seen: Browsing) -> None:
        await seen.wait_for("3 sessions")
        await seen.press("enter", "escape", "escape", "escape")

    async def resuming(seen: Browsing) -> None:
        await seen.wait_for("3 sessions")
        await seen.press("enter")
        await seen.until_closed()

    assert browse([homes.home], data, reading) is None
    assert isinstance(browse([homes.home], data, resuming, enter_resumes=True), Resume)


@pytest.mark.slow
def test_what_may_get_lost_is_told_before(
    tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    homes = use(every_agent(tmp_path, version="0.61.0"), monkeypatch)
    (homes.home / ".gemini" / "settings.json").unlink()

    async def script(seen: Browsing) -> None:
        await find(seen, "login", PROMPTS["gemini"])
        await seen.press("ctrl+r")
        screen = await seen.wait_for("Resume it anyway")
        assert f"gemini --resume {FIRST_ID}" in screen
        assert str(homes.project)[:40] in screen
        assert "Save a copy first:" in screen
        await seen.press("escape")
        await seen.wait_for("> login", but_not="Resume it anyway")
        await seen.press("ctrl+r")
        await seen.wait_for("Resume it anyway")
        await seen.press("down", "down", "down", "enter")
        await seen.until_closed()

    assert isinstance(browse([homes.home], data, script), Resume)


def test_a_warning_is_a_question(tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    homes = use(every_agent(tmp_path), monkeypatch)
    homes.project.rmdir()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")

    async def script(seen: Browsing) -> None:
        await find(seen, "deploy", PROMPTS["codex"])
        await seen.press("ctrl+r")
        await seen.wait_for("does not exist; Codex CLI would continue", "y resume", "n cancel")
        await seen.press("x", "n")
        await seen.wait_for("> deploy", but_not="y resume")
        await seen.press("ctrl+r")
        await seen.wait_for("y resume")
        await seen.press("y")
        await seen.until_closed()

    left = browse([homes.home], data, script)
    assert isinstance(left, Resume)
    assert left.how.folder == str(tmp_path / "elsewhere")


def test_who_goes_on_to_something_else_is_asked(homes: AgentHomes, data: Path) -> None:
    is_answered = Event()

    async def script(seen: Browsing) -> None:
        await find(seen, "deploy", PROMPTS["codex"])
        seen.app.ask("something long", lambda _: is_answered.wait(20), lambda _: None)
        await seen.press("ctrl+r")
        await seen.wait_for("Looking how")
        await seen.press("left")
        is_answered.set()
        await seen.wait_for("codex resume", "y resume")
        await seen.press("escape")
        await seen.wait_for("> deploy", but_not="y resume")

    assert browse([homes.home], data, script) is None


@pytest.mark.parametrize("agent", sorted(PROMPTS))
def test_an_agent_that_is_missing_is_marked_and_explained(
    homes: AgentHomes, data: Path, agent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (homes.programs / agent).unlink()

    async def script(seen: Browsing) -> None:
        await seen.wait_for("3 sessions", "⊗")
        assert [line[2:8].strip() for line in seen.lines if line.startswith("⊗")] == [agent]
        await find(seen, PROMPTS[agent], PROMPTS[agent])
        await seen.wait_for(f"{agent} is not installed")
        await seen.press("ctrl+r")
        await seen.wait_for(f"`{agent}` is not on the PATH", "Once it is installed")
        await seen.press("down", "enter")
        await seen.wait_for("Copied the command")
        line = f"cd {homes.project} && {' '.join(COMMANDS[agent])}"
        assert seen.app.clipboard == line
        assert PROMPTS[agent] in seen.lines[0]

    assert browse([homes.home], data, script) is None


def test_a_folder_that_is_gone_is_marked_and_explained(homes: AgentHomes, data: Path) -> None:
    homes.project.rename(homes.project.with_name("moved"))

    async def script(seen: Browsing) -> None:
        await find(seen, "cache", PROMPTS["claude"])
        await seen.wait_for("its folder is gone")
        assert seen.lines[2].startswith("⊗")
        await seen.press("ctrl+r")
        await seen.wait_for("It cannot be resumed", "does not exist", "Read it")
        await seen.press("enter")
        await seen.wait_for("Esc back", but_not="It cannot be resumed")
        await seen.press("escape")
        await seen.wait_for("> cache")

    assert browse([homes.home], data, script) is None


def test_of_a_subagent_the_session_that_started_it_is_resumed(
    data: Path, homes: AgentHomes, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = FIXTURES / "claude" / "subagent" / "home"

    async def script(seen: Browsing) -> None:
        await seen.paste("is:subagent")
        await seen.wait_for("↳")
        await seen.press("ctrl+r")
        await seen.wait_for("the session of a subagent", "Resume the session that started it", "Read it")
        await seen.press("enter")
        await seen.wait_for("finds sessions by their folder", but_not="of a subagent")

    assert browse([case], data, script) is None


def test_a_session_that_is_gone_meanwhile_is_a_sentence(
    homes: AgentHomes, data: Path, without_copies: None
) -> None:
    async def script(seen: Browsing) -> None:
        await find(seen, "deploy", PROMPTS["codex"])
        shutil.rmtree(homes.home / ".codex" / "sessions")
        await seen.press("ctrl+r")
        await seen.wait_for("It cannot be resumed", PROMPTS["codex"])
        await seen.press("escape")
        await seen.wait_for("> deploy")

    assert browse([homes.home], data, script) is None


# Copying.


@pytest.mark.parametrize(
    ("typed", "said", "copied"),
    [
        ("id", "the id", "codex:"),
        ("path", "the path of its file", "/.codex/sessions/"),
        ("command", "the command that resumes it", " && codex resume "),
        ("first", "the first message as Markdown", "Write the deploy script"),
        ("whole", "the whole session as Markdown", "Done."),
    ],
)
def test_it_is_copied(homes: AgentHomes, data: Path, typed: str, said: str, copied: str) -> None:
    async def script(seen: Browsing) -> None:
        await seen.wait_for("3 sessions")
        while seen.chosen != PROMPTS["codex"]:
            await seen.press("down")
        await seen.press("ctrl+y")
        await seen.wait_for("Copy")
        await seen.paste(typed)
        await seen.press("enter")
        await seen.wait_for(f"Copied {said} (OSC 52)")
        assert copied in seen.app.clipboard

    browse([homes.home], data, script)


def test_the_message_that_was_found_is_copied(homes: AgentHomes, data: Path) -> None:
    write_session(homes.home, "77777777-a", prompt="Why?", answer="Because of the **tides**", day=3)

    async def script(seen: Browsing) -> None:
        await find(seen, "tides", "Why?")
        await seen.press("ctrl+y")
        await seen.wait_for("Message #2 as Markdown")
        await seen.paste("message")
        await seen.press("enter")
        await seen.wait_for("Copied message #2")
        assert "Because of the **tides**" in seen.app.clipboard
        assert "Why?" not in seen.app.clipboard

    browse([homes.home], data, script)


def test_what_cannot_be_copied_is_explained(homes: AgentHomes, data: Path) -> None:
    homes.project.rmdir()

    async def script(seen: Browsing) -> None:
        await find(seen, "cache", PROMPTS["claude"])
        await seen.press("ctrl+y")
        await seen.paste("command")
        await seen.press("enter")
        # Where its lines break depends on how long the path is.
        await seen.wait_for("Nothing was copied", "exist.")

    browse([homes.home], data, script)


def clipboard_program(folder: Path, name: str, body: str) -> dict[str, str]:
    folder.mkdir()
    program = folder / name
    program.write_text(f"#!/bin/sh\n{body}\n")
    program.chmod(0o755)
    return {"PATH": path_with(folder), "DISPLAY": ":7"}


def test_the_clipboard_of_the_system_gets_it_too(
    tmp_path: Path, homes: AgentHomes, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    variables = clipboard_program(tmp_path / "bin", "xclip", f'cat > {tmp_path}/taken; echo "$@" >&2')
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    async def script(seen: Browsing) -> None:
        await seen.wait_for("3 sessions")
        await seen.press("ctrl+y", "enter")
        await seen.wait_for("Copied the id (xclip, OSC 52)")
        assert (tmp_path / "taken").read_text() == seen.app.clipboard

    browse([homes.home], data, script)


@pytest.mark.slow
def test_a_clipboard_that_does_not_answer_is_given_up(tmp_path: Path) -> None:
    hanging = clipboard_program(tmp_path / "bin", "xclip", "exec sleep 60")
    assert put_on_clipboard("words", hanging) is None


def test_a_clipboard_that_fails_is_none(tmp_path: Path) -> None:
    failing = clipboard_program(tmp_path / "bin", "xclip", "exit 1")
    assert put_on_clipboard("words", failing) is None
    assert put_on_clipboard("words", {**failing, "DISPLAY": ""}) is None


# Exporting.


@pytest.mark.slow
@pytest.mark.parametrize(("typed", "suffix"), [("html", ".html"), ("markdown", ".md"), ("atif", ".json")])
def test_it_is_exported_without_secrets(homes: AgentHomes, data: Path, typed: str, suffix: str) -> None:
    write_session(homes.home, "77777777-a", prompt=f"Use the token {KEY} please", day=3)
    there = {*homes.project.iterdir()}

    async def script(seen: Browsing) -> None:
        await find(seen, "token", "Use the token")
        await seen.press("ctrl+x")
        await seen.wait_for("Export without secrets to ", "html", "With secrets …")
        if typed != "html":
            await seen.paste(typed)
        await seen.press("enter")
        await seen.wait_for("Written, 1 secret hidden: 2026-05-03-use-the-token", f"77777777{suffix}")

    browse([homes.home], data, script, size=(140, 45))
    (written,) = {*homes.project.iterdir()} - there
    assert written.suffix == suffix
    assert KEY not in written.read_text()
    assert "Use the token" in written.read_text()


@pytest.mark.slow
def test_an_export_with_secrets_overwrites_nothing(homes: AgentHomes, data: Path) -> None:
    write_session(homes.home, "77777777-a", prompt=f"Use the token {KEY} please", day=3)
    (homes.project / "mine.md").write_text("mine")

    async def script(seen: Browsing) -> None:
        await find(seen, "token", "Use the token")
        await seen.press("ctrl+x")
        await seen.paste("with secrets")
        await seen.press("enter")
        await seen.wait_for("Export with secrets")
        await seen.paste("markdown")
        await seen.press("enter")
        await seen.wait_for("Export to", "77777777.md", "Secrets are not hidden.")
        await seen.press("ctrl+u")
        await seen.paste("mine.md")
        await seen.press("enter")
        await seen.wait_for("exists and is not", "> mine.md")
        await seen.press("ctrl+u")
        await seen.paste("other.md")
        await seen.press("enter")
        await seen.wait_for("Written, secrets are not hidden: ")

    browse([homes.home], data, script)
    assert (homes.project / "mine.md").read_text() == "mine"
    assert KEY in (homes.project / "other.md").read_text()


@pytest.mark.slow
def test_a_folder_that_is_not_there_is_a_sentence(homes: AgentHomes, data: Path) -> None:
    async def script(seen: Browsing) -> None:
        await seen.wait_for("3 sessions")
        await seen.press("ctrl+x")
        await seen.paste("another")
        await seen.press("enter")
        await seen.wait_for("Export to another place")
        await seen.paste("json")
        await seen.press("enter")
        await seen.wait_for("Export to ", "Secrets are hidden.")
        await seen.press("ctrl+u")
        await seen.paste("nowhere/x.json")
        await seen.press("enter")
        await seen.wait_for("Nothing was written", "there is no folder")

    browse([homes.home], data, script)


@pytest.mark.slow
@pytest.mark.parametrize("typed", ["x" * 300, f"{'x' * 300}/x.json"])
def test_a_name_that_is_too_long_is_a_sentence(homes: AgentHomes, data: Path, typed: str) -> None:
    async def script(seen: Browsing) -> None:
        await seen.wait_for("3 sessions")
        await seen.press("ctrl+x")
        await seen.paste("another")
        await seen.press("enter")
        await seen.wait_for("Export to another place")
        await seen.paste("json")
        await seen.press("enter")
        await seen.wait_for("Export to ", "Secrets are hidden.")
        await seen.press("ctrl+u")
        await seen.paste(typed)
        await seen.press("enter")
        await seen.wait_for("Nothing was written")

    browse([homes.home], data, script)


# Names, tags, notes.


@pytest.mark.slow
def test_names_tags_and_notes_are_seen_at_once(homes: AgentHomes, data: Path) -> None:
    async def choose(seen: Browsing, typed: str) -> None:
        await seen.press("ctrl+g")
        await seen.wait_for("Name, tag, note")
        await seen.paste(typed)
        await seen.press("enter")

    async def script(seen: Browsing) -> None:
        await seen.wait_for("3 sessions")
        await choose(seen, "name it")
        await seen.wait_for("Replaces its title")
        await seen.paste("A better name")
        await seen.press("enter")
        await seen.wait_for('Saved: named "A better name"')
        await seen.wait_for("A better name  ")
        await choose(seen, "add a tag")
        await seen.paste("keep bug")
        await seen.press("enter")
        await seen.wait_for("A better name #", "tagged #")
        await choose(seen, "remove the tag bug")
        await seen.wait_for("A better name #keep ", but_not="#bug")
        await choose(seen, "add a note")
        await seen.paste("The fix is in 4e1c0d7")
        await seen.press("enter")
        await seen.wait_for("note 1")
        await choose(seen, "delete note 1")
        await seen.wait_for("The fix is in", "y delete")
        await seen.press("y")
        await seen.wait_for("no notes")
        await choose(seen, "remove the name")
        await seen.wait_for("no name", but_not="A better name")
        await seen.press("down")
        await choose(seen, "add a tag")
        await seen.paste("ke")
        await seen.wait_for("> keep")
        await seen.press("tab", "enter")
        await seen.wait_for("Saved: ", "tagged #keep")

    browse([homes.home], data, script)
    with Library([homes.home], data) as library:
        assert library.tags() == {"keep": 2}


@pytest.mark.slow
def test_a_name_of_any_length_leaves_room_for_what_is_done_with_it(homes: AgentHomes, data: Path) -> None:
    async def script(seen: Browsing) -> None:
        await seen.wait_for("3 sessions")
        await seen.press("ctrl+g")
        await seen.wait_for("Name, tag, note")
        await seen.press("enter")
        await seen.paste("味噌 " + "long " * 30)
        await seen.press("enter")
        await seen.wait_for("Saved")
        await seen.press("ctrl+g")
        await seen.wait_for("Name it", "Remove the name", "味噌")

    browse([homes.home], data, script)


def test_what_was_entered_is_written_though_the_browser_is_closed(homes: AgentHomes, data: Path) -> None:
    async def script(seen: Browsing) -> None:
        await find(seen, "login", PROMPTS["gemini"])
        await seen.press("ctrl+g")
        await seen.wait_for("Name, tag, note")
        await seen.press("enter")
        await seen.paste("quick")
        await seen.press("enter", "ctrl+c")

    browse([homes.home], data, script)
    with Library([homes.home], data) as library:
        assert library.marks()[FIRST].name == "quick"


def test_a_name_that_is_none_is_refused_in_words(homes: AgentHomes, data: Path) -> None:
    async def script(seen: Browsing) -> None:
        await seen.wait_for("3 sessions")
        await seen.press("ctrl+g")
        await seen.wait_for("Name, tag, note")
        await seen.press("enter")
        await seen.paste("x" * 400)
        await seen.press("enter")
        await seen.wait_for("Nothing was changed")

    browse([homes.home], data, script)


# Restoring.


@pytest.fixture
def lost(tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home of a user whose sessions are gone, but for their copies."""
    home = user_home(tmp_path, monkeypatch)
    with Library([home], data) as library:
        library.sync()
    lose_everything(home)
    return home


@pytest.mark.slow
def test_a_deleted_session_is_put_back(lost: Path, data: Path) -> None:
    async def script(seen: Browsing) -> None:
        await find(seen, "login", "✝")
        await seen.press("ctrl+r")
        await seen.wait_for("no longer has it", "Restore it")
        await seen.press("enter")
        screen = await seen.wait_for("Restore: write these files?", "it was", "y write")
        assert "~/.gemini/tmp/shop/chats/session-2026-05-01T10-00-1f0c9a2b" in screen
        await seen.press("n")
        await seen.wait_for("> login", but_not="y write")
        await seen.press("ctrl+p")
        await seen.paste("restore")
        await seen.press("enter")
        await seen.wait_for("y write")
        await seen.press("y")
        await seen.wait_for("2 files written")

    browse([lost], data, script)
    assert len([*lost.rglob("session-*")]) == 1
    with Library([lost], data) as library:
        library.sync()
        assert not library.session(FIRST).kept


def test_enter_that_is_meant_for_something_else_restores_nothing(lost: Path, data: Path) -> None:
    async def script(seen: Browsing) -> None:
        await find(seen, "login", "✝")
        await seen.press("ctrl+p")
        await seen.paste("restore")
        for key in ("enter", "down"):
            # Both before an answer can come.
            seen.app.on_key(KeyPressed(key, None))
        await seen.wait_for("y write")
        await seen.press("enter")
        await seen.wait_for("y write")
        await seen.press("n")
        await seen.wait_for("> login", but_not="y write")

    browse([lost], data, script)
    assert not [*lost.rglob("session-*")]


def test_what_cannot_be_put_back_is_explained(lost: Path, data: Path) -> None:
    async def script(seen: Browsing) -> None:
        await find(seen, "login", "✝")
        shutil.rmtree(data / "kept")
        await seen.press("ctrl+p")
        await seen.paste("restore")
        await seen.press("enter")
        await seen.wait_for("Nothing was restored")

    browse([lost], data, script)


# Elsewhere.


@pytest.mark.slow
def test_its_page_is_opened_in_the_web_app(homes: AgentHomes, data: Path) -> None:
    pytest.importorskip("nh3")

    async def script(seen: Browsing) -> None:
        await find(seen, "login", PROMPTS["gemini"])
        await seen.press("ctrl+p")
        await seen.paste("web")
        await seen.press("enter")
        await seen.until_closed()

    left = browse([homes.home], data, script)
    assert left == OpenInWeb(f"/sessions/gemini%3A{FIRST_ID}#1")


def test_without_the_web_app_it_is_told_what_adds_it(
    homes: AgentHomes, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "geminids.faces.web.server", raising=False)
    monkeypatch.delattr(web, "server", raising=False)
    monkeypatch.setitem(sys.modules, "uvicorn", None)

    async def script(seen: Browsing) -> None:
        await seen.wait_for("3 sessions")
        await seen.press("ctrl+p")
        await seen.paste("web")
        await seen.press("enter")
        await seen.wait_for("The web app cannot be opened", "uvicorn", "adds it")

    assert browse([homes.home], data, script) is None


def test_only_the_project_is_listed(homes: AgentHomes, data: Path) -> None:
    write_session(homes.home, "77777777-a", prompt="Move the cache elsewhere", day=3, slug="an odd name")

    async def script(seen: Browsing) -> None:
        await seen.paste("cache")
        await seen.wait_for("2 sessions")
        while seen.chosen != PROMPTS["claude"]:
            await seen.press("down")
        await seen.press("ctrl+f")
        await seen.wait_for("> cache", "  1 session", "shop ")
        await seen.press("escape")
        await seen.wait_for("3 sessions")
        await seen.press("ctrl+t")
        await seen.wait_for("4 sessions")

    browse([homes.home], data, script)


def test_escape_goes_back_one_step_wherever_one_came_from(homes: AgentHomes, data: Path) -> None:
    write_session(homes.home, "77777777-a", prompt="Move the cache elsewhere", day=3, slug="an odd name")

    async def script(seen: Browsing) -> None:
        # From the projects.
        await seen.wait_for("4 sessions")
        await seen.press("f3")
        await seen.wait_for("[Projects]", "2 projects")
        await seen.paste("odd")
        await seen.press("enter")
        await seen.wait_for("1 session", "project an odd name")
        await seen.press("escape")
        await seen.wait_for("[Projects]", "> odd")
        await seen.press("escape", "escape")
        await seen.wait_for("4 sessions")
        # From the list, and from the transcript below which its project was listed.
        await seen.press("down", "down")
        chosen = seen.chosen
        await seen.press("ctrl+f")
        await seen.wait_for("project ")
        await seen.press("enter")
        await seen.wait_for("Esc back")
        await seen.press("p")
        await seen.wait_for("project ", but_not="Esc back")
        await seen.press("escape")
        await seen.wait_for("Esc back")
        await seen.press("escape", "escape")
        await seen.wait_for("4 sessions")
        await seen.settle()
        assert seen.chosen == chosen
        await seen.press("escape")

    assert browse([homes.home], data, script) is None


def test_all_that_can_be_done_is_found_by_a_few_letters(homes: AgentHomes, data: Path) -> None:
    async def script(seen: Browsing) -> None:
        await seen.wait_for("3 sessions")
        await seen.press("ctrl+p")
        screen = await seen.wait_for("What to do", "^R", "^Y", "^X", "^G", "^F", "F4")
        assert "Restore" not in screen
        await seen.paste("expo")
        await seen.press("enter")
        await seen.wait_for("Export without secrets")

    browse([homes.home], data, script)


def test_in_a_transcript_actions_are_letters(homes: AgentHomes, data: Path) -> None:
    async def script(seen: Browsing) -> None:
        await find(seen, "deploy", PROMPTS["codex"])
        await seen.press("enter")
        await seen.wait_for("Esc back", "#2")
        await seen.press("J", "y")
        await seen.wait_for("Message #2 as Markdown")
        await seen.paste("message")
        await seen.press("enter")
        await seen.wait_for("Copied message #2 as Markdown")
        assert "Done." in seen.app.clipboard
        await seen.press("m")
        await seen.wait_for("Name, tag, note")
        await seen.press("escape", "ctrl+p")
        await seen.wait_for("What to do", " r ", " p ")
        await seen.press("escape", "p")
        await seen.wait_for("> deploy", "  1 session", but_not="Esc back")
        await seen.press("enter")
        await seen.wait_for("Esc back", "#2")
        await seen.press("r")
        await seen.until_closed()

    assert isinstance(browse([homes.home], data, script), Resume)


def test_without_a_session_nothing_is_done(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()

    async def script(seen: Browsing) -> None:
        await seen.wait_for("No session found.")
        await seen.press("ctrl+r", "ctrl+y", "ctrl+x", "ctrl+g", "ctrl+f")
        await seen.wait_for("No session found.")

    browse([tmp_path / "home"], tmp_path / "data", script)
