"""Snippets: the piece of a text in which most of what was looked for stands close together."""

from __future__ import annotations

from collections.abc import Sequence

from geminids.core.lazy_patterns import lazy_pattern
from geminids.storage.text.places import Span, find
from geminids.storage.text.values import Snippet
from geminids.storage.text.words import Wanted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from geminids.storage.text.patterns import Patterns

WIDTH = 160
_BLANKS = lazy_pattern(r"\s+")
_MARGIN = 4
"""How many widths around a match are looked at: most of that may be blanks."""
_NEAREST_BLANK = 16
"""A snippet begins and ends between words, if that costs no more characters."""


def cut(text: str, wanted: Wanted, width: int = WIDTH, patterns: Patterns | None = None) -> Snippet | None:
    """The piece of a text in which most of what is wanted stands close together; None if nothing does."""
    if not text.isascii():
        from geminids.storage.text.characters import composed

        text = composed(text)
    group = _densest(find(text, wanted, patterns), width)
    if not group:
        return None
    start = max(group[0].start - _MARGIN * width, 0)
    end = min(group[-1].end + _MARGIN * width, group[0].start + 3 * _MARGIN * width, len(text))
    line, spans = _on_one_line(text, start, end, merged(group))
    return _narrowed(line, spans, width, is_cut_before=start > 0, is_cut_after=end < len(text))


def opening(text: str, width: int = WIDTH) -> Snippet:
    """The beginning of a text."""
    line, _ = _on_one_line(text, 0, min(2 * _MARGIN * width, len(text)), ())
    is_cut_after = len(text) > 2 * _MARGIN * width
    return _narrowed(line, (), width, is_cut_before=False, is_cut_after=is_cut_after)


def _densest(spans: Sequence[Span], width: int) -> Sequence[Span]:
    """The spans that fit into one snippet and are of the most wants, then the most, then the first."""
    best: Sequence[Span] = ()
    best_rank = (0, 0)
    last = 0
    for first, span in enumerate(spans):
        last = max(last, first + 1)
        while last < len(spans) and spans[last].end - span.start <= width:
            last += 1
        group = spans[first:last]
        if (rank := (len({each.want for each in group}), len(group))) > best_rank:
            best, best_rank = group, rank
    return best


def merged(spans: Sequence[Span]) -> list[tuple[int, int]]:
    """Places without those that lie in one another."""
    places: list[tuple[int, int]] = []
    for span in spans:
        if places and span.start <= places[-1][1]:
            places[-1] = (places[-1][0], max(places[-1][1], span.end))
        else:
            places.append((span.start, span.end))
    return places


def _on_one_line(
    text: str, start: int, end: int, places: Sequence[tuple[int, int]]
) -> tuple[str, list[tuple[int, int]]]:
    """A piece of a text with one blank for each run of them, and where the places are in it."""
    line, spans, done = "", [], start
    for place in places:
        line = _with(line, text[done : place[0]])
        before = len(line)
        line = _with(line, text[place[0] : min(place[1], end)])
        spans.append((before, len(line)))
        done = max(done, min(place[1], end))
    return _with(line, text[done:end]), spans


def _with(line: str, more: str) -> str:
    flat = _BLANKS.sub(" ", more)
    return line + (flat[1:] if flat.startswith(" ") and (not line or line.endswith(" ")) else flat)


def _narrowed(
    line: str, spans: Sequence[tuple[int, int]], width: int, *, is_cut_before: bool, is_cut_after: bool
) -> Snippet:
    """So much of a line as may be shown, with the spans in its middle."""
    start, end = _window(line, spans, width)
    shown = line[start:end]
    lead = len(shown) - len(shown.lstrip())
    start, shown = start + lead, shown.strip()
    inside = [(max(first - start, 0), min(last - start, len(shown))) for first, last in spans]
    return Snippet(
        shown,
        tuple((first, last) for first, last in inside if first < last),
        is_cut_before=is_cut_before or bool(line[:start].strip()),
        is_cut_after=is_cut_after or bool(line[start + len(shown) :].strip()),
    )


def _window(line: str, spans: Sequence[tuple[int, int]], width: int) -> tuple[int, int]:
    if len(line) <= width:
        return 0, len(line)
    first, last = (spans[0][0], spans[-1][1]) if spans else (0, 0)
    spare = max(width - (last - first), 0)
    start = max(min(first - spare // 2, len(line) - width), 0)
    end = start + width
    blank = line.find(" ", start, min(start + _NEAREST_BLANK, first)) if start else -1
    start = blank + 1 if blank >= 0 else start
    blank = line.rfind(" ", max(end - _NEAREST_BLANK, last), end) if end < len(line) else -1
    return start, blank if blank >= 0 else end
