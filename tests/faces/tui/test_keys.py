"""What a terminal sends, as keys and words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from geminids.faces.tui.box import TextBox
from geminids.faces.tui.keys import Key, KeyReader, Typed


def read(*pieces: bytes) -> list[Key]:
    reader = KeyReader()
    return [key for piece in pieces for key in reader.read(piece)]


@pytest.mark.parametrize(
    ("sent", "keys"),
    [
        (b"cache", [Typed("cache")]),
        ("味噌".encode(), [Typed("味噌")]),
        (b"\x1b[A\x1bOB", ["up", "down"]),
        (b"\x1b[5~\x1b[6~", ["page up", "page down"]),
        (b"a\rb\x03", [Typed("a"), "enter", Typed("b"), "interrupt"]),
        (b"\x1b[1;5C\x1b[?1;2c\x1b[>0;276;0cx", [Typed("x")]),
        (b"\x1b\x1b[A", ["escape", "up"]),
        (b"a\xffb", [Typed("a\ufffdb")]),
        (b"\x1b[M \xff!x", [Typed("x")]),
        (b"\x1b[" + b"1" * 3000 + b"\x03", ["interrupt"]),
        (b"\x1b[" + b"1" * 3000 + b"mx", [Typed("x")]),
        (b"\x1b[200~without an end\x03", [Typed("without an end"), "interrupt"]),
        (b"\x1b[200~two\nlines\x1b[A\x1b[201~x", [Typed("two lines[A"), Typed("x")]),
    ],
)
def test_bytes_are_keys_and_words(sent: bytes, keys: list[Key]) -> None:
    assert read(sent) == keys


@given(some.integers(0, 40))
def test_bytes_may_end_anywhere(at: int) -> None:
    sent = "a味\x1b[A\x1b[200~b c\x1b[201~\x1b[6~é\x7f".encode()
    whole, parted = read(sent), read(sent[:at], sent[at:])
    assert parted == whole or "".join(_words(parted)) == "".join(_words(whole))
    assert [key for key in parted if isinstance(key, str)] == [key for key in whole if isinstance(key, str)]


def _words(keys: list[Key]) -> list[str]:
    return [key.text for key in keys if isinstance(key, Typed)]


def test_an_escape_that_stands_alone_is_a_key() -> None:
    reader = KeyReader()
    assert list(reader.read(b"\x1b")) == []
    assert reader.is_waiting
    assert list(reader.give_up_waiting()) == ["escape"]
    assert not reader.is_waiting


def test_a_paste_that_comes_slowly_is_one() -> None:
    reader = KeyReader()
    assert list(reader.read(b"\x1b[200~rm -rf x\r")) == []
    assert reader.patience > 1
    assert list(reader.read(b"y\r\x1b[201~")) == [Typed("rm -rf x y")]
    assert not reader.is_waiting
    assert list(reader.read(b"\x1b[200~never\rended")) == []
    assert list(reader.give_up_waiting()) == [Typed("never ended")]
    assert list(reader.read(b"\x1b")) == []
    assert reader.patience < 0.1


@given(some.binary(max_size=60))
def test_no_byte_steers_what_is_typed(sent: bytes) -> None:
    assert all(key.text.isprintable() for key in read(sent) if isinstance(key, Typed))
    pasted = read(b"\x1b[200~", sent, b"\x1b[201~")
    assert all(key.text.isprintable() for key in pasted if isinstance(key, Typed))


@pytest.mark.parametrize(
    ("keys", "text", "cursor"),
    [
        ([Typed("two words"), "delete word"], "two ", 4),
        ([Typed("cahe"), "left", "left", Typed("c")], "cache", 3),
        ([Typed("abc"), "home", "delete", "end", "backspace"], "b", 1),
        ([Typed("abc"), "clear", "backspace", "delete"], "", 0),
        (["left", "right", "delete word"], "", 0),
    ],
)
def test_a_line_is_edited_as_in_shells(keys: list[Key], text: str, cursor: int) -> None:
    box = TextBox()
    assert all(map(box.press, keys))
    assert (box.text, box.cursor) == (text, cursor)
    assert not box.press("enter")
