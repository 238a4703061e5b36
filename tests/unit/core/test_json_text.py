"""One member more in a JSON text that somebody wrote by hand: all else stays, and goes back byte for byte."""

from __future__ import annotations

import json
import re
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from geminids.core.edits.errors import UneditableError
from geminids.core.edits.json_text import member, with_member, without_member
from tests.support.examples import examples

PATH = ("enabledPlugins", "geminids@geminids")

BY_HAND = {
    "four blanks, a comment and an odd order": (
        '{\n    "model": "opus",   // the large one\n\n    "env": {"A": "1"}\n}\n',
        (
            '{\n    "model": "opus",   // the large one\n\n    "env": {"A": "1"},\n'
            '    "enabledPlugins": {\n        "geminids@geminids": true\n    }\n}\n'
        ),
    ),
    "a comment behind the last member": (
        '{\n  "a": 1 // one\n}',
        '{\n  "a": 1, // one\n  "enabledPlugins": {\n    "geminids@geminids": true\n  }\n}',
    ),
    "a comma too many": (
        '{\n\t"a": [1, 2,],\n}',
        '{\n\t"a": [1, 2,],\n\t"enabledPlugins": {\n\t\t"geminids@geminids": true\n\t},\n}',
    ),
    "one line": (
        '{"a": {"b": 1}}',
        '{"a": {"b": 1}, "enabledPlugins": {"geminids@geminids": true}}',
    ),
    "line ends of Windows and a mark": (
        '\ufeff{\r\n  "a": 1\r\n}\r\n',
        '\ufeff{\r\n  "a": 1,\r\n  "enabledPlugins": {\r\n    "geminids@geminids": true\r\n  }\r\n}\r\n',
    ),
    "nothing in it": ("{}", '{\n  "enabledPlugins": {\n    "geminids@geminids": true\n  }\n}'),
    "an object that waits for it": (
        '{\n  "enabledPlugins": {},\n  "a": 1\n}',
        '{\n  "enabledPlugins": {\n    "geminids@geminids": true\n  },\n  "a": 1\n}',
    ),
    "another plugin": (
        '{\n  "enabledPlugins": {\n    "x@y": false // not now\n  }\n}',
        '{\n  "enabledPlugins": {\n    "x@y": false, // not now\n    "geminids@geminids": true\n  }\n}',
    ),
}


@pytest.mark.parametrize("case", BY_HAND)
def test_what_is_written_by_hand_stays_as_it_is(case: str) -> None:
    before, after = (text.encode() for text in BY_HAND[case])
    assert with_member(before, PATH, value=True).decode() == after.decode()
    assert without_member(after, PATH, before) == before


def test_an_empty_file_becomes_an_object() -> None:
    assert json.loads(with_member(b" \n", PATH, value=True)) == {
        "enabledPlugins": {"geminids@geminids": True}
    }


def test_others_that_came_since_stay() -> None:
    text = b'{"enabledPlugins": {"geminids@geminids": true, "x@y": true}, "a": 1}'
    assert without_member(text, PATH) == b'{"enabledPlugins": { "x@y": true}, "a": 1}'
    text = b'{\n  "a": 1, // one\n  "enabledPlugins": {\n    "geminids@geminids": true\n  } // ours\n}'
    assert without_member(text, PATH) == b'{\n  "a": 1 // one\n // ours\n}'


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ('{ // mine\n  "enabledPlugins": {"geminids@geminids": true}, "a": 1}', '{ // mine\n "a": 1}'),
        ('{"a": 1, // mine\n  "enabledPlugins": {"geminids@geminids": true} }', '{"a": 1 // mine\n }'),
        ('{ // mine\n  "enabledPlugins": {"geminids@geminids": true} }', "{ // mine\n }"),
    ],
)
def test_nothing_becomes_part_of_a_comment(text: str, left: str) -> None:
    assert without_member(text.encode(), PATH).decode() == left


def test_an_object_that_was_empty_before_stays() -> None:
    text = b'{"enabledPlugins": {"geminids@geminids": true}}'
    assert without_member(text, PATH, b'{"enabledPlugins": {}}') == b'{"enabledPlugins": {}}'
    assert without_member(text, PATH) == b"{}"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b'{"a": 1', "line 1: it ends too early"),
        (b'{\n"a" 1}', "line 2: unexpected '1'"),
        (b"[1]", "does not hold a JSON object"),
        (b'{"a": 1} x', "unexpected 'x'"),
        (b'{"a": \xff}', "is not UTF-8 (byte 6)"),
        (b'{"a": 1, "a": 2}', "has 'a' twice"),
        (b'{"enabledPlugins": []}', "something other than an object at enabledPlugins"),
        (b'{"enabledPlugins": {"geminids@geminids": false}}', "already has enabledPlugins.geminids@geminids"),
        (b'{"a":' + b"[" * 300 + b"]" * 300 + b"}", "nested too deeply"),
        (b'{"a": "\x01"}', "unexpected"),
    ],
)
def test_what_cannot_be_changed_safely_is_refused(text: bytes, why: str) -> None:
    with pytest.raises(UneditableError) as refused:
        with_member(text, PATH, value=True)
    assert why in str(refused.value)


def is_taken(value: Any, path: list[str]) -> bool:
    """Whether something stands at a path already, or what is no object on the way to it."""
    for name in path:
        if not isinstance(value, dict):
            return True
        if name not in value:
            return False
        value = value[name]
    return True


def without_blanks(text: bytes) -> bytes:
    return re.sub(rb"\s", b"", text)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=12,
)
spaces = st.sampled_from(["", " ", "\n", "\r\n", "\t", " // c\n", "/* } */", "\n\n    "])


@st.composite
def texts(draw: st.DrawFn, value: Any = None) -> str:
    """An object as somebody might write it: blanks and comments anywhere."""
    if value is None:
        value = draw(st.dictionaries(st.text(max_size=5), values, max_size=4))
    match value:
        case dict():
            inner = [
                f"{draw(spaces)}{json.dumps(name)}{draw(spaces)}:{draw(spaces)}{draw(texts(one))}{draw(spaces)}"
                if one is not None
                else f"{json.dumps(name)}: null"
                for name, one in value.items()
            ]
            return f"{{{','.join(inner)}{draw(spaces)}}}"
        case list():
            return f"[{','.join(json.dumps(one) for one in value)}]"
        case _:
            return json.dumps(value)


@settings(max_examples=examples(300))
@given(text=texts(), path=st.lists(st.text(max_size=5), min_size=1, max_size=3), value=values)
def test_any_text_goes_back_but_for_blanks(text: str, path: list[str], value: Any) -> None:
    before = text.encode()
    try:
        after = with_member(before, path, value)
    except UneditableError:
        assert is_taken(member(before, []), path), text
        return
    left = without_member(after, path, before)
    assert (member(after, path), member(left, [])) == (value, member(before, []))
    assert without_blanks(left) == without_blanks(before)


@pytest.mark.parametrize("indent", [None, 2])
def test_time_grows_with_the_number_of_members(indent: int | None) -> None:
    text = json.dumps({f"key {number}": "value" for number in range(20_000)}, indent=indent).encode()
    began = time.process_time()
    assert without_member(with_member(text, PATH, value=True), PATH, text) == text
    # About half a second; with each member compared with all others, two minutes.
    assert time.process_time() - began < 10
