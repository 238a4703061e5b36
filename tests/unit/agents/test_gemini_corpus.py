"""The whole corpus of recorded sessions: the agent's own reading, what really happened, every byte.

The corpus is not part of the repository; without it these tests are skipped, and the fixture
folders, a selection from it, stand in.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from geminids.agents.gemini import GeminiSource
from geminids.core.model import Session
from tests.conftest import CORPUS, FIXTURES, RecordProperty
from tests.support.accounts import accounted
from tests.support.reading import custodian_of, readings, sessions
from tests.support.truth import Losses, differences, once

SOURCE = GeminiSource()
LOSSES = Losses(FIXTURES.parent / "losses.toml")
SCENARIOS = sorted(path.parent for path in (CORPUS / "real").glob("*/*/manifest.json"))
ORACLES = sorted((CORPUS / "real").glob("*/*/*/.gemini/tmp/*/chats/**/*.oracle.json"))
FIXTURE_ORACLES = sorted(FIXTURES.glob("gemini/*/oracle/.gemini/tmp/*/chats/**/*.json"))
WILD = sorted(path for path in (CORPUS / "wild" / "gemini").glob("*") if path.is_file())


@pytest.mark.parametrize("dump", FIXTURE_ORACLES, ids=lambda dump: f"{dump.parents[5].name}-{dump.stem}")
def test_agents_view_equals_the_loader_in_fixtures(dump: Path) -> None:
    case = next(folder for folder in dump.parents if folder.name == "oracle").parent
    file = case / "home" / dump.relative_to(case / "oracle").with_suffix("")
    assert_same(custodian_of(SOURCE).agent_view(file), json.loads(dump.read_bytes()))


def test_agents_view_equals_the_loader_in_the_corpus(corpus: Path, record_property: RecordProperty) -> None:
    compared: Counter[str] = Counter()
    for dump in ORACLES:
        written = json.loads(dump.read_bytes())["loadConversationRecord"]
        view = custodian_of(SOURCE).agent_view(dump.with_name(dump.name.removesuffix(".oracle.json")))
        assert_same(view, written["value"], str(dump.relative_to(corpus)))
        compared["no session" if view is None else "equal"] += 1
    equal, neither = compared["equal"], compared["no session"]
    record_property(
        "counts", f"agent's view: {equal} files as the loader reads them, {neither} no session to either"
    )
    assert compared["equal"] > 600


def assert_same(ours: object, dumped: object, where: str = "") -> None:
    """Compare with a dump, in which long texts stand as digests and long lists as their lengths."""
    match dumped:
        case {"$long": _, "sha256": digest}:
            assert isinstance(ours, str), where
            # The digest was made of bytes, which hold no half of a character.
            whole = ours.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            assert hashlib.sha256(whole.encode()).hexdigest().startswith(digest), where
        case {"$list": length}:
            assert isinstance(ours, list), where
            assert len(ours) == length, where
        case dict():
            assert isinstance(ours, dict), where
            assert ours.keys() == dumped.keys(), where
            for key in dumped:
                assert_same(ours[key], dumped[key], f"{where}/{key}")
        case list():
            assert isinstance(ours, list), where
            assert len(ours) == len(dumped), where
            for index, (one, other) in enumerate(zip(ours, dumped, strict=True)):
                assert_same(one, other, f"{where}/{index}")
        case _:
            assert ours == dumped, where


@pytest.mark.slow
def test_full_view_agrees_with_what_really_happened(corpus: Path, record_property: RecordProperty) -> None:
    agreed: Counter[str] = Counter()
    excused: Counter[str] = Counter()
    for scenario in SCENARIOS:
        version, name = scenario.parts[-2:]
        truth = json.loads((scenario / "manifest.json").read_bytes())["truth"]
        found = differences(everything_in(scenario), truth)
        reasons = LOSSES.excused(name, version)
        assert found.keys() <= reasons.keys(), f"{version}/{name}: {found}"
        assert found.keys() >= LOSSES.expected(name, version), f"{version}/{name} is no loss any more"
        agreed.update({"prompts", "calls", "tokens"} - found.keys())
        excused.update(reasons[what] for what in found)
    record_property(
        "counts", f"full view: of {len(SCENARIOS)} scenarios exactly as it happened {dict(agreed)}"
    )
    for reason, number in excused.most_common():
        record_property("counts", f"  {number:3} not in the files: {reason}")


def everything_in(scenario: Path) -> Iterator[Session]:
    """The sessions of a scenario, also those that a later run of the CLI deleted."""
    for home in (*sorted(scenario.glob("snap-*")), scenario / "home"):
        yield from sessions(SOURCE, home)


@pytest.mark.parametrize("version", sorted({scenario.parent.name for scenario in SCENARIOS}))
def test_what_differs_was_never_written(version: str) -> None:
    """An excuse must be true: whatever a plain look into the files finds, we have found too."""
    for scenario in (path for path in SCENARIOS if path.parent.name == version):
        messages = list(once(everything_in(scenario)))
        calls = {call.call_id for message in messages for call in message.tool_calls}
        tokens = {message.id: message.usage for message in messages if message.usage}
        for file in sorted(scenario.glob("*/.gemini/tmp/*/chats/**/*.json*")):
            if not file.name.endswith(".oracle.json"):
                for found in plain_look(file):
                    missing = [call["id"] for call in found.get("toolCalls") or () if call["id"] not in calls]
                    assert not missing, f"{file}: {missing}"
                    if found.get("tokens"):
                        assert tokens[found["id"]].total == found["tokens"]["total"], file


def plain_look(file: Path) -> Iterator[dict[str, Any]]:
    """Everything in a file that looks like a message, read in the most naive way."""
    text = file.read_text("utf-8", errors="replace")
    if file.suffix == ".json":
        try:
            yield from json.loads(text)["messages"]
        except ValueError:
            return
    for line in text.splitlines() if file.suffix == ".jsonl" else ():
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if "id" in record:
            yield record
        yield from record.get("$set", {}).get("messages", ())


@pytest.mark.slow
def test_every_byte_and_record_of_the_corpus_is_accounted_for(
    corpus: Path, record_property: RecordProperty
) -> None:
    total: Counter[str] = Counter()
    for home in sorted((corpus / "real").glob("*/*/*")):
        for reading in readings(SOURCE, home):
            for account in reading.accounts:
                assert accounted(account) == account.size == Path(account.path).stat().st_size
                total["bytes"] += account.size
                total["files"] += 1
                for fate, tallies in (
                    ("used", account.used),
                    ("ignored", account.ignored),
                    ("problem", account.problem),
                ):
                    total[f"records {fate}"] += sum(tally.records for tally in tallies.values())
                assert not account.unknown_fields, account.path
    record_property("counts", f"accounted for: {dict(total)}")


@pytest.mark.parametrize("file", WILD, ids=lambda file: file.name)
def test_files_by_other_hands_read_too(file: Path) -> None:
    reading = SOURCE.read_alone(file)
    assert reading is not None
    assert sum(len(session.messages) for session in reading.sessions) > 0
    assert all(accounted(account) == account.size for account in reading.accounts)
