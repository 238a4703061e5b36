"""`html`: a session as one page that loads nothing, to read, search, print and hand on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from geminids.core.model import Session
from geminids.sharing.export.base import Entry, Manner, PlainFormat, encoded


class HtmlPage(PlainFormat):
    """One session, one page; a folder of them gets a page that lists them."""

    name = "html"
    title = "HTML"
    summary = "One page to read in any browser: search, folds, diffs, pictures; loads nothing."
    suffix = ".html"
    level = "thoughts"
    contents_name = "index.html"

    def write(self, sessions: Iterable[Session], manner: Manner) -> Iterator[bytes]:
        """The page, entry by entry."""
        # A folder that is up to date needs none of what draws pages.
        from geminids.sharing.export.html.session_page import session_page

        for session in sessions:
            yield from map(encoded, session_page(session, manner))

    def contents(self, entries: Iterable[Entry], manner: Manner) -> Iterator[bytes]:
        """The list of sessions, newest first."""
        from geminids.sharing.export.html.contents import contents_page

        yield from map(encoded, contents_page(entries, manner))
