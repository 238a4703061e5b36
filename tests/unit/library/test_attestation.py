"""Sessions become signed records: all that were ever recorded, and also while their files change."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from geminids.core.errors import GeminidsError
from geminids.core.model import Session
from geminids.library import Library
from geminids.library.attest.changed_files import changed_file
from geminids.library.attest.choices import SigningManner
from geminids.sharing.records.errors import RecordError
from geminids.sharing.records.standalone import decode_record, open_envelope
from tests.conftest import FIXTURES, RecordProperty
from tests.support.attested_homes import (
    SECOND_ID,
    SIGNER,
    TOKEN,
    attested_and_verified,
    copied_home,
    failed_checks,
    gone_on,
    session_file,
    user_home,
)
from tests.support.homes import FIRST_ID, write_session
from tests.support.record_making import ED25519_KEY, pem_of
from tests.support.records import AGENTS, corpus_homes, fixture_homes

HOMES = [home for agent in AGENTS for home in fixture_homes(agent)]
NATIVES = (
    "gemini-gemini-3-pro-preview.json",
    "claude-opus-4-6.jsonl",
    "codex-gpt-5-2-codex.jsonl",
    "codex-gpt-5-2.jsonl",
)
ALWAYS = {"envelope", "signature", "record", "schema", "envelope schema", "seal", "commitment", "sources"}


def check_home(home: Path, data: Path) -> int:
    """All that is asked of signed sessions holds for each of a home; how many there are."""
    found = list(attested_and_verified(home, data))
    for verified in found:
        assert failed_checks(verified) == [], verified.record and verified.record["id"]
        held = {check.name for check in verified.checks if check.holds}
        assert held >= ALWAYS | {"translation"}, "nothing was left out"
    return len(found)


# -- every session -----------------------------------------------------------


@pytest.mark.parametrize("home", HOMES, ids=lambda home: f"{home.parts[-3]}-{home.parts[-2]}")
def test_every_session_verifies_and_its_source_says_the_same(home: Path, tmp_path: Path) -> None:
    check_home(home, tmp_path / "data")


@pytest.mark.slow
def test_every_recorded_session_verifies(
    corpus: Path, tmp_path: Path, record_property: RecordProperty
) -> None:
    homes = corpus_homes(corpus)
    number = sum(check_home(home, tmp_path / str(place)) for place, home in enumerate(homes))
    record_property("counts", f"signed records: {number:,} recorded sessions verify with their sources")
    assert number >= 600


@pytest.mark.parametrize("name", NATIVES)
def test_published_sessions_verify_wherever_they_lie(corpus: Path, tmp_path: Path, name: str) -> None:
    source = tmp_path / name
    shutil.copyfile(corpus / "vac" / "native" / name, source)
    with Library(homes=[], data=str(tmp_path / "data")) as library:
        attesting = library.records.attesting(SIGNER, SigningManner())
        (session,) = library.file(source)
        signed = tmp_path / "signed.acr"
        signed.write_bytes(attesting.signed(attesting.presented(attesting.record(lambda: session))).signed)
        verifying = library.records.verifying(sources=[source])
        verified = verifying.file(signed)
    assert [line.split(":")[0] for line in failed_checks(verified)] == ["signature", "seal"], (
        "no key was given"
    )
    assert {"translation", "sources"} <= {check.name for check in verified.checks if check.holds}


def test_a_session_that_is_only_kept_is_signed_from_its_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = user_home(tmp_path, monkeypatch)
    path = session_file(home)
    with Library(homes=[str(home)], data=str(tmp_path / "data")) as library:
        before = library.records.record(library.session(FIRST_ID))
    path.unlink()
    with Library(homes=[str(home)], data=str(tmp_path / "data")) as library:
        session = library.session(FIRST_ID)
        assert session.files[0].kept
        attesting = library.records.attesting(SIGNER, SigningManner())
        recorded = attesting.record(lambda: session)
    assert recorded.record["x-source"] == before["x-source"]
    assert recorded.record["session"]["entries"] == before["session"]["entries"]


# -- files that change -------------------------------------------------------


class Machine:
    """A user with one session of Gemini CLI, who signs it."""

    def __init__(self, tmp_path: Path) -> None:
        self.home = tmp_path / "home"
        self.path = write_session(self.home)
        self.data = tmp_path / "data"

    def read(self) -> Session:
        with Library(homes=[str(self.home)], data=str(self.data)) as library:
            return library.file(self.path)[0]

    def record(self, *, changes: list[Any]) -> dict[str, Any]:
        """The record of the session, of which each reading is followed by a change of its file."""

        def read() -> Session:
            session = self.read()
            if changes:
                changes.pop(0)()
            return session

        with Library(homes=[str(self.home)], data=str(self.data)) as library:
            return library.records.attesting(SIGNER, SigningManner()).record(read).record

    def rewrite(self) -> None:
        """Take a line out of the middle: everything after it stands elsewhere."""
        lines = self.path.read_text().splitlines(keepends=True)
        self.path.write_text("".join([lines[0], "\n" * 4000, *lines[1:]]))


@pytest.fixture
def machine_of_user(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_a_log_that_grows_meanwhile_is_signed_as_it_was_read(machine_of_user: Machine) -> None:
    size = machine_of_user.path.stat().st_size
    record = machine_of_user.record(changes=[lambda: gone_on("gemini", machine_of_user.path)])
    assert record["x-source"][0]["size"] == size < machine_of_user.path.stat().st_size
    assert "And now?" not in json.dumps(record)


@pytest.mark.slow
def test_a_log_that_grows_all_the_time_is_signed_and_verifies(
    machine_of_user: Machine, tmp_path: Path
) -> None:
    machine = machine_of_user
    stop = Event()

    def go_on() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            gone_on("gemini", machine.path, number % 60)
            stop.wait(0.0005)

    agent = Thread(target=go_on)
    (tmp_path / "key.pem").write_bytes(_public_key())
    agent.start()
    try:
        with Library(homes=[str(machine.home)], data=str(machine.data)) as library:
            attesting = library.records.attesting(SIGNER, SigningManner())
            verifying = library.records.verifying(keys=[str(tmp_path / "key.pem")], sources=[machine.path])
            for _ in range(20):
                recorded = attesting.record(machine.read)
                signed = tmp_path / "signed.acr"
                signed.write_bytes(attesting.signed(attesting.presented(recorded)).signed)
                assert failed_checks(verifying.file(signed)) == []
    finally:
        stop.set()
        agent.join()


def test_a_log_that_is_rewritten_meanwhile_is_read_again(machine_of_user: Machine) -> None:
    machine = machine_of_user
    record = machine.record(changes=[machine.rewrite])
    assert record["x-source"][0]["size"] == machine.path.stat().st_size
    content = machine.path.read_bytes()
    for entry in record["session"]["entries"]:
        for place in entry["x-source"]:
            json.loads(content[place["start"] : place["end"]])


def test_a_log_that_shrinks_or_vanishes_meanwhile_is_not_signed(machine_of_user: Machine) -> None:
    machine = machine_of_user
    first = machine.read()
    with Library(homes=[str(machine.home)], data=str(machine.data)) as library:
        maker = library.records._maker
        assert changed_file(first, maker.natives(first)) is None
        machine.path.write_bytes(machine.path.read_bytes()[:-40])
        assert changed_file(first, maker.natives(first)) == str(machine.path)
        attesting = library.records.attesting(SIGNER, SigningManner())
        with pytest.raises(RecordError, match="being written right now"):
            attesting.record(lambda: first)


def test_a_document_that_is_written_anew_is_read_again(tmp_path: Path) -> None:
    home = copied_home("gemini", "tool-calls-json", tmp_path / "home")
    (path,) = home.rglob("session-*.json")
    document = json.loads(path.read_text())
    readings = 0

    def read() -> Session:
        nonlocal readings
        session = library.file(path)[0]
        if not readings:
            path.write_text(json.dumps({"lastUpdated": "2026-11-15T10:00:00.000Z", **document}, indent=4))
        readings += 1
        return session

    with Library(homes=[str(home)], data=str(tmp_path / "data")) as library:
        recorded = library.records.attesting(SIGNER, SigningManner()).record(read)
    assert readings == 2
    assert recorded.record["x-source"][0]["size"] == path.stat().st_size


# -- what is hidden ----------------------------------------------------------


@pytest.mark.slow
def test_what_is_hidden_stands_nowhere_in_the_signed_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = user_home(tmp_path, monkeypatch)
    line = {
        "id": "n1",
        "type": "odd",
        "note": {"deep": [f"again {TOKEN}"]},
        "timestamp": "2026-05-01T10:06:00Z",
    }
    with session_file(home).open("a") as file:
        file.write(json.dumps(line) + "\n")
    with Library(homes=[str(home)], data=str(tmp_path / "data")) as library:
        session = library.session(FIRST_ID)
        for form in ("json", "cbor"):
            manner = SigningManner(form=form)
            open_one = library.records.attesting(SIGNER, manner)
            whole = open_one.signed(open_one.presented(open_one.record(lambda: session)))
            assert whole.signed.count(TOKEN.encode()) >= 4, (
                "it is in texts, arguments, title and the odd record"
            )
            hiding = library.records.attesting(SIGNER, manner, library.redactor())
            hidden = hiding.signed(hiding.presented(hiding.record(lambda: session)))
            assert TOKEN.encode() not in hidden.signed
            assert TOKEN[:12].encode() not in hidden.signed
            assert hiding.hidden == 1
            assert "/session/entries/1/content" in hidden.withheld
            signed = tmp_path / "hidden.acr"
            signed.write_bytes(hidden.signed)
            (tmp_path / "key.pem").write_bytes(_public_key())
            verified = library.records.verifying(keys=[str(tmp_path / "key.pem")]).file(signed)
            assert failed_checks(verified) == []
            assert verified.redactions
            record = decode_record(open_envelope(hidden.signed).payload or b"")
            assert "x-source" not in record, "hashes of files would let anybody guess"


def _public_key() -> bytes:
    return pem_of(ED25519_KEY)


@pytest.mark.slow
def test_every_fixture_with_everything_hidden_still_verifies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = tmp_path / "key.pem"
    key.write_bytes(_public_key())
    for agent, case in (("gemini", "tool-calls-jsonl-2"), ("claude", "tools"), ("codex", "tools")):
        home = copied_home(agent, case, tmp_path / agent / "adalove")
        monkeypatch.setenv("HOME", str(home))
        with Library(homes=[str(home)], data=str(tmp_path / "data")) as library:
            redactor = library.redactor(("home", "names", "emails"))
            attesting = library.records.attesting(SIGNER, SigningManner(), redactor)
            for summary in library.sessions():
                session = library.session(summary.id)
                attested = attesting.signed(attesting.presented(attesting.record(lambda s=session: s)))  # type: ignore[misc]
                assert b"adalove" not in attested.signed
                (tmp_path / "signed.acr").write_bytes(attested.signed)
                verified = library.records.verifying(keys=[str(key)]).file(tmp_path / "signed.acr")
                assert failed_checks(verified) == []


# -- records of others -------------------------------------------------------


def test_a_record_of_somebody_else_keeps_its_bytes(tmp_path: Path) -> None:
    record = json.loads((FIXTURES / "records" / "record.json").read_text())
    content = json.dumps(record, indent=3).encode()
    with Library(homes=[], data=str(tmp_path)) as library:
        attested = library.records.attesting(SIGNER, SigningManner(detached=True)).given(content)
        assert attested.beside == content
        with pytest.raises(RecordError, match="would change the bytes"):
            library.records.attesting(SIGNER, SigningManner(wrap="vcon")).given(content)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}",
        b"\xa0",
        b"[1]",
        b"\xff" * 30,
        b'{"version":"3.0.0-draft","id":"x","session":{}}',
        b'{"version":"3.0.0-draft","id":"x","session":{"session-id":"s","entries":[{"type":1}]}}',
        b'{"version":"3.0.0-draft","session":{"session-id":"s","entries":[]}}',
    ],
)
def test_what_is_no_record_is_not_signed(tmp_path: Path, content: bytes) -> None:
    with (
        Library(homes=[], data=str(tmp_path)) as library,
        pytest.raises(GeminidsError, match=r"does not conform|not a record|Cannot sign"),
    ):
        library.records.attesting(SIGNER, SigningManner()).given(content)


def test_the_second_session_is_named_so_that_nothing_is_said_of_its_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = user_home(tmp_path, monkeypatch)
    with Library(homes=[str(home)], data=str(tmp_path / "data")) as library:
        statements = library.records.statements(tmp_path / "statements")
        outcome = statements.sign(
            library.items([SECOND_ID]), library.records.attesting(SIGNER, SigningManner())
        )
    (path,) = outcome.signed
    assert path.parent.name.startswith("gemini-2e2e2e2e-")
    assert "blog" not in str(path.relative_to(tmp_path))
