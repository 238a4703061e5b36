"""The shape of records: what the schema takes is taken, and what it refuses is refused, at the right place.

The schema is evaluated by pycddl: the published one, where it lies beside us, and ours (`docs/record.cddl`).
"""

from __future__ import annotations

import functools
import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

pytest.importorskip("cbor2", reason="cbor2 is not installed")

import cbor2
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from geminids.sharing.records.mismatches import check_envelope, check_record
from geminids.sharing.records.standalone import decode_cbor
from geminids.sharing.records.translation import record_of
from tests.conftest import CORPUS, ROOT, RecordProperty
from tests.support.examples import examples
from tests.support.records import AGENTS, corpus_homes, fixture_homes, sessions_with_evidence

CBORTag = cbor2.CBORTag

VAC = CORPUS / "vac"
PUBLISHED = VAC / "schema" / "agent-conversation.pycddl-inlined.cddl"
"""The published schema in such words that pycddl can evaluate it."""
OURS = ROOT / "docs" / "record.cddl"
EITHER = "either = record / signed-record"
"""Its first rule, which says what a value is; pycddl does not see through it."""

AT = "2026-05-01T10:00:00.250Z"
GIT = {
    "type": "git",
    "revision": "abc",
    "branch": "main",
    "repository": "https://example.org/r.git",
    "dirty": True,
}
AUTHOR = {"type": "ai", "model-id": "m"}

RECORD: dict[str, Any] = {
    "version": "3.0.0-draft",
    "id": "r1",
    "created": AT,
    "recording-agent": {"name": "geminids", "version": "1", "x": 1},
    "vcs": GIT,
    "session": {
        "session-id": "s1",
        "format": "interactive",
        "session-start": AT,
        "session-end": 1777629600000,
        "agent-meta": {
            "model-id": "m",
            "model-provider": "google",
            "models": ["m", "n"],
            "cli-name": "gemini-cli",
            "cli-version": "0.61.0",
            "x": None,
        },
        "environment": {"working-dir": "/home/user", "sandboxes": ["/tmp"], "vcs": GIT, "x": []},
        "entries": [
            {"type": "user", "content": "hello", "id": "m1", "timestamp": AT, "x-native": {"a": 1}},
            {
                "type": "assistant",
                "content": [{"type": "text", "text": "hello"}],
                "id": "m2",
                "parent-id": "m1",
                "model-id": "m",
                "timestamp": 5,
                "token-usage": {
                    "input": 1,
                    "output": 2,
                    "cached": 3,
                    "reasoning": 4,
                    "total": 5,
                    "cost": 0.5,
                    "tool": -1,
                },
                "children": [
                    {
                        "type": "reasoning",
                        "content": "",
                        "encrypted": "e",
                        "subject": "s",
                        "id": "m2#t0",
                        "timestamp": AT,
                        "children": [],
                    },
                    {
                        "type": "tool-call",
                        "name": "run",
                        "input": {"command": "ls"},
                        "call-id": "c1",
                        "id": "m2#c0",
                        "timestamp": AT,
                        "children": [
                            {"type": "user", "children": [{"type": "system-event", "event-type": "deep"}]}
                        ],
                    },
                    {
                        "type": "tool-result",
                        "output": None,
                        "call-id": "c1",
                        "status": "success",
                        "is-error": False,
                        "id": "m2#r0",
                        "timestamp": AT,
                        "children": [],
                    },
                ],
            },
            {
                "type": "system-event",
                "event-type": "rewind",
                "data": {"to": "m1"},
                "id": "e1",
                "timestamp": AT,
                "children": [],
                "x": 0,
            },
        ],
        "x": {},
    },
    "file-attribution": {
        "files": [
            {
                "path": "a.py",
                "conversations": [
                    {
                        "url": "https://example.org/a?b#c",
                        "contributor": {"type": "mixed"},
                        "ranges": [
                            {
                                "start-line": 1,
                                "end-line": 2,
                                "content-hash": "00",
                                "content-hash-alg": "sha-256",
                                "contributor": AUTHOR,
                            }
                        ],
                        "related": [{"type": "issue", "url": ""}],
                    }
                ],
            }
        ]
    },
    "x-source": [{"path": "a.jsonl"}],
}
"""A record with every member that the format has, and some that it has not."""

USER, REPLY, EVENT = "session/entries/0", "session/entries/1", "session/entries/2"
THOUGHT, CALL, RESULT = (f"{REPLY}/children/{number}" for number in range(3))
DEEPEST = f"{CALL}/children/0/children/0"
META, PLACE, USAGE = "session/agent-meta", "session/environment", f"{REPLY}/token-usage"
FILE = "file-attribution/files/0"
PART = f"{FILE}/conversations/0"
LINES = f"{PART}/ranges/0"


class Mutant(NamedTuple):
    """A record with one thing wrong with it."""

    name: str
    record: Any
    place: str
    """Where it is."""
    in_closed_map: bool = False

    def __repr__(self) -> str:
        return self.name


def changed(value: Any, path: list[Any], change: Callable[[Any], Any]) -> Any:
    """The same value with another one at a path; what is not on the path is shared."""
    if not path:
        return change(value)
    copy = value.copy()
    copy[path[0]] = changed(copy[path[0]], path[1:], change)
    return copy


def steps(path: str) -> list[Any]:
    return [int(step) if step.isdigit() else step for step in path.split("/") if step]


def without(path: str) -> Mutant:
    *parents, last = steps(path)
    drop: Callable[[Any], Any] = lambda holder: {key: holder[key] for key in holder if key != last}  # noqa: E731
    return Mutant(f"without {path}", changed(RECORD, parents, drop), f"/{path}")


def having(path: str, value: Any) -> Mutant:
    *parents, last = steps(path)
    set_it: Callable[[Any], Any] = lambda holder: {**holder, last: value}  # noqa: E731
    if isinstance(last, int):
        set_it = lambda holder: [*holder[:last], value, *holder[last + 1 :]]  # noqa: E731
    place = f"/{path}/0" if path in LISTS and isinstance(value, list) else f"/{path}"
    return Mutant(f"{path} = {value!r}", changed(RECORD, parents, set_it), place)


def each(paths: list[str], values: list[Any]) -> list[Mutant]:
    return [having(path, value) for path in paths for value in values]


def extra(path: str) -> Mutant:
    add: Callable[[Any], Any] = lambda holder: {**holder, "extra": "member"}  # noqa: E731
    return Mutant(f"more in {path}", changed(RECORD, steps(path), add), f"/{path}/extra", in_closed_map=True)


REQUIRED = [
    "version", "id", "session",
    "session/session-id", "session/agent-meta", "session/entries",
    f"{META}/model-id", f"{META}/model-provider", f"{PLACE}/working-dir", f"{PLACE}/vcs/type",
    "vcs/type", "recording-agent/name",
    f"{USER}/type", f"{THOUGHT}/type", f"{CALL}/type", f"{RESULT}/type", f"{EVENT}/type", f"{DEEPEST}/type",
    f"{THOUGHT}/content", f"{CALL}/name", f"{CALL}/input", f"{RESULT}/output",
    f"{EVENT}/event-type", f"{DEEPEST}/event-type",
    "file-attribution/files", f"{FILE}/path", f"{FILE}/conversations", f"{PART}/ranges",
    f"{PART}/contributor/type",
    f"{PART}/related/0/type", f"{PART}/related/0/url", f"{LINES}/start-line", f"{LINES}/end-line",
    f"{LINES}/contributor/type",
]  # fmt: skip

TEXTS = [
    "version", "id", "recording-agent/name", "recording-agent/version",
    "vcs/type", "vcs/revision", "vcs/branch", "vcs/repository", f"{PLACE}/vcs/branch", "session/format",
    f"{META}/model-id", f"{META}/model-provider", f"{META}/models/1", f"{META}/cli-name",
    f"{META}/cli-version",
    f"{PLACE}/working-dir", f"{PLACE}/sandboxes/0",
    f"{USER}/id", f"{REPLY}/parent-id", f"{REPLY}/model-id",
    f"{THOUGHT}/id", f"{THOUGHT}/encrypted", f"{THOUGHT}/subject",
    f"{CALL}/id", f"{CALL}/name", f"{CALL}/call-id", f"{RESULT}/id", f"{RESULT}/call-id", f"{RESULT}/status",
    f"{EVENT}/id", f"{EVENT}/event-type", f"{DEEPEST}/event-type",
    f"{FILE}/path", f"{LINES}/content-hash", f"{LINES}/content-hash-alg", f"{LINES}/contributor/model-id",
    f"{PART}/related/0/type",
    f"{PART}/url", f"{PART}/related/0/url",
]  # fmt: skip
MOMENTS = [
    "created", "session/session-start", "session/session-end",
    f"{USER}/timestamp", f"{THOUGHT}/timestamp", f"{CALL}/timestamp", f"{RESULT}/timestamp",
    f"{EVENT}/timestamp",
]  # fmt: skip
NO_MOMENTS = [
    "", "yesterday", "2026-05-01", "2026-05-01 10:00:00Z", "2026-05-01T10:00Z", "2026-05-01T10:00:00",
    "2026-13-01T10:00:00Z",
    "2026-05-32T10:00:00Z", "2026-05-00T10:00:00Z", "2026-05-01T24:00:00Z", "2026-05-01T10:60:00Z",
    "2026-05-01T10:00:61Z",
    "2026-05-01t10:00:00z", "2026-05-01T10:00:00.Z", "2026-05-01T10:00:00+24:00",
    "2026-05-01T10:00:00+0100", "26-05-01T10:00:00Z",
    "2026-05-01T10:00:00Z\n", " 2026-05-01T10:00:00Z", "2026-05-01T10:00:00Z2026-05-01T10:00:00Z",
    "２026-05-01T10:00:00Z",
    -1, 1.5, 5.0, True, None, [], {},
]  # fmt: skip
COUNTS = [
    *(f"{USAGE}/{name}" for name in ("input", "output", "cached", "reasoning", "total")),
    f"{LINES}/start-line", f"{LINES}/end-line",
]  # fmt: skip
LISTS = [
    "session/entries", f"{META}/models", f"{PLACE}/sandboxes", f"{REPLY}/children", f"{THOUGHT}/children",
    f"{CALL}/children", f"{RESULT}/children", f"{EVENT}/children",
    "file-attribution/files", f"{FILE}/conversations", f"{PART}/ranges", f"{PART}/related",
]  # fmt: skip
MAPS = [
    "session", META, PLACE, "vcs", f"{PLACE}/vcs", "recording-agent", USER, CALL, DEEPEST, f"{EVENT}/data",
    USAGE,
    "file-attribution", FILE, PART, LINES, f"{PART}/contributor", f"{LINES}/contributor", f"{PART}/related/0",
]  # fmt: skip
CLOSED = [
    "file-attribution", FILE, PART, LINES, f"{PART}/contributor", f"{LINES}/contributor", f"{PART}/related/0",
]  # fmt: skip
OPEN = [
    "", "session", META, PLACE, "vcs", "recording-agent", USER, REPLY, THOUGHT, CALL, RESULT, EVENT,
    DEEPEST, USAGE, f"{EVENT}/data",
]  # fmt: skip
TYPES = [USER, THOUGHT, CALL, RESULT, EVENT, DEEPEST]

MUTANTS = [
    *(without(path) for path in REQUIRED),
    *each(TEXTS, [5, None, ["x"]]),
    *each(MOMENTS, ["2026-05-01"]),
    *each(["created", f"{THOUGHT}/timestamp"], NO_MOMENTS),
    *each(COUNTS, [-1, 1.0, 0.5, "1", True, None, 2**64]),
    *each(LISTS, [{}, "x", None, [None], [5]]),
    *each(MAPS, [[], "x", None, 5]),
    *each([f"{USAGE}/cost"], ["1", None, True, []]),
    *each([f"{RESULT}/is-error"], [0, "true", None, []]),
    *each(["session/session-id"], [5, None, [], 0.5]),
    *each([f"{PART}/contributor/type"], ["robot", "AI", "", None, 5]),
    *each([f"{path}/type" for path in TYPES], ["tool", "system", "User", "", None, 5, ["user"]]),
    having(f"{THOUGHT}/type", "tool-call")._replace(place=f"/{THOUGHT}/name"),
    having(f"{USER}/type", "system-event")._replace(place=f"/{USER}/event-type"),
    having(f"{CALL}/type", "tool-result")._replace(place=f"/{CALL}/output"),
    having(f"{PART}/url", "#a\nb"),
    *(extra(path) for path in CLOSED),
    *(Mutant(f"instead: {name}", json.loads(name), "") for name in ("null", "5", '"x"', "[]")),
    Mutant("instead: {}", {}, "/version"),
    Mutant("in a list", [RECORD], ""),
    Mutant("in a map", {"record": RECORD}, "/version"),
]

STILL_RECORDS = [
    Mutant("the record itself", RECORD, ""),
    *(extra(path) for path in OPEN),
    *(without(path) for path in [*MOMENTS, "vcs", "recording-agent", "file-attribution", f"{USER}/content"]),
    *(without(path) for path in (PLACE, f"{REPLY}/children", f"{RESULT}/call-id", f"{EVENT}/data", USAGE)),
    *each(LISTS, [[]]),
    *each(COUNTS, [0, 2**64 - 1]),
    *each(["created"], ["2026-12-31T23:59:60Z", "2026-01-30T00:00:00.000001-23:59", 0]),
    *each([f"{USAGE}/cost"], [0, 1, -1, 0.25]),
    *each([f"{PART}/contributor/type"], ["human", "ai", "mixed", "unknown"]),
    *each([f"{USER}/content", f"{CALL}/input", f"{RESULT}/output"], [None, [], {}, "", 5]),
    having("session/session-id", b"s1"),
    having(f"{PART}/url", "any text \n but for # lines"),
    having(f"{CALL}/type", "user"),
]


@pytest.mark.parametrize("mutant", MUTANTS, ids=repr)
def test_refuses_what_is_no_record(mutant: Mutant) -> None:
    fault = check_record(mutant.record)
    assert fault
    assert fault.path == mutant.place
    assert fault.sentence.startswith(f"At {mutant.place or 'the root'}: expected ")


@pytest.mark.parametrize("record", STILL_RECORDS, ids=repr)
def test_takes_what_is_a_record(record: Mutant) -> None:
    assert check_record(record.record) is None


Engine = Callable[[Any], bool]


@functools.cache
def engine_of(path: Path, rule: str = "record") -> Engine:
    """pycddl on a schema: whether it takes a value. Of ours, any rule can be asked for."""
    pycddl = pytest.importorskip("pycddl", reason="pycddl is not installed: no schema was asked")
    schema = pycddl.Schema(path.read_text(encoding="utf-8").replace(EITHER, f"start = {rule}"))

    def takes(value: Any) -> bool:
        try:
            schema.validate_cbor(cbor2.dumps(value))
        except pycddl.ValidationError:
            return False
        return True

    return takes


@pytest.fixture(params=["ours", "published"])
def schema_takes(request: pytest.FixtureRequest) -> Engine:
    """Whether a schema takes a record: ours, or the published one."""
    if request.param == "ours":
        return engine_of(OURS)
    assert request.getfixturevalue("corpus") == CORPUS
    return engine_of(PUBLISHED)


def pycddl_misses(mutant: Mutant) -> str | None:
    """Why the other engine may let a mutant pass: the faults of it that were seen."""
    if mutant.in_closed_map:
        return "it does not see that there is more in a map than the schema allows"
    if mutant.name.endswith(repr(2**64)):
        return "a tagged integer is an unsigned one to it"
    if mutant.name.endswith(("['x']", "['user']")):
        return "in members of an entry, a list of texts may stand for a text"
    if mutant.name.endswith((f"{PART} = []", "without session/session-id")):
        return "it takes an empty list for a map, and does not miss a member that may be of two kinds"
    if "T10:00:00Z" in mutant.name or mutant.name.endswith("'#a\\nb'"):
        return "it is content if a regular expression is found anywhere in a text"
    return None


def for_pycddl(mutant: Mutant) -> Any:
    """A record with no more levels of children than it is about: each makes the other engine far slower."""
    return up_to(mutant.name.count("children"), mutant.record)


def up_to(level: int, value: Any) -> Any:
    match value:
        case {"children": list(children), **others}:
            inner = {"children": [up_to(level - 1, child) for child in children]} if level else {}
            return {**up_to(level, others), **inner}
        case dict():
            return {key: up_to(level, member) for key, member in value.items()}
        case list():
            return [up_to(level, item) for item in value]
        case _:
            return value


@pytest.mark.slow
def test_the_schema_agrees_where_it_can_be_evaluated(
    schema_takes: Engine, record_property: RecordProperty
) -> None:
    assert [some.name for some in STILL_RECORDS if not schema_takes(for_pycddl(some))] == []
    mutants = [mutant for mutant in MUTANTS if DEEPEST not in mutant.name]
    assert len(mutants) > 400
    let_pass = [mutant for mutant in mutants if schema_takes(for_pycddl(mutant))]
    assert [mutant.name for mutant in let_pass if not pycddl_misses(mutant)] == []
    record_property(
        "counts", f"schema: pycddl refused {len(mutants) - len(let_pass)} of {len(mutants)} mutants"
    )


# The records and envelopes that there are

REFERENCES = sorted((VAC / "reference-translation").glob("*.json"))
ENVELOPES = sorted((VAC / "signed").glob("*.cose"))


def test_takes_every_reference_record(corpus: Path) -> None:
    assert corpus == CORPUS
    assert len(REFERENCES) == 8
    for path in REFERENCES:
        record = json.loads(path.read_bytes())
        assert check_record(record) is None, path.name
        assert check_record(decode_cbor(cbor2.dumps(record))) is None, path.name
        # Of the others it takes minutes.
        assert not path.name.startswith("cursor-") or engine_of(PUBLISHED)(record), path.name


def test_takes_every_signed_record(corpus: Path) -> None:
    """Even the one with a wrong signature: that is for others to find."""
    assert corpus == CORPUS
    assert len(ENVELOPES) == 5
    for path in ENVELOPES:
        content = path.read_bytes()
        assert check_envelope(content) is None, path.name
    assert check_record(decode_cbor((VAC / "signed" / "record.cbor").read_bytes())) is None
    assert check_record(json.loads((VAC / "signed" / "record.json").read_bytes())) is None


PROTECTED: dict[Any, Any] = {
    1: -8, 3: "application/json", 4: b"key", 15: {1: "me", 2: "s1", 6: 1777629600}, 33: b"certificate",
    34: [-16, b"hash"],
    "geminids": {"version": 1},
}  # fmt: skip
TRACE = {
    "session-id": "s1", "agent-vendor": "google", "trace-format": "ietf-vac-v3.0", "timestamp-start": AT,
    "timestamp-end": 5,
    "content-hash": "00", "content-hash-alg": "sha-256",
}  # fmt: skip
UNPROTECTED: dict[Any, Any] = {33: [b"one", b"two"], 100: TRACE, "geminids-seal": b"seal", 270: b"token"}


def envelope(
    protected: dict[Any, Any] = PROTECTED,
    unprotected: Any = UNPROTECTED,
    payload: Any = b"{}",
    signature: Any = b"s",
) -> Any:
    return CBORTag(18, [cbor2.dumps(protected), unprotected, payload, signature])


def dropping(key: Any, holder: dict[Any, Any]) -> dict[Any, Any]:
    return {other: holder[other] for other in holder if other != key}


def headers(**changes: Any) -> Any:
    """An envelope with other protected headers; names stand for labels."""
    labels = {"alg": 1, "content_type": 3, "kid": 4, "claims": 15, "x5chain": 33, "x5t": 34}
    return envelope({**PROTECTED, **{labels[name]: value for name, value in changes.items()}})


def traced(trace: Any) -> Any:
    return envelope(unprotected={**UNPROTECTED, 100: trace})


GOOD = envelope()
BAD_ENVELOPES: dict[str, Any] = {
    "untagged": GOOD.value,
    "another tag": CBORTag(98, GOOD.value),
    "a tag around it": CBORTag(18, GOOD),
    "no signature": CBORTag(18, GOOD.value[:3]),
    "too much": CBORTag(18, [*GOOD.value, b""]),
    "a map": CBORTag(18, dict(enumerate(GOOD.value))),
    "payload is text": envelope(payload="{}"),
    "payload is a record": envelope(payload=RECORD),
    "signature is text": envelope(signature="s"),
    "signature is null": envelope(signature=None),
    "unprotected is bytes": envelope(unprotected=cbor2.dumps(UNPROTECTED)),
    "unprotected with a list as a label": envelope(unprotected={(1,): 2}),
    "protected is a map": CBORTag(18, [PROTECTED, *GOOD.value[1:]]),
    "protected is empty": CBORTag(18, [b"", *GOOD.value[1:]]),
    "protected is no map": CBORTag(18, [cbor2.dumps([PROTECTED]), *GOOD.value[1:]]),
    "protected goes on": CBORTag(18, [GOOD.value[0] + b"\0", *GOOD.value[1:]]),
    "protected ends early": CBORTag(18, [GOOD.value[0][:-1], *GOOD.value[1:]]),
    "no claims": envelope(dropping(15, PROTECTED)),
    "claims under a text": envelope({**dropping(15, PROTECTED), "15": PROTECTED[15]}),
    "claims are a list": headers(claims=["me", "s1"]),
    "no issuer": headers(claims={2: "s1"}),
    "no subject": headers(claims={1: "me"}),
    "issuer is bytes": headers(claims={1: b"me", 2: "s1"}),
    "subject is null": headers(claims={1: "me", 2: None}),
    "a claim with bytes as its label": headers(claims={1: "me", 2: "s1", b"x": 5}),
}
"""Envelopes that every schema refuses."""

BAD_HEADERS: dict[str, Any] = {
    **{f"trace without {name}": traced(dropping(name, TRACE)) for name in list(TRACE)[:4]},
    "more in the trace": traced({**TRACE, "extra": "member"}),
    "a trace of numbers": traced({1: 2}),
    "trace is a list": traced([TRACE]),
    "trace is null": traced(None),
    **{f"trace with {name} = 1.5": traced({**TRACE, name: 1.5}) for name in TRACE},
    "trace begins yesterday": traced({**TRACE, "timestamp-start": "yesterday"}),
    "algorithm is bytes": headers(alg=b"EdDSA"),
    "content type is negative": headers(content_type=-1),
    "key id is text": headers(kid="key"),
    "one certificate in a list": headers(x5chain=[b"one"]),
    "certificates of text": envelope(unprotected={33: ["one", "two"]}),
    "hash without an algorithm": headers(x5t=[b"hash"]),
    "receipts are one": envelope(unprotected={394: b"receipt"}),
    "no receipts": envelope(unprotected={394: []}),
    "receipts are not encoded": envelope(unprotected={394: [CBORTag(18, [])]}),
}
"""Envelopes that only ours refuses. In the published schema these labels have no cut (`=>`), and any label
may hold anything: what does not fit the one entry is taken by the other (RFC 8610, section 3.5.4)."""

GOOD_ENVELOPES: dict[str, Any] = {
    "everything": GOOD,
    "detached": envelope(payload=None),
    "no unprotected headers": envelope(unprotected={}),
    "only claims": envelope({15: PROTECTED[15]}),
    "only what a trace needs": traced({name: TRACE[name] for name in list(TRACE)[:4]}),
    "session id of bytes": traced({**TRACE, "session-id": b"s1"}),
    "content type is a number": headers(content_type=50),
    "receipts": envelope(unprotected={394: [cbor2.dumps(CBORTag(18, [b"\xa0", {396: {}}, None, b"s"]))]}),
    "empty payload": envelope(payload=b"", signature=b""),
}


@pytest.mark.parametrize("name", [*BAD_ENVELOPES, *BAD_HEADERS])
def test_refuses_what_is_no_envelope(name: str) -> None:
    fault = check_envelope(cbor2.dumps({**BAD_ENVELOPES, **BAD_HEADERS}[name]))
    assert fault
    assert fault.sentence


@pytest.mark.parametrize("name", GOOD_ENVELOPES)
def test_takes_what_is_an_envelope(name: str) -> None:
    assert check_envelope(cbor2.dumps(GOOD_ENVELOPES[name])) is None


HEADERS_THAT_PYCDDL_TAKES = {
    "one certificate in a list": "it does not count what is in a list",
    "certificates of text": "nor look at it, where bytes could stand for the list",
    "receipts are not encoded": "a tag is as good as bytes to it",
    "a claim with bytes as its label": "any key is a label to it",
}


def test_the_schema_agrees_on_headers(record_property: RecordProperty) -> None:
    """pycddl cannot evaluate the envelope as a whole, so each of its maps is given by itself."""
    protected_headers, unprotected_headers = (
        engine_of(OURS, f"{which}-headers") for which in ("protected", "unprotected")
    )

    def takes(tagged: Any) -> bool:
        protected, unprotected, *_ = tagged.value
        return protected_headers(cbor2.loads(protected)) and unprotected_headers(unprotected)

    assert [name for name, tagged in GOOD_ENVELOPES.items() if not takes(tagged)] == []
    claims = {name: BAD_ENVELOPES[name] for name in BAD_ENVELOPES if re.search("claim|issuer|subject", name)}
    bad = {**BAD_HEADERS, **claims}
    taken = [name for name, tagged in bad.items() if takes(tagged)]
    assert taken == [*HEADERS_THAT_PYCDDL_TAKES]
    record_property("counts", f"schema: pycddl refused {len(bad) - len(taken)} of {len(bad)} bad headers")


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("d82300", "tag 35"),
        ("c5821b00000000ffffffff01", "tag 5"),
        ("c4821bffffffffffffffff01", "tag 4"),
        ("d81e820100", "tag 30"),
        ("d8254100", "tag 37"),
        ("c11b7fffffffffffffff", "tag 1"),
        ("d81d00", "tag 29"),
        ("d9010281a0", "tag 258"),
        ("c249ffffffffffffffffff", "tag 2"),
    ],
)
def test_a_tag_is_nothing_but_a_tag(written: str, found: str) -> None:
    """A reader that makes dates and fractions of tags falls over those that are none."""
    fault = check_envelope(with_trace(written))
    assert fault
    assert (fault.path, fault.found) == ("/1/100", found)


@pytest.mark.parametrize("written", ["f7", "e0", "a14001", "a2000000", "ff", ""])
def test_what_the_verifier_cannot_read_is_no_envelope(written: str) -> None:
    fault = check_envelope(with_trace(written))
    assert fault
    assert fault.sentence.startswith("At the root: expected bytes that are the CBOR of tag 18, found bytes ")


def with_trace(written: str) -> bytes:
    """An envelope with something as its trace that no writer would write."""
    protected = bytes(cbor2.dumps(GOOD.value[0]))
    return b"\xd2\x84" + protected + b"\xa1\x18\x64" + bytes.fromhex(written) + b"\x40\x40"


def test_points_into_headers_that_are_bytes() -> None:
    fault = check_envelope(cbor2.dumps(headers(claims={1: "me"})))
    assert fault
    assert fault.sentence == "At /0/15/2: expected text, found nothing."
    fault = check_envelope(cbor2.dumps(traced({**TRACE, "extra": 1})))
    assert fault
    assert fault.sentence == "At /1/100/extra: expected no member of this name, found an unsigned integer."


def test_a_record_is_no_envelope_and_the_other_way_round() -> None:
    record, envelope = cbor2.dumps(RECORD), cbor2.dumps(GOOD)
    assert check_envelope(record)
    assert check_record(decode_cbor(envelope))


def with_entries(entries: list[Any]) -> dict[str, Any]:
    return {**RECORD, "session": {**RECORD["session"], "entries": entries}}


def test_children_nested_without_end_are_refused() -> None:
    entry: dict[str, Any] = {"type": "user"}
    for _ in range(150):
        entry = {"type": "user", "children": [entry]}
    assert check_record(with_entries([entry])) is None
    for _ in range(20_000):
        entry = {"type": "user", "children": [entry]}
    fault = check_record(with_entries([entry]))
    assert fault
    assert "nested too deep" in fault.sentence


# Any record

NAMES = sorted(
    {"extra", "x-native", ""}
    | {name for part in (RECORD, RECORD["session"], GIT, AUTHOR, TRACE) for name in part}
    | {name for entry in RECORD["session"]["entries"] for name in entry}
    | {name for child in RECORD["session"]["entries"][1]["children"] for name in child}
    | {
        *RECORD["session"]["entries"][1]["token-usage"],
        *RECORD["session"]["agent-meta"],
        "path",
        "ranges",
        "start-line",
    }
)
json_values = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(-3, 2**65), st.floats(allow_nan=False), st.text(max_size=3),
        st.sampled_from([AT, "user", "assistant", "tool-call", "tool-result", "reasoning", "system-event",
        "ai", "#\n", b"x", 0, 5]),
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(NAMES), inner,
    max_size=5)),
    max_leaves=8,
)  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a value, but of long lists only the first few."""
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from places(value[key], (*path, key))
    elif isinstance(value, list):
        for number, item in enumerate(value[:6]):
            yield from places(item, (*path, number))


def mutated(data: st.DataObject, record: Any, path: tuple[Any, ...]) -> Any:
    """The record with one thing dropped, replaced or added."""

    def change(value: Any) -> Any:
        match data.draw(st.sampled_from(["replace", "drop", "add", "add"])), value:
            case "drop", dict() if value:
                return dropping(data.draw(st.sampled_from(sorted(value))), value)
            case "drop", list() if value:
                return value[:-1]
            case "add", dict():
                return {**value, data.draw(st.sampled_from(NAMES)): data.draw(json_values)}
            case "add", list():
                return [data.draw(json_values), *value]
            case _:
                return data.draw(json_values)

    return changed(record, list(path), change)


def is_refused(record: Any) -> bool:
    """Whether the shapes refuse a record; what the schema refuses, they have to.

    The other way round pycddl lets too much pass. Of children it is given one level, since each makes it far
    slower, and our schema, since it refuses some good records by the published one.
    """
    shallow = up_to(1, record)
    refused = check_record(shallow) is not None
    assert refused or engine_of(OURS)(shallow), "the schema refuses it, and the shapes do not"
    return refused


@settings(deadline=None, max_examples=examples(150), suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_what_the_schema_refuses_of_whatever_is_changed_is_refused(data: st.DataObject) -> None:
    record: Any = RECORD
    for _ in range(data.draw(st.integers(1, 2))):
        record = mutated(data, record, data.draw(st.sampled_from(list(places(record)))))
    is_refused(record)


moments = st.one_of(
    st.just(AT), st.integers(0, 5), st.datetimes().map(lambda moment: moment.isoformat() + "Z")
)
texts = st.text(max_size=4)
others = st.dictionaries(st.sampled_from(["x", "x-native", "y"]), json_values, max_size=2)


def map_of(required: dict[str, Any], optional: dict[str, Any], more: Any = others) -> Any:
    members = st.fixed_dictionaries(required, optional=optional)
    return st.tuples(more, members).map(lambda both: {**both[0], **both[1]})


entries: Any = st.deferred(
    lambda: st.one_of(
        map_of({"type": st.sampled_from(["user", "assistant"])},
               {**in_any, "content": json_values, "parent-id": texts, "model-id": texts,
               "token-usage": usage}),
        map_of({"type": st.just("tool-call"), "name": texts, "input": json_values}, {**in_any,
        "call-id": texts}),
        map_of({"type": st.just("tool-result"), "output": json_values},
               {**in_any, "call-id": texts, "status": texts, "is-error": st.booleans()}),
        map_of({"type": st.just("reasoning"), "content": json_values}, {**in_any, "encrypted": texts,
        "subject": texts}),
        map_of({"type": st.just("system-event"), "event-type": texts}, {**in_any, "data": others}),
    )
)  # fmt: skip
in_any: dict[str, Any] = {"id": texts, "timestamp": moments, "children": st.lists(entries, max_size=2)}
usage: Any = map_of(
    {}, {"input": st.integers(0, 9), "total": st.integers(0, 2**64 - 1), "cost": st.floats(0, 9)}
)
vcs = map_of({"type": texts}, {"revision": texts, "branch": texts, "repository": texts})
authors = map_of(
    {"type": st.sampled_from(["human", "ai", "mixed", "unknown"])}, {"model-id": texts}, st.just({})
)
ranges = map_of({"start-line": st.integers(0, 9), "end-line": st.integers(0, 9)},
                {"contributor": authors, "content-hash": texts}, st.just({}))  # fmt: skip
parts = map_of({"ranges": st.lists(ranges, max_size=2)}, {"contributor": authors}, st.just({}))
files = map_of({"path": texts, "conversations": st.lists(parts, max_size=2)}, {}, st.just({}))
records = map_of(
    {
        "version": texts,
        "id": texts,
        "session": map_of(
            {
                "session-id": st.one_of(texts, st.binary(max_size=3)),
                "agent-meta": map_of(
                    {"model-id": texts, "model-provider": texts}, {"models": st.lists(texts, max_size=2)}
                ),
                "entries": st.lists(entries, max_size=3),
            },
            {
                "environment": map_of({"working-dir": texts}, {"vcs": vcs}),
                "session-end": moments,
                "format": texts,
            },
        ),
    },
    {
        "created": moments,
        "vcs": vcs,
        "file-attribution": st.fixed_dictionaries({"files": st.lists(files, max_size=2)}),
    },
)


@settings(deadline=None, max_examples=examples(200), suppress_health_check=list(HealthCheck))
@given(record=records, data=st.data())
def test_any_record_is_taken_and_what_the_schema_refuses_is_not(record: Any, data: st.DataObject) -> None:
    assert not is_refused(record)
    is_refused(mutated(data, record, data.draw(st.sampled_from(list(places(record))))))


# Speed


def test_checks_a_large_record_in_no_time(record_property: RecordProperty) -> None:
    entries = [json.loads(json.dumps(entry)) for _ in range(3400) for entry in RECORD["session"]["entries"]]
    record = with_entries(entries)
    size = len(json.dumps(record)) / 1e6
    assert len(entries) > 10_000
    began = time.perf_counter()
    assert check_record(record) is None
    took = time.perf_counter() - began
    record_property(
        "counts", f"schema: a record of {size:.1f} MB, {len(entries):,} entries, checked in {took:.2f} s"
    )
    assert took < size


def test_what_looks_at_shapes_loads_nothing_that_signs_or_evaluates() -> None:
    script = (
        "import sys\n"
        "from geminids.sharing.records.mismatches import check_envelope, check_record\n"
        "assert check_envelope(b'') and check_record({})\n"
        "assert not {'pycddl', 'cryptography', 'cbor2'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.slow
@pytest.mark.parametrize("agent", [*AGENTS, "corpus"])
def test_the_published_schema_takes_every_record_of_ours(
    corpus: Path, agent: str, record_property: RecordProperty
) -> None:
    # It takes longer than all else, so of the many recorded homes only some are tried.
    homes = corpus_homes(corpus)[::4] if agent == "corpus" else fixture_homes(agent)
    reader = "gemini" if agent == "corpus" else agent
    records = [record_of(*told) for home in homes for told in sessions_with_evidence(reader, home)]
    for record in records:
        assert check_record(record) is None
        assert engine_of(PUBLISHED)(record), record["id"]
    assert len(records) > 50
    record_property("counts", f"schema: pycddl takes all {len(records)} records of {agent}")
