"""What the human typed: every line that Gemini CLI logged, tied to its session or lost, with the reason.

The truth is what the recording rig typed, and what a plain look into the session files finds; what the
CLI itself did not log, or logged in other words, is listed here by name with the reason.
"""

from __future__ import annotations

import json
import os
import random
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from geminids.agents.gemini import GeminiSource
from geminids.agents.gemini.companions import absence, lost, prompt_log
from geminids.agents.gemini.companions.absence import Absence
from geminids.agents.gemini.companions.lost import Joined, join
from geminids.agents.gemini.companions.prompt_log import PromptLog, read_prompt_log
from geminids.agents.gemini.companions.shell_history import read_shell_history
from geminids.core.agents.base import Companions, FoundFile, Reading
from geminids.core.agents.traces import Said, Trace, key, trace
from geminids.core.model import (
    CompanionKind,
    LineKind,
    Origin,
    ProblemKind,
    Project,
    SessionKind,
    TypedLine,
    folder_hash,
)
from geminids.core.timestamps import parse_time
from geminids.library import open_library
from geminids.reading.bundles import shelves
from tests.conftest import CORPUS, FIXTURES, RecordProperty, Rights
from tests.support.accounts import accounted
from tests.support.connections import to_be_closed
from tests.support.homes import FIRST_ID, write_session
from tests.support.reading import scans

SOURCE = GeminiSource()
MORE_RECORDINGS = Path(os.environ.get("GEMINIDS_RECORDINGS", CORPUS / "companions"))
"""Where the rig put recordings that are not in the corpus."""
RECORDINGS = sorted(
    path.parent
    for folder in (CORPUS / "real", MORE_RECORDINGS)
    for path in folder.glob("*/*/manifest.json")
    if any(path.parent.glob("*/.gemini/tmp/*/logs.json"))
)
CASES = sorted({log.parents[4] for log in FIXTURES.glob("gemini/*/home/.gemini/tmp/*/logs.json")})
NOBODY = Project(None, None, None, None)
NOTHING_BESIDE = Companions("gemini", NOBODY, (), ())
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
KINDS = {"prompt": LineKind.PROMPT, "slash": LineKind.COMMAND, "shell": LineKind.SHELL}
LOST = {lost.LOST, lost.LOST_AFTER_CLEAR, lost.LOST_AFTER_RESUME}

DIFFERS = {
    "i-dirs": "The CLI completes the path with a slash before it sends and logs the line.",
    "c-chat": "The input line of 0.11 loses an ß that is typed.",
    "c-log-damaged": "The rig cut the log off in the middle of a line, and wrote over it twice.",
    "c-log-two": "Two CLIs write the log at the same time, and the later one wins.",
}
"""Scenarios in which the log itself is not what was typed, and why."""

CASE_DIFFERS = {
    "imported": "Its second run had no screen, and such runs are not logged.",
    "declined-and-resumed": "Its second run had no screen, and such runs are not logged.",
    "interrupted-placeholder": "Its second run had no screen, and such runs are not logged.",
    "no-header": "Its second run had no screen, and such runs are not logged.",
    "log-damaged": "The rig cut the log off, wrote over it, and put foreign lines in.",
}


class Typed(NamedTuple):
    """A line as the rig typed it."""

    run: int
    kind: LineKind
    text: str


class Spoken(NamedTuple):
    """A user message as a plain look finds it in a session file."""

    native_id: str
    words: str
    at: datetime


def typed_in(scenario: Path) -> list[Typed]:
    """What the rig typed into a CLI that logs it: one with a screen."""
    manifest = json.loads((scenario / "manifest.json").read_bytes())
    sent = set(manifest["truth"]["slash_sent_to_model"])
    return [
        Typed(
            run["n"], LineKind.PROMPT if line["text"] in sent else KINDS[line["kind"]], line["text"].strip()
        )
        for run in manifest["runs"]
        if run["mode"] == "interactive"
        for line in run.get("typed") or ()
        if line["kind"] in KINDS
    ]


def read_home(home: Path) -> Joined:
    """All lines of a home, and what was lost in it."""
    joined = [join_shelf(shelf) for shelf in shelves(list(scans(SOURCE, home)))]
    typed = sorted((line for one in joined for line in one.typed), key=lambda line: line.at or NOON)
    sessions = tuple(session for one in joined for session in one.lost)
    return Joined(tuple(typed), sessions, {tag: i for one in joined for tag, i in one.saved_in.items()})


def join_shelf(shelf: Any) -> Joined:
    sessions = (session for bundle in shelf.bundles for session in SOURCE.read(bundle).sessions)
    traces = list(map(trace, sessions))
    files = shelf.companions.files
    logs = [read_prompt_log(beside.file) for beside in files if beside.kind is CompanionKind.PROMPT_LOG]
    for log in logs:
        assert accounted(log.account) == log.account.size == Path(log.account.path).stat().st_size
    histories = [read_shell_history(b.file) for b in files if b.kind is CompanionKind.SHELL_HISTORY]
    commands = [command for history in histories for command in history.commands]
    return join(logs, traces, commands, shelf.companions.project, Absence(shelf.companions, traces))


def spoken_in(home: Path) -> Iterator[Spoken]:
    """Every user message in the files of a home, found in the most naive way."""
    for file in sorted(home.glob(".gemini/tmp/*/chats/session-*.json*")):
        if file.name.endswith(".oracle.json"):
            continue
        text = file.read_text("utf-8", errors="replace")
        records = [json.loads(text)] if file.suffix == ".json" else map(json.loads, text.splitlines())
        native_id = ""
        for record in records:
            native_id = record.get("sessionId") or native_id
            if start := parse_time(record.get("startTime")):
                yield Spoken(native_id, "", start)
            messages = [record, *record.get("messages", ()), *record.get("$set", {}).get("messages", ())]
            for message in messages:
                at = parse_time(message.get("timestamp"))
                if message.get("type") == "user" and at:
                    for content in (message.get("content"), message.get("displayContent")):
                        yield Spoken(native_id, words(flat(content)), at)


def flat(content: object) -> str:
    match content:
        case str():
            return content
        case list():
            return " ".join(part.get("text") or "" for part in content if isinstance(part, dict))
        case _:
            return ""


def words(text: str) -> str:
    return " ".join(text.split())


def name(scenario: Path) -> str:
    return "-".join(scenario.parts[-2:])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_lines_of_fixtures_are_what_was_typed(case: Path) -> None:
    truth = json.loads((case / "truth.json").read_bytes())
    sent = truth["slash_sent_to_model"]
    expected: Counter[tuple[str, str]] = Counter()
    for run in truth["per_run"]:
        expected.update(("prompt", text.strip()) for text in run["human_prompts"])
        expected.update(("prompt" if text in sent else "command", text) for text in run["slash_commands"])
        expected.update(("shell", text) for text in run["shell_mode_commands"])
    found = Counter((line.kind.value, line.text) for line in read_home(case / "home").typed)
    assert (found == expected) is (case.name not in CASE_DIFFERS), (expected - found, found - expected)


@pytest.mark.parametrize("scenario", RECORDINGS, ids=name)
def test_lines_are_what_was_typed(scenario: Path) -> None:
    typed, read = typed_in(scenario), read_home(scenario / "home").typed
    expected = Counter((line.kind, line.text) for line in typed)
    found = Counter((line.kind, line.text) for line in read)
    missing, extra = expected - found, found - expected
    if missing or extra:
        assert scenario.name in DIFFERS, (missing, extra)
        logged = b"".join(log.read_bytes() for log in scenario.glob("home/.gemini/tmp/*/logs.json*"))
        times = Counter(line.text for line in read)
        for _, text in missing:
            assert logged.count(json.dumps(text, ensure_ascii=False).encode() + b",\n") == times[text], text
    for run in {line.run for line in typed}:
        texts = [line.text for line in typed if line.run == run and not missing[line.kind, line.text]]
        assert is_subsequence(texts, [line.text for line in read])


def is_subsequence(some_of: Sequence[str], all_of: Sequence[str]) -> bool:
    rest = iter(all_of)
    return all(text in rest for text in some_of)


@pytest.mark.parametrize("scenario", RECORDINGS, ids=name)
def test_lines_of_a_moment_in_between_are_what_had_been_typed_by_then(scenario: Path) -> None:
    typed = [line.text for line in typed_in(scenario)]
    for home in scenario.glob("snap-*"):
        read = [line.text for line in read_home(home).typed]
        assert read
        if scenario.name not in DIFFERS:
            assert read == typed[: len(read)]


@pytest.mark.parametrize("scenario", RECORDINGS, ids=name)
def test_lines_are_tied_to_the_session_that_holds_them_or_lost(scenario: Path) -> None:
    runs = json.loads((scenario / "manifest.json").read_bytes())["runs"]
    for home in (scenario / "home", *scenario.glob("snap-*")):
        read, spoken = read_home(home), list(spoken_in(home))
        there = {message.native_id for message in spoken}
        assert there.isdisjoint(session.native_id for session in read.lost), home
        for line in read.typed:
            check_tie(line, read, spoken, runs)


def check_tie(
    line: TypedLine, read: Joined, spoken: Sequence[Spoken], runs: Sequence[dict[str, Any]]
) -> None:
    holders = {message.native_id for message in spoken if is_same(line, message)}
    native_id = line.session_id and line.session_id.removeprefix("gemini:")
    if holders:
        assert native_id in holders, line
        assert line.missing is None or line.kind is LineKind.COMMAND
    elif native_id in {session.native_id for session in read.lost}:
        assert line.missing in LOST
    elif native_id:
        assert native_id in sessions_of_the_moment(line, spoken, runs), line
        # Before 0.28 only what a command was expanded to is in the file.
        assert line.missing or line.text.startswith(("/tell", "/greet")) or "`" in line.text
    else:
        assert line.missing in (lost.NO_PROMPT, lost.NO_ID)


def is_same(line: TypedLine, message: Spoken) -> bool:
    near = line.at and timedelta(seconds=-1) < message.at - line.at < timedelta(seconds=5)
    return bool(near) and words(line.text) in message.words


def sessions_of_the_moment(
    line: TypedLine, spoken: Sequence[Spoken], runs: Sequence[dict[str, Any]]
) -> set[str]:
    """The sessions that were written to by the runs in which a line may have been typed."""
    if line.at is None:
        return {message.native_id for message in spoken}
    moment = line.at.timestamp()
    spans = [(run["t_start"], run["t_end"]) for run in runs if run["t_start"] <= moment <= run["t_end"] + 1]
    return {m.native_id for m in spoken if any(a <= m.at.timestamp() <= b for a, b in spans)}


@pytest.mark.slow
def test_counts_of_the_corpus(corpus: Path, record_property: RecordProperty) -> None:
    ties: Counter[str] = Counter()
    lost_sessions = 0
    for scenario in RECORDINGS:
        for home in (scenario / "home", *scenario.glob("snap-*")):
            read = read_home(home)
            ties.update(f"{line.kind}: {line.missing or 'in its session'}" for line in read.typed)
            lost_sessions += len(read.lost)
    counts = f"{ties.total()} typed lines in {len(RECORDINGS)} scenarios, {lost_sessions} lost sessions"
    record_property("counts", counts)
    for reason, number in ties.most_common():
        record_property("counts", f"  {number:4} {reason}")


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("scenario", RECORDINGS, ids=name)
def test_exactly_the_sessions_that_are_deleted_become_lost(scenario: Path, seed: int, tmp_path: Path) -> None:
    chosen = random.Random(f"{scenario}{seed}")
    home = tmp_path / "home"
    shutil.copytree(scenario / "home" / ".gemini" / "tmp", home / ".gemini" / "tmp")
    before = read_home(home)
    there = sorted({message.native_id for message in spoken_in(home)})
    deleted = {native_id for native_id in there if chosen.random() < (seed + 1) / 3}
    for file in home.glob(".gemini/tmp/*/chats/session-*"):
        if any(native_id[:8] in file.name for native_id in deleted):
            file.unlink()
    after = read_home(home)
    assert not deleted & {line.session_id and line.session_id[7:] for line in after.typed if not line.missing}
    gone = [line for line in before.typed if is_prompt_of(line, deleted)]
    already = [m for session in before.lost for m in session.messages if m.origin is Origin.HUMAN]
    expected = Counter(
        [(line.text, line.at) for line in gone] + [(m.text(Origin.HUMAN), m.at) for m in already]
    )
    found = [m for session in after.lost for m in session.messages if m.origin is Origin.HUMAN]
    assert Counter((m.text(Origin.HUMAN), m.at) for m in found) == expected
    for was, now in zip(before.typed, after.typed, strict=True):
        assert was.text == now.text
        if is_prompt_of(was, deleted):
            assert now.missing in LOST
        elif was.kind is LineKind.PROMPT and was.session_id and was.session_id[7:] not in deleted:
            assert was == now


def is_prompt_of(line: TypedLine, sessions: set[str]) -> bool:
    """Whether a line is a prompt of these sessions, and looks like one without them too."""
    is_prompt = line.kind is LineKind.PROMPT and line.missing != lost.LOST
    is_told = not line.text.startswith("/") or "/" in line.text.split()[0][1:]
    return is_prompt and is_told and line.session_id is not None and line.session_id[7:] in sessions


# -- reading ---------------------------------------------------------------------------------------------


def entry(number: int = 0, text: object = "Hello", **fields: object) -> dict[str, object]:
    at = (NOON + timedelta(seconds=10 * number)).isoformat()
    sound = {"sessionId": "one", "messageId": number, "type": "user", "message": text, "timestamp": at}
    return sound | fields


def read(folder: Path, content: bytes, limit: int | None = None) -> PromptLog:
    path = folder / "logs.json"
    path.write_bytes(content)
    log = read_prompt_log(FoundFile(path, len(content), 0, 0), limit)
    assert accounted(log.account) == log.account.size == len(content)
    return log


def written(*entries: object, indent: int | None = 2) -> bytes:
    return json.dumps(entries, indent=indent, ensure_ascii=False).encode(errors="replace")


def problems(log: PromptLog) -> list[ProblemKind]:
    return [problem.kind for problem in log.problems]


def test_lines_have_their_places(tmp_path: Path) -> None:
    content = written(entry(0), entry(1, "How\nare you?"))
    log = read(tmp_path, content)
    assert [(line.message_id, line.text, line.place.line) for line in log.lines] == [
        (0, "Hello", 2),
        (1, "How\nare you?", 9),
    ]
    for line in log.lines:
        assert json.loads(content[line.place.start : line.place.end])["message"] == line.text
    assert not log.problems


@pytest.mark.parametrize(
    ("content", "expected", "trouble"),
    [
        (b"", [], [ProblemKind.EMPTY]),
        (b" \n", [], [ProblemKind.EMPTY]),
        (b"[]", [], []),
        (b'{"not": "a list"}', [], [ProblemKind.WRONG_TYPE]),
        (b"\xef\xbb\xbf" + written(entry()), ["Hello"], []),
        (written(entry(), indent=None), ["Hello"], []),
        (written(entry(), 7, None, entry(1, 5)), ["Hello"], [ProblemKind.WRONG_TYPE] * 3),
        (written(entry(sessionId=None, messageId="0", timestamp=3)), ["Hello"], [ProblemKind.WRONG_TYPE]),
        (written({"message": "alone"}), ["alone"], [ProblemKind.WRONG_TYPE]),
        (written(entry(type="model"), entry(1)), ["Hello"], []),
        (written(entry(text=" ")), [], []),
        (written(entry()).replace(b"Hello", b"h\\udc00alf"), ["h�alf"], [ProblemKind.BAD_TEXT]),
        (written(entry()).replace(b"Hello", b"H\xffllo"), ["H�llo"], [ProblemKind.BAD_TEXT]),
        (written(entry(), entry(1))[:-1], ["Hello", "Hello"], []),
        (written(entry(), entry(1)).rpartition(b'"type"')[0], ["Hello"], [ProblemKind.BAD_JSON]),
        (written(entry(), entry(1)).rpartition(b"lo")[0], ["Hello", "Hel"], [ProblemKind.BAD_JSON]),
        (
            written(entry(), entry(1, "x")).replace(b'"one"', b'"one', 1),
            ["x"],
            [ProblemKind.BAD_JSON],
        ),
    ],
)
def test_what_is_there_is_read_and_the_rest_reported(
    tmp_path: Path, content: bytes, expected: list[str], trouble: list[ProblemKind]
) -> None:
    log = read(tmp_path, content)
    assert ([line.text for line in log.lines], problems(log)) == (expected, trouble)


def test_a_log_that_cannot_be_opened_is_a_problem(tmp_path: Path) -> None:
    log = read_prompt_log(FoundFile(tmp_path / "logs.json", 12, 0, 0), None)
    assert (log.lines, problems(log), accounted(log.account)) == ((), [ProblemKind.UNREADABLE], 12)


def test_with_a_limit_the_newest_lines_are_read(tmp_path: Path) -> None:
    content = written(*(entry(number, f"line {number}") for number in range(100)))
    log = read(tmp_path, content, limit=len(content) // 10)
    assert [line.text for line in log.lines] == [f"line {number}" for number in range(91, 100)]
    assert problems(log) == [ProblemKind.LEFT_UNREAD]
    assert read(tmp_path, content, limit=0).lines == ()


def test_long_lines_are_read_whole(tmp_path: Path) -> None:
    text = "wörter \n" * 700_000
    content = written(entry(0, text), entry(1))
    for log in (read(tmp_path, content), read(tmp_path, content[:-3])):
        assert [line.text for line in log.lines] == [text, "Hello"]
        assert log.lines[0].key == key(text)


def test_of_a_log_longer_than_any_the_newest_lines_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prompt_log, "_MOST_READ", 10_000)
    log = read(tmp_path, written(*(entry(number) for number in range(1_000))))
    assert [line.message_id for line in log.lines] == list(range(1_000 - len(log.lines), 1_000))
    assert 50 < len(log.lines) < 100
    assert problems(log) == [ProblemKind.LEFT_UNREAD]


def test_a_long_log_is_read_block_by_block_and_loses_no_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = written(*(entry(number, "w" * number * 10) for number in range(200)))
    monkeypatch.setattr(prompt_log, "_READ_AT_ONCE", 1_000)
    monkeypatch.setattr(prompt_log, "_BLOCK", 500)
    log = read(tmp_path, content)
    assert [line.message_id for line in log.lines] == list(range(1, 200))
    assert [line.place.line for line in log.lines] == [2 + 7 * number for number in range(1, 200)]
    assert (problems(log), accounted(log.account)) == ([], len(content))


def test_of_a_long_log_on_one_line_nothing_is_read(tmp_path: Path) -> None:
    content = written(*(entry(number) for number in range(100)), indent=None)
    log = read(tmp_path, content, limit=1_000)
    assert (log.lines, problems(log)) == ((), [ProblemKind.LEFT_UNREAD])
    assert log.account.problem["left-unread"].bytes == len(content)


def test_shell_history_is_read_as_the_cli_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "shell_history"
    path.write_bytes(b"ls\n\nmake \\\n  check\r\necho \\\\\nlast \xff")
    history = read_shell_history(FoundFile(path, path.stat().st_size, 0, 0), None)
    assert history.commands == ("ls", "make    check", "echo \\\\", "last �")
    assert accounted(history.account) == history.account.size == path.stat().st_size
    assert [problem.kind for problem in history.problems] == [ProblemKind.BAD_TEXT]


ANYTHING = some.recursive(
    some.none() | some.booleans() | some.integers() | some.text(max_size=20) | some.just("user"),
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(some.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
FIELDS = some.sampled_from(["sessionId", "messageId", "type", "message", "timestamp"])
ENTRIES = (
    some.builds(lambda changes: entry() | changes, some.dictionaries(FIELDS, ANYTHING, max_size=3)) | ANYTHING
)


@pytest.mark.slow
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    entries=some.lists(ENTRIES, max_size=6),
    indent=some.sampled_from([None, 2, 4]),
    cut=some.tuples(some.integers(0, 2_000), some.integers(0, 2_000)),
    noise=some.binary(max_size=12),
    limit=some.none() | some.integers(0, 1_000),
    at_once=some.sampled_from([100, 32_000_000]),
)
def test_hostile_logs_are_accounted_for(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    entries: list[object],
    indent: int | None,
    cut: tuple[int, int],
    noise: bytes,
    limit: int | None,
    at_once: int,
) -> None:
    monkeypatch.setattr(prompt_log, "_READ_AT_ONCE", at_once)
    monkeypatch.setattr(prompt_log, "_BLOCK", 50)
    content = written(*entries, indent=indent)
    start, end = (min(place, len(content)) for place in sorted(cut))
    log = read(tmp_path, content[:start] + noise + content[end:], limit)
    holds_hello = session("one", said("Hello", 0))
    joined = join([log, log], [holds_hello], ["ls"], NOBODY, Absence(NOTHING_BESIDE, [holds_hello]))
    assert len(joined.typed) <= len(log.lines)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(entries=some.lists(ENTRIES, max_size=8), block=some.integers(1, 300))
def test_reading_line_by_line_finds_the_same_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entries: list[object], block: int
) -> None:
    content = written(*(one for one in entries if isinstance(one, dict)))
    with monkeypatch.context() as patch:
        at_once = read(tmp_path, content)
        patch.setattr(prompt_log, "_READ_AT_ONCE", 100)
        patch.setattr(prompt_log, "_BLOCK", block)
        in_pieces = read(tmp_path, content)
    spans = [[(line.text, line.place.line, line.place.start, line.place.end) for line in log.lines]
             for log in (at_once, in_pieces)]  # fmt: skip
    assert spans[0] == spans[1]


# -- joining ---------------------------------------------------------------------------------------------


def said(text: str, seconds: float, origin: Origin = Origin.HUMAN, *, imported: bool = False) -> Said:
    return Said(origin, key(text), NOON + timedelta(seconds=seconds + 0.1), imported)


def session(native_id: str, *words_said: Said, began: float | None = None) -> Trace:
    times = [one.at for one in words_said if one.at]
    times += [] if began is None else [NOON + timedelta(seconds=began)]
    return Trace(
        f"gemini:{native_id}",
        native_id,
        SessionKind.MAIN,
        min(times, default=None),
        max(times, default=None),
        words_said,
        frozenset(),
        frozenset({"gemini-jsonl"}),
    )


def joined_logs(logs: Sequence[PromptLog], *traces: Trace, shell: Sequence[str] = ()) -> Joined:
    return join(logs, traces, shell, NOBODY, Absence(NOTHING_BESIDE, traces))


def joined(folder: Path, entries: Sequence[object], *traces: Trace, shell: Sequence[str] = ()) -> Joined:
    return joined_logs([read(folder, written(*entries))], *traces, shell=shell)


def ties_of(found: Joined) -> list[tuple[str, str | None]]:
    return [(line.kind.value, line.session_id and line.session_id[7:]) for line in found.typed]


def test_equal_prompts_are_tied_to_the_messages_of_their_time(tmp_path: Path) -> None:
    entries = [entry(0, "go on"), entry(1, "/clear"), entry(2, "go on"), entry(3, "go on")]
    next_one = session("two", said("go on", 30), began=10.1)
    found = joined(tmp_path, entries, session("one", said("go on", 0)), next_one)
    assert ties_of(found) == [
        ("prompt", "one"),
        ("command", "one"),
        ("prompt", "two"),
        ("prompt", "two"),
    ]
    assert [line.missing for line in found.typed] == [
        None, lost.COMMAND_NOT_RECORDED, lost.UNKNOWN, None
    ]  # fmt: skip
    assert not found.lost


def test_a_line_without_a_time_is_tied_by_its_words(tmp_path: Path) -> None:
    found = joined(tmp_path, [entry(0, timestamp="soon")], session("one", said("Hello", 500)))
    assert ties_of(found) == [("prompt", "one")]
    assert found.typed[0].missing is None


def test_words_taken_over_from_another_session_were_not_typed_in_this_one(tmp_path: Path) -> None:
    found = joined(tmp_path, [entry(0)], session("two", said("Hello", 0, imported=True)))
    assert ties_of(found) == [("prompt", "one")]
    assert [one.native_id for one in found.lost] == ["one"]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("/stats model", "command"),
        ("?", "command"),
        ("/etc/hosts what is this", "prompt"),
        ("// a comment", "prompt"),
        ("/* another */", "prompt"),
        ("? what", "command"),
        ("ls -l", "shell"),
        ("make \\\n  check", "shell"),
        ("one\ntwo", "shell"),
        ("one\nthree", "prompt"),
    ],
)
def test_lines_are_told_apart_by_their_looks_and_the_shell(tmp_path: Path, text: str, kind: str) -> None:
    found = joined(tmp_path, [entry(0, text)], shell=["ls -l", "make   check", "one", "two"])
    assert found.typed[0].kind.value == kind


@pytest.mark.parametrize(
    ("origin", "kind"), [(Origin.HUMAN, "prompt"), (Origin.COMMAND, "command"), (Origin.SHELL, "shell")]
)
@pytest.mark.parametrize("text", ["/greet Ana", "ls -l", "plain words"])
def test_lines_are_told_apart_by_the_message_that_holds_them(
    tmp_path: Path, text: str, origin: Origin, kind: str
) -> None:
    found = joined(tmp_path, [entry(0, text)], session("one", said(text, 0, origin)), shell=["ls -l"])
    assert ties_of(found) == [(kind, "one")]


def test_words_that_were_changed_on_the_way_are_known_by_the_moment(tmp_path: Path) -> None:
    changed = session("one", said("Greet Ana.", 0), said("echo \\`", 10, Origin.SHELL), said("@docs/**", 20))
    found = joined(tmp_path, [entry(0, "/greet Ana"), entry(1, "echo `"), entry(2, "@docs/")], changed)
    assert ties_of(found) == [("command", "one"), ("shell", "one"), ("prompt", "one")]
    assert not any(line.missing for line in found.typed)


def test_what_follows_a_clear_or_a_resume_is_lost_alone(tmp_path: Path) -> None:
    lines = ["Hello", "/clear", "one", "/new", "two", "/resume", "three", "/quit", "four", "/clear", "/quit"]
    entries = [entry(number, text) for number, text in enumerate(lines)]
    found = joined(tmp_path, entries, session("one", said("Hello", 0), said("four", 80)))
    assert [(one.native_id, one.title, one.summary) for one in found.lost] == [
        ("one#after-clear-1", "one", lost.LOST_AFTER_CLEAR),
        ("one#after-clear-2", "two", lost.LOST_AFTER_CLEAR),
        ("one#after-resume-1", "three", lost.LOST_AFTER_RESUME),
    ]
    assert found.typed[-1].session_id is None


@pytest.mark.parametrize(
    ("words_said", "owner"),
    [
        ((), "two"),
        ((said("changed on the way", 20),), "two"),
        ((said("of a neighbour", 10.5),), "one#after-clear-1"),
    ],
)
def test_a_session_that_begins_with_the_clear_is_the_next_one_if_it_can_be(
    tmp_path: Path, words_said: Sequence[Said], owner: str
) -> None:
    begun = session("two", *words_said, began=10.2)
    found = joined(tmp_path, [entry(0), entry(1, "/clear"), entry(2, "words")], begun)
    assert ties_of(found)[2] == ("prompt", owner)


def test_words_of_a_neighbour_a_while_later_are_not_those_of_the_line(tmp_path: Path) -> None:
    found = joined(tmp_path, [entry(0, "continue"), entry(60, "next")], session("two", said("continue", 8)))
    assert ties_of(found) == [("prompt", "one"), ("prompt", "one")]


def test_one_line_in_common_does_not_give_a_neighbour_the_others(tmp_path: Path) -> None:
    entries = [entry(0, "before"), entry(1, "continue"), entry(60, "next"), entry(61, "/quit")]
    neighbour = session("two", said("continue", 10))
    found = joined(tmp_path, entries, neighbour)
    assert ties_of(found) == [
        ("prompt", "one"),
        ("prompt", "two"),
        ("prompt", "one"),
        ("command", "one"),
    ]
    (only,) = found.lost
    assert only.counts.prompts == 2


@pytest.mark.parametrize(
    "resumed",
    [
        session("two", said("weeks ago", -1_000_000), said("continue", 10)),
        session("two", said("continue", 10), said("and on", 20)),
    ],
)
def test_a_session_that_was_resumed_has_the_lines_around(tmp_path: Path, resumed: Trace) -> None:
    entries = [entry(0, "failed"), entry(1, "continue"), entry(2, "and on"), entry(61, "/quit")]
    assert {owner for _, owner in ties_of(joined(tmp_path, entries, resumed))} == {"two"}


def test_commands_are_with_the_only_prompt(tmp_path: Path) -> None:
    found = joined(
        tmp_path, [entry(0, "/stats"), entry(1), entry(2, "/quit")], session("two", said("Hello", 10))
    )
    assert [owner for _, owner in ties_of(found)] == ["two", "two", "two"]


def test_a_lost_session_holds_what_remains(tmp_path: Path) -> None:
    entries = [entry(0, "/stats"), entry(1, "What is\nleft?"), entry(1, "ls"), entry(2, "/chat save my tag")]
    found = joined(tmp_path, [*entries, entry(3, "/quit", sessionId="other")], shell=["ls"])
    (only,) = found.lost
    assert (only.id, only.kind, only.title, only.counts.prompts) == ("gemini:one", "lost", "What is left?", 1)
    assert [(m.id, m.origin, m.text(Origin.HUMAN)) for m in only.messages] == [
        ("line-0", "command", "/stats"),
        ("line-1", "human", "What is\nleft?"),
        ("line-1-2", "shell", "ls"),
        ("line-2", "command", "/chat save my tag"),
    ]
    assert (only.started_at, only.ended_at) == (NOON, NOON + timedelta(seconds=20))
    assert [Path(file.path).name for file in only.files] == ["logs.json"]
    assert only.summary == found.typed[0].missing == lost.LOST
    assert found.saved_in == {"my tag": "one"}
    assert (found.typed[-1].session_id, found.typed[-1].missing) == (None, lost.NO_PROMPT)


def test_copies_of_a_log_hold_the_same_lines(tmp_path: Path) -> None:
    (tmp_path / "hash").mkdir()
    (tmp_path / "slug").mkdir()
    copies = [read(tmp_path / name, written(entry(0), entry(1))) for name in ("hash", "slug")]
    found = joined_logs(copies)
    assert len(found.typed) == 2
    (only,) = found.lost
    assert len(only.files) == 2
    assert [len(message.also_at) for message in only.messages] == [1, 1]


def logs_of(folder: Path, *contents: bytes) -> list[PromptLog]:
    """Several logs of one project."""
    logs = []
    for number, content in enumerate(contents):
        (folder / str(number)).mkdir()
        logs.append(read(folder / str(number), content))
    return logs


def test_a_line_without_a_time_is_one_line_in_all_copies(tmp_path: Path) -> None:
    content = written(entry(0, "again", timestamp=None), entry(0, "again", timestamp=None), entry(1))
    found = joined_logs(logs_of(tmp_path, content, content))
    assert [line.text for line in found.typed] == ["again", "again", "Hello"]


@pytest.mark.parametrize("order", [1, -1])
def test_the_beginning_of_a_line_in_a_log_that_was_cut_is_that_line(tmp_path: Path, order: int) -> None:
    whole = written(entry(0), entry(1, "More wörds"))
    middle = whole.index(b"More") + 2
    # The second of these is in the middle of a character.
    cuts = [whole[:middle], whole[: middle + 5], whole[: middle + 6]]
    found = joined_logs(logs_of(tmp_path, *[whole, *cuts][::order]))
    assert [line.text for line in found.typed] == ["Hello", "More wörds"]
    assert [len(message.also_at) for message in found.lost[0].messages] == [3, 3]


def test_the_beginning_of_another_line_is_a_line_of_its_own(tmp_path: Path) -> None:
    # After a log was set aside, the numbers begin again.
    cut = written(entry(0, "One thing more")).partition(b"more")[0]
    later = written(entry(0, "Another thing"), entry(1, "One thing more"))
    found = joined_logs(logs_of(tmp_path, cut, later))
    assert [line.text for line in found.typed] == ["One thing ", "Another thing", "One thing more"]


# -- what is not gone ------------------------------------------------------------------------------------

OTHER_ID = "2e1d8b3c-0000-4000-8000-000000000002"


def home_with_log(home: Path, native_id: str = FIRST_ID, *lines: str) -> Path:
    """A home with a session and a log of it; the file of the session."""
    file = write_session(home, native_id)
    entries = [entry(n, text, sessionId=native_id) for n, text in enumerate(lines or ("Hello",))]
    (file.parents[1] / "logs.json").write_bytes(written(*entries))
    return file


def reason_in(*homes: Path) -> str | None:
    """Why the only lost session in some homes is lost."""
    shelf = shelves([scan for home in homes for scan in scans(SOURCE, home)])
    (only,) = (session for one in shelf for session in join_shelf(one).lost)
    assert only.messages
    return only.summary


def emptied(file: Path) -> None:
    file.write_bytes(b"")


def zeroed(file: Path) -> None:
    file.write_bytes(bytes(5_000))


def linked(file: Path) -> None:
    file.symlink_to(file.rename(file.parents[1] / "elsewhere"))


def renamed(file: Path) -> None:
    file.rename(file.with_name(file.name + ".bak"))


def closed(file: Path) -> None:
    file.chmod(0)


def folder_closed(file: Path) -> None:
    file.parent.chmod(0)


def folder_not_entered(file: Path) -> None:
    file.parent.chmod(0o644)


def folder_linked(file: Path) -> None:
    file.parent.symlink_to(file.parent.rename(file.parents[1] / "elsewhere"))


def of_other(file: Path) -> None:
    file.write_text(file.read_text().replace(FIRST_ID, OTHER_ID))


def deleted(file: Path) -> None:
    file.unlink()


@pytest.mark.parametrize(
    ("happen", "reason"),
    [
        (emptied, absence.FILE_EMPTY),
        (zeroed, absence.FILE_DAMAGED),
        (linked, absence.FILE_IS_LINK),
        (renamed, absence.FILE_RENAMED),
        (closed, absence.FILE_CLOSED),
        (folder_not_entered, absence.FILE_CLOSED),
        (folder_closed, absence.NOT_ALL_LISTED),
        (folder_linked, absence.NOT_ALL_LISTED),
        (of_other, absence.FILE_OF_OTHER),
        (deleted, lost.LOST),
    ],
)
def test_why_a_session_is_not_there_is_true(
    tmp_path: Path, without_privileges: Rights, happen: Callable[[Path], None], reason: str
) -> None:
    file = home_with_log(tmp_path)
    happen(file)
    read_home(tmp_path)  # What Python loads on demand it must load while it may.
    with without_privileges():
        found = reason_in(tmp_path)
    file.parent.chmod(0o755)
    assert found == reason


@pytest.mark.parametrize(
    ("happen", "may_be_there"),
    [
        (emptied, True),
        (zeroed, True),
        (linked, True),
        (closed, True),
        (folder_closed, True),
        (deleted, False),
    ],
)
def test_a_session_without_a_name_may_be_in_any_file_that_was_not_read(
    tmp_path: Path, without_privileges: Rights, happen: Callable[[Path], None], may_be_there: bool
) -> None:
    home_with_log(tmp_path, FIRST_ID, "Fix the login redirect", "/clear", "of the next one")
    file = write_session(tmp_path, OTHER_ID)
    happen(file)
    read_home(tmp_path)  # As above.
    with without_privileges():
        shelf = shelves(list(scans(SOURCE, tmp_path)))
        lost_ones = join_shelf(shelf[0]).lost
    file.parent.chmod(0o755)
    reason = next(one.summary for one in lost_ones if one.native_id == f"{FIRST_ID}#after-clear-1")
    assert (reason != lost.LOST_AFTER_CLEAR) is may_be_there
    assert str(reason).startswith("typed after /clear")


def test_a_session_may_be_in_a_closed_file_of_another_name(
    tmp_path: Path, without_privileges: Rights
) -> None:
    home_with_log(tmp_path).unlink()
    write_session(tmp_path, OTHER_ID).chmod(0)
    with without_privileges():
        assert reason_in(tmp_path) == absence.NOT_ALL_READ


@pytest.mark.parametrize("place", [".gemini/tmp/shop/chats", ".gemini/tmp/shop", ".gemini/tmp"])
def test_a_session_may_be_in_a_backup_that_is_closed(
    tmp_path: Path, without_privileges: Rights, place: str
) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    home_with_log(one).unlink()
    write_session(two)
    assert not [
        found for found in shelves([*scans(SOURCE, one), *scans(SOURCE, two)]) if join_shelf(found).lost
    ]
    (two / place).chmod(0)
    with without_privileges():
        found = reason_in(one, two)
    (two / place).chmod(0o755)
    assert found == absence.NOT_ALL_LISTED


def test_a_session_may_be_in_the_other_folder_of_its_project(
    tmp_path: Path, without_privileges: Rights
) -> None:
    file = home_with_log(tmp_path)
    project = "/home/ada/dev/shop"
    (tmp_path / ".gemini" / "projects.json").write_text(json.dumps({"projects": {project: "shop"}}))
    older = file.parents[2] / folder_hash(project)
    (older / "chats").mkdir(parents=True)
    file.rename(older / "chats" / file.name)
    older.chmod(0)
    with without_privileges():
        found = reason_in(tmp_path)
    older.chmod(0o755)
    assert found == absence.NOT_ALL_LISTED


def test_the_library_knows_why(tmp_path: Path) -> None:
    emptied(home_with_log(tmp_path))
    (only,) = to_be_closed(open_library([str(tmp_path)])).sessions()
    assert (only.kind, only.summary) == (SessionKind.LOST, absence.FILE_EMPTY)


def read_alone(path: Path) -> Reading:
    reading = SOURCE.read_alone(path)
    assert reading
    return reading


def test_a_log_given_by_hand_is_never_held_as_a_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "read_bytes", None)
    for name in ("logs.json", "logs.json.invalid_json.1.bak"):
        (tmp_path / name).write_bytes(b"\xef\xbb\xbf" + written(entry(0)))
        reading = read_alone(tmp_path / name)
        assert [one.title for one in reading.sessions] == ["Hello"]


def test_a_session_under_the_name_of_a_log_is_a_session(tmp_path: Path) -> None:
    reading = read_alone(write_session(tmp_path).rename(tmp_path / "logs.json"))
    assert [one.kind for one in reading.sessions] == [SessionKind.MAIN]


@pytest.mark.slow
def test_a_log_that_begins_with_nothing_but_blanks_is_accounted_for(tmp_path: Path) -> None:
    path = tmp_path / "logs.json"
    path.write_bytes(b" " * 17_000_000 + b'[{"sessionId": "a", "mess')
    account = read_prompt_log(FoundFile(path, path.stat().st_size, 0, 0)).account
    tallies = [*account.used.values(), *account.ignored.values(), *account.problem.values()]
    assert sum(tally.bytes for tally in tallies) == account.size == path.stat().st_size
