"""What the browser looks like: pictures of the sample at two sizes, on light and dark terminals.

`make golden` makes them anew; look at them before they go in (they are SVG, any web browser shows them).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from rich.segment import Segment

from geminids import sample
from tests.support import fake_agents
from tests.support.browse_movie import NOW
from tests.support.browsing import Browsing, browse
from tests.support.golden import check_golden_text
from tests.support.terminal_pictures import DARK, LIGHT, picture

pytestmark = pytest.mark.slow
PICTURES = Path(__file__).parent / "pictures"
SMALL, LARGE = (80, 24), (140, 45)
SCENES: dict[str, tuple[str, Sequence[str], str]] = {
    "list": ("", (), "Which recipes have no photo?"),
    "search": ("stale forcast", (), "match in #"),
    "messages": ("stale", ("tab",), "messages ·"),
    "reading": ("stale", ("enter",), "conversation · #"),
    "unfolded": ("stale", ("enter", "O", "g"), "agent_name"),
    "outline": ("units", ("enter", "l"), "Prompts"),
    "actions": ("stale", ("ctrl+p",), "Resume in its agent"),
    "keys": ("", ("f1",), "Keys"),
    "projects": ("", ("f3",), "[Projects]"),
    "usage": ("", ("f4",), "list-price"),
    "nothing": ("zzqqxx", (), "Nothing found"),
}
THEMES = {"dark": DARK, "light": LIGHT}


@pytest.mark.parametrize("scene", SCENES)
@pytest.mark.parametrize("size", [SMALL, LARGE], ids=lambda size: f"{size[0]}x{size[1]}")
def test_the_browser_looks_like_its_picture(
    scene: str, size: tuple[int, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", fake_agents.path_with(fake_agents.install(tmp_path / "agent")))
    typed, keys, ready = SCENES[scene]
    drawn: list[list[Segment]] = []

    async def script(seen: Browsing) -> None:
        if scene != "nothing":
            # The last that is known of a session, and that it was read.
            await seen.wait_for("its folder is gone", "You  #")
        await seen.settle()
        await seen.press(*keys)
        await seen.wait_for(ready)
        await seen.settle()
        drawn.extend(map(list, seen.strips))

    browse([Path(sample.home())], tmp_path / "data", script, size=size, typed=typed, now=NOW)
    for theme, colours in THEMES.items():
        name = f"{scene}-{theme}-{size[0]}x{size[1]}.svg"
        check_golden_text(PICTURES / name, picture(drawn, size[0], colours))
