"""The tests' own eyes: what a page must not do is seen."""

from __future__ import annotations

import time

import pytest

from tests.browser.visiting import Visit

PATIENCE = 5.0
"""Seconds."""


@pytest.mark.parametrize(
    ("doing", "seen"),
    [
        ("console.warn('hm')", "warning: hm"),
        ("setTimeout(() => { throw new Error('ouch') })", "error: ouch"),
        ("fetch('/api/nothing')", "404: "),
        ("fetch('http://127.0.0.1:1/').catch(() => {})", "policy: connect-src http://127.0.0.1:1/"),
        ("location.href = 'http://127.0.0.1:1/'", "elsewhere: http://127.0.0.1:1/"),
        ("document.body.setAttribute('style', 'color: red')", "policy: style-src"),
        ("document.body.append(Object.assign(new Image(), {src: 'data:,x'}))", "policy: img-src data"),
        ("setTimeout(() => alert('boo'))", "dialog: boo"),
    ],
)
def test_what_a_page_must_not_do_is_seen(visit: Visit, doing: str, seen: str) -> None:
    visit.go()
    assert visit.troubles == []
    visit.page.evaluate(f"() => {{ {doing} }}")
    end = time.monotonic() + PATIENCE
    while not any(seen in one for one in visit.troubles) and time.monotonic() < end:
        visit.page.wait_for_timeout(20)
    assert any(seen in one for one in visit.troubles), visit.troubles
    visit.foresee("")
