"""A record in a vCon is the same record, and the vCon around it is one that others take."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from geminids.sharing.records.encoding import encode_json
from geminids.sharing.records.errors import RecordError
from geminids.sharing.records.simple import simple_record
from geminids.sharing.records.translation import record_of
from geminids.sharing.records.vcon import record_in, vcon_of
from tests.support.exporting import fixture_sessions, hostile_session

RECORD: dict[str, Any] = {
    "version": "3.0.0-draft",
    "id": "gemini:1",
    "session": {
        "session-id": "1",
        "session-start": "2026-05-01T10:00:00.000Z",
        "agent-meta": {"model-id": "gemini-3-pro", "model-provider": "google", "cli-name": "gemini-cli"},
        "environment": {"working-dir": "/home/user/x", "vcs": {"type": "git", "branch": "main"}},
        "entries": [
            {"type": "system-event", "event-type": "native:header", "timestamp": "2026-05-01T10:00:00.000Z"},
            {"type": "user", "content": "Why?", "timestamp": "2026-05-01T10:00:01.000Z"},
            {"type": "assistant", "content": "", "children": [{"type": "reasoning", "content": "secret"}]},
            {
                "type": "assistant",
                "content": [{"type": "text", "text": "Be"}, {"type": "attachment"}, {"text": "cause."}],
            },
            {"type": "user", "content": {"text": "Ah."}, "timestamp": 1777629603},
        ],
    },
    "file-attribution": {
        "files": [
            {
                "path": "a.py",
                "conversations": [
                    {
                        "contributor": {"type": "ai", "model-id": "gemini-3-pro"},
                        "ranges": [
                            {"start-line": 3, "end-line": 5, "content-hash": "00" * 32},
                            {"start-line": 9, "end-line": 9, "contributor": {"type": "mixed"}},
                        ],
                    }
                ],
            },
            {"path": "b.py", "conversations": [{"contributor": {"type": "unknown"}, "ranges": []}]},
        ]
    },
    "recording-agent": {"name": "geminids", "version": "1.2"},
}
SIGNATURE = bytes(range(250, 256)) * 9


def test_a_record_comes_out_of_its_vcon_as_it_went_in() -> None:
    """Also in the order of its members, since signatures are over bytes."""
    for record in records():
        written = encode_json(vcon_of(record, signature=SIGNATURE))
        found, signature = record_in(json.loads(written))
        assert encode_json(found) == encode_json(record)
        assert signature == SIGNATURE


def records() -> Iterator[dict[str, Any]]:
    """Every session of every fixture in both translations."""
    for session in (*fixture_sessions().values(), hostile_session()):
        yield simple_record(session)
        yield record_of(session)


def test_the_same_record_gives_the_same_vcon() -> None:
    assert json.dumps(vcon_of(RECORD)) == json.dumps(vcon_of(deepcopy(RECORD)))
    other = RECORD | {"id": "gemini:2"}
    assert vcon_of(other)["uuid"] != vcon_of(RECORD)["uuid"]


def test_a_record_that_is_not_whole_is_another_vcon_and_names_the_whole_one() -> None:
    whole, once, twice = (
        vcon_of(RECORD | {"x-commitment": {"root": "ab", **({"redacted": taken} if taken else {})}})
        for taken in ([], [{"at": "/id"}], [{"at": "/id"}, {"at": "/session"}])
    )
    assert len({whole["uuid"], once["uuid"], twice["uuid"]}) == 3
    assert "redacted" not in whole
    assert once["redacted"]["uuid"] == twice["redacted"]["uuid"] == whole["uuid"] == vcon_of(RECORD)["uuid"]


def test_what_was_said_is_the_dialog() -> None:
    """Words only, each with its speaker; what has no time of its own was said after what was before it."""
    told = [(turn["parties"], turn["start"], turn["body"]) for turn in vcon_of(RECORD)["dialog"]]
    assert told == [
        ([0], "2026-05-01T10:00:01.000Z", "Why?"),
        ([1], "2026-05-01T10:00:01.000Z", "Be\n\ncause."),
        ([0], "2026-05-01T10:00:03.000Z", "Ah."),
    ]


def test_the_agent_is_a_party_with_its_model_and_folder() -> None:
    human, agent = vcon_of(RECORD)["parties"]
    assert human["role"] == "user"
    assert agent == {
        "name": "gemini-cli",
        "role": "agent",
        "meta": {
            "agent_session": {
                "model_id": "gemini-3-pro",
                "provider": "google",
                "recording_agent": "geminids/1.2",
                "environment": {"cwd": "/home/user/x", "vcs_branch": "main"},
            }
        },
    }


def test_who_wrote_which_lines_is_attached() -> None:
    attached = vcon_of(RECORD)["attachments"]
    assert {attachment["purpose"] for attachment in attached} == {"agent_file_change"}
    assert [attachment["body"] for attachment in attached] == [
        {
            "path": "a.py",
            "contributor": "agent",
            "line_range": [3, 5],
            "content_hash": "sha256-" + "A" * 43,
        },
        {"path": "a.py", "contributor": "mixed", "line_range": [9, 9]},
        {"path": "b.py", "contributor": "unknown"},
    ]


def test_it_has_the_shape_of_the_published_example(corpus: Path) -> None:
    """Each member that we write is one that the example has, or that the container names."""
    example = json.loads((corpus / "vac" / "vcon" / "paired-agent-session.json").read_bytes())
    ours = vcon_of(RECORD, signature=SIGNATURE)
    assert ours.keys() <= example.keys()
    assert ours["vcon"] == example["vcon"]
    named = {"mediatype", "encoding"}  # The example says mimetype, which older drafts of the container did.
    for part in ("parties", "dialog", "analysis"):
        theirs = {name for one in example[part] for name in one} | named
        assert {name for one in ours[part] for name in one} <= theirs
    (theirs,) = example["analysis"]
    (trace,) = ours["analysis"]
    for same in ("type", "schema", "encoding"):
        assert trace[same] == theirs[same]
    meta = example["parties"][1]["meta"]["agent_session"]
    assert ours["parties"][1]["meta"]["agent_session"].keys() <= meta.keys()
    change = next(a for a in example["attachments"] if a["purpose"] == "agent_file_change")
    assert ours["attachments"][0].keys() <= change.keys()
    assert ours["attachments"][0]["body"].keys() <= change["body"].keys()


def test_a_record_that_stands_there_as_a_text_is_read_too() -> None:
    vcon = vcon_of(RECORD)
    vcon["analysis"][0]["body"] = json.dumps(RECORD)
    assert record_in(vcon) == (RECORD, None)


def broken(change: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    vcon = deepcopy(vcon_of(RECORD, signature=SIGNATURE))
    change(vcon)
    return vcon


NO_VCONS = {
    "no version": lambda v: v.pop("vcon"),
    "no analysis": lambda v: v.pop("analysis"),
    "an analysis that is no list": lambda v: v.update(analysis={"type": "agent_trace"}),
    "no trace": lambda v: v["analysis"][0].update(type="summary"),
    "two traces": lambda v: v["analysis"].append(v["analysis"][0]),
    "no body": lambda v: v["analysis"][0].pop("body"),
    "no encoding": lambda v: v["analysis"][0].pop("encoding"),
    "another encoding": lambda v: v["analysis"][0].update(encoding="base64url", body="oWE"),
    "a body that is no JSON": lambda v: v["analysis"][0].update(body="{"),
    "a body nested without end": lambda v: v["analysis"][0].update(body="[" * 100_000),
    "a body that is a list": lambda v: v["analysis"][0].update(body="[]"),
    "a body that is no record": lambda v: v["analysis"][0].update(body={"id": "x"}),
    "two signatures": lambda v: v["attachments"].append(v["attachments"][-1]),
    "a signature in other letters": lambda v: v["attachments"][-1].update(body="+/+/"),
    "a signature with a bit too many": lambda v: v["attachments"][-1].update(body="-_9"),
    "a signature cut off": lambda v: v["attachments"][-1].update(body="-_-_-"),
    "a signature that is no text": lambda v: v["attachments"][-1].update(body=7),
    "a signature as JSON": lambda v: v["attachments"][-1].update(encoding="json"),
}


@pytest.mark.parametrize("change", NO_VCONS.values(), ids=NO_VCONS.keys())
def test_anything_else_is_refused_with_a_reason(change: Callable[[dict[str, Any]], object]) -> None:
    with pytest.raises(RecordError, match=r"vCon|record"):
        record_in(broken(change))


def test_what_is_no_record_is_not_wrapped() -> None:
    for nothing in ({}, {"id": "x"}, {"id": "x", "session": {}}, {"id": 1, "session": {"entries": []}}):
        with pytest.raises(RecordError, match="not a record"):
            vcon_of(nothing)


def test_odd_members_are_left_out() -> None:
    odd = {
        "id": "x\ud800",
        "session": {"entries": [7, {"type": []}, {"type": "user", "content": "a", "timestamp": -(10**30)}]},
        "file-attribution": {
            "files": [7, {"conversations": {}}, {"conversations": [{"ranges": [{"x": 1}]}]}]
        },
        "recording-agent": 7,
        "vcs": [],
    }
    vcon = vcon_of(odd)
    assert [turn["body"] for turn in vcon["dialog"]] == ["a"]
    assert vcon["created_at"] == vcon["dialog"][0]["start"] == "1970-01-01T00:00:00Z"
    assert record_in(vcon) == (odd, None)


CHECK = """
import json, sys
from vcon import Vcon
for line in sys.stdin:
    valid, errors = Vcon.build_from_json(line).is_valid()
    if not valid:
        sys.exit("; ".join(errors))
"""


def test_the_library_for_vcons_takes_every_one() -> None:
    """It needs a newer Python, so it is asked in a process of its own, where one has it."""
    python = python_with_vcon()
    vcons = (vcon_of(record, signature=SIGNATURE) for record in (RECORD, *records()))
    lines = b"\n".join(map(encode_json, vcons))
    asked = subprocess.run([python, "-c", CHECK], input=lines, capture_output=True, check=False)
    assert asked.returncode == 0, asked.stderr


def python_with_vcon() -> str:
    for python in filter(None, [os.environ.get("GEMINIDS_VCON_PYTHON"), shutil.which("python3.12")]):
        if subprocess.run([python, "-c", "import vcon"], capture_output=True, check=False).returncode == 0:
            return python
    pytest.skip(
        "no Python 3.12 with the package vcon (GEMINIDS_VCON_PYTHON names one): vCons were not checked"
    )
