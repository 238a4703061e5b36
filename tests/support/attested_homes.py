"""Homes whose sessions get signed, and what is asked of the signed files."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from geminids.library import Library
from geminids.library.attest.attestation import Signer
from geminids.library.attest.choices import SigningManner
from geminids.library.attest.verified import VerifiedRecord
from geminids.query.sessions.listing import Filter
from tests.conftest import FIXTURES, Run
from tests.support.homes import FIRST_ID, tool_call, write_session
from tests.support.record_making import ED25519_KEY, pem_of

ISSUER = "Ana Lopez"
TOKEN = "gh" + "p_" + "a8Fk2Lq9Zx7Wv3Tn5Rb1Yc6Md4Pe0Gh8Js2K"
"""A secret that nobody ever had."""
SECOND_ID = "2e2e2e2e-0000-4000-8000-000000000002"
SIGNER = Signer(ED25519_KEY, ISSUER, lambda: datetime(2026, 6, 15, 12, tzinfo=UTC).timestamp())


def user_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home of a user with two sessions, of which the first holds a secret in several places."""
    home = tmp_path / "home"
    call = tool_call(args={"command": f"curl -H 'Authorization: Bearer {TOKEN}' x"})
    write_session(home, day=1, prompt=f"Use {TOKEN} for the login", calls=[call])
    write_session(home, SECOND_ID, slug="blog", day=9, prompt="Write about carts")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GEMINIDS_DATA", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    return home


def session_file(home: Path, native_id: str = FIRST_ID) -> Path:
    """The file of a session of Gemini CLI."""
    (found,) = home.rglob(f"session-*-{native_id[:8]}.jsonl")
    return found


def add_key(geminids: Run, *words: str) -> None:
    assert geminids("key", "new", *words, "--issuer", ISSUER).code == 0


def checks_of(document: Mapping[str, Any]) -> dict[str, bool | None]:
    """The checks of the one file in a document, by their names."""
    (file,) = document["files"]
    return {check["name"]: check["holds"] for check in file["checks"]}


def failed_checks(verified: VerifiedRecord) -> list[str]:
    return [f"{check.name}: {check.detail}" for check in verified.checks if check.holds is False]


def copied_home(agent: str, case: str, target: Path) -> Path:
    """A home of a fixture, to be changed."""
    return Path(shutil.copytree(FIXTURES / agent / case / "home", target, dirs_exist_ok=True))


def attested_and_verified(home: Path, data: Path) -> Iterator[VerifiedRecord]:
    """Every session of a home, signed, and checked with its key and with the files it was read from."""
    data.mkdir(parents=True, exist_ok=True)
    key, signed = data / "key.pem", data / "signed.acr"
    key.write_bytes(pem_of(ED25519_KEY))
    with Library(homes=[str(home)], data=str(data)) as library:
        rows = library.listing(Filter()).sessions
        for number, item in enumerate(library.items_of(rows)):
            manner = SigningManner(form="cbor" if number % 2 else "json")
            attesting = library.records.attesting(SIGNER, manner)
            recorded = attesting.record(lambda item=item: item.read())  # type: ignore[misc]
            signed.write_bytes(attesting.signed(attesting.presented(recorded)).signed)
            files = [Path(file["path"]) for file in recorded.record["x-source"]]
            verifying = library.records.verifying(keys=[str(key)], sources=files)
            yield verifying.file(signed)


def appended(path: Path, *records: Mapping[str, Any]) -> None:
    """An agent goes on with a session."""
    with path.open("a") as file:
        file.writelines(f"{json.dumps(record)}\n" for record in records)


def gone_on(agent: str, path: Path, number: int = 1) -> None:
    """One more message in a session, as its agent would write it."""
    at = f"2026-06-01T10:{number:02}:00.000Z"
    last = json.loads(path.read_text().splitlines()[-1])
    message: dict[str, Any]
    match agent:
        case "gemini":
            message = {
                "id": f"u-{number}",
                "timestamp": at,
                "type": "user",
                "content": [{"text": "And now?"}],
            }
        case "claude":
            known = [json.loads(line) for line in path.read_text().splitlines()]
            user = next(line for line in known if line.get("type") == "user" and not line.get("isMeta"))
            uuid = hashlib.sha256(str(number).encode()).hexdigest()
            message = {
                **user,
                "uuid": f"{uuid[:8]}-{uuid[8:12]}-4{uuid[13:16]}-8{uuid[17:20]}-{uuid[20:32]}",
                "parentUuid": last.get("uuid") or user["uuid"],
                "timestamp": at,
                "message": {"role": "user", "content": "And now?"},
            }
        case _:
            content = [{"type": "input_text", "text": "And now?"}]
            payload = {"type": "message", "role": "user", "content": content}
            message = {"timestamp": at, "type": "response_item", "payload": payload}
    appended(path, message)


def everything_in(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
