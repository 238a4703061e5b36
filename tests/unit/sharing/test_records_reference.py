"""What other tools make of published sessions, and how our records differ from it: all of it is explained.

The sessions are of Gemini CLI, Claude Code and Codex CLI. Those of Cursor in the same folder are not
compared, since no reader of ours reads them.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from geminids.core.model import Session
from geminids.core.timestamps import parse_time
from geminids.query.sessions.input_files import sessions_in
from geminids.sharing.export.losses import LossReport, Verdict
from geminids.sharing.records.evidence import evidence_of
from geminids.sharing.records.formats import VacSimple
from geminids.sharing.records.natives import read_natives
from geminids.sharing.records.simple import simple_record
from geminids.sharing.records.translation import record_of
from tests.conftest import RecordProperty
from tests.support.exporting import looked_at_sessions, manner
from tests.support.tried_losses import tried_losses

NATIVES = (
    "gemini-gemini-3-pro-preview.json",
    "claude-opus-4-6.jsonl",
    "codex-gpt-5-2-codex.jsonl",
    "codex-gpt-5-2.jsonl",
)
Record = dict[str, Any]


class Told:
    """All words, numbers and moments that a record tells anywhere."""

    def __init__(self, record: Record) -> None:
        self._values = frozenset(told_values(record))
        self._words = "\0".join(value for value in self._values if isinstance(value, str))

    def has(self, value: Any) -> bool:
        """Whether a value is told: words may stand among others."""
        return value in self._values or (isinstance(value, str) and value in self._words)

    def has_all_of(self, value: Any) -> bool:
        return all(map(self.has, told_values(value)))


class Difference(NamedTuple):
    """One value that is not the same in both records."""

    kind: str
    """Where, with the kind of an entry for its place, and whether it is missing, added or changed in ours."""
    theirs: Any
    ours: Any
    told: Told
    """What our record tells."""


class Why(NamedTuple):
    """Why some kinds of differences are there, and what must be true of each of them for that to be so."""

    reason: str
    holds: Callable[[Difference], bool]
    kinds: tuple[str, ...]


def is_added(difference: Difference) -> bool:
    return difference.theirs is None


def is_dropped(difference: Difference) -> bool:
    return difference.ours is None


def is_told_elsewhere(difference: Difference) -> bool:
    """Whether all that they tell here is told somewhere in our record."""
    return difference.told.has_all_of(difference.theirs)


def has_the_same_words(difference: Difference) -> bool:
    return words(difference.theirs) == words(difference.ours)


def is_below_the_reply(difference: Difference) -> bool:
    return bool(difference.ours == "assistant")


def is_parsed(difference: Difference) -> bool:
    """Whether ours is what the text of theirs says, or has it whole under a name."""
    try:
        return bool(json.loads(difference.theirs) == difference.ours)
    except ValueError:
        return difference.theirs in difference.ours.values()


def is_without_its_wrapping(difference: Difference) -> bool:
    """Whether ours is the output that stands in an answer of an API or in a text of JSON, if there is any."""
    theirs = difference.theirs
    match theirs:
        case "":
            return bool(difference.ours == [])
        case str():
            return bool(json.loads(theirs)["output"] == difference.ours)
        case _:
            return is_told_elsewhere(difference)


def is_told_in_pieces(difference: Difference) -> bool:
    """Whether each of the thoughts that are one text there is told."""
    pieces = re.split(r"\n(?=\*\*)", difference.theirs["content"])
    return all(map(difference.told.has, (*pieces, difference.theirs.get("encrypted", ""))))


def has_counts_that_are_told(difference: Difference) -> bool:
    """Whether all counts are told; ours are without thoughts where theirs hold them."""
    for counts in difference.theirs.get("token-usage", {}).values():
        if isinstance(counts, dict):
            thoughts = counts["reasoning_output_tokens"]
            if not all(difference.told.has(n) or difference.told.has(n - thoughts) for n in counts.values()):
                return False
    return difference.told.has(parse_time(difference.theirs["timestamp"]))


def names_the_agent_too(difference: Difference) -> bool:
    return str(difference.ours).endswith(f":{difference.theirs}")


def is_the_whole_prompt(difference: Difference) -> bool:
    """Whether what came from the cache is counted in."""
    return bool(difference.ours >= difference.theirs) and is_told_elsewhere(difference)


OTHER_MAKER = Why(
    "The record says who made it.",
    lambda difference: difference.ours is not None,
    ("record/recording-agent/name changed", "record/recording-agent/version changed"),
)
SIMPLE = (
    OTHER_MAKER,
    Why(
        "The breakdown that the plainer translation follows drops it; the newest converter passes it on.",
        is_dropped,
        (
            "assistant/token-usage missing",
            "reasoning/timestamp missing",
            "tool-call/description missing",
            "tool-call/displayName missing",
            "tool-call/renderOutputAsMarkdown missing",
            "tool-call/resultDisplay missing",
        ),
    ),
)
FULL = (
    OTHER_MAKER,
    Why(
        "Ids of sessions are only unique together with the agent; the agent's own id is the session-id.",
        names_the_agent_too,
        ("record/id changed",),
    ),
    Why(
        "The same session gives the same bytes, so a record does not say when it was made. Theirs says "
        "when the session began.",
        is_told_elsewhere,
        ("record/created missing",),
    ),
    Why(
        "Times are spelled alike whatever the agent, and are those of what happened: a session or a reply "
        "begins before its line is written. The others stand in the native records.",
        is_told_elsewhere,
        (
            "assistant/timestamp changed",
            "reasoning/timestamp changed",
            "reasoning/timestamp missing",
            "record/session/session-start changed",
            "tool-call/timestamp changed",
            "tool-result/timestamp missing",
            "user/timestamp changed",
        ),
    ),
    Why(
        "The format has members for it that the reference leaves out.",
        is_added,
        (
            "assistant/id added",
            "assistant/model-id added",
            "assistant/token-usage added",
            "reasoning/id added",
            "reasoning/subject added",
            "record/file-attribution added",
            "record/session/agent-meta/models added",
            "record/session/environment added",
            "record/session/environment/vcs added",
            "record/session/session-end added",
            "record/vcs added",
            "tool-call/id added",
            "tool-call/timestamp added",
            "tool-result added",
            "tool-result/id added",
            "tool-result/is-error added",
            "user/id added",
        ),
    ),
    Why(
        "Where it was read, what else the agent wrote there, what we know beyond the format: one key each.",
        is_added,
        (
            "assistant/x-geminids added",
            "assistant/x-native added",
            "assistant/x-source added",
            "record/session/x-geminids added",
            "record/x-geminids added",
            "record/x-source added",
            "tool-call/x-geminids added",
            "tool-result/x-geminids added",
            "user/x-geminids added",
            "user/x-native added",
            "user/x-source added",
        ),
    ),
    Why(
        "Native members stand under one key, not among those of the format, where they could replace them.",
        is_told_elsewhere,
        (
            "assistant/isSidechain missing",
            "assistant/parent-id missing",
            "assistant/requestId missing",
            "assistant/slug missing",
            "assistant/token-usage/cache_creation missing",
            "assistant/token-usage/cache_creation_input_tokens missing",
            "assistant/token-usage/inference_geo missing",
            "assistant/token-usage/service_tier missing",
            "assistant/userType missing",
            "tool-call/description missing",
            "tool-call/displayName missing",
            "tool-call/renderOutputAsMarkdown missing",
            "tool-call/resultDisplay missing",
            "tool-call/status missing",
            "user/isSidechain missing",
            "user/permissionMode missing",
            "user/userType missing",
        ),
    ),
    Why(
        "Counts have the names of the format, and say what they count.",
        is_added,
        (
            "assistant/token-usage/cache-write added",
            "assistant/token-usage/cache-write-hour added",
            "assistant/token-usage/input-includes-cached added",
            "assistant/token-usage/reasoning added",
            "assistant/token-usage/requests added",
            "assistant/token-usage/total added",
        ),
    ),
    Why(
        "Gemini's thoughts are called reasoning there.",
        is_told_elsewhere,
        ("assistant/token-usage/thoughts missing",),
    ),
    Why(
        "The input of every agent is the whole prompt; theirs is without what was cached for some.",
        is_the_whole_prompt,
        ("assistant/token-usage/input changed",),
    ),
    Why(
        "One text is a text, in whatever blocks it stood.",
        has_the_same_words,
        ("assistant/content changed", "user/content changed"),
    ),
    Why(
        "What says nothing is not there; calls that stand in a content are children, and not in it again.",
        is_told_elsewhere,
        ("assistant/content missing",),
    ),
    Why(
        "A reply is one message, with all lines that it was written in; answers stand with their calls.",
        is_told_elsewhere,
        ("assistant missing", "user missing"),
    ),
    Why(
        "Requests of Codex that only thought or called are messages too, which have the thoughts and calls.",
        is_added,
        ("assistant added",),
    ),
    Why(
        "Thoughts, calls and answers stand below the reply that they are part of.",
        is_below_the_reply,
        ("reasoning/(below) changed", "tool-call/(below) changed", "tool-result/(below) changed"),
    ),
    Why(
        "Codex writes thoughts twice, once with all of a reply in one text. They are told once, one by one, "
        "and what is encrypted stands in the native record.",
        is_told_in_pieces,
        ("reasoning missing",),
    ),
    Why(
        "The heading of a thought is its subject.",
        is_told_elsewhere,
        ("reasoning/content changed",),
    ),
    Why(
        "Arguments are told as what they are, and not as a text of JSON.",
        is_parsed,
        ("tool-call/input changed",),
    ),
    Why(
        "What a tool answered is told without what the API puts around it.",
        is_without_its_wrapping,
        ("tool-result/output changed",),
    ),
    Why(
        "Claude Code records whether a call failed, and no status; is-error says it.",
        lambda difference: difference.theirs in ("success", "error"),
        ("tool-result/status missing",),
    ),
    Why(
        "A search of the web has no id, and its arguments have more to them.",
        lambda difference: is_added(difference) or is_told_elsewhere(difference),
        ("tool-call added", "tool-call missing"),
    ),
    Why(
        "Records of no message are told whole, under the names that the agent gives them.",
        lambda difference: is_added(difference) or is_told_elsewhere(difference),
        (
            "system-event injected added",
            "system-event native:event_msg added",
            "system-event native:queue-operation added",
            "system-event native:session added",
            "system-event native:session_meta added",
            "system-event native:turn_context added",
            "system-event queue-operation missing",
        ),
    ),
    Why(
        "Tokens stand with the reply that they were used for; counts that came again are told as they are.",
        has_counts_that_are_told,
        ("system-event token-count missing",),
    ),
)


def words(content: Any) -> str:
    """The words of a content in any of the shapes that it has here."""
    match content:
        case str():
            return content
        case list():
            return "".join(map(words, content))
        case {"text": held} | {"content": held}:
            return words(held)
        case _:
            return ""


def told_values(value: Any) -> Iterator[Any]:
    """Every word, number and moment in a value. What kind of thing it is goes by many names."""
    match value:
        case dict():
            for name, held in value.items():
                if name not in ("type", "event-type", "(below)"):
                    yield from told_values(held)
        case list():
            for held in value:
                yield from told_values(held)
        case str() if value:
            yield parse_time(value) or value
        case int() | float():
            yield value


def differences(theirs: Record, ours: Record) -> Iterator[Difference]:
    """All differences of two records: of what they say as a whole, and of the entries that tell the same."""
    told = Told(ours)
    pairs = [("record", without_entries(theirs), without_entries(ours)), *paired_entries(theirs, ours)]
    for name, one, other in pairs:
        for path, value, our_value in compared(one, other, name):
            yield Difference(path, value, our_value, told)


def without_entries(record: Record) -> Record:
    about = {name: value for name, value in record["session"].items() if name != "entries"}
    return record | {"session": about}


def paired_entries(theirs: Record, ours: Record) -> Iterator[tuple[str, Record | None, Record | None]]:
    """Entries that tell the same, at whatever depth they stand; with None where there is no such one."""
    left: dict[object, list[Record]] = defaultdict(list)
    for entry in entries(ours["session"]["entries"], "session"):
        left[identity(entry)].append(entry)
    for entry in entries(theirs["session"]["entries"], "session"):
        same = left[identity(entry)]
        yield kind_of(entry), entry, same.pop(0) if same else None
    yield from ((kind_of(entry), None, entry) for others in left.values() for entry in others)


def entries(listed: list[Record], below: str) -> Iterator[Record]:
    """Entries and their children, each with the kind of what it stands below."""
    for entry in listed:
        yield {name: value for name, value in entry.items() if name != "children"} | {"(below)": below}
        yield from entries(entry.get("children", []), entry["type"])


def kind_of(entry: Record) -> str:
    return f"{entry['type']} {entry['event-type']}" if "event-type" in entry else str(entry["type"])


def identity(entry: Record) -> object:
    """What an entry is known by in both records."""
    match entry:
        case {"type": "user" | "assistant" as kind, "id": str(own)} if not own.startswith("line-"):
            return kind, own
        case {"type": "user" | "assistant" as kind}:
            return kind, words(entry.get("content"))
        case {"type": "reasoning", "content": content}:
            # A subject stands in front of the words, between stars, or is a member of its own.
            told = entry.get("subject", "") + words(content)
            return "reasoning", "".join(filter(str.isalnum, told))
        case {"type": "tool-call" | "tool-result" as kind, "call-id": str(own)}:
            return kind, own
        case _:
            given = json.dumps(entry.get("input"), sort_keys=True)
            return entry["type"], given, entry.get("event-type"), entry.get("timestamp")


def compared(theirs: Any, ours: Any, path: str) -> Iterator[tuple[str, Any, Any]]:
    match theirs, ours:
        case _ if theirs == ours:
            return
        case None, _:
            yield f"{path} added", None, ours
        case _, None:
            yield f"{path} missing", theirs, None
        case dict(), dict():
            for name in {**theirs, **ours}:
                yield from compared(theirs.get(name), ours.get(name), f"{path}/{name}")
        case list(), list() if len(theirs) == len(ours):
            for one, other in zip(theirs, ours, strict=True):
                yield from compared(one, other, f"{path}/*")
        case _:
            yield f"{path} changed", theirs, ours


@cache
def published(path: Path) -> tuple[Session, Record]:
    """A published session, and what the converter of the same repository makes of it."""
    (session,) = sessions_in(path)
    reference = path.parent.parent / "reference-translation" / f"{path.stem}.spec.json"
    return session, json.loads(reference.read_bytes())


def our_record(session: Session, *, simple: bool) -> Record:
    natives = read_natives(session, lambda path: Path(path).read_bytes())
    return simple_record(session, natives) if simple else record_of(session, evidence_of(session, natives))


def all_differences(corpus: Path, *, simple: bool) -> Iterator[Difference]:
    for name in NATIVES:
        session, reference = published(corpus / "vac" / "native" / name)
        yield from differences(reference, our_record(session, simple=simple))


@pytest.mark.parametrize(("simple", "table"), [(True, SIMPLE), (False, FULL)], ids=["simple", "full"])
def test_every_difference_to_the_reference_is_explained(
    corpus: Path, simple: bool, table: tuple[Why, ...], record_property: RecordProperty
) -> None:
    reasons = {kind: why for why in table for kind in why.kinds}
    assert len(reasons) == sum(len(why.kinds) for why in table)
    found = Counter[str]()
    for difference in all_differences(corpus, simple=simple):
        found[difference.kind] += 1
        why = reasons.get(difference.kind)
        assert why, f"{difference.kind} is not explained: {difference.theirs!r:.200} {difference.ours!r:.200}"
        assert why.holds(difference), (
            f"{difference.kind}: not because {why.reason} {difference.theirs!r:.300}"
        )
    assert reasons.keys() == found.keys(), "some kinds of differences are explained that no longer occur"
    which = "plainer translation" if simple else "translation"
    record_property("counts", f"{which}: {len(found)} kinds of differences to the reference, all explained")


def test_all_published_sessions_are_compared_but_for_those_of_cursor(corpus: Path) -> None:
    """A file that is added to the folder must be compared as well, or be one that we do not read."""
    there = {path.name for path in (corpus / "vac" / "native").iterdir()}
    assert {name for name in there if not name.startswith("cursor-")} == set(NATIVES)


CARRIED = frozenset(
    {
        *("message: id", "message: model", "message: time", "session: id as the agent writes it"),
        *("session: start", "text: your prompts", "text: the model", "thought: subject", "thought: text"),
        *("tool call: arguments", "tool call: id", "tool call: name", "tool call: text that the model got"),
    }
)
DROPPED = {
    "lastUpdated": ("session: end",),
    "projectHash": ("session: hash of its folder",),
    "thoughts[].timestamp": ("thought: time",),
    "tokens": (
        *("message: cached tokens", "message: total tokens", "message: tokens of input"),
        *("message: tokens of output", "message: tokens of thoughts", "message: tokens of tools"),
    ),
    "toolCalls[].description": ("tool call: description",),
    "toolCalls[].displayName": ("tool call: name for people",),
}
"""What the breakdown says is dropped, and what that is in a session."""


def loss_report(session: Session) -> LossReport:
    """What is lost of this session, by trying: the table of the format speaks of all sessions at once."""
    return tried_losses(session, VacSimple(), manner("everything"))


def test_the_loss_report_names_what_the_breakdown_drops(corpus: Path) -> None:
    session, _ = published(corpus / "vac" / "native" / NATIVES[0])
    found = {loss.fact: loss for loss in loss_report(session).losses}
    lost = {fact for fact, loss in found.items() if loss.verdict is Verdict.LOST}
    assert lost.issuperset(fact for facts in DROPPED.values() for fact in facts)
    assert {fact for fact in CARRIED if found[fact].verdict is not Verdict.CARRIED} == set()
    # What a command printed was shown to the human as the model got it; what was shown otherwise is gone.
    shown = found["tool call: text that was shown"]
    assert (shown.carried, shown.lost) == (13, 14)


@pytest.mark.parametrize("case", ["tool-calls-jsonl-2", "claude-tools", "codex-tools"])
def test_the_words_of_every_agent_are_carried(case: str) -> None:
    """Also from a session whose files are gone, whatever the agent: times and ids as well, tokens never."""
    found = {loss.fact: loss.verdict for loss in loss_report(looked_at_sessions()[case]).losses}
    assert {fact for fact in CARRIED & found.keys() if found[fact] is not Verdict.CARRIED} == set()
    assert {found[fact] for fact in DROPPED["tokens"] if fact in found} == {Verdict.LOST}
