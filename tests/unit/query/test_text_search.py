"""Substrings and regular expressions: no message that holds them is ruled out, and hardly any other read."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as some

from geminids.library import Library
from geminids.query.search import session_texts
from geminids.query.search.language import Query, parse
from geminids.query.search.question import Question
from geminids.query.search.record_filter import record_filter, whole_record_filter
from geminids.query.search.tree import Prefix, Regex, Substring, Words
from geminids.query.sessions.session_reader import SessionReader
from geminids.storage.codec.texts import words
from geminids.storage.index import terms as terms_module
from geminids.storage.index.database import TERMS, Index
from geminids.storage.index.terms import Terms, terms_of
from geminids.storage.text.raw_patterns import found_in_bytes
from tests.conftest import FIXTURES, NOW
from tests.support.examples import examples
from tests.support.full_text import FullText
from tests.support.homes import write_session

LETTERS = "aAbBiIkKsStT09_-. (中文字éßÉıİKſǅΣςя"
"""Humps, signs, characters without words, accents, and letters that are the same in odd cases."""
SOME_TEXT = some.text(some.sampled_from(LETTERS), min_size=1, max_size=24)
ODD_TEXT = some.text(some.sampled_from(LETTERS + '"\\/\n\t\x1b🤖'), min_size=1, max_size=24)
PATTERNS = (
    *("a[bk]+t", "(?:a|bb)s", "k.s", "i{2}", r"a\Wb", "[^a]k", r"\bs", "(?=a)a", "(a)b\\1", "t$", "^a"),
    *("s?t", "(?i:K)a", "[a-s]{3}", r"\w\w中", "é", "(?:ab|中).?b", r"s\s*t", "[ſk]a", "b(?!a)"),
    *("İa", r"\bİ", "[İ]b", "ßa"),
    *(r"\bk\b", r"t\b", r"\b中", r"a\b.", r"\b[ab]+\b", r"é\b"),
)


# What the words of an index rule out


@given(texts=some.lists(SOME_TEXT, min_size=1, max_size=6), asked=some.data())
@settings(max_examples=examples(300), deadline=None)
def test_no_text_is_ruled_out_that_holds_some_letters(texts: list[str], asked: some.DataObject) -> None:
    text = asked.draw(some.sampled_from(texts))
    start = asked.draw(some.integers(0, len(text) - 1))
    piece = text[start : asked.draw(some.integers(start + 1, len(text)))]
    spelled = asked.draw(some.sampled_from([piece, piece.upper(), piece.lower(), piece.swapcase()]))
    query = Query("", Substring(spelled), ())
    rows = [{"human": one} for one in texts]
    with FullText(rows) as full_text:
        candidates = full_text.candidates(query)
    assert {number for number, row in enumerate(rows) if query.matches(row)} <= candidates


@given(texts=some.lists(SOME_TEXT, min_size=1, max_size=6))
@settings(max_examples=examples(100), deadline=None)
def test_no_text_is_ruled_out_in_which_a_pattern_fits(texts: list[str]) -> None:
    rows = [{"human": one} for one in texts]
    with FullText(rows) as full_text:
        for pattern in PATTERNS:
            query = Query("", Regex(pattern), ())
            found = {number for number, row in enumerate(rows) if query.matches(row)}
            assert found <= full_text.candidates(query), pattern


WORDS = ("config", "get", "name", "names", "user", "username", "usernames", "中文")


@pytest.mark.parametrize(
    ("typed", "expression"),
    [
        ("*sernam*", '"username" OR "usernames" OR "user nam" *'),
        ("*ernames*", '"usernames" OR "user names" *'),
        ("*config(*", '"config"'),
        ("*onfig*", '"config"'),
        ("*get_user*", '"user" * AND "get"'),
        ("*中文*", '"中文"'),
        ("/zz(usernames|config)/", None),
        ("/(usernames|config)/", '("usernames" OR "user names" *) OR "config"'),
        ("*qqq*", None),
    ],
)
def test_letters_are_looked_up_as_the_words_that_hold_them(typed: str, expression: str | None) -> None:
    assert parse(typed).fts(terms=Terms("\n".join(WORDS), 0)).expression == expression


def test_letters_in_too_many_words_rule_nothing_out() -> None:
    terms = Terms("\n".join(sorted(f"{number}tion" for number in range(1_000))), 0)
    assert tuple(parse("*tion*").fts(terms=terms)) == (None, True, True)
    assert tuple(parse("*qqq*").fts(terms=terms)) == (None, False, True)


# What the bytes of a record rule out


def _records(text: str) -> Iterator[bytes]:
    """A text in the ways in which agents and others write it."""
    for record in ({"text": text}, {"arguments": json.dumps({"text": text}, ensure_ascii=False)}):
        yield json.dumps(record, ensure_ascii=False).encode("utf-8", "surrogatepass")
        yield json.dumps(record).encode()
        yield json.dumps(record, ensure_ascii=False).replace("/", r"\/").encode("utf-8", "surrogatepass")


@given(text=ODD_TEXT, asked=some.data())
@settings(max_examples=examples(300), deadline=None)
def test_no_record_is_ruled_out_that_holds_some_letters(text: str, asked: some.DataObject) -> None:
    start = asked.draw(some.integers(0, len(text) - 1))
    piece = text[start : asked.draw(some.integers(start + 1, len(text)))]
    spelled = asked.draw(some.sampled_from([piece, piece.upper(), piece.lower(), piece.swapcase()]))
    assume(Query("", Substring(spelled), ()).matches({"human": text}))
    may_hold = record_filter(Substring(spelled))
    assert may_hold is None or all(map(may_hold, _records(text)))


@given(text=ODD_TEXT)
@settings(max_examples=examples(300), deadline=None)
def test_no_record_is_ruled_out_in_which_a_pattern_fits(text: str) -> None:
    for pattern in PATTERNS:
        may_hold = record_filter(Regex(pattern))
        if may_hold and Query("", Regex(pattern), ()).matches({"human": text}):
            assert all(map(may_hold, _records(text))), pattern


@given(text=ODD_TEXT, asked=some.data())
@settings(max_examples=examples(300), deadline=None)
def test_no_record_is_ruled_out_that_holds_a_word(text: str, asked: some.DataObject) -> None:
    word = asked.draw(some.sampled_from([*re.findall(r"\w+", text), *text.split(), text]))
    spelled = asked.draw(some.sampled_from([word, word.upper(), word.lower(), word.swapcase()]))
    for node in (Words(spelled), Words(spelled, is_quoted=True), Prefix(spelled[:3])):
        may_hold = whole_record_filter(node, ["some mark"])
        if may_hold and Query("", node, ()).matches({"human": text}):
            assert all(map(may_hold, _records(text))), node


def test_what_stands_apart_in_a_record_is_found_across_lines() -> None:
    record = json.dumps({"subject": "alpha omega", "description": "beta gamma"}).encode()
    assert Query("", Regex(r"omega\s+beta"), ()).matches({"thought": "alpha omega\nbeta gamma"})
    for pattern in (r"omega\s+beta", r"omega[^x]beta", r"(?s)omega.beta", "omega\nbeta", r"a\Wbeta"):
        may_hold = record_filter(Regex(pattern))
        assert may_hold is None or may_hold(record), pattern


@pytest.mark.parametrize("indent", [None, 2])
def test_what_goes_on_in_the_next_piece_of_a_record_is_found(indent: int | None) -> None:
    record = json.dumps({"content": [{"text": "the upl"}, {"text": "oad"}]}, indent=indent).encode()
    for leaf in (Substring("upload"), Regex("u.load")):
        may_hold = record_filter(leaf)
        assert may_hold is not None
        assert may_hold(record)
        assert not may_hold(
            record.replace(b'{"text"', b'{"kind"').replace(b'"text": "oad"', b'"kind": "oad"')
        )


def test_a_record_of_which_something_was_moved_is_not_ruled_out() -> None:
    may_hold = whole_record_filter(Words("grapes"), ["<persisted-output>"[1:-1]])
    assert may_hold
    assert not may_hold(b'{"text": "plenty of pears"}')
    assert may_hold(b'{"text": "<persisted-output>\\nsaved to: somewhere"}')
    assert may_hold(b'{"text": "GRAPES"}')


@pytest.mark.parametrize(
    ("typed", "text"),
    [
        ("*grapes*", "plenty of pears"),
        ("/gr[a-z]+es/", "grass, and trees: es"),
        ("/port: \\d+/", "port: none, ports: 80"),
        ("/\\bgrape\\b/", "plenty of grapes, grape_vines and vinegrape"),
        ("*grapes* *pears*", "plenty of pears"),
        ("/(grapes|plums)/", "plenty of pears"),
        ("*中文字*", "中文"),
        ("*é*", "e"),
        ("*ÉTÉ*", "ete, eté"),
        ("*🤖*", "robot"),
    ],
)
def test_most_records_are_ruled_out(typed: str, text: str) -> None:
    tree = parse(typed).tree
    assert tree is not None
    may_hold = record_filter(tree)
    assert may_hold is not None
    assert not may_hold(json.dumps({"text": text}, ensure_ascii=False).encode())


def test_a_pattern_that_may_take_long_is_not_looked_for_in_bytes() -> None:
    assert found_in_bytes("(a+)+b") is None
    assert found_in_bytes("(?:a|a)*c") is None
    assert found_in_bytes("get[a-z]+name") is not None


# All agents


@pytest.mark.slow
@pytest.mark.parametrize("agent", ["gemini", "claude", "codex"])
def test_whatever_a_message_holds_is_found_by_a_piece_of_it(agent: str, tmp_path: Path) -> None:
    drawn = random.Random(agent)
    tried = 0
    homes = sorted((FIXTURES / agent).glob("*/home"))
    for number, home in enumerate(drawn.sample(homes, min(25, len(homes)))):
        with Library([home], tmp_path / str(number), environment={"HOME": str(tmp_path)}) as library:
            for session, place, text in _texts(library):
                start = drawn.randrange(max(len(text) - 6, 1))
                piece = text[start : start + drawn.randint(4, 9)].replace('"', " ").strip()
                if drawn.random() < 0.4 and piece in text and any(map(str.isalnum, piece)):
                    tried += 1
                    asked = Question(f'*"{piece}"*', limit=10_000, per_session=None)
                    found = library.search(asked, NOW)
                    places = {
                        (one.session.number, hit.message.place) for one in found.sessions for hit in one.hits
                    }
                    assert (session, place) in places, (home, piece)
    assert tried > 100


@pytest.mark.slow
@pytest.mark.parametrize("agent", ["gemini", "claude", "codex"])
def test_whatever_a_message_holds_or_was_moved_out_of_it_is_found_by_a_scan(
    agent: str, tmp_path: Path
) -> None:
    drawn = random.Random(agent)
    tried = 0
    for number, home in enumerate(sorted((FIXTURES / agent).glob("*/home"))):
        with Library([home], tmp_path / str(number), environment={"HOME": str(tmp_path)}) as library:
            every = _texts(library, everything=True)
            for session, place, text in drawn.sample(every, min(6, len(every))):
                start = drawn.randrange(max(len(text) - 9, 1))
                piece = text[start : start + 9].replace('"', " ").strip()
                word = drawn.choice(re.findall(r"[^\W_]+", text) or [""])
                for typed in (f'*"{piece}"*' if any(map(str.isalnum, piece)) else "", f'"{word}"', word):
                    node = parse(typed).tree if typed.strip('"') else None
                    if node and Query("", node, ()).matches({"output": text}):
                        tried += 1
                        asked = Question(typed, limit=10_000, per_session=None, scan=True)
                        found = library.search(asked, NOW)
                        places = {
                            (one.session.number, hit.message.place)
                            for one in found.sessions
                            for hit in one.hits
                        }
                        assert (session, place) in places, (home, typed)
    assert tried > 100


def _texts(library: Library, *, everything: bool = False) -> list[tuple[int, int, str]]:
    """What is indexed of each message, or all of it, with the number of its session and its place there."""

    def read(index: Index) -> list[tuple[int, int, str]]:
        sessions = SessionReader(index, library._context.homes, with_outputs=everything)
        numbers = [number for (number,) in index.connection.execute("SELECT id FROM sessions")]
        read = ((number, sessions.numbered(number)) for number in numbers)
        return [
            (number, place, text)
            for number, session in read
            if session is not None
            for place, message in enumerate(session.messages)
            for text in words(message, everything=everything)
            if len(text) > 4
        ]

    return library._context.ask(read)


# How much is read


def _id(number: int) -> str:
    return f"{number:08x}-0000-4000-8000-000000000000"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Twenty sessions, of which one speaks of zorble."""
    for number in range(20):
        said = "theZorbleNet( is down" if number == 7 else f"plain words of number {number}"
        write_session(tmp_path / "home", _id(number), prompt=said)
    return tmp_path / "home"


@pytest.mark.parametrize(
    "typed", ["*orblen*", "*zorblenet(*", "/zorb[a-z]+t/", "*Zorble* *down*", "/(zorble|grapes)/"]
)
def test_only_sessions_are_read_that_may_hold_it(
    home: Path, tmp_path: Path, typed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    texts_of = session_texts.SessionTexts.texts_of

    def noted(self: session_texts.SessionTexts, number: int) -> Iterator[tuple[int, object]]:
        read.append(number)
        return texts_of(self, number)

    monkeypatch.setattr(session_texts.SessionTexts, "texts_of", noted)
    with Library([home], tmp_path / "data") as library:
        found = library.search(typed, NOW)
    assert (len(found.sessions), len(read), found.total.is_exact) == (1, 1, True)
    with Library([home], tmp_path / "data") as library:
        found = library.search(Question(f"{typed} net", scan=True), NOW)
    assert (len(found.sessions), len(read), found.total.is_exact) == (1, 2, True)


# The words beside an index


def test_words_are_written_down_once(home: Path, tmp_path: Path) -> None:
    with Library([home], tmp_path / "data") as library:
        assert library.search("*orblen*", NOW).sessions
        (written,) = (tmp_path / "data" / "index").glob(f"*{TERMS}")
        before = written.stat()
        assert library.search("*umber*", NOW).sessions
        assert written.stat().st_mtime_ns == before.st_mtime_ns
        assert before.st_mode & 0o777 == 0o600


@pytest.mark.parametrize("damage", [b"", b"x", b"5 5\nzorble", None])
def test_damaged_words_are_gathered_again(home: Path, tmp_path: Path, damage: bytes | None) -> None:
    with Library([home], tmp_path / "data") as library:
        library.search("*orblen*", NOW)
        (written,) = (tmp_path / "data" / "index").glob(f"*{TERMS}")
        whole = written.read_bytes()
        written.write_bytes(whole.replace(b"zorble", b"sorble") if damage is None else damage)
        assert len(library.search("*orblen*", NOW).sessions) == 1
        assert written.read_bytes() == whole


def test_what_came_after_the_words_is_found_too(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Library([home], tmp_path / "data") as library:
        library.search("*orblen*", NOW)
    for number in range(90, 94):
        write_session(home, _id(number), prompt=f"all newGrapesAre here {number}")
    with Library([home], tmp_path / "data") as library:
        assert len(library.search("*ewgrap*", NOW).sessions) == 4
        covered = terms_of(library._context.index.open()).covered
        monkeypatch.setattr(terms_module, "FEW", 0)
        assert len(library.search("*ewgrap*", NOW).sessions) == 4
        assert terms_of(library._context.index.open()).covered > covered


def test_words_go_with_their_index(home: Path, tmp_path: Path) -> None:
    with Library([home], tmp_path / "data") as library:
        library.search("*orblen*", NOW)
        (before,) = (tmp_path / "data" / "index").glob(f"*{TERMS}")
        library.sync(full=True)
        assert not before.exists()
        assert len(library.search("*orblen*", NOW).sessions) == 1


def test_words_that_cannot_be_written_are_gathered_for_one_search(home: Path, tmp_path: Path) -> None:
    with Library([home], tmp_path / "data") as library:
        library.sync()
        index = library._context.index.open()
        (tmp_path / "data" / "index" / f"{Path(str(index.path)).name}{TERMS}").mkdir()
        assert len(library.search("*orblen*", NOW).sessions) == 1
