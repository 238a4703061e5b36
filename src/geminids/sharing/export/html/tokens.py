"""Tokens as bars: how much of a request was new, cached, answered and thought."""

from __future__ import annotations

from geminids.core.model import Usage
from geminids.sharing.export.html.markup import NOTHING, Markup, filled, joined

_NAMES = {
    "fresh": "new input",
    "written": "cache writes",
    "cached": "cached input",
    "output": "output",
    "thoughts": "thoughts",
}


def total(usage: Usage | None) -> int:
    """What a turn used, as far as it is known."""
    return sum(_known(usage).values()) if usage else 0


def bar(usage: Usage, most: int) -> Markup:
    """The bar of a turn, as long as its share of the longest; the numbers are its title."""
    known = _known(usage)
    if not most or not known:
        return NOTHING
    rects: list[Markup] = []
    begin = 0.0
    for kind, number in known.items():
        width = 100 * number / most
        rects.append(Markup(f'<rect class="{kind}" x="{begin:.1f}" width="{width:.1f}" height="8"/>'))
        begin += width
    return filled(
        '<svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" role="img">'
        "<title>{}</title>{}</svg>",
        _sentence(known),
        joined(rects),
    )


def legend(usage: Usage) -> Markup:
    """What the colours mean, with the numbers of the whole session."""
    key = (
        '<li><svg class="key" viewBox="0 0 8 8" aria-hidden="true">'
        '<rect class="{}" width="8" height="8"/></svg>{} {}</li>'
    )
    return joined(
        filled(key, Markup(kind), Markup(f"{number:,}"), Markup(_NAMES[kind]))
        for kind, number in _known(usage).items()
    )


def _sentence(known: dict[str, int]) -> Markup:
    named = ", ".join(f"{number:,} {_NAMES[kind]}" for kind, number in known.items())
    return Markup(f"{sum(known.values()):,} tokens: {named}")


def _known(usage: Usage) -> dict[str, int]:
    numbers = (usage.fresh, usage.cache_write, usage.cached, usage.output, usage.thoughts)
    return {kind: number for kind, number in zip(_NAMES, numbers, strict=True) if number and number > 0}
