"""Lists of sessions: in any order also where words are looked for, twins told apart, each project once."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from geminids.library import open_library
from geminids.storage.durable.values import MarkChange
from tests.conftest import FIXTURES
from tests.support.homes import FIRST_ID, write_session
from tests.support.web_apps import client_of

PROJECT = "/home/ada/dev/shop"


def write_claude_session(
    home: Path, native_id: str, folder: str, *, day: int = 3, at: datetime | None = None
) -> None:
    """A session of Claude Code, as small as it can be."""
    written = at or datetime(2026, 5, day, 10, tzinfo=UTC)
    place = home / ".claude" / "projects" / folder.replace("/", "-")
    place.mkdir(parents=True, exist_ok=True)
    record = {
        "parentUuid": None,
        "isSidechain": False,
        "userType": "external",
        "cwd": folder,
        "sessionId": native_id,
        "version": "2.0.76",
        "type": "user",
        "message": {"role": "user", "content": "Mend the login"},
        "uuid": f"u-{native_id}",
        "timestamp": f"{written:%Y-%m-%dT%H:%M:%S}.000Z",
    }
    (place / f"{native_id}.jsonl").write_text(json.dumps(record) + "\n")


# Facets


def test_a_project_of_several_agents_is_one_line(tmp_path: Path) -> None:
    write_session(tmp_path / "home", project=PROJECT)
    write_claude_session(tmp_path / "home", "8e0c9a2b-0000-4000-8000-000000000002", PROJECT)
    with client_of([tmp_path / "home"], tmp_path / "data") as client:
        for asked in ({}, {"q": "login"}):
            facets = client.get("/api/facets", params=asked).json()
            assert facets["projects"] == [{"key": PROJECT, "name": "shop", "sessions": 2}]
            assert len(facets["agents"]) == 2
        listed = client.get("/api/sessions", params={"project": PROJECT}).json()
    assert listed["total"] == 2


@pytest.mark.parametrize("agent", ["claude", "codex", "gemini"])
def test_every_key_of_a_facet_stands_once(agent: str, tmp_path: Path) -> None:
    homes = sorted(FIXTURES.glob(f"{agent}/*/home"))[:12]
    with client_of(homes, tmp_path / "data") as client:
        facets = client.get("/api/facets").json()
    for name in ("agents", "projects", "kinds", "statuses", "months", "tags"):
        keys = [value["key"] for value in facets[name]]
        assert len(keys) == len(set(keys)), name


# Orders


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[TestClient]:
    home = tmp_path / "home"
    for number, (title, slug) in enumerate(
        [("login Beta", "zoo"), ("login alpha", "bar"), ("Gamma login", "foo")]
    ):
        write_session(
            home, f"{number}f0c9a2b-0000-4000-8000-000000000001", prompt=title, day=number + 1, slug=slug
        )
    write_session(home, "9f0c9a2b-0000-4000-8000-000000000001", prompt="Something else", day=9)
    with open_library([str(home)], str(tmp_path / "data")) as library:
        library.mark("gemini:1f0c9a2b-0000-4000-8000-000000000001", MarkChange(tags=("Keep",)))
    with client_of([home], tmp_path / "data") as client:
        yield client


def titles(client: TestClient, **asked: Any) -> list[str]:
    found: list[str] = []
    after: str | None = None
    while True:
        page = client.get("/api/sessions", params={**asked, **({"after": after} if after else {})}).json()
        found += [session["title"] for session in page["sessions"]]
        after = page["next"]
        if after is None:
            assert len(found) == page["total"]
            return found


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("order", ["date", "started", "messages", "title", "project"])
def test_what_words_find_comes_in_the_order_of_a_list(shelf: TestClient, order: str, reverse: bool) -> None:
    listed = [title for title in titles(shelf, order=order, reverse=reverse) if "login" in title]
    assert len(listed) == 3
    assert titles(shelf, order=order, reverse=reverse, q="login") == listed
    assert titles(shelf, order=order, reverse=reverse, q="login", limit=1) == listed, "page by page"


def test_words_and_tags_go_together(shelf: TestClient) -> None:
    assert titles(shelf, q="login", tag="keep") == ["login alpha"]
    assert titles(shelf, q="gamma", tag="keep") == []
    facets = shelf.get("/api/facets", params={"q": "login", "tag": "keep"}).json()
    assert facets["total"] == 1


@pytest.mark.parametrize("words", ["", "login"])
def test_what_a_filter_leaves_out_is_counted_in_sessions(tmp_path: Path, words: str) -> None:
    for number, slug in enumerate(["bar", "bar", "foo"]):
        path = write_session(
            tmp_path / "home", f"{number}f0c9a2b-0000-4000-8000-000000000001", slug=slug, day=1
        )
        with path.open("a") as file:
            for more in range(3):
                record = {"id": f"u{more}", "timestamp": "2026-05-01T11:00:00.000Z", "type": "user"}
                file.write(json.dumps({**record, "content": [{"text": f"login {more}"}]}) + "\n")
    with client_of([tmp_path / "home"], tmp_path / "data") as client:
        for order in (None, "title"):
            asked = {"q": words, "project": "foo", **({"order": order} if order else {})}
            page = client.get("/api/sessions", params=asked).json()
            assert page["total"] == 1
            assert list(page["hidden"].values()) == [2]
        messages = client.get("/api/search", params={"q": "login", "project": "foo"}).json()
    assert list(messages["hidden"].values()) == [8]


# Sessions that share an id


@pytest.fixture
def twins(tmp_path: Path) -> Iterator[TestClient]:
    """Two projects that hold a session of one id, as a copied folder does, and have gone on differently."""
    for name in ("one", "two"):
        write_session(tmp_path / "home", prompt=f"About {name}", slug=name)
    with client_of([tmp_path / "home"], tmp_path / "data") as client:
        yield client


def test_sessions_of_one_id_are_each_opened_by_what_a_list_calls_them(twins: TestClient) -> None:
    listed = twins.get("/api/sessions").json()["sessions"]
    assert len({one["id"] for one in listed}) == 2
    for one in listed:
        for what in ("", "/messages", "/opening", "/outline", "/branches", "/resume", "/markdown", "/export"):
            answer = twins.get(f"/api/session{what}", params={"id": one["id"]})
            assert answer.status_code == 200, what
            if what == "":
                assert answer.json()["line"]["title"] == one["title"]
                assert answer.json()["line"]["id"] == one["id"]
                assert answer.json()["native_id"] == FIRST_ID
    found = twins.get("/api/search", params={"q": "About"}).json()["sessions"]
    assert {hit["session"]["id"] for hit in found} == {one["id"] for one in listed}


def test_the_largest_sessions_of_one_id_are_told_apart(twins: TestClient) -> None:
    listed = {one["id"] for one in twins.get("/api/sessions").json()["sessions"]}
    largest = twins.get("/api/usage/sessions").json()
    for sessions in largest.values():
        assert len(sessions) == 2
        assert {one["id"] for one in sessions} == listed


def test_a_picture_of_a_session_that_shares_its_id_is_served(tmp_path: Path) -> None:
    png = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(16)).decode()
    for name in ("one", "two"):
        path = write_session(tmp_path / "home", slug=name)
        header, prompt, answer = map(json.loads, path.read_text().splitlines())
        prompt["content"].append({"inlineData": {"mimeType": "image/png", "data": png}})
        path.write_text("".join(json.dumps(record) + "\n" for record in (header, prompt, answer)))
    with client_of([tmp_path / "home"], tmp_path / "data") as client:
        for one in client.get("/api/sessions").json()["sessions"]:
            story = client.get("/api/session/messages", params={"id": one["id"]}).json()
            (picture,) = [part for part in story["entries"][0]["parts"] if part["part"] == "attachment"]
            assert client.get(picture["address"]).status_code == 200


def test_the_id_itself_leads_to_each_of_them(twins: TestClient) -> None:
    answer = twins.get("/api/session", params={"id": f"gemini:{FIRST_ID}"})
    assert answer.status_code == 409
    opened = [
        twins.get("/api/session", params={"id": one["id"]}).json()["line"]["title"]
        for one in answer.json()["candidates"]
    ]
    assert sorted(opened) == ["About one", "About two"]


def test_a_session_that_is_alone_is_called_by_its_id(tmp_path: Path) -> None:
    write_session(tmp_path / "home")
    with client_of([tmp_path / "home"], tmp_path / "data") as client:
        (line,) = client.get("/api/sessions").json()["sessions"]
        assert line["id"] == f"gemini:{FIRST_ID}"
        for wrong in (f"gemini:{FIRST_ID}~00000000", "~", "~00000000", f"gemini:{FIRST_ID}~"):
            assert client.get("/api/session", params={"id": wrong}).status_code in {400, 404}


# Words for a page

JARGON = ("geminids ", "--", "pip ", "`")


@pytest.mark.parametrize(
    ("path", "params"),
    [
        ("/api/session", {"id": "gemini:none"}),
        ("/api/session", {"id": "nothing-like-it"}),
        ("/api/session", {"id": "12"}),
        ("/api/session", {"id": "1f0c9a2b"}),
        ("/api/session", {"id": "1f"}),
        ("/api/sessions", {"since": "someday"}),
        ("/api/sessions", {"after": "nothing"}),
        ("/api/sessions", {"q": "login", "after": "nothing"}),
        ("/api/search", {"q": "login", "after": "nothing"}),
        ("/api/search", {"q": ""}),
        ("/api/search", {"q": '"open'}),
        ("/api/search", {"q": "in:nowhere x"}),
        ("/api/search", {"q": "since:someday"}),
        ("/api/session/export", {"id": "gemini:none", "format": "nothing"}),
        ("/api/usage", {"project": "nothing-like-it"}),
        ("/api/nothing", {}),
    ],
)
def test_what_a_page_is_told_is_nothing_to_type_in_a_terminal(
    tmp_path: Path, path: str, params: dict[str, str]
) -> None:
    for number in (1, 2):
        write_session(tmp_path / "home", f"1f0c9a2b-0000-4000-8000-00000000000{number}", day=number)
    with client_of([tmp_path / "home"], tmp_path / "data") as client:
        answer = client.get(path, params=params)
    if answer.status_code == 200:
        return
    detail = answer.json()["detail"]
    assert len(detail) > 15
    assert not any(word in detail for word in JARGON), detail


def test_an_index_that_nobody_makes_is_told_without_a_command(tmp_path: Path) -> None:
    write_session(tmp_path / "home")
    from functools import partial

    from geminids.faces.web.app import create_app
    from geminids.faces.web.guard import HEADER
    from tests.support.web_apps import BASE, KEY

    opening = partial(open_library, [str(tmp_path / "home")], str(tmp_path / "data"))
    app = create_app(opening, KEY, syncs=False)
    with TestClient(app, base_url=BASE, headers={HEADER: KEY.token}) as client:
        answer = client.get("/api/sessions")
        about = client.get("/api/about").json()
    assert answer.status_code == 404
    assert not any(word in answer.json()["detail"] for word in JARGON)
    assert not about["syncing"]["is_first"]


def test_what_filters_mean_is_told_in_the_order_of_filters(tmp_path: Path) -> None:
    write_session(tmp_path / "home")
    with client_of([tmp_path / "home"], tmp_path / "data") as client:
        about = client.get("/api/about").json()
    told = {one["name"]: one for one in about["filter_notes"]}
    assert list(told) == about["filters"]
    assert told["is"]["note"] == "the kind of session or message"
    assert list(told["is"]["values"])[:2] == ["main", "subagent"]
    assert told["project"]["values"] == {}


@pytest.mark.parametrize(("spare", "is_running"), [(30, True), (-30, False)])
def test_a_session_seems_to_run_for_as_long_as_is_told(tmp_path: Path, spare: int, is_running: bool) -> None:
    write_session(tmp_path / "first")
    with client_of([tmp_path / "first"], tmp_path / "data") as client:
        seconds = client.get("/api/about").json()["running_seconds"]
    last = datetime.now(UTC) - timedelta(seconds=seconds - spare)
    write_claude_session(tmp_path / "home", "5d0c2c1e-8f6b-4b57-9f0a-2f4b0f7f3a90", PROJECT, at=last)
    with client_of([tmp_path / "home"], tmp_path / "other") as client:
        (session,) = client.get("/api/sessions").json()["sessions"]
    assert session["is_running"] is is_running
