"""`geminids redact-record`: pieces taken out of signed records, and what is left still verifies."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from geminids.sharing.records import standalone
from geminids.sharing.records.commitment import commit
from geminids.sharing.records.signature import Claims, statement
from tests.conftest import Run
from tests.support.attested_homes import TOKEN, add_key, checks_of, everything_in, user_home
from tests.support.documents import check_printed
from tests.support.homes import FIRST_ID
from tests.support.record_making import ED25519_KEY
from tests.support.terminal import on_terminal

USER, ANSWER = 2, 3
"""The numbers of the entries: before them stands the header of the file."""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, geminids: Run) -> Path:
    """A user with a key who has signed a session as `s.acr`."""
    home = user_home(tmp_path, monkeypatch)
    add_key(geminids)
    assert geminids("attest", FIRST_ID, "-o", "s.acr").code == 0
    return home


def cut(geminids: Run, *words: object, file: str = "s.acr", output: str = "t.acr") -> dict[str, Any]:
    """Take pieces out; what is said of them. What is left verifies."""
    done = geminids("redact-record", file, "-o", output, "--force", "--json", *words)
    assert done.code == 0, done.err
    document = check_printed(done.out, "geminids/excerpt/1")
    verified(geminids, output)
    return document


def verified(geminids: Run, file: str) -> dict[str, Any]:
    """A file of which everything holds, as `verify` tells of it."""
    done = geminids("verify", file, "--json")
    assert done.code == 0, done.out
    document = check_printed(done.out, "geminids/verify/1")
    checks = checks_of(document)
    assert (checks["signature"], checks["seal"], checks["commitment"], checks["schema"]) == (True,) * 4
    (found,) = document["files"]
    assert found["form"] == "excerpt"
    return dict(found)


def entries(geminids: Run, file: str) -> list[dict[str, Any]]:
    done = geminids("redact-record", file, "--list", "--json")
    return list(check_printed(done.out, "geminids/record-entries/1")["entries"])


def test_what_is_said_to_be_taken_out_is_what_verify_counts(geminids: Run, home: Path) -> None:
    document = cut(geminids, "--entry", USER)
    places = len(verified(geminids, "t.acr")["withheld"])
    assert document["missing"] == places > len(document["withheld"])
    said = geminids("redact-record", "s.acr", "-o", "t.acr", "--force", "--entry", USER).err
    assert f": {len(document['withheld'])} places removed, and others that would reveal them; " in said
    assert said.endswith(f"; {places} places missing in total, as `verify` counts them.\n")
    (redactions,) = [line for line in geminids("verify", "t.acr").out.splitlines() if "redactions" in line]
    assert redactions.endswith(f"removed at {places} places")


# -- what can be taken out ---------------------------------------------------


def test_entries_are_listed_with_their_numbers(geminids: Run, home: Path) -> None:
    done = geminids("redact-record", "s.acr", "--list")
    lines = [line.split("\t") for line in done.out.splitlines()]
    assert [line[:2] for line in lines] == [["1", "system-event"], ["2", "user"], ["3", "assistant"]]
    assert lines[1][2:] == [f"u-{FIRST_ID}", f"Use {TOKEN} for the login"[:60]]
    assert [entry["number"] for entry in entries(geminids, "s.acr")] == [1, 2, 3]
    assert entries(geminids, "s.acr")[1]["timestamp"].startswith("2026-05-01T10:00:01")


@pytest.mark.slow
@pytest.mark.parametrize("columns", [60, 80, 120])
def test_on_a_terminal_entries_are_a_table(home: Path, columns: int) -> None:
    lines = on_terminal("redact-record", "s.acr", "--list", columns=columns, NO_COLOR="1").splitlines()
    assert lines[0].split() == ["entry", "begins", "id"]
    assert len(lines) == 4
    assert max(map(len, lines)) <= columns


@pytest.mark.parametrize("wanted", [str(USER), f"u-{FIRST_ID}"])
def test_an_entry_goes_by_its_number_or_its_id(geminids: Run, home: Path, wanted: str) -> None:
    document = cut(geminids, "--entry", wanted)
    assert "/session/entries/1" in document["withheld"]
    assert b"for the login" not in Path("t.acr").read_bytes()
    assert b"Done." in Path("t.acr").read_bytes()
    assert [entry["begins"] for entry in entries(geminids, "t.acr")][1] == "redacted"
    places = {place["at"]: place["count"] for place in verified(geminids, "t.acr")["withheld"]}
    assert places["/session/entries/1"] == 1
    assert "/x-source" in places, "hashes of files would let anybody guess"


def test_all_entries_but_one_can_go(geminids: Run, home: Path) -> None:
    cut(geminids, "--only", str(ANSWER))
    assert [entry["type"] for entry in entries(geminids, "t.acr")] == ["system-event", "assistant"]
    assert b"for the login" not in Path("t.acr").read_bytes()
    counts = [place["count"] for place in verified(geminids, "t.acr")["withheld"]]
    assert 2 in counts


def test_members_go_by_their_names(geminids: Run, home: Path) -> None:
    cut(geminids, "--field", "output", "--field", "input")
    content = Path("t.acr").read_bytes()
    assert b"Authorization" not in content
    assert b"for the login" in content
    cut(geminids, "--entry", USER, "--field", "content")
    assert b"for the login" not in Path("t.acr").read_bytes()
    assert b"Done." in Path("t.acr").read_bytes()
    assert [entry["type"] for entry in entries(geminids, "t.acr")] == ["system-event", "user", "assistant"]


def test_whatever_holds_some_words_goes(geminids: Run, home: Path) -> None:
    document = cut(geminids, "--text", TOKEN)
    assert TOKEN.encode() not in Path("t.acr").read_bytes()
    assert len(document["withheld"]) >= 3, "the prompt, the title and the argument"


def test_a_place_can_be_named(geminids: Run, home: Path) -> None:
    document = cut(geminids, "--at", "/session/environment/working-dir")
    assert document["withheld"][0] == "/session/environment/working-dir"
    assert b'"working-dir":"[redacted]"' in Path("t.acr").read_bytes()


@pytest.mark.slow
def test_secrets_are_found(geminids: Run, home: Path) -> None:
    cut(geminids, "--secrets")
    assert TOKEN.encode() not in Path("t.acr").read_bytes()
    assert TOKEN[4:20].encode() not in Path("t.acr").read_bytes()
    done = geminids("redact-record", "t.acr", "-o", "u.acr", "--secrets")
    assert (done.code, "holds nothing of that" in done.err) == (2, True)


def test_what_is_left_can_be_cut_again_and_again(geminids: Run, home: Path) -> None:
    cut(geminids, "--field", "input")
    cut(geminids, "--text", TOKEN, file="t.acr", output="u.acr")
    cut(geminids, "--only", str(ANSWER), file="u.acr", output="v.acr")
    cut(geminids, "--entry", "2", file="v.acr", output="w.acr")
    assert len(entries(geminids, "w.acr")) == 1
    sizes = [len(verified(geminids, name)["withheld"]) for name in ("t.acr", "u.acr")]
    assert sizes[0] < sizes[1]
    done = geminids("redact-record", "w.acr", "-o", "x.acr", "--entry", "1")
    assert (done.code, "holds nothing of that" in done.err) == (2, True)


@pytest.mark.parametrize("words", [(), ("--cbor",)])
def test_a_record_beside_its_signature_is_cut_into_two_files(
    geminids: Run, home: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    geminids("attest", FIRST_ID, "-o", "s.rec", "--detached", *words)
    document = cut(geminids, "--text", TOKEN, file="s.rec", output="t.rec")
    assert document["files"] == [str(tmp_path / "t.rec"), str(tmp_path / "t.rec.cose")]
    assert TOKEN.encode() not in Path("t.rec").read_bytes() + Path("t.rec.cose").read_bytes()
    cut(geminids, "--entry", ANSWER, file="t.rec", output="u.rec")
    Path("s.rec.cose").rename("s.sig")
    cut(geminids, "--signature", "s.sig", "--entry", ANSWER, file="s.rec", output="v.rec")


def test_a_record_in_cbor_stays_in_cbor(geminids: Run, home: Path) -> None:
    geminids("attest", FIRST_ID, "-o", "c.acr", "--cbor")
    cut(geminids, "--text", TOKEN, file="c.acr")
    assert b'{"' not in Path("t.acr").read_bytes()


def test_a_vcon_stays_one(geminids: Run, home: Path) -> None:
    geminids("attest", FIRST_ID, "-o", "s.vcon", "--wrap", "vcon")
    cut(geminids, "--text", TOKEN, file="s.vcon", output="t.vcon")
    vcon = json.loads(Path("t.vcon").read_bytes())
    assert TOKEN not in json.dumps(vcon)
    assert vcon["redacted"]["uuid"] == json.loads(Path("s.vcon").read_bytes())["uuid"]
    cut(geminids, "--entry", ANSWER, file="t.vcon", output="u.vcon")
    assert not Path("u.vcon.cose").exists()


def test_people_are_told_how_many_places_went(geminids: Run, home: Path, tmp_path: Path) -> None:
    done = geminids("redact-record", "s.acr", "-o", "t.acr", "--at", "/session/environment/working-dir")
    assert (done.code, done.out) == (0, "")
    assert done.err.startswith(f"geminids: {tmp_path / 't.acr'}: ")
    first = verified(geminids, "t.acr")["withheld"]
    assert f"1 place removed, and others that would reveal it; {len(first)} places missing" in done.err
    again = geminids("redact-record", "t.acr", "-o", "u.acr", "--entry", USER)
    both = verified(geminids, "u.acr")["withheld"]
    assert f"; {len(both)} places missing in total" in again.err


# -- what cannot be meant ----------------------------------------------------


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "Remove what? Give"),
        (("--entry", "99"), "No entry '99'; there are 3"),
        (("--entry", "0"), "No entry '0'"),
        (("--entry", "-1"), "No entry '-1'"),
        (("--only", "nobody"), "No entry 'nobody'"),
        (("--field", "colour"), "holds nothing of that"),
        (("--text", "never said"), "holds nothing of that"),
        (("--text", ""), "--text"),
        (("--at", "/session/session-id"), "a record is none without it"),
        (("--at", "/nowhere"), "there is nothing at this place"),
        (("--at", "nowhere"), "nowhere"),
        (("--at", "/session/entries/01"), "there is nothing at this place"),
        (("--at", "/x-commitment"), "x-commitment"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    geminids: Run, home: Path, words: tuple[str, ...], said: str
) -> None:
    done = geminids("redact-record", "s.acr", "-o", "t.acr", *words)
    assert done.code == 2
    assert said in done.err
    assert "Traceback" not in done.err
    assert not Path("t.acr").exists()


def test_the_signed_record_itself_is_not_changed(geminids: Run, home: Path) -> None:
    done = geminids("redact-record", "s.acr", "--entry", "2")
    assert (done.code, "-o FILE" in done.err) == (2, True)
    Path("t.acr").write_text("mine")
    assert geminids("redact-record", "s.acr", "-o", "t.acr", "--entry", "2").code == 2
    assert Path("t.acr").read_text() == "mine"
    before = everything_in(home)
    done = geminids("redact-record", "s.acr", "-o", home / ".gemini" / "t.acr", "--entry", "2")
    assert done.code == 2
    assert everything_in(home) == before


@pytest.mark.parametrize("content", [b"", b"{}", b"junk", b"\xd2", b"\xd2\x84", b"\xff" * 100, None])
def test_a_file_that_is_not_signed_is_refused(geminids: Run, home: Path, content: bytes | None) -> None:
    if content is not None:
        Path("junk").write_bytes(content)
    for words in (("--entry", "1", "-o", "t.acr"), ("--list",)):
        done = geminids("redact-record", "junk", *words)
        assert done.code in {1, 2}
        assert "junk" in done.err
        assert "Traceback" not in done.err


def test_a_record_that_nobody_signed_is_refused(geminids: Run, home: Path) -> None:
    geminids("export", FIRST_ID, "-f", "vac", "-o", "r.json")
    done = geminids("redact-record", "r.json", "-o", "t.acr", "--entry", "1")
    assert (done.code, "is not signed" in done.err) == (2, True)


def test_what_was_changed_since_is_not_cut(geminids: Run, home: Path, tmp_path: Path) -> None:
    content = Path("s.acr").read_bytes()
    changed = {
        "words": content.replace(b"for the login", b"for the logos"),
        "signature": content[:-1] + bytes([content[-1] ^ 1]),
        "end": content + b"\0",
        "cut": content[:-10],
    }
    for what, written in changed.items():
        assert written != content
        Path("bad.acr").write_bytes(written)
        done = geminids("redact-record", "bad.acr", "-o", "t.acr", "--entry", "2")
        assert done.code == 2, what
        assert "was changed since" in done.err
    # Who has not the key cannot check the signature, but does notice other words.
    for what in ("words", "end", "cut"):
        Path("bad.acr").write_bytes(changed[what])
        done = geminids(
            "redact-record", "bad.acr", "-o", "t.acr", "--entry", "2", "--data", tmp_path / "none"
        )
        assert (done.code, "was changed since" in done.err) == (2, True)
    assert not Path("t.acr").exists()


def test_no_key_is_needed(geminids: Run, home: Path, tmp_path: Path) -> None:
    done = geminids("redact-record", "s.acr", "-o", "t.acr", "--entry", "2", "--data", tmp_path / "none")
    assert done.code == 0
    verified(geminids, "t.acr")


@pytest.mark.parametrize("words", [FIRST_ID, FIRST_ID[:8]])
def test_words_that_cannot_go_are_named_and_nothing_is_written(geminids: Run, home: Path, words: str) -> None:
    done = geminids("redact-record", "s.acr", "-o", "t.acr", "--text", words)
    assert done.code == 2
    assert "also occurs where nothing can be removed" in done.err
    assert not Path("t.acr").exists()


def test_the_signed_record_itself_is_not_written_over(geminids: Run, home: Path) -> None:
    before = Path("s.acr").read_bytes()
    done = geminids("redact-record", "s.acr", "-o", "./s.acr", "--entry", USER, "--force")
    assert (done.code, "would be overwritten" in done.err) == (2, True)
    assert Path("s.acr").read_bytes() == before


@pytest.mark.parametrize("entries", [5, ["a"], [{"type": "user", "children": 5}], [{"type": "none"}]])
def test_what_was_signed_and_is_no_record_is_not_cut(geminids: Run, home: Path, entries: object) -> None:
    record = {
        "version": "3.0.0-draft",
        "id": "x",
        "session": {
            "session-id": "x",
            "agent-meta": {"model-id": "m", "model-provider": "p"},
            "entries": entries,
        },
    }
    whole = commit(record)
    content = standalone.encode_record(whole, standalone.JSON)
    Path("odd.acr").write_bytes(statement(content, whole, ED25519_KEY, Claims("Ana Lopez", "x", 1)))
    done = geminids("redact-record", "odd.acr", "-o", "t.acr", "--entry", "1")
    assert done.code == 2
    assert "Traceback" not in done.err
    assert not Path("t.acr").exists()
