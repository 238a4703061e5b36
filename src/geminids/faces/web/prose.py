"""Words of a session as HTML that a page may show: escaped where it is made, and cleaned once more after.

The Markdown of models is written by the same code as in exported pages: tags are words, only addresses of the
web become links, no picture is loaded. The second wall knows nothing of the first: it lets through the few
tags and classes that are ours and drops all else.
"""

from __future__ import annotations

from html import escape

import nh3

from geminids.sharing.export.html.prose import prose as written_prose
from geminids.sharing.transcript import safe

LONGEST = 100_000
"""Characters of one piece of a message; more has an address of its own."""

_TAGS = {
    *("a", "b", "blockquote", "br", "code", "del", "div", "em", "h3", "h4", "h5", "h6", "hr", "i", "ins"),
    *("li", "ol", "p", "pre", "s", "span", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul"),
}
_ATTRIBUTES = {
    "a": {"href", "title"},
    "ol": {"start"},
    "pre": {"class", "data-info"},
    "span": {"class"},
    "div": {"class", "tabindex", "role", "aria-label"},
    "td": {"class"},
    "th": {"class"},
}
_cleaner = nh3.Cleaner(
    tags=_TAGS,
    attributes=_ATTRIBUTES,
    url_schemes={"http", "https", "mailto"},
    link_rel="noopener noreferrer nofollow",
    strip_comments=True,
)


def prose(words: str) -> str:
    """The Markdown of a model."""
    return _cleaner.clean(written_prose(words[:LONGEST]))


def plain(words: str) -> str:
    """Words as they were typed or printed: lines and blanks count."""
    return escape(safe.text(words[:LONGEST]), quote=False)


def is_cut(words: str) -> bool:
    """Whether there is more than is shown."""
    return len(words) > LONGEST
