"""`geminids verify`: whom to believe, what to compare with, and how the answer is drawn."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.conftest import ROOT, Run
from tests.support.attested_homes import (
    ISSUER,
    SECOND_ID,
    add_key,
    checks_of,
    everything_in,
    session_file,
    user_home,
)
from tests.support.documents import check_printed
from tests.support.homes import FIRST_ID
from tests.support.kept_homes import asked
from tests.support.record_making import OTHER_KEY, pem_of
from tests.support.terminal import on_terminal

Command = Callable[..., subprocess.CompletedProcess[bytes]]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, geminids: Run) -> Path:
    """A user with a key who has signed a session as `s.acr`."""
    home = user_home(tmp_path, monkeypatch)
    add_key(geminids)
    assert geminids("attest", SECOND_ID, "-o", "s.acr").code == 0
    return home


def verified(geminids: Run, *words: object, code: int = 0) -> dict[str, bool | None]:
    return checks_of(document(geminids, *words, code=code))


def document(geminids: Run, *words: object, code: int = 0) -> dict[str, Any]:
    done = geminids("verify", *words, "--json")
    assert done.code == code, done
    assert done.err == ""
    found = check_printed(done.out, "geminids/verify/1")
    assert found["holds"] is (code == 0)
    return found


# -- whom to believe ---------------------------------------------------------


def test_a_public_key_says_whom_to_believe(geminids: Run, home: Path, tmp_path: Path) -> None:
    Path("ana.pub.pem").write_text(geminids("key", "show").out)
    Path("other.pub.pem").write_bytes(pem_of(OTHER_KEY))
    nobody = ("--data", tmp_path / "none")
    assert verified(geminids, "s.acr", "--key", "ana.pub.pem", *nobody)["signature"]
    assert verified(geminids, "s.acr", "--key", "other.pub.pem", "--key", "ana.pub.pem", *nobody)["signature"]
    assert not verified(geminids, "s.acr", "--key", "other.pub.pem", code=1)["signature"]
    assert verified(geminids, "s.acr", "--key", "main")["signature"]
    done = geminids("verify", "s.acr", "--key", "other.pub.pem")
    assert "Do not rely on it: signature, seal failed." in done.err
    assert "the key given is" in done.out


def test_whose_key_it_was_is_told(geminids: Run, home: Path) -> None:
    Path("ana.pub.pem").write_text(geminids("key", "show").out)
    (file,) = document(geminids, "s.acr")["files"]
    assert file["key"] == {"name": "main", "is_own": True}
    (file,) = document(geminids, "s.acr", "--key", "ana.pub.pem")["files"]
    assert file["key"] == {"name": "ana.pub.pem", "is_own": False}
    assert file["unchecked"] is None


@pytest.mark.parametrize("has_keys", [True, False])
def test_what_was_signed_with_an_unknown_key_is_not_checked_and_not_damaged(
    geminids: Run, home: Path, tmp_path: Path, has_keys: bool
) -> None:
    (known,) = document(geminids, "s.acr")["files"]
    nobody = ("--data", tmp_path / "none")
    if has_keys:
        add_key(geminids, *map(str, nobody))
    why = f"signed with key {known['key_id'][:16]}…, which is not one of yours"
    done = geminids("verify", "s.acr", *nobody)
    assert (done.code, done.err) == (1, f"geminids: Not checked: {why}. Give the signer's key with --key.\n")
    assert "the key given" not in done.out
    found = document(geminids, "s.acr", *nobody, code=1)
    (file,) = found["files"]
    assert (file["holds"], file["unchecked"], file["key"]) == (False, why, None)
    assert {name for name, holds in checks_of(found).items() if holds is False} == {"signature", "seal"}
    content = Path("s.acr").read_bytes()
    Path("bad.acr").write_bytes(content.replace(b"carts", b"carps"))
    (file,) = document(geminids, "bad.acr", *nobody, code=1)["files"]
    assert file["unchecked"] is None
    assert "Do not rely on it: " in geminids("verify", "bad.acr", *nobody).err


@pytest.mark.slow
def test_on_a_terminal_an_unknown_key_is_no_failure(home: Path, tmp_path: Path) -> None:
    shown = on_terminal("verify", "s.acr", "--data", tmp_path / "none", NO_COLOR="1", code=1)
    assert shown.startswith("NOT CHECKED: signed with key ")
    assert "which is not one of yours. Give the signer's key with --key." in " ".join(shown.split())
    assert "FAILED" not in shown
    assert "rely" not in shown


def test_what_is_no_record_is_called_so(geminids: Run, home: Path) -> None:
    Path("notes.txt").write_text("# Notes\n" * 100)
    done = geminids("verify", "notes.txt")
    assert (done.code, done.err) == (1, "geminids: This is not a signed record.\n")
    assert "it is neither JSON nor CBOR (" in done.out
    shown, code = asked("verify", "notes.txt", answer="")
    assert (code, "This is not a signed record." in shown, "rely" in shown) == (1, True, False)


@pytest.mark.parametrize(
    "content", [None, b"", b"junk", b"-----BEGIN PUBLIC KEY-----\nAA\n-----END PUBLIC KEY-----\n"]
)
def test_what_is_no_key_is_said(geminids: Run, home: Path, content: bytes | None) -> None:
    if content is not None:
        Path("no.pem").write_bytes(content)
    done = geminids("verify", "s.acr", "--key", "no.pem")
    assert done.code in {1, 2}
    assert "no.pem" in done.err
    assert "Traceback" not in done.err
    done = geminids("verify", "s.acr", "--key", "nobody")
    assert (done.code, "No key 'nobody'" in done.err) == (1, True)


def test_strange_files_among_the_keys_do_no_harm(geminids: Run, home: Path, tmp_path: Path) -> None:
    keys = tmp_path / "data" / "keys"
    (keys / "odd.pem").write_text("no key")
    (keys / "odd.pub.pem").write_text("no key")
    done = geminids("verify", "s.acr")
    assert "Traceback" not in done.err
    assert done.code == 0, done


# -- what to compare with ----------------------------------------------------


def test_the_source_is_compared(geminids: Run, home: Path) -> None:
    path = session_file(home, SECOND_ID)
    checks = verified(geminids, "s.acr", "--source", path)
    assert (checks["sources"], checks["translation"]) == (True, True)
    path.write_text(path.read_text() + '{"id":"u2","type":"user","content":"more"}\n')
    checks = verified(geminids, "s.acr", "--source", path)
    assert (checks["sources"], checks["translation"]) == (True, True), "it has only grown"
    moved = path.rename(path.with_name("elsewhere.jsonl"))
    assert verified(geminids, "s.acr", "--source", moved)["translation"], "a name is no proof"
    moved.write_text(moved.read_text().replace("Write about carts", "Write about carps"))
    checks = verified(geminids, "s.acr", "--source", moved, code=1)
    assert (checks["sources"], checks["translation"]) == (False, False)
    checks = verified(geminids, "s.acr", "--source", session_file(home), code=1)
    assert (checks["sources"], checks["translation"]) == (False, False), "the file of another session"


@pytest.mark.slow
def test_a_record_that_tells_otherwise_than_its_source_is_found(geminids: Run, home: Path) -> None:
    path = session_file(home, SECOND_ID)
    geminids("export", SECOND_ID, "-f", "vac", "-o", "r.json")
    honest = json.loads(Path("r.json").read_text())
    assert honest["session"]["entries"][1]["content"] == "Write about carts"

    def signed_with(**changes: Any) -> dict[str, bool | None]:
        record = json.loads(json.dumps(honest))
        record["session"]["entries"][1] |= changes
        Path("forged.json").write_text(json.dumps(record))
        assert geminids("attest", "forged.json", "-o", "forged.acr", "--force").code == 0
        done = geminids("verify", "forged.acr", "--source", path, "--json")
        return checks_of(json.loads(done.out))

    assert signed_with()["translation"] is True
    for changes in (
        {"content": "Write about carps"},
        {"timestamp": "2026-05-09T10:00:02Z"},
        {"type": "assistant"},
        {"x-native": [{"note": "never written"}]},
        {"children": [{"type": "reasoning", "content": "never thought"}]},
    ):
        checks = signed_with(**changes)
        assert (checks["signature"], checks["sources"], checks["translation"]) == (True, True, False), changes
    for place, forged in (
        (("session", "agent-meta", "model-id"), "gemini-9"),
        (("session", "session-start"), "2026-05-09T09:00:00Z"),
        (("session", "session-end"), "2026-05-09T23:00:00Z"),
    ):
        *above, name = place
        holder = honest
        for step in above:
            holder = holder[step]
        kept, holder[name] = holder[name], forged
        assert signed_with()["translation"] is False, place
        holder[name] = kept
    honest["session"]["entries"].pop()
    assert signed_with()["translation"] is False, "something is missing"


def test_what_is_given_must_be_there(geminids: Run, home: Path) -> None:
    for words in (
        ("missing.acr",),
        ("s.acr", "--source", "missing"),
        ("s.acr", "--signature", "missing"),
        ("s.acr", "--tsa", "missing"),
        ("s.acr", "--previous", "missing"),
        ("s.acr", "--source", "."),
    ):
        done = geminids("verify", *words)
        assert done.code in {1, 2}, words
        assert words[-1] in done.err
        assert "Traceback" not in done.err


@pytest.mark.parametrize("words", [("--source", "s.acr"), ("--signature", "s.acr"), ("--previous", "s.acr")])
def test_a_folder_is_checked_by_itself(geminids: Run, home: Path, words: tuple[str, ...]) -> None:
    done = geminids("verify", ".", *words)
    assert (done.code, "need a single file" in done.err) == (2, True)


def test_a_record_that_nobody_signed_can_be_checked_for_its_shape(geminids: Run, home: Path) -> None:
    geminids("export", SECOND_ID, "-f", "vac", "-o", "r.json")
    geminids("export", SECOND_ID, "-f", "vac-cbor", "-o", "r.cbor")
    geminids("export", SECOND_ID, "-f", "vcon", "-o", "r.vcon")
    for name in ("r.json", "r.cbor", "r.vcon"):
        assert verified(geminids, name, "--unsigned") == {"signature": None, "schema": True}
        assert verified(geminids, name, code=1)["signature"] is False
    done = geminids("verify", "r.json", "--unsigned")
    assert "geminids: It has the form of a record, but no signature.\n" in done.err
    record = json.loads(Path("r.json").read_text())
    record["session"]["entries"][0]["type"] = 7
    Path("r.json").write_text(json.dumps(record))
    assert verified(geminids, "r.json", "--unsigned", code=1)["schema"] is False
    told = geminids("verify", "r.json", "--unsigned").out
    assert '/session/entries/0/type: expected "user" or "assistant" or ' in told
    assert "found an unsigned integer" in told


# -- whatever is given -------------------------------------------------------


ODD_MEMBERS = [
    *(bytes.fromhex(f"1864{tag}") for tag in ("d82300", "c5821b00000000ffffffff01", "d81e820100", "d81d00")),
    b"\xc2\x59\x10\x00" + b"\xff" * 4096 + b"\x00",
]
"""Headers whose tags are not what they say, and one whose label is a number of ten thousand digits."""


@pytest.mark.slow
def test_no_bytes_are_an_accident(geminids: Run, home: Path) -> None:
    random = Random(7)
    whole = Path("s.acr").read_bytes()
    given = [
        *(
            b"",
            b"\0",
            b"{",
            b"{}",
            b"[]",
            b"null",
            b"\xd2",
            b"\xd2\x80",
            b"\xd2\x84\x40\xa0\xf6\x40",
            b"\xa1\x01",
        ),
        *(
            b'{"vcon":"0.4.0"}',
            b'{"vcon":1,"analysis":3}',
            b'{"session":[]}',
            b"[" * 100_000,
            b"\x81" * 100_000,
        ),
        b'{"vcon":"0.4.0","analysis":[{"type":"agent_trace","encoding":"json","body":{"id":"x"}}]}',
        *(b"\xd2\x84\x41\xa0\xa1" + inner + b"\x40\x40" for inner in ODD_MEMBERS),
        *(random.randbytes(random.randrange(400)) for _ in range(40)),
        *(b"\xd2" + random.randbytes(random.randrange(400)) for _ in range(40)),
        *(whole[: random.randrange(len(whole))] for _ in range(20)),
        *(_flipped(whole, random) for _ in range(60)),
    ]
    for content in given:
        Path("junk.acr").write_bytes(content)
        for words in ((), ("--unsigned",)):
            done = geminids("verify", "junk.acr", *words)
            assert done.code in {1, 2}, content[:100]
            assert "Traceback" not in done.err


def _flipped(content: bytes, random: Random) -> bytes:
    changed = bytearray(content)
    changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
    return bytes(changed)


def test_a_folder_without_statements_is_said(geminids: Run, home: Path) -> None:
    Path("junk/inside/deep").mkdir(parents=True)
    Path("junk/notes.txt").write_text("x")
    Path("junk/inside/1.acr").write_text("x")
    done = geminids("verify", "junk")
    assert done == (1, "", "geminids: No statement in this folder.\n")


def test_a_folder_of_junk_fails(geminids: Run, home: Path) -> None:
    Path("junk/inside").mkdir(parents=True)
    Path("junk/inside/0001.acr").write_bytes(b"")
    Path("junk/inside/0002.acr").write_bytes(b"\xd2\x84")
    Path("junk/0001.acr").mkdir()
    done = geminids("verify", "junk")
    assert done.code in {1, 2}
    assert "Traceback" not in done.err


def test_an_empty_signature_beside_a_record_fails(geminids: Run, home: Path) -> None:
    geminids("attest", SECOND_ID, "-o", "s.json", "--detached")
    Path("s.json.cose").write_bytes(b"")
    assert verified(geminids, "s.json", code=1)["envelope"] is False


def test_without_a_file_it_asks_for_one(geminids: Run, home: Path) -> None:
    done = geminids("verify")
    assert (done.code, "Which file?" in done.err) == (2, True)


# -- how it is drawn ---------------------------------------------------------


def test_in_a_pipe_each_check_is_a_line(geminids: Run, home: Path, tmp_path: Path) -> None:
    done = geminids("verify", "s.acr")
    lines = [line.split("\t") for line in done.out.splitlines()]
    assert {len(line) for line in lines} == {4}
    assert {line[0] for line in lines} == {str(tmp_path / "s.acr")}
    assert {line[1] for line in lines} == {"ok", "-"}
    assert done.err.startswith("geminids: The holder of this key had this record when signing it")
    assert "This does not prove what a model really did" in done.err


def test_programs_get_all_of_it(geminids: Run, home: Path) -> None:
    found = document(geminids, "s.acr")
    (file,) = found["files"]
    assert (file["form"], file["issuer"], file["algorithm"]) == ("statement", ISSUER, "Ed25519")
    assert (file["session_id"], file["withheld"]) == (SECOND_ID, [])
    assert file["key_id"] == json.loads(geminids("key", "show", "--json").out)["key_id"]
    assert re.fullmatch("[0-9a-f]{64}", file["signature_sha256"])
    assert "does not prove" in found["does_not_show"]


@pytest.mark.slow
@pytest.mark.parametrize("columns", [40, 80, 200])
def test_on_a_terminal_words_go_on_below_themselves(geminids: Run, home: Path, columns: int) -> None:
    geminids("redact-record", "s.acr", "-o", "t.acr", "--field", "content")
    shown = on_terminal("verify", "t.acr", columns=columns, NO_COLOR="1")
    told, _, _ = shown.partition("\nThe holder of this key")
    verdict, _, listed = told.partition("\n/")
    checks = listed.splitlines()[1:]
    assert " ".join(verdict.split()) == "VALID, signed by Ana Lopez with your key main"
    assert max(map(len, checks)) <= columns
    assert re.match(r"         signer           Ana Lopez,", checks[0])
    marked = [line for line in checks if not line.startswith(" " * 26)]
    assert all(re.match(r"  (OK   |-    |     )  \S", line) for line in marked)
    assert " ".join(" ".join(line[26:] for line in checks).split()).count("…") == 2, (
        "only short ids are short"
    )
    assert "/session/entries/1/content" in "".join(line[26:] for line in checks)


@pytest.mark.slow
def test_on_a_terminal_what_failed_stands_out(home: Path, tmp_path: Path) -> None:
    Path("bad.acr").write_bytes(Path("s.acr").read_bytes()[:-1])
    shown, code = asked("verify", "bad.acr", answer="")
    assert code == 1
    assert shown.startswith("\x1b[31mNOT VALID")
    assert "\x1b[31mFAILED" in shown
    assert "Do not rely on it: envelope" in shown


@pytest.mark.slow
def test_of_a_folder_only_what_failed_is_drawn(geminids: Run, home: Path) -> None:
    geminids("attest", "--all", "-o", "statements/")
    shown = on_terminal("verify", "statements", NO_COLOR="1")
    assert shown.startswith("geminids: 2 of 2 statements are valid.\n")
    (first,) = Path("statements").glob("gemini-1f0c9a2b-*/0001.acr")
    first.write_bytes(first.read_bytes()[:-1])
    shown, code = asked("verify", "statements", answer="")
    assert (code, shown.count(".acr")) == (1, 1)
    assert "1 of 2 statements are valid." in shown


# -- without geminids --------------------------------------------------------


def alone(*words: object) -> subprocess.CompletedProcess[str]:
    """The written verifier, where geminids cannot be found."""
    line = [sys.executable, "-I", "-c", BLOCKED, *map(str, words)]
    return subprocess.run(line, capture_output=True, text=True, check=False, timeout=60)


BLOCKED = """
import runpy, sys
sys.modules["geminids"] = None
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def test_the_verifier_can_be_handed_out(geminids: Run, home: Path) -> None:
    done = geminids("verify", "--write-verifier", "check.py")
    assert (done.code, "verifies without geminids" in done.err) == (0, True)
    Path("ana.pub.pem").write_text(geminids("key", "show").out)
    done_alone = alone("check.py", "s.acr", "--key", "ana.pub.pem", "--source", session_file(home, SECOND_ID))
    assert done_alone.returncode == 0, done_alone.stderr
    assert ": VALID\n" in done_alone.stdout
    geminids("redact-record", "s.acr", "-o", "t.acr", "--entry", "2")
    assert (
        json.loads(alone("check.py", "t.acr", "--key", "ana.pub.pem", "--json").stdout)["form"] == "excerpt"
    )
    geminids("attest", FIRST_ID, "-o", "d.json", "--detached")
    words = ("d.json.cose", "--record", "d.json", "--key", "ana.pub.pem")
    assert alone("check.py", *words).returncode == 0
    Path("s.acr").write_bytes(_flipped(Path("s.acr").read_bytes(), Random(3)))
    assert alone("check.py", "s.acr", "--key", "ana.pub.pem").returncode == 1


def test_the_verifier_replaces_nothing_but_itself(geminids: Run, home: Path) -> None:
    Path("mine.py").write_text("print('mine')\n")
    done = geminids("verify", "--write-verifier", "mine.py")
    assert (done.code, Path("mine.py").read_text()) == (2, "print('mine')\n")
    assert geminids("verify", "--write-verifier", "check.py").code == 0
    assert geminids("verify", "s.acr", "--write-verifier", "check.py").code == 0
    before = everything_in(home)
    done = geminids("verify", "--write-verifier", home / ".gemini" / "check.py")
    assert done.code == 2
    assert everything_in(home) == before


@pytest.mark.slow
def test_help_and_lists_load_nothing_that_signs(home: Path) -> None:
    code = (
        "import sys; from geminids.faces.cli.main import run; run(sys.argv[1:]);"
        "print(sorted({'cbor2', 'cryptography', 'rfc3161_client'} & set(sys.modules)),"
        " file=sys.stderr)"
    )
    for words in (["--help"], ["list"], ["verify", "--help"], ["attest", "--help"]):
        line = [sys.executable, "-c", code, *words]
        done = subprocess.run(line, capture_output=True, text=True, check=False, cwd=ROOT, env=os.environ)
        assert done.stderr.splitlines()[-1] == "[]", words


@pytest.mark.parametrize("simple", [(), ("--simple",)])
def test_a_vcon_says_nothing_twice_and_nothing_else(
    geminids: Run, home: Path, simple: tuple[str, ...]
) -> None:
    assert geminids("attest", SECOND_ID, "-o", "s.vcon", "--wrap", "vcon", *simple).code == 0
    honest = Path("s.vcon").read_text("utf-8")
    assert verified(geminids, "s.vcon")["vcon"] is True
    for before, after in (
        ('"session":{', '"session":{"entries":["never said"]},"session":{'),
        ('"dialog":[', '"dialog":[{"type":"text","body":"never said"}],"dialog":['),
        ('"parties":[0]', '"parties":[false]'),
        ('"body":"', '"body":"never said: '),
        (honest, honest + " "),
    ):
        assert before in honest
        Path("forged.vcon").write_text(honest.replace(before, after, 1), "utf-8")
        done = geminids("verify", "forged.vcon")
        assert done.code != 0, after
        assert "Traceback" not in done.err
