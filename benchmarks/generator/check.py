"""Whether a home that was made agrees with its own truth, by readers that are slow, plain and nobody else's.

cd benchmarks && python -m generator.check HOME
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from generator.draft import Record

Answers = dict[str, Any]
"""What was found, by where it stands in the truth: `tokens`, `messages.user` …"""


def main() -> int:
    """Say what is wrong; 1 if anything is."""
    wrong = disagreements(Path(sys.argv[1]))
    print("\n".join(wrong) or "The home agrees with its truth.")
    return 1 if wrong else 0


def disagreements(home: Path) -> list[str]:
    """What of the truth is not so."""
    truth = json.loads((home / "truth.json").read_text("utf-8"))
    found = READERS[truth["agent"]](home)
    wrong = [
        f"{name}: found {answer}, truth {wanted}"
        for name, answer in found.items()
        if (wanted := _at(truth, name)) != answer
    ]
    return wrong + list(_needles_elsewhere(home, truth))


def _at(truth: Record, name: str) -> Any:
    value: Any = truth
    for key in name.split("."):
        value = value[key]
    return value


def _needles_elsewhere(home: Path, truth: Record) -> Iterator[str]:
    """Every needle is where the truth says, and nowhere else."""
    found: dict[str, set[str]] = {name: set() for name in truth["needles"]}
    for session in truth["by_session"]:
        for file in session["files"]:
            text = (home / file).read_text("utf-8")
            for name, needle in truth["needles"].items():
                if needle["text"] in text:
                    found[name].add(session["id"])
    for name, needle in truth["needles"].items():
        is_elsewhere = needle["ids"] and set(needle["ids"]) != found[name]
        if is_elsewhere or needle["sessions"] != len(found[name]):
            yield f"needle {name}: found in {len(found[name])} sessions, truth {needle['sessions']}"


def _lines(file: Path) -> Iterator[Record]:
    """The values of a log; a torn line is none."""
    for line in file.read_text("utf-8").split("\n"):
        try:
            yield json.loads(line)
        except ValueError:
            continue


def _read_gemini(home: Path) -> Answers:
    files = sorted(home.glob(".gemini/tmp/*/chats/**/*.json*"), key=lambda file: (file.suffix, file))
    sessions: dict[str, dict[str, Record]] = {}
    in_all_lines: Counter[str] = Counter()
    for file in files:
        if not file.stat().st_size:
            continue
        session_id, messages, written = (
            _gemini_log(file) if file.suffix == ".jsonl" else _gemini_document(file)
        )
        # What a log says of a message takes the place of what the document beside it says.
        sessions.setdefault(session_id, {}).update(messages)
        if file.suffix == ".jsonl" or not file.with_suffix(".jsonl").exists():
            for message in written:
                in_all_lines.update(message.get("tokens") or {})
    kinds: Counter[str] = Counter(user=0, assistant=0, tool_echo=0, other=0)
    tokens: Counter[str] = Counter()
    calls = 0
    for message in (message for messages in sessions.values() for message in messages.values()):
        kinds[_kind(message)] += 1
        calls += len(message.get("toolCalls", ()))
        tokens.update(message.get("tokens") or {})
    return {
        "files": len(files),
        "sessions_with_messages": sum(bool(messages) for messages in sessions.values()),
        "messages": kinds,
        "tool_calls": calls,
        "tokens": tokens,
        "tokens_naive_lines": in_all_lines,
    }


def _gemini_document(file: Path) -> tuple[str, dict[str, Record], list[Record]]:
    document = json.loads(file.read_text("utf-8"))
    messages = document["messages"]
    return document["sessionId"], {message["id"]: message for message in messages}, messages


def _gemini_log(file: Path) -> tuple[str, dict[str, Record], list[Record]]:
    """The session's id, its messages in the end, and every record of a message."""
    session_id = ""
    messages: dict[str, Record] = {}
    written = []
    for record in _lines(file):
        match record:
            case {"$rewindTo": str(target)}:
                ids = list(messages)
                for taken_back in ids[ids.index(target) if target in messages else 0 :]:
                    del messages[taken_back]
            case {"$set": {"messages": list(history)}}:
                messages = {message["id"]: message for message in history}
            case {"$set": _}:
                continue
            case {"id": str(message_id)}:
                messages[message_id] = record
                written.append(record)
            case _:
                session_id = record["sessionId"]
    return session_id, messages, written


def _kind(message: Record) -> str:
    match message:
        case {"type": "user", "content": [{"functionResponse": _}, *_]}:
            return "tool_echo"
        case {"type": "user"}:
            return "user"
        case {"type": "gemini"}:
            return "assistant"
        case _:
            return "other"


def _read_claude(home: Path) -> Answers:
    files = list(home.glob(".claude/projects/*/*.jsonl"))
    usage_of_answer: dict[tuple[str, str], dict[str, int]] = {}
    prompts = 0
    for record in (record for file in files for record in _lines(file)):
        message = record["message"]
        if record["type"] == "assistant":
            usage_of_answer[message["id"], record["requestId"]] = message["usage"]
        elif isinstance(message["content"], str):
            prompts += 1
    return {
        "files": len(files),
        "messages.user": prompts,
        "messages.assistant": len(usage_of_answer),
        "tokens.output": sum(usage["output_tokens"] for usage in usage_of_answer.values()),
        "tokens.cached": sum(usage["cache_read_input_tokens"] for usage in usage_of_answer.values()),
    }


def _read_codex(home: Path) -> Answers:
    files = list(home.glob(".codex/sessions/*/*/*/*.jsonl"))
    return {"files": len(files), "tokens.total": sum(map(_last_total, files))}


def _last_total(file: Path) -> int:
    total = 0
    for record in _lines(file):
        match record["payload"]:
            case {"type": "token_count", "info": {"total_token_usage": {"total_tokens": int(running)}}}:
                total = running
    return total


READERS: dict[str, Callable[[Path], Answers]] = {
    "gemini": _read_gemini,
    "claude": _read_claude,
    "codex": _read_codex,
}


if __name__ == "__main__":
    sys.exit(main())
