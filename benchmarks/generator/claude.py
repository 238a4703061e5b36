"""Sessions as Claude Code writes them."""

from __future__ import annotations

from typing import Any

from generator.draft import LogDraft, Record, compact
from generator.plan import PlannedSession, Wish, identity

MODELS = ("claude-sonnet-4-5-20250929", "claude-opus-4-5-20251101", "claude-haiku-4-5-20251001")
LARGEST_CONTEXT = 190_000


class ClaudeDraft(LogDraft):
    """One session of Claude Code."""

    def __init__(self, wish: Wish, session: PlannedSession) -> None:
        super().__init__(wish, session)
        self._model = self.random.choice(MODELS)
        self._context = self.random.randrange(9000, 20_000)
        self._previous: str | None = None

    def write(self) -> None:
        """Turns until the session has its size."""
        while not self.lines or self.length < self.session.size:
            self._put({"type": "user", "message": {"role": "user", "content": self.prompt()}})
            self.truth.user += 1
            for number in range(self.steps() + 1):
                is_last = self._answer(is_first=number == 0)
                if is_last or self.length > self.session.size:
                    break
        folder = self.project.folder.replace("/", "-")
        self.files.append((f".claude/projects/{folder}/{self.session.id}.jsonl", self.body()))

    def _put(self, record: Record) -> None:
        own = identity(self.random)
        where = {
            "parentUuid": self._previous,
            "isSidechain": False,
            "userType": "external",
            "cwd": self.project.folder,
            "sessionId": self.session.id,
            "version": "2.0.14",
            "gitBranch": "main",
        }
        self.add({**where, **record, "uuid": own, "timestamp": self.tick(0.5, 20)})
        self._previous = own

    def _answer(self, *, is_first: bool) -> bool:
        """One answer of the service and the results of its calls; whether the turn ends with it."""
        random = self.random
        message_id = f"msg_01{random.getrandbits(128):032x}"[:28]
        request_id = f"req_011{random.getrandbits(100):025x}"[:28]
        blocks: list[Record] = []
        if random.random() < 0.5:
            thought = self.prose(400, 0.6, 60, 3000) + self.needles("thought")
            signature = f"{random.getrandbits(1200):0300x}"
            blocks.append({"type": "thinking", "thinking": thought, "signature": signature})
            self.truth.thoughts += 1
        is_last = not is_first and random.random() < 0.3
        if is_last or random.random() < 0.5:
            blocks.append({"type": "text", "text": self.answer()})
        calls = self._calls() if not is_last or not blocks else []
        blocks += calls
        self.truth.tool_calls += len(calls)
        self._put_blocks(blocks, message_id, request_id)
        for call in calls:
            self._put_result(call["id"])
        return is_last

    def _calls(self) -> list[Record]:
        return [self._call() for _ in range(self.random.choice((1, 1, 1, 2)))]

    def _call(self) -> Record:
        random = self.random
        call_id = f"toolu_01{random.getrandbits(96):024x}"[:30]
        name = random.choice(("Read", "Bash", "Grep", "Edit", "Write"))
        if name == "Bash":
            command = self.vocabulary.prose(random, 30, 0)
            arguments = {"command": command, "description": "Run it"}
        else:
            arguments = {"file_path": f"{self.project.folder}/{random.choice(self.vocabulary.paths)}"}
        if name == "Edit":
            arguments["old_string"] = self.code(300)
            arguments["new_string"] = self.code(400)
        return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}

    def _put_blocks(self, blocks: list[Record], message_id: str, request_id: str) -> None:
        """A line for each block, all with the same id; the tokens of the last one are true."""
        length = sum(len(compact(block)) for block in blocks)
        self._grow(length)
        output = max(8, length // 4)
        is_growing = len(blocks) > 1 and self.random.random() < 0.5
        for number, block in enumerate(blocks):
            is_whole = not is_growing or number == len(blocks) - 1
            tokens = self._tokens(output if is_whole else 8)
            message = {
                "model": self._model,
                "id": message_id,
                "type": "message",
                "role": "assistant",
                "content": [block],
                "stop_reason": None,
                "stop_sequence": None,
                "usage": _usage(tokens),
            }
            self._put({"message": message, "requestId": request_id, "type": "assistant"})
            self.truth.tokens_naive_lines.update(tokens)
            if number == 0:
                self.truth.tokens_first_line.update(tokens)
        self.count_once(self._tokens(output), self._model)
        self.truth.assistant += 1

    def _tokens(self, output: int) -> dict[str, int]:
        cached = int(self._context * 0.9)
        return {"input": 5, "output": output, "cache_creation": self._context - cached - 5, "cached": cached}

    def _grow(self, length: int) -> None:
        self._context = min(LARGEST_CONTEXT, self._context + length // 4)

    def _put_result(self, call_id: str) -> None:
        output = self.tool_output()
        self._grow(len(output))
        result = {"tool_use_id": call_id, "type": "tool_result", "content": output}
        shown = {"stdout": output, "stderr": "", "interrupted": False, "isImage": False}
        message = {"role": "user", "content": [result]}
        self._put({"type": "user", "message": message, "toolUseResult": shown})


def _usage(tokens: dict[str, int]) -> dict[str, Any]:
    written = tokens["cache_creation"]
    return {
        "input_tokens": tokens["input"],
        "cache_creation_input_tokens": written,
        "cache_read_input_tokens": tokens["cached"],
        "cache_creation": {"ephemeral_5m_input_tokens": written, "ephemeral_1h_input_tokens": 0},
        "output_tokens": tokens["output"],
        "service_tier": "standard",
    }
