"""The trials that prove the tables of what formats carry. Broken formats prove that they can fail."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from geminids.core.model import (
    Attachment,
    Message,
    Origin,
    Plain,
    Session,
    State,
    Text,
    Thought,
    ToolCall,
    ToolKind,
    ToolStatus,
    Usage,
)
from geminids.sharing import export
from geminids.sharing.export.base import Format, Manner, PlainFormat
from geminids.sharing.export.facts import fact_of
from geminids.sharing.export.kinds import Steps, message_kind
from geminids.sharing.export.losses import Loss, LossReport, Verdict
from geminids.sharing.transcript.entries import LEVELS
from tests.support.exporting import fixture_sessions, hostile_session, looked_at_sessions, manner, text_of
from tests.support.probe_words import Marks, Seen
from tests.support.probed_sessions import call, noted_session, session_of_parts
from tests.support.probing import Value, ValueKind, values
from tests.support.trials import Outcome, Trial
from tests.support.tried_losses import tried_losses

replace = msgspec.structs.replace

JSON = export.load("json")

WORDS = {ValueKind.WORDS, ValueKind.AGENT_WORDS}
TIMES = {"message: time", "session: end", "session: start", "thought: time", "tool call: time"}


class Made(PlainFormat):
    """A format as another package would bring it: bytes as a function gives them for a session."""

    name = "made"
    title = "Made"
    summary = "For tests."
    suffix = ".made"
    holds_many = True
    level = "everything"

    def __init__(self, told: Callable[[Session, Manner], bytes]) -> None:
        self._told = told
        self.written = 0

    def write(self, sessions: Iterable[Session], manner: Manner) -> Iterator[bytes]:
        self.written += 1
        return (self._told(session, manner) for session in sessions)


def broken(breaking: Callable[[Session], Session]) -> Made:
    """`json`, of sessions that are changed on the way."""
    return Made(lambda session, manner: b"".join(JSON.write([breaking(session)], manner)))


def lines(line: Callable[[Message], str]) -> Made:
    """One line for each message."""
    return Made(lambda session, _: "\n".join(map(line, session.messages)).encode())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["json", "vac"])
def test_a_format_that_reads_back_carries_everything(name: str) -> None:
    for case, session in fixture_sessions().items():
        report = tried_losses(session, export.load(name), manner("everything"))
        assert not _not_carried(report), case
        assert report.session_id == session.id


@pytest.mark.parametrize("name", ["json", "vac", "vac-cbor", "vcon"])
def test_it_carries_everything_of_a_hostile_session_too(name: str) -> None:
    assert not _not_carried(tried_losses(hostile_session(), export.load(name), manner("everything")))


BRANCH = "session: branch"
REQUEST_ID = "message: id of its request"
GIST = "tool call: summary in one line"
REPORTED = "session: tokens as the agent counted"
UNRECORDED = "session: requests that are missing from its files"
LONG_KEPT = "message: tokens written to the cache for an hour"


@pytest.mark.parametrize(
    ("name", "carried"),
    [
        ("json", {BRANCH, REQUEST_ID, GIST, REPORTED, UNRECORDED, LONG_KEPT}),
        ("jsonl", {REQUEST_ID, GIST, LONG_KEPT}),
        ("atif", {BRANCH, REQUEST_ID, LONG_KEPT}),
        ("otlp", {BRANCH, REQUEST_ID, LONG_KEPT}),
        ("csv", {REQUEST_ID, LONG_KEPT}),
        ("markdown", {BRANCH, GIST}),
        ("html", {BRANCH, GIST}),
        ("text", {BRANCH, GIST}),
        ("vac", {BRANCH, REQUEST_ID, GIST, REPORTED, UNRECORDED, LONG_KEPT}),
        ("vac-cbor", {BRANCH, REQUEST_ID, GIST, REPORTED, UNRECORDED, LONG_KEPT}),
        ("vac-simple", set()),
        ("vcon", {BRANCH, REQUEST_ID, GIST, REPORTED, UNRECORDED, LONG_KEPT}),
    ],
)
def test_what_only_some_agents_note_goes_wherever_there_is_a_place_for_it(
    name: str, carried: set[str]
) -> None:
    some = {BRANCH, REQUEST_ID, GIST, REPORTED, UNRECORDED, LONG_KEPT}
    report = tried_losses(noted_session(), export.load(name), manner("everything"))
    assert some <= {loss.fact for loss in report.losses}
    assert some & _facts(report, Verdict.CARRIED) == carried


def test_thoughts_that_are_dropped_are_lost_and_nothing_else() -> None:
    dropping = broken(_each_part(lambda part: None if isinstance(part, Thought) else part))
    report = _report_of("tool-calls-jsonl-2", dropping)
    assert _facts(report, Verdict.LOST) == {"thought: subject", "thought: text", "thought: time"}
    assert _not_carried(report) == _facts(report, Verdict.LOST)


def test_outputs_that_are_cut_are_counted_one_by_one() -> None:
    lengths = (99, 100, 101, 250)
    session = session_of_parts(*(call(result=(Text(_words(length), Origin.TOOL),)) for length in lengths))
    dropping = broken(_each_part(lambda part: replace(part, result=tuple(map(_cut_at_100, part.result)))))
    report = tried_losses(session, dropping, manner("everything"))
    assert _not_carried(report) == {"tool call: text that the model got"}
    assert _loss(report, "tool call: text that the model got") == Loss(
        fact="tool call: text that the model got", values=4, tried=4, carried=2, cut=2, left_out=0
    )


def test_what_is_left_out_in_the_middle_of_a_text_is_missed() -> None:
    session = session_of_parts(Text("\n".join(["a line of some words"] * 40), Origin.MODEL))
    dropping = broken(_each_part(lambda part: replace(part, text=part.text[:300] + " … " + part.text[-300:])))
    assert _loss(tried_losses(session, dropping, manner("everything")), "text: the model").cut == 1


def test_times_that_are_not_written_are_lost_and_nothing_else() -> None:
    report = _report_of("tool-calls-jsonl-2", broken(_without_times))
    assert _facts(report, Verdict.LOST) == TIMES
    assert _not_carried(report) == TIMES


def test_times_to_the_minute_are_cut() -> None:
    told = lines(lambda message: f"{message.at:%d %b, %H:%M} {_said(message)}")
    loss = _loss(tried_losses(_talk(5), told, manner("everything")), "message: time")
    assert (loss.carried, loss.cut, loss.lost) == (0, 5, 0)


@pytest.mark.parametrize(
    "spelled",
    [
        lambda at: at.isoformat(),
        lambda at: f"{at:%Y-%m-%d %H:%M:%S.%f}",
        lambda at: str(int(at.timestamp() * 1000)),
        lambda at: str(int(at.timestamp() * 1000) * 1_000_000),
    ],
)
def test_times_are_known_however_they_are_spelled(spelled: Callable[[datetime], str]) -> None:
    told = lines(lambda message: spelled(message.at) if message.at else "")
    report = tried_losses(_talk(5), told, manner("everything"))
    assert _loss(report, "message: time").carried == 5
    assert _loss(report, "session: start").lost == 1, "a time zone is no time of day"


def test_numbers_that_are_rounded_or_added_are_cut() -> None:
    def line(message: Message) -> str:
        usage = message.usage or Usage(0)
        return f"{(usage.input or 0) // 100}00 in, {(usage.output or 0) + (usage.thoughts or 0)} out"

    told = lines(line)
    report = tried_losses(_talk(2), told, manner("everything"))
    for fact in ("message: tokens of input", "message: tokens of output", "message: tokens of thoughts"):
        assert _loss(report, fact).verdict is Verdict.PARTLY, fact
        assert _loss(report, fact).carried == 0
    assert _loss(report, "message: total tokens").verdict is Verdict.LOST


def test_numbers_are_known_with_marks_between_their_thousands() -> None:
    told = lines(lambda message: f"{message.usage.input:,} tokens" if message.usage else "")
    assert _loss(tried_losses(_talk(3), told, manner("everything")), "message: tokens of input").carried == 3


def test_numbers_are_not_mistaken_for_what_others_add_up_to() -> None:
    def line(message: Message) -> str:
        usage = message.usage or Usage(0)
        return f"{(usage.input or 0) - (usage.output or 0) + (usage.thoughts or 0)}"

    report = tried_losses(_talk(20), lines(line), manner("everything"))
    whole = {loss.fact for loss in report.losses if loss.carried}
    assert not whole


def test_a_value_that_only_some_messages_have_is_counted_for_these() -> None:
    told = lines(lambda m: f"{m.role if m.id in {'m0', 'm3'} else ''} {_said(m)} {m.id}")
    loss = _loss(tried_losses(_talk(5), told, manner("everything")), "message: role")
    # Marks give all of them other ids, but roles are tried where the ids are those of the session.
    assert (loss.carried, loss.lost) == (2, 3)


def test_messages_that_are_dropped_are_facts_of_their_own() -> None:
    dropping = broken(
        lambda session: replace(session, messages=tuple(filter(_is_not_rewound, session.messages)))
    )
    report = _report_of("rewind-jsonl-2", dropping)
    assert _loss(report, _message_fact(State.REWOUND)).verdict is Verdict.LOST
    assert _loss(report, _message_fact(State.CURRENT)).verdict is Verdict.CARRIED


def test_texts_are_told_apart_by_whose_they_are() -> None:
    dropping = broken(
        _each_part(lambda part: None if isinstance(part, Text) and part.origin is Origin.NOTICE else part)
    )
    session = session_of_parts(Text("be careful there", Origin.NOTICE), Text("all is well", Origin.MODEL))
    report = tried_losses(session, dropping, manner("everything"))
    assert _loss(report, "text: notices").verdict is Verdict.LOST
    assert _loss(report, "text: the model").verdict is Verdict.CARRIED


def test_what_a_level_leaves_out_is_not_called_lost() -> None:
    report = _report_of("tool-calls-jsonl-2", JSON, "conversation")
    assert not _facts(report, Verdict.LOST)
    assert {"thought: text", "tool call: diff of a file"} <= _facts(report, Verdict.LEFT_OUT)
    assert "tool call: text that the model got" in _facts(report, Verdict.PARTLY), "errors are told"
    assert all(loss.lost == 0 for loss in report.losses)


def test_what_neither_level_nor_format_carries_is_lost() -> None:
    report = _report_of("tool-calls-jsonl-2", broken(_without_times), "conversation")
    assert _facts(report, Verdict.LOST) == TIMES


def test_the_same_words_in_two_places_of_a_call_are_carried_by_either() -> None:
    session = session_of_parts(
        call(call_id="a", result=(Text("same words twice", Origin.TOOL),), display=Plain("same words twice")),
        call(call_id="b", result=(Text("words for the model", Origin.TOOL),), display=Plain("for people")),
    )
    dropping = broken(_each_part(lambda part: replace(part, result=())))
    loss = _loss(tried_losses(session, dropping, manner("everything")), "tool call: text that the model got")
    assert (loss.carried, loss.lost) == (1, 1)


def test_equal_texts_in_different_messages_are_two() -> None:
    session = session_of_parts(*(Text("go on with it", Origin.HUMAN) for _ in range(3)))
    told = lines(lambda message: _said(message) if message.source.line == 1 else "")
    loss = _loss(tried_losses(session, told, manner("everything")), "text: your prompts")
    assert (loss.carried, loss.lost) == (1, 2)


@pytest.mark.parametrize(
    ("kept", "expected"), [(5000, Verdict.CARRIED), (1000, Verdict.PARTLY), (20, Verdict.LOST)]
)
def test_the_content_of_a_picture_is_cut_or_lost_as_text_is(kept: int, expected: Verdict) -> None:
    picture = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 8).decode()
    session = session_of_parts(Attachment("image/png", data=picture))
    dropping = broken(_each_part(lambda part: replace(part, data=part.data[:kept])))
    assert (
        _loss(tried_losses(session, dropping, manner("everything")), "attachment: content").verdict
        is expected
    )


def test_a_picture_in_a_file_beside_is_carried_if_the_document_names_it() -> None:
    picture = base64.b64encode(bytes(range(256))).decode()
    session = session_of_parts(Attachment("image/png", data=picture))
    told = lines(lambda message: f"{hash(message.parts) % 10_000_000}.png")
    without = tried_losses(session, told, manner("everything"))
    beside = tried_losses(session, told, manner("everything", files_folder="pictures"))
    assert _loss(without, "attachment: content").verdict is Verdict.LOST
    assert _loss(beside, "attachment: content").verdict is Verdict.CARRIED


@pytest.mark.slow
def test_a_long_session_is_tried_in_little_and_says_so() -> None:
    told = lines(lambda message: f"{message.role} {_said(message)}")
    report = tried_losses(_talk(2000), told, manner("everything"))
    role, said = _loss(report, "message: role"), _loss(report, "text: your prompts")
    assert (role.values, role.carried, role.lost) == (2000, role.tried, 0)
    assert 0 < role.tried < 100
    assert (said.values, said.tried) == (1000, 1000), "words are looked for in all of it"
    assert told.written < 200
    assert all(loss.tried for loss in report.losses)


def test_what_a_long_session_holds_once_is_tried() -> None:
    whole = _talk(500)
    messages = list(whole.messages)
    messages[321] = replace(messages[321], imported=True)
    told = lines(lambda message: f"{message.imported} {_said(message)}")
    report = tried_losses(replace(whole, messages=tuple(messages)), told, manner("everything"))
    assert _loss(report, "message: whether copied from another session").carried == 1


def test_reports_are_the_same_each_time_and_the_lost_come_first() -> None:
    reports = [_report_of("images", broken(_without_times)) for _ in range(2)]
    assert reports[0] == reports[1]
    verdicts = [list(Verdict).index(loss.verdict) for loss in reports[0].losses]
    assert verdicts == sorted(verdicts)


def test_reports_of_several_sessions_add_up() -> None:
    first, second = _report_of("images", JSON), _report_of("errors", broken(_without_times))
    both = first + second
    assert (both.sessions, both.session_id, both.format) == (2, None, "json")
    for name in ("values", "tried", "carried", "cut", "left_out"):
        counts = [sum(getattr(loss, name) for loss in report.losses) for report in (first, second, both)]
        assert counts[0] + counts[1] == counts[2]
    assert _loss(both, "message: time").verdict is Verdict.PARTLY
    assert len({loss.fact for loss in both.losses}) == len(both.losses)


def test_every_kind_of_value_in_the_fixtures_has_a_name_of_its_own() -> None:
    paths = {value.path for session in fixture_sessions().values() for value in values(session)}
    words = {path: fact_of(path) for path in paths}
    assert not [path for path, fact in words.items() if "_" in fact or "(" in fact]
    assert fact_of("message.new_field") == "message: new field"


WITHOUT_REWOUND = {"vac-simple"}
"""Formats that tell only what the agent still sees."""


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", export.available())
def test_every_format_can_be_tried_at_every_level(name: str, level: str) -> None:
    for session in (looked_at_sessions()["images"], hostile_session()):
        report = tried_losses(session, export.load(name), manner(level))
        assert report.format == name
        assert all(0 <= loss.lost <= loss.tried <= loss.values for loss in report.losses)
        taken_back = _texts_taken_back(session) if name in WITHOUT_REWOUND else 0
        said = _loss(report, "text: your prompts")
        assert said.lost == taken_back, "what the human said is in every export"


@pytest.mark.slow
@pytest.mark.parametrize("name", export.available())
def test_what_is_called_carried_is_in_the_export_and_what_is_called_lost_is_not(name: str) -> None:
    chosen, checked = export.load(name), 0
    for session in looked_at_sessions().values():
        trial = Trial(session, chosen, manner(chosen.level))
        found = trial.outcomes(LEVELS[chosen.level])
        content = text_of(name, b"".join(chosen.write([session], manner(chosen.level))))
        for words, outcome in _plain_words(trial.values, found):
            assert (words in content) == (outcome is Outcome.CARRIED), words
            checked += 1
    assert checked > 100


@given(st.text())
def test_marked_words_keep_their_lines(text: str) -> None:
    if not text.strip():
        return
    marks = Marks()
    covered = marks.words(text)
    assert covered.count("\n") == text.count("\n")
    assert len(covered) <= len(text) + 16
    assert marks.given > 0
    assert Seen(covered.encode("utf-8", "replace")).marks == set(range(marks.given))


@given(st.text("abc dé/", min_size=8))
def test_marked_words_are_as_long_as_before(text: str) -> None:
    if len(text.strip(" /")) >= 8:
        assert len(Marks().words(text)) == len(text)


@given(st.binary(min_size=24))
def test_marked_base64_is_base64_of_as_many_letters(content: bytes) -> None:
    text = base64.b64encode(content).decode()
    covered = Marks().base64(text)
    assert len(covered) == len(text)
    assert base64.b64decode(covered, validate=True)[:12] == content[:12]


def test_marked_diffs_keep_their_headings_and_signs() -> None:
    diff = "--- a/one.py\n+++ b/one.py\n@@ -1,2 +1,2 @@\n-the line before\n+the line after it\n }\n"
    covered = Marks().diff(diff).split("\n")
    assert covered[:3] == diff.split("\n")[:3]
    assert [line[:1] for line in covered] == [line[:1] for line in diff.split("\n")]
    assert "before" not in covered[3]


def test_marked_json_is_json_with_the_same_keys() -> None:
    covered = Marks().words('{"name_of_it": "some longer words", "n": [1, "and some more"]}')
    value = json.loads(covered)
    assert value.keys() == {"name_of_it", "n"}
    assert value["n"][0] == 1
    assert "words" not in covered


def _message_fact(state: State) -> str:
    return fact_of(message_kind(state))


def _report_of(case: str, chosen: Format, level: str = "everything") -> LossReport:
    return tried_losses(looked_at_sessions()[case], chosen, manner(level))


def _facts(report: LossReport, verdict: Verdict) -> set[str]:
    return {loss.fact for loss in report.having(verdict)}


def _not_carried(report: LossReport) -> set[str]:
    return {loss.fact for loss in report.losses if loss.verdict is not Verdict.CARRIED}


def _loss(report: LossReport, fact: str) -> Loss:
    return next(loss for loss in report.losses if loss.fact == fact)


def _plain_words(
    of_session: Iterable[Value], found: Mapping[Steps, Outcome]
) -> Iterator[tuple[str, Outcome]]:
    """Words that no format writes in another way, and that stand in the session once."""
    written = [value for value in of_session if isinstance(value.value, str)]
    everything = "\n".join(value.value for value in written)
    for value in written:
        if (
            value.kind in WORDS
            and re.fullmatch(r"[A-Za-z0-9 ,-]{10,}", value.value)
            and everything.count(value.value) == 1
        ):
            yield value.value.strip(), found[value.steps]


def _each_part(change: Callable[[Any], Any]) -> Callable[[Session], Session]:
    """The same session with each part changed; None drops it."""

    def changed(message: Message) -> Message:
        parts = [change(part) for part in message.parts]
        return replace(message, parts=tuple(part for part in parts if part is not None))

    return lambda session: replace(session, messages=tuple(map(changed, session.messages)))


def _without_times(session: Session) -> Session:
    timeless = _each_part(lambda part: replace(part, at=None) if hasattr(part, "at") else part)(session)
    messages = tuple(replace(message, at=None) for message in timeless.messages)
    return replace(timeless, started_at=None, ended_at=None, messages=messages)


def _cut_at_100(part: Any) -> Any:
    return replace(part, text=part.text[:100])


def _is_not_rewound(message: Message) -> bool:
    return message.state is not State.REWOUND


def _texts_taken_back(session: Session) -> int:
    rewound = (message for message in session.messages if not _is_not_rewound(message))
    return sum(isinstance(part, Text) for message in rewound for part in message.parts)


def _words(length: int) -> str:
    return ("some words of a tool " * 20)[: length - 1] + "."


def _said(message: Message) -> str:
    return " ".join(part.text for part in message.parts if isinstance(part, Text))


def _talk(length: int) -> Session:
    """A session in which a human and a model take turns, with tokens and a time for each."""
    origins = [Origin.HUMAN if number % 2 == 0 else Origin.MODEL for number in range(length)]
    session = session_of_parts(
        *(Text(f"said as number {place}", origin) for place, origin in enumerate(origins))
    )
    messages = (
        replace(
            message,
            at=datetime(2026, 5, 1, 10, tzinfo=UTC) + timedelta(seconds=number * 77, milliseconds=number),
            usage=Usage(1, 1000 + number, 5, None, 31, 12, 0, 1043 + number),
        )
        for number, message in enumerate(session.messages)
    )
    return replace(session, messages=tuple(messages))


def test_numbers_of_thousands_of_digits_are_only_passed_over() -> None:
    session = hostile_session()
    words = Text("look", Origin.HUMAN)
    huge = ToolCall("c-9", "f", ToolKind.OTHER, {"7" * 5000: 1, "n": 10**4000}, ToolStatus.SUCCESS)
    first = replace(session.messages[0], parts=(words, huge))
    assert not _not_carried(tried_losses(replace(session, messages=(first,)), JSON, manner("everything")))
