"""Who may ask the web app, and what every answer forbids."""

from __future__ import annotations

import base64
import hashlib
import re
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from geminids.faces.web.app import ENDPOINTS
from geminids.faces.web.guard import HEADER, SECURITY_HEADERS, Code, Key
from tests.support.homes import write_session
from tests.support.web_apps import BASE, KEY, Served, client_of, served, wait_until

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


@pytest.mark.parametrize(
    "other", ['theme={"dark":true}', "a=b c", "bare", "a@b=1", "a[x]=1", 'x="open', "ü=1"]
)
def test_cookies_of_other_servers_do_not_lock_anybody_out(stranger: TestClient, other: str) -> None:
    cookies = f"{other}; {KEY.cookie}={KEY.token}"
    assert stranger.get("/api/about", headers={b"cookie": cookies.encode()}).status_code == 200


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


# What a person sees


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"host": "elsewhere.example"}, 400),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"origin": "http://elsewhere.example"}, 403),
    ],
)
def test_a_person_without_the_key_sees_a_page_that_says_why(
    stranger: TestClient, headers: dict[str, str], status: int
) -> None:
    answer = stranger.get("/sessions/<script>", headers={"accept": "text/html,*/*;q=0.8", **headers})
    assert answer.status_code == status
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert "<script" not in answer.text
    (style,) = re.findall(r"<style>(.*?)</style>", answer.text, re.DOTALL)
    allowed = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = answer.headers["content-security-policy"]
    assert f"style-src 'sha256-{allowed}'" in policy
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    for name, value in SECURITY_HEADERS.items():
        assert name == "content-security-policy" or answer.headers[name] == value


# Requests as no browser sends them


class Raw:
    """Sends bytes to a real server, and says what came back first."""

    def __init__(self, server: Served) -> None:
        self.port = int(server.base.rpartition(":")[2])
        self.token = server.token
        self.host = f"127.0.0.1:{self.port}"

    def ask(self, line: str, *headers: str, host: bool = True) -> tuple[int, str]:
        """The status and all of an answer; a status of 0 means that nobody answered."""
        lines = [line, *([f"Host: {self.host}"] if host else []), *headers, "Connection: close"]
        with socket.create_connection(("127.0.0.1", self.port), timeout=10) as connection:
            with suppress(ConnectionError):
                connection.sendall("\r\n".join([*lines, "", ""]).encode("latin-1"))
            answer = b""
            with suppress(ConnectionError):
                while piece := connection.recv(65536):
                    answer += piece
        told = answer.decode("utf-8", "replace")
        return (int(told.split(" ", 2)[1]) if told else 0), told


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Raw]:
    home = tmp_path_factory.mktemp("home")
    write_session(home, prompt="PRIVATE")
    with served(home, tmp_path_factory.mktemp("data")) as server, server.client() as client:
        wait_until(lambda: client.get("/api/sessions").status_code == 200, "the first index")
        yield Raw(server)


@pytest.mark.parametrize("path", ["/", "/healthz", "/api/sessions", "/nothing.js"])
def test_a_request_with_several_or_no_hosts_is_refused(raw: Raw, path: str) -> None:
    token = f"X-Geminids-Token: {raw.token}"
    assert raw.ask(f"GET {path} HTTP/1.1", token, "Host: elsewhere.example")[0] == 400
    assert raw.ask(f"GET {path} HTTP/1.1", f"Host: {raw.host}", token)[0] == 400
    assert raw.ask(f"GET {path} HTTP/1.1", token, host=False)[0] == 400
    assert raw.ask(f"GET {path} HTTP/1.0", token, host=False)[0] == 400


def test_an_address_written_out_whole_passes_no_other_guard(raw: Raw) -> None:
    token = f"X-Geminids-Token: {raw.token}"
    foreign = "GET http://elsewhere.example/api/sessions HTTP/1.1"
    assert raw.ask(foreign)[0] in {400, 401, 404}
    assert raw.ask(foreign, "Host: elsewhere.example", token, host=False)[0] == 400
    status, told = raw.ask(f"GET http://{raw.host}/api/sessions HTTP/1.1")
    assert status in {400, 401, 404}
    assert "PRIVATE" not in told


@pytest.mark.parametrize("method", ["TRACE", "OPTIONS", "CONNECT", "PROPFIND", "POST", "PUT"])
def test_other_methods_get_nothing(raw: Raw, method: str) -> None:
    target = raw.host if method == "CONNECT" else "/api/sessions"
    cookie = f"Cookie: geminids-{raw.port}={raw.token}"
    assert raw.ask(f"{method} {target} HTTP/1.1")[0] in {400, 401, 404, 405}
    status, told = raw.ask(f"{method} {target} HTTP/1.1", cookie, "X-Echo: mirrored")
    assert status in {400, 403, 404, 405}
    assert "mirrored" not in told
    assert "PRIVATE" not in told
    assert "access-control" not in told.lower()


def test_a_head_is_answered_without_a_body(raw: Raw) -> None:
    token = f"X-Geminids-Token: {raw.token}"
    status, told = raw.ask("HEAD /api/sessions HTTP/1.1", token)
    assert status == 200
    assert told.partition("\r\n\r\n")[2] == ""
    assert raw.ask("HEAD /api/sessions HTTP/1.1")[0] == 401


def test_no_web_socket_is_opened(raw: Raw) -> None:
    upgrade = (
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: eA==",
    )
    for path in ("/", "/api/events"):
        assert raw.ask(f"GET {path} HTTP/1.1", *upgrade)[0] in {400, 401, 426}


def test_headers_without_end_are_refused(raw: Raw) -> None:
    assert raw.ask("GET / HTTP/1.1", "X-Long: " + "x" * 200_000)[0] in {0, 400, 431}
    assert raw.ask("GET / HTTP/1.1", *(f"X-{number}: {'y' * 100}" for number in range(2_000)))[0] in {
        0,
        400,
        431,
    }
    assert raw.ask("GET /healthz HTTP/1.1")[0] == 200, "it is still there"


@pytest.mark.parametrize("cookie", ["", "=", "geminids", '"', "\x80\xff", "a" * 4000, "geminids-{port}=\xe9"])
def test_odd_cookies_open_nothing(raw: Raw, cookie: str) -> None:
    assert raw.ask("GET /api/sessions HTTP/1.1", f"Cookie: {cookie.format(port=raw.port)}")[0] == 401


@pytest.mark.parametrize(
    "path",
    [
        "/%2e%2e/%2e%2e/etc/passwd",
        "/..%2f..%2fetc%2fpasswd",
        "/assets/..%5c..%5cx",
        "/%00",
        "/a%00.js",
        "/%ff",
        "/..;/x",
    ],
)
def test_odd_paths_lead_nowhere(raw: Raw, path: str) -> None:
    status, told = raw.ask(f"GET {path} HTTP/1.1", f"X-Geminids-Token: {raw.token}")
    assert status in {200, 400, 404}
    assert "root:" not in told
    assert raw.ask(f"GET {path} HTTP/1.1")[0] in {400, 401}


def test_it_listens_on_no_other_address_of_this_machine(raw: Raw) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        # Nothing is sent: the system only says which address it would send from.
        probe.connect(("192.0.2.1", 9))
        own = probe.getsockname()[0]
    if own.startswith("127."):
        pytest.skip("this machine has no other address")
    with pytest.raises(OSError, match=r".+"), socket.create_connection((own, raw.port), timeout=2):
        pass


def test_the_token_is_compared_whole_and_odd_ones_do_no_harm() -> None:
    assert KEY.fits(KEY.token)
    for other in (None, "", KEY.token[:-1], f"{KEY.token}x", KEY.token.upper(), "é", "\udcff", "x" * 100_000):
        assert not KEY.fits(other)
    assert Key.new(1).token != Key.new(1).token
    assert len(Key.new(1).token) >= 43


def test_an_address_may_lead_to_a_place_of_a_page() -> None:
    base = f"http://127.0.0.1:{KEY.port}"
    assert KEY.address == KEY.address_of("/") == f"{base}/?token={KEY.token}"
    assert KEY.address_of("/sessions/a%3Ab#7") == f"{base}/sessions/a%3Ab?token={KEY.token}#7"
    code = Code()
    assert KEY.address_with(code, "/sessions/a%3Ab#7") == f"{base}/sessions/a%3Ab?code={code.words}#7"
