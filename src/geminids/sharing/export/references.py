"""Words that a forge would take for a person or an issue: `@name`, `#12`, `owner/project#12`, `!12`.

In a review or an issue they would call people and leave a trace in other projects. As code they are read as
they are written and lead nowhere. Addresses of mail and of the web are no such words.
"""

from __future__ import annotations

import re

REFERENCE = (
    r"(?:(?<![^\W_])(?<![/&])(?:@[A-Za-z0-9](?:[\w./-]*\w)?|[#!]\d+\b)"
    r"|(?<![\w./:@-])[\w-]++(?:/[\w.-]++)++[#!]\d+\b)"
    r"(?:[@#!][\w./-]*\w)*"  # what touches such a word would become one if only that were code
)
"""The pattern of such a word. Inside of another word or of an address it calls nobody."""

_MAY_REFER = re.compile("[@#!][A-Za-z0-9]")
_IN_HTML = re.compile(REFERENCE)
_IN_MARKDOWN = re.compile(rf"https?://[^\s<>()`]*|(?<!\]\()(\\*)({REFERENCE})")
"""Where links lead stays as it is."""


def may_refer(words: str) -> bool:
    """Whether there may be such a word; most texts have none, and this is quick to tell."""
    return bool(_MAY_REFER.search(words))


def as_code(markdown: str) -> str:
    """Markdown without code in it, with these words as code."""
    return _IN_MARKDOWN.sub(lambda found: _coded(*found.groups()) if found[2] else found[0], markdown)


def _coded(slashes: str, reference: str) -> str:
    """A word as code. A slash that would escape it would escape the code; two are one that is shown."""
    return f"{slashes[: len(slashes) // 2 * 2]}`{reference}`"


def as_code_in_html(markup: str) -> str:
    """HTML of escaped words only, with these words as code."""
    return _IN_HTML.sub(r"<code>\g<0></code>", markup) if may_refer(markup) else markup
