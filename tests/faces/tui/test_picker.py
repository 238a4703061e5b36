"""The picker: what is asked, what is listed, which line is chosen, and what it looks like."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from rich.cells import cell_len

from geminids.faces.tui.keys import Key, Typed
from geminids.faces.tui.lines import COLOURED, UNCOLOURED, Piece, cut, drawn, fitted
from geminids.faces.tui.matches import Asked, Listed, Matches, Scope, while_typed
from geminids.faces.tui.picker import Picker
from geminids.faces.tui.rows import highlighted
from geminids.faces.tui.view import screen_of
from geminids.library import Library
from geminids.query.sessions.listing import LED_BY_HUMANS, Filter
from geminids.sharing.transcript import safe, words
from geminids.storage.text.values import Snippet
from tests.conftest import FIXTURES, NOW
from tests.support.homes import write_session

ANYWHERE = Scope()


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("picked")
    for number in range(30):
        write_session(
            folder,
            f"{number:08}-a",
            prompt=f"Question {number} about bread",
            day=number % 28 + 1,
            slug="bakery",
        )
    write_session(folder, "90000000-a", prompt="购物车里的商品数量在刷新页面之后变成零", day=2, slug="shop")
    write_session(folder, "91000000-a", prompt="\x1b[2J\x1b]0;evil\x07 words", day=3, slug="shop")
    return folder


@pytest.fixture(scope="module")
def matches(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Matches]:
    with Library([home], tmp_path_factory.mktemp("data")) as library:
        yield Matches(library, NOW)


def picked(
    matches: Matches, *keys: Key, size: tuple[int, int] = (80, 24), scopes: Sequence[Scope] = ()
) -> Picker:
    """A picker that was given some keys, each with the answer to what it asks."""
    picker = Picker(scopes or [ANYWHERE])
    picker.resize(*size)
    picker.take(matches.listed(picker.asked))
    for key in keys:
        assert picker.press(key)
        picker.take(matches.listed(picker.asked))
    return picker


def seen(picker: Picker) -> list[str]:
    screen = screen_of(picker, "read", NOW)
    return ["".join(piece.text for piece in line) for line in screen.lines]


def test_the_newest_sessions_are_listed_first(matches: Matches) -> None:
    picker = picked(matches)
    assert picker.listed is not None
    assert picker.listed.total == 32
    dates = [line.session.last_at for line in picker.listed.lines if line.session.last_at]
    assert dates == sorted(dates, reverse=True)


@pytest.mark.parametrize(
    ("typed", "asked"),
    [
        ("cache", "cache*"),
        ("two wor", "two wor*"),
        ("two w", "two"),
        ("w", "w"),
        ("商", "商*"),
        ("cors OR a", "cors OR a"),
        ("two ", "two "),
        ('"a phrase', '"a phrase"'),
        ("agent:gemini", "agent:gemini"),
        ("cors OR", "cors OR"),
        ("/pat.ern/", "/pat.ern/"),
        ("", ""),
    ],
)
def test_the_last_word_may_be_a_beginning(typed: str, asked: str) -> None:
    assert while_typed(typed) == asked


@pytest.mark.parametrize("typed", ["br", "bread 17", "brad 17", '"Question 17', "17 xyzzy"])
def test_words_are_found_while_they_are_typed(matches: Matches, typed: str) -> None:
    picker = picked(matches, *map(Typed, typed))
    assert picker.chosen is not None
    assert typed == "br" or picker.chosen.name == "Question 17 about bread"


def test_with_one_letter_every_session_may_be_meant(matches: Matches) -> None:
    picker = picked(matches, Typed("x"))
    assert picker.listed is not None
    assert picker.listed.total == 32


def test_two_letters_of_chinese_are_found(matches: Matches) -> None:
    picker = picked(matches, Typed("商品"))
    assert picker.listed is not None
    assert [line.session.native_id for line in picker.listed.lines] == ["90000000-a"]


def test_every_session_can_be_reached(matches: Matches) -> None:
    picker = picked(matches, *["down"] * 40, size=(80, 10))
    assert picker.listed is not None
    assert len(picker.listed.lines) == 32
    assert picker.chosen == picker.listed.lines[-1]
    assert picker.chosen in picker.seen
    back = [picker.press("page up") for _ in range(10)]
    assert all(back)
    assert picker.chosen == picker.listed.lines[0]


@pytest.mark.parametrize("steps", [0, 2, 25])
def test_what_is_new_changes_nothing_of_what_enter_takes(matches: Matches, steps: int) -> None:
    picker = picked(matches, *["down"] * steps)
    assert picker.listed is not None
    chosen, listed = picker.chosen, picker.listed
    assert chosen is not None
    newer = listed.lines[5]._replace(key="gemini:newer", name="A newer one")
    picker.take(listed._replace(lines=[newer, *listed.lines]))
    assert picker.chosen == chosen
    assert safe.line(chosen.name) in seen(picker)[1 + picker.cursor.seen]
    assert ("A newer one" in seen(picker)[1]) is (steps < 20)


def test_what_a_search_shows_first_is_listed_before_what_only_begins_so(matches: Matches) -> None:
    picker = picked(matches, Typed("bread 2"))
    assert picker.listed is not None
    names = [line.name for line in picker.listed.lines]
    assert names[0] == "Question 2 about bread"
    assert {f"Question {number} about bread" for number in (2, *range(20, 30))} == set(names)


def test_enter_waits_for_the_answer_to_what_was_typed(matches: Matches) -> None:
    picker = picked(matches)
    for key in (Typed("bread 17"), "enter"):
        assert picker.press(key)
    before = picker.decided
    picker.take(matches.listed(picker.asked))
    after = picker.decided
    assert picker.press(Typed("x"))
    assert (before, after and after.name, picker.decided) == (None, "Question 17 about bread", None)


def test_escape_clears_and_then_quits(matches: Matches) -> None:
    picker = picked(matches, Typed("bread"), "escape")
    assert picker.box.text == ""
    assert not picker.press("escape")
    assert not picker.press("interrupt")


def test_tab_goes_from_agent_to_agent(matches: Matches) -> None:
    agents = [picked(matches, *["tab"] * times).scope.agent for times in range(4)]
    assert agents == [None, "claude", "codex", "gemini"]
    assert picked(matches, "tab", "shift tab").scope.agent is None
    assert seen(picked(matches, "tab"))[1].strip() == "No session found."


def test_a_folder_without_sessions_shows_those_of_all(matches: Matches) -> None:
    picker = picked(matches, scopes=[Scope(project="/nowhere/at/all"), ANYWHERE])
    picker.take(matches.listed(picker.asked))
    assert picker.scope == ANYWHERE
    assert picker.chosen is not None
    here = picked(matches, "scope", scopes=[ANYWHERE, Scope(project="shop")])
    assert here.listed is not None
    assert here.listed.total == 2
    assert "project shop" in seen(here)[0]


def test_a_mistake_is_told_and_what_was_typed_stays(matches: Matches) -> None:
    picker = picked(matches, Typed("since:never"))
    assert picker.chosen is None
    assert "Cannot read the time" in seen(picker)[1]
    assert picker.box.text == "since:never"


@pytest.mark.parametrize("typed", ["bread OR", "bread OR ", "bread AND", "bread agent:"])
def test_what_is_not_typed_to_its_end_takes_nothing_from_the_list(matches: Matches, typed: str) -> None:
    before, listed = (matches.listed(Asked(words, ANYWHERE, 64)) for words in ("bread", typed))
    assert names_of(listed) == names_of(before) != []
    assert ("needs" in listed.note) is not typed.endswith(":")
    assert listed.asked.typed == typed


@pytest.mark.parametrize("typed", ["OR ", "OR", "since:never", "(cors OR"])
def test_what_cannot_be_read_at_all_finds_nothing(matches: Matches, typed: str) -> None:
    assert not matches.listed(Asked(typed, ANYWHERE, 64)).lines


@pytest.mark.parametrize("size", [(80, 24), (140, 45), (60, 20), (40, 10), (24, 5), (20, 4), (10, 2)])
@pytest.mark.parametrize("keys", [(), (Typed("bread"),), (Typed("购物"),), (Typed("x" * 200),)])
def test_every_line_has_the_width_of_the_screen(
    matches: Matches, size: tuple[int, int], keys: tuple[Key, ...]
) -> None:
    picker = picked(matches, *keys, size=size)
    lines = seen(picker)
    assert len(lines) <= size[1]
    assert all(cell_len(line) <= size[0] for line in lines)
    screen = screen_of(picker, "read", NOW, "said " * 100)
    assert all(0 <= at < limit for at, limit in zip(screen.cursor, size, strict=True))


def test_no_word_of_a_session_steers_the_terminal(matches: Matches) -> None:
    picker = picked(matches, Typed("words"))
    screen = screen_of(picker, "read", NOW)
    sent = "".join(drawn(line, COLOURED, is_chosen=True) for line in screen.lines)
    assert not re.sub(r"\x1b\[[0-9;]*m", "", sent).count("\x1b")
    assert "\x07" not in sent


def test_without_colour_the_chosen_line_is_still_seen() -> None:
    pieces = [Piece("gemini", "agent gemini"), Piece(" a title"), Piece("cache", "match")]
    assert drawn(pieces, UNCOLOURED) == "gemini a title\x1b[1;4mcache\x1b[0m"
    assert drawn(pieces, UNCOLOURED, is_chosen=True).count("\x1b[7m") == 2
    assert drawn(pieces, COLOURED, is_chosen=True).endswith("\x1b[1;7mcache\x1b[0m")
    assert not re.search(r"\x1b\[[0-9;]*3[0-7]", drawn(pieces, UNCOLOURED, is_chosen=True))


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        ("word", 6, "word  "),
        ("words words", 6, "words…"),
        ("购物车里", 6, "购物… "),
        ("a b", 1, "…"),
        ("ab", 0, ""),
    ],
)
def test_words_are_cut_to_columns(text: str, width: int, shown: str) -> None:
    assert cut(text, width) == shown
    assert cell_len("".join(piece.text for piece in fitted([Piece(text)], width))) == width


def test_a_folder_is_cut_at_its_beginning() -> None:
    assert cut("~/code/shop/api", 9, keeps_end=True) == "…shop/api"


def test_more_is_asked_for_before_the_end_is_seen(matches: Matches) -> None:
    picker = picked(matches, size=(80, 10))
    assert isinstance(picker.asked, Asked)
    first = picker.asked.limit
    assert first >= 2 * picker.rows
    for _ in range(first):
        picker.press("down")
    assert picker.asked.limit >= first


def test_sessions_are_counted_in_the_words_of_a_list(tmp_path: Path) -> None:
    home = FIXTURES / "gemini" / "lost-session" / "home"
    with Library([home], tmp_path) as library:
        shown = seen(picked(Matches(library, NOW)))
        kinds = library.listing(Filter(kinds=LED_BY_HUMANS)).kinds
    assert kinds["lost"]
    assert words.sessions(kinds) in shown[0]


@pytest.mark.parametrize(
    ("text", "word", "columns", "shown"),
    [
        ("a stale cache", "stale", 20, "a stale cache"),
        ("where do we keep it, and can the cache be stale now", "stale", 20, "…cache be stale now"),
        ("we keep it, and the stale cache is thrown away", "stale", 24, "…the stale cache is thrown away"),
        ("kohlrabisalatundnochmehrdavon", "davon", 12, "…chmehrdavon"),
        ("购物车里的商品数量在刷新页面之后变成零", "变成", 12, "…之后变成零"),
    ],
)
def test_what_was_found_is_seen_however_far_on_it_stands(
    text: str, word: str, columns: int, shown: str
) -> None:
    at = text.index(word)
    pieces = highlighted(Snippet(text, ((at, at + len(word)),), False, False), columns)
    assert "".join(piece.text for piece in pieces) == shown
    assert Piece(word, "match") in pieces


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Matches]:
    """Sessions in which many words begin with the same two letters, and one in which they are a word."""
    folder = tmp_path_factory.mktemp("short")
    for number in range(8):
        write_session(folder, f"{number}0000000-a", prompt=f"Gopher {number}", answer="Dig.", day=number + 1)
        write_session(folder, f"{number}1111111-a", prompt=f"Mole {number}", answer="Going.", day=number + 1)
    write_session(folder, "90000000-a", prompt="Which compiler?", answer="The one of Go.", day=1)
    with Library([folder], folder / "data") as library:
        yield Matches(library, NOW)


def names_of(listed: Listed) -> list[str]:
    return [line.name for line in listed.lines]


def test_two_letters_are_a_word_first_then_begin_one_in_a_title(short: Matches) -> None:
    few = short.listed(Asked("go", ANYWHERE, 4))
    assert names_of(few) == ["Which compiler?", "Gopher 7", "Gopher 6", "Gopher 5"]
    assert few.total >= 4
    assert not few.is_exact


def test_where_that_is_not_enough_two_letters_begin_a_word_anywhere(short: Matches) -> None:
    every = names_of(short.listed(Asked("go", ANYWHERE, 64)))
    assert every[0] == "Which compiler?"
    assert sorted(every[1:]) == sorted(
        f"{kind} {number}" for kind in ("Gopher", "Mole") for number in range(8)
    )


def test_after_other_words_two_letters_hide_nothing_that_may_be_meant(short: Matches) -> None:
    assert names_of(short.listed(Asked("compiler go", ANYWHERE, 4))) == ["Which compiler?"]
    assert names_of(short.listed(Asked("mole 3 go", ANYWHERE, 4))) == ["Mole 3"]
    assert names_of(short.listed(Asked("mole 3 gop", ANYWHERE, 4)))[0] == "Mole 3"


def test_what_must_follow_an_operator_may_be_two_letters(short: Matches) -> None:
    either = short.listed(Asked("compiler OR go", ANYWHERE, 64))
    assert not either.note
    assert len(either.lines) == 17


@pytest.fixture(scope="module")
def common(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Matches]:
    """Sessions that have a word, and newer ones in which it begins another."""
    folder = tmp_path_factory.mktemp("common")
    for number in range(6):
        write_session(folder, f"{number}0000000-a", prompt=f"Cache {number}", day=number + 1)
        write_session(folder, f"{number}1111111-a", prompt=f"Cached {number}", day=number + 11)
    with Library([folder], folder / "data") as library:
        yield Matches(library, NOW)


def test_who_is_in_haste_sees_the_first_of_the_same_and_that_there_are_more(common: Matches) -> None:
    every = common.listed(Asked("cache", ANYWHERE, 64))
    assert every.total == len(every.lines) == 12
    assert every.is_exact
    hasty = common.listed(Asked("cache", ANYWHERE, 4, is_hasty=True))
    assert names_of(hasty) == names_of(every)[:4]
    assert all(name.startswith("Cache ") for name in names_of(hasty))
    assert not hasty.is_exact


def test_where_a_word_is_in_too_few_haste_hides_nothing_that_it_begins(common: Matches) -> None:
    asked = Asked("cache", ANYWHERE, 8)
    hasty, calm = (common.listed(asked._replace(is_hasty=is_hasty)) for is_hasty in (True, False))
    assert names_of(hasty) == names_of(calm)
    assert len(hasty.lines) == 8
    assert hasty.total == calm.total == 12


def test_messages_that_two_letters_begin_are_all_found(short: Matches) -> None:
    listed = short.listed(Asked("go", ANYWHERE, 4, per_session=100))
    assert all(line.hits for line in listed.lines)


def test_a_title_has_a_word_that_begins_so_in_any_case(short: Matches) -> None:
    found = short._library.listing(Filter(titled="GOPH"))
    assert {session.title for session in found.sessions} == {f"Gopher {number}" for number in range(8)}
    assert short._library.listing(Filter(titled="opher")).sessions == []
