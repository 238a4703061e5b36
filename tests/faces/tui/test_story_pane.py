"""The model of the transcript view: lines that are made when they are looked at, and what is seen of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as some
from rich.cells import cell_len
from rich.segment import Segment

from geminids.core.model import Origin, Session
from geminids.faces.drawing.page import LaidOutPage
from geminids.faces.drawing.story import StoryContext, draw_entries, draw_heading
from geminids.faces.tui.browser.finding import found_again, found_in, places_of_words
from geminids.faces.tui.browser.story_lines import KEYS, StoryLines
from geminids.faces.tui.browser.story_pane import StoryPane
from geminids.faces.tui.browser.told import Telling, Told, retold, told_first, told_whole
from geminids.faces.tui.browser.window import Place, Window
from geminids.library import Library
from geminids.sharing.transcript import safe
from geminids.sharing.transcript.entries import LEVELS, transcript
from tests.conftest import FIXTURES
from tests.support.homes import tool_call, write_session
from tests.support.large_homes import write_large_home
from tests.support.poisoned_homes import CASES as POISONED
from tests.support.poisoned_homes import write_poisoned

CASES = (
    *("claude/subagent", "claude/rewound", "claude/thoughts", "codex/subagents", "codex/rollback"),
    *(
        "codex/reasoning",
        "gemini/subagents-nested-jsonl",
        "gemini/rewind-jsonl-1",
        "gemini/tool-calls-jsonl-1",
    ),
)
WIDE = "购物车里的商品数量 👩‍👩‍👧 刷新 🎉 e\u0301 " * 9


def told_of(home: Path, data: Path) -> list[Told]:
    """All sessions of a home."""
    with Library([home], data) as library:
        return [told_whole(library, key, Telling()) for key in library.keys(library.sessions())]


Cases = Callable[[str], Sequence[Told]]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Cases:
    """The sessions of recorded homes, by their names."""
    return cache(lambda case: told_of(FIXTURES / case / "home", tmp_path_factory.mktemp("data")))


@pytest.fixture(scope="module")
def poisoned(tmp_path_factory: pytest.TempPathFactory) -> Cases:
    """The same with texts that steer terminals."""

    def told(case: str) -> Sequence[Told]:
        folder = tmp_path_factory.mktemp("poisoned")
        return told_of(write_poisoned(folder / "home", (case,)), folder / "data")

    return cache(told)


def main_of(sessions: Sequence[Told]) -> Told:
    """The session that a human led."""
    return next(told for told in sessions if told.session.kind == "main")


def plain(pane: StoryPane) -> list[str]:
    """The lines that are seen, without the mark before them and the bar behind."""
    return ["".join(piece.text for piece in row)[1:-1].rstrip() for row in pane.rows()]


def marked(pane: StoryPane) -> list[str]:
    """Those of the message that one is at."""
    rows = ["".join(piece.text for piece in row) for row in pane.rows()]
    return [row[1:-1].strip() for row in rows if row.startswith("▌")]


class Heights:
    """Blocks of some lines each."""

    def __init__(self, heights: Sequence[int]) -> None:
        self._heights = heights

    @property
    def count(self) -> int:
        return len(self._heights)

    def height(self, block: int, needed: int | None = None) -> int:
        return self._heights[block]


@given(
    some.lists(some.integers(0, 5), min_size=1, max_size=12).filter(any),
    some.integers(1, 9),
    some.lists(some.integers(-12, 12), max_size=12),
)
def test_blocks_scroll_like_one_text(heights: list[int], rows: int, steps: list[int]) -> None:
    window = Window(Heights(heights))
    window.rows = rows
    window.move(0)
    flat = [Place(block, line) for block, height in enumerate(heights) for line in range(height)]
    top = 0
    for step in steps:
        window.move(step)
        top = max(min(top + step, len(flat) - rows), 0)
        assert window.seen() == flat[top : top + rows]
        assert window.is_at_end == (top + rows >= len(flat))
    window.to_end()
    assert window.seen() == flat[-rows:]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("case", CASES)
def test_it_looks_like_show(case: str, level: str, recorded: Cases) -> None:
    for told in (retold(told, Telling(level)) for told in recorded(case)):
        lines = StoryLines(told, 78)
        page = LaidOutPage(78)
        context = StoryContext(
            told.session, LEVELS[level], told.agent_title, str, told.marks, told.cost, told.use, first=1
        )
        context = context._replace(ask_for=KEYS, turn_use=partial(used_words, told))
        draw_heading(page, context)
        entries = transcript(told.session, LEVELS[level])
        draw_entries(page, entries, context._replace(show_command=lambda _: "s opens it"))
        assert [line for block in range(lines.count) for line in lines.lines(block)] == page.lines


def used_words(told: Told, place: int) -> str:
    used = told.story.used(place)
    return used.words if used else ""


@pytest.mark.parametrize("columns", [60, 80, 140])
@pytest.mark.parametrize("case", POISONED)
def test_nothing_steers_the_terminal_and_all_is_aligned(case: str, columns: int, poisoned: Cases) -> None:
    for told in poisoned(case):
        pane = StoryPane(retold(told, Telling("everything")), columns, 20)
        while True:
            for row in pane.rows():
                text = "".join(piece.text for piece in row)
                assert safe.line(text) == text
                assert cell_len(text) == columns
            if pane.percent == 100:
                break
            pane.page(1)


@pytest.mark.parametrize("columns", [60, 80, 140])
def test_wide_letters_are_aligned(columns: int, tmp_path: Path) -> None:
    write_session(
        tmp_path, prompt=WIDE, answer=f"# {WIDE}\n\n| {WIDE} | b |\n|---|---|\n| {WIDE} | {WIDE} |\n"
    )
    (told,) = told_of(tmp_path, tmp_path / "data")
    pane = StoryPane(told, columns, 30)
    assert {cell_len("".join(piece.text for piece in row)) for row in pane.rows()} == {columns}


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Told:
    folder = tmp_path_factory.mktemp("long")
    write_large_home(folder / "home", range(1), turns=60)
    return told_of(folder / "home", folder / "data")[0]


def test_only_what_is_looked_at_is_laid_out(long: Told) -> None:
    lines = StoryLines(long, 78)
    window = Window(lines)
    window.rows = 20
    window.to_end()
    assert len(window.seen()) == 20
    made = lines.ahead(range(lines.count))
    assert len(made.wanted) > 50


def test_what_was_made_ahead_for_another_width_is_not_used(long: Told) -> None:
    lines = StoryLines(long, 78)
    made = lines.made(lines.ahead([3, 4]))
    lines.resize(40)
    lines.keep(made)
    assert len(lines.ahead([3, 4]).wanted) == 2
    lines.keep(lines.made(lines.ahead([3, 4])))
    assert not lines.ahead([3, 4]).wanted


def test_of_a_huge_output_only_as_much_is_made_as_is_needed(tmp_path: Path) -> None:
    output = "\n".join(f"line {number}" for number in range(5000))
    write_session(tmp_path, calls=[tool_call(resultDisplay=output)], answer="")
    (told,) = told_of(tmp_path, tmp_path / "data")
    pane = StoryPane(told, 80, 20)
    pane.step(1)
    assert pane.fold()
    block = (pane.cursor or 0) + 1
    assert 20 < pane.text.height(block, 20) < 3000
    assert pane.text.height(block, 2000) < 5000
    pane.to_end()
    assert "line 4999" in plain(pane)[-1]
    assert pane.text.height(block) > 5000


def test_who_scrolls_is_at_a_message_that_is_seen(long: Told) -> None:
    pane = StoryPane(long, 80, 20)
    assert pane.number == 1
    for _ in range(100):
        pane.scroll(3)
        assert marked(pane)
    assert (pane.number, pane.percent) == (60, 100)
    pane.scroll(-1)
    assert pane.percent < 100
    pane.to_start()
    assert (pane.number, plain(pane)[0]) == (1, f"{long.name[:77].rstrip()}…")


def test_one_goes_from_message_to_message_and_from_prompt_to_prompt(long: Told) -> None:
    pane = StoryPane(long, 80, 20)
    visited = [pane.number]
    for move in (pane.step, pane.step_prompt, pane.step_prompt):
        move(1)
        visited.append(pane.number)
    assert visited == [1, 2, 3, 5]
    assert marked(pane)[0].startswith("You  #5")
    pane.step_prompt(-1)
    assert pane.number == 3
    assert pane.to_message(41)
    assert plain(pane)[0].startswith("You  #41")
    assert not pane.to_message(999)
    assert pane.number == 60


def test_what_is_looked_at_stays_where_it_is_in_another_detail(recorded: Cases) -> None:
    told = main_of(recorded("gemini/tool-calls-jsonl-1"))
    pane = StoryPane(told, 80, 20)
    pane.to_message(6)
    pane.scroll(-4)
    row, number = row_of_cursor(pane), pane.number
    for level in ("tools", "everything", "thoughts", "conversation"):
        pane.take(retold(pane.told, Telling(level)))
        assert (row_of_cursor(pane), pane.number) == (row, number)


def row_of_cursor(pane: StoryPane) -> int:
    return ["".join(piece.text for piece in row).startswith("▌") for row in pane.rows()].index(True)


def with_messages(told: Told, number: int) -> Told:
    session: Session = msgspec.structs.replace(told.session, messages=told.session.messages[:number])
    return retold(told._replace(session=session, messages=number, used=told.used[:number]), told.telling)


def test_what_is_new_moves_nothing_but_the_end(long: Told) -> None:
    pane = StoryPane(with_messages(long, 40), 80, 20)
    pane.to_message(20)
    before = plain(pane)
    pane.take(long)
    assert (plain(pane), pane.number) == (before, 20)
    at_end = StoryPane(with_messages(long, 40), 80, 20)
    at_end.to_end()
    at_end.take(long)
    assert (at_end.percent, at_end.number) == (100, 60)
    at_end.step(-5)
    at_end.take(with_messages(long, 10))
    assert at_end.number == 10


def test_the_rest_of_a_beginning_moves_nothing(long: Told) -> None:
    beginning = with_messages(long, 20)._replace(messages=60)
    pane = StoryPane(beginning, 80, 20)
    pane.to_end()
    before = plain(pane)
    pane.take(long)
    assert (plain(pane), pane.number) == (before, 20)


def test_another_size_keeps_the_place(long: Told) -> None:
    pane = StoryPane(long, 80, 20)
    pane.to_message(30)
    for size in ((60, 15), (140, 40), (80, 20)):
        pane.resize(*size)
        assert pane.number == 30
    pane.to_end()
    pane.resize(60, 12)
    assert pane.percent == 100


def test_calls_are_unfolded_and_folded(recorded: Cases) -> None:
    told = main_of(recorded("gemini/tool-calls-jsonl-1"))
    pane = StoryPane(told, 80, 60)
    assert not pane.fold()
    while not any("read_file" in line for line in marked(pane)):
        pane.step(1)
    folded, row = marked(pane), row_of_cursor(pane)
    assert pane.fold()
    assert len(marked(pane)) > len(folded)
    assert row_of_cursor(pane) == row
    assert pane.fold()
    assert marked(pane) == folded
    pane.fold_all()
    assert len(marked(pane)) > len(folded)
    assert pane.fold()
    assert marked(pane) == folded


@pytest.mark.parametrize("case", ["claude/rewound", "codex/rollback", "gemini/rewind-jsonl-1"])
def test_what_was_taken_back_is_told_on_request(case: str, recorded: Cases) -> None:
    told = main_of(recorded(case))
    states = {str(turn.message.state) for _, turn in told.story.turns()}
    more = retold(told, Telling().with_other_dropped)
    assert "rewound" not in states
    assert "rewound" in {str(turn.message.state) for _, turn in more.story.turns()}
    assert more.telling.name == "conversation + dropped"
    assert not more.telling.with_other_dropped.dropped


@pytest.mark.parametrize("case", ["claude/thoughts", "codex/reasoning", "gemini/rewind-jsonl-1"])
def test_thoughts_are_told_on_request(case: str, recorded: Cases) -> None:
    told = main_of(recorded(case))
    more = retold(told, Telling().with_other_thoughts._replace(dropped=True))
    lines = StoryLines(more, 78)
    text = "".join(
        segment.text for block in range(lines.count) for line in lines.lines(block) for segment in line
    )
    assert "Thought" in text
    assert Telling("thoughts").with_other_thoughts.name == "thoughts - thoughts"


def test_levels_follow_each_other() -> None:
    levels = [Telling("prompts")]
    for _ in LEVELS:
        levels.append(levels[-1].at_next_level(1))
    assert [one.level for one in levels] == [*LEVELS, "prompts"]
    assert Telling("tools", thoughts=True).at_next_level(-1) == Telling("conversation")


def test_what_a_turn_used_stands_beside_who_speaks(long: Told, tmp_path: Path) -> None:
    write_session(tmp_path / "other")
    (told,) = told_of(tmp_path / "other", tmp_path / "data-of-other")
    pane = StoryPane(told, 80, 20)
    assert any("#2  10:05  12 tokens" in line for line in plain(pane))
    pane.take(retold(told, Telling("prompts")))
    assert any(line.startswith("You  #1  10:00  12 tokens") for line in plain(pane))
    assert not any("tokens" in line for line in plain(StoryPane(long, 80, 20))[8:])


def test_every_place_of_words_is_visited(long: Told) -> None:
    pane = StoryPane(long, 80, 20)
    words = " ".join(message.text(part) for message in long.session.messages for part in Origin)
    word = words.split()[0]
    pane.show_found(found_in(long, word, places_of_words(word.upper())))
    total = words.count(word)
    assert total > 5
    visited = []
    for _ in range(total + 1):
        pane.to_next_match(1)
        assert reversed_words(pane) == word
        visited.append(place_of_match(pane))
    assert visited == [*range(total), 0]
    pane.to_next_match(-1)
    assert place_of_match(pane) == total - 1
    pane.to_message(60)
    pane.to_message(30)
    pane.to_next_match(-1)
    assert (pane.number or 60) < 30
    pane.to_next_match(1)
    assert (pane.number or 0) >= 30


def place_of_match(pane: StoryPane) -> int | None:
    return pane.match.number if pane.match else None


def reversed_words(pane: StoryPane) -> str:
    """The words that one is at, as they are seen."""
    segments = [piece for row in pane.rows() for piece in row if isinstance(piece, Segment)]
    return "".join(one.text for one in segments if one.style and one.style.reverse)


def test_words_are_found_where_lines_break_in_them(tmp_path: Path) -> None:
    write_session(tmp_path, prompt="some words " * 30 + "the needle and the\n  haystack", answer="Done.")
    (told,) = told_of(tmp_path, tmp_path / "data")
    pane = StoryPane(told, 60, 20)
    pane.show_found(found_in(told, "x", places_of_words("The Haystack")))
    pane.to_next_match(1)
    assert reversed_words(pane) == "thehaystack"


def test_a_message_unfolds_for_words_in_an_output(tmp_path: Path) -> None:
    write_session(tmp_path, calls=[tool_call(resultDisplay="a\nneedle\nb\nneedle")], answer="")
    (told,) = told_of(tmp_path, tmp_path / "data")
    pane = StoryPane(told, 80, 24)
    pane.show_found(found_in(told, "needle", places_of_words("needle")))
    assert "needle" not in "\n".join(plain(pane))
    rows = []
    for _ in range(2):
        pane.to_next_match(1)
        assert reversed_words(pane) == "needle"
        rows.append([place for place, line in enumerate(plain(pane)) if "needle" in line])
    assert len(rows[0]) == 2
    pane.to_next_match(1)
    assert pane.match
    assert pane.match.number == 0


def test_words_in_what_is_left_out_are_counted_apart(recorded: Cases) -> None:
    told = main_of(recorded("gemini/rewind-jsonl-1"))
    found = found_in(told, "question", places_of_words("question"))
    everything = found_in(retold(told, Telling("everything")), "question", places_of_words("question"))
    assert found.hidden > 0
    assert found.total + found.hidden == everything.total
    assert found.match(0)
    assert found_in(told, "nowhere at all", places_of_words("nowhere at all")).first_from(0) is None


def test_the_same_place_stays_the_one_where_one_is(long: Told) -> None:
    pane = StoryPane(with_messages(long, 40), 80, 20)
    places = places_of_words("only")
    pane.show_found(found_in(pane.told, "only", places))
    pane.to_next_match(1)
    pane.to_next_match(1)
    pane.take(long)
    pane.show_found(found_in(long, "only", places))
    assert pane.match
    assert (pane.match.number, pane.found and pane.found.total) == (1, 60)
    pane.show_found(None)
    assert pane.match is None


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    write_session(tmp_path, prompt="Upload the notes", answer="Uploading them now.")
    with Library([tmp_path], tmp_path / "data") as library:
        yield library


@pytest.mark.parametrize(
    ("searched", "total"), [("uplo", 2), ("agent:gemini", None), ("(", None), ("upload notes", 2)]
)
def test_words_of_a_search_are_found_as_it_finds_them(
    library: Library, searched: str, total: int | None
) -> None:
    told = told_whole(library, "latest", Telling())
    found = found_again(library, told, searched)
    assert (found and found.total) == total


def test_a_message_that_was_found_is_told(tmp_path: Path) -> None:
    with Library([FIXTURES / "gemini/rewind-jsonl-1/home"], tmp_path) as library:
        first = told_first(library, "latest", Telling(), 1)
        states = [str(message.state) for message in first.session.messages]
        rewound = told_first(library, "latest", Telling(), states.index("rewound") + 1)
        shown = told_first(library, "latest", Telling(), states.index("current") + 1)
    assert rewound.telling.level == "everything"
    assert shown.telling.level == "conversation"
