"""What the browser looks like: pictures of the sample at two sizes, on light and dark terminals.

`make golden` makes them anew; look at them before they go in (they are SVG, any web browser shows them).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from rich.segment import Segment

from geminids import sample
from tests import conftest
from tests.support import fake_agents
from tests.support.browse_movie import NOW
from tests.support.browsing import Browsing, browse
from tests.support.golden import check_golden_text
from tests.support.kept_homes import user_home
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
AT_HOME: dict[str, tuple[Sequence[str], str]] = {
    "keeping": (("f5",), "will be deleted"),
    "resume": (("ctrl+r",), "Resume it anyway"),
}
"""What tells of the user's own folders, or of an agent that deletes."""
THEMES = {"dark": DARK, "light": LIGHT}
SIZES = pytest.mark.parametrize("size", [SMALL, LARGE], ids=lambda size: f"{size[0]}x{size[1]}")
DESK = "ada-pictures"
"""How the folder is called in which that user works, wherever it was."""


@pytest.fixture
def desk() -> Iterator[Path]:
    """A folder whose name is always as long as the one that pictures have for it."""
    with TemporaryDirectory(prefix="ada-", dir="/tmp") as folder:
        assert len(Path(folder).name) == len(DESK)
        yield Path(folder)


@pytest.mark.parametrize("scene", SCENES)
@SIZES
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
    check_pictures(scene, drawn, size)


@pytest.mark.parametrize("scene", AT_HOME)
@SIZES
def test_what_tells_of_folders_looks_like_its_picture(
    scene: str, size: tuple[int, int], desk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, (keys, ready) = user_home(desk, monkeypatch), AT_HOME[scene]
    drawn: list[list[Segment]] = []

    async def script(seen: Browsing) -> None:
        await seen.wait_for("2 sessions", "You  #")
        # Copies are kept while it is looked for what is new.
        await seen.wait_for("✓", but_not="Reading")
        await seen.settle()
        await seen.press(*keys)
        await seen.wait_for(ready)
        await seen.settle()
        drawn.extend(map(list, seen.strips))

    browse([home], desk / "data", script, size=size, now=conftest.NOW)
    check_pictures(scene, drawn, size, _of_any_time_and_place(desk))


def check_pictures(
    scene: str,
    drawn: Sequence[Sequence[Segment]],
    size: tuple[int, int],
    told: Callable[[str], str] = str,
) -> None:
    """Compare what was drawn with its pictures; `told` makes what it says the same everywhere."""
    lines = [[Segment(told(one.text), one.style) for one in line] for line in drawn]
    for theme, colours in THEMES.items():
        name = f"{scene}-{theme}-{size[0]}x{size[1]}.svg"
        check_golden_text(PICTURES / name, picture(lines, size[0], colours))


def _of_any_time_and_place(desk: Path) -> Callable[[str], str]:
    def told(text: str) -> str:
        text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d$", "2026-06-15 12:00", text.replace(desk.name, DESK))
        # What is packed has names in it that are others each time.
        return re.sub(r"[\d.]+ kB on disk", "43.6 kB on disk", text)

    return told
