"""Markdown as a forge sees it: parsed with tags allowed, so that whatever would act on a page is found."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

_PARSER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
# It would itself leave out links that run scripts; others do not.
_PARSER.validateLink = lambda url: True  # type: ignore[method-assign]


def front_matter(written: str) -> tuple[dict[str, Any], str]:
    """The fields at the top of a file, and the rest of it."""
    if not written.startswith("---\n"):
        return {}, written
    fields, _, rest = written[4:].partition("\n---\n")
    named = (line.split(": ", 1) for line in fields.split("\n"))
    return {name: json.loads(value) for name, value in named}, rest


def tokens(document: str) -> Iterator[Token]:
    """All that a document consists of, blocks and what is in them."""
    for token in _PARSER.parse(document):
        yield token
        yield from token.children or ()


def headings(document: str) -> list[tuple[str, int, str]]:
    """The headings: their tags, how deep they stand in quotes and lists, and their words."""
    parsed = _PARSER.parse(document)
    return [
        (token.tag, token.level, shown([parsed[place + 1]]))
        for place, token in enumerate(parsed)
        if token.type == "heading_open"
    ]


def shown(parsed: list[Token]) -> str:
    """The words that a reader sees, paragraphs apart."""
    pieces: list[str] = []
    for token in parsed:
        match token.type:
            case "text" | "code_inline" | "html_inline":
                pieces.append(token.content)
            case "fence" | "code_block":
                pieces.append(token.content + "\n")
            case "softbreak" | "hardbreak":
                pieces.append("\n")
            case "paragraph_close":
                pieces.append("\n\n")
            case "inline":
                pieces.append(shown(token.children or []))
    return "".join(pieces)


def words_of(document: str) -> str:
    """The words that a reader of a whole document sees."""
    return shown(_PARSER.parse(document)).strip("\n")


def tags(document: str) -> list[str]:
    """Every piece of HTML that a browser would get as it is."""
    return [token.content for token in tokens(document) if token.type in {"html_block", "html_inline"}]


def addresses(document: str) -> list[str]:
    """What a browser would fetch or lead to."""
    return [
        str(token.attrs.get("href") or token.attrs.get("src") or "")
        for token in tokens(document)
        if token.type in {"link_open", "image"}
    ]
