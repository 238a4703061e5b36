"""Pictures of a terminal (SVG) with nothing in them that comes from elsewhere; also such that move."""

from __future__ import annotations

from collections.abc import Sequence
from io import StringIO
from typing import NamedTuple

from rich.console import Console
from rich.segment import Segment, Segments
from rich.terminal_theme import TerminalTheme

_BRIGHT_LIGHT = [(176, 0, 32), (0, 110, 40), (134, 95, 0), (0, 80, 190), (135, 0, 140), (0, 115, 125)]
_BRIGHT_DARK = [(240, 113, 120), (148, 205, 118), (232, 196, 104), (110, 164, 250), (205, 147, 240)]
LIGHT = TerminalTheme((255, 255, 255), (30, 30, 30), [(30, 30, 30), *_BRIGHT_LIGHT, (90, 90, 90)])
DARK = TerminalTheme(
    (24, 26, 33), (216, 219, 226), [(60, 63, 74), *_BRIGHT_DARK, (92, 200, 210), (200, 203, 210)]
)

_HEAD = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}">
<style>
text {{ font: {char_height}px "DejaVu Sans Mono", Menlo, Consolas, monospace; white-space: pre }}
.{unique_id}-title {{ display: none }}
"""
_FRAME = """{styles}
</style>
<defs>{lines}</defs>
<rect width="100%" height="100%" rx="8" fill="@ground@"/>
<g transform="translate({terminal_x}, 12)" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
"""
_MOVING = """#{name} {{ visibility: {still}; animation: {name} {seconds:g}s step-end infinite }}
@keyframes {name} {{
0% {{ visibility: {first} }} {start:.3f}% {{ visibility: visible }} {ends}
}}
"""
Lines = Sequence[Sequence[Segment]]


class Frame(NamedTuple):
    """What is seen for some time."""

    lines: Lines
    seconds: float


def picture(lines: Lines, columns: int, theme: TerminalTheme) -> str:
    """What is seen, in the colours of a terminal."""
    return _drawn(lines, columns, theme, "seen", _HEAD + _FRAME + "</svg>\n")


def moving_picture(frames: Sequence[Frame], columns: int, theme: TerminalTheme) -> str:
    """One frame after the other, again and again; who wants nothing to move sees the last."""
    whole = sum(frame.seconds for frame in frames)
    parts = [_drawn(frames[0].lines, columns, theme, "head", _HEAD)]
    begin = 0.0
    for number, frame in enumerate(frames):
        end = begin + frame.seconds
        last = number == len(frames) - 1
        shown = _MOVING.format(
            name=f"f{number}",
            still="visible" if last else "hidden",
            first="hidden" if number else "visible",
            seconds=whole,
            start=100 * begin / whole,
            ends="" if last else f"{100 * end / whole:.3f}% {{ visibility: hidden }}",
        )
        drawn = _drawn(frame.lines, columns, theme, f"f{number}", "<style>\n" + _FRAME)
        parts.append(f'<g id="f{number}">\n<style>\n{shown}</style>\n{drawn}</g>\n')
        begin = end
    still = "@media (prefers-reduced-motion: reduce) { g { animation: none !important } }\n</style>\n"
    return parts[0] + still + "".join(parts[1:]) + "</svg>\n"


def _drawn(lines: Lines, columns: int, theme: TerminalTheme, name: str, form: str) -> str:
    console = Console(
        width=columns,
        height=len(lines),
        file=StringIO(),
        record=True,
        force_terminal=True,
        color_system="truecolor",
        legacy_windows=False,
    )
    for line in lines:
        console.print(Segments([*line, Segment.line()]), end="")
    form = form.replace("@ground@", theme.background_color.hex)
    return console.export_svg(title="", theme=theme, code_format=form, unique_id=name)
