"""A visit: a page of the app, and everything that it did and should not have done."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote

from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Dialog,
    FloatRect,
    Locator,
    Page,
    Request,
    Response,
    expect,
)

from tests.support.chromium import DRAWN
from tests.support.web_apps import Served

DESKTOP = (1280, 800)
PHONE = (375, 812)
PATIENCE = 10_000
"""Milliseconds in which everything must have happened."""
GIVEN_UP = "net::ERR_ABORTED"
"""The page itself gave up a question, or went elsewhere."""
TELL_VIOLATIONS = """addEventListener("securitypolicyviolation", (event) =>
    console.error(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`))"""


expect.set_options(timeout=PATIENCE)


class Visit:
    """A page, and how to get about in it."""

    def __init__(self, page: Page, server: Served) -> None:
        self.page = page
        self.server = server
        self.asked: list[str] = []
        """The addresses of all requests."""
        self._troubles: list[str] = []
        self._foreseen: list[str] = []
        page.on("console", self._note_console)
        page.on("pageerror", lambda error: self._troubles.append(f"error: {error}"))
        page.on("dialog", self._note_dialog)
        page.on("popup", lambda other: self._troubles.append(f"popup: {other.url}"))
        page.context.on("request", self._note_request)
        page.context.on("requestfailed", self._note_failure)
        page.context.on("response", self._note_response)

    def end(self) -> None:
        """Hear no more of what other pages of the browser do."""
        context = self.page.context
        context.remove_listener("request", self._note_request)
        context.remove_listener("requestfailed", self._note_failure)
        context.remove_listener("response", self._note_response)

    def foresee(self, *patterns: str) -> None:
        """Say what is bound to go wrong in this test; everything else fails it."""
        self._foreseen += patterns

    @property
    def troubles(self) -> list[str]:
        """What went wrong and was not foreseen."""
        return [one for one in self._troubles if not any(re.search(known, one) for known in self._foreseen)]

    def go(self, address: str = "/") -> Page:
        """Open an address, and wait until the page has drawn what it asked for."""
        self.page.goto(self.server.base + address)
        return self.settle()

    def go_to_session(self, session_id: str, more: str = "") -> Page:
        """Open a transcript, and wait for its first words."""
        self.go(f"/sessions/{quote(session_id, safe='')}{more}")
        expect(self.turns.first).to_be_visible()
        return self.page

    def settle(self) -> Page:
        """Wait until nothing is being loaded."""
        expect(self.page.get_by_role("main")).to_be_visible()
        expect(self.page.get_by_role("status", name="Loading")).to_have_count(0)
        return self.page

    @property
    def turns(self) -> Locator:
        """The messages that are on the page."""
        return self.page.get_by_role("article")

    def turn(self, number: int) -> Locator:
        """A message by its number."""
        return self.page.get_by_role("article", name=re.compile(rf", message {number}$"))

    def press(self, *keys: str) -> None:
        """Press keys one after the other."""
        for key in keys:
            self.page.keyboard.press(key)

    def is_too_wide(self) -> str:
        """What sticks out of the window sideways; empty if nothing does."""
        return str(
            self.page.evaluate(
                """() => {
                    const root = document.documentElement;
                    if (root.scrollWidth <= root.clientWidth) return "";
                    return [...document.querySelectorAll("body *")]
                        .filter((one) => one.getBoundingClientRect().right > root.clientWidth + 1)
                        .slice(0, 5)
                        .map((one) => `${one.tagName}.${one.className}`)
                        .join(", ") || "the page itself";
                }"""
            )
        )

    def _note_console(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self._troubles.append(f"{message.type}: {message.text} ({message.location.get('url', '')})")

    def _note_dialog(self, dialog: Dialog) -> None:
        self._troubles.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _note_request(self, request: Request) -> None:
        self.asked.append(request.url)
        if not request.url.startswith((self.server.base + "/", "data:", "blob:")):
            self._troubles.append(f"elsewhere: {request.url}")

    def _note_failure(self, request: Request) -> None:
        if request.failure != GIVEN_UP:
            self._troubles.append(f"failed: {request.url} {request.failure}")

    def _note_response(self, response: Response) -> None:
        if response.status >= 400:
            self._troubles.append(f"{response.status}: {response.url}")


@contextmanager
def opened(
    browser: Browser,
    server: Served,
    *,
    size: tuple[int, int] = DESKTOP,
    scheme: str = "light",
    with_token: bool = True,
    **options: Any,
) -> Iterator[BrowserContext]:
    """A browser of its own, with the cookie of the server."""
    wanted: dict[str, Any] = {
        "viewport": {"width": size[0], "height": size[1]},
        "color_scheme": scheme,
        "locale": "en-GB",
        "timezone_id": "UTC",
        **options,
    }
    context = browser.new_context(**wanted)
    context.set_default_timeout(PATIENCE)
    context.add_init_script(TELL_VIOLATIONS)
    if with_token:
        _let_in(context, server)
    try:
        yield context
    finally:
        context.close()


def _let_in(context: BrowserContext, server: Served) -> None:
    port = server.base.rpartition(":")[2]
    context.add_cookies(
        [{"name": f"geminids-{port}", "value": server.token, "url": server.base, "httpOnly": True}]
    )


@contextmanager
def _untroubled(page: Page, server: Served) -> Iterator[Visit]:
    """A visit in which nothing may have gone wrong when it ends."""
    visit = Visit(page, server)
    try:
        yield visit
        # What happens behind the page is told a moment later.
        page.wait_for_timeout(1)
        assert not visit.troubles, "\n".join(visit.troubles)
    finally:
        visit.end()


@contextmanager
def visiting(browser: Browser, server: Served, **options: Any) -> Iterator[Visit]:
    """A browser of its own at the server, as `opened` has it. It must have had no trouble when it ends."""
    with opened(browser, server, **options) as context, _untroubled(context.new_page(), server) as visit:
        yield visit


class Desk:
    """A browser at which visits follow each other, each with a page of its own and nothing stored.

    To open one for every visit takes longer than most visits, and all has to be loaded again.
    """

    def __init__(self, context: BrowserContext, server: Served) -> None:
        self._context = context
        self._server = server
        self._stays = context.new_page()

    @contextmanager
    def visit(self) -> Iterator[Visit]:
        """A visit. It must have had no trouble when it ends."""
        try:
            with _untroubled(self._context.new_page(), self._server) as visit:
                yield visit
        finally:
            self._clear()

    def _clear(self) -> None:
        for page in self._context.pages:
            if page is not self._stays:
                page.close()
        self._context.unroute_all()
        self._stays.goto(self._server.base + "/api/about")
        self._stays.evaluate("localStorage.clear()")
        self._context.clear_cookies()
        _let_in(self._context, self._server)


def draw_anew(page: Page) -> None:
    """Wait until all that has changed is drawn."""
    page.evaluate(DRAWN)


def box_of(locator: Locator) -> FloatRect:
    """Where something stands in the window."""
    box = locator.bounding_box()
    assert box, f"{locator} is not on the page"
    return box
