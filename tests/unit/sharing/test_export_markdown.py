"""Markdown: readable on a forge, and nothing that a session says can break it or act on a page."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from geminids.core import agents
from geminids.core.model import (
    Message,
    Origin,
    Plain,
    Role,
    Session,
    State,
    Text,
    Thought,
    ToolCall,
    ToolKind,
    ToolStatus,
)
from geminids.sharing import export
from geminids.sharing.export.attachments import attachment_files
from geminids.sharing.export.base import Entry
from geminids.sharing.export.contained import contained
from geminids.sharing.export.fences import code, fenced, literal, quoted
from geminids.sharing.export.references import as_code
from geminids.sharing.transcript import safe
from geminids.sharing.transcript.entries import LEVELS, Turn, transcript
from tests.conftest import FIXTURES
from tests.support.exporting import (
    exported,
    fixture_sessions,
    hostile_session,
    hostile_words,
    looked_at_sessions,
    manner,
)
from tests.support.reading import sessions as read_sessions
from tests.support.rendering import addresses, front_matter, headings, tags, tokens, words_of

OURS = re.compile(r"<details><summary>(?:[^<>]|<code>[^<>]*</code>)*</summary>\n?|</details>\n?")
"""The only tags that we write."""
MENTION = re.compile(r"(?<![\w/])@[A-Za-z0-9]|(?<![\w&/])[#!]\d+\b")
"""What a forge would take for a person or an issue."""

SIGNS = (
    *(
        "word",
        "<b>",
        "<img src=x onerror=1>",
        "</details>",
        "<details>",
        "<!--",
        "<script>",
        "<http://q>",
        "&lt;",
    ),
    *("`", "``", "```", "````", "~~~", "~~~~", "\n```\n", "\n    ```\n", "\n   ```js\n", "\n- ```\n"),
    *(
        "\n",
        "\n\n",
        " ",
        "  ",
        "    ",
        "\t",
        "\\",
        "\\`",
        "|",
        "| - | - |",
        "*",
        "_",
        "**",
        "===",
        "---",
        "***",
    ),
    *(
        "- ",
        "* ",
        "1. ",
        "2. ",
        "10. ",
        "-",
        "+ ",
        "> ",
        ">",
        ">>>",
        "# ",
        "## ",
        "\n  - b\n",
        "\n1. c\n",
        "\n10. d\n",
    ),
    *(
        "[x]",
        "](",
        "(",
        ")",
        "![",
        "![a](http://b/c)",
        "[a](javascript:x)",
        "]: ",
        "\n[a]: javascript:x\n",
        "[a]",
    ),
    *("@name", " @a/b_", "#12", "a/b#3", "!4", "a@b.org", "http://q/@x#1"),
)
hostile_text = st.one_of(
    st.lists(st.sampled_from(SIGNS), max_size=25).map("".join),
    st.text(max_size=60),
    st.sampled_from(list(hostile_words())),
)


def text_of(session: Session, **options: Any) -> str:
    return exported("markdown", session, **options).decode()


def turns(session: Session, level: str) -> list[Turn]:
    """The turns that have a heading."""
    entries = transcript(session, LEVELS[level])
    return [entry for entry in entries if isinstance(entry, Turn) and not entry.continues]


def check_structure(document: str, session: Session, level: str) -> None:
    """One title, a heading for each turn, all folds closed, no tag that is not ours, nothing fetched."""
    first_two = [(tag, depth) for tag, depth, _ in headings(document) if tag in {"h1", "h2"}]
    assert first_two == [("h1", 0), *[("h2", 0)] * len(turns(session, level))]
    found = tags(document)
    assert all(OURS.fullmatch(tag) for tag in found)
    opened = [tag.startswith("<details>") for tag in found]
    assert opened == [True, False] * (len(found) // 2)
    assert not [token for token in tokens(document) if token.type == "image"]
    assert not [
        address
        for address in addresses(document)
        if ":" in address and not address.startswith(("http", "mailto:"))
    ]


@pytest.mark.parametrize("level", LEVELS)
def test_hostile_words_neither_break_the_structure_nor_act(level: str) -> None:
    session = hostile_session()
    fields, document = front_matter(text_of(session, level=level))
    assert fields["title"] == safe.line(str(session.title))
    check_structure(document, session, level)


@pytest.mark.parametrize("name", sorted(fixture_sessions()))
def test_every_recorded_session_has_a_heading_for_each_turn(name: str) -> None:
    session = fixture_sessions()[name]
    fields, document = front_matter(text_of(session, level="everything"))
    assert fields["id"] == session.id
    check_structure(document, session, "everything")


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(words=hostile_text, title=hostile_text, level=st.sampled_from(list(LEVELS)))
def test_whatever_is_said_the_structure_is_the_same(words: str, title: str, level: str) -> None:
    session, same = spoken(words, title), spoken("word", "title")
    fields, document = front_matter(text_of(session, level=level))
    assert list(fields) == list(front_matter(text_of(same, level=level))[0])
    assert fields["title"] == safe.line(title or "untitled").translate({0xFFFE: 0xFFFD, 0xFFFF: 0xFFFD})
    check_structure(document, session, level)
    assert len(tags(document)) == len(tags(front_matter(text_of(same, level=level))[1]))


def spoken(words: str, title: str) -> Session:
    """A session in which everybody says the same."""
    pattern = hostile_session()
    call = ToolCall(
        "c1", words or "tool", ToolKind.EXECUTE, {"command": words}, ToolStatus.ERROR, display=Plain(words)
    )
    human, model, _, notice, _ = pattern.messages
    messages = (
        with_parts(human, Text(words, Origin.HUMAN)),
        with_parts(model, Thought(words, words), Text(words, Origin.MODEL), call, Text(words, Origin.MODEL)),
        with_parts(notice, Text(words, Origin.NOTICE)),
        with_parts(
            human, Text(words, Origin.INJECTED), Text(words, Origin.COMMAND), Text(words, Origin.HUMAN)
        ),
    )
    return msgspec.structs.replace(pattern, title=title, messages=messages)


def with_parts(message: Message, *parts: Any) -> Message:
    return msgspec.structs.replace(message, parts=parts)


@settings(deadline=None)
@given(hostile_text)
def test_what_the_human_typed_is_shown_letter_by_letter(typed: str) -> None:
    words = safe.text(typed).strip("\n")
    assert squeezed(words_of(quoted(words))) == squeezed(words)


@settings(deadline=None)
@given(hostile_text)
def test_a_line_of_words_is_shown_letter_by_letter(typed: str) -> None:
    words = safe.line(typed)
    assert squeezed(words_of(literal(words))) == squeezed(words)
    assert squeezed(words_of(code(words))) == squeezed(words)


@settings(deadline=None)
@given(hostile_text)
def test_a_block_of_code_holds_exactly_what_it_was_given(typed: str) -> None:
    words = safe.text(typed)
    assert words_of(fenced(words, "diff")) == words.strip("\n")


def squeezed(words: str) -> str:
    """Words without what blanks do to them: a page shows any number as one."""
    return re.sub(r"\s+", " ", words).strip()


def test_code_of_the_model_is_left_as_it_is() -> None:
    said = "Use `Vec<T>` and\n\n1. this:\n   ```html\n   <b># no heading</b>\n   ```\n\n~~~\n![x](y)\n~~~"
    assert contained(said) == said


def test_headings_of_the_model_stand_below_ours() -> None:
    said = "# One\n\n## Two\n\n##### Five\n\n> # Quoted\n\n- # In a list\n\nUnder\n===\n\nlined\n---\n\n#none"
    assert [tag for tag, _, _ in headings(contained(said))] == ["h3", "h4", "h6", "h3", "h3"]


def test_a_fence_that_the_model_left_open_is_closed() -> None:
    assert contained("```sh\nls") == "```sh\nls\n```"
    assert contained("- a\n  ~~~~\n  b\nc") == "- a\n  ~~~~\n  b\n  ~~~~\nc"


def test_a_fence_that_is_none_for_some_is_none() -> None:
    assert tags(contained("text\n10. x\n    ```\n    <b>\n    ```")) == []
    assert tags(contained("> ```\n<b>\n> ```")) == []
    assert tags(contained("# h\n2. x\n     ```\n     a\n   ```\n   <b>\n   ```")) == []


@pytest.mark.parametrize(
    "said",
    [
        "a ` b\nc ` <b> ` d",
        "| x | y |\n| - | - |\n| `a | b` ` <b> ` |",
        "[x](a`b) <b> `",
        "\\`<b>`",
        "# a `\n<b> `",
    ],
)
def test_what_only_looks_like_code_holds_no_tags(said: str) -> None:
    assert tags(said) == ["<b>"]
    assert tags(contained(said)) == []


def test_pictures_become_links_and_unknown_links_words() -> None:
    said = "![cat](http://a/b.png) [ok](docs/a.md#x) [no](javascript:1) [no](java&#115;cript:1)\n\n[a]: http://evil"
    assert contained(said) == (
        "[cat](http://a/b.png) [ok](docs/a.md#x) [no]\\(javascript:1) [no]\\(java&#115;cript:1)\n\n[a]\\: http://evil"
    )


@pytest.mark.parametrize(
    ("said", "written"),
    [
        ("Ask @ada-l, not me@ada.org.", "Ask `@ada-l`, not me@ada.org."),
        ("It is #12 (or !3).", "It is `#12` (or `!3`)."),
        ("See ada/shop#12 and **@ada**", "See `ada/shop#12` and **`@ada`**"),
        ("`@ada` and ``#12``", "`@ada` and ``#12``"),
        ("http://127.0.0.1/@ada?x=@b#12", "http://127.0.0.1/@ada?x=@b#12"),
        ("[a](#12) [b](docs/a#12)", "[a](#12) [b](docs/a#12)"),
        ("```py\n@cache\n```", "```py\n@cache\n```"),
        ("    @cache\n    def f(): ...", "    @cache\n    def f(): ..."),
        ("- a\n    - ask @ada", "- a\n    - ask `@ada`"),
        ("# Fix #12", "### Fix `#12`"),
        ("color: #fff, C#, # 1, a#1, 5!, wow!", "color: #fff, C#, # 1, a#1, 5!, wow!"),
    ],
)
def test_what_the_model_says_calls_nobody_on_a_forge(said: str, written: str) -> None:
    assert contained(said) == written


def test_what_the_human_types_calls_nobody_on_a_forge() -> None:
    assert literal("@ada: *look* at #12, me@ada.org") == "`@ada`: \\*look\\* at `#12`, me@ada.org"
    assert quoted("@src/a_.py `@b`\n#12") == "> `@src/a_.py` \\``@b`\\`  \n> `#12`"


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(hostile_text)
def test_whatever_is_typed_calls_nobody_on_a_forge(typed: str) -> None:
    words = safe.line(typed)
    shown = [
        child.content
        for token in tokens(literal(words))
        for child in token.children or ()
        if child.type == "text"
    ]
    assert not [text for text in shown if MENTION.search(text)]


def test_the_line_of_a_call_calls_nobody_on_a_forge() -> None:
    pattern = hostile_session()
    call = ToolCall("c1", "gh", ToolKind.EXECUTE, {"command": "cc @ada <b> #12"}, ToolStatus.SUCCESS)
    session = msgspec.structs.replace(pattern, messages=(with_parts(pattern.messages[1], call),))
    seen = "<summary>● gh  cc <code>@ada</code> &lt;b&gt; <code>#12</code></summary>"
    assert seen in text_of(session)


def test_several_sessions_stand_one_after_the_other_without_front_matter() -> None:
    first, second = list(looked_at_sessions().values())[:2]
    written = exported("markdown", first, second).decode()
    assert not written.startswith("---")
    titles = [words for tag, _, words in headings(written) if tag == "h1"]
    assert titles == [str(first.title), str(second.title)]
    assert "\n\n---\n\n# " in written


def test_no_session_gives_an_empty_document() -> None:
    assert exported("markdown") == b"\n"


def test_a_call_is_folded_and_its_error_is_not() -> None:
    written = text_of(looked_at_sessions()["tool-calls-jsonl-2"])
    fold, _, after = written.partition("<details><summary>✗ read_file  missing.txt  (error)</summary>")[
        2
    ].partition("</details>")
    assert "file_path: /tmp/demo/alpha/missing.txt" in fold
    assert after.startswith("\n\n✗ File not found: /tmp/demo/alpha/missing.txt\n")


def test_a_change_is_a_diff() -> None:
    written = text_of(looked_at_sessions()["tool-calls-jsonl-2"])
    blocks = [token.content for token in tokens(written) if token.type == "fence" and token.info == "diff"]
    assert "@@ -1,2 +1,2 @@\n def add(a, b):\n-    return a + b\n+    return a + b  # Summe\n" in blocks


def test_says_what_was_hidden() -> None:
    written = text_of(looked_at_sessions()["errors"], redacted="secrets")
    assert front_matter(written)[0]["redacted"] == "secrets"
    assert "\nRedacted: secrets\n" in written


def test_pictures_lie_beside_the_document_on_request() -> None:
    session = looked_at_sessions()["images"]
    written = text_of(session, level="everything", files_folder="a folder/ü")
    files = dict(attachment_files(session))
    assert [name.rpartition(".")[2] for name in files] == ["png"]
    assert all(content.startswith(b"\x89PNG") for content in files.values())
    assert set(addresses(written)) == {f"a%20folder/%C3%BC/{name}" for name in files}
    assert "▣ `image/png · 96 bytes`" in text_of(session, level="everything")


def test_only_what_is_base64_becomes_a_file_and_no_page_does() -> None:
    files = dict(attachment_files(hostile_session()))
    assert [(name.rpartition(".")[2], content) for name, content in files.items()] == [
        ("bin", b"<script>alert(6)</script>")
    ]


def test_a_folder_has_a_table_of_its_files() -> None:
    entry = Entry(
        file="2026-05-01-a b|c.md",
        id="gemini:1",
        agent="gemini",
        kind="subagent",
        redacted=False,
        title="A | `b` [c](javascript:1)\n# d",
        project="<b>",
        started_at=datetime(2026, 5, 1, 10, tzinfo=UTC),
        ended_at=None,
        status="success",
        prompts=1200,
        tool_calls=0,
    )
    written = b"".join(export.load("markdown").contents([entry], manner("tools"))).decode()
    assert addresses(written) == ["2026-05-01-a%20b%7Cc.md"]
    assert tags(written) == []
    rows = [token for token in tokens(written) if token.type == "tr_open"]
    cells = [token for token in tokens(written) if token.type == "td_open"]
    assert (len(rows), len(cells)) == (2, 7)
    assert "| Last | Session | Project | Agent | Prompts | Tool calls | Status |\n" in written
    assert "1 session, 1 project, 1,200 prompts, 0 tool calls" in written
    assert written.endswith("| 1,200 | 0 | ✓ success |\n")
    assert "↳ A | `b` [c](javascript:1) # d" in words_of(written)


# The shape of Gemini CLI's own /chat share.


def shared(session: Session, level: str = "everything") -> str:
    return exported("markdown", session, level=level, share=True).decode()


def test_shares_what_gemini_cli_shared() -> None:
    """What the CLI itself shared at the end of a recorded session, but for what its session file lacks.

    The file holds no joiners, so the heading that the model quoted is two pictures there, no line end at
    the end of an answer, and no word about a picture that was put in for `@pic.png`.
    """
    case = FIXTURES / "gemini" / "saved-chats"
    recorded = (case / "beside" / "alpha" / "talk-later.md").read_text(encoding="utf-8")
    quoted_heading = "\n\n---\n\n## USER 🧑‍💻\n\nNot really"
    in_code = "```markdown\n## USER 🧑‍💻"
    missing = "\n--- Content from referenced files ---\n--- End of content ---"
    for piece in (quoted_heading, in_code):
        assert piece in recorded
        recorded = recorded.replace(piece, piece.replace("\N{ZERO WIDTH JOINER}", ""))
    assert missing in recorded
    recorded = recorded.replace(missing, "").replace("Yes.\n\n---\n\n\n", "Yes.\n\n---\n\n")
    session = next(s for name, s in fixture_sessions().items() if name.startswith("saved-chats/caf20a6a"))
    assert shared(session) == recorded


def test_shares_byte_for_byte_what_gemini_cli_shared(corpus: Path) -> None:
    case = corpus / "real" / "0.61.0" / "i-chat-tags"
    session = next(s for s in read_sessions(agents.load("gemini"), case / "home") if s.kind == "main")
    assert shared(session) == (case / "project-files" / "out.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "case", ["at-files-strings", "errors", "mcp", "shell-mode", "tool-calls-jsonl-2", "cancel"]
)
def test_reads_what_it_shared(case: str, tmp_path: Path) -> None:
    for name, session in fixture_sessions().items():
        if not name.startswith(f"{case}/") or session.kind != "main":
            continue
        path = tmp_path / "talk.md"
        path.write_text(shared(session, "tools"), encoding="utf-8")
        reading = agents.load("gemini").read_alone(path)
        assert reading is not None
        assert said(reading.sessions[0]) == said(session)


def said(session: Session) -> list[Any]:
    """Who said what and which tools answered what, as far as the shape can carry it."""
    told: list[Any] = []
    for message in session.messages:
        if message.role is Role.SYSTEM or message.state in {State.REWOUND, State.SUPERSEDED}:
            continue
        for part in message.parts:
            match part:
                case Text(text=text, origin=Origin.HUMAN | Origin.MODEL | Origin.SHELL) if text.strip():
                    told.append((str(message.role), safe.text(text)))
                case ToolCall(name=name, arguments=arguments, result=result, call_id=call_id):
                    answered = "\n".join(piece.text for piece in result if isinstance(piece, Text))
                    told.append((name, arguments, call_id, answered))
    return told


def test_a_share_holds_nothing_that_steers_a_terminal() -> None:
    written = shared(hostile_session())
    assert not re.search("[\x00\x07\x1b\x7f\x9b\u202e\u2066]", written)


@pytest.mark.parametrize(
    ("written", "harmless"),
    [
        ("fixes \\#12, see @bob", "fixes `#12`, see `@bob`"),
        ("\\\\@bob", "\\\\`@bob`"),
        ("\\\\\\@bob", "\\\\`@bob`"),
        ("_@bob", "_`@bob`"),
        ("mail ada@example.com", "mail ada@example.com"),
    ],
)
def test_a_mention_is_code_however_it_is_escaped(written: str, harmless: str) -> None:
    assert as_code(written) == harmless
