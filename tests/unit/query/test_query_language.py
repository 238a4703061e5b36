"""What people type to search, and what it finds: against FTS5 and against a scan of the texts."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from geminids.core.errors import WRONG_USAGE
from geminids.faces.cli import search_answer
from geminids.query.search.filters import PLACES
from geminids.query.search.language import Query, QuerySyntaxError, _by_grammar, parse
from geminids.query.search.question import Question
from geminids.query.search.tree import And, Node, Not, Or, Prefix, Regex, Substring, Words
from geminids.storage.index import schema
from geminids.storage.text.snippets import cut
from geminids.storage.text.words import Want, Way
from tests.conftest import NOW, ROOT
from tests.support.examples import examples
from tests.support.full_text import FullText


def _told(node: Node | None) -> str:
    """A tree in little."""
    match node:
        case None:
            return ""
        case And(parts):
            return f"({' & '.join(map(_told, parts))})"
        case Or(parts):
            return f"({' | '.join(map(_told, parts))})"
        case Not(part):
            return f"!{_told(part)}"
        case Words(text, _, is_quoted):
            return f'"{text}"' if is_quoted else text
        case Prefix(text):
            return f"{text}~"
        case Substring(text):
            return f"*{text}*"
        case Regex(pattern):
            return f"/{pattern}/"


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("cors", "cors"),
        ("cors preflight", "(cors & preflight)"),
        ("cors AND preflight", "(cors & preflight)"),
        ('"cors preflight" x', '("cors preflight" & x)'),
        ("“cors preflight”", '"cors preflight"'),
        ("a OR b", "(a | b)"),
        ("a | b || c", "(a | b | c)"),
        ("a|b", "(a | b)"),
        ("a b OR c d", "(a & (b | c) & d)"),
        ("(a b) OR c", "((a & b) | c)"),
        ("a or b", "(a & or & b)"),
        ("a -b", "(a & !b)"),
        ("a NOT b", "(a & !b)"),
        ("a NOT NOT b", "(a & b)"),
        ("a -(b OR c)", "(a & !(b | c))"),
        ('a -"b c"', '(a & !"b c")'),
        ("((a))", "a"),
        ("() a ()", "a"),
        ("pre*", "pre~"),
        ('"get us"*', "get us~"),
        ("*fix*", "*fix*"),
        ("*fix", "*fix*"),
        ('*"foo(bar"*', "*foo(bar*"),
        ('a *"b c"', "(a & *b c*)"),
        ("foo.*", "foo.*"),
        ("a*b", "a*b"),
        ("**kwargs", "**kwargs"),
        ("SELECT * x", "(SELECT & x)"),
        ("/time ?out/", "/time ?out/"),
        (r"/a\/b+/ c", "(/a/b+/ & c)"),
        ("(/a+/ OR b)", "(/a+/ | b)"),
        ("-/a+/ b", "(!/a+/ & b)"),
        ("=>", "*=>*"),
        ("-> =>", "(*->* & *=>*)"),
        ("🤖", "*🤖*"),
        ("a => b", "(a & b)"),
    ],
)
def test_what_is_meant(typed: str, meant: str) -> None:
    assert _told(parse(typed).tree) == meant


@pytest.mark.parametrize(
    ("pasted", "meant"),
    [
        (
            "Error: Cannot find module './x' (code: 'MODULE_NOT_FOUND')",
            "(Error: & Cannot & find & module & './x' & (code: & 'MODULE_NOT_FOUND'))",
        ),
        ('File "/usr/lib/x.py", line 5', '(File & "/usr/lib/x.py" & line & 5)'),
        ("main(int argc, char **argv)", "(main(int & argc, & char & **argv))"),
        ("TypeError: f() takes 0 (1 given", "(TypeError: & f() & takes & 0 & 1 & given)"),
        ("TypeError: f() takes 0 given)", "(TypeError: & f() & takes & 0 & given))"),
        ("(see above), please", "((see & above) & please)"),
        ('unexpected token "', "(unexpected & token)"),
        ("5\" disk don't", "(5\" & disk & don't)"),
        ("http://localhost:8080/x?y=1", "http://localhost:8080/x?y=1"),
        ("file:///home/x", "file:///home/x"),
        ("std::vector TypeError:foo node:fs 12:30", "(std::vector & TypeError:foo & node:fs & 12:30)"),
        (r"C:\x\y", r"C:\x\y"),
        ("code: 5 file: x", "(code: & 5 & file: & x)"),
        ("npm install --save-dev", "(npm & install & --save-dev)"),
        ("a -> b - c", "(a & b & c)"),
        ("exit code -1", "(exit & code & -1)"),
        ("/etc/hosts", "/etc/hosts"),
        ("/usr/lib/x.py /tmp/ src/app/", "(/usr/lib/x.py & /tmp/ & src/app/)"),
        ("/.config/ /a.b/", "(/.config/ & /a.b/)"),
        ("cd /foo && rm bar/ x", "(cd & /foo & rm & bar/ & x)"),
        ("s/foo+/bar/g", "s/foo+/bar/g"),
        ("| grep x |", "(grep & x)"),
        ("git@github.com:o/r.git", "git@github.com:o/r.git"),
    ],
)
def test_pasted_text_is_words(pasted: str, meant: str) -> None:
    query = parse(pasted)
    assert _told(query.tree) == meant
    assert query.filters == ()


def _error(typed: str) -> QuerySyntaxError:
    with pytest.raises(QuerySyntaxError) as caught:
        parse(typed, NOW)
    assert caught.value.exit_code == WRONG_USAGE
    return caught.value


@pytest.mark.parametrize(
    ("typed", "column", "says"),
    [
        ("", 1, "Search for what?"),
        ("  ", 1, "Search for what?"),
        ("()", 1, "no word"),
        ("-a", 1, "what to exclude"),
        ("a OR -b", 1, "what to exclude"),
        ("NOT =>", 1, "no word"),
        ('x "a b', 3, "never closed"),
        ("x (a OR b", 3, "never closed"),
        ("(a -b", 1, "never closed"),
        ("a OR", 3, "both sides"),
        ("OR a", 1, "both sides"),
        ("a OR OR b", 3, "both sides"),
        ("(a OR) b", 4, "both sides"),
        ("a AND", 3, "both sides"),
        ("a NOT", 3, "Nothing follows"),
        ("(a NOT) b", 4, "Nothing follows"),
        ("a /b(/", 5, "missing )"),
        ("/" + "[\0-\uffff]" * 20 + "/", 1, "too large"),
        ("proejct:x", 1, "did you mean project:"),
        ("a tools:x", 3, "did you mean tool:"),
        ("after:7d", 1, "did you mean since:"),
        ("path:src", 1, "did you mean file:"),
        ("status:foo", 1, "success, failure, interrupted, cancelled and error"),
        ("role:me x", 1, "user, assistant and system"),
        ("in:human,nowhere x", 1, "thoughts"),
        ("in:human -in:human x", 11, "Nothing is left"),
        ("x since:nope", 3, "Cannot read the time"),
        ("-since:7d x", 2, "negated"),
        ("a OR agent:b", 6, "the whole query"),
        ("agent:b OR a", 1, "the whole query"),
        ("(agent:b a)", 2, "the whole query"),
        ("x" * 10_001, 10_000, "10,000 characters"),
        ("a " * 501, 1, "500 words"),
        ("(" * 17 + "a" + ")" * 17, 17, "16 deep"),
    ],
)
def test_what_cannot_be_understood_is_said_with_its_place(typed: str, column: int, says: str) -> None:
    error = _error(typed)
    assert error.column == column
    assert says in str(error)
    assert "For example: geminids search" in str(error)


def test_the_place_is_pointed_at() -> None:
    lines = str(_error('中文 "a b')).splitlines()
    assert lines[1:3] == ['  中文 "a b', "       ^"]


def test_a_long_query_is_shown_around_the_place() -> None:
    lines = str(_error("word " * 100 + 'x\x1b\n"a b ' + "word " * 100)).splitlines()
    assert lines[1].index('"') == lines[2].index("^")
    assert len(lines[1]) < 130
    assert "\x1b" not in lines[1]


@pytest.mark.parametrize(
    "typed", ["(" * 5_000, "NOT " * 2_000 + "a", "-(" * 3_000, "(a " * 3_000, "|" * 9_000, "*" * 9_000]
)
def test_deep_and_odd_queries_are_answered(typed: str) -> None:
    start = time.process_time()
    with contextlib.suppress(QuerySyntaxError):
        parse(typed)
    assert time.process_time() - start < 1


@given(some.text(some.sampled_from("ab中-|()\"*/:\\. +?[]{}^$OR NOTANDagent:is'“”\n"), max_size=40))
@settings(max_examples=examples(300), deadline=None)
def test_whatever_is_typed_is_a_query_or_an_error_of_ours(typed: str) -> None:
    with contextlib.suppress(QuerySyntaxError):
        query = parse(typed, NOW)
        row = dict.fromkeys(schema.COLUMNS, typed)
        with FullText([row]) as full_text:
            candidates = full_text.candidates(query)
        assert query.matches(row) == bool(candidates) or (query.fts().must_verify and candidates)


# Filters


def test_filters_are_taken_out_of_the_query() -> None:
    query = parse('agent:gemini cors project:"my shop" -file:x.py preflight -is:rewound,failed')
    assert _told(query.tree) == "(cors & preflight)"
    assert query.wanted("agent") == ("gemini",)
    assert query.wanted("project") == ("my shop",)
    assert query.unwanted("file") == ("x.py",)
    assert query.unwanted("is") == ("rewound", "failed")
    assert [f.column for f in query.filters] == [1, 19, 38, 59, 59]


@pytest.mark.parametrize(
    "typed", ["agent:a agent:b x", "agent:a OR agent:b x", "agent:a | agent:b AND x", "x AND agent:a agent:b"]
)
def test_several_values_are_alternatives(typed: str) -> None:
    query = parse(typed)
    assert query.wanted("agent") == ("a", "b")
    assert _told(query.tree) == "x"


def test_filters_alone_are_a_query() -> None:
    query = parse("agent:gemini since:7d before:yesterday since:3d", NOW)
    assert query.tree is None
    assert tuple(query.fts()) == (None, True, False)
    assert query.matches({})
    assert query.since == NOW - timedelta(days=3)
    assert query.before == datetime(2026, 6, 14, tzinfo=UTC)


def test_negations_are_a_query_beside_filters() -> None:
    assert tuple(parse("-cors agent:gemini").fts()) == ('"cors" OR "c ors" OR "co rs"', True, False)


def test_moments_count_back_from_now() -> None:
    since = parse("x since:1h").since
    assert since is not None
    assert abs(datetime.now(UTC) - timedelta(hours=1) - since) < timedelta(minutes=1)


@pytest.mark.parametrize(
    ("typed", "columns"),
    [
        ("x", schema.COLUMNS),
        ("in:human x", ("human",)),
        ("in:thoughts,output in:path x", ("thought", "output", "path")),
        ("in:thought,argument,tool,outputs x", ("thought", "output", "tool")),
        ("-in:output x", ("human", "model", "thought", "tool", "path", "other")),
    ],
)
def test_where_a_hit_may_come_from(typed: str, columns: tuple[str, ...]) -> None:
    assert set(parse(typed).columns) == set(columns)


def test_every_column_of_the_index_can_be_named() -> None:
    # The command line has them too, so that its help need not load anything.
    assert set(search_answer.PLACES) == set(PLACES)
    assert Question("").limit == search_answer.LIMIT
    assert set(PLACES.values()) == set(schema.COLUMNS)


# What is found


TEXTS = (
    {"human": "fix the CORS preflight", "model": "done", "path": "src/getUserName.py"},
    {"human": "preflight", "output": "CORS error: time out (0x80)"},
    {"thought": "GitHub or github?", "tool": "run npm test"},
    {"model": "我们测试中文字", "output": "Timeout\nafter 30s"},
)


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("cors preflight", {0, 1}),
        ('"cors preflight"', {0}),
        ("cors -done", {1}),
        ("preflight NOT (done OR nothing)", {1}),
        ("in:human cors", {0}),
        ("in:output,human cors preflight", {0, 1}),
        ("in:human cors OR done", {0}),
        ("getusername", set()),
        ("username", {0}),
        ("getUserName", {0}),
        ("get_user", {0}),
        ("src/getUserName.py", {0}),
        ("github", {2}),
        ("GitHub", {2}),
        ('"git hub"', {2}),
        ("文字", {3}),
        ("文", {3}),
        ("测试中", {3}),
        ("中测", set()),
        ("*efli*", {0, 1}),
        ("/time ?out/", {1, 3}),
        ("/^after/ -cors", {3}),
        ('*"(0x80)"*', {1}),
        ("time*", {1, 3}),
        ("a OR -cors agent:x", {2, 3}),
    ],
)
def test_what_is_found(typed: str, found: set[int]) -> None:
    query = parse(typed)
    assert {n for n, texts in enumerate(TEXTS) if query.matches(texts)} == found
    with FullText(TEXTS) as full_text:
        candidates = full_text.candidates(query)
    assert {n for n in candidates if query.matches(TEXTS[n])} == found
    assert query.fts().must_verify or candidates == found


VOCABULARY = (
    *("foo", "bar", "fooBar", "foobar", "Bar", "b", "ba", "x1", "30", "foo-bar", "b(ar"),
    *("中文", "中文字", "文", "é", "e"),
)
SOME_TEXT = some.lists(some.sampled_from(VOCABULARY), max_size=4).flatmap(
    lambda words: some.sampled_from((" ", ", ", "-")).map(lambda between: between.join(words))
)
SOME_ROW = some.dictionaries(some.sampled_from(schema.COLUMNS), SOME_TEXT, max_size=3)
SOME_WORD = some.sampled_from(VOCABULARY)
EXACT_LEAF = some.one_of(
    SOME_WORD.map(Words),
    SOME_TEXT.filter(lambda text: any(map(str.isalnum, text))).map(lambda text: Words(text, is_quoted=True)),
    SOME_WORD.map(Prefix),
)
PATTERNS = (
    *("fo+", "foo.bar", "foo bar", r"b\(?ar", "(foo|文)", r"x\d", "中?文"),
    *("^foo", "-bar$", "foo, (foo)?bar", " 30,"),
)
OTHER_LEAF = some.one_of(
    some.sampled_from((*VOCABULARY, "oo", "o b", ", ", "-foo", " 30", "文字", "oo-ba", "(a")).map(Substring),
    some.sampled_from(PATTERNS).map(Regex),
)


def _trees(leaf: some.SearchStrategy[Node]) -> some.SearchStrategy[Node]:
    return some.recursive(
        leaf,
        lambda inner: some.one_of(
            some.lists(inner, min_size=2, max_size=3).map(lambda parts: And(tuple(parts))),
            some.lists(inner, min_size=2, max_size=3).map(lambda parts: Or(tuple(parts))),
            inner.map(Not),
        ),
        max_leaves=6,
    )


SOME_COLUMNS = some.sets(some.sampled_from(schema.COLUMNS), min_size=1).map(
    lambda chosen: tuple(column for column in schema.COLUMNS if column in chosen)
)


@given(rows=some.lists(SOME_ROW, max_size=8), tree=_trees(EXACT_LEAF), columns=SOME_COLUMNS)
@settings(max_examples=examples(300), deadline=None)
def test_the_index_finds_what_a_scan_finds(
    rows: list[dict[str, str]], tree: Node, columns: tuple[str, ...]
) -> None:
    query = Query("", tree, (), columns)
    with FullText(rows) as full_text:
        found = full_text.candidates(query)
    assert not query.fts().must_verify
    assert found == {n for n, row in enumerate(rows) if query.matches(row)}


@given(rows=some.lists(SOME_ROW, max_size=8), tree=_trees(EXACT_LEAF | OTHER_LEAF), columns=SOME_COLUMNS)
@settings(max_examples=examples(300), deadline=None)
def test_no_match_is_missing_among_the_candidates(
    rows: list[dict[str, str]], tree: Node, columns: tuple[str, ...]
) -> None:
    query = Query("", tree, (), columns)
    with FullText(rows) as full_text:
        found = full_text.candidates(query)
    matching = {n for n, row in enumerate(rows) if query.matches(row)}
    assert matching <= found
    assert query.fts().must_verify or matching == found


@pytest.mark.parametrize("text", ["x FooBar y", "x(fOOBAR)", "a.foobarBaz", "x foobars"])
def test_capitals_within_a_word_hide_no_substring(text: str) -> None:
    for query in (parse(f'*"{text[1:5]}"*'), parse('*" foobar"*'), parse(r"/[ (.]foobar/")):
        with FullText([{"human": text}]) as full_text:
            assert full_text.candidates(query) or not query.matches({"human": text})


def test_the_largest_query_is_one_for_fts5() -> None:
    words = [f"someword{number}" for number in range(500)]
    deep = "a"
    for number in range(8):
        deep = f"(w{number} (x{number} OR -y{number} OR {deep}))"
    with FullText(TEXTS) as full_text:
        for typed in (" ".join(words), " | ".join(words), " -".join(words), f"z {deep}", f"z -{deep}"):
            assert full_text.candidates(parse(typed)) == set()


def test_what_is_looked_for_is_highlighted() -> None:
    query = parse('cors -test "pre flight" time* *out* /x+/ agent:a')
    assert query.positive == (
        Want("cors"),
        Want("pre flight", Way.PHRASE),
        Want("time", Way.PREFIX),
        Want("out", Way.SUBSTRING),
        Want("x+", Way.REGEX),
    )
    assert parse("agent:a").positive == ()
    snippet = cut("a CORS error", parse("cors").positive)
    assert snippet is not None
    assert snippet.spans == ((2, 6),)


def test_a_slow_pattern_stays_slow_only() -> None:
    start = time.process_time()
    assert not parse("/x*y$/").matches({"output": "x" * 20_000 + "\n" + "ab " * 100_000})
    assert time.process_time() - start < 20


HEAVY = {
    "msgspec",
    "pathlib",
    "click",
    "dataclasses",
    "inspect",
    "unicodedata",
    "difflib",
    "geminids.core.model",
}
LOADED = (
    "import sys; from geminids.query.search.language import parse\n"
    "parse('a in:path').fts(); print(*sys.modules)"
)


def test_little_is_loaded_to_understand_a_query() -> None:
    source = {"PYTHONPATH": str(ROOT / "src")}
    loaded = subprocess.run([sys.executable, "-S", "-c", LOADED], env=source, capture_output=True, check=True)
    assert HEAVY.isdisjoint(loaded.stdout.decode().split())


@given(
    some.lists(some.sampled_from(["cors", "AND", "Or", "中文", "naïve", "x1", "getUser", "42"]), min_size=1)
)
def test_what_most_people_type_needs_no_grammar_and_means_the_same(typed: list[str]) -> None:
    plain = " ".join(typed)
    for text in (plain, f'"{plain}"', f"{plain} "):
        try:
            whole = _by_grammar(text, None)
        except QuerySyntaxError:
            with pytest.raises(QuerySyntaxError):
                parse(text)
        else:
            assert parse(text) == whole
