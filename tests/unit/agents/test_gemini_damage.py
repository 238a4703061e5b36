"""Damaged files: whatever happened to the bytes, nothing raises and nothing before the damage is lost."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from geminids.agents.gemini import GeminiSource
from geminids.core.agents.base import Bundle, FoundFile
from geminids.core.model import (
    FileAccount,
    Origin,
    Problem,
    ProblemKind,
    Project,
    Session,
    Tally,
    Unrecognised,
)
from geminids.reading.jsonl import in_whole_characters
from geminids.sharing.export.data import encode_with_halves, indented
from tests.conftest import FIXTURES
from tests.support.accounts import accounted
from tests.support.documents import assert_valid
from tests.support.examples import examples
from tests.support.reading import custodian_of
from tests.support.strategies import JSON

SOURCE = GeminiSource()
FILES = sorted(
    file
    for file in FIXTURES.glob("gemini/*/home/.gemini/tmp/*/chats/**/*")
    if file.is_file() and 0 < file.stat().st_size < 40_000
)
LOGS = [file for file in FILES if file.suffix == ".jsonl"]
SETTINGS = settings(max_examples=examples(80), deadline=None, suppress_health_check=list(HealthCheck))
NOWHERE = Project(None, None, None, None)
HEADER = '{"sessionId":"s-1","projectHash":"h","startTime":"2026-01-01T00:00:00.000Z"}'
PROMPT = '{"id":"m1","timestamp":"2026-01-01T00:00:01.000Z","type":"user","content":[{"text":"first"}]}'
REPLY = '{"id":"m2","timestamp":"2026-01-01T00:00:02.000Z","type":"gemini","content":"second","model":"m"}'


class Reader:
    """Reads bytes as a session file: they must be accounted for, and the result must be valid."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.problems: tuple[Problem, ...] = ()
        self.accounts: tuple[FileAccount, ...] = ()

    @property
    def ignored(self) -> dict[str, Tally]:
        """What was ignored in the file that was read last, by reason."""
        return self.accounts[0].ignored

    def __call__(self, content: bytes | str, name: str = "session-2026-01-01T00-00-s.jsonl") -> list[Session]:
        path = self._folder / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        facts = path.stat()
        file = FoundFile(path, facts.st_size, facts.st_mtime_ns, facts.st_ino)
        reading = SOURCE.read(Bundle("gemini", "s", NOWHERE, (), (file,)))
        assert [accounted(account) for account in reading.accounts] == [facts.st_size]
        for session in reading.sessions:
            assert_valid(session)
        custodian_of(SOURCE).agent_view(path)
        SOURCE.read_alone(path)
        self.problems = reading.problems
        self.accounts = reading.accounts
        return list(reading.sessions)

    def texts(self, content: bytes | str, name: str = "session-2026-01-01T00-00-s.jsonl") -> list[str]:
        """The words in the file, in order."""
        messages = [message for session in self(content, name) for message in session.messages]
        return [message.text(Origin.HUMAN) or message.text(Origin.MODEL) for message in messages]

    @property
    def kinds(self) -> list[ProblemKind]:
        """The kinds of trouble in the file that was read last."""
        return [problem.kind for problem in self.problems]


@pytest.fixture
def reader(tmp_path: Path) -> Reader:
    return Reader(tmp_path)


def message_ids(sessions: list[Session]) -> set[str]:
    return {message.id for session in sessions for message in session.messages}


@SETTINGS
@given(st.sampled_from(FILES), st.floats(0, 1))
def test_any_cut_keeps_what_is_before_it(
    tmp_path_factory: pytest.TempPathFactory, file: Path, share: float
) -> None:
    reader = Reader(tmp_path_factory.mktemp("cut"))
    content = file.read_bytes()
    end = int(len(content) * share)
    whole = {m.id: m for s in reader(content, file.name) for m in s.messages}
    left = message_ids(reader(content[:end], file.name))
    before = {m.id for m in whole.values() if m.source.end <= end and not m.id.endswith("+")}
    # What was written again later has its own name until then.
    assert {name.partition("~v")[0] for name in before} <= left


@SETTINGS
@given(st.sampled_from(LOGS), st.data(), st.binary(max_size=60))
def test_any_noise_line_leaves_the_others_alone(
    tmp_path_factory: pytest.TempPathFactory, file: Path, data: st.DataObject, noise: bytes
) -> None:
    reader = Reader(tmp_path_factory.mktemp("noise"))
    lines = file.read_bytes().splitlines(keepends=True)
    at = data.draw(st.integers(0, len(lines)))
    whole = reader(b"".join(lines), file.name)
    noise = noise.replace(b"\n", b" ").replace(b'"$', b'"') + b"\n"
    noisy = reader(b"".join([*lines[:at], noise, *lines[at:]]), file.name)
    assert {i for i in message_ids(whole) if not i.endswith("+")} <= message_ids(noisy)


@SETTINGS
@given(st.sampled_from(FILES), st.data(), st.binary(min_size=1, max_size=8))
def test_any_bytes_anywhere_do_no_harm_to_what_is_before(
    tmp_path_factory: pytest.TempPathFactory, file: Path, data: st.DataObject, noise: bytes
) -> None:
    reader = Reader(tmp_path_factory.mktemp("bytes"))
    content = file.read_bytes()
    at = data.draw(st.integers(0, len(content) - 1))
    whole = {m.id: m for s in reader(content, file.name) for m in s.messages}
    damaged = message_ids(reader(content[:at] + noise + content[at + len(noise) :], file.name))
    before = {m.id for m in whole.values() if m.source.end < at and not m.id.endswith("+")}
    # Whose later version is damaged has no earlier one any more: it is the message itself again.
    assert {own_id(i) for i in before} <= {own_id(i) for i in damaged}


def own_id(message_id: str) -> str:
    """The id of a message, also of an earlier version of it."""
    return message_id.partition("~")[0]


def places_in(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The ways to every field of a JSON value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path] * bool(path) + [way for key, inner in items for way in places_in(inner, (*path, key))]


def replaced(value: Any, path: tuple[Any, ...], by: Any) -> Any:
    """The same value with one field changed."""
    if not path:
        return by
    copy = list(value) if isinstance(value, list) else dict(value)
    copy[path[0]] = replaced(value[path[0]], path[1:], by)
    return copy


@SETTINGS
@given(st.sampled_from(FILES), st.data(), JSON)
def test_any_field_of_a_wrong_type_is_survived(
    tmp_path_factory: pytest.TempPathFactory, file: Path, data: st.DataObject, wrong: Any
) -> None:
    reader = Reader(tmp_path_factory.mktemp("types"))
    content = file.read_bytes()
    if file.suffix == ".json":
        document = json.loads(content) if content.endswith(b"}") else {}
        ways = places_in(document)
        way = data.draw(st.sampled_from(ways)) if ways else ()
        reader(json.dumps(replaced(document, way, wrong)), file.name)
        return
    lines = [line for line in content.splitlines() if line.endswith(b"}")]
    at = data.draw(st.integers(0, len(lines) - 1))
    record = json.loads(lines[at])
    way = data.draw(st.sampled_from(places_in(record)))
    # A line may also tell that lines before it only repeated others.
    before = message_ids(reader(b"\n".join(lines[:at]), file.name))
    before &= message_ids(reader(b"\n".join(lines[: at + 1]), file.name))
    changed = json.dumps(replaced(record, way, wrong)).encode()
    assert before <= message_ids(reader(b"\n".join([*lines[:at], changed]), file.name))


def test_a_cut_last_line_gives_what_is_in_it(reader: Reader) -> None:
    torn = PROMPT[: PROMPT.index("first") + 3]
    assert reader.texts(f"{HEADER}\n{REPLY}\n{torn}") == ["second", "fir"]
    assert reader.kinds == [ProblemKind.BAD_JSON]


def test_glued_lines_give_the_whole_record_and_the_torn_one(reader: Reader) -> None:
    torn = '{"id":"m0","timestamp":"2026-01-01T00:00:00.500Z","type":"gemini","content":"half a se'
    assert reader.texts(f"{HEADER}\n{torn}{PROMPT}\n{REPLY}\n") == [
        "half a se",
        "first",
        "second",
    ]
    assert reader.kinds == [ProblemKind.BAD_JSON]


def test_records_without_a_line_between_them_are_all_read(reader: Reader) -> None:
    assert reader.texts(HEADER + PROMPT + REPLY) == ["first", "second"]


def test_a_torn_version_never_hides_the_whole_one_before_it(reader: Reader) -> None:
    torn = PROMPT.replace("first", "fi")[:-4]
    assert reader.texts(f"{HEADER}\n{PROMPT}\n{torn}") == ["first"]


def test_a_truncated_document_gives_its_whole_messages(reader: Reader) -> None:
    document = json.dumps(
        {**json.loads(HEADER), "messages": [json.loads(PROMPT), json.loads(REPLY)]}, indent=2
    )
    name = "session-2026-01-01T00-00-s.json"
    assert reader.texts(document[: document.index("second") + 3], name) == ["first", "sec"]
    assert reader(document[: document.index("second") + 3], name)[0].native_id == "s-1"
    assert ProblemKind.BAD_JSON in reader.kinds


def test_a_document_damaged_in_the_middle_gives_the_rest(reader: Reader) -> None:
    messages = [{**json.loads(PROMPT), "id": f"m{n}", "content": f"prompt {n}"} for n in range(5)]
    document = json.dumps({**json.loads(HEADER), "messages": messages, "kind": "main"}, indent=2)
    damaged = document.replace('"prompt 2"', '"prompt 2')
    assert reader.texts(damaged, "session-2026-01-01T00-00-s.json")[:2] == ["prompt 0", "prompt 1"]
    assert reader.texts(damaged, "session-2026-01-01T00-00-s.json")[-1] == "prompt 4"


def test_bad_utf8_is_read_with_replacement_characters(reader: Reader) -> None:
    content = f"{HEADER}\n{PROMPT}\n{REPLY}\n".encode().replace(b"first", b"fi\xffst")
    assert reader.texts(content) == ["fi\ufffdst", "second"]
    assert reader.kinds == [ProblemKind.BAD_TEXT]


HALF = r"Half \ud83d here"
AFTER = {"with nothing after the messages": {}, "with fields after them": {"kind": "main"}}


@pytest.mark.parametrize("after", AFTER.values(), ids=AFTER)
@pytest.mark.parametrize("layout", [2, None], ids=["as the CLI prints it", "on one line"])
def test_half_a_character_is_named_and_damages_nothing(
    reader: Reader, after: dict[str, str], layout: int | None
) -> None:
    messages = [json.loads(PROMPT.replace("first", HALF)), json.loads(REPLY)]
    document = {**json.loads(HEADER), "messages": messages, **after}
    written = json.dumps(document, indent=layout)
    assert reader.texts(written, "session-2026-01-01T00-00-s.json") == ["Half \ufffd here", "second"]
    (problem,) = reader.problems
    assert (problem.kind, problem.detail) == (ProblemKind.BAD_TEXT, "half a character")
    assert HALF in written[problem.start : problem.end]
    assert "second" not in written[problem.start : problem.end]


def test_half_a_character_around_the_messages_is_named_too(reader: Reader) -> None:
    document = {**json.loads(HEADER), "messages": [json.loads(PROMPT)], "summary": "Half \ud83d"}
    (session,) = reader(json.dumps(document, indent=2), "session-2026-01-01T00-00-s.json")
    assert session.title == "Half \ufffd"
    assert reader.kinds == [ProblemKind.BAD_TEXT]


def test_half_a_character_in_a_damaged_place_is_named_beside_the_damage(reader: Reader) -> None:
    prompt = PROMPT.replace("first", HALF)
    assert reader.texts(f"{HEADER}\n{REPLY[:30]}{prompt}\n") == ["Half \ufffd here"]
    assert sorted(reader.kinds) == [ProblemKind.BAD_JSON, ProblemKind.BAD_TEXT]
    document = json.dumps(
        {**json.loads(HEADER), "messages": [json.loads(prompt), json.loads(REPLY)]}, indent=2
    )
    cut = document[: document.index("second")]
    assert reader.texts(cut, "session-2026-01-01T00-00-s.json")[0] == "Half \ufffd here"
    assert sorted(set(reader.kinds)) == [ProblemKind.BAD_JSON, ProblemKind.BAD_TEXT]


@pytest.mark.parametrize("name", ["session-2026-01-01T00-00-s.json", "session-2026-01-01T00-00-s.jsonl"])
def test_the_agents_view_has_half_a_character_as_the_loader_has_it(tmp_path: Path, name: str) -> None:
    message = json.loads(PROMPT.replace("first", HALF)) | {"\udc00 name": ["\ud83d", "\ud83d\ude00"]}
    header = json.loads(HEADER)
    lines = [json.dumps(header), json.dumps(message)]
    document = json.dumps({**header, "messages": [message]}, indent=2)
    file = tmp_path / name
    file.write_text("\n".join(lines) if name.endswith("l") else document)
    view = custodian_of(SOURCE).agent_view(file)
    assert view is not None
    (loaded,) = view["messages"]
    assert loaded == json.loads(json.dumps(message))
    assert json.loads(encode_with_halves(view)) == view
    assert json.loads(indented(encode_with_halves(view))) == view
    assert rb"Half \ud83d here" in encode_with_halves(view)


def test_an_escaped_backslash_begins_no_half_of_a_character() -> None:
    for raw in (
        rb'"\\ud83d"',
        rb'"\ud83d\ude00"',
        rb'"\ud83d\\ude00"',
        rb'"\udc00\ud83d"',
        rb'"\u00e9\ud83"',
    ):
        mended = in_whole_characters(raw)
        assert len(mended) == len(raw)
        halves = [character for character in _read(raw) if 0xD800 <= ord(character) <= 0xDFFF]
        assert mended.count(rb"\ufffd") == len(halves), raw
        assert not any(0xD800 <= ord(character) <= 0xDFFF for character in _read(mended)), raw


def _read(raw: bytes) -> str:
    try:
        return str(json.loads(raw))
    except ValueError:
        return ""


def test_a_byte_order_mark_is_no_obstacle(reader: Reader) -> None:
    content = b"\xef\xbb\xbf" + f"{HEADER}\n{PROMPT}\n".encode()
    assert reader.texts(content) == ["first"]
    document = json.dumps({**json.loads(HEADER), "messages": [json.loads(PROMPT)]}, indent=2)
    assert reader.texts(b"\xef\xbb\xbf" + document.encode(), "session-2026-01-01T00-00-s.json") == ["first"]


def test_half_an_emoji_is_replaced(reader: Reader) -> None:
    assert reader.texts(f"{HEADER}\n{PROMPT.replace('first', chr(92) + 'ud83d')}\n") == ["\ufffd"]


def test_a_number_that_is_none_is_unknown(reader: Reader) -> None:
    reply = REPLY.replace('"model"', '"tokens":{"input":NaN,"output":3},"model"')
    (session,) = reader(f"{HEADER}\n{reply}\n")
    assert (session.usage.input, session.usage.output, session.usage.total) == (None, 3, 3)
    document = json.dumps({**json.loads(HEADER), "messages": [json.loads(PROMPT)]}, indent=2)
    cost = document.replace('"type"', '"cost": NaN, "type"')
    assert reader.texts(cost, "session-2026-01-01T00-00-s.json") == ["first"]


def test_deep_nesting_costs_one_record(reader: Reader) -> None:
    deep = '{"id":"m0","type":"user","content":' + "[" * 50_000 + "]" * 50_000 + "}"
    assert reader.texts(f"{HEADER}\n{PROMPT}\n{deep}\n{REPLY}\n") == ["first", "second"]
    assert reader.kinds == [ProblemKind.BAD_JSON]
    document = json.dumps({**json.loads(HEADER), "messages": [json.loads(PROMPT), "X", json.loads(REPLY)]})
    assert reader.texts(document.replace('"X"', deep), "session-2026-01-01T00-00-s.json") == [
        "first",
        "second",
    ]


@pytest.mark.parametrize("content", [b"", b"\n\n", b"   "])
@pytest.mark.parametrize("name", ["session-2026-01-01T00-00-s.jsonl", "session-2026-01-01T00-00-s.json"])
def test_an_empty_file_is_a_problem_with_its_place(reader: Reader, content: bytes, name: str) -> None:
    assert reader(content, name) == []
    assert reader.kinds == [ProblemKind.EMPTY]


def test_a_file_without_a_header_is_a_session_by_its_name(reader: Reader) -> None:
    (session,) = reader(f"{PROMPT}\n{REPLY}\n", "session-2026-01-01T00-00-abcd1234.jsonl")
    assert session.native_id == "abcd1234"
    assert reader.kinds == [ProblemKind.NO_HEADER]


def test_a_line_of_unknown_kind_is_ignored_by_name(reader: Reader) -> None:
    assert reader.texts(f'{HEADER}\n{{"telemetry":1,"zeta":2}}\n[1]\n{PROMPT}\n') == ["first"]
    assert list(reader.ignored) == [
        "record of unknown kind: telemetry, zeta",
        "a line that is no object but list",
    ]


def test_nothing_that_was_said_gets_into_a_report(reader: Reader) -> None:
    secret = "my secret hunter2"
    odd = json.loads(PROMPT) | {"type": secret, secret: 1}
    reader(f'{HEADER}\n{json.dumps({secret: 1})}\n{json.dumps(odd)}\n{{"id":"x","type":"user","{secret}')
    assert secret not in repr([reader.problems, reader.accounts])


def test_fields_without_a_name_are_kept(reader: Reader) -> None:
    call = {"id": "c", "name": "x", "args": {}, "novel": 1}
    thought = {"subject": "s", "description": 5, "extra": 6}
    reply = json.loads(REPLY) | {"toolCalls": [call], "thoughts": [thought], "novel": [2]}
    (session,) = reader(f"{HEADER}\n{json.dumps(reply)}\n")
    (message,) = session.messages
    assert message.tool_calls[0].other == {"novel": 1}
    assert [part.raw for part in message.parts if isinstance(part, Unrecognised)] == [thought, {"novel": [2]}]
    assert reader.accounts[0].unknown_fields == {"message.novel": 1, "tool call.novel": 1}


def test_a_total_that_does_not_add_up_is_kept_beside_ours(reader: Reader) -> None:
    tokens = {"input": 10, "output": 2, "cached": 4, "thoughts": 3, "tool": 1, "total": 99}
    (session,) = reader(f"{HEADER}\n{json.dumps(json.loads(REPLY) | {'tokens': tokens})}\n")
    usage = session.messages[0].usage
    assert usage is not None
    assert (usage.total, usage.reported_total, usage.fresh) == (16, 99, 6)


@pytest.mark.parametrize(
    "written", ["1" + "0" * 30, "1e30", "18446744073709551615", "1000000000001", "-1", "1.5", '"7"']
)
@pytest.mark.parametrize("name", ["input", "total"])
def test_what_nobody_can_have_counted_is_unknown(reader: Reader, name: str, written: str) -> None:
    tokens = {"input": 10, "output": 2, "cached": 4, "thoughts": 3, "tool": 1, "total": 16}
    reply = json.dumps(json.loads(REPLY) | {"tokens": tokens | {name: "here"}}).replace('"here"', written)
    (session,) = reader(f"{HEADER}\n{PROMPT}\n{reply}\n")
    usage = session.messages[1].usage
    assert usage is not None
    assert (getattr(usage, name), usage.output) == (None if name == "input" else 16, 2)
    (problem,) = session.problems
    assert (problem.kind, problem.detail, problem.line) == (
        ProblemKind.WRONG_TYPE,
        f"tokens.{name} is no count",
        3,
    )


@pytest.mark.parametrize("written", ["1000000000000", "1000000000000.0"])
def test_the_largest_count_is_one(reader: Reader, written: str) -> None:
    reply = json.dumps(json.loads(REPLY) | {"tokens": {"input": "here"}}).replace('"here"', written)
    (session,) = reader(f"{HEADER}\n{reply}\n")
    assert (session.usage.input, session.problems) == (10**12, ())


@pytest.mark.parametrize(
    ("written", "code"), [("-1", -1), ("4294967295", 2**32 - 1), ("9" * 300, None), ("1.5", None)]
)
def test_an_exit_code_is_one_that_systems_have(reader: Reader, written: str, code: int | None) -> None:
    call = {"id": "c", "name": "run_shell_command", "args": {}, "result": f"Output: x\nExit Code: {written}"}
    (session,) = reader(f"{HEADER}\n{json.dumps(json.loads(REPLY) | {'toolCalls': [call]})}\n")
    assert session.messages[0].tool_calls[0].exit_code == code


def test_hostile_repetition_does_not_take_forever(reader: Reader) -> None:
    nested = '{"id":"x","type":"user","content":' * 100_000
    started = time.process_time()
    reader(f"{HEADER}\n{nested}\n{PROMPT}\n")
    assert ProblemKind.BAD_JSON in reader.kinds
    assert time.process_time() - started < 60
