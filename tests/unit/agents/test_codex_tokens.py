"""Tokens of Codex: each request counts once, whatever the sums in the files do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from geminids.agents.codex import CodexSource
from geminids.core.model import Origin, Session, Usage
from tests.conftest import CORPUS, FIXTURES
from tests.support.codex_homes import OTHER, THREAD, counted, event, line, meta, said, tokens, write_rollout
from tests.support.reading import sessions

SOURCE = CodexSource()
CASES = sorted((FIXTURES / "codex").glob("*/home"))


def read(folder: Path, *lines: dict[str, Any], **header: Any) -> Session:
    write_rollout(folder, [meta(**header), *lines])
    return sessions(SOURCE, folder)[0]


def spent(session: Session) -> list[int | None]:
    return [message.usage.total if message.usage else None for message in session.messages]


def test_a_sum_that_is_written_again_counts_once(tmp_path: Path) -> None:
    answers = [
        said("one", "assistant"),
        counted(100),
        counted(100),
        said("two", "assistant"),
        counted(250, 150),
    ]
    session = read(tmp_path, said("go"), *answers, counted(250, 0))
    assert spent(session) == [None, 100, 150]
    assert session.usage.requests == 2


def test_tokens_that_are_told_before_the_answer_belong_to_it(tmp_path: Path) -> None:
    lines = [said("go"), counted(100), said("one", "assistant"), counted(100), counted(250, 150)]
    session = read(tmp_path, *lines, said("two", "assistant"))
    assert spent(session) == [None, 100, 150]


def test_a_sum_may_begin_anew(tmp_path: Path) -> None:
    lines = [said("one", "assistant"), counted(1000), said("again"), event("token_count", info=None)]
    session = read(tmp_path, *lines, said("two", "assistant"), counted(1500, 1500))
    assert session.usage.total == 2500


def test_a_full_context_is_no_usage(tmp_path: Path) -> None:
    full = {"total_token_usage": {**tokens(0), "total_tokens": 272_000}, "last_token_usage": tokens(0)}
    lines = [said("one", "assistant"), counted(1000), event("token_count", info=full)]
    after = {"total_token_usage": {**tokens(300), "total_tokens": 272_300}, "last_token_usage": tokens(300)}
    session = read(tmp_path, *lines, said("two", "assistant"), event("token_count", info=after))
    assert session.usage.total == 1300


def test_a_record_counts_and_the_sum_after_it_does_not(tmp_path: Path) -> None:
    record = line("token_usage_record", {"response_id": "r1", "usage": tokens(100)})
    session = read(
        tmp_path, said("one", "assistant"), record, record, counted(9_100, 100), forked_from_id=OTHER
    )
    assert session.usage == Usage(1, 90, 0, None, 10, 0, None, 100)
    assert [message.request_id for message in session.messages] == ["r1"]


def test_records_may_cover_only_the_later_requests(tmp_path: Path) -> None:
    record = line("token_usage_record", {"response_id": "r2", "usage": tokens(150)})
    lines = [said("one", "assistant"), counted(100), said("two", "assistant"), record, counted(250, 150)]
    assert read(tmp_path, *lines).usage.total == 250


def test_a_fork_goes_on_from_the_sum_of_a_parent_that_is_gone(tmp_path: Path) -> None:
    session = read(tmp_path, said("one", "assistant"), counted(5_100, 100), forked_from_id=OTHER)
    assert session.usage.total == 100


def names(session: Session) -> list[str | None]:
    return [message.request_id for message in session.messages if message.usage]


def test_a_request_that_the_provider_did_not_name_has_a_name_of_ours(tmp_path: Path) -> None:
    answers = [
        said("one", "assistant"),
        counted(100),
        counted(100),
        said("two", "assistant"),
        counted(250, 150),
    ]
    session = read(tmp_path / "a", said("go"), *answers)
    assert names(session) == [f"{THREAD}:90:10", f"{THREAD}:225:25"]
    assert names(read(tmp_path / "b", *answers, said("more", "assistant"), counted(300, 50)))[:2] == names(
        session
    )


def test_sums_that_come_to_the_same_again_are_requests_of_their_own(tmp_path: Path) -> None:
    lines = [said("one", "assistant"), counted(100), said("two", "assistant"), counted(40, 40)]
    session = read(tmp_path, *lines, said("three", "assistant"), counted(100, 60))
    assert names(session) == [f"{THREAD}:90:10", f"{THREAD}:36:4", f"{THREAD}:90:10:2"]


def test_a_request_is_of_the_turn_that_is_named(tmp_path: Path) -> None:
    turn = event("task_started", turn_id="t1")
    later = line("turn_context", {"turn_id": "t2", "model": "m"})
    lines = [turn, said("one", "assistant"), counted(100), later, said("two", "assistant"), counted(250, 150)]
    assert names(read(tmp_path, *lines)) == ["t1:90:10", "t2:225:25"]


def test_a_thread_is_no_fork_of_itself(tmp_path: Path) -> None:
    lines = [meta(), said("go"), said("one", "assistant"), counted(100)]
    session = read(tmp_path, *lines, forked_from_id=THREAD)
    assert (session.usage.requests, session.usage.total, session.counts.prompts) == (1, 100, 1)
    assert not any(message.imported for message in session.messages)


def test_reasoning_is_told_from_the_answer(tmp_path: Path) -> None:
    used = {"input_tokens": 50, "cached_input_tokens": 20, "output_tokens": 30, "reasoning_output_tokens": 12}
    info = {"total_token_usage": {**used, "total_tokens": 99}, "last_token_usage": used}
    usage = read(tmp_path, said("one", "assistant"), event("token_count", info=info)).usage
    assert (usage.input, usage.cached, usage.output, usage.thoughts, usage.total) == (50, 20, 18, 12, 80)


def test_tokens_of_an_answer_that_is_lost_are_counted(tmp_path: Path) -> None:
    session = read(tmp_path, said("one"), counted(100), said("two"), counted(300, 200))
    assert session.usage.total == 300


@pytest.mark.parametrize(
    "wrong", [None, 7, "many", [], {"input_tokens": "3"}, {"input_tokens": -1}, {"x": 1.5}]
)
def test_what_is_no_count_is_unknown(tmp_path: Path, wrong: object) -> None:
    lines = [event("token_count", info={"total_token_usage": wrong}), event("token_count", info=wrong)]
    record = line("token_usage_record", {"response_id": wrong, "usage": wrong})
    assert read(tmp_path, said("one", "assistant"), *lines, record).usage.total is None


@pytest.mark.parametrize("home", CASES, ids=lambda home: home.parent.name)
def test_what_we_count_is_what_codex_counted(home: Path) -> None:
    made_before: set[str] = set()
    for session in sorted(sessions(SOURCE, home), key=lambda session: session.native_id):
        counted_here = [message for message in session.messages if not message.imported]
        requests = [(message.request_id or "", message.usage) for message in counted_here if message.usage]
        # What was copied from another session is not of its own sums.
        used = Usage.sum(usage for name, usage in requests if name not in made_before)
        made_before.update(name for name, _ in requests if name)
        if session.reported is not None:
            assert session.reported.total == (used.total or 0)


def test_the_summary_of_a_compaction_has_the_tokens_of_its_request() -> None:
    case = FIXTURES / "codex" / "compaction"
    first = min(sessions(SOURCE, case / "home"), key=lambda session: session.id)
    truth = json.loads((case / "truth.json").read_bytes())["tokens"]["compaction"]
    (summary,) = [message for message in first.messages if message.origin is Origin.SYNTHETIC]
    assert summary.usage
    assert (summary.usage.requests, summary.usage.total) == (truth["replies"], truth["total"])
    assert summary.request_id


def test_published_files_add_up() -> None:
    files = sorted((CORPUS / "wild" / "codex").glob("*"))
    if not files:
        pytest.skip("the corpus is not at hand")
    for file in files:
        reading = SOURCE.read_alone(file)
        for session in reading.sessions if reading else ():
            if session.reported:
                assert session.reported.total == (session.usage.total or 0), file.name
