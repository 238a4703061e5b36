"""What people read is plain technical English: a few words that keep creeping back are kept out."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT

ODD = {
    r"\bwe\b|\bour\b|\bours\b|\bour own\b": "geminids, the data directory, or you",
    r"\bthe human\b|\bsomebody\b|\bwhoever\b": "you, the user, or people who …",
    r"\btaken back\b|\btakes? back\b|\btook back\b": "undone",
    r"\bnot told\b|\btells? of\b": "hidden, described",
    r"(?<!there )\bis no (?:filter|session|folder|file|record|object)\b": "is not a …",
    r"\bmade anew\b|\bbegins? anew\b|\bread anew\b|\bwritten anew\b": "again",
    r"\bgo(?:es)? on with\b|\bgoing on with\b": "resume, continue",
    r"\bwhat there is\b": "overview, or name it",
    r"\bhow things stand\b": "status",
    r"\bcannot both be meant\b|\bcannot be had together\b": "cannot be combined",
    r"\bnobody can be asked\b": "there is no terminal to ask",
    r"\bshown are\b": "showing",
    r"\bwhat it comes to\b|\bcomes to at\b": "total, projection",
    r"\b(?:command|model|session) goes on\b": "continues",
    r"\bis said\b|\bfound no room\b": "a message says, is left out",
    r"\bsettled? for good\b|\bnothing need be\b": "settings, optional",
    r"\bwindows? of five hours\b|\bpresent windows?\b": "five-hour window, current window",
    r"\b(?:in|from )(?:to )?the cache\b|\bwhole prompts\b": "cached input, cache writes, input",
    r"\bnothing was recorded\b": "has no token counts",
    r"\blets? somebody in\b|\blooked into\b|\bin one list\b": "authorization, searched, together",
}
"""Words that a reader stumbles over, and what to say instead."""

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
WHOLE_FOLDERS = ("faces", "library", "query/health", "query/usage", "reading", "sharing", "sync")
"""Folders in which every text reaches people, also those of tables."""
PAGE_OF_WEB_APP = ROOT / "src/geminids/faces/web/frontend/src"
COMMENT = re.compile(r"/\*.*?\*/|(?<!:)//[^\n]*|<!--.*?-->|<style>.*?</style>", re.DOTALL)
FOLDERS = ("faces/cli", "core", "library", "query", "sharing/records", "storage", "sync", "agents")
SHOWN = re.compile(
    r"(?:Error|Exception|UsageError|BadParameter|Offer)\Z|\A(?:say|page|words|_cannot|NotResumable)\Z"
)
"""What is called with words that reach people: errors, and what talks and draws."""
QUOTED = re.compile(r"```.*?```|`[^`]*`", re.DOTALL)
"""Screens, examples and names: they quote sessions and agents, or are checked by themselves."""


def odd_words(text: str) -> list[str]:
    """What is odd in a text, each with something better."""
    found = ((re.search(odd, text, re.IGNORECASE), better) for odd, better in ODD.items())
    return [f"{match[0]!r}: say {better}" for match, better in found if match]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_documents_are_in_plain_words(page: Path) -> None:
    text = page.read_text("utf-8")
    # The reference of the command line is help in fences.
    prose = text if page.name == "cli.md" else QUOTED.sub("", text)
    assert odd_words(prose) == []


@pytest.mark.parametrize("folder", FOLDERS)
def test_messages_are_in_plain_words(folder: str) -> None:
    modules = sorted((ROOT / "src" / "geminids" / folder).rglob("*.py"))
    odd = {
        f"{module.relative_to(ROOT)}:{line}": found
        for module in modules
        for line, words in said_in(ast.parse(module.read_text("utf-8")))
        if (found := odd_words(words))
    }
    assert odd == {}


@pytest.mark.parametrize("folder", WHOLE_FOLDERS)
def test_tables_are_in_plain_words(folder: str) -> None:
    modules = sorted((ROOT / "src" / "geminids" / folder).rglob("*.py"))
    odd = {
        f"{module.relative_to(ROOT)}:{line}": found
        for module in modules
        for line, words in texts_in(ast.parse(module.read_text("utf-8")))
        if (found := odd_words(words))
    }
    assert odd == {}


def test_the_page_of_the_web_app_is_in_plain_words() -> None:
    files = [file for file in PAGE_OF_WEB_APP.rglob("*.*") if file.suffix in (".ts", ".svelte")]
    odd = {
        file.name: found
        for file in files
        # Its comments are those of the server.
        if file.name != "api-types.ts" and (found := odd_words(COMMENT.sub("", file.read_text("utf-8"))))
    }
    assert len(files) > 100
    assert odd == {}


def test_odd_words_are_found_in_help_and_in_messages() -> None:
    source = 'say(f"{name} is taken back by {the_user}")\nraise click.UsageError("Nobody can be asked here")'
    assert [len(odd_words(words)) for _, words in said_in(ast.parse(source))] == [1, 1]
    assert odd_words("Undo the last change of the user; show what is hidden.") == []


def said_in(module: ast.Module) -> Iterator[tuple[int, str]]:
    """The texts that calls give to people, by their lines."""
    for call in ast.walk(module):
        if isinstance(call, ast.Call) and SHOWN.search(_name(call.func)):
            for argument in call.args:
                if words := _literal(argument):
                    yield call.lineno, words


def texts_in(module: ast.Module) -> Iterator[tuple[int, str]]:
    """All texts of several words but docstrings, by their lines."""
    alone = {id(node.value) for node in ast.walk(module) if isinstance(node, ast.Expr)}
    for node in ast.walk(module):
        match node:
            case ast.Constant(value=str(text)) if " " in text and id(node) not in alone:
                yield node.lineno, text


def _name(called: ast.expr) -> str:
    match called:
        case ast.Attribute(value=ast.Call(func=ast.Name(id="super"))):
            return "Error"
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def _literal(argument: ast.expr) -> str:
    """The letters of a text, whatever stands between them."""
    pieces = (piece.value for piece in ast.walk(argument) if isinstance(piece, ast.Constant))
    return " … ".join(piece for piece in pieces if isinstance(piece, str))
