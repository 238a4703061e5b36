"""A browser and a server for all tests of this folder; what they measure is printed at the end."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.serving import check_built, copy_cases, serving
from tests.browser.visiting import Desk, Visit, opened
from tests.support.chromium import NotHereError, axe_script, headless_browser
from tests.support.web_apps import Served

FIGURES = "browser figures"


# Of the package, not of the session: as long as a browser is open, nothing else here may use asyncio.
@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Chromium, or a reason why there is none."""
    try:
        check_built()
        with headless_browser() as opened:
            yield opened
    except NotHereError as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="package")
def axe(pytestconfig: pytest.Config) -> str:
    """The script that looks for what keeps people from using a page."""
    assert pytestconfig.cache
    try:
        return axe_script(pytestconfig.cache.mkdir("axe"))
    except NotHereError as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="package")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the sessions of every fixture of every agent."""
    return copy_cases(tmp_path_factory.mktemp("everything") / "home")


@pytest.fixture(scope="package")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the index of that home."""
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="package")
def server(
    browser: Browser, everything: Path, data: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    """`geminids web` over all of it. It comes after the browser: without one it is not needed."""
    machine = tmp_path_factory.mktemp("machine")
    with serving("--home", everything, "--data", data, machine=machine) as served:
        yield served


@pytest.fixture(scope="package")
def desk(browser: Browser, server: Served) -> Iterator[Desk]:
    """A desk in daylight."""
    with opened(browser, server) as context:
        yield Desk(context, server)


@pytest.fixture
def visit(desk: Desk) -> Iterator[Visit]:
    """Somebody at that desk."""
    with desk.visit() as begun:
        yield begun


@pytest.fixture
def page(visit: Visit) -> Page:
    """The page of that visit, which fails the test when anything goes wrong behind it."""
    return visit.page


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what was measured, whichever process it was measured in."""
    reports = [*terminalreporter.getreports("passed"), *terminalreporter.getreports("failed")]
    figures = [text for report in reports for name, text in report.user_properties if name == FIGURES]
    if figures:
        terminalreporter.section(FIGURES)
        for line in figures:
            terminalreporter.write_line(str(line))
