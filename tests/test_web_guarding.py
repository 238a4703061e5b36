"""Who may ask the web app, and what every answer forbids."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from geminids.web.app import ENDPOINTS
from geminids.web.guarding import HEADER, SECURITY_HEADERS
from tests.homes import write_session
from tests.web_apps import BASE, KEY, client_of

EVERY_PATH = sorted({endpoint.path for endpoint in ENDPOINTS} | {"/", "/api/openapi.json", "/api/events"})
WITH_TOKEN = {HEADER: KEY.token}


@pytest.fixture
def stranger(tmp_path: Path) -> Iterator[TestClient]:
    """Somebody without a token."""
    write_session(tmp_path / "home")
    with client_of([tmp_path / "home"], tmp_path / "data", headers={}) as client:
        yield client


@pytest.mark.parametrize("path", EVERY_PATH)
def test_without_the_token_nobody_gets_anything(stranger: TestClient, path: str) -> None:
    answer = stranger.get(path)
    assert answer.status_code == 401
    assert answer.headers["content-type"] == "application/problem+json"
    assert "login" not in answer.text


def test_a_wrong_token_opens_nothing(stranger: TestClient) -> None:
    assert stranger.get("/", params={"token": "guess"}).status_code == 401
    assert stranger.get("/api/sessions", headers={HEADER: "guess"}).status_code == 401
    assert stranger.get("/api/sessions", headers={"cookie": f"{KEY.cookie}=guess"}).status_code == 401


def test_the_token_becomes_a_cookie_that_no_script_can_read(stranger: TestClient) -> None:
    answer = stranger.get("/session/x", params={"token": KEY.token, "q": "a b"})
    assert answer.status_code == 303
    assert answer.headers["location"] == "/session/x?q=a+b"
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert "path=/" in cookie
    assert stranger.get("/api/sessions").status_code == 200, "the cookie was kept"


def test_no_way_on_leads_to_another_machine(stranger: TestClient) -> None:
    for path in ("//elsewhere.example/x", "/\\elsewhere.example", "/%2felsewhere.example"):
        answer = stranger.get(f"{BASE}{path}?token={KEY.token}")
        assert answer.status_code == 303
        assert answer.headers["location"].startswith("/")
        assert not answer.headers["location"].startswith(("//", "/\\"))


@pytest.mark.parametrize(
    "host",
    ["elsewhere.example", f"elsewhere.example:{KEY.port}", "127.0.0.1", "127.0.0.1:1", "localhost:80", ""],
)
@pytest.mark.parametrize("path", ["/", "/healthz", "/api/sessions", "/api/events", "/nothing.js"])
def test_a_foreign_host_is_refused_on_every_route(stranger: TestClient, path: str, host: str) -> None:
    assert stranger.get(path, headers={**WITH_TOKEN, "host": host}).status_code == 400


def test_all_names_of_this_machine_are_ours(stranger: TestClient) -> None:
    for host in KEY.hosts:
        assert stranger.get("/api/about", headers={**WITH_TOKEN, "host": host}).status_code == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site", "anything"])
def test_what_another_site_asks_for_is_refused(stranger: TestClient, site: str) -> None:
    answer = stranger.get("/api/sessions", headers={**WITH_TOKEN, "sec-fetch-site": site})
    assert answer.status_code == 403
    opened = stranger.get("/", params={"token": KEY.token}, headers={"sec-fetch-site": site})
    assert opened.status_code == 403


@pytest.mark.parametrize("site", ["same-origin", "none"])
def test_our_own_page_and_the_address_bar_may_ask(stranger: TestClient, site: str) -> None:
    assert stranger.get("/api/about", headers={**WITH_TOKEN, "sec-fetch-site": site}).status_code == 200


def test_a_page_of_another_origin_is_refused(stranger: TestClient) -> None:
    for origin in ("http://elsewhere.example", "null", f"https://127.0.0.1:{KEY.port}", "http://127.0.0.1:1"):
        assert stranger.get("/api/about", headers={**WITH_TOKEN, "origin": origin}).status_code == 403
    assert stranger.get("/api/about", headers={**WITH_TOKEN, "origin": BASE}).status_code == 200


def test_a_change_needs_the_token_as_a_header(stranger: TestClient) -> None:
    stranger.cookies.set(KEY.cookie, KEY.token)
    assert stranger.get("/api/sessions").status_code == 200
    assert stranger.post("/api/sync").status_code == 403
    assert stranger.post("/api/sync", headers=WITH_TOKEN).status_code == 200


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "POST"])
def test_nothing_else_can_be_changed(stranger: TestClient, method: str) -> None:
    assert stranger.request(method, "/api/sessions", headers=WITH_TOKEN).status_code == 405


@pytest.mark.parametrize("path", ["/", "/healthz", "/api/sessions", "/api/session?id=none", "/nothing.js"])
@pytest.mark.parametrize("headers", [WITH_TOKEN, {}, {"host": "elsewhere.example"}], ids=["in", "out", "far"])
def test_every_answer_has_the_security_headers(
    stranger: TestClient, path: str, headers: dict[str, str]
) -> None:
    answer = stranger.get(path, headers=headers)
    for name, value in SECURITY_HEADERS.items():
        assert answer.headers[name] == value
    assert "unsafe" not in answer.headers["content-security-policy"]
    assert "server" not in answer.headers
    assert "access-control-allow-origin" not in answer.headers


def test_health_is_told_without_a_token_and_tells_nothing_else(stranger: TestClient) -> None:
    answer = stranger.get("/healthz")
    assert (answer.status_code, answer.text) == (200, "ok\n")


@pytest.mark.parametrize(
    "path",
    [
        "/../../etc/passwd",
        "/..%2f..%2fetc%2fpasswd",
        "/built/../app.py",
        "/app.py",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/etc/passwd%00.js",
        "//etc/passwd",
    ],
)
def test_no_address_leads_to_a_file_of_the_disk(stranger: TestClient, path: str) -> None:
    answer = stranger.get(f"{BASE}{path}", headers=WITH_TOKEN)
    assert "root:" not in answer.text
    assert "import" not in answer.text
    assert answer.status_code in {200, 404}
    if answer.status_code == 200:
        assert answer.headers["content-type"].startswith("text/html"), "the page itself"


@pytest.mark.parametrize("wanted", ["/etc/passwd", "../../etc/passwd", "~/.ssh/id_rsa", "{file}", "1"])
@pytest.mark.parametrize("what", ["", "/messages", "/export", "/resume", "/raw"])
def test_a_file_is_never_taken_for_a_session(
    stranger: TestClient, tmp_path: Path, what: str, wanted: str
) -> None:
    elsewhere = write_session(tmp_path / "other", "9e0c9a2b-0000-4000-8000-000000000009", prompt="private")
    asked = {"id": wanted.format(file=elsewhere), **({"number": "1"} if what == "/raw" else {})}
    answer = stranger.get(f"/api/session{what}", params=asked, headers=WITH_TOKEN)
    assert answer.status_code in {400, 404}
    assert "root:" not in answer.text
