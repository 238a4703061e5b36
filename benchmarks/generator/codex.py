"""Sessions as Codex CLI writes them."""

from __future__ import annotations

from collections import Counter

from generator.draft import LogDraft, Record, compact, iso
from generator.plan import PlannedSession, Wish

MODELS = ("gpt-5-codex", "gpt-5.1-codex-max", "gpt-5.2-codex")
LARGEST_CONTEXT = 250_000


class CodexDraft(LogDraft):
    """One session of Codex CLI."""

    def __init__(self, wish: Wish, session: PlannedSession) -> None:
        super().__init__(wish, session)
        self._model = self.random.choice(MODELS)
        self._context = self.random.randrange(5000, 12_000)
        self._used: Counter[str] = Counter()

    def write(self) -> None:
        """Turns until the session has its size."""
        self._put_header()
        while not self.truth.user or self.length < self.session.size:
            self._put_prompt()
            steps = self.steps() + 1
            for number in range(steps):
                self._put_step(is_last=number == steps - 1)
        start = self.session.start
        name = f"rollout-{start:%Y-%m-%dT%H-%M-%S}-{self.session.id}.jsonl"
        self.files.append((f".codex/sessions/{start:%Y/%m/%d}/{name}", self.body()))

    def _put(self, kind: str, payload: Record) -> None:
        self.add({"timestamp": self.tick(0.2, 12), "type": kind, "payload": payload})

    def _put_header(self) -> None:
        header = {
            "id": self.session.id,
            "timestamp": iso(self.session.start),
            "cwd": self.project.folder,
            "originator": "codex_cli_rs",
            "cli_version": "0.63.0",
            "instructions": None,
            "source": "cli",
            "model_provider": "openai",
            "git": {"commit_hash": f"{self.random.getrandbits(160):040x}", "branch": "main"},
        }
        self._put("session_meta", header)

    def _put_prompt(self) -> None:
        text = self.prompt()
        content = [{"type": "input_text", "text": text}]
        self._put("response_item", {"type": "message", "role": "user", "content": content})
        self._put("event_msg", {"type": "user_message", "message": text, "images": []})
        context = {
            "cwd": self.project.folder,
            "approval_policy": "on-request",
            "sandbox_policy": {"mode": "workspace-write"},
            "model": self._model,
            "effort": "medium",
            "summary": "auto",
        }
        self._put("turn_context", context)
        self.truth.user += 1

    def _put_step(self, *, is_last: bool) -> None:
        """One answer of the service: a thought, then a call or words, then the count of tokens."""
        length = self._put_thought()
        length += self._put_words() if is_last else self._put_call()
        self._context = min(LARGEST_CONTEXT, self._context + length // 4)
        output, thoughts = max(1, length // 4), self.random.randrange(0, 400)
        used = {
            "input_tokens": self._context,
            "cached_input_tokens": int(self._context * 0.8),
            "output_tokens": output + thoughts,
            "reasoning_output_tokens": thoughts,
            "total_tokens": self._context + output + thoughts,
        }
        self._used.update(used)
        kinds = ("input", "cached", "output", "thoughts", "total")
        tokens = dict(zip(kinds, used.values(), strict=True))
        self.count_once(tokens, self._model)
        totals = {
            "total_token_usage": dict(self._used),
            "last_token_usage": used,
            "model_context_window": 272_000,
        }
        # The same count is often written twice.
        for _ in range(2 if self.random.random() < 0.2 else 1):
            self._put("event_msg", {"type": "token_count", "info": totals, "rate_limits": None})
            self.truth.tokens_naive_lines.update(tokens)

    def _put_thought(self) -> int:
        text = self.prose(200, 0.5, 40, 1500) + self.needles("thought")
        self._put("event_msg", {"type": "agent_reasoning", "text": text})
        summary = [{"type": "summary_text", "text": text}]
        hidden = f"gAAAAAB{self.random.getrandbits(2400):0600x}"
        record = {"type": "reasoning", "summary": summary, "content": None, "encrypted_content": hidden}
        self._put("response_item", record)
        self.truth.thoughts += 1
        return len(text)

    def _put_call(self) -> int:
        call_id = f"call_{self.random.getrandbits(96):024x}"
        command = ["bash", "-lc", self.vocabulary.prose(self.random, 40, 0)]
        arguments = compact({"command": command, "workdir": self.project.folder})
        call = {"type": "function_call", "name": "shell", "arguments": arguments, "call_id": call_id}
        self._put("response_item", call)
        output = self.tool_output()
        result = compact({"output": output, "metadata": {"exit_code": 0, "duration_seconds": 0.2}})
        self._put("response_item", {"type": "function_call_output", "call_id": call_id, "output": result})
        self.truth.tool_calls += 1
        self._context += len(output) // 4
        return len(arguments)

    def _put_words(self) -> int:
        text = self.answer()
        self._put("event_msg", {"type": "agent_message", "message": text})
        content = [{"type": "output_text", "text": text}]
        self._put("response_item", {"type": "message", "role": "assistant", "content": content})
        self.truth.assistant += 1
        return len(text)
