"""Pages: what a person reads, laid out for a terminal or plain for a pipe.

Every piece of text is made harmless here, so nothing that draws can forget it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from io import StringIO

from geminids.core.values import Value
from geminids.faces.drawing.screen import MOST_READABLE, Screen
from geminids.faces.drawing.styles import STYLES
from geminids.faces.drawing.wrapping import wrapped
from geminids.sharing.transcript import safe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from typing import IO, Literal, Protocol

    from rich.console import Console, RenderableType
    from rich.markdown import Markdown
    from rich.segment import Segment
    from rich.syntax import SyntaxTheme
    from rich.text import Text

    Places = Callable[[str], Sequence[tuple[int, int]]]
    """Where in a text something stands, in order and apart from each other."""
else:
    Places = Protocol = object

Span = str | tuple[str, str]
"""Words, or words and the name of their style."""

COLUMN_GAP = 2

UNBROKEN = 100_000
"""Columns of a pipe in which colour is wished: nothing is cut there."""

LINES_AT_ONCE = 1000
"""Lines of a text that are laid out together: a reader need not wait for all of a long one."""

LONGEST_MARKDOWN = 50_000
"""Characters; what is longer is shown as it was written, since laying it out takes seconds."""


class Column(Value):
    """A column of a table, and what becomes of it where there is little room."""

    heading: str
    is_number: bool = False
    least: int | None = None
    """The width down to which it may be cut; None means that it is never cut."""
    shrinks: int | None = None
    """The width down to which it is cut rather than left out."""
    most: int | None = None
    leaves: int | None = None
    """Its place in the order in which columns are left out; None means that it stays."""
    keeps_end: bool = False
    """Whether it is cut at its beginning: of a path the end says most."""


class Page(Protocol):
    """Something to draw on."""

    def line(self, *spans: Span, indent: int = 0) -> None:
        """One line; cut where a terminal is too narrow for it, never in a pipe."""

    def words(self, text: str, style: str = "", indent: int = 0) -> None:
        """Words of any number of lines, broken where a terminal needs it."""

    def sentence(self, text: str, style: str = "") -> None:
        """Words of ours: broken where a terminal needs it, but never in a command in backticks."""

    def command(self, label: str, command: str) -> None:
        """Something to type, on one line however long: broken in two it could not be pasted."""

    def markdown(self, text: str, indent: int = 0) -> None:
        """Words that a model wrote as Markdown."""

    def rule(self) -> None:
        """A line across the page."""

    def fields(self, *cells: Span) -> None:
        """One line for programs: tabs between the cells, nothing cut."""

    def marking(self, places: Places | None) -> AbstractContextManager[None]:
        """A while in which words are highlighted at these places, where there is colour."""


class PlainPage:
    """Lines as they are, for pipes and files."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def line(self, *spans: Span, indent: int = 0) -> None:
        """One line, however long."""
        words = "".join(safe.line(_words(span)) for span in spans)
        self._stream.write(f"{' ' * indent}{words}".rstrip() + "\n")

    def words(self, text: str, style: str = "", indent: int = 0) -> None:
        """Every line with its indent."""
        for line in safe.text(text).split("\n"):
            self._stream.write(f"{' ' * indent}{line}".rstrip() + "\n")

    def sentence(self, text: str, style: str = "") -> None:
        """One line, however long."""
        self.words(text, style)

    def command(self, label: str, command: str) -> None:
        """One line, however long."""
        self.line(label, command)

    def markdown(self, text: str, indent: int = 0) -> None:
        """Markdown is readable as it is."""
        self.words(text, indent=indent)

    def rule(self) -> None:
        """A short line."""
        self._stream.write("-" * 72 + "\n")

    def fields(self, *cells: Span) -> None:
        """Tabs between the cells."""
        self._stream.write("\t".join(safe.line(_words(cell)).strip() for cell in cells) + "\n")

    def marking(self, places: Places | None) -> AbstractContextManager[None]:
        """Nothing is highlighted where there is no colour."""
        from contextlib import nullcontext

        return nullcontext()


class DrawnPage:
    """Laid out with rich: broken to the width, in colour where that is wished."""

    def __init__(self, stream: IO[str], screen: Screen) -> None:
        self.is_terminal = screen.is_terminal
        self._console = _console(stream, screen)
        self.width = self._console.width
        """In columns."""
        self._prose_width = min(self._console.width, MOST_READABLE)
        self._words_width = self._prose_width if screen.width else self._console.width
        self._has_colour = screen.has_colour
        self._marked: Places | None = None

    def line(self, *spans: Span, indent: int = 0) -> None:
        """One line, cut with … at the edge."""
        text = _styled(spans)
        text.no_wrap, text.overflow = True, "ellipsis"
        self._print(text, indent, self._console.width)

    def words(self, text: str, style: str = "", indent: int = 0) -> None:
        """Broken between words."""
        lines = safe.text(text).split("\n")
        for first in range(0, len(lines), LINES_AT_ONCE):
            some = "\n".join(lines[first : first + LINES_AT_ONCE])
            self._print(_styled([(some, style)], keep_lines=True), indent, self._words_width)

    def sentence(self, text: str, style: str = "") -> None:
        """Broken between words; a command that is longer than the line is broken by the terminal alone."""
        lines = wrapped(text, self._words_width, continued="")
        self._print(_styled([(lines, style)], keep_lines=True), 0, UNBROKEN)

    def command(self, label: str, command: str) -> None:
        """One line, which only the terminal breaks."""
        self._print(_styled([label, command]), 0, UNBROKEN)

    def markdown(self, text: str, indent: int = 0) -> None:
        """Laid out as the model meant it, or as it was written if that would lose a letter."""
        harmless = safe.text(text)
        if len(harmless) <= LONGEST_MARKDOWN:
            laid_out = self._render(_markdown(harmless), self._prose_width - indent)
            if not _is_shorter(laid_out, harmless):
                self._print_lines(_without_blank_ends(laid_out), indent)
                return
        self.words(text, indent=indent)

    def rule(self) -> None:
        """A quiet line over the width of prose."""
        self.line(("─" * self._prose_width, "quiet"))

    def fields(self, *cells: Span) -> None:
        """In colour, else as in a pipe."""
        from rich.segment import Segment, Segments

        line: list[Segment] = []
        for cell in cells:
            words, style = (cell, "") if isinstance(cell, str) else cell
            text = _styled([(words.strip(), style)])
            line += [*([Segment("\t")] if line else []), *text.render(self._console)]
        self._console.print(Segments([*line, Segment.line()]), end="")

    @contextmanager
    def marking(self, places: Places | None) -> Iterator[None]:
        """A while in which words are highlighted at these places."""
        self._marked = places if self._has_colour else None
        try:
            yield
        finally:
            self._marked = None

    def widths(self, columns: Sequence[Column], rows: Sequence[Sequence[Span]]) -> dict[int, int]:
        """The columns of a table that have room, by their place, and how wide each is."""
        cells = [[_styled([cell]) for cell in row] for row in rows]
        return _column_widths(columns, cells, self._console.width)

    def table(self, columns: Sequence[Column], rows: Sequence[Sequence[Span]]) -> list[Column]:
        """Columns under their headings, each row one line; those that found no room are given back."""
        from rich.table import Table

        cells = [[_styled([cell]) for cell in row] for row in rows]
        widths = self.widths(columns, rows)
        table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, COLUMN_GAP, 0, 0))
        for place, width in widths.items():
            justify: Literal["left", "right"] = "right" if columns[place].is_number else "left"
            table.add_column(
                columns[place].heading, justify=justify, width=width, no_wrap=True, overflow="ellipsis"
            )
        for row in cells:
            table.add_row(
                *(
                    _without_beginning(row[place], width) if columns[place].keeps_end else row[place]
                    for place, width in widths.items()
                )
            )
        self._console.print(table)
        return [column for place, column in enumerate(columns) if place not in widths]

    def _print(self, renderable: RenderableType, indent: int, width: int) -> None:
        self._print_lines(self._render(renderable, width - indent), indent)

    def _render(self, renderable: RenderableType, width: int) -> list[list[Segment]]:
        options = self._console.options.update(width=max(width, 1))
        return self._console.render_lines(renderable, options, pad=False)

    def _print_lines(self, lines: Sequence[Sequence[Segment]], indent: int) -> None:
        """Print with an indent, without the blanks that rich fills lines up with: people copy from here."""
        from rich.segment import Segment

        if self._marked:
            lines = _highlighted(lines, self._marked)
        margin = [Segment(" " * indent)] if indent else []
        self._put([_without_end_blanks([*margin, *line]) for line in lines])

    def _put(self, lines: Sequence[Sequence[Segment]]) -> None:
        """Print lines as they are."""
        from rich.segment import Segment, Segments

        end = Segment.line()
        # Lines are as wide as they are meant to be; rich would cut commands that the terminal is to break.
        block = [segment for line in lines for segment in (*line, end)]
        self._console.print(Segments(block), end="", crop=False)


class LaidOutPage(DrawnPage):
    """Lines that are not printed, for who draws them on a screen of its own."""

    def __init__(self, width: int) -> None:
        super().__init__(StringIO(), Screen(is_terminal=True, has_colour=True, width=width))
        self.lines: list[Sequence[Segment]] = []

    def command(self, label: str, command: str) -> None:
        """Broken where the screen ends: nothing else would break it."""
        self.words(f"{label}{command}")

    def _put(self, lines: Sequence[Sequence[Segment]]) -> None:
        self.lines += lines


def open_page(screen: Screen, stream: IO[str] | None = None) -> Page:
    """The page that fits where the output goes."""
    target = stream or sys.stdout
    return DrawnPage(target, screen) if screen.is_drawn else PlainPage(target)


def _column_widths(columns: Sequence[Column], rows: Sequence[Sequence[Text]], width: int) -> dict[int, int]:
    """The columns that have room, by their place, and how wide each is."""
    widths = {
        place: min(max([len(column.heading), *(row[place].cell_len for row in rows)]), column.most or width)
        for place, column in enumerate(columns)
    }

    def spare(widths: Mapping[int, int]) -> int:
        return width - sum(widths.values()) - COLUMN_GAP * (len(widths) - 1)

    least = {place: column.least for place, column in enumerate(columns)}

    def narrowest() -> dict[int, int]:
        return {place: min(wide, least[place] or wide) for place, wide in widths.items()}

    for place in sorted((p for p in widths if columns[p].leaves), key=lambda p: columns[p].leaves or 0):
        if spare(narrowest()) >= 0:
            break
        least[place] = columns[place].shrinks or least[place]
        if spare(narrowest()) < 0:
            del widths[place]
    fitting = narrowest()
    # The room that is left goes to the columns that can be cut, in their order.
    for place in (p for p in widths if columns[p].least):
        fitting[place] = max(fitting[place] + min(widths[place] - fitting[place], spare(fitting)), 1)
    return fitting


def _without_beginning(text: Text, width: int) -> Text:
    """As much of a text as fits, from its end."""
    if text.cell_len <= width:
        return text
    from rich.cells import cell_len

    plain, start, used = text.plain, len(text), 0
    while start and (used := used + cell_len(plain[start - 1])) < width:
        start -= 1
    kept = text[start:]
    kept.plain = f"…{kept.plain}"
    return kept


def _console(stream: IO[str], screen: Screen) -> Console:
    from rich.console import Console
    from rich.theme import Theme

    class PatientConsole(Console):
        """A console that leaves it to us what a closed pipe means."""

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    return PatientConsole(
        file=stream,
        width=screen.width or UNBROKEN,
        force_terminal=screen.has_colour,
        color_system=_color_system(screen),
        # rich has it on black, which is a row of blots on a light terminal.
        theme=Theme({"markdown.code": "cyan"}),
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
    )


def _markdown(text: str) -> Markdown:
    """Markdown in which tags are words and addresses are written out, not hidden behind words."""
    from markdown_it import MarkdownIt
    from rich.markdown import Markdown

    markdown = Markdown("", hyperlinks=False)
    # rich passes it on to where a theme will do as well as the name of one.
    markdown.code_theme = _code_theme()  # type: ignore[assignment]
    parser = MarkdownIt("commonmark", {"html": False}).enable(["strikethrough", "table"])
    markdown.parsed = parser.parse(text)
    return markdown


@cache
def _code_theme() -> SyntaxTheme:
    """Colours of code that can be read on light and dark terminals; rich's own are for one of the two."""
    from rich.style import Style
    from rich.syntax import ANSI_DARK, ANSISyntaxTheme

    dulled = {"bright_black": "default", "bright_blue": "magenta", "yellow": "green", "bright_": ""}

    def readable(style: Style) -> Style:
        named = str(style)
        for bright, dull in dulled.items():
            named = named.replace(bright, dull)
        return Style.parse(named)

    return ANSISyntaxTheme({token: readable(style) for token, style in ANSI_DARK.items()})


def _is_shorter(lines: Sequence[Sequence[Segment]], text: str) -> bool:
    """Whether letters or digits of a text are missing in its layout, names of languages apart."""
    import re

    shown = sum(character.isalnum() for line in lines for segment in line for character in segment.text)
    return shown < sum(character.isalnum() for character in re.sub(_FENCE, "", text))


def _highlighted(lines: Sequence[Sequence[Segment]], places: Places) -> Sequence[Sequence[Segment]]:
    """Lines in which what stands at these places of their whole text has the style of a match."""
    from rich.segment import Segment
    from rich.style import Style

    spans = places("\n".join("".join(segment.text for segment in line) for line in lines))
    if not spans:
        return lines
    match, begin, marked = Style.parse(STYLES["match"]), 0, []
    for line in lines:
        pieces: list[Segment] = []
        for segment in line:
            end, style = begin + len(segment.text), segment.style
            inside = [(max(s - begin, 0), min(e, end) - begin) for s, e in spans if s < end and e > begin]
            done = 0
            for start, stop in inside:
                pieces += [Segment(segment.text[done:start], style)]
                pieces += [Segment(segment.text[start:stop], (style or Style()) + match)]
                done = stop
            pieces.append(Segment(segment.text[done:], style))
            begin = end
        marked.append(pieces)
        # The line feed between two of them.
        begin += 1
    return marked


def _without_blank_ends(lines: Sequence[list[Segment]]) -> Sequence[list[Segment]]:
    full = [place for place, line in enumerate(lines) if any(segment.text.strip() for segment in line)]
    return lines[full[0] : full[-1] + 1] if full else lines


_FENCE = r"(?m)^[ >*+-]*(```|~~~)[^`\n]*$"


def _without_end_blanks(line: Sequence[Segment]) -> list[Segment]:
    from rich.segment import Segment

    shown = list(line)
    while shown and not shown[-1].text.strip():
        shown.pop()
    if shown:
        shown[-1] = Segment(shown[-1].text.rstrip(), shown[-1].style)
    return shown


def _color_system(screen: Screen) -> Literal["auto", "standard"] | None:
    if not screen.has_colour:
        return None
    return "auto" if screen.is_terminal else "standard"


def _words(span: Span) -> str:
    return span if isinstance(span, str) else span[0]


def _styled(spans: Sequence[Span], *, keep_lines: bool = False) -> Text:
    from rich.text import Text

    text = Text()
    for span in spans:
        words, style = (span, "") if isinstance(span, str) else span
        harmless = safe.text(words) if keep_lines else safe.line(words)
        text.append(harmless, STYLES.get(style, ""))
    return text
