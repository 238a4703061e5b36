"""Damaged files of Claude Code: nothing raises, and nothing that is whole is lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from geminids.agents.claude import ClaudeSource
from geminids.agents.claude.read.records import FACTS, IGNORED, TREE
from geminids.core.agents.base import Bundle, FoundFile, Reading
from geminids.core.model import Origin, ProblemKind, Project, Session, Tally
from tests.conftest import FIXTURES
from tests.support.accounts import accounted
from tests.support.claude_lines import SESSION, answer, call, reply, text_of, user, words
from tests.support.documents import assert_valid
from tests.support.examples import examples
from tests.support.reading import custodian_of

SOURCE = ClaudeSource()
SETTINGS = settings(max_examples=examples(150), deadline=None, suppress_health_check=list(HealthCheck))
RECORDED = sorted(
    file
    for file in FIXTURES.glob("claude/*/home/.claude/projects/*/*.jsonl")
    if 0 < file.stat().st_size < 60_000
)
GOOD = [
    user("u1", None, "first"),
    reply("a1", "u1", call("c1"), reply_id="m1"),
    user("r1", "a1", [answer("c1", "found")]),
    reply("a2", "r1", words("second"), reply_id="m2"),
]


def read(folder: Path, content: bytes | str) -> Reading:
    """A file as a bundle of its own: every byte must have gone somewhere, and all sessions be valid."""
    path = folder / f"{SESSION}.jsonl"
    raw = content.encode() if isinstance(content, str) else content
    path.write_bytes(raw)
    file = FoundFile(path, len(raw), 0, 0)
    reading = SOURCE.read(Bundle("claude", SESSION, Project(None, None, "x", None), (folder,), (file,)))
    for account in reading.accounts:
        assert accounted(account) == account.size == len(raw)
    for session in reading.sessions:
        assert_valid(session)
        assert len({message.id for message in session.messages}) == len(session.messages)
    return reading


def said(session: Session) -> list[str]:
    return [text for message in session.messages for o in Origin if (text := message.text(o))]


def test_a_cut_line_is_a_problem_and_the_rest_is_there(tmp_path: Path) -> None:
    whole = text_of(GOOD)
    reading = read(tmp_path, whole + whole[:60])
    assert said(reading.sessions[0]) == ["first", "second"]
    assert [problem.kind for problem in reading.problems] == [ProblemKind.BAD_JSON]


def test_a_record_that_was_cut_off_gives_what_is_left_of_it(tmp_path: Path) -> None:
    cut = json.dumps(user("u9", "a2", "the beginning of a long story"))
    reading = read(tmp_path, text_of(GOOD) + cut[: cut.index("long")])
    assert said(reading.sessions[0]) == ["first", "second", "the beginning of a "]


def test_two_records_in_one_line_are_both_found(tmp_path: Path) -> None:
    first, *rest = text_of(GOOD).splitlines()
    half = json.dumps({"type": "api-request-blob", "sessionId": SESSION, "message": {"content": "x" * 50}})
    reading = read(tmp_path, "\n".join([half[:70] + first, *rest]))
    assert said(reading.sessions[0]) == ["first", "second"]


def test_zeros_marks_and_halves_of_characters_are_survived(tmp_path: Path) -> None:
    lines = text_of(GOOD).splitlines()
    content = [
        b"\xef\xbb\xbf" + lines[0].encode(),
        b"\0" * 40,
        lines[1].encode(),
        lines[2].replace("found", "\\ud83d").encode(),
        b"\xff\xfe",
        lines[3].encode(),
        b"[1, 2]",
        b"17",
        b"{}",
        b"   ",
    ]
    reading = read(tmp_path, b"\n".join(content))
    assert said(reading.sessions[0]) == ["first", "second"]
    assert reading.accounts[0].ignored["a line that is no object but list"] == Tally(1, 6)
    assert {problem.kind for problem in reading.problems} == {ProblemKind.BAD_JSON, ProblemKind.BAD_TEXT}


@pytest.mark.parametrize("content", ["", "\n \n"])
def test_nothing_is_no_session(tmp_path: Path, content: str) -> None:
    reading = read(tmp_path, content)
    assert reading.sessions == ()
    # Releases 2.0 leave a file without a byte at every resume: that is no damage.
    assert [problem.kind for problem in reading.problems] == ([ProblemKind.EMPTY] if content else [])


def test_unknown_kinds_are_named_and_copies_of_requests_left_out(tmp_path: Path) -> None:
    records = [
        {"type": "api-request-blob", "message": {"content": "a copy"}},
        {"type": "hologram", "uuid": "h"},
        {"type": "what a human wrote, by mistake"},
        {"no": "type"},
    ]
    compact = "".join(json.dumps(record, separators=(",", ":")) + "\n" for record in records)
    ignored = read(tmp_path, text_of(GOOD) + compact).accounts[0].ignored
    assert set(ignored) == {
        "api-request-blob: copies of what was sent",
        "record of unknown kind: hologram",
        "record of unknown kind: a name of 30 characters",
        "record without a type: no",
    }


def test_unknown_fields_are_counted(tmp_path: Path) -> None:
    reading = read(tmp_path, text_of([user("u", None, "Hi", shoeSize=44)]))
    assert reading.accounts[0].unknown_fields == {"user.shoeSize": 1}


def test_files_of_others_are_not_taken_for_sessions(tmp_path: Path) -> None:
    qwen = {"uuid": "q", "parentUuid": None, "sessionId": "s", "type": "user"}
    files = {
        "qwen.jsonl": json.dumps({**qwen, "message": {"role": "user", "parts": [{"text": "Hi"}]}}),
        "codex.jsonl": json.dumps({"type": "session_meta", "payload": {"id": "x"}}),
        "text.jsonl": "Hello",
        "empty.jsonl": "",
        "settings.json": "{}",
    }
    for name, content in files.items():
        (tmp_path / name).write_text(content, "utf-8")
        assert SOURCE.read_alone(tmp_path / name) is None


@pytest.mark.slow
@pytest.mark.parametrize("file", RECORDED, ids=lambda file: f"{file.parents[4].name}-{file.stem[:8]}")
def test_a_recorded_file_cut_anywhere_keeps_what_is_whole(file: Path, tmp_path: Path) -> None:
    content = file.read_bytes()
    whole = [m for session in read(tmp_path, content).sessions for m in session.messages]
    for end in range(1, len(content), max(1, len(content) // 12)):
        left = {m.id for session in read(tmp_path, content[:end]).sessions for m in session.messages}
        assert {message.id for message in whole if message.source.end <= end} <= left


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False)
    | st.sampled_from(
        ["", "u0", "u1", "u2", "text", "tool_use", "tool_result", "2026-01-01T00:00:00Z", "c1"]
    ),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "type",
                    "text",
                    "id",
                    "tool_use_id",
                    "content",
                    "name",
                    "input",
                    "thinking",
                    "source",
                    "kind",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=10,
)
FIELDS = (
    *("uuid", "parentUuid", "logicalParentUuid", "message", "isSidechain", "agentId", "timestamp", "cwd"),
    *("toolUseResult", "attachment", "rendered", "subtype", "compactMetadata", "leafUuid", "summary"),
    *("isMeta", "isCompactSummary", "modelUsage", "origin", "content", "level", "sessionId", "version"),
    *("gitBranch", "customTitle", "data", "hookErrors", "error", "forkedFrom", "explicit"),
)
SHAPED: dict[str, st.SearchStrategy[Any]] = {
    "message": st.fixed_dictionaries(
        {}, optional=dict.fromkeys(("id", "role", "model", "content", "usage"), JSON)
    )
    | JSON,
    "isSidechain": st.booleans(),
    "subtype": st.sampled_from(["compact_boundary", "local_command", "turn_duration", "x"]) | JSON,
}
RECORDS = st.fixed_dictionaries(
    {"type": st.sampled_from(sorted(TREE | FACTS | IGNORED.keys())) | JSON},
    optional={name: SHAPED.get(name, JSON) for name in FIELDS},
)


@pytest.mark.slow
@SETTINGS
@given(st.lists(RECORDS, max_size=8))
@example([{"type": "user", "uuid": "u", "parentUuid": "u"}])
@example([{"type": "attachment", "attachment": {"type": ["file"]}, "uuid": "u"}])
def test_whatever_records_hold_nothing_raises(
    tmp_path_factory: pytest.TempPathFactory, records: list[dict[str, Any]]
) -> None:
    folder = tmp_path_factory.mktemp("soup")
    reading = read(folder, "\n".join(json.dumps(record) for record in records))
    for session in reading.sessions:
        list(SOURCE.projects().named_folders(session))
        SOURCE.companions().with_outputs(session)
        SOURCE.companions().named_ids(session)
    SOURCE.read_alone(folder / f"{SESSION}.jsonl")
    custodian_of(SOURCE).agent_view(folder / f"{SESSION}.jsonl")


@SETTINGS
@given(st.sampled_from(RECORDED), st.data())
def test_bytes_that_were_changed_are_survived(
    tmp_path_factory: pytest.TempPathFactory, file: Path, data: st.DataObject
) -> None:
    content = bytearray(file.read_bytes())
    for _ in range(data.draw(st.integers(1, 6))):
        start = data.draw(st.integers(0, len(content) - 1))
        content[start : start + data.draw(st.integers(0, 30))] = data.draw(st.binary(max_size=12))
    read(tmp_path_factory.mktemp("changed"), bytes(content))
