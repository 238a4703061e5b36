"""What is checked beside the verifier's own checks, also of files that somebody made up."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from geminids.library import Library
from geminids.library.attest.agent_files import NotRereadError, files_of, laid_out, opened_source
from geminids.library.attest.verification import Asked, RecordVerifier
from geminids.library.attest.verified import VerifiedRecord
from geminids.sharing.records.commitment import commit
from geminids.sharing.records.signature import Claims, statement
from geminids.sharing.records.standalone import encode_json
from tests.conftest import FIXTURES
from tests.support.attested_homes import SIGNER, copied_home, failed_checks
from tests.support.examples import examples
from tests.support.record_making import ED25519_KEY, SEED, small_record, source_file

Record = dict[str, Any]


def signed(record: Record, *, chain: dict[str, Any] | None = None) -> bytes:
    """A statement of a record, whatever that says."""
    committed = commit(record, SEED)
    claims = Claims("Ana Lopez", record["session"]["session-id"], 1_781_524_800)
    return statement(encode_json(committed), committed, ED25519_KEY, claims, chain=chain)


def verifying(*sources: Path, previous: Path | None = None) -> RecordVerifier:
    asked = Asked([ED25519_KEY.public_key()], sources, previous=previous)
    with Library(homes=[], data="/nonexistent") as library:
        return RecordVerifier(asked, library.file, library.records.record)


def verified(record: Record, folder: Path, *sources: Path) -> VerifiedRecord:
    path = folder / "signed.acr"
    path.write_bytes(signed(record))
    return verifying(*sources).file(path)


def translation(found: VerifiedRecord) -> tuple[bool | None, str]:
    (check,) = [check for check in found.checks if check.name == "translation"]
    return check.holds, check.detail


# -- sources -----------------------------------------------------------------


def test_a_packed_source_is_compared_by_what_is_in_it(tmp_path: Path) -> None:
    home = copied_home("codex", "compressed", tmp_path / "home")
    packed = next(home.rglob("*.jsonl.zst"))
    with Library(homes=[str(home)], data=str(tmp_path / "data")) as library:
        sessions = [library.session(summary.id) for summary in library.sessions()]
        packed_ones = [one for one in sessions if packed.name in {Path(file.path).name for file in one.files}]
        assert packed_ones
        for session in packed_ones:
            attesting = library.records.attesting(SIGNER, _manner())
            recorded = attesting.record(lambda s=session: s)  # type: ignore[misc]
            path = tmp_path / "signed.acr"
            path.write_bytes(attesting.signed(attesting.presented(recorded)).signed)
            files = [Path(file["path"]) for file in recorded.record["x-source"]]
            assert packed in files
            assert translation(verifying(*files).file(path))[0] is True
            unpacked = tmp_path / packed.name.removesuffix(".zst")
            unpacked.write_bytes(opened_source(packed, packed.read_bytes()).content)
            others = [file for file in files if file != packed]
            found = verifying(unpacked, *others).file(path)
            assert failed_checks(found) == [], "who has it unpacked can compare too"
            assert translation(found)[0] is True


def _manner() -> Any:
    from geminids.library.attest.choices import SigningManner

    return SigningManner()


def test_a_session_of_several_files_needs_all_of_them(tmp_path: Path) -> None:
    home = FIXTURES / "codex" / "fork" / "home"
    with Library(homes=[str(home)], data=str(tmp_path / "data")) as library:
        sessions = [library.session(summary.id) for summary in library.sessions()]
        for session in sessions:
            record = library.records.record(session)
            files = [Path(file["path"]) for file in record["x-source"]]
            if len(files) == 2:
                break
        else:
            pytest.fail("no session of two files")
    assert translation(verified(record, tmp_path, *files))[0] is True
    assert translation(verified(record, tmp_path, *reversed(files)))[0] is True
    holds, detail = translation(verified(record, tmp_path, files[0]))
    assert holds is None
    assert detail == f"{files[1].name} was not given: only bytes were compared"


def test_what_subagents_lie_beside_a_session_may_decide_whose_words_are_whose(tmp_path: Path) -> None:
    home = FIXTURES / "gemini" / "agents-with-one-task" / "home"
    (path,) = home.rglob("session-*.json")
    with Library(homes=[str(home)], data=str(tmp_path / "data")) as library:
        (session,) = [library.session(one.id) for one in library.sessions() if one.kind == "main"]
        record = library.records.record(session)
    assert translation(verified(record, tmp_path, path))[0] is True


def test_an_exported_document_is_no_source(tmp_path: Path) -> None:
    record = small_record()
    content = b'{"schema":"geminids/session/1","files":[{"path":"/dev/zero"}]}'
    source = tmp_path / "doc.json"
    source.write_bytes(content)
    record["x-source"] = [
        {"path": "/doc.json", "size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    ]
    holds, detail = translation(verified(record, tmp_path, source))
    assert holds is False
    assert "gives no session" in detail


@pytest.mark.parametrize(
    "path",
    [
        "../../../../outside.jsonl",
        "/../outside.jsonl",
        "..\\..\\outside.jsonl",
        "C:\\Users\\ana\\.gemini\\tmp\\x\\chats\\session-1.jsonl",
        "/a/./b/../c.jsonl",
        "",
        "/",
        "x" * 5000,
        "/nul\0byte.jsonl",
        "/" + "d/" * 3000 + "x.jsonl",
    ],
)
def test_no_path_in_a_record_leads_out_of_the_folder(tmp_path: Path, path: str) -> None:
    record = small_record()
    record["x-source"][0]["path"] = path
    source = tmp_path / "sources" / "s.jsonl"
    source.parent.mkdir()
    source.write_bytes(source_file())
    before = set(tmp_path.rglob("*"))
    holds, _ = translation(verified(record, tmp_path, source))
    assert holds is not True
    try:
        with laid_out(files_of(record, [opened_source(source, source.read_bytes())])) as laid:
            (target,) = laid
            assert "geminids-" in str(target)
            assert ".." not in target.parts
    except NotRereadError:
        pass
    assert set(tmp_path.rglob("*")) - before == {tmp_path / "signed.acr"}


ODD = some.recursive(
    some.none() | some.booleans() | some.integers(-5, 2**70) | some.text(max_size=5),
    lambda inner: (
        some.lists(inner, max_size=3)
        | some.dictionaries(
            some.sampled_from(
                [
                    "path",
                    "size",
                    "sha256",
                    "file",
                    "start",
                    "end",
                    "format",
                    "x-source",
                    "x-native",
                    "children",
                    "type",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=10,
)


@pytest.mark.slow
@given(files=ODD, places=ODD, entries=ODD, children=ODD)
@settings(
    max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_whatever_a_record_says_is_an_answer(
    tmp_path: Path, files: Any, places: Any, entries: Any, children: Any
) -> None:
    record = small_record()
    record["x-source"] = files
    record["session"]["entries"][0]["x-source"] = places
    record["session"]["entries"][1]["children"] = children
    source = tmp_path / "s.jsonl"
    source.write_bytes(source_file())
    assert not verified(record, tmp_path, source).holds or files
    record["session"]["entries"] = entries
    path, before = tmp_path / "signed.acr", tmp_path / "before.acr"
    path.write_bytes(signed(record))
    before.write_bytes(signed(small_record()))
    assert not verifying(source, previous=before).file(path).holds
    folder = tmp_path / "folder"
    folder.mkdir(exist_ok=True)
    (folder / "0001.acr").write_bytes(signed(record, chain={"sequence": 1}))
    (folder / "0002.acr").write_bytes(before.read_bytes())
    assert any(not found.holds for found in verifying().folder(folder))


# -- chains ------------------------------------------------------------------


@pytest.mark.parametrize("chain", [{}, {"sequence": "1"}, {"sequence": 2}, {"sequence": None}, None])
def test_a_number_that_is_none_is_not_believed(tmp_path: Path, chain: dict[str, Any] | None) -> None:
    (tmp_path / "0001.acr").write_bytes(signed(small_record(), chain=chain))
    (found,) = verifying().folder(tmp_path)
    assert [line.split(":")[0] for line in failed_checks(found)] == ["place"]


def test_a_chain_with_nothing_to_compare_says_so(tmp_path: Path) -> None:
    record = small_record()
    for entry in record["session"]["entries"]:
        entry.pop("x-source", None)
    first = signed(record, chain={"sequence": 1})
    (tmp_path / "0001.acr").write_bytes(first)
    link = {"sequence": 2, "previous": hashlib.sha256(first).digest()}
    (tmp_path / "0002.acr").write_bytes(signed(record, chain=link))
    _, second = verifying().folder(tmp_path)
    assert second.holds
    (past,) = [check for check in second.checks if check.name == "past"]
    assert past.holds is None


# -- vCons -------------------------------------------------------------------


def test_a_vcon_of_somebody_else_is_no_lie(tmp_path: Path) -> None:
    from geminids.sharing.records.vcon import vcon_of

    record = json.loads((FIXTURES / "records" / "record.json").read_text())
    content = encode_json(record)
    claims = Claims("Ana", record["session"]["session-id"], 1)
    record = json.loads(content)
    vcon = vcon_of(record, signature=statement(content, record, ED25519_KEY, claims, detached=True))
    path = tmp_path / "s.vcon"
    for subject in ("", "another subject"):
        if subject:
            vcon["subject"] = subject
        path.write_text(json.dumps(vcon))
        found = verifying().file(path)
        assert failed_checks(found) == []
        (check,) = [check for check in found.checks if check.name == "vcon"]
        assert check.holds is (None if subject else True)
