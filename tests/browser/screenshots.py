"""The pictures of the web app, of the sample home alone: the same from the same page.

    python -m tests.browser.screenshots docs/pictures

Needs Chromium and a C compiler: the server is given another clock, so that it is always the evening after
the newest session of the sample.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from urllib.parse import quote

from playwright.sync_api import Browser, Page, expect

from geminids import sample
from geminids.core import agents
from tests.browser.serving import check_built, serving
from tests.browser.visiting import DESKTOP, PHONE, Visit, visiting
from tests.conftest import FIXTURES
from tests.support.chromium import NotHereError, headless_browser
from tests.support.reading import sessions
from tests.support.web_apps import Served

NOW = datetime(2026, 11, 9, 19, 30, tzinfo=UTC)
CLOCK = FIXTURES / "record" / "clock.c"
SHOWN = "gemini:fd2a76ff-94d7-413b-9640-a1be02d2ac41"
CHANGED = 13
"""The message that changed a file, after which tests ran."""
VIEWS = {
    "home": "/",
    "sessions": "/sessions",
    "transcript": f"/sessions/{quote(SHOWN, safe='')}?detail=tools#{CHANGED}",
    "usage": "/usage",
    "search": "/search?q=cache",
}
DRAWN = {"transcript": "figure table", "usage": "[role=img] svg text"}
"""What comes last in a view."""
SIZES = {"desktop": DESKTOP, "phone": PHONE}
SETTLING = 800
"""Milliseconds in which the last picture is drawn."""
SCHEMES = ("light", "dark")


def main(folder: Path) -> None:
    """Take all pictures, and take away those that are not made any more."""
    check_built()
    folder.mkdir(parents=True, exist_ok=True)
    taken: set[Path] = set()
    with (
        tempfile.TemporaryDirectory() as scratch,
        _served(Path(scratch)) as server,
        headless_browser() as browser,
    ):
        for (device, size), scheme in product(SIZES.items(), SCHEMES):
            taken.update(_pictures(browser, server, folder, device, size, scheme))
    for old in set(folder.glob("*.png")) - taken:
        old.unlink()
    print(f"{len(taken)} pictures, {sum(path.stat().st_size for path in taken):,} bytes, in {folder}")  # noqa: T201 - a command


@contextmanager
def _served(scratch: Path) -> Iterator[Served]:
    home = _dated_copy(scratch / "home")
    clock = scratch / "clock.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", str(clock), str(CLOCK), "-ldl"], check=True)
    still = {
        "LD_PRELOAD": str(clock),
        "CLOCK_ORIGIN": "0",
        "CLOCK_START": str(NOW.timestamp()),
        "CLOCK_RATE": "0",
    }
    with serving("--home", home, "--data", scratch / "data", machine=scratch, variables=still) as server:
        yield server


def _dated_copy(home: Path) -> Path:
    """The sample with the times its files had when they were written; those of a checkout are of today."""
    shutil.copytree(sample.home(), home)
    for session in sessions(agents.load("gemini"), home):
        ended = session.ended_at
        for file in session.files:
            if ended:
                os.utime(file.path, (ended.timestamp(), ended.timestamp()))
    return home


def _pictures(
    browser: Browser, server: Served, folder: Path, device: str, size: tuple[int, int], scheme: str
) -> Iterator[Path]:
    with visiting(browser, server, size=size, scheme=scheme, reduced_motion="reduce") as visit:
        visit.page.clock.set_fixed_time(NOW)
        for name, address in VIEWS.items():
            path = folder / f"{name}-{device}-{scheme}.png"
            _settled(visit, name, address).screenshot(path=path, animations="disabled", caret="hide")
            yield path


def _settled(visit: Visit, name: str, address: str) -> Page:
    page = visit.go(address)
    if name in DRAWN:
        expect(page.get_by_role("main").locator(DRAWN[name]).first).to_be_visible()
    page.wait_for_timeout(SETTLING)
    return page


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/pictures"))
    except NotHereError as reason:
        sys.exit(f"screenshots: {reason}")
