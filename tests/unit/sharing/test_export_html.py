"""HTML pages: what is told and where, and that no word of a session is ever more than a word."""

from __future__ import annotations

import base64
import hashlib
import re
import time
from collections.abc import Iterator
from html import unescape
from html.parser import HTMLParser
from urllib.parse import unquote

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from geminids.core.model import Attachment, Origin, Session, State
from geminids.sharing import export
from geminids.sharing.export.base import Entry
from geminids.sharing.export.html import prose as markdown
from geminids.sharing.export.html.code import PATTERNS, coloured
from geminids.sharing.export.html.document import assets, code_lines
from geminids.sharing.export.html.markup import escaped, text
from geminids.sharing.export.html.pictures import attachment
from geminids.sharing.export.html.prose import prose
from geminids.sharing.transcript import safe
from tests.support.chromium import DIFF, entry_of, picture, readable_session
from tests.support.examples import examples
from tests.support.exporting import exported, fixture_sessions, hostile_session, hostile_words, manner

TAGS = {
    *(
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "script",
        "header",
        "footer",
        "main",
        "nav",
        "article",
    ),
    *(
        "div",
        "p",
        "span",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "a",
        "b",
        "i",
        "pre",
        "code",
        "ins",
        "del",
        "strong",
    ),
    *(
        "em",
        "s",
        "ul",
        "ol",
        "li",
        "dl",
        "dt",
        "dd",
        "blockquote",
        "hr",
        "br",
        "table",
        "thead",
        "tbody",
        "tr",
    ),
    *(
        "th",
        "td",
        "details",
        "summary",
        "time",
        "figure",
        "figcaption",
        "img",
        "svg",
        "rect",
        "label",
        "input",
    ),
    *("output", "button"),
}
"""All that our pages are made of."""
INLINE = {"span", "b", "i", "a", "code", "strong", "em", "s"}
VOID = {"meta", "br", "hr", "img", "input"}
LARGEST_ASSETS = 25_000
LONGEST_SECONDS = 5


class Parsed(HTMLParser):
    """A page as a browser would see it, in little."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.open: list[str] = []
        self.pieces: list[str] = []
        self.contents: dict[str, list[str]] = {"script": [], "style": [], "title": [], "h1": [], "h2": []}
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in INLINE:
            self.pieces.append(" ")
        if tag in self.contents:
            self.contents[tag].append("")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in self.contents:
            self.contents[self.open[-1]][-1] += data
        if not {"script", "style"} & set(self.open):
            self.pieces.append(data)

    @property
    def text(self) -> str:
        """All words that are read, blanks made one."""
        return _in_a_line("".join(self.pieces))

    def values(self, attribute: str) -> list[str]:
        return [attributes[attribute] for _, attributes in self.tags if attribute in attributes]


def _in_a_line(words: str) -> str:
    return " ".join(words.split())


def _page(session: Session, level: str = "thoughts", **options: str) -> str:
    return exported("html", session, level=level, **options).decode()


def _pages() -> Iterator[str]:
    yield _page(hostile_session(), "everything", redacted=next(iter(hostile_words())))
    yield _page(readable_session())
    yield b"".join(export.load("html").contents(_entries(), manner("everything"))).decode()


def _entries() -> list[Entry]:
    sessions = [hostile_session(), readable_session(), *list(fixture_sessions().values())[:20]]
    listed = [entry_of(session, f"{number}.html") for number, session in enumerate(sessions)]
    return [msgspec.structs.replace(listed[0], file='a "b"/<c>: ü?.html', status="<i>"), *listed]


# Nothing but words


@pytest.mark.parametrize("page", list(_pages()), ids=["hostile", "readable", "contents"])
def test_a_page_is_made_of_our_own_tags_only(page: str) -> None:
    parsed = Parsed(page)
    assert {tag for tag, _ in parsed.tags} <= TAGS
    assert parsed.open == []
    names = {name for _, attributes in parsed.tags for name in attributes}
    assert not {name for name in names if name.startswith("on")} | (names & {"style", "srcset", "action"})
    assert all(
        re.match(r"#m-\d+$|#story$|https?:|mailto:|[\w%./-]+\.html$", link) for link in parsed.values("href")
    )
    assert all(re.match(r"data:image/(png|jpeg|gif|webp);base64,", source) for source in parsed.values("src"))


@pytest.mark.parametrize("page", list(_pages()), ids=["hostile", "readable", "contents"])
def test_only_our_script_and_style_may_run(page: str) -> None:
    parsed = Parsed(page)
    (script,), (style,) = parsed.contents["script"], parsed.contents["style"]
    (policy,) = (meta["content"] for tag, meta in parsed.tags if meta.get("http-equiv"))
    assert policy == (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    assert ("meta", {"name": "referrer", "content": "no-referrer"}) in parsed.tags


def _digest(content: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()


@pytest.mark.parametrize("words", hostile_words())
def test_every_hostile_word_is_read_as_it_was_written(words: str) -> None:
    parsed = Parsed(_page(hostile_session(), "everything"))
    assert _in_a_line(safe.text(words)) in parsed.text


def test_names_titles_and_paths_are_words_too() -> None:
    parsed = Parsed(_page(hostile_session(), "everything"))
    assert parsed.contents["title"][0].startswith(
        '</title><script>alert(10)</script>: "quoted" --- # heading'
    )
    assert parsed.contents["h1"][0].startswith('</title><script>alert(10)</script>: "quoted"')
    for words in (
        "/home/ada/</script><script>alert(9)</script>",
        "gemini-<b>2.5</b>",
        "run_<b>shell</b>",
        'gemini:<"evil">',
        "../../<img src=x>",
        'image/svg+xml"><script>alert(7)</script> · javascript:alert(8)',
        '"</script>": [',
        "+</script>",
    ):
        assert words in parsed.text


@given(st.text(st.characters(exclude_categories=()), max_size=200))
def test_words_are_read_as_they_are_once_they_are_harmless(words: str) -> None:
    assert unescape(text(words)) == safe.text(words)


# What is told


def test_the_heading_says_what_session_it_is() -> None:
    heading = Parsed(_page(readable_session())).text
    assert "Project /home/ada/shop Branch cors Agent Gemini CLI, gemini-2.5-pro, gemini-2.5-flash" in heading
    assert "Time 2026-05-01 10:00 to 10:09 UTC (9 min) Status ✓ success" in heading
    assert "Turns 3 prompts, 4 replies, 6 tool calls, 2 errors, 1 dropped" in heading
    assert "10,000 new input 5,000 cache writes 20,000 cached input 1,500 output 1,000 thoughts" in heading


def test_a_name_that_the_user_gave_stands_before_the_title() -> None:
    session = readable_session()
    parsed = Parsed(exported("html", session, names={session.id: "My <name>"}).decode())
    assert parsed.contents["h1"] == ["My <name>"]
    assert "My <name> Fix the failing preflight Project" in parsed.text


def test_messages_are_numbered_as_show_counts_them_and_prompts_are_linked() -> None:
    parsed = Parsed(_page(readable_session()))
    assert [value for value in parsed.values("id") if value.startswith("m-")] == [
        f"m-{n}" for n in range(1, 10)
    ]
    outline = [link for link in parsed.values("href") if link.startswith("#m-")][:4]
    assert outline == ["#m-1", "#m-6", "#m-8", "#m-9"]
    assert "3 prompts, 1 command The browser says" in parsed.text
    assert "! git log --oneline" in parsed.text


def test_the_outline_says_how_many_prompts_are_not_told() -> None:
    session = fixture_sessions()["rewind-jsonl-2/" + _native_id("rewind-jsonl-2")]
    taken_back = [m for m in session.messages if m.state is State.REWOUND and m.origin is Origin.HUMAN]
    asked = session.counts.prompts
    assert taken_back
    assert f"{asked - len(taken_back)} of {asked} prompts" in Parsed(_page(session)).text
    assert f" {asked} prompts" in Parsed(_page(session, "everything")).text.partition("Project")[0]


def _native_id(case: str) -> str:
    return next(name.partition("/")[2] for name in fixture_sessions() if name.startswith(f"{case}/"))


@pytest.mark.slow
def test_every_address_in_a_page_leads_somewhere() -> None:
    for session in [readable_session(), hostile_session(), *fixture_sessions().values()]:
        parsed = Parsed(_page(session, "everything"))
        ids = parsed.values("id")
        assert len(ids) == len(set(ids))
        assert {link[1:] for link in parsed.values("href") if link.startswith("#")} <= set(ids)


@pytest.mark.parametrize(
    ("level", "told", "left_out"),
    [
        ("prompts", "Is that right?", "All tests pass"),
        ("conversation", "All tests pass", "def dispatch"),
        ("tools", "def dispatch", "Looking at the router"),
        ("thoughts", "Looking at the router", "nothing of the kind"),
    ],
)
def test_a_level_tells_what_it_means_everywhere(level: str, told: str, left_out: str) -> None:
    words = Parsed(_page(readable_session(), level)).text
    assert told in words
    assert left_out not in words


def test_what_is_left_out_is_counted() -> None:
    assert "Hidden: 8 replies" in Parsed(_page(readable_session(), "prompts")).text
    assert "Hidden: 1 thought." in Parsed(_page(readable_session(), "tools")).text


def test_a_call_is_a_line_with_the_rest_folded_behind_it() -> None:
    page = _page(readable_session())
    words = Parsed(page).text
    assert "✗ run_shell_command pytest -q exit 1 command pytest -q Output 1 failed zanzibar" in words
    assert "✗ read_file none.py error File not found" in words
    assert "● replace router.py +1 -1" in words
    assert page.count('<details class="call">') == 3
    assert page.count('<details class="call" open>') == 1, "a short change is shown at once"


def test_a_change_is_shown_line_by_line() -> None:
    page = _page(readable_session())
    removed, added = (line for line in DIFF.split("\n")[3:] if line[:1] in {"-", "+"})
    assert f"<del>{removed}\n</del><ins>{added}\n</ins>" in unescape(page)
    assert "--- a/router.py" not in page


def test_tokens_are_told_in_numbers_and_lengths() -> None:
    page = _page(readable_session())
    assert "<title>15,400 tokens: 3,000 new input, 11,000 cached input, 1,400 output</title>" in page
    widths = re.findall(r'<rect class="(\w+)" x="([\d.]+)" width="([\d.]+)"', page.partition("m-4")[2])
    assert widths[:3] == [("fresh", "0.0", "19.5"), ("cached", "19.5", "71.4"), ("output", "90.9", "9.1")]
    assert page.count('class="bar"') == 1 + 3, "the whole, and each turn of which it is known"


def test_pictures_are_drawn_if_they_are_what_they_say() -> None:
    png = picture(3, 2)
    assert f'src="data:image/png;base64,{png}"' in attachment(Attachment("image/png", data=png))
    size = len(base64.b64decode(png))
    assert f"image/png · {size} bytes" in attachment(Attachment("image/png", data=png))
    for refused in (
        Attachment("image/jpeg", data=png),
        Attachment("image/svg+xml", data="PHN2Zy8+"),
        Attachment("text/html", data=png),
        Attachment("image/png", data=png + "!"),
        Attachment("image/png", data=png + '" onload="alert(1)'),
        Attachment("image/png", uri="http://127.0.0.1:1/x.png"),
        Attachment(None),
    ):
        assert "<img" not in attachment(refused)
        assert "▣ " in attachment(refused)


def test_redaction_is_told() -> None:
    assert "Redacted: 2 keys" in Parsed(_page(readable_session(), redacted="2 keys")).text


def test_the_same_session_gives_the_same_bytes() -> None:
    assert exported("html", readable_session()) == exported("html", readable_session())


def test_style_and_script_are_small() -> None:
    for kind in ("session", "contents"):
        used = assets(kind)
        assert len(used.style) + len(used.script) < LARGEST_ASSETS


def test_comments_of_any_length_stay_behind() -> None:
    written = "/* one */\na { b: c; }\n  /* of\n  two } lines */ d { }\n// gone\nx = 'http://y'; // stays\n\n"
    assert code_lines(written) == ["a { b: c; }", "d { }", "x = 'http://y'; // stays"]


def test_no_line_of_a_comment_is_left_in_what_runs() -> None:
    for kind in ("session", "contents"):
        used = assets(kind)
        assert used.style.count("/*") == used.style.count("*/") == 0
        assert not re.search(r"^(?://|/\*|\*)", used.script, re.MULTILINE)


# The list of sessions


def test_the_list_begins_with_the_newest_and_links_each_file() -> None:
    entries = _entries()
    page = b"".join(export.load("html").contents(entries, manner("everything"))).decode()
    times = [value for value in Parsed(page).values("data-key") if value]
    assert times == sorted(times, reverse=True)
    assert {unquote(link) for link in Parsed(page).values("href")} == {entry.file for entry in entries}
    again = b"".join(export.load("html").contents(reversed(entries), manner("everything"))).decode()
    assert again == page


def test_what_is_said_of_redaction_is_true_of_the_whole_folder() -> None:
    redacted, plain = (
        msgspec.structs.replace(entry, redacted=hidden)
        for entry, hidden in zip(_entries()[:2], (True, False), strict=True)
    )

    def listed(*entries: Entry) -> str:
        chosen = manner("everything", redacted="2 keys")
        return Parsed(b"".join(export.load("html").contents(entries, chosen)).decode()).text

    assert "Redacted: 2 keys" in listed(redacted)
    assert "edacted" not in listed(plain)
    mixed = listed(redacted, plain)
    assert "Redacted: 1 of 2 sessions" in mixed
    assert "2 keys" not in mixed
    assert (mixed.count("(redacted)"), mixed.count("(not redacted)")) == (1, 1)


def test_subagents_are_listed_as_such() -> None:
    entry = msgspec.structs.replace(_entries()[1], kind="subagent", title="Look around")
    page = b"".join(export.load("html").contents([entry], manner("everything"))).decode()
    assert "↳ Look around" in Parsed(page).text


# Markdown


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (
            "````text\n```py\nx\n```\n````",
            '<pre class="code" data-info="text"><code>```py\nx\n```\n</code></pre>\n',
        ),
        ("~~~\n```\n~~~", '<pre class="code"><code>```\n</code></pre>\n'),
        ("[a](javascript:x)", "<p>[a](javascript:x)</p>\n"),
        ("[a](file:///etc/passwd)", "<p>[a](file:///etc/passwd)</p>\n"),
        (
            "[a](http://127.0.0.1 'b\"c')",
            '<p><a href="http://127.0.0.1" rel="noopener noreferrer" title="b&quot;c">a</a></p>\n',
        ),
        (
            "![a](http://127.0.0.1/x.png)",
            '<p><span class="picture">▣ a <span class="quiet">http://127.0.0.1/x.png</span></span></p>\n',
        ),
        ("[a]: http://127.0.0.1", "<p>[a]: http://127.0.0.1</p>\n"),
        ("<b onclick=x>&amp;", "<p>&lt;b onclick=x&gt;&amp;</p>\n"),
        ("a &#8238; b", "<p>a &lt;U+202E&gt; b</p>\n"),
        ("### a\n\n# b", "<h4>a</h4>\n<h3>b</h3>\n"),
        ("|a|\n|-|\n|b|lost|", '<div class="said">|a|\n|-|\n|b|lost|</div>\n'),
    ],
)
def test_markdown_becomes_what_it_means_and_loses_nothing(written: str, expected: str) -> None:
    assert prose(written) == expected


def test_columns_of_numbers_stand_right() -> None:
    assert '<th class="number">n</th>' in prose("|n|\n|-:|\n|1|")


PIECES = (
    *(
        "word",
        "Word ",
        "`code`",
        "`a **b`",
        "**bold**",
        "**Note:**",
        "**open",
        "snake_case",
        "_em_",
        "*em*",
        "x",
        "1",
    ),
    *(
        " ",
        "  ",
        "\n",
        "\n\n",
        "\n\n",
        "  \n",
        "\t",
        "\u00a0",
        "\\",
        "\\*",
        "\\\n",
        "~",
        "~~s~~",
        "|",
        "!",
        "é",
        ":",
    ),
    *(
        "\n    indented",
        "\n- item",
        "\n-  item `c`",
        "\n* item",
        "\n1. item",
        "\n  more",
        "\n> quote",
        "\n# head",
    ),
    *("\n---", "\n===", "\n```py\n", "\n```\n", "\n~~~\n", "\n````\n", "\n ```\n", "\n|a|b|\n|-|-|\n|c|d|\n"),
    *(
        "<b>",
        "&lt;",
        "& ",
        "&#8238;",
        "[a](http://x)",
        "[a](javascript:x)",
        "\n[r]: http://x\n",
        "[r]",
        "<http://x>",
    ),
    *('"q"', "(p)", "*", "**", "_", "`", "``", "+", "\n   ", "\n\t", "<"),
)


@settings(deadline=None, max_examples=examples(400))
@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
@example("word\t\n- item")
@example("word\xa0\n- item")
def test_the_short_way_gives_what_the_parser_gives(written: str) -> None:
    assert prose(written) == markdown._parsed(safe.text(written))


@pytest.mark.parametrize(
    "words",
    [
        "[" * 60_000,
        "**a" * 20_000,
        "`a" * 30_000,
        " " * 100_000 + "x",
        "\n".join([" " * 1000] * 200),
        "a_" * 40_000,
        "> " * 5_000 + "x",
        "```\n" * 20_000,
        "~" * 50_000,
        "- " * 5_000,
        "|" * 40_000 + "\n|-|",
        "<a" * 20_000,
        "![" * 12_000,
        "*a _b " * 8_000,
    ],
    ids=lambda words: repr(words[:6]),
)
def test_no_text_takes_long(words: str) -> None:
    begin = time.process_time()
    prose(words)
    assert time.process_time() - begin < LONGEST_SECONDS


# Code


@given(
    st.text(st.sampled_from("aif \"'`/*#$\\{}()<>&-=:.\n\t13Té"), max_size=120),
    st.sampled_from([*sorted(PATTERNS), "html", "ruby", "unheard-of", ""]),
)
@settings(deadline=None, max_examples=examples(400))
def test_colours_change_no_letter(code: str, language: str) -> None:
    shown = re.sub(r"<span class=[kscn]>|</span>", "", coloured(code, language))
    assert shown == escaped(code)


@pytest.mark.parametrize(
    ("language", "code", "expected"),
    [
        (
            "python",
            'return "a"  # b',
            '<span class=k>return</span> <span class=s>"a"</span>  <span class=c># b</span>',
        ),
        (
            "ts",
            "let a = `b` // c",
            "<span class=k>let</span> a = <span class=s>`b`</span> <span class=c>// c</span>",
        ),
        ("rust", "fn f<'a>() { 1 }", "<span class=k>fn</span> f&lt;'a&gt;() { <span class=n>1</span> }"),
        ("JSON", '{"a": null}', '{<span class=k>"a"</span>: <span class=n>null</span>}'),
        ("sh", "echo $HOME", "<span class=k>echo</span> <span class=n>$HOME</span>"),
        ("sql", "SELECT 'x'", "<span class=k>SELECT</span> <span class=s>'x'</span>"),
        ("yaml", "a: true", "<span class=k>a</span>: <span class=n>true</span>"),
        ("ruby", "def a", "<span class=k>def</span> a"),
        ("diff", "-a\n+b", "<del>-a\n</del><ins>+b\n</ins>"),
    ],
)
def test_code_is_coloured(language: str, code: str, expected: str) -> None:
    assert coloured(code, language) == expected


@pytest.mark.slow
@pytest.mark.parametrize(
    "sign", ['"', "'", "`", "/*", "/* ", '"""', "#", "\\", '"\\', "'a ", "\\`", "${", "a", "1", "-", "'''"]
)
def test_no_code_takes_long(sign: str) -> None:
    begin = time.process_time()
    for language in {pattern: language for language, pattern in PATTERNS.items()}.values():
        coloured((sign * 20_000)[:20_000], language)
    assert time.process_time() - begin < LONGEST_SECONDS
