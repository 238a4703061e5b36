"""Markdown of a model as HTML: tags are words, only addresses of the web become links, no picture is loaded.

Nothing that was written vanishes: references stay as they are written, pictures are named with their
address, and a text that a table would cut is shown as it is. Most paragraphs hold plain words and a little
code; they are written without the parser, which would make the same of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from geminids.sharing.export.html.code import coloured
from geminids.sharing.export.html.markup import NOTHING, Markup, attribute, escaped, filled, joined, text
from geminids.sharing.transcript import safe

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

LONGEST = 50_000
"""Characters of Markdown that are parsed at once; more is shown as it was written: it may take seconds."""

_LINK = re.compile(r"(?:https?|mailto):", re.IGNORECASE)

_FENCE = re.compile(
    r"^(?P<fence>(?P<sign>[`~])(?P=sign){2,})(?P<info>(?:(?!(?P=sign))[^\n])*)(?:\n|\Z)"
    r"(?P<code>(?:[^\n]*+\n)*?)(?:(?P<end>(?P=fence)(?P=sign)*[ \t]*(?:\n|\Z))|[^\n]*+\Z)",
    re.MULTILINE,
)
_OTHER_FENCE = re.compile(r"^(?: {1,3}(?:```|~~~)|~{3,}[^\n]*~|`{3,}[^\n]*`)", re.MULTILINE)
"""A fence that only the parser can follow: it is indented, or its first line may be something else."""
_BLOCK = re.compile(r"^[ \t]*+[^ \t\n][^\n]*+(?:\n[ \t]*+[^ \t\n][^\n]*+)*+", re.MULTILINE)
"""Lines without a blank one among them."""

_CODE = r"`[^`\s](?:[^`\n]*[^`\s])?`(?!`)"
_BOLD = r"\*\*[^\W_](?:[^*`\\_\[\]<&~\n]*(?:[^\W_]|[.:](?=\*\*(?:\s|\Z))))?\*\*(?!\*)"
_PLAIN = r"[^`*_\\\[<&~\n]++|(?<=[A-Za-z0-9])_(?=[A-Za-z0-9])|&(?![#A-Za-z])|~(?!~)(?<!~~)|\\(?=[A-Za-z0-9 ])"
_LINE = rf"(?=[^\W\d_]|[\"'(]|`(?!`)|\*\*[^\W_])(?:{_PLAIN}|(?<!`){_CODE}|(?<!\*){_BOLD})++"
_LINES = rf"{_LINE}(?:\n{_LINE})*+"
_ITEMS = rf"(?P<sign>[*-]) {{1,4}}{_LINE}(?:\n(?P=sign) {{1,4}}{_LINE})*+"
_BLANK_AT_END = re.compile(r"[^\S\n]\n")
_PLAIN_BLOCK = re.compile(rf"(?P<paragraph>{_LINES})(?:\n(?P<items>{_ITEMS}))?")
"""A paragraph, and a list right below it, in which nothing needs the parser."""
_SIGNS = re.compile(r"^[*-] +", re.MULTILINE)
_INLINE = re.compile(r"`([^`]+)`|\*\*([^*`]+)\*\*")


def prose(words: str) -> Markup:
    """The Markdown of a model."""
    written = safe.text(words)
    if "```" not in written and "~~~" not in written:
        return joined(_between_fences(written))
    fences = list(_FENCE.finditer(written))
    if _OTHER_FENCE.search(written) or not all(fence["end"] for fence in fences):
        return _parsed(written)
    return joined(_blocks(written, fences))


def _blocks(written: str, fences: Sequence[re.Match[str]]) -> Iterator[Markup]:
    """Fences, and what stands between them: none of it can be part of the other."""
    begin = 0
    for fence in fences:
        yield from _between_fences(written[begin : fence.start()])
        yield code_block(fence["code"], fence["info"])
        begin = fence.end()
    yield from _between_fences(written[begin:])


def _between_fences(written: str) -> Iterator[Markup]:
    """A plain paragraph between blank lines is one whatever stands before and after it."""
    begin = end = 0
    blocks = list(_BLOCK.finditer(written))
    for block, following in zip_longest(blocks, blocks[1:]):
        if plain := _plain_block(block[0], following[0] if following else ""):
            if begin < end:
                yield _parsed(written[begin:end])
            yield plain
            begin = block.end()
        end = block.end()
    if begin < end:
        yield _parsed(written[begin:end])


def _plain_block(block: str, following: str) -> Markup | None:
    """A block that needs no parser; None if it does."""
    found = _PLAIN_BLOCK.fullmatch(block)
    if not found or _BLANK_AT_END.search(block) or block != block.strip():
        return None
    if not found["items"]:
        return _paragraph(block)
    # What follows may belong to the last item, or be the next one.
    if following.startswith((" ", "\t", "*", "-")):
        return None
    items = joined(filled("<li>{}</li>\n", _inline(item)) for item in _SIGNS.split(found["items"])[1:])
    return filled("{}<ul>\n{}</ul>\n", _paragraph(found["paragraph"]), items)


def _paragraph(block: str) -> Markup:
    return filled("<p>{}</p>\n", _inline(block))


def _inline(words: str) -> Markup:
    marked = escaped(words.removesuffix("\n"))
    if "`" in marked or "*" in marked:
        return Markup(_INLINE.sub(_marked, marked))
    return marked


def _marked(found: re.Match[str]) -> str:
    return f"<code>{found[1]}</code>" if found[1] else f"<strong>{found[2]}</strong>"


def code_block(code: str, info: str) -> Markup:
    """Code in a box, in colour if it says in which language it is."""
    label = _meant(info).strip()
    language = label.split(maxsplit=1)[0] if label else ""
    inside = coloured(code, language)
    return filled('<pre class="code"{}><code>{}</code></pre>\n', _label(label), inside)


def _meant(info: str) -> str:
    """The words after a fence, which may hold escapes."""
    if "&" not in info and "\\" not in info:
        return info
    from markdown_it.common.utils import unescapeAll

    return safe.text(unescapeAll(info))


def _label(label: str) -> Markup:
    return filled(' data-info="{}"', attribute(label)) if label else NOTHING


def _parsed(written: str) -> Markup:
    if len(written) > LONGEST:
        return as_written(written)
    parser = _parser()
    tokens = parser.parse(written)
    if _is_cut_by_table(tokens, written):
        return as_written(written)
    _fit_headings(tokens)
    return Markup(parser.renderer.render(tokens, parser.options, {}))


def as_written(written: str) -> Markup:
    """Words that are harmless already, with their lines and blanks."""
    return filled('<div class="said">{}</div>\n', escaped(written))


def _is_cut_by_table(tokens: Sequence[Token], written: str) -> bool:
    """Whether a row has more cells than its table has columns, which Markdown would drop."""
    lines = written.split("\n")
    for place, token in enumerate(tokens):
        if token.type == "table_open" and token.map:
            end = next(at for at in range(place, len(tokens)) if tokens[at].type == "table_close")
            shown = sum(_letters(cell.content) for cell in tokens[place:end] if cell.type == "inline")
            if shown < sum(map(_letters, lines[token.map[0] : token.map[1]])):
                return True
    return False


def _letters(words: str) -> int:
    return sum(map(str.isalnum, words))


def _fit_headings(tokens: Sequence[Token]) -> None:
    """Headings below those of the turns, without a gap."""
    headings = [token for token in tokens if token.type in {"heading_open", "heading_close"}]
    levels = sorted({heading.tag for heading in headings})
    for heading in headings:
        heading.tag = f"h{min(3 + levels.index(heading.tag), 6)}"


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False}).enable(["strikethrough", "table"])
    # A definition is not shown where it stands, and may be used nowhere.
    parser.disable("reference")
    parser.validateLink = lambda url: bool(_LINK.match(url))  # type: ignore[method-assign]
    for kind, rule in _RULES.items():
        parser.renderer.rules[kind] = rule  # type: ignore[attr-defined]
    return parser


def _text_rule(tokens: Sequence[Token], at: int, *_: Any) -> str:
    # Entities such as `&#8238;` have become letters since the text was made harmless.
    return text(tokens[at].content)


def _code_rule(tokens: Sequence[Token], at: int, *_: Any) -> str:
    return filled("<code>{}</code>", escaped(tokens[at].content))


def _fence_rule(tokens: Sequence[Token], at: int, *_: Any) -> str:
    return code_block(tokens[at].content, tokens[at].info)


def _link_rule(tokens: Sequence[Token], at: int, *_: Any) -> str:
    title = str(tokens[at].attrGet("title") or "")
    shown = filled(' title="{}"', attribute(title)) if title else NOTHING
    address = attribute(str(tokens[at].attrGet("href")))
    return filled('<a href="{}" rel="noopener noreferrer"{}>', address, shown)


def _image_rule(tokens: Sequence[Token], at: int, *_: Any) -> str:
    token = tokens[at]
    words = " ".join(str(piece) for piece in (token.content, token.attrGet("title")) if piece)
    address = text(str(token.attrGet("src")))
    return filled('<span class="picture">▣ {} <span class="quiet">{}</span></span>', text(words), address)


def _cell_rule(tokens: Sequence[Token], at: int, *_: Any) -> str:
    token = tokens[at]
    is_right = "right" in str(token.attrGet("style") or "")
    tag = Markup(token.tag)
    return filled('<{} class="number">', tag) if is_right else filled("<{}>", tag)


def _table_opens(*_: Any) -> str:
    return '<div class="wide" tabindex="0" role="group" aria-label="Table"><table>\n'


def _table_closes(*_: Any) -> str:
    return "</table></div>\n"


_RULES = {
    "text": _text_rule,
    "code_inline": _code_rule,
    "fence": _fence_rule,
    "code_block": _fence_rule,
    "link_open": _link_rule,
    "image": _image_rule,
    "th_open": _cell_rule,
    "td_open": _cell_rule,
    "table_open": _table_opens,
    "table_close": _table_closes,
}
