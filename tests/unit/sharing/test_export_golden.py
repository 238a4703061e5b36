"""Every format over the sessions of all fixtures: some kept whole to be looked at, of all the digests."""

from __future__ import annotations

import hashlib
import json
import re

import pytest

from geminids.sharing import export
from tests.support.exporting import (
    GOLDEN,
    check_golden_bytes,
    exported,
    exported_whole,
    fixture_sessions,
    hostile_session,
    is_text,
    looked_at_sessions,
    text_of,
)
from tests.support.golden import check_golden

FORMATS = export.available()


@pytest.mark.parametrize("name", FORMATS)
def test_writes_what_was_looked_at(name: str) -> None:
    for case, session in looked_at_sessions().items():
        written = _to_be_looked_at(exported_whole(name, session))
        check_golden_bytes(GOLDEN / case / f"{name}{export.load(name).suffix}", written)


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMATS)
def test_writes_every_session_as_before(name: str) -> None:
    digests = {
        case: hashlib.sha256(exported_whole(name, session)).hexdigest()[:16]
        for case, session in fixture_sessions().items()
    }
    check_golden(GOLDEN / "digests" / f"{name}.json", digests)


@pytest.mark.parametrize("name", [*filter(is_text, FORMATS)])
def test_hostile_words_give_utf8_in_which_nothing_steers_a_terminal(name: str) -> None:
    written = exported(name, hostile_session()).decode("utf-8")
    for character in "\x00\x07\x1b\x7f\x9b\u202e\u2066":
        assert character not in written


def test_a_record_is_the_same_in_json_and_in_cbor() -> None:
    for session in (hostile_session(), *looked_at_sessions().values()):
        in_json, in_cbor = (text_of(name, exported(name, session)) for name in ("vac", "vac-cbor"))
        assert json.loads(in_json) == json.loads(in_cbor)


def _to_be_looked_at(content: bytes) -> bytes:
    """A page without its style and script, which are the same in all of them; other files as they are."""
    if not content.startswith(b"<!DOCTYPE html>"):
        return content
    without = re.sub(rb"(<(style|script)\b[^>]*>).*?(</\2>)", rb"\1\3", content, flags=re.DOTALL)
    return re.sub(rb"'sha256-[^']*'", b"'sha256-'", without)
