"""Sessions as Gemini CLI writes them: whole documents (.json), logs of changes (.jsonl) since March 2026."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from random import Random

from generator.draft import Draft, Record, SessionTruth, compact, indented, iso
from generator.plan import Plan, PlannedSession, Wish, identity

MODELS = ("gemini-2.5-pro", "gemini-2.5-flash", "gemini-3-pro-preview", "gemini-3-flash-preview")
TOOLS = (
    ("read_file", "ReadFile", "file_path"),
    ("run_shell_command", "Shell", "command"),
    ("search_file_content", "SearchText", "pattern"),
    ("replace", "Edit", "file_path"),
    ("write_file", "WriteFile", "file_path"),
    ("list_directory", "ReadFolder", "dir_path"),
    ("glob", "FindFiles", "pattern"),
    ("web_fetch", "WebFetch", "prompt"),
)
TOOL_WEIGHTS = (34, 26, 14, 10, 6, 5, 3, 2)
DESCRIPTION = (
    "Reads and returns the content of a specified file. If the file is large, the content will be "
    "truncated. The tool's response will clearly indicate if truncation has occurred and will "
    "provide details on how to read more of the file using the 'offset' and 'limit' parameters."
)
RESULTS_WRITTEN_TWICE = datetime(2026, 6, 15, tzinfo=UTC)
"""From then on a tool's result is a record of its own too, and no call joins the record before."""
LARGEST_CONTEXT = 900_000


class GeminiDraft(Draft):
    """One session of Gemini CLI."""

    def __init__(self, wish: Wish, session: PlannedSession) -> None:
        super().__init__(wish, session)
        self._context = self.random.randrange(4000, 16_000)
        self._model = self.random.choice(MODELS)
        self._previous: Record | None = None
        self._is_log = session.era == "jsonl"
        self._is_early = session.start < RESULTS_WRITTEN_TWICE
        self._head = {
            "sessionId": session.id,
            "projectHash": self.project.hash,
            "startTime": iso(session.start),
            "lastUpdated": "",
        }

    def write(self) -> None:
        """A log, or one or two documents."""
        if self._is_log:
            self._write_log()
        else:
            self._write_documents()

    def _name(self, stamp: str) -> str:
        return f"session-{stamp}-{self.session.id[:8]}.json"

    # Documents.

    def _write_documents(self) -> None:
        folder = self.project.hash if self.project.era == "json" else self.project.slug
        chats = f".gemini/tmp/{folder}/chats"
        name = self._name(f"{self.session.start:%Y-%m-%dT%H-%M}")
        if self.session.flaw == "empty_file":
            self.files.append((f"{chats}/{name}", ""))
            return
        last_versions = {versions[-1]["id"]: versions[-1] for versions in self._turns()}
        messages = list(last_versions.values())
        for message in messages:
            self._count(message)
            if tokens := message.get("tokens"):
                self.truth.tokens_naive_lines.update(tokens)
                self.truth.tokens_spent.update(tokens)
        self._write_document(f"{chats}/{name}", self._first_half(messages), iso(self.session.start))
        if self._is_split(messages):
            rest = messages[len(messages) // 2 :]
            started = rest[0]["timestamp"]
            other = self._name(f"{started[:10]}T{started[11:13]}-{started[14:16]}")
            if other == name:
                other = f"{name.removesuffix('.json')}b.json"
            self._write_document(f"{chats}/{other}", rest, started)

    def _is_split(self, messages: list[Record]) -> bool:
        """Whether the history was compressed, and the session went on in another file."""
        return self.session.flaw == "split" and len(messages) > 3

    def _first_half(self, messages: list[Record]) -> list[Record]:
        """What is in the first file: all, or half and a note."""
        if not self._is_split(messages):
            return messages
        half = len(messages) // 2
        time = messages[half - 1]["timestamp"]
        self.truth.other += 1
        note = {"id": identity(self.random), "timestamp": time, "type": "info", "content": ""}
        return [*messages[:half], note]

    def _write_document(self, file: str, messages: list[Record], started: str) -> None:
        times = {"startTime": started, "lastUpdated": messages[-1]["timestamp"]}
        document: Record = {**self._head, **times, "messages": messages}
        if self.random.random() < 0.2:
            document["summary"] = self.prose(60, 0.3, 30, 120)
        self.files.append((file, indented(document)))

    # Logs.

    def _write_log(self) -> None:
        flaw = self.session.flaw
        file = self._log_file()
        kind = "subagent" if flaw == "subagent" else "main"
        lines = [compact({**self._head, "lastUpdated": iso(self.session.start), "kind": kind})]
        if flaw == "header_only":
            self.files.append((file, f"{lines[0]}\n"))
            return
        messages = self._add_turns(lines)
        if self.random.random() < 0.25:
            lines.append(compact({"$set": {"summary": self.prose(60, 0.3, 30, 120)}}))
        for message in messages:
            self._count(message)
        torn = lines[-2][:60] if flaw == "torn" else ""
        self.files.append((file, "\n".join(lines) + "\n" + torn))
        if flaw == "migrated":
            # The document that it was resumed from was left beside it.
            early = messages[: max(2, len(messages) // 2)]
            document = {**self._head, "lastUpdated": early[-1]["timestamp"], "messages": early}
            self.files.append((file.removesuffix("l"), indented(document)))

    def _log_file(self) -> str:
        chats = f".gemini/tmp/{self.project.slug}/chats"
        if self.session.flaw == "subagent":
            return f"{chats}/{identity(self.random)}/{self.session.id}.jsonl"
        return f"{chats}/{self._name(f'{self.session.start:%Y-%m-%dT%H-%M}')}l"

    def _add_turns(self, lines: list[str]) -> list[Record]:
        """All that is said, with what befalls the session half-way; the messages that are left."""
        live: dict[str, Record] = {}
        spent: set[str] = set()
        length, is_flaw_due = 0, self.session.flaw in ("checkpoint", "rewind")
        for versions in self._turns():
            for message in versions:
                line = compact(message)
                lines.append(line)
                length += len(line)
                live[message["id"]] = message
                if tokens := message.get("tokens"):
                    self.truth.tokens_naive_lines.update(tokens)
                    if message["id"] not in spent:
                        spent.add(message["id"])
                        self.truth.tokens_spent.update(tokens)
            lines.append(compact({"$set": {"lastUpdated": self.tick(0.01, 0.2)}}))
            if is_flaw_due and length > self.session.size // 2:
                is_flaw_due = False
                if self.session.flaw == "checkpoint":
                    lines.append(compact({"$set": {"messages": list(live.values())}}))
                else:
                    lines += self._taken_back()
        if is_flaw_due and self.session.flaw == "rewind":
            self.truth.flaw = None
        return list(live.values())

    def _taken_back(self) -> list[str]:
        """A prompt and its answer, and that the user goes back to before them."""
        prompt = {
            "id": identity(self.random),
            "timestamp": self.tick(),
            "type": "user",
            "content": [{"text": self.prose(80, 0.4, 20, 400) + self.needles("rewound")}],
        }
        answer = self._step(is_last=True)[-1]
        self.truth.tokens_naive_lines.update(answer["tokens"])
        self.truth.tokens_spent.update(answer["tokens"])
        return [compact(prompt), compact(answer), compact({"$rewindTo": prompt["id"]})]

    # What is said.

    def _turns(self) -> Iterator[list[Record]]:
        """Messages until the session has its size: the versions of each, in the order they are written."""
        length = 0
        while not length or length < self.session.size:
            text = self.prompt()
            content = [{"text": text}] if self._is_log else text
            record = {
                "id": identity(self.random),
                "timestamp": self.tick(2, 900),
                "type": "user",
                "content": content,
            }
            length += len(text.encode()) + 120
            self._grow(len(text) // 4)
            self._previous = None
            yield [record]
            for number in range(self.steps()):
                versions = self._step(is_last=not (number or self.random.random() < 0.8))
                length += self._length(versions)
                yield versions
                if not self._is_early and self._is_log and (calls := versions[-1].get("toolCalls")):
                    echo = self._echo(calls)
                    length += len(compact(echo))
                    yield [echo]
                if length > self.session.size:
                    break
            versions = self._step(is_last=True)
            length += self._length(versions)
            yield versions
            if self.random.random() < 0.08:
                yield [self._notice()]

    def _grow(self, tokens: int) -> None:
        self._context = min(LARGEST_CONTEXT, self._context + tokens)

    def _length(self, versions: list[Record]) -> int:
        """How much of the file they are: a document has the last version alone."""
        return sum(len(compact(version)) for version in (versions if self._is_log else versions[-1:]))

    def _echo(self, calls: list[Record]) -> Record:
        return {
            "id": identity(self.random),
            "timestamp": self.tick(0.01, 0.5),
            "type": "user",
            "content": [call["result"][0] for call in calls],
        }

    def _notice(self) -> Record:
        return {
            "id": identity(self.random),
            "timestamp": self.tick(),
            "type": self.random.choice(("info", "error", "warning")),
            "content": self.prose(80, 0.5, 10, 300),
        }

    def _step(self, *, is_last: bool) -> list[Record]:
        """One answer of the service: the versions of its record, of which the last is the truth."""
        thoughts = self._thoughts()
        text = self.answer() if is_last or self.random.random() < 0.4 else ""
        previous = self._previous
        if previous and not is_last and not text and not thoughts and self._is_early:
            # Nothing was said and nothing thought: the call joins the record before.
            calls = [*previous.get("toolCalls", []), self._tool_call()]
            self._previous = {**previous, "toolCalls": calls}
            return [self._previous]
        self._grow(len(text) // 4 + 150)
        tokens = self._tokens(len(text) + 40)
        message: Record = {
            "id": identity(self.random),
            "timestamp": self.tick(1, 20),
            "type": "gemini",
            "content": text,
            "thoughts": thoughts,
            "tokens": tokens,
            "model": self._model,
        }
        versions = []
        if self.random.random() < 0.15:
            # Tokens arrive after the message was first written.
            versions.append({**message, "tokens": None})
        if not is_last:
            calls = [self._tool_call() for _ in range(self.random.choice((1, 1, 1, 2, 3)))]
            versions.append(message)
            if len(calls) > 1 and self.random.random() < 0.4:
                versions.append({**message, "toolCalls": calls[:1]})
            message = {**message, "toolCalls": calls}
            self._grow(sum(map(_output_length, calls)) // 4)
        self._previous = message
        return [*versions, message]

    def _thoughts(self) -> list[Record]:
        if self.random.random() < 0.35:
            return []
        words = self.vocabulary.words[:2000]
        return [
            {
                "subject": " ".join(word.title() for word in self.random.choices(words, k=3)),
                "description": self.prose(320, 0.6, 60, 2500) + self.needles("thought"),
                "timestamp": self.tick(0.3, 6),
            }
            for _ in range(self.random.choice((1, 1, 2, 3)))
        ]

    def _tokens(self, length: int) -> dict[str, int]:
        sent, output = self._context, max(1, length // 4)
        thoughts = self.random.choice((0, self.random.randrange(40, 3000)))
        cached = int(sent * self.random.choice((0, 0, 0.5, 0.9)))
        total = sent + output + thoughts
        return {
            "input": sent,
            "output": output,
            "cached": cached,
            "thoughts": thoughts,
            "tool": 0,
            "total": total,
        }

    def _tool_call(self) -> Record:
        ((name, display_name, argument),) = self.random.choices(TOOLS, weights=TOOL_WEIGHTS)
        call_id = f"{name}-{int(self.now.timestamp() * 1000)}-{self.random.getrandbits(52):013x}"
        is_path = "path" in argument
        value = (
            self.random.choice(self.vocabulary.paths)
            if is_path
            else self.vocabulary.prose(self.random, 30, 0)
        )
        arguments = {argument: value}
        if name in ("replace", "write_file"):
            text = self.code(self.size(900, 1.0, 40, 20_000))
            arguments["content" if name == "write_file" else "new_string"] = text
        output = self.tool_output()
        is_error = self.random.random() < 0.06
        response = {"error" if is_error else "output": output}
        call: Record = {
            "id": call_id,
            "name": name,
            "args": arguments,
            "result": [{"functionResponse": {"id": call_id, "name": name, "response": response}}],
            "status": "error" if is_error else "success",
            "timestamp": self.tick(0.1, 9),
        }
        if self.random.random() < 0.7:
            call["resultDisplay"] = output[:200] if name != "run_shell_command" else output
        shown = {"displayName": display_name, "description": DESCRIPTION, "renderOutputAsMarkdown": True}
        return call | shown

    def _count(self, message: Record) -> None:
        """Add a message that is there in the end to the truth."""
        truth = self.truth
        match message:
            case {"type": "user", "content": [{"functionResponse": _}, *_]}:
                truth.tool_echo += 1
            case {"type": "user"}:
                truth.user += 1
            case {"type": "gemini"}:
                truth.assistant += 1
            case _:
                truth.other += 1
        truth.tool_calls += len(message.get("toolCalls", ()))
        truth.thoughts += len(message.get("thoughts", ()))
        if tokens := message.get("tokens"):
            truth.count(tokens, message["model"], message["timestamp"][:10])


def _output_length(call: Record) -> int:
    return len(call["result"][0]["functionResponse"]["response"].get("output", ""))


def write_companions(wish: Wish, plan: Plan, truths: list[SessionTruth]) -> None:
    """The files beside sessions: the register of projects, their folders, the typed words, saved chats."""
    random = Random(f"extras:{wish.seed}")
    agent_home = wish.home / ".gemini"
    registered: dict[str, str] = {}
    by_folder: dict[str, list[SessionTruth]] = {}
    for truth in truths:
        for file in truth.files:
            by_folder.setdefault(Path(file).parts[2], []).append(truth)
    for project in plan.projects:
        for name in (project.hash, project.slug):
            if name not in by_folder:
                continue
            if name == project.slug:
                registered[project.folder] = name
                _write(agent_home / "tmp" / name / ".project_root", project.folder)
                _write(agent_home / "history" / name / ".project_root", project.folder)
            typed = [_typed(truth) for truth in by_folder[name][:50]]
            _write(agent_home / "tmp" / name / "logs.json", json.dumps(typed, indent=2))
            if random.random() < 0.2:
                saved = [{"role": "user", "parts": [{"text": "hello"}]}]
                chat = agent_home / "tmp" / name / "checkpoint-before-refactor.json"
                _write(chat, json.dumps(saved, indent=2))
    if registered:
        _write(agent_home / "projects.json", json.dumps({"projects": registered}, indent=2))
    _write(agent_home / "settings.json", json.dumps({"general": {"sessionRetention": {"enabled": False}}}))


def _typed(truth: SessionTruth) -> Record:
    line = {"sessionId": truth.id, "messageId": 0, "type": "user", "message": "/chat list"}
    return {**line, "timestamp": truth.start}


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8", newline="")
