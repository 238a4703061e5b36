"""The frame of a page: one file that loads nothing.

Words of a session are escaped, and should that ever fail, the policy of the page is the second wall: only our
own script and style run, told by their digests, and no address is asked for anything.
"""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from importlib import resources
from typing import NamedTuple

from geminids.sharing.export.html.markup import Markup, filled

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>{}</title>
<style>{}</style>
</head>
<body>
"""
_END = """<script>{}</script>
</body>
</html>
"""
_POLICY = (
    "default-src 'none'; script-src '{}'; style-src '{}'; img-src data:; base-uri 'none'; form-action 'none'"
)
_COMMENT = re.compile(r"^[ \t]*(?:/\*.*?\*/|//[^\n]*)", re.MULTILINE | re.DOTALL)
"""A comment that begins a line; one behind code stays, since a sign of it may stand in a string."""
THEME_BUTTON = Markup('<button type="button" id="theme" title="Light or dark"><span>Theme</span></button>')


class Assets(NamedTuple):
    """The style and the script of one kind of page."""

    style: Markup
    script: Markup
    policy: Markup


@cache
def assets(kind: str) -> Assets:
    """What all pages share and what is of this kind; comments and indents stay behind."""
    style, script = (
        "\n".join(line for name in ("page", kind) for line in _lines(f"{name}.{suffix}"))
        for suffix in ("css", "js")
    )
    return Assets(Markup(style), Markup(script), Markup(_POLICY.format(_digest(script), _digest(style))))


def opening(title: Markup, kind: str) -> Markup:
    """All before the first thing that is seen."""
    used = assets(kind)
    return filled(_PAGE, used.policy, title, used.style)


def closing(kind: str) -> Markup:
    """All after the last thing that is seen."""
    return filled(_END, assets(kind).script)


def _lines(name: str) -> list[str]:
    return code_lines(resources.files(__package__).joinpath(name).read_text("utf-8"))


def code_lines(written: str) -> list[str]:
    """Style or script without comments, of however many lines, without indents and without empty lines."""
    stripped = (line.strip() for line in _COMMENT.sub("", written).split("\n"))
    return [line for line in stripped if line]


def _digest(content: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
