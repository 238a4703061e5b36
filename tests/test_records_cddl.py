"""The evaluator of CDDL: what each feature accepts and refuses, what it tells, which schemas it refuses."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

pytest.importorskip("cbor2", reason="the extra `sign` is not installed")
pytest.importorskip("cddlparser", reason="the extra `sign` is not installed")

import cbor2
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from geminids.sharing.records.cddl import Mismatch, Schema, SchemaError
from geminids.sharing.records.standalone import Tagged


class Feature(NamedTuple):
    """A schema with values that fit it and values that do not."""

    name: str
    schema: str
    fit: Sequence[Any]
    do_not: Sequence[Any]


def encoded(value: object) -> bytes:
    """A value as another writer than our own writes it."""
    return bytes(cbor2.dumps(tagged_by_others(value)))


def tagged_by_others(value: object) -> object:
    """The same value with the tags of the other writer."""
    match value:
        case Tagged():
            return cbor2.CBORTag(value.number, tagged_by_others(value.value))
        case list():
            return [tagged_by_others(item) for item in value]
        case dict():
            return {key: tagged_by_others(member) for key, member in value.items()}
        case _:
            return value


FEATURES = [
    # The prelude
    Feature("any", "a = any", [1, "x", None, [], {}, Tagged(9, 1), b""], []),
    Feature("uint", "a = uint", [0, 1, 2**64 - 1], [-1, 1.0, True, "1", None, 2**64, [1], {}]),
    Feature("nint", "a = nint", [-1, -(2**64)], [0, -1.0, False, -(2**64) - 1]),
    Feature("int", "a = int", [0, -5, 2**64 - 1], [0.5, True, 2**64, "5"]),
    Feature("number", "a = number", [0, -5, 0.5, float("inf")], [True, "5", None]),
    Feature("float", "a = float", [0.0, 1e300, float("nan")], [0, True, "0.0"]),
    Feature("float32", "a = float32", [0.5, float("inf")], [0.1, 1e300, 1]),
    Feature("float16", "a = float16", [0.5, 65504.0], [65505.0, 1e300, 1]),
    Feature("tstr", "a = [tstr, text]", [["", "x"]], [[b"", "x"], ["x", 1], ["x", None]]),
    Feature("bstr", "a = [bstr, bytes]", [[b"", b"x"]], [["", b"x"], [b"x", 1]]),
    Feature("bool", "a = bool", [True, False], [0, 1, None, "true"]),
    Feature("true", "a = true", [True], [False, 1, 1.0]),
    Feature("false", "a = false", [False], [True, 0, None]),
    Feature("null", "a = [null, nil]", [[None, None]], [[None, False], [0, None]]),
    Feature("undefined", "a = int / undefined / #7.23", [1], [None, False]),
    Feature("big integers", "a = integer", [1, -1, 2**64, -(2**70)], [1.0, "1", True]),
    Feature("unsigned", "a = unsigned", [1, 2**64], [-1, -(2**70)]),
    Feature("bigint", "a = bigint", [2**64, -(2**70)], [1, -1]),
    Feature("bigint by its tag", "a = #6.2(bstr .size 9) / #6.3(h'01')", [2**64], [1, 2**72, -(2**70)]),
    Feature(
        "tdate", "a = tdate", [Tagged(0, "2026-01-01T00:00:00Z")], ["2026", Tagged(0, 5), Tagged(1, "x")]
    ),
    Feature("time", "a = time", [Tagged(1, 5), Tagged(1, 0.5)], [5, Tagged(1, "x"), Tagged(0, 5)]),
    Feature(
        "decfrac",
        "a = decfrac",
        [Tagged(4, [-2, 5]), Tagged(4, [-2, 2**70])],
        [0.05, Tagged(4, [1]), [-2, 5]],
    ),
    Feature("bigfloat", "a = bigfloat", [Tagged(5, [2**63, 1])], [Tagged(4, [1, 1]), Tagged(5, [2**64, 1])]),
    Feature("uri", "a = uri", [Tagged(32, "x:y")], ["x:y", Tagged(33, "x:y"), Tagged(32, b"")]),
    Feature("encoded-cbor", "a = encoded-cbor", [Tagged(24, b"\x01")], [b"\x01", Tagged(24, "x")]),
    # Literals
    Feature("integers", "a = 1 / -2 / 0x1F / 0b101", [1, -2, 31, 5], [1.0, True, 2, "1"]),
    Feature("floats", "a = 1.0 / 1e3 / 0x1.8p1 / -2.5", [1.0, 1000.0, 3.0, -2.5], [1, 1000, 3]),
    Feature(
        "text",
        r'a = "x" / "\"\u00e9\n" / "\ud83d\ude00" / "\u{1F600}!"',
        ["x", '"é\n', "😀", "😀!"],
        ["", b"x"],
    ),
    Feature("bytes", "a = 'x' / h'0A ff' / b64'_-8='", [b"x", b"\n\xff", b"\xff\xef"], ["x", b""]),
    # Choices and ranges
    Feature("a choice of types", "a = tstr / uint", ["x", 1], [-1, None, b"x"]),
    Feature("a choice that grows", 'a /= "x"\na /= 1\na /= [a]', ["x", 1, [["x"]]], ["y", 2, [[2]]]),
    Feature("a range", "a = 0..255", [0, 255], [256, -1, 1.0, True]),
    Feature("a range without its end", "a = 0...top\ntop = 256", [0, 255], [256]),
    Feature("a range of floats", "a = 0.0..1.5", [0.0, 1.5], [0, 1, 1.6]),
    Feature("parentheses", "a = (int / (tstr)) / ((bool))", [1, "x", True], [None, 0.5]),
    Feature("an enumeration", "a = &(red: 1, (green: 2 // blue: 3), ? 4)", [1, 2, 3, 4], [0, "red", None]),
    Feature(
        "a named enumeration", "a = &colours\ncolours = (red: 1, more)\nmore = (blue: 2)", [1, 2], [3, "red"]
    ),
    Feature(
        "representation", "a = [#0, #1, #2, #3, #]", [[1, -1, b"", "", None]], [[-1, -1, b"", "", 1], [1]]
    ),
    Feature("lists and maps by number", "a = [#4, #5]", [[[1], {}], [[], {1: 2}]], [[{}, []], ["x", {}]]),
    Feature(
        "simple values", "a = [#7.20, #7.22, #7.27, #7]", [[False, None, 0.5, True]], [[True, None, 0.5, 0.5]]
    ),
    # Tags
    Feature("a tag", "a = #6.9(uint)", [Tagged(9, 1)], [1, Tagged(8, 1), Tagged(9, -1), [1]]),
    Feature("any content of a tag", "a = #6.9", [Tagged(9, 1), Tagged(9, {})], [Tagged(8, 1), 9]),
    Feature("any tag", "a = #6", [Tagged(9, 1), Tagged(37, b""), 2**64], [9, "x", None, [1]]),
    Feature("a tag in a tag", "a = #6.9(#6.8(int))", [Tagged(9, Tagged(8, 1))], [Tagged(8, Tagged(9, 1))]),
    Feature("a tag is no list", "a = [* any]", [[9, 1]], [Tagged(9, 1)]),
    # Lists
    Feature("any number", "a = [* int]", [[], [1], [1, 2]], [[1, "x"], {}, "x", None]),
    Feature("one or more", "a = [+ int]", [[1], [1, 2]], [[], ["x"]]),
    Feature("at most one", "a = [? int]", [[], [1]], [[1, 2], ["x"]]),
    Feature("from two to three", "a = [2*3 int]", [[1, 2], [1, 2, 3]], [[1], [1, 2, 3, 4]]),
    Feature("at least two", "a = [2* int]", [[1, 2], [1] * 9], [[1], []]),
    Feature("at most two", "a = [*2 int]", [[], [1, 2]], [[1, 2, 3]]),
    Feature(
        "from none to two", "a = [0*2 int, 0*1 tstr]", [[], [1, 2], [1, "x"], ["x"]], [[0, 1, 2], ["x", "y"]]
    ),
    Feature("a tuple", "a = [name: tstr, age: uint]", [["x", 1]], [["x"], [1, "x"], ["x", 1, 2]]),
    Feature("nothing", "a = []", [[]], [[1], {}, None]),
    Feature("what comes first may be less", "a = [* int, int, ? tstr]", [[1], [1, 2, 3, "x"]], [[], ["x"]]),
    Feature("pairs", "a = [* pair]\npair = (tstr, uint)", [[], ["x", 1, "y", 2]], [["x"], ["x", 1, "y"]]),
    Feature(
        "a choice of groups", "a = [(int, int // tstr) // bool]", [[1, 2], ["x"], [True]], [[1], [True, 1]]
    ),
    Feature(
        "groups within",
        "a = [1*2 (int, ? tstr), bool]",
        [[1, True], [1, 2, "x", True]],
        [[True], [1, 2, 3, True]],
    ),
    Feature("an empty alternative", "a = [(int // ), tstr]", [[1, "x"], ["x"]], [[1], [1, 2, "x"]]),
    Feature("a list in itself", "a = [int, ? a]", [[1], [1, [2, [3]]]], [[], [1, [2, []]]]),
    Feature("a group in itself", "a = [g]\ng = (int, ? g)", [[1], [1, 2, 3]], [[], [1, "x"]]),
    Feature("what takes nothing", "a = [5*9 (? int)]", [[], [1, 2], [1] * 9], [[1] * 10, ["x"]]),
    Feature("a type in parentheses, many", "a = [* (int / tstr)]", [[1, "x"], []], [[None]]),
    # Maps
    Feature(
        "members",
        "a = { x: int, ? y: tstr }",
        [{"x": 1}, {"x": 1, "y": "z"}],
        [{}, {"x": "1"}, {"x": 1, "z": 1}],
    ),
    Feature("nothing in it", "a = {}", [{}], [{"x": 1}, [], None]),
    Feature(
        "keys of many kinds",
        "a = { 1: tstr, \"b c\": int, -1 => any, ? h'00' => 5 }",
        [{1: "x", "b c": 2, -1: None}],
        [{1.0: "x", "b c": 2, -1: None}, {True: "x", "b c": 2, -1: None}, {"1": "x", "b c": 2, "-1": 0}],
    ),
    Feature("a table", "a = { * uint => tstr }", [{}, {1: "x", 2: "y"}], [{1: 2}, {-1: "x"}, {True: "x"}]),
    Feature(
        "two tables",
        "a = { * uint => tstr, + tstr => uint }",
        [{1: "x", "y": 2}, {"y": 2}],
        [{1: "x"}, {"y": "z"}],
    ),
    Feature(
        "a table with bounds",
        "a = { 1*2 tstr => int }",
        [{"x": 1}, {"x": 1, "y": 2}],
        [{}, {"x": 1, "y": 2, "z": 3}],
    ),
    Feature(
        "one of any name",
        "a = { ? tstr => int, x: int }",
        [{"x": 1, "y": 2}, {"y": 2, "x": 1}],
        [{"x": 1}, {"y": 2}, {"x": 1, "y": 2, "z": 3}],
    ),
    Feature(
        "an entry takes all it can get",
        "a = { * tstr => any, ? x: int }",
        [{}, {"x": 1}, {"x": "y"}],
        [{1: 2}],
    ),
    Feature(
        "a choice of groups in a map",
        "a = { (x: int // y: int, z: int), ? w: int }",
        [{"x": 1}, {"y": 1, "z": 2}, {"x": 1, "w": 0}],
        [{}, {"y": 1}, {"x": 1, "y": 1, "z": 2}],
    ),
    Feature(
        "an optional group",
        "a = { ? (x: int, y: int), z: int }",
        [{"z": 1}, {"x": 1, "y": 2, "z": 3}],
        [{"x": 1, "z": 3}, {"x": 1, "y": 2}],
    ),
    Feature(
        "a group by name",
        "a = { g, y: int }\ng = (x: int)\ng //= (z: int)",
        [{"x": 1, "y": 2}, {"z": 1, "y": 2}],
        [{"y": 2}, {"x": 1, "z": 1, "y": 2}],
    ),
    Feature(
        "any number of a group",
        "a = { * (x: int // y: int) }",
        [{}, {"x": 1}, {"x": 1, "y": 1}],
        [{"z": 1}, {"x": "1"}],
    ),
    Feature("a key is there once", "a = { x: int, x: int }", [], [{"x": 1}]),
    Feature("a map in itself", "a = { ? next: a }", [{}, {"next": {"next": {}}}], [{"next": {"last": {}}}]),
    Feature("keys that no map has", "a = { * [int] => int, * { int => int } => int }", [{}], [{1: 1}]),
    Feature("an entry without a key fits no map", "a = { ? int, * tstr }\nb = 1", [{}], [{"x": 1}, {1: 1}]),
    # Cuts
    Feature(
        "a colon cuts", "a = { ? x: int, * tstr => any }", [{"x": 1}, {"y": "z"}], [{"x": "y"}, {"x": None}]
    ),
    Feature("an arrow does not", 'a = { ? "x" => int, * tstr => any }', [{"x": 1}, {"x": "y"}], [{1: 2}]),
    Feature("an arrow with a cut does", 'a = { ? "x" ^ => int, * tstr => any }', [{"x": 1}], [{"x": "y"}]),
    Feature(
        "what must be there is not elsewhere",
        'a = { "x" => int, * tstr => any }',
        [{"x": 1}],
        [{"x": "y"}, {}],
    ),
    Feature("a cut of many keys", "a = { * tstr ^ => int, * any => any }", [{"x": 1, 2: "y"}], [{"x": "y"}]),
    Feature("a cut with a number", "a = { ? 1: int, * int => any }", [{1: 2}, {2: "x"}], [{1: "x"}]),
    Feature(
        "a cut holds in its own alternative only",
        "a = { x: int // * tstr => any }",
        [{"x": 1}, {"x": "y"}],
        [{1: 1}],
    ),
    Feature(
        "a cut holds after a group",
        "a = { g, * tstr => any }\ng = (? x: int)",
        [{"x": 1}, {"y": "z"}],
        [{"x": "y"}],
    ),
    Feature(
        "a cut in an optional group that is not there",
        "a = { ? (x: int, y: int), * tstr => any }",
        [{"x": 1, "y": 2}, {"x": 1}, {"x": "y"}],
        [{1: 2}],
    ),
    Feature("a colon in a list cuts nothing", "a = [? x: int, * any]", [[1], ["x"], []], [{}]),
    # Controls
    Feature(".size of text is bytes", "a = tstr .size 2", ["ab", "é"], ["a", "éé", b"ab", 2]),
    Feature(".size of bytes", "a = bstr .size (1..2)", [b"a", b"ab"], [b"", b"abc", "a"]),
    Feature(".size of numbers", "a = uint .size 2", [0, 65535], [65536, -1]),
    Feature(
        ".regexp is about the whole text",
        'a = tstr .regexp "[a-c]+\\\\.x?"',
        ["ab.", "c.x"],
        ["ab", "zab.", "ab.x\n"],
    ),
    Feature(".regexp and lines", 'a = tstr .regexp "a.b"', ["axb", "a b"], ["a\nb", "a\rb"]),
    Feature(
        ".regexp by name", 'a = tstr .regexp r\nr = "[0-9]{2}|\\\\s"', ["12", " "], ["1", "123", "\u00a0"]
    ),
    Feature(
        ".regexp with brackets in brackets",
        'a = tstr .regexp "[[&|~]--?[^]]"',
        ["[-a", "&-b"],
        ["x-a", "[-]"],
    ),
    Feature(".pcre", 'a = tstr .pcre "(?i)ab+"', ["AB", "abb"], ["xab", "a"]),
    Feature(
        ".cbor",
        "a = bstr .cbor [* int]",
        [encoded([1, 2]), encoded([])],
        [
            encoded(["x"]),
            [1],
            b"",
            b"\x82\x01",
            encoded([1]) + b"\x00",
            encoded([1]) + encoded(bytes(3)),
            b"\xff",
        ],
    ),
    Feature(
        ".cbor of what is not read",
        "a = bstr .cbor any",
        [encoded({1: Tagged(9, None), "x": [0.5, b"", 2**70]}), b"\x9f\x01\xff"],
        [
            encoded(cbor2.undefined),
            encoded(cbor2.CBORSimpleValue(99)),
            encoded({b"": 1}),
            encoded({1.5: 1}),
            b"\xa2\x01\x01\x01\x01",
            b"\x61\xff",
        ],
    ),
    Feature(".cbor of anything else", "a = any .cbor any", [b"\x00"], ["\0", [0], None]),
    Feature(
        "comparisons",
        "a = [uint .lt 5, uint .le 5, int .gt 5, int .ge 5]",
        [[4, 5, 6, 5]],
        [[5, 5, 6, 5], [4, 6, 6, 5], [4, 5, 5, 5], [4, 5, 6, 4], [4.0, 5, 6, 5]],
    ),
    Feature("comparing any numbers", "a = number .gt 0.5", [1, 0.6], [0, 0.5, "1"]),
    Feature(".eq", 'a = [int .eq 5, tstr .eq "x"]', [[5, "x"]], [[6, "x"], [5, "y"], [5.0, "x"]]),
    Feature(".ne", "a = int .ne 5", [4, 6], [5, "x"]),
    Feature(
        ".default is what is not written",
        "a = { ? x: (uint .gt 0) .default 1 }",
        [{}, {"x": 2}],
        [{"x": 1}, {"x": 0}],
    ),
    Feature(".and", "a = uint .and (5 / 6 / -7)", [5, 6], [7, -7]),
    Feature(
        ".within", "a = $b .within [int, * any]\n$b /= [3, tstr]\n$b /= [tstr]", [[3, "x"]], [["x"], [3]]
    ),
    # Sockets, generics, unwrapping
    Feature("an empty socket", "a = int / $more", [1], ["x"]),
    Feature("a socket with plugs", "a = $more\n$more /= int\n$more /= tstr", [1, "x"], [None]),
    Feature("an empty group socket", "a = { x: int, * $$more }", [{"x": 1}], [{"x": 1, "y": 2}]),
    Feature(
        "a group socket with plugs",
        "a = { x: int, * $$more }\n$$more //= (y: int)\n$$more //= (z: int, w: int)",
        [{"x": 1}, {"x": 1, "y": 2, "z": 3, "w": 4}],
        [{"x": 1, "z": 3}, {"x": 1, "v": 1}],
    ),
    Feature("a needed group socket without plugs", "a = [$$more]", [], [[], [1]]),
    Feature(
        "generics",
        'a = pair<"x", 1..2> / pair<int, tstr>\npair<k, v> = { key: k, value: v }',
        [{"key": "x", "value": 2}, {"key": 1, "value": "y"}],
        [{"key": "x", "value": "y"}, {"key": 1, "value": 1}],
    ),
    Feature(
        "generics in themselves",
        "a = chain<int>\nchain<t> = [t, ? chain<t>]",
        [[1], [1, [2]]],
        [["x"], [1, ["x"]]],
    ),
    Feature(
        "generics within generics",
        "a = outer<int>\nouter<t> = [inner<t>]\ninner<s> = { x: s }",
        [[{"x": 1}]],
        [[{"x": "y"}]],
    ),
    Feature(
        "a group as a parameter",
        "a = wrap<g>\nwrap<t> = [t, bool]\ng = (int, int)",
        [[1, 2, True]],
        [[1, True]],
    ),
    Feature(
        "unwrapping a map",
        "a = { ~b, y: int }\nb = { x: int }",
        [{"x": 1, "y": 2}],
        [{"y": 2}, {"x": {"x": 1}, "y": 2}],
    ),
    Feature("unwrapping a list", "a = [~b, int]\nb = [tstr]", [["x", 1]], [[["x"], 1], [1]]),
    Feature(
        "unwrapping a tag", "a = [~time, ~b]\nb = #6.9(tstr)", [[5, "x"]], [[Tagged(1, 5), "x"], ["x", "x"]]
    ),
    Feature(
        "names with odd letters", "a = @b / $c / d.e-f\n@b = 1\n$c /= 2\nd.e-f = b6\nb6 = 3", [1, 2, 3], [4]
    ),
]


@pytest.mark.parametrize("feature", FEATURES, ids=lambda feature: feature.name)
def test_accepts_and_refuses_as_the_schema_says(feature: Feature) -> None:
    schema = Schema.parse(feature.schema, "test")
    for value in feature.fit:
        assert schema.mismatch(value) is None, value
    for value in feature.do_not:
        assert schema.mismatch(value) is not None, value


# What is said of a mismatch

FAMILY = """
    thing = circle / square / many
    circle = { type: "circle", radius: number, ? inner: thing }
    square = { side: number, type: "square", ? corners: [4*4 corner] }
    corner = "round" / "sharp"
    many = [+ thing]
"""


@pytest.mark.parametrize(
    ("value", "path", "expected", "found"),
    [
        (5, "", "a map (circle) or a map (square) or a list (many)", "an unsigned integer"),
        ({"type": "circle"}, "/radius", "an integer or a float", "nothing"),
        ({"type": "circle", "radius": "5"}, "/radius", "an integer or a float", "text"),
        (
            {"type": "circle", "radius": 5, "side": 6},
            "/side",
            "no member of this name",
            "an unsigned integer",
        ),
        ({"type": "square", "radius": 5}, "/side", "an integer or a float", "nothing"),
        ({"type": "oval", "radius": 5}, "/type", '"circle" or "square"', "text"),
        ({"radius": 5}, "/type", '"circle" or "square"', "nothing"),
        ({"type": None, "radius": 5}, "/type", '"circle" or "square"', "null"),
        ([], "/0", "a map (circle) or a map (square) or a list (many)", "nothing"),
        (
            [{"type": "circle", "radius": 1}, {"type": "square"}],
            "/1/side",
            "an integer or a float",
            "nothing",
        ),
        (
            [[{"type": "circle", "radius": 1, "inner": [True]}]],
            "/0/0/inner/0",
            "a map (circle) or a map (square) or a list (many)",
            "a boolean",
        ),
        (
            {"type": "square", "side": 1, "corners": ["round"] * 3},
            "/corners/3",
            '"round" or "sharp"',
            "nothing",
        ),
        (
            {"type": "square", "side": 1, "corners": ["round"] * 5},
            "/corners/4",
            "the end of the list",
            "text",
        ),
        (
            {"type": "square", "side": 1, "corners": ["round", "x"] * 2},
            "/corners/1",
            '"round" or "sharp"',
            "text",
        ),
        ({"type": "square", "side": 1, "corners": {}}, "/corners", "a list", "a map"),
        (
            {"type": "circle", "radius": 1, "a/b~c": 2},
            "/a~1b~0c",
            "no member of this name",
            "an unsigned integer",
        ),
    ],
)
def test_tells_the_deepest_place_in_the_alternative_that_was_meant(
    value: object, path: str, expected: str, found: str
) -> None:
    assert Schema.parse(FAMILY, "test").mismatch(value) == Mismatch(path, expected, found)


def test_tells_it_in_a_sentence() -> None:
    schema = Schema.parse("a = { x: [* tstr] }", "test")
    fault = schema.mismatch({"x": ["", 5]})
    assert fault
    assert fault.sentence == "At /x/1: expected text, found an unsigned integer."
    fault = schema.mismatch(None)
    assert fault
    assert fault.sentence == "At the root: expected a map (a), found null."


@pytest.mark.parametrize(
    ("schema", "value", "path", "expected", "found"),
    [
        ("a = #6.9([bstr .cbor { 1: int }])", Tagged(9, [encoded({1: "x"})]), "/0/1", "an integer", "text"),
        (
            "a = bstr .cbor int",
            b"\xff",
            "",
            "bytes that are the CBOR of an integer",
            "bytes that cannot be read: byte 0 begins nothing that CBOR knows",
        ),
        ("a = #6.9(int)", Tagged(8, 1), "", "tag 9", "tag 8"),
        ("a = tstr .size 3", "four", "", "text of the size 3", "text"),
        ('a = tstr .regexp r\nr = "x"', "y", "", "text matching r", "text"),
        ("a = uint .lt 5", 7, "", "an unsigned integer below 5", "an unsigned integer"),
        ("a = 1..5", 7, "", "an integer from 1 to 5", "an unsigned integer"),
        ("a = { ? (x: int, y: int) }", {"x": 1}, "/y", "an integer", "nothing"),
        ("a = { x: int // y: int, z: [* int] }", {"y": 1, "z": [1, "x"]}, "/z/1", "an integer", "text"),
        ("a = { + uint => tstr }", {}, "", "a member with an unsigned integer as its key", "nothing"),
        ("a = [tstr, ? int, bool]", ["x", "y"], "/1", "an integer or a boolean", "text"),
        ("a = $nothing", 5, "", "nothing: the schema leaves this open", "an unsigned integer"),
        (
            "a = { x: tstr, x: int }",
            {"x": "y"},
            "/x",
            "an integer",
            "a member that another entry of the schema takes",
        ),
        ("a = bytes", 2**70, "", "bytes", "tag 2"),
        ("a = bytes", object(), "", "bytes", "a value of no known kind"),
    ],
)
def test_tells_what_is_wrong_with(schema: str, value: object, path: str, expected: str, found: str) -> None:
    assert Schema.parse(schema, "test").mismatch(value) == Mismatch(path, expected, found)


def test_never_tells_what_a_value_says() -> None:
    schema = Schema.parse('a = { x: "wanted", * tstr => int }', "test")
    secret = "hunter2 " * 1000
    for value in (secret, {"x": secret}, {"x": "wanted", "y": secret}, [secret]):
        fault = schema.mismatch(value)
        assert fault
        assert "hunter2" not in fault.sentence
    fault = schema.mismatch({"x": "wanted", secret: "too long a key"})
    assert fault
    assert len(fault.sentence) < 200


def test_tells_a_place_however_large_its_key_is() -> None:
    fault = Schema.parse("a = { * int => any }", "test").mismatch({2**64: 0, 16**5000: 0})
    assert fault
    assert fault.path == "/0x10000000000000000"
    fault = Schema.parse("a = { * integer => int }", "test").mismatch({-(16**5000): None})
    assert fault
    assert fault.path.startswith("/-0x1000")
    assert len(fault.path) < 100


def test_looks_into_cbor() -> None:
    schema = Schema.parse("a = #6.9([* int])\nb = tstr", "test")
    assert schema.mismatch_in_cbor(encoded(Tagged(9, [1, 2]))) is None
    assert schema.mismatch_in_cbor(encoded("x"), "b") is None
    assert schema.mismatch_in_cbor(encoded(Tagged(9, [1, "x"]))) == Mismatch("/1", "an integer", "text")
    expected = "bytes that are the CBOR of tag 9"
    for content, reason in (
        (b"", "the CBOR ends too early"),
        (encoded(Tagged(9, [])) + b"\0", "1 bytes follow after the end of the CBOR"),
        (b"\xc9" * 100_000, "the CBOR is nested too deep"),
    ):
        found = f"bytes that cannot be read: {reason}"
        assert schema.mismatch_in_cbor(content) == Mismatch("", expected, found)


def test_lists_few_of_many_alternatives() -> None:
    fault = Schema.parse("a = " + " / ".join(f'"number {n}"' for n in range(1000)), "test").mismatch(5)
    assert fault
    assert len(fault.expected) < 200
    assert fault.expected.endswith("or something else")


def test_takes_any_rule_of_the_schema() -> None:
    schema = Schema.parse("a = int\nb = tstr\ng = (int, int)\nh<t> = [t]", "test")
    assert schema.rules == ("a", "b", "g", "h")
    assert schema.mismatch("x", "b") is None
    assert schema.mismatch("x")
    for name in ("g", "h", "c", "tstr"):
        with pytest.raises(SchemaError, match=f"'{name}'"):
            schema.mismatch("x", name)


def test_what_is_nested_too_deep_does_not_fit() -> None:
    schema = Schema.parse("a = [? a]", "test")
    value: list[object] = []
    for _ in range(200):
        value = [value]
    assert schema.mismatch(value) is None
    for _ in range(100_000):
        value = [value]
    fault = schema.mismatch(value)
    assert fault
    assert "nested too deep" in fault.found
    endless: list[object] = []
    endless.append(endless)
    assert schema.mismatch(endless)
    assert Schema.parse("a = bstr .cbor any", "test").mismatch(b"\x81" * 100_000 + b"\x01")


def test_takes_no_longer_the_deeper_the_wrong_alternative_goes() -> None:
    """Children stand before the type: what is not the right map must be known without looking into them."""
    kinds = "\n".join(f'k{n} = {{ ? children: [* a], type: "k{n}" }}' for n in range(8))
    schema = Schema.parse("a = " + " / ".join(f"k{n}" for n in range(8)) + "\n" + kinds, "test")
    value: dict[str, object] = {"type": "k7"}
    for _ in range(60):
        value = {"children": [value], "type": "k7"}
    began = time.perf_counter()
    assert schema.mismatch(value) is None
    value["children"] = [{"children": [value["children"]], "type": "k9"}]
    assert schema.mismatch(value)
    assert time.perf_counter() - began < 5


def test_long_lists_are_matched_without_trying_everything() -> None:
    schema = Schema.parse("a = [* (* int, * int), * (int // int, int), tstr]", "test")
    began = time.perf_counter()
    assert schema.mismatch([*range(300), "x"]) is None
    assert schema.mismatch([*range(300)])
    assert time.perf_counter() - began < 20


# Schemas that cannot be used

BAD_SCHEMAS = [
    ("", None, "no rule"),
    ("; only a comment\n", None, "no rule"),
    ("a = ", None, "invalid type2"),
    ("a = {\n x: int", None, ""),
    ("a = int\nb == int", 2, ""),
    ("a = int\n\0b = int", 2, "NUL"),
    ('a = "x', None, ""),
    ("a = {\n  x: int,\n  y: missing\n}", 3, "'missing'"),
    ("a = [\n  missing ]", 2, "'missing'"),
    ("a = int ; first\n\nb = c<int>\nc = int", 3, "'c' takes 0 parameters and is given 1"),
    ("a = b\nb<t> = [t]", 1, "'b' takes 1 parameters and is given 0"),
    ("a = int\na = tstr", 2, "'a' is defined twice"),
    ("a = int\nuint = tstr", 2, "'uint' is a name that CDDL itself defines"),
    ("a = b\nb = c / int\nc = b", 2, "'b' is defined by nothing but itself"),
    ("a = a .and int", 1, "'a' is defined by nothing but itself"),
    ("a = x<int>\nx<t> = [? x<[t]>]", 2, "uses itself without end"),
    ("a = uint\n  .bits &(x: 1)", 1, ".bits is not supported"),
    ("a = int\nb = [ bstr .cborseq [* int] ]", 2, ".cborseq is not supported"),
    ('a = tstr .cat "x"', 1, ".cat is not supported"),
    ("a = int .unheard-of 5", 1, "unheard-of"),
    ("a = #9", 1, "#9 is not supported"),
    ("a = #0.5", 1, "#0.5 is not supported"),
    ("a = 1..2.5", 1, "a range"),
    ('a = "a".."z"', 1, "a range"),
    ("a = 1..int", 1, "a single value is needed"),
    ("a = int .lt tstr", 1, "a single value is needed"),
    ('a = int .lt "x"', 1, "compares numbers only"),
    ("a = int .ne tstr", 1, "a single value is needed"),
    ("a = tstr .regexp 5", 1, "a regular expression is a text"),
    ('a = tstr .regexp "("', 1, "cannot be read"),
    ('a = tstr .regexp "\\\\p{L}"', 1, "\\p` in a regular expression is not supported"),
    ('a = tstr .regexp "[a-z-[aeiou]]"', 1, "not supported"),
    ('a = tstr .regexp "(?i)x"', 1, "not supported"),
    ('a = tstr .regexp "\\d"', 1, "a backslash is written as two"),
    ('a = "\\ud800"', 1, "half a character"),
    ("a = h'0'", 1, "hexadecimal"),
    ("a = b64'?'", 1, "base64"),
    ("a = -", 1, "a number that cannot be read"),
    ("a = " + "9" * 5000, 1, "a number that is too long"),
    ("a = 0x" + "F" * 5000, 1, "a number that is too long"),
    ("a = { [x]: int }\nx = 1", 1, "before a colon"),
    ("a = [*0 int]", 1, "0 as the most"),
    ("a = { x: g }\ng = (int, int)", 2, "a group"),
    ("a = { x: (int, int) }", 1, ""),
    ("a = ~b\nb = { x: int }", 1, "~b"),
    ("a = int / ~b\nb = int", 1, "~b"),
    ("a = " + "[" * 5000 + "]" * 5000, None, "nested too deep"),
    ("a = ²", None, ""),
]


@pytest.mark.parametrize(("text", "line", "reason"), BAD_SCHEMAS)
def test_says_what_is_wrong_with_a_schema_and_where(text: str, line: int | None, reason: str) -> None:
    with pytest.raises(SchemaError) as caught:
        Schema.parse(text, "my.cddl")
    assert "'my.cddl'" in str(caught.value)
    assert reason in str(caught.value)
    assert len(str(caught.value)) < 400
    if line is not None:
        assert caught.value.line == line


# Anything at all

SCHEMA_WORDS = [
    "a",
    "b",
    "c",
    "$d",
    "$$e",
    "int",
    "tstr",
    "any",
    "bstr",
    "5",
    "0",
    "-1",
    "1.5",
    '"x"',
    "h'00'",
    "=",
    "/=",
    "//=",
    "/",
    "//",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "<",
    ">",
    ":",
    "=>",
    "^",
    "*",
    "+",
    "?",
    "2*3",
    ",",
    "&",
    "~",
    "#",
    "#6.9(",
    "..",
    "...",
    ".size",
    ".cbor",
    ".regexp",
    ".default",
    ".and",
    ".lt",
    "\n",
    "; x\n",
    "a = ",
    "\nb = ",
    "\nc = ",
]


plain_values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=4),
    st.binary(max_size=4),
    st.sampled_from(["a", "x", 5, 0, -1, 1.5, b"\0", 2**64, -(2**64) - 1]),
)
any_values = st.recursive(
    plain_values,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.one_of(st.text(max_size=2), st.integers()), inner, max_size=4),
        st.builds(Tagged, st.integers(4, 40), inner),
        inner.map(encoded),
    ),
    max_leaves=12,
)


@cache
def types(depth: int) -> st.SearchStrategy[str]:
    """Types in CDDL that mostly make sense."""
    simple = st.sampled_from(
        ["int", "uint", "tstr", "bstr", "any", "bool", "null", "float", "5", '"x"', "1..9", "b", "$d"]
    )
    if depth == 0:
        return simple
    inner = types(depth - 1)
    keys = st.sampled_from(["x:", "y:", "5:", "a:", '"x" =>', "tstr =>", "int ^ =>", ""])
    times = st.sampled_from(["", "?", "*", "+", "1*2", "2*", "0*1"])
    entry = st.builds(lambda t, k, v: f"{t} {k} {v}", times, keys, inner)
    entries = st.lists(entry, max_size=4).map(", ".join)
    groups = st.lists(entries, min_size=1, max_size=2).map(" // ".join)
    return st.one_of(
        simple,
        st.builds(lambda x, y: f"({x} / {y})", inner, inner),
        groups.map(lambda group: f"[{group}]"),
        groups.map(lambda group: f"{{{group}}}"),
        groups.map(lambda group: f"[* ({group}), any]"),
        groups.map(lambda group: f"{{? ({group}), * any => any}}"),
        inner.map(lambda content: f"#6.9({content})"),
        inner.map(lambda content: f"bstr .cbor {content}"),
        st.builds(lambda x, y: f"({x} .and {y})", inner, inner),
    )


def says_something_or_nothing(text: str, value: object) -> None:
    try:
        schema = Schema.parse(text, "random")
        fault = schema.mismatch(value)
    except SchemaError:
        return
    assert fault is None or fault.sentence


@settings(deadline=None, max_examples=400, suppress_health_check=list(HealthCheck))
@given(
    st.one_of(
        st.text(),
        st.lists(st.sampled_from(SCHEMA_WORDS)).map(" ".join),
        st.lists(st.sampled_from(SCHEMA_WORDS)).map("".join),
    ),
    any_values,
)
def test_any_text_is_a_schema_or_refused(text: str, value: object) -> None:
    says_something_or_nothing(text, value)
    says_something_or_nothing(f"a = {text}", value)


@settings(deadline=None, max_examples=400, suppress_health_check=list(HealthCheck))
@given(types(3), types(3), any_values)
def test_any_value_fits_or_not(first: str, second: str, value: object) -> None:
    says_something_or_nothing(f"a = {first}\nb = {second}", value)


@settings(deadline=None, max_examples=400, suppress_health_check=list(HealthCheck))
@given(types(2), st.one_of(st.binary(), any_values.map(encoded)), st.integers(0), st.integers(0, 255))
def test_any_bytes_are_looked_into(written: str, content: bytes, at: int, byte: int) -> None:
    """Tags above all: a reader that makes something of them would trip over what is not that."""
    changed = bytearray(content)
    if changed:
        changed[at % len(changed)] = byte
    for text in (f"a = {written}\nb = int", "a = [* a] / { * any => a } / #6(a) / int / bstr .cbor a"):
        try:
            fault = Schema.parse(text, "random").mismatch_in_cbor(bytes(changed))
        except SchemaError:
            continue
        assert fault is None or fault.sentence


@settings(deadline=None, max_examples=200, suppress_health_check=list(HealthCheck))
@given(types(2), any_values)
def test_a_type_means_the_same_wherever_it_stands(written: str, value: object) -> None:
    """By a name, in parentheses, as a parameter, in a list, as a member, and encoded."""
    verdicts: dict[str, bool | None] = {}
    rest = "\nb = int"
    for name, text, wrapped in [
        ("plain", f"a = {written}", value),
        ("named", f"a = other\nother = {written}", value),
        ("parentheses", f"a = (({written}))", value),
        ("choice", f"a = {written} / $nothing", value),
        ("parameter", f"a = same<({written})>\nsame<t> = t", value),
        ("list", f"a = [? null, {written}, ? null]", [value]),
        ("many", f"a = [3*3 {written}]", [value] * 3),
        ("member", f"a = {{ x: {written}, * tstr => any }}", {"x": value}),
        ("general member", f"a = {{ (x: {written} // y: int) }}", {"x": value}),
        ("tag", f"a = #6.100(({written}))", Tagged(100, value)),
        ("encoded", f"a = bstr .cbor ({written})", encoded(value)),
    ]:
        try:
            verdicts[name] = Schema.parse(text + rest, name).mismatch(wrapped) is None
        except SchemaError:
            verdicts[name] = None
    if value is None and verdicts["plain"] is False:
        verdicts.pop("list")
    assert len(set(verdicts.values())) == 1, verdicts


@st.composite
def map_entries(draw: st.DrawFn) -> str:
    """Entries of a map: members with names, then perhaps others, and cuts here and there."""
    times = st.sampled_from(["", "?", "*", "0*1", "2*3"])
    values = st.sampled_from(["int", "tstr", "any", '"x"', "1..3", "[* int]"])
    names = st.sampled_from(["x:", "y:", '"x" =>', '"z" ^ =>', "1 =>"])
    named = draw(st.lists(st.builds(lambda t, k, v: f"{t} {k} {v}", times, names, values), max_size=4))
    keys = st.sampled_from(["tstr =>", "int =>", "any =>", "tstr ^ =>"])
    times_of_others = st.sampled_from(["*", "*", "+", "?"])
    more = draw(
        st.lists(st.builds(lambda t, k, v: f"{t} {k} {v}", times_of_others, keys, values), max_size=2)
    )
    return ", ".join([*named, *more])


@settings(deadline=None, max_examples=600, suppress_health_check=list(HealthCheck))
@given(
    map_entries(),
    st.dictionaries(
        st.sampled_from(["x", "y", "z", "w", 1, 2]),
        st.sampled_from([1, 5, "x", "y", None, [1], ["x"]]),
        max_size=4,
    ),
)
def test_the_quick_way_through_a_map_is_the_slow_one(entries: str, value: object) -> None:
    """With a second alternative that nothing fits, a map is matched entry by entry."""
    quick = Schema.parse(f"a = {{ {entries} }}", "quick").mismatch(value)
    slow = Schema.parse(f"a = {{ {entries} // never: $nothing }}", "slow").mismatch(value)
    assert (quick is None) == (slow is None), (quick, slow)


def test_everything_published_can_be_read(corpus: Path) -> None:
    """Every state of the published schema, as it is."""
    states = sorted((corpus / "vac" / "schema").glob("*.cddl"))
    records = sorted((corpus / "vac" / "reference-translation").glob("*.json"))
    assert len(states) == 10
    for state in states:
        schema = Schema.parse(state.read_text(encoding="utf-8"), state.name)
        for record in records:
            fault = schema.mismatch(json.loads(record.read_bytes()))
            assert fault is None or fault.sentence


def test_rules_in_a_long_row_are_no_deep_nesting() -> None:
    rules = "\n".join(f"r{n} = {{ ? x: [* r{n + 1}] }}" for n in range(300))
    schema = Schema.parse(f"{rules}\nr300 = int", "test")
    assert schema.mismatch({"x": [{"x": []}]}) is None
    fault = schema.mismatch({"x": [{"x": [5]}]})
    assert fault
    assert fault.path == "/x/0/x/0"
