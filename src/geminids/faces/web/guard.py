"""Who may ask: this machine, by the address that was printed, with the token of this start.

    Host         must be ours, port and all, on every route: a page elsewhere may have our address as its name
    token        in the address that is printed; a 303 turns it into a cookie that no script can read
    code         in the address that a browser is started with: stands for the token once, and not for long
    user         programs of another user of this machine are refused, whatever they bring (Linux)
    cross-site   what a browser says comes from another site is refused, whatever it brings
    changes      need the token as a header too, which no form and no picture can send

No answer may be stored or framed, or load anything from anywhere else.
"""

from __future__ import annotations

import secrets
import time
from typing import NamedTuple
from urllib.parse import parse_qsl, quote, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from geminids.faces.web.agents import PATH as AGENTS
from geminids.faces.web.connections import PEER, Peer
from geminids.faces.web.faults import fault
from geminids.faces.web.refusal_page import refusal_page

HEADER = "x-geminids-token"
PARAMETER = "token"
CODE = "code"
CODE_LASTS = 120.0
"""Seconds that a browser has to start."""
HEALTH = "/healthz"
_READING = frozenset({"GET", "HEAD", "OPTIONS"})
_OWN_SITES = frozenset({"same-origin", "none"})
_TOO_LATE = {
    PARAMETER: "This address is from an earlier start. Open the address that was printed last.",
    CODE: "This address works only once, right after the start. Open the address that was printed.",
}
_FOR_PEOPLE = "Open the address that was printed when the server started: it holds the key."
_FOR_AGENTS = (
    "Give the header X-Geminids-Token with the token of the address that was printed when the server started."
)
_ANOTHER_USER = (
    "This request came from another user of this machine; only the user who started the server has access."
)
LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")
POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "font-src 'self'",
        "connect-src 'self'",
        "manifest-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
SECURITY_HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-frame-options": "DENY",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}


class Key(NamedTuple):
    """What opens the door: made anew with every start."""

    token: str
    port: int

    @classmethod
    def new(cls, port: int) -> Key:
        """A key that nobody can guess."""
        return cls(secrets.token_urlsafe(32), port)

    @property
    def hosts(self) -> frozenset[str]:
        """What a browser may call us."""
        return frozenset(f"{name}:{self.port}" for name in LOOPBACK_NAMES)

    @property
    def cookie(self) -> str:
        """The name of our cookie: browsers do not tell ports apart."""
        return f"geminids-{self.port}"

    @property
    def address(self) -> str:
        """What to open in a browser."""
        return self.address_of("/")

    def address_of(self, page: str) -> str:
        """What to open in a browser for one page: a path, perhaps with a place in it after a `#`."""
        return self._address(page, PARAMETER, self.token)

    def address_with(self, code: Code, page: str = "/") -> str:
        """What to start a browser with."""
        return self._address(page, CODE, code.words)

    def _address(self, page: str, parameter: str, value: str) -> str:
        path, sign, place = page.partition("#")
        return f"http://127.0.0.1:{self.port}{path}?{parameter}={value}{sign}{place}"

    def fits(self, given: str | None) -> bool:
        """Whether this is the token."""
        return given is not None and _are_same(given, self.token)


class Code:
    """Stands for the token once, and only for a short while.

    Whoever is on this machine can read the command lines of all programs, and a browser is told there what to
    open. A file that leads on to the address would hide the token as well, but browsers in a box (snap,
    flatpak) may not read hidden folders or /tmp, and those of Windows know no path of WSL: a code works
    wherever an address does. Whoever reads it before the browser has used it is another user, and refused
    as such.
    """

    def __init__(self) -> None:
        self.words = secrets.token_urlsafe(32)
        self._until = time.monotonic() + CODE_LASTS
        self._is_used = False

    def fits(self, given: str) -> bool:
        """Whether this is the code, and it still stands for the token."""
        return not self._is_used and time.monotonic() < self._until and _are_same(given, self.words)

    def use(self) -> None:
        """Let it stand for nothing any more."""
        self._is_used = True


def _are_same(given: str, secret: str) -> bool:
    return secrets.compare_digest(given.encode(errors="replace"), secret.encode())


class Guard:
    """Lets through what may pass, and puts the security headers on all that is answered."""

    def __init__(self, app: ASGIApp, key: Key, code: Code | None = None) -> None:
        self._app = app
        self._key = key
        self._code = code

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            # Nothing here speaks over a web socket.
            await send({"type": "websocket.close", "code": 1008})
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in SECURITY_HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        refused = self._refused(scope)
        await (refused or self._app)(scope, receive, send_guarded)

    def _refused(self, scope: Scope) -> Response | None:
        """What is answered to those who may not pass, or must come again without the token."""
        headers, key = Headers(scope=scope), self._key
        if headers.getlist("host") != [headers.get("host")] or headers.get("host") not in key.hosts:
            return refusal_page(headers, 400, "This server answers only to the address that it printed.")
        if headers.get("sec-fetch-site", "none") not in _OWN_SITES:
            return refusal_page(
                headers, 403, "This request came from another site; only pages of this server have access."
            )
        if headers.get("origin") not in {None, *(f"http://{host}" for host in key.hosts)}:
            sentence = (
                "This request came from a page of another origin; only pages of this server have access."
            )
            return refusal_page(headers, 403, sentence)
        if scope["path"] == HEALTH:
            return None
        return self._exchanged(scope, headers) or self._without_token(scope, headers)

    def _exchanged(self, scope: Scope, headers: Headers) -> Response | None:
        """The way on for whoever brings the token or the code: to the same place with a cookie."""
        given = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        brought = [(name, value) for name, value in given if name in {PARAMETER, CODE}]
        if not brought or scope["method"] != "GET":
            return None
        has_cookie = self._key.fits(_cookie(headers, self._key.cookie))
        if not all(self._opens(name, value) or (name == CODE and has_cookie) for name, value in brought):
            return refusal_page(headers, 401, _TOO_LATE[brought[0][0]])
        if _is_another_user(scope):
            return refusal_page(headers, 403, _ANOTHER_USER)
        if self._code and any(name == CODE for name, _ in brought):
            self._code.use()
        rest = urlencode([(name, value) for name, value in given if name not in {PARAMETER, CODE}])
        # Only a path: two slashes at its beginning would name another machine.
        path = "/" + quote(scope["path"].lstrip("/\\"))
        answer = RedirectResponse(f"{path}?{rest}" if rest else path, 303)
        answer.set_cookie(self._key.cookie, self._key.token, path="/", httponly=True, samesite="strict")
        return answer

    def _opens(self, name: str, value: str) -> bool:
        if name == PARAMETER:
            return self._key.fits(value)
        return self._code is not None and self._code.fits(value)

    def _without_token(self, scope: Scope, headers: Headers) -> Response | None:
        has_header = self._key.fits(headers.get(HEADER))
        if not has_header and not self._key.fits(_cookie(headers, self._key.cookie)):
            return refusal_page(headers, 401, _FOR_AGENTS if scope["path"] == AGENTS else _FOR_PEOPLE)
        if _is_another_user(scope):
            return refusal_page(headers, 403, _ANOTHER_USER)
        if scope["method"] not in _READING and not has_header:
            return fault(403, f"Requests that change something need the token in the header {HEADER}.")
        return None


def _is_another_user(scope: Scope) -> bool:
    peer = scope.get("state", {}).get(PEER)
    return isinstance(peer, Peer) and peer.is_another_user


def _cookie(headers: Headers, name: str) -> str | None:
    # Other servers of this machine leave cookies here too, written in any way: ours is found among them.
    return cookie_parser(headers.get("cookie", "")).get(name)
