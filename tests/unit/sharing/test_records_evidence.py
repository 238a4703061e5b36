"""Evidence: nothing that an agent wrote is lost between a session and what is kept beside it."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from geminids.core import agents
from geminids.core.model import (
    Attachment,
    FileChange,
    Location,
    Message,
    Session,
    SessionKind,
    Thought,
    ToolCall,
    ToolResult,
)
from geminids.core.timestamps import parse_time
from geminids.reading.jsonl import UndecodableError, decode
from geminids.sharing.records.evidence import Evidence, NativeEvidence, evidence_of
from geminids.sharing.records.natives import Natives, pointed_at, read_natives
from tests.conftest import FIXTURES, RecordProperty
from tests.support import claude_lines, codex_homes
from tests.support.homes import tool_call, write_session
from tests.support.reading import sessions

CASES = sorted(FIXTURES.glob("*/*/home"))
AGENTS = ("claude", "codex", "gemini")

# What a message tells in other words than the agent, and why that counts as told.
KINDS = {
    "claude": {"text", "thinking", "tool_use", "tool_result", "image", "document"},
    "codex": {"input_text", "output_text", "text", "summary_text", "reasoning_text"},
    "gemini": {"gemini", "model"},
}
"""Words that say what a piece is: the kind of a part says it too, or the role of the message."""
SAYS_NOTHING = (None, "")
"""A member that is there and empty: the message has nothing in its place either."""


def content_of(agent: str, path: str) -> bytes:
    """The bytes of a file, as an agent's reader sees them."""
    unpacked = agents.load(agent).files().unpacked(Path(path))
    return Path(path).read_bytes() if unpacked is None else unpacked


def natives_of(session: Session) -> Natives:
    """The files of a session as they are on the disk."""
    return read_natives(session, lambda path: content_of(session.agent, path))


def evidence(session: Session) -> Evidence:
    """The evidence of a session whose files are on the disk."""
    return evidence_of(session, natives_of(session))


def sessions_in(home: Path) -> list[Session]:
    """The sessions of all agents in a home."""
    return [session for agent in AGENTS for session in sessions(agents.load(agent), home)]


# What is told


class Words:
    """Scalars that were found somewhere, to be looked up whatever way they are written."""

    def __init__(self) -> None:
        self.texts: set[str] = set()
        self.numbers: set[float] = set()
        self.times: set[datetime] = set()
        self.switches: set[bool] = set()

    def take(self, value: object) -> None:
        """Note all scalars in a value, and the members' names, which are words as well."""
        match value:
            case bool():
                self.switches.add(value)
            case str():
                self.texts.add(value)
            case int() | float():
                self.numbers.add(value)
            case datetime():
                self.times.add(value)
            case dict():
                for inner in value.values():
                    self.take(inner)
            case list() | tuple():
                for inner in value:
                    self.take(inner)

    def hold(self, scalar: object) -> bool:
        """Whether a scalar is among them: a text whole or as a piece of a longer one, a time as a time."""
        match scalar:
            case bool():
                return scalar in self.switches
            case str():
                return scalar in self.texts or self._is_piece(scalar) or parse_time(scalar) in self.times
            case int() | float():
                return scalar in self.numbers or (scalar > 1e9 and parse_time(scalar) in self.times)
            case _:
                return False

    def _is_piece(self, text: str) -> bool:
        return any(text in longer for longer in self.texts)


def scalars(value: object) -> Iterator[object]:
    """Everything in a value that is no object and no list."""
    match value:
        case dict():
            for inner in value.values():
                yield from scalars(inner)
        case list():
            for inner in value:
                yield from scalars(inner)
        case _:
            yield value


def told_by(message: Message) -> Words:
    """All that a message tells, also in other words."""
    words = Words()
    plain = msgspec.structs.replace(message, source=Location("", 0, 0, 0), also_at=(), dropped_by=None)
    words.take(msgspec.to_builtins(plain, builtin_types=(datetime,)))
    for part in message.parts:
        _take_other_words(words, part)
    _take_sums(words, message)
    return words


def _take_other_words(words: Words, part: object) -> None:
    match part:
        case Thought(text=text, subject=subject):
            # Codex writes the subject in bold above the text.
            words.take(f"**{subject}**\n\n{text}")
        case Attachment(mime_type=mime_type, data=data):
            # Codex writes a picture into its address.
            words.take(f"data:{mime_type};base64,{data}")
        case ToolResult(parts=parts):
            for inner in parts:
                _take_other_words(words, inner)
        case ToolCall():
            # Codex writes arguments as a text of JSON, nearly always without spaces.
            words.take(json.dumps(part.arguments, separators=(",", ":"), ensure_ascii=False))
            words.take(part.child_id.partition(":")[2] if part.child_id else None)
            for inner in part.result:
                _take_other_words(words, inner)
            for change in part.changes:
                _take_numbers_of_hunks(words, change)


def _take_numbers_of_hunks(words: Words, change: FileChange) -> None:
    """Claude Code writes a patch in pieces; a diff has their numbers in its headings."""
    headings = [line for line in (change.diff or "").split("\n") if line.startswith("@@ -")]
    words.take([int(n) for line in headings for n in line[4:-3].replace(" +", ",").split(",") if n.isdigit()])


def _take_sums(words: Words, message: Message) -> None:
    """Claude and Codex count what was thought with what was answered, Claude the prompt without the cache."""
    if (usage := message.usage) is not None:
        words.take([usage.fresh, (usage.output or 0) + (usage.thoughts or 0)])


# Completeness


def lost_in(session: Session, found: Evidence, natives: Natives) -> list[str]:
    """The scalars at places of messages that neither the messages there nor the evidence tell."""
    told = [told_by(message) for message in session.messages]
    messages_at: dict[Location, list[int]] = {}
    for index, message in enumerate(session.messages):
        for source in (message.source, *message.also_at):
            messages_at.setdefault(source, []).append(index)
    lost: list[str] = []
    kept_at: dict[Location, Words] = {}
    for place in (place for places in found.messages for place in places):
        kept_at.setdefault(place.source, Words()).take(place.native)
    for places in found.messages:
        for source in (place.source for place in places):
            kept = [kept_at[place.source] for place in places]
            words = [*(told[index] for index in messages_at[source]), *kept]
            lost += [
                f"{source.file}:{source.line}: {str(scalar)[:80]!r}"
                for scalar in scalars(natives.files[source.file].value_at(source))
                if not (_is_exception(session, scalar) or _is_known(scalar, words))
            ]
    return lost


def _is_known(scalar: object, words: list[Words]) -> bool:
    if any(one.hold(scalar) for one in words):
        return True
    try:
        inside = msgspec.json.decode(scalar) if isinstance(scalar, str) and scalar.startswith("{") else None
    except msgspec.DecodeError:
        return False
    # Codex once wrote what a command printed into a text of JSON.
    return isinstance(inside, dict) and all(_is_known(inner, words) for inner in scalars(inside))


def _is_exception(session: Session, scalar: object) -> bool:
    if scalar in SAYS_NOTHING and not isinstance(scalar, int):
        return True
    if isinstance(scalar, str):
        return scalar in KINDS[session.agent] or scalar == session.native_id
    return isinstance(scalar, int) and any(m.id.startswith(f"line-{scalar}") for m in session.messages)


def check_complete(session: Session) -> int:
    """Nothing is lost at the places of a session; returns how many places it has."""
    natives = natives_of(session)
    found = evidence_of(session, natives)
    assert lost_in(session, found, natives) == []
    return sum(map(len, found.messages))


@pytest.mark.parametrize(
    "case", CASES, ids=lambda case: f"{case.parent.parent.name}-{case.parent.name}"[-40:]
)
def test_every_scalar_of_a_record_is_told_by_the_message_or_kept_as_evidence(case: Path) -> None:
    for session in sessions_in(case):
        check_complete(session)


@pytest.mark.slow
def test_the_same_holds_for_every_recorded_release(corpus: Path, record_property: RecordProperty) -> None:
    found = [session for home in sorted(corpus.rglob("home")) for session in sessions_in(home)]
    found += list(_given(corpus))
    places = sum(map(check_complete, found))
    assert places > 3_000
    record_property("counts", f"evidence: {len(found)} recorded sessions, {places} places, nothing lost")


def _given(corpus: Path) -> Iterator[Session]:
    """Sessions in files that lie alone."""
    folders = ("vac/native", "vac/gemini-cli-0.61", "wild")
    files = [path for folder in folders for path in (corpus / folder).rglob("*.json*")]
    for path in sorted(files):
        readings = (agents.load(agent).read_alone(path) for agent in AGENTS)
        read = (reading.sessions for reading in readings if reading is not None and reading.sessions)
        yield from next(read, ())


# Every byte


def spans_of(found: Evidence, path: str) -> Iterator[tuple[int, int]]:
    """Where the places and other records of a file stand."""
    for place in (*(place for places in found.messages for place in places), *found.others):
        if place.source.file == path:
            yield place.source.start, place.source.end


def uncovered(content: bytes, spans: Iterable[tuple[int, int]]) -> bytes:
    """What no span covers, without white space."""
    left = bytearray(content)
    for start, end in spans:
        left[start:end] = b" " * (end - start)
    return bytes(left).strip()


@pytest.mark.parametrize(
    "case", CASES, ids=lambda case: f"{case.parent.parent.name}-{case.parent.name}"[-40:]
)
def test_every_byte_of_a_log_is_at_a_place_or_an_other_record(case: Path) -> None:
    check_bytes(sessions_in(case))


@pytest.mark.slow
def test_the_same_holds_for_the_bytes_of_every_recorded_release(corpus: Path) -> None:
    for home in sorted(corpus.rglob("home")):
        check_bytes(sessions_in(home))
    check_bytes(list(_given(corpus)))


def check_bytes(found: list[Session]) -> None:
    """All sessions of a file together account for its bytes."""
    known = {id(session): evidence(session) for session in found}
    for path in {file.path for session in found for file in session.files}:
        own = [session for session in found if path in {file.path for file in session.files}]
        if all("jsonl" in file.format for session in own for file in session.files if file.path == path):
            spans = [span for session in own for span in spans_of(known[id(session)], path)]
            assert uncovered(content_of(own[0].agent, path), spans) == b"", path


@pytest.mark.parametrize(
    "case", CASES, ids=lambda case: f"{case.parent.parent.name}-{case.parent.name}"[-40:]
)
def test_hashes_are_those_of_the_bytes(case: Path) -> None:
    for session in sessions_in(case):
        found = evidence(session)
        for file in found.files:
            content = content_of(session.agent, file.path)[: file.size]
            assert (len(content), hashlib.sha256(content).hexdigest()) == (file.size, file.sha256)
        for place in (*(place for places in found.messages for place in places), *found.others):
            written = content_of(session.agent, place.source.file)[place.source.start : place.source.end]
            assert hashlib.sha256(written).hexdigest() == place.sha256


def test_places_are_those_of_the_messages_in_order() -> None:
    for case in CASES:
        for session in sessions_in(case):
            told = [[message.source, *message.also_at] for message in session.messages]
            assert [[place.source for place in places] for places in evidence(session).messages] == told


# Members nobody knows


def _marked(value: Any, marks: Iterator[str]) -> Any:
    """A value with a member of which nobody ever heard in each of its objects."""
    match value:
        case dict():
            inner = {name: _marked(member, marks) for name, member in value.items()}
            return {**inner, "zzNeverHeardOf": next(marks)}
        case list():
            return [_marked(element, marks) for element in value]
        case _:
            return value


_MARK = re.compile(rb"mark-\d{6}-of-nobody")


def _marks() -> Iterator[str]:
    yield from (f"mark-{number:06}-of-nobody" for number in range(1_000_000))


def mark(paths: Iterable[str]) -> set[str]:
    """Put unheard-of members into every object of some files; returns their values."""
    marks, used = _marks(), set[str]()
    for path in map(Path, sorted(paths)):
        content = path.read_bytes()
        lines = content.split(b"\n") if path.suffix == ".jsonl" else [content]
        marked = b"\n".join(_marked_json(line, marks) for line in lines)
        path.write_bytes(marked)
        used.update(found.decode() for found in _MARK.findall(marked))
    return used


def _marked_json(raw: bytes, marks: Iterator[str]) -> bytes:
    try:
        value = decode(raw).value
    except UndecodableError:
        return raw
    return json.dumps(_marked(value, marks), ensure_ascii=False).encode()


@pytest.mark.slow
@pytest.mark.parametrize("agent", AGENTS)
def test_members_of_which_nobody_ever_heard_are_kept_wherever_they_stand(agent: str, tmp_path: Path) -> None:
    """Also deep inside what the tables know, and in records of no message."""
    source = agents.load(agent)
    count = 0
    for case in (case for case in CASES if case.parent.parent.name == agent):
        home = tmp_path / case.parent.name
        shutil.copytree(case, home)
        read = {file.path for session in sessions(source, home) for file in session.files}
        # What is packed cannot be written here, and lines of the prompt log are also of other sessions.
        marks = mark(path for path in read if not path.endswith((".zst", "logs.json")))
        told = Words()
        for session in sessions(source, home):
            told.take(msgspec.to_builtins(session))
            told.take(msgspec.to_builtins(evidence(session)))
        lost = [one for one in sorted(marks) if not told.hold(one)]
        assert lost == [], (case, lost[:5])
        count += len(marks)
    assert count > 3_000


# Versions


def patched(value: Any, operations: list[dict[str, Any]]) -> Any:
    """A value after some operations of JSON Patch."""
    root = [json.loads(json.dumps(value))]
    for operation in operations:
        steps: list[str] = ["0", *operation["path"].split("/")[1:]]
        target: Any = root
        for step in steps[:-1]:
            target = target[_key(target, step)]
        key = _key(target, steps[-1])
        match operation["op"]:
            case "remove":
                del target[key]
            case "add" if type(target) is list:
                target.insert(key, operation["value"])
            case _:
                target[key] = operation["value"]
    return root[0]


def _key(target: Any, step: str) -> Any:
    return int(step) if type(target) is list else step.replace("~1", "/").replace("~0", "~")


def test_every_version_of_a_message_can_be_made_of_the_one_that_is_shown() -> None:
    made = 0
    for case in CASES:
        for session in sessions_in(case):
            natives = natives_of(session)
            for places in evidence_of(session, natives).messages:
                made += _check_versions(places, natives)
    assert made > 100


def _check_versions(places: tuple[NativeEvidence, ...], natives: Natives) -> int:
    values = [natives.files[place.source.file].value_at(place.source) for place in places]
    changes = [(place.native, value) for place, value in zip(places, values, strict=True)]
    made = 0
    for operations, value in changes:
        if type(operations) is list:
            shown = [v for left, v in changes if type(left) is not list and v.get("id") == value.get("id")]
            assert any(patched(one, operations) == value for one in shown)
            made += 1
    return made


def test_what_is_the_same_in_a_later_version_is_not_kept_twice(tmp_path: Path) -> None:
    path = write_session(tmp_path, answer="A long answer that stands in the session.", calls=[tool_call()])
    header, user, first = path.read_text().splitlines()
    reply = json.loads(first)
    more = [tool_call(id="second"), tool_call(id="third")]
    later = {**reply, "toolCalls": [*reply["toolCalls"], *more], "mood/~": "calm"}
    path.write_text("\n".join([header, user, first, json.dumps(later), ""]))
    found = evidence(_only(tmp_path))
    earlier, shown = found.messages[1]
    assert earlier.native == [
        {"op": "remove", "path": "/mood~1~0"},
        {"op": "remove", "path": "/toolCalls/2"},
        {"op": "remove", "path": "/toolCalls/1"},
    ]
    assert patched(later, earlier.native) == reply
    assert shown.native is None


def _only(home: Path) -> Session:
    [session] = sessions(agents.load("gemini"), home)
    return session


# What stands where


def test_what_a_message_tells_is_not_kept_again(tmp_path: Path) -> None:
    call = tool_call(renderOutputAsMarkdown=True, resultDisplay="ok")
    write_session(tmp_path, calls=[call])
    found = evidence(_only(tmp_path))
    assert [[place.native for place in places] for places in found.messages] == [
        [None],
        [{"toolCalls": [{"renderOutputAsMarkdown": True}]}],
    ]


def test_a_member_that_a_table_names_is_kept_if_the_message_says_something_else(tmp_path: Path) -> None:
    path = write_session(tmp_path)
    lines = path.read_text().splitlines()
    lines[2] = lines[2].replace('"total": 12', '"total": "twelve"')
    path.write_text("\n".join(lines))
    assert evidence(_only(tmp_path)).messages[1][0].native == {"tokens": {"total": "twelve"}}


def test_times_that_are_finer_than_ours_are_kept(tmp_path: Path) -> None:
    path = write_session(tmp_path)
    path.write_text(path.read_text().replace("10:05:00.000Z", "10:05:00.123456789+00:00"))
    kept = evidence(_only(tmp_path)).messages[1][0].native
    assert kept == {"timestamp": "2026-05-01T10:05:00.123456789+00:00"}


def test_headers_and_updates_are_other_records(tmp_path: Path) -> None:
    path = write_session(tmp_path)
    path.write_text(path.read_text() + '\n{"$set": {"summary": "About a login"}}\n\n[1, 2]\n')
    found = evidence(_only(tmp_path))
    header = json.loads(path.read_text().splitlines()[0])
    assert [place.native for place in found.others] == [
        header,
        {"$set": {"summary": "About a login"}},
        [1, 2],
    ]
    assert [place.source.line for place in found.others] == [1, 5, 7]


def test_of_a_checkpoint_only_what_is_beside_its_messages_is_another_record(tmp_path: Path) -> None:
    path = write_session(tmp_path)
    _, user, reply = map(json.loads, path.read_text().splitlines())
    plain = {"$set": {"messages": [user, reply]}}
    more = {"$set": {"messages": [user, reply, 7], "lastUpdated": "2026-05-02T00:00:00Z"}}
    path.write_text(path.read_text() + f"{json.dumps(plain)}\n{json.dumps(more)}\n")
    found = evidence(_only(tmp_path))
    assert [place.native for place in found.others[1:]] == [
        {"$set": {"messages": [None, None, 7], "lastUpdated": "2026-05-02T00:00:00Z"}}
    ]
    assert [place.source.pointer for place in found.messages[0]] == [
        None,
        "/$set/messages/0",
        "/$set/messages/0",
    ]
    assert [place.native for place in found.messages[0]] == [None, None, None]


def test_a_document_keeps_all_but_its_messages() -> None:
    [session] = sessions(agents.load("gemini"), FIXTURES / "gemini" / "torn-json" / "home")[:1]
    home = FIXTURES / "gemini" / "at-files-strings" / "home"
    for session in sessions(agents.load("gemini"), home):
        [other] = evidence(session).others
        document = json.loads(Path(session.files[0].path).read_bytes())
        assert other.native == {name: value for name, value in document.items() if name != "messages"}


def test_what_is_left_of_a_damaged_document_is_kept_as_text() -> None:
    home = FIXTURES / "gemini" / "torn-json" / "home"
    found = [place for session in sessions(agents.load("gemini"), home) for place in evidence(session).others]
    assert any(isinstance(place.native, str) and '"sessionId"' in place.native for place in found)


def test_turns_of_subagents_are_not_others_of_their_parents() -> None:
    """Nor the other way round: a record of another session is not kept with this one."""
    for case in CASES:
        found = sessions_in(case)
        owners: dict[tuple[str, int, int, str | None], set[str]] = {}
        for session in found:
            for message in session.messages:
                for place in (message.source, *message.also_at):
                    key = (place.file, place.start, place.end, place.pointer)
                    owners.setdefault(key, set()).add(session.id)
        for session in found:
            known = evidence(session)
            for other in known.others:
                at = other.source
                assert not owners.get((at.file, at.start, at.end, None)), (case, at)
            kept = {(at.source.file, index) for at in known.others for index in _kept_elements(at.native)}
            for (file, _, _, pointer), ids in owners.items():
                if pointer and pointer.startswith("/messages/") and session.id not in ids:
                    assert (file, int(pointer.rpartition("/")[2])) not in kept, (case, file, pointer)


def _kept_elements(native: Any) -> Iterator[int]:
    """Which messages of a document were kept as another record."""
    match native:
        case {"messages": list(messages)}:
            yield from (index for index, message in enumerate(messages) if message is not None)


def test_a_subagent_inside_its_parents_document_has_no_other_records() -> None:
    found = [session for case in CASES for session in sessions(agents.load("gemini"), case)]
    inner = [one for one in found if any(one.id == f"{one.parent_id}#{call}" for call in _calls(found))]
    assert inner
    assert [evidence(session).others for session in inner] == [()] * len(inner)


def _calls(found: list[Session]) -> set[str | None]:
    return {call.call_id for session in found for message in session.messages for call in message.tool_calls}


def test_a_turn_that_no_message_is_read_from_is_another_record(tmp_path: Path) -> None:
    path = write_session(tmp_path)
    session = _only(tmp_path)
    found = evidence(msgspec.structs.replace(session, messages=session.messages[:1]))
    assert [place.native for place in found.others] == [
        json.loads(line) for line in path.read_text().splitlines()[::2]
    ]


def test_each_subagent_in_the_file_of_a_session_has_its_own_records(tmp_path: Path) -> None:
    """As Claude Code 1.0 wrote them; what is silent is of the one that it hangs on."""
    claude_lines.write(
        tmp_path,
        claude_lines.user("u1", None, "Count the notes"),
        claude_lines.user("a1", None, "Count here", isSidechain=True),
        claude_lines.line("system", "a2", "a1", isSidechain=True, subtype="turn_duration"),
        claude_lines.user("b1", None, "Count there", isSidechain=True),
        claude_lines.line("system", "b2", "b1", isSidechain=True, subtype="turn_duration"),
        claude_lines.line("system", "a3", "a2", isSidechain=True, subtype="turn_duration"),
        claude_lines.line("system", "u2", "u1", subtype="turn_duration"),
        {"type": "summary", "summary": "Counting", "leafUuid": "u1"},
    )
    found = sessions(agents.load("claude"), tmp_path)
    others = {s.native_id.partition("#")[2]: evidence(s).others for s in found}
    named = {name: [p.native.get("uuid") for p in places] for name, places in others.items()}
    assert named == {"": ["u2", None], "a1": ["a2", "a3"], "b1": ["b2"]}


def test_what_several_messages_leave_of_one_record_is_kept_once(tmp_path: Path) -> None:
    chat = tmp_path / ".gemini" / "tmp" / "shop" / "checkpoint-all.json"
    chat.parent.mkdir(parents=True)
    context = "<session_context>\nThis is the Gemini CLI.\n</session_context>"
    turn = {"role": "user", "parts": [{"text": context}, {"text": "Hello", "mood": "calm"}], "nth": 1}
    chat.write_text(json.dumps({"history": [turn, {"role": "model", "parts": [{"text": "Hi"}]}]}))
    session = _only(tmp_path)
    assert session.messages[0].source == session.messages[1].source
    assert [place.native for places in evidence(session).messages for place in places] == [
        {"parts": [None, {"mood": "calm"}], "nth": 1},
        None,
        None,
    ]


def test_messages_that_are_read_from_one_record_tell_it_together() -> None:
    home = FIXTURES / "gemini" / "chat-resume" / "home"
    saved = [s for s in sessions(agents.load("gemini"), home) if s.kind is SessionKind.CHECKPOINT]
    shared = [s for s in saved if s.messages[0].source == s.messages[1].source]
    assert shared
    for session in shared:
        assert [place.native for places in evidence(session).messages[:2] for place in places] == [None, None]


def test_a_diff_tells_the_patch_that_it_was_made_of_and_no_other(tmp_path: Path) -> None:
    hunk = {"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1, "lines": ["-milk", "+oat milk"]}
    known = {"filePath": "/notes.txt", "structuredPatch": [hunk], "userModified": False}
    lines = [
        claude_lines.user("u1", None, "Change it"),
        claude_lines.reply(
            "r1", "u1", claude_lines.call("c1", "Edit", file_path="/notes.txt"), reply_id="m1"
        ),
        claude_lines.user("t1", "r1", [claude_lines.answer("c1")], toolUseResult=known),
    ]
    session = claude_lines.read(tmp_path, *lines)
    assert evidence(session).messages[1][1].native["toolUseResult"] == {"userModified": False}
    [*_, call] = session.messages[1].parts
    assert isinstance(call, ToolCall)
    other = msgspec.structs.replace(call, changes=(), display=None)
    message = msgspec.structs.replace(session.messages[1], parts=(other,))
    session = msgspec.structs.replace(session, messages=(session.messages[0], message))
    kept = evidence(session).messages[1][1].native["toolUseResult"]
    assert kept["structuredPatch"] == [hunk]


def test_a_state_of_a_call_is_kept_if_the_message_tells_another(tmp_path: Path) -> None:
    write_session(tmp_path, calls=[tool_call(status="success")])
    session = _only(tmp_path)
    [*_, call] = session.messages[1].parts
    assert isinstance(call, ToolCall)
    parts = (*session.messages[1].parts[:-1], msgspec.structs.replace(call, native_status="error"))
    message = msgspec.structs.replace(session.messages[1], parts=parts)
    session = msgspec.structs.replace(session, messages=(session.messages[0], message))
    assert evidence(session).messages[1][0].native == {"toolCalls": [{"status": "success"}]}


def test_an_object_in_a_text_is_taken_apart_if_it_can_be_written_again(tmp_path: Path) -> None:
    plain = '{"output":"milk and bread","metadata":{"exit_code":0,"duration_seconds":0.2}}'
    spaced = plain.replace(":0", ": 0")
    for output, left in ((plain, {"metadata": {"exit_code": 0, "duration_seconds": 0.2}}), (spaced, spaced)):
        call = {"type": "function_call", "name": "shell", "call_id": "c1", "arguments": '{"command":["ls"]}'}
        answer = {"type": "function_call_output", "call_id": "c1", "output": output}
        lines = [codex_homes.meta(), codex_homes.said("List"), _item(call), _item(answer)]
        path = tmp_path / f"rollout-2026-11-15T20-50-21-{codex_homes.THREAD}.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        reading = agents.load("codex").read_alone(path)
        assert reading is not None
        asked, answered = evidence(reading.sessions[0]).messages[1]
        assert asked.native == {"type": "response_item", "payload": {"type": "function_call"}}
        assert answered.native["payload"]["output"] == left


def _item(payload: dict[str, Any]) -> dict[str, Any]:
    return codex_homes.line("response_item", payload)


def test_the_release_is_that_of_the_last_record() -> None:
    versions = {
        agent: {
            evidence(session).agent_version
            for case in CASES
            if case.parent.parent.name == agent
            for session in sessions(agents.load(agent), case)
        }
        for agent in AGENTS
    }
    assert "2.1.325" in versions["claude"]
    assert None not in versions["claude"]
    assert any(version and version[0].isdigit() for version in versions["codex"])
    assert versions["gemini"] == {None}


# Files that are not as they were


def test_a_file_that_is_gone_has_no_evidence(tmp_path: Path) -> None:
    path = write_session(tmp_path)
    session = _only(tmp_path)
    path.unlink()
    natives = natives_of(session)
    assert natives.missing == (str(path),)
    assert evidence_of(session, natives) == Evidence((), ((), ()), (), None)


def test_what_was_written_after_the_session_was_read_is_not_evidence(tmp_path: Path) -> None:
    path = write_session(tmp_path)
    session = _only(tmp_path)
    before = evidence(session)
    with path.open("a") as file:
        file.write('{"$set": {"summary": "Later"}}\n')
    assert evidence(session) == before


def test_a_parent_that_goes_on_does_not_change_the_evidence_of_its_fork(tmp_path: Path) -> None:
    home = tmp_path / "home"
    shutil.copytree(FIXTURES / "codex" / "fork" / "home", home)
    found = sessions(agents.load("codex"), home)
    forks = [s for s in found if {m.source.file for m in s.messages} - {f.path for f in s.files}]
    assert forks
    before = [evidence(session) for session in forks]
    for session in found:
        with Path(session.files[0].path).open("a") as file:
            file.write('{"type": "event_msg", "payload": {"type": "later"}}\n')
    assert [evidence(session) for session in forks] == before


def test_places_that_a_shorter_file_no_longer_has_are_left_out(tmp_path: Path) -> None:
    path = write_session(tmp_path)
    session = _only(tmp_path)
    content = path.read_bytes()
    path.write_bytes(content[: session.messages[1].source.start + 10])
    found = evidence(session)
    assert [len(places) for places in found.messages] == [1, 0]
    assert found.files[0].size == session.messages[1].source.start + 10


ODD = [
    b'{"note": "half a pair \\ud83d"}',
    b'{"note": NaN}',
    b'{"note": 1e999}',
    b'{"note": "not closed',
    b"\xff\xfe no text at all",
    b'"a text alone"',
    b"[" * 5000,
    b'{"note": ' + b"9" * 400 + b"}",
]


@pytest.mark.parametrize("line", ODD, ids=lambda line: line[:24].decode("ascii", "replace"))
def test_odd_lines_are_kept_and_can_be_written(line: bytes, tmp_path: Path) -> None:
    path = write_session(tmp_path)
    path.write_bytes(path.read_bytes() + line + b"\n")
    found = evidence(_only(tmp_path))
    last = found.others[-1]
    assert path.read_bytes()[last.source.start : last.source.end] == line
    assert last.native is not None
    json.dumps(msgspec.to_builtins(found), allow_nan=False).encode()


@pytest.mark.parametrize("depth", [50, 400, 800, 900, 940, 960, 980, 990, 3000])
def test_what_is_nested_deep_is_kept(depth: int, tmp_path: Path) -> None:
    path = write_session(tmp_path)
    deep = '{"a": ' * depth + '"the bottom"' + "}" * depth
    lines = path.read_text().splitlines()
    lines[2] = (
        lines[2]
        .replace('"tokens": {', f'"tokens": {{"new": {deep}, ')
        .replace('"id"', f'"new": {deep}, "id"')
    )
    path.write_text("\n".join([*lines, f'{{"$set": {deep}}}', ""]))
    found = evidence(_only(tmp_path))
    assert b"the bottom" in path.read_bytes()[found.others[-1].source.start : found.others[-1].source.end]
    assert found.others[-1].native is not None


def test_of_an_agent_that_nobody_knows_everything_is_kept(tmp_path: Path) -> None:
    path = write_session(tmp_path)
    session = msgspec.structs.replace(_only(tmp_path), agent="toy")
    records = [json.loads(line) for line in path.read_text().splitlines()]
    found = evidence_of(session, read_natives(session, lambda path: Path(path).read_bytes()))
    assert [place.native for place in (*found.others, *found.messages[0], *found.messages[1])] == records


def test_evidence_is_the_same_every_time() -> None:
    for case in CASES[::7]:
        assert [evidence(session) for session in sessions_in(case)] == [
            evidence(session) for session in sessions_in(case)
        ]


def test_values_at_pointers_are_those_of_the_bytes() -> None:
    """A document is read once and not element by element; both must give the same."""
    compared = 0
    for case in CASES:
        for session in sessions_in(case):
            for file in natives_of(session).files.values():
                places = [message.source for message in session.messages if message.source.file == file.path]
                for place in places if file.is_document else ():
                    raw = file.content[place.start : place.end]
                    assert pointed_at(file.document, place.pointer or "") == decode(raw).value
                    compared += 1
    assert compared > 200


def test_thousands_of_calls_in_one_message_take_no_longer_than_they_should(tmp_path: Path) -> None:
    calls = [
        tool_call(
            "wait", args={"command": f"run {n}"}, note=f"{n}" * 40, renderOutputAsMarkdown=f"{n} and so on"
        )
        for n in range(4000)
    ]
    for number, call in enumerate(calls):
        call["id"] = f"wait-{number}"
    write_session(tmp_path, calls=calls)
    [_, [place]] = evidence(_only(tmp_path)).messages
    assert len(place.native["toolCalls"]) == len(calls)
