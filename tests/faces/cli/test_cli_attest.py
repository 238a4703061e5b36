"""`geminids attest`: one session or record, signed into a file, and all that cannot be meant."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
)

from geminids.faces.documents.records import StampedDocument
from tests.conftest import FIXTURES, Run
from tests.support.attested_homes import (
    ISSUER,
    SECOND_ID,
    TOKEN,
    add_key,
    checks_of,
    everything_in,
    session_file,
    user_home,
)
from tests.support.documents import check_printed
from tests.support.homes import FIRST_ID
from tests.support.stamping import Authority, Holder, certified

Command = Callable[..., subprocess.CompletedProcess[bytes]]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return user_home(tmp_path, monkeypatch)


@pytest.fixture
def key(geminids: Run, home: Path) -> None:
    """A key of the user."""
    add_key(geminids)


def verified(geminids: Run, *words: object, code: int = 0) -> dict[str, bool | None]:
    """What became of each check."""
    done = geminids("verify", *words, "--json")
    assert done.code == code, done
    return checks_of(check_printed(done.out, "geminids/verify/1"))


# -- forms -------------------------------------------------------------------


@pytest.mark.parametrize("words", [(), ("--cbor",)])
def test_a_session_is_signed_and_verifies(
    geminids: Run, home: Path, key: None, words: tuple[str, ...]
) -> None:
    done = geminids("attest", SECOND_ID, "-o", "s.acr", *words)
    assert done.code == 0
    assert done.out == ""
    assert done.err.endswith(f"s.acr: 3 entries signed by {ISSUER}.\n")
    checks = verified(geminids, "s.acr", "--source", session_file(home, SECOND_ID))
    assert {name for name, holds in checks.items() if holds} >= {
        *("envelope", "signature", "seal", "commitment", "sources", "translation", "schema"),
        *("envelope schema", "record hash", "metadata", "content type"),
    }


@pytest.mark.parametrize("words", [(), ("--cbor",)])
def test_a_record_may_lie_beside_its_signature(
    geminids: Run, home: Path, key: None, words: tuple[str, ...], tmp_path: Path
) -> None:
    done = geminids("attest", SECOND_ID, "-o", "s.rec", "--detached", "--json", *words)
    document = check_printed(done.out, "geminids/attest/1")
    assert document["files"] == [str(tmp_path / "s.rec"), str(tmp_path / "s.rec.cose")]
    assert (document["entries"], document["withheld"], document["hidden"]) == (3, [], None)
    assert verified(geminids, "s.rec")["signature"]
    Path("s.rec.cose").rename("elsewhere.cose")
    assert verified(geminids, "s.rec", "--signature", "elsewhere.cose")["signature"]
    assert not verified(geminids, "s.rec", code=1)["signature"], "nobody vouches for it"
    content = Path("s.rec").read_bytes()
    Path("s.rec").write_bytes(content.replace(b"carts", b"carps"))
    assert not verified(geminids, "s.rec", "--signature", "elsewhere.cose", code=1)["signature"]


def test_a_vcon_holds_record_and_signature(geminids: Run, home: Path, key: None) -> None:
    assert geminids("attest", FIRST_ID, "-o", "s.vcon", "--wrap", "vcon").code == 0
    assert json.loads(Path("s.vcon").read_bytes())["vcon"]
    checks = verified(geminids, "s.vcon", "--source", session_file(home))
    assert (checks["signature"], checks["vcon"], checks["translation"]) == (True, True, True)
    Path("s.vcon").write_text(Path("s.vcon").read_text().replace('"body":"Done."', '"body":"Dont."'))
    assert verified(geminids, "s.vcon", code=1)["vcon"] is False, "what is told beside the record is checked"


def test_the_plain_translation_is_signed_and_cannot_be_cut(geminids: Run, home: Path, key: None) -> None:
    assert geminids("attest", FIRST_ID, "-o", "s.acr", "--simple").code == 0
    checks = verified(geminids, "s.acr")
    assert (checks["signature"], checks["seal"], checks["commitment"]) == (True, None, None)
    done = geminids("redact-record", "s.acr", "-o", "t.acr", "--entry", "1")
    assert done.code == 2
    assert "signed without a commitment to its parts, so nothing" in done.err


@pytest.mark.slow
def test_a_pipe_gets_the_signed_record(command: Command, geminids: Run, home: Path, key: None) -> None:
    done = command("attest", SECOND_ID, "-o", "-")
    assert done.returncode == 0
    assert done.stdout[:1] == b"\xd2"
    Path("s.acr").write_bytes(done.stdout)
    assert verified(geminids, "s.acr")["signature"]


@pytest.mark.slow
def test_secrets_are_taken_out(geminids: Run, home: Path, key: None) -> None:
    for words in ((), ("--cbor",), ("--detached",), ("--wrap", "vcon")):
        done = geminids("attest", FIRST_ID, "-o", "s.acr", "--redact", "--force", "--json", *words)
        document = check_printed(done.out, "geminids/attest/1")
        assert document["hidden"] == 1
        assert "/session/entries/1/content" in document["withheld"]
        for path in map(Path, document["files"]):
            assert TOKEN.encode() not in path.read_bytes()
        assert verified(geminids, "s.acr")["redactions"]
    done = geminids("attest", FIRST_ID, "-o", "s.acr", "--redact", "--force")
    assert " places withheld.\n" in done.err


def test_people_are_taken_out_where_that_is_wished(geminids: Run, home: Path, key: None) -> None:
    done = geminids("attest", FIRST_ID, "-o", "s.acr", "--hide", "all")
    assert done.code == 0
    content = Path("s.acr").read_bytes()
    assert b"/home/ada" not in content
    assert str(home).encode() not in content
    assert TOKEN.encode() not in content
    assert verified(geminids, "s.acr")["redactions"]


# -- records that are there --------------------------------------------------


@pytest.mark.slow
def test_an_exported_record_is_signed_as_it_is(geminids: Run, home: Path, key: None) -> None:
    geminids("export", SECOND_ID, "-f", "vac", "-o", "r.json")
    geminids("export", SECOND_ID, "-f", "vac-cbor", "-o", "r.cbor")
    for name in ("r.json", "r.cbor"):
        content = Path(name).read_bytes()
        assert geminids("attest", name, "-o", "s.acr", "--force").code == 0
        assert content in Path("s.acr").read_bytes()
        checks = verified(geminids, "s.acr", "--source", session_file(home, SECOND_ID))
        assert (checks["signature"], checks["translation"]) == (True, True)
        done = geminids("attest", name, "-o", "s.acr", "--force", "--cbor")
        assert (done.code, "signed as it is" in done.err) == (2, True)
        done = geminids("attest", name, "-o", "s.acr", "--force", "--redact")
        assert (done.code, "signed as it is" in done.err) == (2, True)


def test_an_exported_session_is_not_signed(geminids: Run, home: Path, key: None, tmp_path: Path) -> None:
    private = tmp_path / "private.txt"
    private.write_text("nobody may read this")
    geminids("export", SECOND_ID, "-f", "json", "-o", "s.json")
    document = Path("s.json").read_text().replace(str(session_file(home, SECOND_ID)), str(private))
    Path("s.json").write_text(document)
    for target in ("s.acr", "folder/"):
        done = geminids("attest", "s.json", "-o", target)
        assert done.code == 2
        assert "an exported session" in done.err
    assert not Path("s.acr").exists()


# -- keys --------------------------------------------------------------------


def private_pem(key: Any, passphrase: bytes | None = None) -> bytes:
    hidden = BestAvailableEncryption(passphrase) if passphrase else NoEncryption()
    written: bytes = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, hidden)
    return written


def test_without_a_key_or_an_issuer_nothing_is_signed(geminids: Run, home: Path) -> None:
    done = geminids("attest", SECOND_ID, "-o", "s.acr")
    assert (done.code, "`geminids key new --issuer NAME`" in done.err) == (1, True)
    geminids("key", "new")
    done = geminids("attest", SECOND_ID, "-o", "s.acr")
    assert (done.code, "--issuer NAME, or set it once" in done.err) == (2, True)
    assert not Path("s.acr").exists()
    assert geminids("attest", SECOND_ID, "-o", "s.acr", "--issuer", "Me").code == 0
    assert json.loads(geminids("verify", "s.acr", "--json").out)["files"][0]["issuer"] == "Me"


@pytest.mark.parametrize("made", [Ed25519PrivateKey.generate, lambda: generate_private_key(SECP256R1())])
def test_a_key_of_a_file_signs(geminids: Run, home: Path, made: Callable[[], Any]) -> None:
    own = made()
    Path("own.pem").write_bytes(private_pem(own))
    Path("own.pem").chmod(0o600)
    done = geminids("attest", SECOND_ID, "-o", "s.acr", "--key", "./own.pem", "--issuer", "Me")
    assert done.code == 0, done.err
    from tests.support.record_making import pem_of

    Path("own.pub.pem").write_bytes(pem_of(own))
    assert verified(geminids, "s.acr", "--key", "own.pub.pem")["signature"]
    assert not verified(geminids, "s.acr", code=1)["signature"], "no key is kept here"


def test_a_kept_key_of_another_kind_signs(geminids: Run, home: Path, key: None) -> None:
    add_key(geminids, "second", "--alg", "es256")
    assert geminids("attest", SECOND_ID, "-o", "s.acr", "--key", "second").code == 0
    (file,) = json.loads(geminids("verify", "s.acr", "--json").out)["files"]
    assert (file["holds"], file["algorithm"]) == (True, "ES256")


@pytest.mark.slow
def test_a_key_with_a_passphrase_signs(geminids: Run, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMINIDS_KEY_PASSPHRASE", "open sesame")
    add_key(geminids, "--passphrase")
    assert geminids("attest", SECOND_ID, "-o", "s.acr").code == 0
    assert verified(geminids, "s.acr")["signature"]
    monkeypatch.setenv("GEMINIDS_KEY_PASSPHRASE", "wrong")
    done = geminids("attest", SECOND_ID, "-o", "t.acr")
    assert (done.code, "passphrase" in done.err) == (2, True)
    monkeypatch.delenv("GEMINIDS_KEY_PASSPHRASE")
    done = geminids("attest", SECOND_ID, "-o", "t.acr")
    assert (done.code, "there is no terminal to ask" in done.err) == (2, True)
    assert not Path("t.acr").exists()


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"no key", "no.pem"), (None, "missing.pem"), (b"", "empty.pem"), (b"\0", "no.key")],
)
def test_what_is_no_key_is_refused(geminids: Run, home: Path, content: bytes | None, words: str) -> None:
    if content is not None:
        Path(words).write_bytes(content)
    done = geminids("attest", SECOND_ID, "-o", "s.acr", "--key", words, "--issuer", "Me")
    assert done.code != 0
    assert words in done.err
    assert "Traceback" not in done.err


# -- time stamps -------------------------------------------------------------


@pytest.fixture
def root() -> Holder:
    return certified("Root of time")


@pytest.fixture
def authority(tmp_path: Path, root: Holder) -> Authority:
    Path("root.pem").write_bytes(root.pem)
    Path("other.pem").write_bytes(certified("Another root").pem)
    return Authority(tmp_path / "tsa", certified("Time", by=root))


def test_a_time_stamp_over_the_record(geminids: Run, home: Path, key: None, authority: Authority) -> None:
    geminids("export", SECOND_ID, "-f", "vac", "-o", "r.json")
    Path("reply.tsr").write_bytes(authority.reply(Path("r.json").read_bytes()))
    for words in (("-o", "s.acr"), ("-o", "s.json", "--detached")):
        assert geminids("attest", "r.json", *words, "--timestamp", "reply.tsr").code == 0
        assert verified(geminids, words[1], "--tsa", "root.pem")["time stamp"] is True
        assert verified(geminids, words[1])["time stamp"] is None, "nobody said whom to believe"
        assert verified(geminids, words[1], "--tsa", "other.pem", code=1)["time stamp"] is False
    done = geminids("verify", "s.acr", "--tsa", "root.pem")
    assert "Time" in done.out


def test_a_time_stamp_over_the_signature(
    geminids: Run, home: Path, key: None, authority: Authority, tmp_path: Path
) -> None:
    geminids("attest", SECOND_ID, "-o", "s.acr")
    (file,) = json.loads(geminids("verify", "s.acr", "--json").out)["files"]
    from geminids.sharing.records.standalone import encode_cbor, open_envelope, sha256

    signature = encode_cbor(open_envelope(Path("s.acr").read_bytes()).signature)
    assert sha256(signature).hexdigest() == file["signature_sha256"]
    Path("reply.tsr").write_bytes(authority.reply(signature))
    done = geminids("attest", "s.acr", "-o", "t.acr", "--timestamp", "reply.tsr")
    assert (done.code, "t.acr: time stamp added" in done.err) == (0, True)
    assert verified(geminids, "t.acr", "--tsa", "root.pem")["time stamp"] is True
    assert verified(geminids, "s.acr", "--tsa", "root.pem", code=1)["time stamp"] is False, "it has none"
    done = geminids("attest", "s.acr", "-o", "u.acr", "--timestamp", "reply.tsr", "--json")
    document = msgspec.json.decode(done.out, type=StampedDocument)
    assert document.files == [str(tmp_path / "u.acr")]


def test_a_time_stamp_over_something_else_is_refused(
    geminids: Run, home: Path, key: None, authority: Authority
) -> None:
    geminids("export", SECOND_ID, "-f", "vac", "-o", "r.json")
    geminids("attest", SECOND_ID, "-o", "s.acr")
    geminids("redact-record", "s.acr", "-o", "x.acr", "--entry", "2")
    Path("reply.tsr").write_bytes(authority.reply(b"something else"))
    Path("junk.tsr").write_bytes(b"\x30\x03abc")
    for source, words in (
        ("r.json", "reply.tsr"),
        ("s.acr", "reply.tsr"),
        ("x.acr", "reply.tsr"),
        (SECOND_ID, "reply.tsr"),
        ("s.acr", "junk.tsr"),
        ("r.json", "junk.tsr"),
        ("s.acr", "missing.tsr"),
    ):
        done = geminids("attest", source, "-o", "t.acr", "--timestamp", words)
        assert done.code != 0, (source, words)
        assert "time stamp" in done.err or words in done.err
        assert "Traceback" not in done.err
        assert not Path("t.acr").exists()


# -- what cannot be meant ----------------------------------------------------


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("-o", "s.acr"), "Which session?"),
        ((FIRST_ID,), "Missing option '-o'"),
        ((FIRST_ID, SECOND_ID, "-o", "s.acr"), "A file holds one record"),
        ((FIRST_ID, "--all", "-o", "s/"), "cannot be combined"),
        (("--all", "-o", "s/", "--detached"), "--detached needs a single file"),
        (("--all", "-o", "s/", "--wrap", "vcon"), "--wrap needs a single file"),
        (("--all", "-o", "s/", "--force"), "--force needs a single file"),
        (("--all", "-o", "s/", "--timestamp", "t"), "--timestamp needs a single file"),
        ((FIRST_ID, "-o", "s.acr", "--simple", "--redact"), "Nothing can be redacted"),
        ((FIRST_ID, "-o", "s.acr", "--wrap", "vcon", "--cbor"), "a vCon holds the record as JSON"),
        ((FIRST_ID, "-o", "s.acr", "--wrap", "vcon", "--detached"), "a vCon holds"),
        ((FIRST_ID, "-o", "s.acr", "--keep-attachments"), "needs --redact"),
        ((FIRST_ID, "-o", "s.acr", "--wrap", "zip"), "'zip' is not"),
        ((FIRST_ID, "-o", "-", "--detached"), "writes two files"),
        ((FIRST_ID, "-o", "-", "--json"), "stdout is the record itself"),
        ((FIRST_ID, "-o", ""), "-o"),
        (("nonesuch", "-o", "s.acr"), "nonesuch"),
        (("./none.jsonl", "-o", "s.acr"), "none.jsonl"),
        ((FIRST_ID, "-o", "no/such/folder/s.acr"), "no/such/folder"),
        ((FIRST_ID, "-o", "s.acr", "--key", "nobody"), "nobody"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    geminids: Run, home: Path, key: None, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    before = set(everything_in(tmp_path))
    done = geminids("attest", *words)
    assert done.code in {1, 2}
    assert said in done.err
    assert "Traceback" not in done.err
    assert {path for path in everything_in(tmp_path) if "data/" not in path} <= before


def test_files_are_replaced_only_by_force_and_never_in_the_folder_of_an_agent(
    geminids: Run, home: Path, key: None
) -> None:
    Path("s.acr").write_text("mine")
    done = geminids("attest", SECOND_ID, "-o", "s.acr")
    assert (done.code, Path("s.acr").read_text()) == (2, "mine")
    Path("d.json.cose").write_text("mine")
    assert geminids("attest", SECOND_ID, "-o", "d.json", "--detached").code == 2
    assert not Path("d.json").exists(), "a record beside the signature of another one would be a trap"
    assert geminids("attest", SECOND_ID, "-o", "s.acr", "--force").code == 0
    before = everything_in(home)
    for place in (home / ".gemini" / "s.acr", home / ".gemini" / "tmp" / "shop" / "chats" / "s.acr"):
        done = geminids("attest", SECOND_ID, "-o", place, "--force")
        assert (done.code, str(place) in done.err) == (2, True)
    assert everything_in(home) == before


def test_a_signed_file_is_not_signed_again(geminids: Run, home: Path, key: None) -> None:
    geminids("attest", SECOND_ID, "-o", "s.acr")
    done = geminids("attest", "s.acr", "-o", "t.acr")
    assert (done.code, "is already signed" in done.err) == (2, True)


def test_a_file_of_several_sessions_goes_into_a_folder(geminids: Run, home: Path, key: None) -> None:
    (path,) = (FIXTURES / "gemini" / "two-sessions-one-file").rglob("session-*.jsonl")
    done = geminids("attest", path, "-o", "s.acr")
    assert (done.code, "has 2 sessions" in done.err) == (2, True)
    assert geminids("attest", path, "-o", "s/").code == 0
    assert len(list(Path("s").glob("*/0001.acr"))) == 2
    assert geminids("verify", "s").code == 0


def test_the_sample_can_be_signed(geminids: Run, key: None) -> None:
    assert geminids("attest", "latest", "-o", "s.acr", "--sample").code == 0
    assert verified(geminids, "s.acr")["signature"]


def test_without_sessions_there_is_nothing_to_sign(
    geminids: Run, home: Path, key: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    done = geminids(
        "attest", "--all", "-o", "s/", "--data", tmp_path / "data2", "--key", "x", "--issuer", "y"
    )
    assert done.code == 1
    assert not Path("s").exists()
