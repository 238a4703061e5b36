"""Snippets where secrets are hidden: words around what was found, and no piece of a secret."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.homes import tool_call, write_session
from tests.support.planted_secrets import planted
from tests.support.web_apps import client_of

TOKENS = [one.secrets[0] for one in planted() if one.is_token and len(one.secrets) == 1][:6]
REDACTED = {"redact": "true"}


def hits_of(answer: Any) -> list[Any]:
    return [hit for session in answer.json()["sessions"] for hit in session["hits"]]


def words_of(hit: Any) -> str:
    return "".join(piece["text"] for piece in hit["pieces"])


def pieces_of(secret: str) -> set[str]:
    """Every run of twelve letters of it."""
    return {secret[at : at + 12] for at in range(len(secret) - 11)}


def test_a_snippet_is_told_also_where_secrets_are_hidden(tmp_path: Path) -> None:
    write_session(tmp_path / "home", prompt="Fix the login\nredirect of the shop, please")
    with client_of([tmp_path / "home"], tmp_path / "data") as client:
        (hit,) = hits_of(client.get("/api/search", params={"q": '"login redirect"', **REDACTED}))
        assert [piece["text"] for piece in hit["pieces"] if piece["is_match"]] == ["login redirect"]
        assert "of the shop" in words_of(hit)


@pytest.mark.parametrize("secret", TOKENS, ids=range(len(TOKENS)))
def test_no_piece_of_a_secret_is_told(tmp_path: Path, secret: str) -> None:
    words = f"Please take the token {secret} for the harvest and {'go on ' * 20} harvest"
    write_session(tmp_path / "home", prompt=words, calls=[tool_call(args={"command": f"harvest {secret}"})])
    with client_of([tmp_path / "home"], tmp_path / "data") as client:
        open_hits = hits_of(client.get("/api/search", params={"q": "harvest", "width": 200}))
        assert any(piece in words_of(hit) for hit in open_hits for piece in pieces_of(secret)), "it is there"
        for width in (40, 60, 90, 200):
            answer = client.get("/api/search", params={"q": "harvest", "width": width, **REDACTED})
            assert all(hit["pieces"] for hit in hits_of(answer)), width
            assert not any(piece in answer.text for piece in pieces_of(secret)), width


def test_what_is_a_secret_elsewhere_in_the_session_is_hidden_in_a_snippet_too(tmp_path: Path) -> None:
    secret = "zq81mmx0pfWv77"
    path = write_session(tmp_path / "home", calls=[tool_call(args={"password": secret})])
    with path.open("a") as file:
        record = {"id": "u2", "timestamp": "2026-05-01T11:00:00.000Z", "type": "user"}
        file.write(json.dumps({**record, "content": [{"text": f"The harvest says {secret} here"}]}) + "\n")
    with client_of([tmp_path / "home"], tmp_path / "data") as client:
        (shown,) = hits_of(client.get("/api/search", params={"q": "harvest"}))
        (hit,) = hits_of(client.get("/api/search", params={"q": "harvest", **REDACTED}))
    assert secret in words_of(shown)
    assert "The harvest says" in words_of(hit)
    assert secret not in words_of(hit)


def test_a_secret_that_is_looked_for_is_not_quoted(tmp_path: Path) -> None:
    secret = TOKENS[0]
    write_session(tmp_path / "home", prompt=f"use the token {secret} please")
    with client_of([tmp_path / "home"], tmp_path / "data") as client:
        answer = client.get("/api/search", params={"q": f'"{secret}"', **REDACTED})
    assert not any(piece in answer.text for piece in pieces_of(secret))


# Beside the sessions themselves

PASSWORD = "zq81mmx0pfWv77"


@pytest.mark.parametrize("whole_app", [True, False], ids=["app", "parameter"])
def test_sessions_that_may_be_meant_are_named_without_secrets(tmp_path: Path, whole_app: bool) -> None:
    for number in (1, 2):
        native_id = f"1f0c9a2b-0000-4000-8000-00000000000{number}"
        write_session(tmp_path / "home", native_id, prompt=f"use {TOKENS[0]} please", day=number)
    with client_of([tmp_path / "home"], tmp_path / "data", redacts=whole_app) as client:
        redacted = {} if whole_app else REDACTED
        several = client.get("/api/session", params={"id": "1f0c9a2b", **redacted})
        near = client.get("/api/session", params={"id": "1f0c9a2b-0000-4000-8000-000000000009", **redacted})
    assert (several.status_code, len(several.json()["candidates"])) == (409, 2)
    assert (near.status_code, bool(near.json()["candidates"])) == (404, True)
    for answer in (several, near):
        assert not any(piece in answer.text for piece in pieces_of(TOKENS[0]))


def test_a_record_hides_what_is_a_secret_elsewhere_in_the_session(tmp_path: Path) -> None:
    calls = [tool_call(args={"password": PASSWORD})]
    write_session(tmp_path / "home", prompt=f"The harvest says {PASSWORD} here", calls=calls)
    with client_of([tmp_path / "home"], tmp_path / "data") as client:
        asked = {"id": "1f0c9a2b", "number": "1"}
        shown = client.get("/api/session/raw", params=asked)
        hidden = client.get("/api/session/raw", params={**asked, **REDACTED})
    assert PASSWORD in shown.json()["text"]
    assert "The harvest says" in hidden.json()["text"]
    assert PASSWORD not in hidden.text


def test_no_title_ends_with_half_of_a_secret(tmp_path: Path) -> None:
    for number, secret in enumerate(TOKENS):
        native_id = f"1f0c9a2b-0000-4000-8000-00000000000{number}"
        write_session(tmp_path / "home", native_id, prompt=f"{'word ' * 56}take {secret}", slug=f"p{number}")
    with client_of([tmp_path / "home"], tmp_path / "data") as client:
        sessions = client.get("/api/sessions", params=REDACTED)
        one = client.get("/api/session", params={"id": "1f0c9a2b-0000-4000-8000-000000000000", **REDACTED})
    assert sessions.json()["total"] == len(TOKENS)
    for answer in (sessions, one):
        assert not any(piece in answer.text for secret in TOKENS for piece in pieces_of(secret))


def test_no_word_of_a_secret_is_suggested(tmp_path: Path) -> None:
    write_session(tmp_path / "home", calls=[tool_call(args={"password": "correcthorsebattery"})])
    with client_of([tmp_path / "home"], tmp_path / "data") as client:
        for path in ("/api/search", "/api/sessions"):
            asked = {"q": "correcthorsebatterx"}
            assert "correcthorsebattery" in client.get(path, params=asked).text
            assert "correcthorsebattery" not in client.get(path, params={**asked, **REDACTED}).text


@pytest.mark.parametrize("format_name", ["html", "markdown", "text", "json"])
def test_what_is_exported_to_be_shared_has_no_secrets_unless_that_is_wished(
    tmp_path: Path, format_name: str
) -> None:
    write_session(tmp_path / "home", prompt=f"use the token {TOKENS[0]} please")
    asked = {"id": "1f0c9a2b", "format": format_name}
    with client_of([tmp_path / "home"], tmp_path / "data") as client:
        shared = client.get("/api/session/export", params=asked)
        whole = client.get("/api/session/export", params={**asked, "secrets": "true"})
        refused = client.get("/api/session/export", params={**asked, "secrets": "true", **REDACTED})
    assert "use the token" in shared.text
    assert not any(piece in shared.text + refused.text for piece in pieces_of(TOKENS[0]))
    assert TOKENS[0] in whole.text
