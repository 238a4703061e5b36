"""`geminids key`: keys made, listed and shown, and passphrases that nobody sees."""

from __future__ import annotations

import json
import os
import pty
import select
import stat
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_pem_public_key

from geminids.faces.cli.key_command import PASSPHRASE_VARIABLE
from geminids.faces.documents.records import KeyDocument, KeysDocument
from tests.conftest import NOW, Run
from tests.support.terminal import RUN, on_terminal

PRIVATE = "PRIVATE KEY"
WITHOUT_EXTRA = f"""
import sys
sys.modules["cryptography"] = None
{RUN}"""


@pytest.fixture(autouse=True)
def no_passphrase(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(PASSPHRASE_VARIABLE, raising=False)


@pytest.fixture
def folder(machine: Path) -> Path:
    """Where keys are on this machine."""
    return machine / ".local" / "share" / "geminids" / "keys"


def typed(*arguments: object, answers: Sequence[str]) -> tuple[str, int]:
    """Run the command on a terminal and type an answer at each prompt; what appeared, and the exit code."""
    ours, theirs = pty.openpty()
    line = [sys.executable, "-c", RUN, NOW.isoformat(), *map(str, arguments)]
    # In a session of its own: the terminal of whoever runs the tests is not asked.
    child = subprocess.Popen(line, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True)
    os.close(theirs)
    seen, left = bytearray(), list(answers)
    while select.select([ours], [], [], 30)[0]:
        try:
            piece = os.read(ours, 65536)
        except OSError:
            # So Linux reports the end of a terminal's other side.
            break
        seen += piece
        if left and seen.endswith(b": "):
            os.write(ours, f"{left.pop(0)}\n".encode())
    os.close(ours)
    assert not left, seen
    return seen.decode().replace("\r\n", "\n"), child.wait(30)


def test_without_a_key_it_is_said_how_one_is_made(geminids: Run) -> None:
    for words in ((), ("list",)):
        outcome = geminids("key", *words)
        assert (outcome.code, outcome.out) == (1, "")
        assert outcome.err == "geminids: You have no key yet. `geminids key new --issuer NAME` makes one.\n"
    outcome = geminids("key", "show")
    assert (outcome.code, outcome.out) == (1, "")
    said = "You have no signing key yet. Create one with `geminids key new --issuer NAME`."
    assert outcome.err == f"geminids: {said}\n"


def test_a_key_is_made_listed_and_shown(geminids: Run, folder: Path) -> None:
    made = geminids("key", "new", "--issuer", "Ana Lopez")
    assert made.code == 0
    assert f"The private key is {folder}/main.pem: anyone who has it can sign as you." in made.err
    assert "`geminids key show main` prints the public key" in made.err
    listed = geminids("key", "list")
    assert (listed.code, listed.err, listed.out) == (0, "", made.out)
    assert geminids("key").out == made.out
    (line,) = listed.out.splitlines()
    name, algorithm, key_id, issuer, at, passphrase, default = line.split("\t")
    assert (name, algorithm, issuer, at) == ("main", "ed25519", "Ana Lopez", "2026-06-15T12:00:00+00:00")
    assert (passphrase, default) == ("", "default")
    shown = geminids("key", "show")
    assert shown.code == 0
    assert load_pem_public_key(shown.out.encode())
    assert shown.out == (folder / "main.pub.pem").read_text()
    assert f"  id          {key_id}\n" in shown.err
    assert geminids("key", "show", key_id[:8]).out == geminids("key", "show", "main").out == shown.out


def test_the_second_key_is_not_the_default(geminids: Run) -> None:
    geminids("key", "new")
    made = geminids("key", "new", "work", "--alg", "es256")
    assert made.code == 0
    lines = [line.split("\t") for line in geminids("key").out.splitlines()]
    assert [(line[0], line[1], line[3], line[6]) for line in lines] == [
        ("main", "ed25519", "", "default"),
        ("work", "es256", "", ""),
    ]
    assert geminids("key", "show", "work").err.endswith("default     no\n")


def test_documents_for_programs(geminids: Run, folder: Path) -> None:
    empty = geminids("key", "--json")
    assert empty.code == 1
    assert msgspec.json.decode(empty.out, type=KeysDocument).keys == []
    made = geminids("key", "new", "--json", "--issuer", "Ana")
    assert (made.code, made.err) == (0, "")
    document = msgspec.json.decode(made.out, type=KeyDocument)
    assert json.loads(made.out)["schema"] == "geminids/key/1"
    assert (document.name, document.issuer, document.created_at) == ("main", "Ana", NOW)
    assert document.private_file == str(folder / "main.pem")
    shown = geminids("key", "show", "--json")
    assert (shown.code, shown.err, shown.out) == (0, "", made.out)
    listed = geminids("key", "list", "--json")
    assert json.loads(listed.out)["schema"] == "geminids/keys/1"
    keys = msgspec.json.decode(listed.out, type=KeysDocument)
    assert keys.folder == str(folder)
    assert [key.key_id for key in keys.keys] == [document.key_id]
    assert PRIVATE not in made.out + shown.out + listed.out


def test_nothing_ever_prints_a_private_key(geminids: Run, folder: Path) -> None:
    outcomes = [geminids("key", "new"), geminids("key", "show"), geminids("key"), geminids("key", "--json")]
    secret = (folder / "main.pem").read_text().splitlines()[1]
    (folder / "main.pem").chmod(0o644)
    outcomes += [geminids("key"), geminids("key", "new"), geminids("key", "show", "nobody")]
    assert all(secret not in outcome.out + outcome.err for outcome in outcomes)


def test_wrong_usage_is_told(geminids: Run, folder: Path) -> None:
    geminids("key", "new")
    for words, code, told in (
        (("new",), 2, "A key 'main' already exists"),
        (("new", "../main"), 2, "A key cannot be called '../main'."),
        (("new", ""), 2, "it is empty"),
        (("new", "other", "--alg", "rsa"), 2, "'rsa' is not one of 'ed25519', 'es256'"),
        (("new", "other", "--issuer", ""), 2, "it is empty"),
        (("new", "other", "--issuer", "a\nb"), 2, "An issuer is a name or an address on one line"),
        (("show", "nobody"), 1, "No key 'nobody'. Available: main."),
        (("shwo",), 2, "Did you mean `show`?"),
    ):
        outcome = geminids("key", *words)
        assert (outcome.code, outcome.out) == (code, ""), words
        assert told in outcome.err
    assert sorted(file.name for file in folder.iterdir()) == ["main.json", "main.pem", "main.pub.pem"]


def test_what_is_wrong_in_the_folder_is_named(geminids: Run, folder: Path) -> None:
    geminids("key", "new")
    (folder / "notes.txt").write_text("mine")
    (folder / "main.pem").chmod(0o640)
    listed = geminids("key")
    assert listed.code == 3
    assert listed.out.startswith("main\ted25519\t")
    assert f"{folder}/notes.txt: it is no key of geminids, and is left alone.\n" in listed.err
    assert f"`chmod 600 {folder}/main.pem` fixes that.\n" in listed.err
    strange = json.loads(geminids("key", "--json").out)["strange"]
    assert [file["file"] for file in strange] == [str(folder / "notes.txt"), str(folder / "main.pem")]


@pytest.mark.slow
def test_a_passphrase_from_the_environment(
    geminids: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(PASSPHRASE_VARIABLE, "open sésame")
    made = geminids("key", "new", "--passphrase")
    assert made.code == 0
    assert "sésame" not in made.out + made.err
    content = (folder / "main.pem").read_bytes()
    assert load_pem_private_key(content, "open sésame".encode())
    assert made.out.split("\t")[5] == "passphrase"
    # Whoever has set it for signing does not lock every new key with it.
    geminids("key", "new", "open")
    assert load_pem_private_key((folder / "open.pem").read_bytes(), None)


def test_without_a_terminal_and_a_variable_nothing_is_made(geminids: Run, folder: Path) -> None:
    outcome = geminids("key", "new", "--passphrase")
    assert (outcome.code, outcome.out) == (2, "")
    assert "there is no terminal to ask. Set GEMINIDS_KEY_PASSPHRASE." in outcome.err
    assert not folder.exists()


@pytest.mark.slow
def test_a_passphrase_is_typed_twice_and_never_seen(folder: Path) -> None:
    seen, code = typed("key", "new", "--passphrase", "--issuer", "Ana", answers=["secret", "secret"])
    assert code == 0
    assert "Passphrase for the new key: \nRepeat it: \n" in seen
    assert "secret" not in seen
    assert load_pem_private_key((folder / "main.pem").read_bytes(), b"secret")


@pytest.mark.slow
def test_a_slip_is_asked_for_again(folder: Path) -> None:
    seen, code = typed(
        "key", "new", "--passphrase", "--issuer", "Ana", answers=["secret", "sceret", "other", "other"]
    )
    assert code == 0
    assert "do not match" in seen
    assert load_pem_private_key((folder / "main.pem").read_bytes(), b"other")


@pytest.mark.slow
def test_a_list_fits_a_narrow_terminal(geminids: Run) -> None:
    geminids("key", "new", "--issuer", "The department of keys, https://example.com/" + "long/" * 20)
    geminids("key", "new", "a-name-that-is-as-long-as-names-get")
    for columns in (40, 80, 120):
        shown = on_terminal("key", columns=columns, NO_COLOR="1")
        assert all(len(line) <= columns for line in shown.splitlines())
        assert "main" in shown
        assert "default" in shown


def test_our_folder_can_be_elsewhere(geminids: Run, tmp_path: Path) -> None:
    made = geminids("key", "new", "--data", tmp_path / "ours")
    assert f"`geminids key show main --data {tmp_path}/ours` prints" in made.err
    assert stat.S_IMODE((tmp_path / "ours" / "keys").stat().st_mode) == 0o700
    assert geminids("key", "show", "--data", tmp_path / "ours").code == 0
    assert geminids("key", "show").code == 1


@pytest.mark.parametrize("words", [("list",), ("new",), ("show",)])
def test_who_has_no_folder_is_told(
    words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, geminids: Run
) -> None:
    monkeypatch.setattr("geminids.core.config.data_folder", lambda *_: None)
    outcome = geminids("key", *words)
    assert (outcome.code, outcome.out) == (2, "")
    assert "--data" in outcome.err


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ("key", "list"),
        ("key", "new"),
        ("key", "show"),
        ("key", "--json"),
        ("attest", "latest", "-o", "x.acr", "--sample"),
        ("attest", "--all", "-o", "x/", "--sample"),
        ("verify", "x.acr"),
        ("verify", "--write-verifier", "x.py"),
        ("redact-record", "x.acr", "--list"),
        ("redact-record", "x.acr", "-o", "y.acr", "--entry", "1"),
    ],
    ids=" ".join,
)
def test_without_what_signs_it_is_said_what_to_install(words: tuple[str, ...], machine: Path) -> None:
    line = [sys.executable, "-c", WITHOUT_EXTRA, NOW.isoformat(), *words]
    done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Signing and verifying need cryptography" in done.stderr
    assert "-m pip install 'cryptography>=46' 'rfc3161-client>=1.0.9'` adds it." in done.stderr
    assert "Traceback" not in done.stderr


def test_help_needs_nothing_that_signs() -> None:
    watched = f"{RUN.replace('sys.exit(run(sys.argv[2:]', 'code = (run(sys.argv[2:]')}"
    watched += "\nassert not {'cryptography', 'cbor2', 'msgspec'} & set(sys.modules), sorted(sys.modules)\n"
    for words in (["key", "--help"], ["key", "new", "--help"]):
        line = [sys.executable, "-c", watched, NOW.isoformat(), *words]
        done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 0, done.stderr
        assert "geminids key new --issuer" in done.stdout


def listed(geminids: Run) -> dict[str, tuple[str | None, bool]]:
    """Who signs with each key, and whether it is the default."""
    keys = json.loads(geminids("key", "list", "--json").out)["keys"]
    return {one["name"]: (one["issuer"], one["is_default"]) for one in keys}


def test_who_signs_and_which_key_signs_can_be_changed(geminids: Run, folder: Path, tmp_path: Path) -> None:
    geminids("key", "new")
    geminids("key", "new", "work", "--issuer", "Ana")
    assert listed(geminids) == {"main": (None, True), "work": ("Ana", False)}
    assert geminids("key", "set", "--issuer", "Ana Lopez").code == 0
    assert geminids("key", "set", "work", "--default").code == 0
    assert listed(geminids) == {"main": ("Ana Lopez", False), "work": ("Ana", True)}
    signed = geminids("attest", "latest", "--sample", "-o", tmp_path / "s.acr")
    assert signed.code == 0, "it need not be told who signs"
    assert stat.S_IMODE((folder / "work.json").stat().st_mode) == 0o600
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    for arguments, message in (
        (("set",), "Set what?"),
        (("set", "nobody", "--default"), "nobody"),
        (("set", "work", "--issuer", "x" * 400), "issuer"),
    ):
        refused = geminids("key", *arguments)
        assert refused.code in (1, 2)
        assert message in refused.err
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_key_is_deleted_for_good_and_only_on_a_yes(geminids: Run, folder: Path) -> None:
    geminids("key", "new", "--issuer", "Ana")
    geminids("key", "new", "work")
    geminids("key", "new", "third")
    refused = geminids("key", "delete", "main")
    assert (refused.code, "no terminal to ask" in refused.err) == (2, True)
    assert "main" in listed(geminids)
    deleted = geminids("key", "delete", "main", "--yes")
    assert deleted.code == 0
    assert "geminids key set" in deleted.err
    assert not list(folder.glob("main*"))
    assert listed(geminids) == {"work": (None, False), "third": (None, False)}
    assert geminids("key", "delete", "main", "--yes").code != 0


@pytest.mark.slow
def test_on_a_terminal_it_is_asked_who_signs(geminids: Run) -> None:
    seen, code = typed("key", "new", answers=["Ana Lopez"])
    assert code == 0, seen
    assert "Issuer (your name or address)" in seen
    assert listed(geminids) == {"main": ("Ana Lopez", True)}
    seen, code = typed("key", "new", "other", answers=[""])
    assert code == 0, seen
    assert listed(geminids)["other"] == (None, False)
    seen, code = typed("key", "delete", "other", answers=["n"])
    assert code == 130
    assert "other" in listed(geminids)


def test_a_key_that_nobody_is_named_for_says_how_to_name_somebody(geminids: Run) -> None:
    made = geminids("key", "new")
    assert "set one with `geminids key set main --issuer NAME`" in made.err
    assert "key set main --issuer" in geminids("key", "set", "main", "--default").err
    assert "issuer" not in geminids("key", "set", "main", "--issuer", "Ana").err
