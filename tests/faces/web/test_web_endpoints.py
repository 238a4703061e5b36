"""Every endpoint over the fixture homes of all agents, and what each must get right."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from starlette.testclient import TestClient

from geminids.core.model import Attachment, State
from geminids.faces.documents.base import FaultyRequest
from geminids.faces.web.app import ENDPOINTS
from geminids.faces.web.endpoints import Endpoint
from geminids.library import open_library
from geminids.sharing.export import available as format_names
from tests.conftest import FIXTURES
from tests.support.connections import to_be_closed
from tests.support.homes import FIRST_ID, tool_call, write_session
from tests.support.planted_secrets import planted
from tests.support.web_apps import client_of

AGENTS = ("claude", "codex", "gemini")
ID = f"gemini:{FIRST_ID}"
ALL_KINDS: list[tuple[str, str | int | float | bool | None]] = [
    ("kind", kind) for kind in ("main", "subagent", "checkpoint", "lost")
]
STEP = 3
"""Of so many sessions one is asked everything."""
LEVELS = ("prompts", "conversation", "tools", "thoughts", "everything")


def homes_of(agent: str) -> list[Path]:
    return sorted(FIXTURES.glob(f"{agent}/*/home"))


@pytest.fixture(scope="module", params=AGENTS)
def every_home(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[TestClient]:
    """All fixture homes of an agent at once."""
    data = tmp_path_factory.mktemp("data")
    with client_of(homes_of(request.param), data) as client:
        yield client


def all_ids(client: TestClient) -> list[str]:
    found: list[str] = []
    asked = [*ALL_KINDS, ("limit", "200")]
    after: str | None = None
    while True:
        page = client.get("/api/sessions", params=[*asked, *([("after", after)] if after else [])]).json()
        found += [session["id"] for session in page["sessions"]]
        after = page["next"]
        if after is None:
            return list(dict.fromkeys(found))


def asked_of(endpoint: Endpoint, session_id: str) -> dict[str, Any]:
    usual = {
        "id": session_id,
        "number": 1,
        "part": 0,
        "index": 0,
        "words": "e",
        "q": "the",
        "detail": "everything",
    }
    return {name: value for name, value in usual.items() if name in endpoint.asked.__struct_fields__}


@pytest.mark.parametrize(
    "endpoint",
    [e for e in ENDPOINTS if "id" not in e.asked.__struct_fields__],
    ids=lambda endpoint: endpoint.path,
)
def test_every_endpoint_answers_as_it_says(every_home: TestClient, endpoint: Endpoint) -> None:
    answer = every_home.request(endpoint.method, endpoint.path, params=asked_of(endpoint, ""))
    assert answer.status_code == 200, answer.text
    assert not isinstance(endpoint.answer, str)
    msgspec.json.decode(answer.content, type=endpoint.answer)


def check_session(client: TestClient, session_id: str) -> set[str]:
    """Ask all endpoints of a session; those that answered."""
    answered: set[str] = set()
    for endpoint in (one for one in ENDPOINTS if "id" in one.asked.__struct_fields__):
        answer = client.get(endpoint.path, params=asked_of(endpoint, session_id))
        if answer.status_code == 200:
            answered.add(endpoint.path)
            if not isinstance(endpoint.answer, str):
                msgspec.json.decode(answer.content, type=endpoint.answer)
            continue
        fault = msgspec.json.decode(answer.content, type=FaultyRequest)
        assert answer.status_code == fault.status
        assert answer.status_code in {400, 404, 409}, (session_id, fault)
        assert fault.detail.endswith((".", ":")), fault.detail
    return answered


def check_windows(client: TestClient, session_id: str) -> None:
    """Windows put together are the whole story, and a level tells no less than the one before."""
    before: set[int] = set()
    for level in LEVELS:
        asked = {"id": session_id, "detail": level}
        whole = client.get("/api/session/messages", params={**asked, "count": 200}).json()
        pieces: list[Any] = []
        while len(pieces) < len(whole["entries"]):
            window = client.get("/api/session/messages", params={**asked, "start": len(pieces), "count": 17})
            assert window.json()["stamp"] == whole["stamp"], "it was read again, but has not changed"
            pieces += window.json()["entries"]
        assert pieces[:200] == whole["entries"]
        numbers = {entry["number"] for entry in whole["entries"] if entry["entry"] == "turn"}
        assert before <= numbers
        before = numbers if whole["total"] <= 200 else set()


def check_branches(client: TestClient, session_id: str) -> None:
    for branch in client.get("/api/session/branches", params={"id": session_id}).json()["branches"]:
        asked = {"id": session_id, "index": branch["index"], "detail": "everything", "count": 200}
        story = client.get("/api/session/branch", params=asked).json()
        numbers = [entry["number"] for entry in story["entries"]]
        assert all(branch["first"] <= number <= branch["last"] for number in numbers)
        assert {entry["state"] for entry in story["entries"]} <= {branch["state"]}
        assert branch["state"] != State.CURRENT
        assert branch["forked_after"] is None or branch["forked_after"] < branch["first"]


@pytest.mark.slow
def test_every_session_answers_as_the_endpoints_say(every_home: TestClient) -> None:
    answered: set[str] = set()
    for session_id in all_ids(every_home)[::STEP]:
        of_one = check_session(every_home, session_id)
        if "/api/session/messages" in of_one:
            check_windows(every_home, session_id)
            check_branches(every_home, session_id)
        answered |= of_one
    asked = {one.path for one in ENDPOINTS if "id" in one.asked.__struct_fields__}
    assert asked - answered <= {"/api/session/attachment"}, "the first part is rarely a picture"


def test_pages_of_a_list_hold_every_session_once(every_home: TestClient) -> None:
    asked = [*ALL_KINDS, ("limit", "7")]
    seen: list[tuple[str, Any]] = []
    after: str | None = None
    while True:
        page = every_home.get("/api/sessions", params=[*asked, *([("after", after)] if after else [])]).json()
        seen += [(one["id"], one["ended_at"]) for one in page["sessions"]]
        after = page["next"]
        if after is None:
            break
    assert len(seen) == page["total"]


def test_facets_count_what_the_list_holds(every_home: TestClient) -> None:
    facets = every_home.get("/api/facets", params=ALL_KINDS).json()
    total = every_home.get("/api/sessions", params=ALL_KINDS).json()["total"]
    assert facets["total"] == total
    for name in ("agents", "projects", "kinds", "statuses", "months"):
        assert sum(value["sessions"] for value in facets[name]) == total, name


def test_a_session_can_be_had_in_every_format(tmp_path: Path) -> None:
    write_session(tmp_path / "home")
    with client_of([tmp_path / "home"], tmp_path / "data") as client:
        for name in format_names():
            answer = client.get("/api/session/export", params={"id": ID, "format": name})
            assert answer.status_code == 200, name
            assert answer.content
            assert answer.headers["content-disposition"].startswith('attachment; filename="gemini-1f0c9a2b')


# Hostile sessions

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)><a xlink:href='javascript:alert(1)'>x</a></svg>",
    "[x](javascript:alert(1)) [y](data:text/html,<script>alert(1)</script>) [z](vbscript:x)",
    "![x](http://elsewhere.example/pixel.png)",
    "<http://a.example/'onmouseover='alert(1)>",
    '```"><script>alert(1)</script>\n</code></pre><script>alert(1)</script>\n```',
    "| a | b |\n|---|---|\n| <script>alert(1)</script> | `</td><script>` |",
    "&#x3c;script&#x3e;alert(1)&#x3c;/script&#x3e;",
    "\u202egnp.exe\u2066 hidden\u2069\u200b",
    "\x1b[31mred\x1b]8;;javascript:alert(1)\x07link\x1b]8;;\x07\x1b[2J\x1b]52;c;aGk=\x07",
    "<a href='&#106;avascript:alert(1)'>x</a>",
]
ALLOWED_TAG = re.compile(
    r"</?(?:a|b|blockquote|br|code|del|div|em|h[3-6]|hr|i|ins|li|ol|p|pre|s|span|strong"
    r"|table|tbody|td|th|thead|tr|ul)(?: [a-z-]+=\"[^\"<>]*\")*>"
)


def html_in(value: Any) -> Iterator[str]:
    match value:
        case dict():
            for name, held in value.items():
                if name in {"html", "handed_back"}:
                    yield held
                else:
                    yield from html_in(held)
        case list():
            for held in value:
                yield from html_in(held)


def strings_in(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for held in value.values():
                yield from strings_in(held)
        case list():
            for held in value:
                yield from strings_in(held)


def assert_harmless(markup: str) -> None:
    rest = ALLOWED_TAG.sub("", markup)
    assert "<" not in rest, markup
    for address in re.findall(r'href="([^"]*)"', markup):
        assert re.match(r"(?:https?|mailto):", address), address
    for name in re.findall(r" ([a-z-]+)=\"", "".join(ALLOWED_TAG.findall(markup))):
        assert not name.startswith("on")
        assert name not in {"style", "src"}


@pytest.mark.parametrize("words", HOSTILE)
def test_hostile_words_are_words(tmp_path: Path, words: str) -> None:
    call = tool_call(
        args={"command": words, words: words},
        resultDisplay=words,
        result=[{"functionResponse": {"name": "x", "response": {"output": words}}}],
    )
    write_session(tmp_path / "home", prompt=words, answer=words, calls=[call])
    with client_of([tmp_path / "home"], tmp_path / "data") as client:
        for path in ("/api/session/messages", "/api/session/outline", "/api/session"):
            answer = client.get(path, params={"id": ID, "detail": "everything"})
            assert answer.status_code == 200
            for markup in html_in(answer.json()):
                assert_harmless(markup)
            for told in strings_in(answer.json()):
                assert not set(told) & set("\x1b\x07\u202e\u2066\u200b"), told
        for listed in strings_in(client.get("/api/sessions").json()):
            assert not set(listed) & set("\x1b\x07\u202e\u2066\u200b")


def test_colours_of_a_terminal_are_names_of_classes(tmp_path: Path) -> None:
    printed = "plain \x1b[1;31mred\x1b[0m \x1b[38;5;46mgreen\x1b[39m \x1b[48;2;0;0;250mblue\x1b[m\nnext\rover"
    write_session(tmp_path / "home", calls=[tool_call(resultDisplay=printed)])
    with client_of([tmp_path / "home"], tmp_path / "data") as client:
        call = call_in(client)
    first, second = call["details"]["output"]["lines"]
    assert [(run["text"], run["style"]) for run in first] == [
        ("plain ", ""),
        ("red", "bold fg-red"),
        (" ", ""),
        ("green", "fg-bright-green"),
        (" ", ""),
        ("blue", "bg-bright-blue"),
    ]
    assert [run["text"] for run in second] == ["over"]


def call_in(client: TestClient) -> Any:
    story = client.get("/api/session/messages", params={"id": ID, "detail": "tools"}).json()
    parts = [part for entry in story["entries"] if entry["entry"] == "turn" for part in entry["parts"]]
    return next(part for part in parts if part["part"] == "call")


def test_a_recorded_screen_keeps_its_styles(tmp_path: Path) -> None:
    plain = {"bold": False, "italic": False, "underline": False, "dim": False, "inverse": False, "bg": ""}
    cells = [
        [{"text": "FAIL", **plain, "bold": True, "fg": "#800000"}, {"text": " app.ts   ", **plain, "fg": ""}]
    ]
    write_session(tmp_path / "home", calls=[tool_call(resultDisplay=cells)])
    with client_of([tmp_path / "home"], tmp_path / "data") as client:
        (line,) = call_in(client)["details"]["output"]["lines"]
    assert [(run["text"], run["style"]) for run in line] == [("FAIL", "bold fg-red"), (" app.ts", "")]


def test_a_change_is_told_in_numbered_lines(tmp_path: Path) -> None:
    diff = "--- a/x.py\n+++ b/x.py\n@@ -3,3 +3,4 @@ def f():\n kept\n-old\n+new\n+more\n end\n"
    shown = {
        "fileDiff": diff,
        "fileName": "x.py",
        "filePath": "/p/x.py",
        "originalContent": "",
        "newContent": "",
    }
    write_session(tmp_path / "home", calls=[tool_call("replace", resultDisplay=shown)])
    with client_of([tmp_path / "home"], tmp_path / "data") as client:
        (changed,) = call_in(client)["details"]["diffs"]
    (hunk,) = changed["hunks"]
    assert hunk["heading"] == "def f():"
    assert [(one["kind"], one["old"], one["new"], one["text"]) for one in hunk["lines"]] == [
        ("context", 3, 3, "kept"),
        ("removed", 4, None, "old"),
        ("added", None, 4, "new"),
        ("added", None, 5, "more"),
        ("context", 5, 6, "end"),
    ]


def test_pictures_have_addresses_and_only_safe_kinds_are_drawn(tmp_path: Path) -> None:
    png = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(16)).decode()
    svg = base64.b64encode(b"<svg onload='alert(1)'/>").decode()
    path = write_session(tmp_path / "home")
    records = [json.loads(line) for line in path.read_text().splitlines()]
    records[1]["content"] += [
        {"inlineData": {"mimeType": "image/png", "data": png}},
        {"inlineData": {"mimeType": "image/svg+xml", "data": svg}},
        {"inlineData": {"mimeType": "image/png", "data": svg}},
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    with client_of([tmp_path / "home"], tmp_path / "data") as client:
        story = client.get("/api/session/messages", params={"id": ID}).json()
        pictures = [part for part in story["entries"][0]["parts"] if part["part"] == "attachment"]
        assert [picture["is_picture"] for picture in pictures] == [True, False, False]
        answers = [client.get(picture["address"]) for picture in pictures]
    kinds = [answer.headers["content-type"] for answer in answers]
    assert kinds == ["image/png", "application/octet-stream", "application/octet-stream"]
    assert all(a.headers["content-disposition"].startswith("attachment") for a in answers[1:])
    assert answers[0].content == base64.b64decode(png)


def test_pictures_of_all_agents_are_served() -> None:
    kinds = {case: list(pictures_in(case)) for case in sorted(FIXTURES.glob("*/images/home"))}
    assert all(kinds.values())


def pictures_in(home: Path) -> Iterator[str]:
    import tempfile

    with tempfile.TemporaryDirectory() as data, client_of([home], Path(data)) as client:
        library = to_be_closed(open_library([str(home)], data, sync=False))
        for session_id in all_ids(client):
            for number, message in enumerate(library.session(session_id).messages, 1):
                for part, held in enumerate(message.parts):
                    if isinstance(held, Attachment) and held.data:
                        asked: dict[str, Any] = {"id": session_id, "number": number, "part": part}
                        answer = client.get("/api/session/attachment", params=asked)
                        assert answer.status_code == 200
                        yield answer.headers["content-type"]
        library.close()


def test_a_window_of_huge_messages_is_shorter_than_asked_for(tmp_path: Path) -> None:
    path = write_session(tmp_path / "home")
    with path.open("a") as file:
        for number in range(80):
            at = f"2026-05-01T11:00:{number % 60:02}.000Z"
            content = [{"text": "<&>" * 30_000}]
            file.write(
                json.dumps({"id": f"u{number}", "timestamp": at, "type": "user", "content": content}) + "\n"
            )
    with client_of([tmp_path / "home"], tmp_path / "data") as client:
        answer = client.get("/api/session/messages", params={"id": ID, "count": 200})
        asked: dict[str, Any] = {"id": ID, "number": 3, "part": 0}
        whole = client.get("/api/session/text", params=asked)
    story = answer.json()
    assert 1 < len(story["entries"]) < 82 <= story["total"]
    assert len(answer.content) < 10_000_000
    assert whole.text == "<&>" * 30_000


def test_a_session_opens_in_a_folder_whose_name_is_no_text(tmp_path: Path) -> None:
    write_session(tmp_path / "home", slug="caf\udce9", project="/home/ada/dev/cafe")
    with client_of([tmp_path / "home"], tmp_path / "data") as client:
        answer = client.get("/api/session/opening", params={"id": ID, "whole": True})
    opened = answer.json()
    assert "caf?" in opened["facts"]["files"][0]["path"]
    told = [entry["parts"][0]["html"] for entry in opened["story"]["entries"]]
    assert told == ["Fix the login redirect", "<p>Done.</p>\n"]


# Errors


@pytest.mark.parametrize(
    ("path", "params", "status"),
    [
        ("/api/session", {"id": "gemini:none"}, 404),
        ("/api/session", {}, 400),
        ("/api/session/messages", {"id": ID, "count": "201"}, 400),
        ("/api/session/messages", {"id": ID, "count": "many"}, 400),
        ("/api/session/messages", {"id": ID, "detail": "all"}, 400),
        ("/api/session/messages", {"id": ID, "around": "99"}, 404),
        ("/api/session/message", {"id": ID, "number": "99"}, 404),
        ("/api/session/raw", {"id": ID, "number": "99"}, 404),
        ("/api/session/attachment", {"id": ID, "number": "1", "part": "9"}, 404),
        ("/api/session/export", {"id": ID, "format": "nothing"}, 400),
        ("/api/sessions", {"unknown": "1"}, 400),
        ("/api/sessions", {"since": "someday"}, 400),
        ("/api/sessions", {"after": "nothing"}, 400),
        ("/api/sessions", {"q": "x", "kind": "copy"}, 400),
        ("/api/sessions", {"q": '"open'}, 400),
        ("/api/search", {"q": ""}, 400),
        ("/api/search", {"q": "status:wrong"}, 400),
        ("/api/search", {"q": "x" * 3000}, 400),
        ("/api/usage", {"by": "nothing"}, 400),
        ("/api/nothing", {}, 404),
    ],
)
def test_what_cannot_be_answered_is_told_in_a_sentence(
    tmp_path: Path, path: str, params: dict[str, str], status: int
) -> None:
    write_session(tmp_path / "home")
    with client_of([tmp_path / "home"], tmp_path / "data") as client:
        answer = client.get(path, params=params)
    assert answer.status_code == status, answer.text
    fault = msgspec.json.decode(answer.content, type=FaultyRequest)
    assert fault.status == status
    assert len(fault.detail) > 10
    assert "Traceback" not in answer.text


def test_an_id_of_several_sessions_names_them(tmp_path: Path) -> None:
    for number in (1, 2):
        write_session(tmp_path / "home", f"1f0c9a2b-0000-4000-8000-00000000000{number}", day=number)
    with client_of([tmp_path / "home"], tmp_path / "data") as client:
        answer = client.get("/api/session", params={"id": "1f0c9a2b"})
    assert answer.status_code == 409
    assert len(answer.json()["candidates"]) == 2


# Redaction

SECRET = next(one for one in planted() if one.is_token and len(one.secrets) == 1).secrets[0]


@pytest.mark.parametrize("whole_app", [True, False], ids=["app", "parameter"])
def test_no_endpoint_gives_a_secret_away_where_they_are_hidden(tmp_path: Path, whole_app: bool) -> None:
    words = f"use the token {SECRET} please"
    call = tool_call(args={"command": f"curl -H 'Authorization: {SECRET}'"}, resultDisplay=words)
    write_session(tmp_path / "home", prompt=words, answer=words, calls=[call])
    with client_of([tmp_path / "home"], tmp_path / "data", redacts=whole_app) as client:
        for endpoint in ENDPOINTS:
            asked = {
                **asked_of(endpoint, ID),
                **({"q": "token"} if "q" in endpoint.asked.__struct_fields__ else {}),
            }
            asked |= {} if whole_app else {"redact": "1"}
            answer = client.request(endpoint.method, endpoint.path, params=asked)
            assert answer.status_code in {200, 404}, (endpoint.path, answer.text)
            assert SECRET not in answer.text, endpoint.path
        half = client.get("/api/search", params={"q": f'"{SECRET[:12]}"*', "redact": "1", "width": 40})
        assert SECRET[14:26] not in half.text
        if not whole_app:
            assert SECRET in client.get("/api/session/text", params={"id": ID, "number": 1}).text


def test_a_session_that_grows_is_read_again(tmp_path: Path) -> None:
    path = write_session(tmp_path / "home")
    with client_of([tmp_path / "home"], tmp_path / "data") as client:
        before = client.get("/api/session/messages", params={"id": ID}).json()
        more = {
            "id": "u2",
            "timestamp": "2026-05-01T11:00:00.000Z",
            "type": "user",
            "content": [{"text": "More"}],
        }
        with path.open("a") as file:
            file.write(json.dumps(more) + "\n")
        after = client.get("/api/session/messages", params={"id": ID}).json()
    assert after["stamp"] != before["stamp"]
    assert after["entries"][-1]["number"] == 3


def test_a_link_to_a_message_finds_its_window(tmp_path: Path) -> None:
    write_session(tmp_path / "home")
    with client_of([tmp_path / "home"], tmp_path / "data") as client:
        asked: dict[str, Any] = {"id": ID, "around": 2, "count": 1}
        (entry,) = client.get("/api/session/messages", params=asked).json()["entries"]
        assert entry["number"] == 2
        raw = client.get("/api/session/raw", params={"id": ID, "number": 2}).json()
        assert json.loads(raw["text"])["id"] == f"g-{FIRST_ID}"
        found = client.get("/api/session/find", params={"id": ID, "words": "LOGIN"}).json()
    assert [(place["number"], place["entry"]) for place in found["places"]] == [(1, 0)]
    assert [piece["text"] for piece in found["places"][0]["pieces"] if piece["is_match"]] == ["login"]
