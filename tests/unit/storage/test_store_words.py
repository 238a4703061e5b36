"""What the index takes for a word, against FTS5 itself and against simple definitions."""

from __future__ import annotations

import re
import time
import unicodedata
from collections.abc import Iterable

import pytest
from hypothesis import example, given
from hypothesis import strategies as some

from geminids.storage.text.characters import is_cjk
from geminids.storage.text.places import find
from geminids.storage.text.snippets import cut, opening
from geminids.storage.text.values import Snippet
from geminids.storage.text.words import (
    Want,
    Way,
    indexed,
    indexed_together,
    phrase,
    spellings,
    terms,
)
from tests.support.full_text import FullText


@pytest.mark.parametrize(
    ("text", "prepared"),
    [
        ("getUserName", "get User Name"),
        ("HTTPServer", "HTTP Server"),
        ("utf8Decode", "utf8 Decode"),
        ("MAX_SIZE maxSize a.B", "MAX_SIZE max Size a.B"),
        ("plain words, nothing to do — “really” ✓", "plain words, nothing to do — “really” ✓"),
        ("中文字", " 中文 文字 字 "),
        ("字", " 字 "),
        ("x中文y", "x 中文 文 y"),
        ("カタカナ", " カタ タカ カナ ナ "),
        ("한국어", " 한국 국어 어 "),
        ("", ""),
    ],
)
def test_texts_are_prepared(text: str, prepared: str) -> None:
    assert indexed(text) == prepared


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Café", "cafe\u0301"),
        ("がぎ", "か\u3099き\u3099"),
        ("한국", unicodedata.normalize("NFD", "한국")),
        ("й", "и\u0306"),
        ("ガ", "ｶﾞ"),
        ("ＡＢＣ１２", "abc12"),
        ("葛城", "葛\U000e0100城"),
        ("人", "⼈"),
        ("done", "Done🤖"),
        ("Σίσυφος", "σίσυφοσ"),
    ],
)
def test_ways_to_write_the_same_word(one: str, other: str) -> None:
    assert terms(one) == terms(other)


ALL_CHARACTERS = [chr(code) for code in range(1, 0x110000) if not 0xD800 <= code < 0xE000]
CHECKED_WHOLLY = (
    *((0x1, 0x52F), (0x1E00, 0x9FFF), (0xAC00, 0xD7FF), (0xE000, 0xFAFF)),
    *((0xFE00, 0xFE0F), (0xFE30, 0xFFEF), (0x1F000, 0x1FBFF), (0x20000, 0x323AF)),
)
"""Latin, Greek, Cyrillic, accents, punctuation, signs, emoji, CJK, full width."""


@pytest.mark.slow
def test_terms_are_those_of_fts5() -> None:
    """FTS5 takes whatever Unicode 6.1 did not know for a letter.

    Where we differ is named here: in scripts other than those that are checked wholly, characters that came
    later and are neither letters nor digits; and 21 signs of New Tai Lue and Vedic that became letters later.
    """
    characters = [c for c in ALL_CHARACTERS if unicodedata.category(c) not in ("Cn", "Co", "Cs")]
    texts = [f"x{c}y {c} Z{c}" for c in characters]
    with FullText([{"human": text} for text in texts]) as full_text:
        words = full_text.words()
    differing = [c for c, text, found in zip(characters, texts, words, strict=True) if terms(text) != found]
    letters = [c for c in differing if c.isalnum()]
    assert all("\u19b0" <= c <= "\u19c9" or c in "\u1cf2\u1cf3" for c in letters)
    assert [hex(ord(c)) for c in differing if any(a <= ord(c) <= b for a, b in CHECKED_WHOLLY)] == []


@pytest.mark.slow
def test_a_pair_is_one_word_to_fts5() -> None:
    characters = [c for c in ALL_CHARACTERS if is_cjk(c) and unicodedata.category(c) != "Cn"]
    with FullText([{"human": f"人{c}人"} for c in characters]) as full_text:
        words = full_text.words()
    odd = [c for c, found in zip(characters, words, strict=True) if len(found) != 3 or len(found[0]) != 2]
    # Jamo that join what stands before them, and those of half width, are composed first.
    assert [c for c in odd if not unicodedata.name(c).startswith("HANGUL")] == []


SOME_TEXT = some.text(
    some.sampled_from("aAbBxZ1 _.-éİßǅ\u0301\u0345中文字かガ한々𠀀☃🤖\U000e0100 '\"*\n"), max_size=30
)


@given(texts=some.lists(some.one_of(SOME_TEXT, some.text(max_size=20)), max_size=8))
def test_terms_of_texts_are_those_of_fts5(texts: list[str]) -> None:
    known = [text for text in texts if all(_is_known(c) for c in text)]
    with FullText([{"human": text} for text in known]) as full_text:
        assert [terms(text) for text in known] == full_text.words()


def _is_known(character: str) -> bool:
    return any(start <= ord(character) <= end for start, end in CHECKED_WHOLLY) and (
        unicodedata.category(character) != "Cn"
    )


@pytest.mark.parametrize(
    ("typed", "expression"),
    [
        ("getUserName", '"get user name"'),
        ("a.b_c", '"a b c"'),
        ('say "hi"', '"say hi"'),
        ("中", '"中" *'),
        ("中文", '"中文"'),
        ("中文字", '"中文 文字"'),
        ("中b", '"中 b"'),
        ("中文b", '"中文 文 b"'),
        ("b中", '"b 中" *'),
        ("->", None),
        ("", None),
        ("🤖", None),
    ],
)
def test_what_is_typed_as_an_expression(typed: str, expression: str | None) -> None:
    assert phrase(typed) == expression


def test_a_prefix_is_open_at_its_end() -> None:
    assert phrase("get Us", prefix=True) == '"get us" *'


# What a phrase means, told without pairs: words and whole runs of CJK, one after the other.

_RUN = re.compile("[中文字]+|[a-z0-9]+")
_SMALL_HUMP = re.compile("(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def _runs(text: str) -> list[str]:
    return _RUN.findall(_SMALL_HUMP.sub(" ", text).lower())


def _occurs(typed: list[str], text: list[str], *, prefix: bool) -> bool:
    starts = range(len(text) - len(typed) + 1)
    return any(_fits(typed, text[start : start + len(typed)], prefix=prefix) for start in starts)


def _fits(typed: list[str], runs: list[str], *, prefix: bool) -> bool:
    if len(typed) == 1 and typed[0][0] in "中文字":
        return typed[0] in runs[0]
    first = runs[0].endswith(typed[0]) if typed[0][0] in "中文字" else runs[0] == typed[0]
    is_open = prefix or typed[-1][0] in "中文字"
    last = runs[-1].startswith(typed[-1]) if is_open else runs[-1] == typed[-1]
    return (first or (len(typed) == 1 and is_open)) and last and runs[1:-1] == typed[1:-1]


SMALL_TEXT = some.text(some.sampled_from("abAB1 -中文字"), max_size=12)


@given(texts=some.lists(SMALL_TEXT, min_size=1, max_size=8), typed=SMALL_TEXT, prefix=some.booleans())
@example(texts=["中文 文字", "中文字"], typed="中文字", prefix=False)
@example(texts=["a中字b", "a字b"], typed="a字b", prefix=False)
def test_a_phrase_finds_what_a_naive_scan_finds(texts: list[str], typed: str, *, prefix: bool) -> None:
    with FullText([{"human": text} for text in texts]) as full_text:
        found = full_text.rows(phrase(typed, prefix=prefix))
    runs = _runs(typed)
    expected = {n for n, text in enumerate(texts) if runs and _occurs(runs, _runs(text), prefix=prefix)}
    assert found == expected


@given(
    texts=some.lists(some.text(some.sampled_from("中文字a "), max_size=10)),
    typed=some.text("中文字", min_size=1),
)
def test_cjk_is_found_where_it_stands(texts: list[str], typed: str) -> None:
    with FullText([{"human": text} for text in texts]) as full_text:
        assert full_text.rows(phrase(typed)) == {n for n, text in enumerate(texts) if typed in text}


def test_a_word_is_found_with_and_without_its_capitals() -> None:
    rows = [{"human": text} for text in ("GitHub", "github", "gitHub", "a git", "hub git")]
    with FullText(rows) as full_text:
        for typed in ("GitHub", "github", "Github", "(github),"):
            asked = " OR ".join(each.expression for each in spellings(typed))
            assert full_text.rows(asked) == {0, 1, 2}


def _highlighted(cut: Snippet | None) -> list[str]:
    assert cut is not None
    return [cut.text[start:end] for start, end in cut.spans]


@pytest.mark.parametrize(
    ("text", "want", "found"),
    [
        ("the GitHub of github", Want("github"), ["GitHub", "github"]),
        ("a git-hub here", Want("github"), ["git-hub"]),
        ("githubs nogithub", Want("github"), []),
        ("call getUserName()", Want("user"), ["User"]),
        ("call getUserName()", Want("get user name", Way.PHRASE), ["getUserName"]),
        ("getusername get_user-name", Want("get user name", Way.PHRASE), ["get_user-name"]),
        ("HTTPServer https", Want("http"), ["HTTP"]),
        ("prefer preflight", Want("pre", Way.PREFIX), ["pre", "pre"]),
        ("Ein Café, cafe\u0301!", Want("cafe"), ["Café", "café"]),
        ("naïve İstanbul", Want("istanbul"), ["İstanbul"]),
        ("在中文字里", Want("文字"), ["文字"]),
        ("中文", Want("中"), ["中"]),
        ("葛\U000e0100城", Want("葛城"), ["葛\U000e0100城"]),
        ("unflightable FLIGHT", Want("flight", Way.SUBSTRING), ["flight", "FLIGHT"]),
        ("time out, TIMEOUT", Want("time ?out", Way.REGEX), ["time out", "TIMEOUT"]),
        ("any", Want("x*", Way.REGEX), []),
        ("nothing", Want("->"), []),
    ],
)
def test_what_is_highlighted(text: str, want: Want, found: list[str]) -> None:
    snippet = cut(text, [want])
    assert (_highlighted(snippet) if snippet else []) == found


@given(texts=some.lists(SMALL_TEXT, min_size=1, max_size=5), typed=SMALL_TEXT)
def test_what_the_index_finds_is_highlighted(texts: list[str], typed: str) -> None:
    with FullText([{"human": text} for text in texts]) as full_text:
        found = full_text.rows(phrase(typed))
    assert found <= {n for n, text in enumerate(texts) if find(text, [Want(typed, Way.PHRASE)])}


@given(text=some.text(max_size=60), typed=some.text(max_size=5), width=some.integers(10, 60))
def test_a_snippet_is_a_line_of_the_text(text: str, typed: str, width: int) -> None:
    for way in (Way.WORD, Way.PHRASE, Way.PREFIX, Way.SUBSTRING):
        snippet = cut(text, [Want(typed, way)], width)
        if snippet:
            assert len(snippet.text) <= max(width, 10)
            assert not re.search(r"\s\s|[\n\t]", snippet.text)
            assert all(0 <= start < end <= len(snippet.text) for start, end in snippet.spans)


def test_a_snippet_shows_where_most_wants_stand_together() -> None:
    text = "cors " + "filler " * 100 + "\n\n  a cors   preflight\n failed " + "filler " * 100 + "preflight"
    snippet = cut(text, [Want("cors"), Want("preflight")], 60)
    assert snippet is not None
    assert "a cors preflight failed" in snippet.text
    assert _highlighted(snippet) == ["cors", "preflight"]
    assert (snippet.is_cut_before, snippet.is_cut_after) == (True, True)
    assert len(snippet.text) <= 60
    assert snippet.text.startswith("filler")
    assert snippet.text.endswith("filler")


def test_a_short_text_is_shown_whole() -> None:
    assert cut(" a cors\nerror ", [Want("cors")]) == Snippet("a cors error", ((2, 6),), False, False)


def test_a_match_behind_many_blanks_is_shown_with_its_neighbours() -> None:
    snippet = cut("before" + " " * 300 + "cors" + "\n" * 300 + "after", [Want("cors")])
    assert snippet is not None
    assert snippet.text == "before cors after"


def test_the_beginning_stands_for_a_text_in_which_nothing_is_looked_for() -> None:
    assert opening("a\n b") == Snippet("a b", (), False, False)
    assert opening("word " * 100, 20) == Snippet("word word word word", (), False, True)


def _seconds(texts: Iterable[str], wants: list[Want]) -> float:
    start = time.process_time()
    for text in texts:
        cut(text, wants)
    return time.process_time() - start


PLAIN = "some words of English text, camelCase and snake_case; " * 20_000
HOSTILE = ("need" * 250_000, "hay " + "-" * 1_000_000, "n" * 1_000_000, "é中" * 300_000, "needle " * 150_000)


def test_a_megabyte_is_searched_at_once() -> None:
    wants = [Want("needle"), Want("hay stack", Way.PHRASE), Want("pre", Way.PREFIX), Want("ee.le", Way.REGEX)]
    assert _seconds([PLAIN, *HOSTILE], wants) < 6


@given(some.lists(some.text() | some.sampled_from(["getUserName", "a\x1fB", "", "中文字 x"]), max_size=7))
def test_texts_that_go_in_together_are_as_if_each_went_alone(texts: list[str]) -> None:
    assert not texts or indexed_together(texts) == tuple(map(indexed, texts))
