"""Whatever leaves the server: no secret where they are hidden, and no character that steers, in any field."""

from __future__ import annotations

import base64
import binascii
import json
import re
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from geminids.core.model import SessionKind
from geminids.faces.documents.live import LiveEvent
from geminids.faces.serving.outgoing import JsonWriter
from geminids.faces.serving.redaction import Redaction
from geminids.faces.web.app import ENDPOINTS
from geminids.faces.web.endpoints import Endpoint
from geminids.library import open_library
from geminids.query.sessions.listing import Filter
from geminids.sharing.transcript import safe
from geminids.storage.durable.values import MarkChange
from tests.support.homes import write_session
from tests.support.poisoned_homes import CONTROLS, POISON, SECRET, write_poisoned
from tests.support.web_apps import Served, client_of, served, wait_until

STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
PIECES = {SECRET[at : at + 12] for at in range(len(SECRET) - 11)}
ALL_KINDS = [("kind", kind) for kind in ("main", "subagent", "checkpoint", "copy", "lost")]
DOWNLOADED = frozenset({"/api/session/attachment", "/api/session/export"})
"""Whole files, in which the words of a session stand as they are, as far as they are no secrets."""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = write_poisoned(tmp_path_factory.mktemp("poisoned") / "home")
    # An id that is a secret and nothing else.
    write_session(home, SECRET, slug="token")
    broken = next(home.rglob("session-*.jsonl")).parent / f"session-2026-05-01T10-00-{SECRET}.jsonl"
    broken.write_text('{"sessionId": 5}\nno JSON\n')
    return home


@pytest.fixture(scope="module", params=[False, True], ids=["open", "redacted"])
def is_redacted(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.fixture(scope="module")
def client(is_redacted: bool, home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    data = tmp_path_factory.mktemp("data")
    with open_library([str(home)], str(data)) as library:
        library.sync()
        change = MarkChange(name=f"named {SECRET}", tags=("plain",), notes=(f"noted {SECRET}",))
        library.mark(f"gemini:{SECRET}", change)
    with client_of([home], data, redacts=is_redacted) as opened:
        yield opened


def texts_in(value: Any) -> Iterator[str]:
    """Every text of a document, names of fields included."""
    match value:
        case str():
            yield value
        case list():
            for one in value:
                yield from texts_in(one)
        case dict():
            for name, one in value.items():
                yield name
                yield from texts_in(one)


def check(is_redacted: bool, path: str, answer: Any) -> None:
    """Look through all of an answer: body, headers, and what is written in it in another way."""
    told = [f"{name}: {value}" for name, value in answer.headers.items()]
    is_json = answer.headers["content-type"].endswith("json")
    texts = [*told, *(texts_in(answer.json()) if is_json else [answer.text])]
    for text in texts:
        if path not in DOWNLOADED:
            assert not (found := STEERING.search(text)), (path, found, text[:200])
        if is_redacted:
            for form in (text, opened(text)):
                assert not any(piece in form for piece in PIECES), (path, text[:300])


def opened(text: str) -> str:
    """A text that may be base64, as a cursor is."""
    with suppress(binascii.Error, ValueError):
        return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode("utf-8", "replace")
    return ""


def asked_of(endpoint: Endpoint, session_id: str, number: int) -> dict[str, Any]:
    usual = {
        "id": session_id,
        "number": number,
        "part": 0,
        "index": 0,
        "words": "e",
        "q": "the",
        "detail": "everything",
    }
    return {name: value for name, value in usual.items() if name in endpoint.asked.__struct_fields__}


def sessions_of(client: TestClient) -> list[Any]:
    listed = client.get("/api/sessions", params=[*ALL_KINDS, ("limit", "200")])
    return list(listed.json()["sessions"])


def test_the_home_is_what_it_should_be(home: Path, tmp_path: Path) -> None:
    with open_library([str(home)], str(tmp_path)) as library:
        library.sync()
        sessions = [
            library.session(row.id) for row in library.listing(Filter(kinds=frozenset(SessionKind))).sessions
        ]
    assert {session.agent for session in sessions} == {"gemini", "claude", "codex"}
    assert any(SECRET in session.id and STEERING.search(session.id) for session in sessions)
    for what in ("models", "title", "branch"):
        assert any(SECRET in str(getattr(session, what)) for session in sessions), what
    calls = [call for session in sessions for message in session.messages for call in message.tool_calls]
    assert any(SECRET in call.name for call in calls)
    assert any(SECRET in name for call in calls for name in call.arguments)
    assert any(SECRET in (call.child_id or "") for call in calls)
    assert any(SECRET in (session.project.path or "") for session in sessions)


@pytest.mark.parametrize(
    "endpoint",
    [one for one in ENDPOINTS if "id" not in one.asked.__struct_fields__],
    ids=lambda one: one.path,
)
def test_nothing_gets_out_of_what_is_told_of_many(
    client: TestClient, is_redacted: bool, endpoint: Endpoint
) -> None:
    asked = [asked_of(endpoint, "", 1)]
    fields = endpoint.asked.__struct_fields__
    if "q" in fields:
        asked += (
            [{"q": ""}, {"q": "nowheretobefound"}, {"q": f"project:x{POISON}"}, {"q": '"'}]
            if endpoint.path != "/api/search"
            else []
        )
    if "by" in fields and "fold" in fields:
        asked += [{"by": by} for by in ("model", "agent", "project", "session", "tool")]
    if "split" in fields:
        asked += [{"split": split} for split in ("model", "agent", "project")]
    if "limit" in fields:
        asked += [{**asked[0], "limit": "1"}]
    for one in asked:
        check(is_redacted, endpoint.path, client.request(endpoint.method, endpoint.path, params=one))


@pytest.mark.slow
def test_nothing_gets_out_of_what_is_told_of_a_session(client: TestClient, is_redacted: bool) -> None:
    answered: set[str] = set()
    for session in sessions_of(client):
        for endpoint in (one for one in ENDPOINTS if "id" in one.asked.__struct_fields__):
            for number in (1, 2) if "number" in endpoint.asked.__struct_fields__ else (1,):
                answer = client.get(endpoint.path, params=asked_of(endpoint, session["id"], number))
                check(is_redacted, endpoint.path, answer)
                answered |= {endpoint.path} if answer.status_code == 200 else set()
    everything = {one.path for one in ENDPOINTS if "id" in one.asked.__struct_fields__}
    assert everything - answered <= {"/api/session/attachment", "/api/session/branch"}


def test_nothing_gets_out_with_a_fault(client: TestClient, is_redacted: bool) -> None:
    for wanted in (f"none{POISON}", "gemini:", "gem", "@" + "0" * 20):
        answer = client.get("/api/session", params={"id": wanted})
        assert answer.status_code in {400, 404, 409}
        assert not STEERING.search("".join(texts_in(answer.json())))
    near = client.get("/api/session", params={"id": sessions_of(client)[0]["id"][:-1]})
    check(is_redacted, "near", near)


@pytest.mark.slow
def test_what_is_told_can_be_asked_for(client: TestClient) -> None:
    sessions = sessions_of(client)
    assert len({session["id"] for session in sessions}) == len(sessions)
    assert any(re.fullmatch(r"@[0-9a-f]{20}", session["id"]) for session in sessions)
    for session in sessions:
        facts = client.get("/api/session", params={"id": session["id"]}).json()
        assert facts["line"]["id"] == session["id"]
        assert facts["line"]["project"]["key"] == session["project"]["key"]
        assert facts["line"]["name"] == session["name"]
        story = client.get("/api/session/messages", params={"id": session["id"]}).json()
        assert story["id"] == session["id"]
        for child in [*facts["children"], session["parent_id"]]:
            if child:
                assert client.get("/api/session", params={"id": child}).status_code == 200, child
        key = session["project"]["key"]
        narrowed = client.get("/api/sessions", params=[*ALL_KINDS, ("project", key), ("limit", "200")]).json()
        assert session["id"] in {one["id"] for one in narrowed["sessions"]}, key
    pages = client.get("/api/sessions", params=[*ALL_KINDS, ("limit", "2")]).json()
    following = client.get(
        "/api/sessions", params=[*ALL_KINDS, ("limit", "2"), ("after", pages["next"])]
    ).json()
    assert not {one["id"] for one in pages["sessions"]} & {one["id"] for one in following["sessions"]}


@pytest.mark.parametrize("by", ["model", "tool"])
def test_a_group_can_be_narrowed_to(client: TestClient, by: str) -> None:
    groups = client.get("/api/usage", params={"by": by}).json()["groups"]
    marked = [group for group in groups if group["key"].startswith("@")]
    assert marked
    for group in marked:
        for value in (group["key"], f"={group['key']}", f'"={group["key"]}"'):
            found = client.get("/api/sessions", params={"q": f"{by}:{value}"})
            assert found.status_code == 200, found.text
            assert found.json()["total"] >= 1, (group, value)


@pytest.mark.slow
def test_a_mark_means_the_same_at_the_next_start(home: Path, tmp_path: Path) -> None:
    marks: list[list[str]] = []
    for _ in range(2):
        with client_of([home], tmp_path / "data", redacts=True) as client:
            if marks:
                for mark in marks[0]:
                    assert client.get("/api/session", params={"id": mark}).status_code == 200
            marks.append(sorted(session["id"] for session in sessions_of(client)))
    assert marks[0] == marks[1]


@pytest.mark.parametrize(
    "words",
    [
        CONTROLS,
        "a\\u001bb",
        "\\",
        '\\"\x1b',
        "\\\\\x07",
        "\r\n",
        "a\rb",
        "\x85",
        "tab\tline\n",
        "👩\u200d💻",
        "\u00ad",
        "{}",
    ],
)
def test_json_is_made_harmless_as_text_is(words: str) -> None:
    encoded = json.dumps({words: [words]}, ensure_ascii=False).encode()
    expected = safe.text(words)
    if "\x1b[" in words:
        return
    assert json.loads(safe.shown_json(encoded)) == {expected: [expected]}


# While agents write


def told_by(server: Served, asked: str, write: Callable[[], None]) -> list[Any]:
    """The events that come of something that is written, until one of them is of the session."""
    with server.client() as client, client.stream("GET", f"/api/events{asked}", timeout=20) as stream:
        lines = stream.iter_lines()
        assert next(lines) == "retry: 1000"
        told: list[Any] = []
        while not any(event["event"] == "news" for event in told):
            write()
            told.append(json.loads(next(line for line in lines if line.startswith("data: "))[6:]))
        return told


@pytest.mark.slow
@pytest.mark.parametrize(("option", "asked"), [(["--redact"], ""), ([], "?redact=true"), ([], "")])
def test_nothing_gets_out_with_an_event(tmp_path: Path, option: list[str], asked: str) -> None:
    pytest.importorskip("watchfiles")
    native_id = f"{SECRET}\u202e\x07"
    path = write_session(tmp_path / "home", native_id)
    numbers = count()

    def write() -> None:
        record = {"id": f"u{next(numbers)}", "timestamp": "2026-05-01T11:00:00.000Z", "type": "user"}
        with path.open("a") as file:
            file.write(json.dumps({**record, "content": [{"text": "Go on"}]}) + "\n")

    with served(tmp_path / "home", tmp_path / "data", *option) as server, server.client() as client:
        wait_until(lambda: client.get("/api/sessions").status_code == 200, "the first index")
        told = told_by(server, asked, write)
        texts = [text for event in told for text in texts_in(event)]
        assert not any(STEERING.search(text) for text in texts)
        if option or asked:
            assert not any(piece in text for text in texts for piece in PIECES)
        (session,) = client.get("/api/sessions" + asked).json()["sessions"]
        assert {event["session_id"] for event in told if event["event"] == "news"} == {session["id"]}
        assert client.get("/api/session", params={"id": session["id"]}).status_code == 200


@pytest.mark.slow
def test_a_home_that_goes_is_told_also_where_secrets_are_hidden(tmp_path: Path) -> None:
    pytest.importorskip("watchfiles")
    home = tmp_path / "home"
    write_session(home, SECRET)
    with served(home, tmp_path / "data", "--redact") as server, server.client() as client:
        wait_until(lambda: client.get("/api/sessions").status_code == 200, "the first index")
        (session,) = client.get("/api/sessions").json()["sessions"]
        with client.stream("GET", "/api/events", timeout=20) as stream:
            lines = stream.iter_lines()
            assert next(lines) == "retry: 1000"
            # The watch begins a moment after the first sync.
            time.sleep(2)
            home.rename(tmp_path / "away")
            told = (json.loads(line[6:]) for line in lines if line.startswith("data: "))
            gone = next(event for event, _ in zip(told, range(10), strict=False) if event["event"] == "gone")
    assert gone["session_id"] == session["id"]


@pytest.mark.slow
def test_trouble_names_no_secret(tmp_path: Path) -> None:
    trouble = LiveEvent(event="trouble", detail=f"/home/ada/{POISON}/chats: cannot be read")
    with open_library([str(tmp_path)], str(tmp_path / "data")) as library:
        shown = json.loads(JsonWriter(Redaction()).encoded(trouble))
        hidden = json.loads(JsonWriter(Redaction()).encoded(trouble, library))
    assert SECRET in shown["detail"]
    assert "cannot be read" in hidden["detail"]
    assert not any(piece in hidden["detail"] for piece in PIECES)
    assert not STEERING.search(shown["detail"] + hidden["detail"])
