"""Hostile text is harmless wherever it is drawn."""

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as some

from geminids.sharing.export import data
from geminids.sharing.transcript import safe

any_text = some.text(some.characters(exclude_categories=()))


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07", "␛]0;title␇"),
        ("\x1b[2J\x1b[H", "␛[2J␛[H"),
        ("\x9b2J", "<U+009B>2J"),
        ("a\x7fb\x08c", "a␡b␈c"),
        ("user\u202etxt.exe", "user<U+202E>txt.exe"),
        ("pay\u200bpal\ufeff", "paypal"),
        ("half \ud83d emoji", "half � emoji"),
        ("hidden\U000e0041", "hidden<U+E0041>"),
        ("one\r\ntwo\u2028three", "one\ntwo\nthree"),
        ("family 👩‍👩‍👧 ❤️ नमस्ते", "family 👩‍👩‍👧 ❤️ नमस्ते"),
    ],
)
def test_controls_are_seen_not_obeyed(hostile: str, shown: str) -> None:
    assert safe.text(hostile) == shown


@given(any_text)
def test_no_control_is_left_in_any_text(hostile: str) -> None:
    shown = safe.text(hostile)
    assert not {c for c in shown if unicodedata.category(c) in {"Cc", "Cs"}} - {"\n", "\t"}
    assert not set(shown) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f")
    assert safe.text(shown) == shown


@given(any_text)
def test_a_line_is_one_line(hostile: str) -> None:
    assert not set(safe.line(hostile)) & {"\n", "\r", "\t", "\u2028", "\u2029", "\x85", "\x0b", "\x0c"}


@given(any_text)
def test_json_keeps_every_value_and_steers_no_terminal(hostile: str) -> None:
    encoded = safe.json_bytes(data.encode({"text": hostile})).decode()
    assert json.loads(encoded)["text"] == hostile.encode("utf-8", "replace").decode()
    assert not {c for c in encoded if unicodedata.category(c) == "Cc"}
    assert not set(encoded) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f")
