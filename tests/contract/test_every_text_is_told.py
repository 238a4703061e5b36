"""Every text of every record of a session file, held against what `show --all` has to tell.

A text is what somebody said, asked, was answered or thought: the fields below. It is told if its words are
among those of the sessions that were read, in one piece or in the pieces it is made of. What is not told is
here by name with the reason. And of a message that is written again with other words, both versions are.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from geminids.core import agents
from geminids.core.agents.source import Source
from geminids.core.model import Message, Origin, Session, State, ToolResult
from tests.conftest import CORPUS, FIXTURES
from tests.support.examples import examples
from tests.support.reading import custodian_of
from tests.support.reading import sessions as read_sessions

AGENTS = ("claude", "codex", "gemini")
HOMES = [*sorted(FIXTURES.glob("*/*/home")), *sorted(CORPUS.glob("real/*/*/home"))]
MOST_OF_CORPUS = 60
"""So many homes of the corpus are looked at, others each time the corpus grows; fixtures are all."""
WILD = sorted(path for path in (CORPUS / "wild" / "gemini").glob("*") if path.is_file())

TEXTS = {
    "gemini": re.compile(
        r"(?:\$set/)?(?:messages/)?(?:content|displayContent|thoughts|toolCalls/(?:args|result))(?:/|$)"
    ),
    "claude": re.compile(r"message/content(?:/|$)|content$|summary$"),
    "codex": re.compile(
        r"payload/(?:content|summary)/text$|payload/(?:message|text|output|input|arguments)$"
    ),
}
"""Where words stand in the records of each agent: names of fields from the record on, lists left out."""
RECORDS = {
    "gemini": re.compile(""),
    "claude": re.compile("user|assistant|system"),
    "codex": re.compile("response_item|event_msg"),
}
NO_WORDS = {
    "id",
    "name",
    "type",
    "timestamp",
    "thoughtSignature",
    "signature",
    "mimeType",
    "data",
    "tool_use_id",
}
"""Fields inside these that hold ids, kinds and bytes."""
NOT_TOLD = {
    "gemini": re.compile(
        # How the CLI announces files that it puts in; the files themselves are told.
        r"--- (?:Content from referenced files|End of content) ---|Content from @.*:"
        # Where a picture stood in a text, told as an attachment.
        r"|<image/[\w.+-]+>"
        # What stands for an output that was masked; the whole output is told.
        r"|</?tool_output_masked>|\.\.\. \[\d+ lines omitted\] \.\.\."
        r"|Output too large\. Full output available at:.*"
        # Words around a command of shell mode and what it printed.
        r"|I ran the following shell command:|This produced the following result:|```(?:sh)?"
    ),
    "claude": re.compile(
        # Marks around a command, which is told as the human typed it.
        r"</?(?:command-(?:name|message|args|contents)|local-command-(?:stdout|caveat)"
        r"|bash-(?:input|stdout|stderr))>.*"
    ),
    "codex": re.compile(
        # Marks around a command of the human's, and the report on it.
        r"</?(?:user_shell_command|command|result)>|Exit code: -?\d+|Duration: [\d.]+ seconds|Output:"
    ),
}
"""Pieces that are not told, and why."""
_UNSEEN = re.compile("<!--(?:(?!<!--|-->).)*-->|[\u200b-\u200f\u2060\ufeff]", re.DOTALL)


def words(text: str) -> str:
    """A text without what nobody sees: comments, characters of no width, how it is broken into lines.

    Half a character can be told nowhere; U+FFFD stands for it.
    """
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return " ".join(_UNSEEN.sub("", whole).split())


def leaves(value: object, path: str = "") -> Iterator[tuple[str, str]]:
    """Every text in a value, with the names of the fields that lead to it."""
    match value:
        case str():
            yield path, value
        case list():
            for inner in value:
                yield from leaves(inner, path)
        case dict():
            for name, inner in value.items():
                yield from leaves(inner, f"{path}/{name}" if path else str(name))


def records_in(content: bytes, path: str) -> Iterator[dict[str, Any]]:
    """What a file holds, read in the most naive way."""
    text = content.decode("utf-8", "replace")
    for piece in [text] if path.endswith(".json") else text.splitlines():
        try:
            value = json.loads(piece)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            yield value


def texts_in(record: dict[str, Any], agent: str) -> Iterator[str]:
    """The texts of a record that are somebody's words."""
    if not RECORDS[agent].match(str(record.get("type", ""))):
        return
    for path, text in leaves(record):
        if TEXTS[agent].match(path) and path.rpartition("/")[2] not in NO_WORDS:
            yield from _inside(text)


def _inside(text: str) -> Iterator[str]:
    """A text, or those in the JSON that it is."""
    try:
        value = json.loads(text) if text.startswith(("{", "[")) else text
    except (ValueError, RecursionError):
        value = text
    yield from (inner for path, inner in leaves(value) if path.rpartition("/")[2] not in NO_WORDS)


def told_in(sessions: list[Session]) -> str:
    """All words that these sessions have to tell."""
    told = (text for one in sessions for _, text in leaves(json.loads(msgspec.json.encode(one))))
    return words(" \0 ".join(told))


def untold(told: str, text: str, agent: str) -> list[str]:
    """The pieces of a text that are not told."""
    if words(text) in told:
        return []
    pieces = map(words, re.split(r"(?<=>)|(?=<)|\n|(?<=\*\*)|(?=\*\*)", text))
    return [p for p in pieces if p and p not in told and not NOT_TOLD[agent].fullmatch(p) and p != "**"]


def check_file(source: Source, path: str, told: str) -> int:
    """Hold every text of a file against what is told; answers how many there were."""
    content = source.files().unpacked(Path(path)) or Path(path).read_bytes()
    number = 0
    for record in records_in(content, path):
        for text in texts_in(record, source.name):
            number += 1
            assert not (missing := untold(told, text, source.name)), f"{path}: {missing}"
    return number


@pytest.mark.parametrize("agent", AGENTS)
def test_every_text_of_a_fixture_is_told(agent: str) -> None:
    source, number = agents.load(agent), 0
    for home in (home for home in HOMES if home.parents[1].name == agent):
        number += check_home(source, home)
    assert number > 500


def check_home(source: Source, home: Path) -> int:
    found = read_sessions(source, home)
    told = told_in(found)
    files = {file.path for session in found for file in session.files if "log" not in file.format}
    return sum(check_file(source, path, told) for path in files)


def test_every_text_of_the_corpus_is_told(corpus: Path) -> None:
    homes = [home for home in HOMES if home.is_relative_to(corpus)]
    source = agents.load("gemini")
    chosen = random.Random(len(homes)).sample(homes, min(MOST_OF_CORPUS, len(homes)))
    assert sum(check_home(source, home) for home in chosen) > 100


@pytest.mark.parametrize("file", WILD, ids=lambda file: file.name)
def test_every_text_of_a_file_by_other_hands_is_told(file: Path) -> None:
    source = agents.load("gemini")
    reading = source.read_alone(file)
    assert reading is not None
    check_file(source, str(file), told_in(list(reading.sessions)))


# Written again with other words


def session_of(source_name: str, path: Path, records: list[dict[str, Any]]) -> Session:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    reading = agents.load(source_name).read_alone(path)
    assert reading is not None
    (session,) = reading.sessions
    return session


def said(session: Session) -> list[tuple[State, str]]:
    return [(message.state, _text(message)) for message in session.messages]


def _text(message: Message) -> str:
    parts = json.loads(msgspec.json.encode(message.parts))
    return " ".join(text for path, text in leaves(parts) if path.endswith("text"))


HEADER = {
    "sessionId": "55555555-0000-4000-8000-000000000005",
    "projectHash": "0" * 64,
    "startTime": "2026-08-04T12:00:00.000Z",
    "lastUpdated": "2026-08-04T12:00:00.000Z",
    "kind": "main",
}
FILE = "session-2026-08-04T12-00-55555555.jsonl"


def gemini_message(message_id: str, kind: str, content: Any, **fields: Any) -> dict[str, Any]:
    return {
        "id": message_id,
        "timestamp": "2026-08-04T12:00:01.000Z",
        "type": kind,
        "content": content,
        **fields,
    }


def restated(*messages: dict[str, Any]) -> dict[str, Any]:
    return {"$set": {"messages": list(messages)}}


def test_a_prompt_that_a_checkpoint_rewrites_is_told_in_both_versions(tmp_path: Path) -> None:
    first, last = (gemini_message("m1", "user", [{"text": text}]) for text in ("Old words", "New words"))
    answer = gemini_message("m2", "gemini", "Fine.", model="gemini-2.5-pro")
    session = session_of("gemini", tmp_path / FILE, [HEADER, restated(first), answer, restated(last, answer)])
    assert said(session) == [
        (State.SUPERSEDED, "Old words"),
        (State.CURRENT, "New words"),
        (State.CURRENT, "Fine."),
    ]
    assert session.counts.prompts == 1
    view = custodian_of(agents.load("gemini")).agent_view(tmp_path / FILE)
    assert view is not None
    assert [message["content"] for message in view["messages"]] == [[{"text": "New words"}], "Fine."]


def test_both_versions_are_found(tmp_path: Path) -> None:
    from geminids.library import open_library

    chats = tmp_path / "home" / ".gemini" / "tmp" / "alpha" / "chats"
    chats.mkdir(parents=True)
    first, last = (gemini_message("m1", "user", [{"text": text}]) for text in ("An okapi", "A gnu"))
    session_of("gemini", chats / FILE, [HEADER, restated(first), restated(last)])
    with open_library([str(tmp_path / "home")], str(tmp_path / "data")) as library:
        for query in ("okapi is:superseded", "gnu is:current"):
            assert library.search(query).total.matches == 1


@pytest.mark.parametrize("is_checkpoint", [False, True], ids=["line", "checkpoint"])
def test_an_answer_that_is_written_again_keeps_what_vanishes(tmp_path: Path, is_checkpoint: bool) -> None:
    def answered(text: str, result: str, thought: str) -> dict[str, Any]:
        response = {"functionResponse": {"id": "c1", "name": "ls", "response": {"output": result}}}
        call = {"id": "c1", "name": "ls", "args": {"path": "."}, "status": "success", "result": [response]}
        thoughts = [{"subject": "Looking", "description": thought, "timestamp": HEADER["startTime"]}]
        tokens = {"input": 5, "output": 5, "cached": 0, "thoughts": 0, "tool": 0, "total": 10}
        return gemini_message(
            "m2", "gemini", text, toolCalls=[call], thoughts=thoughts, model="g", tokens=tokens
        )

    prompt = gemini_message("m1", "user", [{"text": "Go"}])
    first = answered("The ibex answer", "an impala listed", "A thought of jaguars")
    last = answered("Another answer", "a kudu listed", "A thought of lemurs")
    again = restated(prompt, last) if is_checkpoint else last
    session = session_of("gemini", tmp_path / FILE, [HEADER, prompt, first, again])
    version, current = session.messages[1:]
    assert (version.state, current.state) == (State.SUPERSEDED, State.CURRENT)
    for word in ("ibex", "impala", "jaguars"):
        assert word in str(version.parts)
        assert word not in str(current.parts)
    assert "kudu" in str(current.parts)
    assert (session.counts.replies, session.counts.tool_calls, session.usage.total) == (1, 1, 10)


def test_an_answer_that_grows_is_one(tmp_path: Path) -> None:
    lines = [gemini_message("m2", "gemini", "A long answer"[:end], model="g") for end in (1, 6, 13)]
    session = session_of(
        "gemini", tmp_path / FILE, [HEADER, gemini_message("m1", "user", "Go"), *lines, restated(lines[-1])]
    )
    assert [text for state, text in said(session) if "A" in text] == ["A long answer"]


def test_a_copy_that_gets_other_words_tells_them(tmp_path: Path) -> None:
    def said_by_model(message_id: str, text: str) -> dict[str, Any]:
        return gemini_message(message_id, "gemini", text, model="g")

    # The checkpoint writes m2 again as m4, which then goes on.
    prompt = gemini_message("m1", "user", [{"text": "Go"}])
    records = [said_by_model("m2", "Fine"), restated(prompt, said_by_model("m4", "Fine"))]
    records += [said_by_model("m4", "Fine weather"), said_by_model("m4", "A storm")]
    session = session_of("gemini", tmp_path / FILE, [HEADER, *records])
    assert {"Fine", "Fine weather", "A storm"} <= {text for _, text in said(session)}
    assert (State.CURRENT, "A storm") in said(session)


def test_claude_a_record_that_is_written_again(tmp_path: Path) -> None:
    def record(uuid: str, kind: str, content: Any, parent: str | None) -> dict[str, Any]:
        message = {"role": kind, "content": content}
        if kind == "assistant":
            message |= {"id": "msg_1", "model": "claude", "usage": {"input_tokens": 3, "output_tokens": 4}}
        about = {"uuid": uuid, "parentUuid": parent, "sessionId": "s1", "timestamp": HEADER["startTime"]}
        return {"type": kind, "message": message, "isSidechain": False, **about}

    session = session_of(
        "claude",
        tmp_path / "s1.jsonl",
        [
            record("u1", "user", "First words", None),
            record("a1", "assistant", [{"type": "text", "text": "An answer"}], "u1"),
            record("u1", "user", "Other words", None),
            record("a1", "assistant", [{"type": "text", "text": "An answer that grew"}], "u1"),
        ],
    )
    assert said(session) == [
        (State.SUPERSEDED, "First words"),
        (State.CURRENT, "Other words"),
        (State.CURRENT, "An answer that grew"),
    ]
    assert (session.counts.prompts, session.counts.replies) == (1, 1)


def test_codex_an_output_that_is_written_again(tmp_path: Path) -> None:
    def record(kind: str, **payload: Any) -> dict[str, Any]:
        return {"timestamp": HEADER["startTime"], "type": kind, "payload": payload}

    thread = "01a1e10e-dde8-7fb1-a564-1e3a51c4396a"
    call = {"type": "function_call", "call_id": "c1", "name": "shell", "arguments": "{}"}
    outputs = ("a zebra", "a zebra and a yak", "a vole")
    session = session_of(
        "codex",
        tmp_path / f"rollout-2026-01-01T00-00-00-{thread}.jsonl",
        [
            record(
                "session_meta", id=thread, timestamp=HEADER["startTime"], cwd="/tmp", cli_version="0.166.0"
            ),
            record("response_item", **call),
            *(
                record("response_item", type="function_call_output", call_id="c1", output=output)
                for output in outputs
            ),
        ],
    )
    asked, before = session.messages
    assert "a vole" in str(asked.tool_calls[0].result)
    assert (before.state, before.origin) == (State.SUPERSEDED, Origin.TOOL)
    assert [type(part) for part in before.parts] == [ToolResult]
    assert "a zebra and a yak" in str(before.parts)


WORDS = some.text(alphabet="abcdefghij ", min_size=1, max_size=12)


@some.composite
def rewritten_histories(draw: some.DrawFn) -> list[dict[str, Any]]:
    """Records of a log in which messages are written, written again, restated and taken back."""
    records: list[dict[str, Any]] = [HEADER]
    ids = ["m1", "m2", "m3", "m4"]
    kinds = {"m1": "user", "m2": "gemini", "m3": "user", "m4": "gemini"}
    for _ in range(draw(some.integers(1, 9))):
        message_id = draw(some.sampled_from(ids))

        def version(one: str) -> dict[str, Any]:
            text = draw(WORDS)
            content: Any = [{"text": text}] if kinds[one] == "user" else text
            return gemini_message(
                one, kinds[one], content, **({"model": "g"} if kinds[one] == "gemini" else {})
            )

        match draw(some.sampled_from(["line", "line", "checkpoint", "rewind"])):
            case "line":
                records.append(version(message_id))
            case "checkpoint":
                chosen = draw(some.lists(some.sampled_from(ids), unique=True, max_size=4))
                records.append(restated(*map(version, chosen)))
            case _:
                records.append({"$rewindTo": message_id})
    return records


@given(records=rewritten_histories())
@settings(max_examples=examples(150), deadline=None)
def test_every_text_of_any_history_is_told(
    tmp_path_factory: pytest.TempPathFactory, records: list[dict[str, Any]]
) -> None:
    path = tmp_path_factory.mktemp("history") / FILE
    session = session_of("gemini", path, records)
    told = told_in([session])
    for record in records[1:]:
        for text in texts_in(record, "gemini"):
            assert words(text) in told, (text, records)
    assert custodian_of(agents.load("gemini")).agent_view(path) is not None
    assert len({message.id for message in session.messages}) == len(session.messages)
