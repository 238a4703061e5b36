"""The files of the page itself: read at the start, so that no request ever names a file on the disk."""

from __future__ import annotations

from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from geminids.faces.web.faults import fault

FOLDER = "built"
"""Beside this module: what the build of the front end leaves; without it there is the API alone."""
INDEX = "index.html"
VIEWS = frozenset({"sessions", "search", "usage", "projects", "health"})
"""Whatever lies below these is an address of the page, also with a dot in it: ids may have one."""
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".webmanifest": "application/manifest+json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".woff2": "font/woff2",
    ".txt": "text/plain; charset=utf-8",
}
NO_PAGE = (
    "The page of the web app is missing: it is built when geminids is installed, and Node was not found. "
    "Install Node 20.19 or newer, then install geminids again with `pip install --force-reinstall`; in a "
    "clone, `make page` builds it."
)
_WITHOUT = f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>geminids</title></head>
<body><h1>geminids</h1>
<p>{NO_PAGE.replace("`", "")}</p>
<p>The data is at
<a href="/api/overview">/api/overview</a>; <a href="/api/openapi.json">/api/openapi.json</a> says what else
there is.</p></body></html>
""".encode()


class Page(NamedTuple):
    """A file of the page."""

    content: bytes
    media_type: str


def is_built() -> bool:
    """Return whether this installation has the page."""
    return files("geminids.faces.web").joinpath(FOLDER, INDEX).is_file()


class Pages:
    """All files of the page, by their paths."""

    def __init__(self) -> None:
        folder = files("geminids.faces.web").joinpath(FOLDER)
        self._pages = dict(_found(folder, "")) if folder.is_dir() else {}
        self._index = self._pages.get(INDEX) or Page(_WITHOUT, _TYPES[".html"])

    async def answer(self, request: Request) -> Response:
        """A file of the page, or the page itself: which view an address means is its own business."""
        path = request.url.path.removeprefix("/")
        page = self._pages.get(path)
        if page is None and not _is_view(path):
            return fault(404, "There is nothing at this address.")
        return Response((page or self._index).content, media_type=(page or self._index).media_type)


def _is_view(path: str) -> bool:
    """Whether an address may be one of the page; a name with a dot would be one of its files."""
    first, _, rest = path.partition("/")
    return first in VIEWS or (first != "api" and "." not in (rest or first).rpartition("/")[2])


def _found(folder: Traversable, above: str) -> list[tuple[str, Page]]:
    found: list[tuple[str, Page]] = []
    for item in folder.iterdir():
        if item.is_dir():
            found += _found(item, f"{above}{item.name}/")
        elif media_type := _TYPES.get(f".{item.name.rpartition('.')[2]}"):
            found.append((f"{above}{item.name}", Page(item.read_bytes(), media_type)))
    return found
