"""Questions that people remember by, with the sessions they mean, and how well a search answers them.

    python -m tests.support.questions

`tests/fixtures/questions/` holds sessions and questions that were written before the search, by somebody who
did not know how it works. Here the sessions become homes of the three agents.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from geminids.library import Library
from geminids.query.search.question import Question
from tests.support import claude_lines, codex_homes

FOLDER = Path(__file__).parents[1] / "fixtures" / "questions"
NOW = datetime(2026, 11, 1, tzinfo=UTC)
SHOWN = 5

Line = dict[str, Any]


class Asked(NamedTuple):
    """A question, and the sessions that answer it, by their native ids."""

    kind: str
    words: str
    answers: frozenset[str]


class OutcomeQuestion(NamedTuple):
    """A question about how a session ended."""

    kind: str
    """How it is worded."""
    ask: str
    answer: str
    """The native id of the session."""
    outcome: str
    """Words of the last reply, which an answer must hold."""


class Success(NamedTuple):
    """How many questions of a kind were answered by the first session, and by one of the first five."""

    asked: int
    first: int
    among_five: int


def questions() -> list[Asked]:
    """All of them."""
    written = json.loads((FOLDER / "questions.json").read_text("utf-8"))
    return [Asked(one["kind"], one["ask"], frozenset(one["answers"])) for one in written]


def outcome_questions() -> list[OutcomeQuestion]:
    """Return the questions that a model asks to learn how earlier work ended."""
    return [OutcomeQuestion(**one) for one in _outcomes()["questions"]]


def write_outcome_home(home: Path) -> None:
    """Write the sessions that the outcome questions mean, and as many others of their projects."""
    _write(home, _outcomes()["sessions"])


def _outcomes() -> dict[str, Any]:
    written: dict[str, Any] = json.loads((FOLDER / "outcomes.json").read_text("utf-8"))
    return written


def write_home(home: Path) -> None:
    """The sessions as their agents would have written them."""
    _write(home, json.loads((FOLDER / "sessions.json").read_text("utf-8")))


def _write(home: Path, sessions: list[Line]) -> None:
    for session in sessions:
        _WRITERS[session["agent"]](home, session)


def measured(
    library: Library, search: Callable[[Library, str], list[str]]
) -> tuple[dict[str, Success], list[tuple[Asked, list[str]]]]:
    """How well a search answers, by kind of question; and what it found where the answer was not first."""
    successes: dict[str, Success] = {}
    missed: list[tuple[Asked, list[str]]] = []
    for asked in questions():
        found = search(library, asked.words)[:SHOWN]
        before = successes.get(asked.kind, Success(0, 0, 0))
        is_first = bool(found) and found[0] in asked.answers
        successes[asked.kind] = Success(
            before.asked + 1,
            before.first + is_first,
            before.among_five + (not asked.answers.isdisjoint(found)),
        )
        if not is_first:
            missed.append((asked, found))
    return successes, missed


def by_words(library: Library, words: str) -> list[str]:
    """The sessions that `geminids search` shows, by their native ids."""
    found = library.search(Question(words, limit=SHOWN, forgiving=True, with_names=True), NOW)
    return [hits.session.native_id for hits in found.sessions]


def by_meaning(library: Library, words: str) -> list[str]:
    """The sessions that a search by meaning shows, by their native ids."""
    found = library.like(words, Question("", limit=SHOWN), NOW)
    return [hits.session.native_id for hits in found.sessions]


def _turns(session: Line) -> Iterator[tuple[int, datetime, Line]]:
    at = datetime.fromisoformat(session["at"])
    for number, (who, *told) in enumerate(session["turns"]):
        yield number, at + timedelta(minutes=number), {"who": who, "told": told}


def _written(at: datetime) -> str:
    return f"{at:%Y-%m-%dT%H:%M:%S}.000Z"


def _write_gemini(home: Path, session: Line) -> None:
    project, native_id, at = session["project"], session["id"], datetime.fromisoformat(session["at"])
    folder = home / ".gemini" / "tmp" / Path(project).name
    (folder / "chats").mkdir(parents=True, exist_ok=True)
    (folder / ".project_root").write_text(project)
    begun, digest = _written(at), sha256(project.encode()).hexdigest()
    header = {"sessionId": native_id, "projectHash": digest, "startTime": begun, "lastUpdated": begun}
    lines: list[Line] = [{**header, "kind": "main"}]
    for number, moment, turn in _turns(session):
        base = {"id": f"{native_id[:8]}-{number}", "timestamp": _written(moment)}
        if turn["who"] == "human":
            lines.append({**base, "type": "user", "content": [{"text": turn["told"][0]}]})
            continue
        answer: Line = {**base, "type": "gemini", "content": "", "thoughts": [], "model": "gemini-3-pro"}
        if turn["who"] == "model":
            answer["content"] = turn["told"][0]
        else:
            name, arguments, output = turn["told"]
            response = {
                "functionResponse": {"id": f"c{number}", "name": name, "response": {"output": output}}
            }
            call = {"id": f"c{number}", "name": name, "args": arguments, "status": "success"}
            answer["toolCalls"] = [{**call, "timestamp": _written(moment), "result": [response]}]
        lines.append(answer)
    file = folder / "chats" / f"session-{at:%Y-%m-%dT%H-%M}-{native_id[:8]}.jsonl"
    file.write_text(claude_lines.text_of(lines), "utf-8")


def _write_claude(home: Path, session: Line) -> None:
    before: str | None = None
    lines: list[Line] = []

    def add(record: Line, moment: datetime) -> None:
        nonlocal before
        facts = {"cwd": session["project"], "sessionId": session["id"], "timestamp": _written(moment)}
        lines.append(record | facts)
        before = record["uuid"]

    for number, moment, turn in _turns(session):
        uuid, told = f"{session['id'][:-6]}{number:06}", turn["told"]
        if turn["who"] == "human":
            add(claude_lines.user(uuid, before, told[0]), moment)
        elif turn["who"] == "model":
            add(claude_lines.reply(uuid, before, claude_lines.words(told[0]), reply_id=uuid), moment)
        else:
            call = claude_lines.call(f"toolu_{uuid}", told[0], **told[1])
            add(claude_lines.reply(uuid, before, call, reply_id=uuid), moment)
            answered = claude_lines.answer(f"toolu_{uuid}", told[2])
            add(claude_lines.user(f"{uuid}a", before, [answered]), moment)
    slug = session["project"].replace("/", "-")
    claude_lines.write(home, *lines, name=f"{session['id']}.jsonl", slug=slug)


def _write_codex(home: Path, session: Line) -> None:
    at = datetime.fromisoformat(session["at"])
    lines = [codex_homes.meta(session["id"], cwd=session["project"], timestamp=_written(at))]
    for number, moment, turn in _turns(session):
        told: list[Any] = turn["told"]
        added: list[Line] = []
        if turn["who"] == "human":
            added = [codex_homes.said(told[0]), codex_homes.event("user_message", message=told[0])]
        elif turn["who"] == "model":
            added = [
                codex_homes.said(told[0], "assistant"),
                codex_homes.event("agent_message", message=told[0]),
            ]
        else:
            call_id = f"call_{number}"
            asked = {"type": "function_call", "name": told[0], "arguments": json.dumps(told[1])}
            given = {"type": "function_call_output", "call_id": call_id, "output": told[2]}
            added = [
                codex_homes.line("response_item", {**asked, "call_id": call_id}),
                codex_homes.line("response_item", given),
            ]
        lines += [{**line, "timestamp": _written(moment)} for line in added]
    folder = home / ".codex" / "sessions" / f"{at:%Y/%m/%d}"
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"rollout-{at:%Y-%m-%dT%H-%M-%S}-{session['id']}.jsonl"
    file.write_text(claude_lines.text_of(lines), "utf-8")


_WRITERS: dict[str, Callable[[Path, Line], None]] = {
    "gemini": _write_gemini,
    "claude": _write_claude,
    "codex": _write_codex,
}


def main() -> None:
    """Print how well each kind of question is answered, and which are not; with `-v` what was found."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder, "home")
        write_home(home)
        with Library([home], Path(folder, "data")) as library:
            for name, search in (("by words", by_words), ("by meaning", by_meaning)):
                sys.stdout.write("\n".join([name, *_told(*measured(library, search)), "", ""]))


def _told(successes: dict[str, Success], missed: list[tuple[Asked, list[str]]]) -> Iterator[str]:
    yield f"{'kind':<12} {'asked':>5} {'first':>6} {'of 5':>6}"
    for kind, (asked, first, among_five) in successes.items():
        yield f"{kind:<12} {asked:>5} {first / asked:>6.2f} {among_five / asked:>6.2f}"
    if "-v" in sys.argv:
        for question, found in missed:
            place = next((n for n, one in enumerate(found, 1) if one in question.answers), "-")
            yield f"{place}  {question.kind}: {question.words}"


if __name__ == "__main__":
    main()
