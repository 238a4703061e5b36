"""Exported pages in a real browser: Chromium without a window, in which nothing may leave the page.

axe-core, which looks for what keeps people from using a page, comes from npm by the lock file in `tests/axe`.
"""

from __future__ import annotations

import base64
import fcntl
import os
import shutil
import struct
import subprocess
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec
from playwright.sync_api import Browser, ConsoleMessage, Dialog, Page, Request, Route, sync_playwright

from geminids.core.model import (
    Attachment,
    Counts,
    Diff,
    FileChange,
    FileReference,
    KnownBy,
    Level,
    Location,
    Message,
    Operation,
    Origin,
    Project,
    Role,
    Session,
    State,
    Status,
    Text,
    Thought,
    ToolCall,
    ToolKind,
    ToolStatus,
    Usage,
)
from geminids.sharing.export.base import Entry
from tests.support.exporting import hostile_session

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
AXE = Path(__file__).parent / "axe"
INSTALL_SECONDS = 120
STEP_MILLISECONDS = 15_000
DRAWN = "() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))"
"""Done when all that has changed is drawn."""
COLOUR_RULES = ["color-contrast", "link-in-text-block"]
"""Those rules of axe-core, of all that it follows unasked, that look at colours."""


class NotHereError(Exception):
    """What a test needs cannot be had on this machine, and why."""


class Watched(NamedTuple):
    """A page, and what it did that a page should not do."""

    page: Page
    console: list[str]
    requests: list[str]
    dialogs: list[str]

    @property
    def troubles(self) -> list[str]:
        """Everything together."""
        return [*self.console, *self.requests, *self.dialogs]


@contextmanager
def headless_browser() -> Iterator[Browser]:
    """Chromium, for as long as it is needed. Raises NotHereError."""
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        raise NotHereError(f"there is no browser here: {', '.join(BROWSERS)}")
    # As root, which containers often are, Chromium has no sandbox.
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=arguments)
        yield browser
        browser.close()


@contextmanager
def watched(browser: Browser, file: Path, **options: Any) -> Iterator[Watched]:
    """A page opened from a file; every request but the one for the file itself is noted and refused."""
    context = browser.new_context(**options)
    context.set_default_timeout(STEP_MILLISECONDS)
    page = context.new_page()
    seen = Watched(page, [], [], [])
    context.route("**/*", lambda route: _only(file.as_uri(), route))
    context.on("request", lambda request: _note_request(seen, request, file.as_uri()))
    context.on("console", lambda message: _note_console(seen, message))
    context.on("weberror", lambda error: seen.console.append(str(error.error)))
    page.on("dialog", lambda dialog: _note_dialog(seen, dialog))
    page.goto(file.as_uri())
    yield seen
    context.close()


def _only(address: str, route: Route) -> None:
    if route.request.url.partition("#")[0] == address:
        route.continue_()
    else:
        route.abort()


def _note_request(seen: Watched, request: Request, address: str) -> None:
    if request.url.partition("#")[0] != address and not request.url.startswith("data:"):
        seen.requests.append(request.url)


def _note_console(seen: Watched, message: ConsoleMessage) -> None:
    seen.console.append(f"{message.type}: {message.text}")


def _note_dialog(seen: Watched, dialog: Dialog) -> None:
    seen.dialogs.append(dialog.message)
    dialog.dismiss()


def axe_script(cache: Path) -> str:
    """The script of axe-core, installed if need be. Raises NotHereError."""
    folder = cache / "axe-core"
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / "axe-core.lock").open("w") as lock:
        # Tests run in several processes; one installs, the others wait for it.
        fcntl.flock(lock, fcntl.LOCK_EX)
        wanted = (AXE / "package-lock.json").read_bytes()
        kept = folder / "package-lock.json"
        if not kept.exists() or kept.read_bytes() != wanted:
            _install(folder)
    return (folder / "node_modules" / "axe-core" / "axe.min.js").read_text("utf-8")


def _install(folder: Path) -> None:
    npm = shutil.which("npm")
    if not npm:
        raise NotHereError("there is no npm on this machine, and so no axe-core")
    part = folder.with_suffix(".part")
    for old in (part, folder):
        shutil.rmtree(old, ignore_errors=True)
    shutil.copytree(AXE, part)
    line = [npm, "ci", "--prefix", str(part), "--no-audit", "--no-fund", "--ignore-scripts"]
    try:
        ran = subprocess.run(line, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False)
    except subprocess.TimeoutExpired as error:
        raise NotHereError(f"npm did not install axe-core within {INSTALL_SECONDS} seconds") from error
    if ran.returncode:
        raise NotHereError(f"npm could not install axe-core: {ran.stderr.strip()[-300:]}")
    part.rename(folder)


def serious_faults(page: Page, axe: str) -> Iterator[tuple[str, list[str]]]:
    """What axe-core finds serious or critical in a page, in light and in the dark.

    Where the page is the same in the dark, only what depends on colours can be otherwise.
    """
    if not page.evaluate("'axe' in window"):
        page.evaluate(axe)
    looked_at = None
    schemes: tuple[Literal["light", "dark"], ...] = ("light", "dark")
    for scheme in schemes:
        page.emulate_media(color_scheme=scheme)
        page.evaluate(DRAWN)
        options: dict[str, Any] = {"resultTypes": ["violations"]}
        if page.content() == looked_at:
            options["runOnly"] = {"type": "rule", "values": COLOUR_RULES}
        found = page.evaluate("(options) => axe.run(document, options)", options)
        yield (
            scheme,
            [
                f"{rule['id']}: {node['html'][:160]} {node['failureSummary']}"
                for rule in found["violations"]
                if rule["impact"] in {"serious", "critical"}
                for node in rule["nodes"]
            ],
        )
        looked_at = page.content()


def picture(width: int, height: int) -> str:
    """A PNG, as agents store it."""
    rows = b"".join(b"\0" + bytes((x * y) % 256 for x in range(3 * width)) for y in range(height))
    pieces = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(rows)),
        (b"IEND", b""),
    )
    chunks = (
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in pieces
    )
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"".join(chunks)).decode()


ANSWER = """The router answers `OPTIONS` **itself**, so the preflight never arrives:

## What happens

1. The browser sends `OPTIONS /items`
2. The router answers *405*, see [the standard](https://fetch.spec.whatwg.org/ "Fetch")

| Step | Where | Milliseconds |
|:-----|:------|-----:|
| match | `router.py` | 0.4 |
| dispatch | a column that is rather wide, and wider still on a telephone | 12.9 |

```python
class Route:
    \"\"\"A path and who answers it.\"\"\"
    methods: frozenset[str] = frozenset({"GET"})  # HEAD follows
```

> The default is safe.

- answer preflights **first**
- add a test
"""
DIFF = """--- a/router.py
+++ b/router.py
@@ -41,4 +41,4 @@ class Router:
     def dispatch(self, request):
-        if request.method not in route.methods:
+        if request.method == "OPTIONS" and request.headers.get("Access-Control-Request-Method") is not None:
             return Response(405)
"""
FOLDER = "/home/ada/shop"


def readable_session() -> Session:
    """A session with one of everything that a page can show."""
    return msgspec.structs.replace(
        hostile_session(),
        id="gemini:5f0c9a1e-7d1b-4c55-9b6e-3d1a2f4b8c90",
        native_id="5f0c9a1e-7d1b-4c55-9b6e-3d1a2f4b8c90",
        project=Project(FOLDER, "0" * 64, "shop", KnownBy.MARKER),
        title="Fix the failing preflight",
        summary=None,
        status=Status.SUCCESS,
        models=("gemini-2.5-pro", "gemini-2.5-flash"),
        counts=Counts(3, 4, 6, 2, 1),
        usage=Usage(3, 35000, 20000, 5000, 1500, 1000, 0, 37500),
        branch="cors",
        messages=tuple(_messages()),
    )


def _messages() -> Iterator[Message]:
    asked = 'The browser says "preflight did not succeed".\n\n    Where does that come from? @router.py'
    yield _message(
        1, Origin.HUMAN, Text(asked, Origin.HUMAN), FileReference("router.py", "class Router:\n    ...\n")
    )
    yield _message(
        2,
        Origin.MODEL,
        Thought("I should see how `OPTIONS` is answered.", subject="Looking at the router"),
        Text("Let me look.", Origin.MODEL),
        _call(
            "read_file", {"file_path": f"{FOLDER}/router.py"}, "class Router:\n    def dispatch(self): ...\n"
        ),
        usage=Usage(1, 9000, 0, None, 40, 900, 0, 9940),
    )
    yield _message(
        3,
        Origin.MODEL,
        _call("run_shell_command", {"command": "pytest -q"}, "1 failed\nzanzibar", exit_code=1),
        _call("read_file", {"file_path": f"{FOLDER}/none.py"}, "File not found", status=ToolStatus.ERROR),
        usage=Usage(1, 12000, 9000, None, 60, 100, 0, 12160),
    )
    change = FileChange(f"{FOLDER}/router.py", Operation.EDIT, diff=DIFF, added=1, removed=1)
    arguments = {"file_path": f"{FOLDER}/router.py", "old_string": "if", "new_string": "if request"}
    yield _message(
        4,
        Origin.MODEL,
        Text(ANSWER, Origin.MODEL),
        _call("replace", arguments, "Modified", display=Diff("router.py", DIFF), changes=(change,)),
        usage=Usage(1, 14000, 11000, None, 1400, 0, 0, 15400),
    )
    yield _message(5, Origin.NOTICE, Text("Quota exceeded.", Origin.NOTICE), level=Level.ERROR)
    yield _message(
        6,
        Origin.HUMAN,
        Text("Is that right?", Origin.HUMAN),
        Attachment("image/png", data=picture(60, 20)),
        Attachment("application/pdf", data="JVBERi0xLjQK"),
    )
    yield _message(7, Origin.MODEL, Text("Yes. All tests pass.", Origin.MODEL), model="gemini-2.5-flash")
    yield _message(
        400,
        Origin.SHELL,
        Text("git log --oneline", Origin.HUMAN),
        Text("08c0949 tests: preflight\n" * 30, Origin.SHELL),
    )
    yield _message(401, Origin.HUMAN, Text("one-long-word-" + "x" * 400, Origin.HUMAN), state=State.CANCELLED)


def _message(minute: int, origin: Origin, *parts: Any, **more: Any) -> Message:
    roles = {Origin.MODEL: Role.ASSISTANT, Origin.NOTICE: Role.SYSTEM}
    fields: dict[str, Any] = {
        "id": f"m{minute}",
        "role": roles.get(origin, Role.USER),
        "origin": origin,
        "state": State.CURRENT,
        "at": datetime(2026, 5, 1, 10, tzinfo=UTC) + timedelta(minutes=minute),
        "model": "gemini-2.5-pro" if origin is Origin.MODEL else None,
        "parts": parts,
        "usage": None,
        "source": Location("/home/ada/session.jsonl", minute, minute * 10, minute * 10 + 5),
    }
    return Message(**fields | more)


def _call(name: str, arguments: dict[str, Any], output: str, **more: Any) -> ToolCall:
    fields: dict[str, Any] = {"status": ToolStatus.SUCCESS, "result": (Text(output, Origin.TOOL),)}
    return ToolCall(f"{name}-1", name, ToolKind.OTHER, arguments, **fields | more)


def entry_of(session: Session, file: str) -> Entry:
    """A session as the list of a folder tells of it."""
    return Entry(
        file=file,
        id=session.id,
        agent=session.agent,
        kind=str(session.kind),
        redacted=False,
        title=session.title or "untitled",
        project=session.project.name,
        started_at=session.started_at,
        ended_at=session.ended_at,
        status=str(session.status),
        prompts=session.counts.prompts,
        tool_calls=session.counts.tool_calls,
    )
