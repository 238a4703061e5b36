"""The transcript view of the browser: keys and the mouse go in, the screen comes out."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.cells import cell_len
from textual.events import MouseScrollDown, MouseScrollUp

from geminids.faces.tui.browser import file_watch
from geminids.faces.tui.browser.reading import COPIED, GONE, Reading
from geminids.library import Library
from tests.conftest import FIXTURES
from tests.support.browsing import Browsing, Script, browse
from tests.support.homes import tool_call, write_session
from tests.support.large_homes import write_large_home

Read = Callable[..., None]


@pytest.fixture(scope="module")
def read_recorded(tmp_path_factory: pytest.TempPathFactory) -> Read:
    """Opens the main session of a recorded home."""
    folders: dict[str, tuple[Path, str]] = {}

    def read(case: str, drive: Script, size: tuple[int, int] = (80, 24)) -> None:
        home = FIXTURES / case / "home"
        if case not in folders:
            data = tmp_path_factory.mktemp("data")
            folders[case] = data, newest_main(home, data)
        data, key = folders[case]
        show(home, data, drive, key, size=size)

    return read


def newest_main(home: Path, data: Path) -> str:
    """What means the newest session that a human led; all are indexed."""
    with Library([home], data) as library:
        return next(one.id for one in library.sessions() if one.kind == "main")


def show(
    home: Path,
    data: Path,
    drive: Script,
    key: str,
    *,
    message: int | None = None,
    size: tuple[int, int] = (80, 24),
) -> None:
    """Open a session, and do something with it."""
    browse([home], data, drive, size=size, first=lambda stage: Reading(stage, key, message=message))


def read_new(home: Path, drive: Script) -> None:
    """Open the newest session of a home that is not indexed yet."""
    data = home.parent / f"{home.name}-data"
    show(home, data, drive, newest_main(home, data))


def marked(screen: Browsing) -> str:
    """The lines of the message that one is at."""
    return "\n".join(line[1:-1].rstrip() for line in screen.lines if line.startswith("▌"))


def words_of(screen: Browsing) -> list[str]:
    """All lines but the last one, without the mark before them and the bar behind."""
    return [line[1:-1] for line in screen.lines[:-1]]


@pytest.mark.parametrize(
    ("case", "prompt", "agent"),
    [
        ("claude/plain", "You  #", "Claude Code"),
        ("codex/plain", "You  #", "Codex"),
        ("gemini/tool-calls-jsonl-1", "You  #", "Gemini CLI"),
    ],
)
def test_sessions_of_all_agents_are_read(case: str, prompt: str, agent: str, read_recorded: Read) -> None:
    async def drive(screen: Browsing) -> None:
        await screen.wait_for(prompt, agent, "conversation · #", "? keys")
        await screen.press("G")
        await screen.wait_for("100 %")
        await screen.press("g")
        await screen.wait_for("tokens")

    read_recorded(case, drive)


@pytest.mark.slow
def test_enter_reads_the_chosen_session_and_escape_keeps_the_query(tmp_path: Path) -> None:
    home, data = tmp_path / "home", tmp_path / "data"
    write_session(home, "11111111-a", prompt="Why is the upload refused?", day=1)
    write_session(home, "22222222-b", prompt="Count the notes", answer="Uploads are counted too.", day=2)
    newest_main(home, data)

    async def drive(screen: Browsing) -> None:
        await screen.wait_for("2 sessions")
        await screen.type("refused")
        await screen.wait_for("1 session\n")
        await screen.press("enter")
        await screen.wait_for("conversation · #1 of 2", "match 1 of 1")
        assert "upload refused?" in marked(screen)
        for back in ("escape", "q", "left"):
            await screen.press(back)
            await screen.wait_for("> refused", "1 session\n")
            await screen.press("right")
            await screen.wait_for("conversation · #1 of 2")

    browse([home], data, drive)


def test_more_and_less_is_told(read_recorded: Read) -> None:
    async def drive(screen: Browsing) -> None:
        await screen.wait_for("conversation · #1")
        for level in ("tools", "thoughts", "everything", "prompts", "conversation"):
            await screen.press("v")
            await screen.wait_for(f"{level} · #1")
        await screen.press("V")
        await screen.wait_for("prompts · #1", but_not="Gemini CLI  #")
        await screen.press("V", "t")
        await screen.wait_for("This level tells everything")

    read_recorded("gemini/tool-calls-jsonl-1", drive, size=(80, 60))


@pytest.mark.parametrize("case", ["claude/rewound", "codex/rollback", "gemini/rewind-jsonl-1"])
def test_what_was_taken_back_is_switched_on_and_off(case: str, read_recorded: Read) -> None:
    async def drive(screen: Browsing) -> None:
        await screen.wait_for("conversation · #", but_not="[rewound]")
        await screen.press("x")
        await screen.wait_for("conversation + dropped", "[rewound]")
        await screen.press("x")
        await screen.wait_for("conversation · #", but_not="[rewound]")

    read_recorded(case, drive, size=(80, 60))


@pytest.mark.parametrize("case", ["claude/thoughts", "codex/reasoning", "gemini/tool-calls-jsonl-1"])
def test_thoughts_are_switched_on_and_off(case: str, read_recorded: Read) -> None:
    async def drive(screen: Browsing) -> None:
        await screen.wait_for("conversation · #", but_not="Thought")
        await screen.press("t")
        await screen.wait_for("conversation + thoughts", "  Thought")
        await screen.press("t")
        await screen.wait_for("conversation · #", but_not="  Thought")

    read_recorded(case, drive, size=(80, 60))


def test_calls_are_unfolded_and_folded(tmp_path: Path) -> None:
    output = "first line\nsecond line\n" + "\n".join(f"more {number}" for number in range(90))
    write_session(tmp_path / "home", calls=[tool_call(resultDisplay=output)])

    async def drive(screen: Browsing) -> None:
        await screen.wait_for("run_shell_command  npm test", but_not="second line")
        await screen.press("enter")
        await screen.wait_for("Nothing is folded in this message.")
        await screen.press("J", "enter")
        await screen.wait_for("second line", "command: npm test")
        await screen.press("o")
        await screen.wait_for("run_shell_command  npm test", but_not="second line")
        await screen.press("O")
        await screen.wait_for("second line")
        await screen.press("enter")
        await screen.wait_for("run_shell_command  npm test", but_not="second line")

    read_new(tmp_path / "home", drive)


@pytest.mark.slow
def test_one_moves_by_line_page_message_prompt_and_number(tmp_path: Path) -> None:
    write_large_home(tmp_path / "home", range(1), turns=40)

    async def drive(screen: Browsing) -> None:
        await screen.wait_for("#1 of 40")
        first = screen.lines[0]
        await screen.press("j", "down")
        assert screen.lines[0] != first
        await screen.press("k", "up")
        assert screen.lines[0] == first
        for keys, status in (
            (("J", "J", "K"), "#2 of 40"),
            (("]", "right_square_bracket"), "#5 of 40"),
            (("[",), "#3 of 40"),
            (("G",), "#40 of 40 · 100 %"),
            (("home",), "#1 of 40"),
            (("end", "g"), "#1 of 40"),
            ((":", "3", "0", "enter"), "#30 of 40"),
            (("#", "1", "5", "enter"), "#15 of 40"),
        ):
            await screen.press(*keys)
            await screen.wait_for(status)
        before = words_of(screen)
        for there, back in (("space", "b"), ("pagedown", "pageup"), ("u", "d"), ("ctrl+u", "ctrl+d")):
            await screen.press(there)
            assert words_of(screen) != before
            await screen.press(back)
            assert words_of(screen) == before

    read_new(tmp_path / "home", drive)


@pytest.mark.parametrize(
    ("typed", "said"), [("99", "There is no message #99; the last one is #2."), ("two", "Type the number")]
)
def test_what_is_no_number_of_a_message_is_said(typed: str, said: str, tmp_path: Path) -> None:
    write_session(tmp_path / "home")

    async def drive(screen: Browsing) -> None:
        await screen.wait_for("#1 of 2")
        await screen.press(":")
        await screen.type(typed)
        await screen.wait_for(f"Message {typed}")
        await screen.press("enter")
        await screen.wait_for(said)
        await screen.press("j")
        await screen.wait_for("of 2 · 100 %")

    read_new(tmp_path / "home", drive)


@pytest.mark.slow
def test_words_are_found_and_visited(tmp_path: Path) -> None:
    home = tmp_path / "home"
    write_session(
        home, prompt="A needle", answer="Two needles:\n\nneedle", calls=[tool_call(resultDisplay="NEEDLE")]
    )

    async def drive(screen: Browsing) -> None:
        await screen.wait_for("#1 of 2")
        await screen.press("n")
        await screen.wait_for("/ finds words.")
        await screen.press("/")
        await screen.type("nedle")
        await screen.press("left", "left", "left")
        await screen.type("e")
        assert "/needle" in screen.lines[-1]
        await screen.press("enter")
        for number in (1, 2, 3, 4, 1):
            await screen.wait_for(f"match {number} of 4")
            await screen.press("n")
        await screen.press("N", "N")
        await screen.wait_for("match 4 of 4")
        assert "NEEDLE" in marked(screen)
        await screen.press("/")
        await screen.type("nowhere")
        await screen.press("enter")
        await screen.wait_for("no match")
        await screen.press("/", "enter")
        await screen.wait_for("#2 of 2", but_not="match")
        await screen.press("/", "escape", "/", "backspace", "g")
        await screen.wait_for("#1 of 2")

    read_new(home, drive)


@pytest.mark.slow
def test_words_in_what_is_left_out_are_told_of(read_recorded: Read) -> None:
    async def drive(screen: Browsing) -> None:
        await screen.wait_for("conversation · #")
        await screen.press("/")
        await screen.type("second question")
        await screen.press("enter")
        await screen.wait_for("Only in what this level leaves out; v shows more.")
        await screen.press("j")
        await screen.wait_for("no match, 1 hidden")

    read_recorded("gemini/rewind-jsonl-1", drive)


def test_the_outline_leads_to_a_prompt(tmp_path: Path) -> None:
    write_large_home(tmp_path / "home", range(1), turns=40)

    async def drive(screen: Browsing) -> None:
        await screen.wait_for("#1 of 40")
        await screen.press("l")
        await screen.wait_for("─ Prompts ─", "#3  ")
        await screen.type("#31")
        await screen.wait_for("> #31", but_not="│   #3  ")
        await screen.press("enter")
        await screen.wait_for("#31 of 40", but_not="Prompts")
        assert screen.lines[0].startswith("▌You  #31")
        await screen.press("l", "down", "enter")
        await screen.wait_for("#33 of 40", but_not="Prompts")

    read_new(tmp_path / "home", drive)


def test_the_outline_tells_tokens_and_errors(tmp_path: Path) -> None:
    call = tool_call(status="error", resultDisplay="no such file")
    write_session(tmp_path / "home", calls=[call])

    async def drive(screen: Browsing) -> None:
        await screen.wait_for("#1 of 2")
        await screen.press("l")
        await screen.wait_for("Fix the login redirect", "1 error · 12 tokens")

    read_new(tmp_path / "home", drive)


@pytest.mark.parametrize("case", ["claude/subagent", "codex/subagents", "gemini/subagents-nested-jsonl"])
def test_a_subagent_is_opened_in_place(case: str, read_recorded: Read) -> None:
    async def drive(screen: Browsing) -> None:
        await screen.wait_for("conversation · #")
        await screen.press("s")
        await screen.wait_for("No subagent was started in this message.")
        while "its session: s opens it" not in marked(screen):
            await screen.press("J")
        before = screen.screen
        await screen.press("s")
        if "Subagents" in screen.screen:
            await screen.press("enter")
        await screen.wait_for("a subagent; its parent", "Task  #")
        await screen.press("escape")
        await screen.wait_for("its session: s opens it")
        assert screen.screen == before

    read_recorded(case, drive, size=(100, 40))


def test_the_mouse_scrolls_chooses_and_unfolds(tmp_path: Path) -> None:
    home = tmp_path / "home"
    write_session(home, answer="Done. " * 300, calls=[tool_call(resultDisplay="the output")])

    async def drive(screen: Browsing) -> None:
        await screen.wait_for("#1 of 2", "Gemini CLI  #2")
        row = next(at for at, line in enumerate(screen.lines) if "Gemini CLI  #2" in line)
        await screen.click(5, row)
        await screen.wait_for("#2 of 2")
        await screen.click(5, row)
        await screen.click(79, 22)
        await screen.wait_for("the output", "100 %")
        await screen.click(79, 0)
        first = screen.lines[0]
        for turned, is_first in ((MouseScrollDown, False), (MouseScrollUp, True)):
            screen.app.post_message(turned(None, 5, 5, 0, 1, 0, False, False, False))
            await screen.pause()
            assert (screen.lines[0] == first) is is_first

    read_new(home, drive)


def grown(path: Path, words: str) -> None:
    """A session in which the model says one thing more."""
    record = json.loads(path.read_text().splitlines()[-1])
    record |= {"id": f"g-{words}", "content": words, "toolCalls": []}
    with path.open("a") as file:
        file.write(json.dumps(record) + "\n")


def test_a_session_grows_while_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_watch, "EVERY", 0.03)
    path = write_session(tmp_path / "home", prompt="words " * 500)

    async def drive(screen: Browsing) -> None:
        await screen.wait_for("#1 of 2")
        before = words_of(screen)
        grown(path, "A third message.")
        await screen.wait_for("#1 of 3")
        # The tokens in the heading are others.
        assert words_of(screen)[7:] == before[7:]
        await screen.press("G")
        await screen.wait_for("A third message.", "#3 of 3 · 100 %")
        grown(path, "A fourth message.")
        await screen.wait_for("A fourth message.", "#4 of 4 · 100 %")

    read_new(tmp_path / "home", drive)


@pytest.mark.parametrize("is_kept", [True, False])
def test_a_session_is_deleted_while_it_is_read(
    is_kept: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_watch, "EVERY", 0.03)
    monkeypatch.setenv("GEMINIDS_KEEP", str(int(is_kept)))
    path = write_session(tmp_path / "home", prompt="Keep this in sight")

    async def drive(screen: Browsing) -> None:
        await screen.wait_for("#1 of 2", "Keep this in sight")
        path.unlink()
        await screen.wait_for("Keep this in sight", COPIED if is_kept else GONE)
        await screen.press("J")
        await screen.wait_for("#2 of 2", COPIED if is_kept else GONE)

    read_new(tmp_path / "home", drive)


def test_a_session_that_is_not_there_is_said(tmp_path: Path) -> None:
    path = write_session(tmp_path / "home")
    key = newest_main(tmp_path / "home", tmp_path / "data")
    assert path.exists()

    async def drive(screen: Browsing) -> None:
        await screen.wait_for("No session", "Esc back")
        await screen.press("j", "v", "G", "?")
        await screen.wait_for("─ Keys ─")
        await screen.press("escape", "escape")

    show(tmp_path / "home", tmp_path / "data", drive, f"{key}-elsewhere")


@pytest.mark.slow
def test_of_a_large_session_the_beginning_is_there_first(tmp_path: Path) -> None:
    write_large_home(tmp_path / "home", range(1), turns=12_000)
    key = newest_main(tmp_path / "home", tmp_path / "data")

    async def drive(screen: Browsing) -> None:
        await screen.wait_for("#1 of 12,000")
        first = screen.lines[0]
        await screen.press("G")
        await screen.wait_for("#12,000 of 12,000 · 100 %")
        await screen.press("g")
        assert screen.lines[0] == first

    show(tmp_path / "home", tmp_path / "data", drive, key)

    async def at_a_message(screen: Browsing) -> None:
        await screen.wait_for("Reading …", "You  #11001")
        await screen.wait_for("#11,001 of 12,000", but_not="Reading …")
        assert "You  #11001" in screen.lines[0]

    show(tmp_path / "home", tmp_path / "data", at_a_message, key, message=11_001)


@pytest.mark.slow
def test_hostile_words_reach_no_terminal(tmp_path: Path) -> None:
    evil = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202eevil words"
    call = tool_call(name=f"tool{evil}", args={evil: evil}, resultDisplay=evil)
    home = tmp_path / "home"
    write_session(home, prompt=evil, answer=evil, calls=[call], slug="shop")

    async def drive(screen: Browsing) -> None:
        await screen.wait_for("evil words", "#1 of 2")
        for key in ("O", "v", "v", "v", "l", "escape", "/", "e", "enter", "n", "s"):
            await screen.press(key)
            await screen.pause(0.02)
            assert all(letter.isprintable() for line in screen.lines for letter in line)

    read_new(home, drive)


def test_a_home_that_is_gone_ends_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_watch, "EVERY", 0.03)
    monkeypatch.setenv("GEMINIDS_KEEP", "0")
    write_session(tmp_path / "home")

    async def drive(screen: Browsing) -> None:
        await screen.wait_for("#1 of 2")
        shutil.rmtree(tmp_path / "home")
        await screen.wait_for("#1 of 2", GONE)

    read_new(tmp_path / "home", drive)


@pytest.mark.parametrize("size", [(60, 20), (80, 24), (140, 45)])
def test_all_lines_fit(size: tuple[int, int], read_recorded: Read) -> None:
    async def drive(screen: Browsing) -> None:
        await screen.wait_for("conversation · #")
        assert {cell_len(line) for line in screen.lines} == {size[0]}
        assert len(screen.lines) == size[1]

    read_recorded("claude/plain", drive, size=size)
