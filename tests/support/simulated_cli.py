"""A Gemini CLI that only writes its session files, and remembers what really happened.

It does what releases 0.44 to 0.61 do with a session log at each action of a user: which lines they
append, what they leave out of a checkpoint, when they write the whole history again under new ids.
Beside the files it keeps the truth, so that a reading can be compared with it. People and models
say the same few words over and over: equal texts are what a reader of such logs trips over.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any
from uuid import UUID

from geminids.core.model import Origin, State

RELEASES = (45, 53, 54, 57, 61)
"""Minor versions that differ in what they write: 0.45.0 and so on."""

CONTEXT_ID = "d04923d38bb0f6017037e74183378ef4"
CONTEXT = {"text": "<session_context>\nThis is the Gemini CLI.\n</session_context>"}
SUMMARY_RECEIVED = "Got it. Thanks for the additional context!"
INTERRUPTED = "[The previous response was interrupted before it completed.]"
CANCELLED = "Request cancelled."
GO_ON = "Please continue."
MASKED = {"output": "<tool_output_masked>\nok\n</tool_output_masked>"}
SHELL = (
    "I ran the following shell command:\n```sh\n{}\n```\n\nThis produced the following result:\n```\nok\n```"
)

_TYPED = ("continue", "ok", "yes", "go")
_ANSWERED = ("ok", "done", "continue")

_DROPPED_SINCE = 53
"""From here on a checkpoint leaves out a prompt that failed or was cancelled."""
_FUSED_SINCE = 54
"""From here on a history that is written again has neighbours of one side in one message."""
_ALL_DROPPED_SINCE = 57
"""From here on a cancelled prompt goes together with all that followed it."""


@dataclass
class TrueTurn:
    """One turn as it really happened."""

    id: str
    origin: Origin
    text: str = ""
    calls: list[str] = field(default_factory=list)
    tokens: int = 0
    state: State = State.CURRENT
    is_certain: bool = True
    """Whether the log says what became of it; see `SimulatedCli.load_chat` and `cancel_tool`."""


@dataclass
class Entry:
    """A message in the CLI's memory, and the turns that it stands for: several, once they are fused."""

    id: str
    side: str
    parts: list[dict[str, Any]]
    at: str
    turns: list[TrueTurn] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    """Thoughts, tokens, model and tool calls, as long as the CLI remembers them."""

    @property
    def holds_answers(self) -> bool:
        """Whether tools answer here."""
        return any("functionResponse" in part for part in self.parts)

    def as_record(self) -> dict[str, Any]:
        """The entry as it stands in a checkpoint."""
        return {"id": self.id, "timestamp": self.at, "type": self.side, "content": self.parts, **self.facts}


class SimulatedCli:
    """Gemini CLI, started once; every public method is something that a user does or lives through."""

    def __init__(self, folder: Path, release: int, chance: Random) -> None:
        self._folder = folder
        self._release = release
        self._chance = chance
        self._clock = datetime(2026, 6, 1, 10, tzinfo=UTC)
        self._numbers = 0
        self._saved: dict[str, list[Entry]] = {}
        self._opening = TrueTurn(CONTEXT_ID, Origin.INJECTED)
        self.session_id = self._new_id()
        self.truth: list[TrueTurn] = []
        """All turns of this session in order, apart from the CLI's opening."""
        self.foreign_words: list[str] = []
        """What was said in other sessions and came here with a chat saved there."""
        self.history: list[Entry] = []
        """What the model sees."""
        self.listed: dict[str, Entry] = {}
        """What the CLI would load from its file: the history, and notices since the last checkpoint."""
        self.file = self._folder / self._file_name()
        self._open(self.file)
        self.history = [self._context()]
        self._checkpoint()

    # What a user does.

    def ask(self) -> None:
        """Type a prompt; the model may use tools before it answers."""
        self._prompt()
        for _ in range(self._chance.choice((0, 0, 1, 2))):
            self._reply_with_calls()
        self._reply()

    def ask_about_a_file(self) -> None:
        """Type a prompt with `@file` in it; the CLI puts the file's text in."""
        texts = (
            "see @a",
            "\n--- Content from referenced files ---",
            "\nContent from @a:\n",
            self._chance.choice(_TYPED),
            "\n--- End of content ---",
        )
        self._say(Origin.HUMAN, [{"text": text} for text in texts], shown=texts[0])
        self._reply()

    def ask_about_an_image(self) -> None:
        """Type a prompt and paste an image."""
        typed = self._chance.choice(_TYPED)
        image = {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}
        self._say(Origin.HUMAN, [{"text": typed}, image], words=typed)
        self._reply()

    def ask_and_have_it_continued(self) -> None:
        """Type a prompt; the CLI finds the answer unfinished and goes on by itself."""
        typed = self._prompt().text
        self._reply()
        self._say(Origin.SYNTHETIC, [{"text": GO_ON}], shown=typed)
        self._reply()

    def run_a_shell_command(self) -> None:
        """Type `!ls`."""
        self._say(Origin.SHELL, [{"text": SHELL.format("ls")}], words="ls")

    def fail(self) -> None:
        """Type a prompt to which the server answers with an error."""
        before = len(self.history)
        self._prompt()
        if self._release >= _DROPPED_SINCE:
            self._drop_from(before, State.FAILED)
            self._checkpoint()
        self._notice("error", "[API Error: no quota]")
        if self._maybe():
            self._notice("info", "This request failed. Press F12 for diagnostics.")

    def fail_after_a_tool(self) -> None:
        """Get the error only after a tool has run: nothing is taken back, the next prompt stands after it."""
        self._prompt()
        self._reply_with_calls()
        self._notice("error", "[API Error: no quota]")
        if self._release > _FUSED_SINCE:
            # Nothing is written of this until a checkpoint.
            turn = TrueTurn(self._new_id(), Origin.SYNTHETIC, INTERRUPTED)
            self.history.append(Entry(turn.id, "gemini", [{"text": INTERRUPTED}], self._now(), [turn]))
        self.ask()

    def cancel(self) -> None:
        """Press Esc while the model answers, perhaps after it has used tools."""
        before = len(self.history)
        self._prompt()
        if self._release >= _ALL_DROPPED_SINCE:
            for _ in range(self._chance.choice((0, 0, 1, 2))):
                self._reply_with_calls()
        self._notice("info", CANCELLED)
        if self._release >= _DROPPED_SINCE:
            self._drop_from(before, State.CANCELLED)
            self._checkpoint()

    def cancel_tool(self) -> None:
        """Press Esc while a tool runs: its call is recorded with an empty message of its own.

        Of a reply that said nothing the log then holds no trace but its tokens, so nobody can see
        whether it is still there once the history is written again; nor can one of that message,
        which never was part of the history.
        """
        self._prompt()
        reply = self._reply(may_be_silent=True)
        reply.turns[0].is_certain = bool(reply.turns[0].text)
        calls = self._calls(1, status="cancelled", response={"error": "[Operation Cancelled]"})
        self.history[-1] = Entry(
            reply.id, "gemini", [*reply.parts, *map(_asked, calls)], reply.at, reply.turns, reply.facts
        )
        self._notice("info", CANCELLED)
        turn = TrueTurn(self._new_id(), Origin.MODEL, calls=[call["id"] for call in calls], is_certain=False)
        facts = {"thoughts": [], "toolCalls": calls, "model": "gemini-pro"}
        holder = Entry(turn.id, "gemini", list(map(_asked, calls)), self._now(), [turn], facts)
        self.truth.append(turn)
        self._record(holder.as_record() | {"content": ""}, holder, touch=False)
        self._say(Origin.TOOL, _answers(calls))

    def decline_tool(self) -> None:
        """Say no to a call; from 0.57 on the prompt goes and the history is written again."""
        if self._release < _ALL_DROPPED_SINCE:
            return
        before = len(self.history)
        self._prompt()
        entry = self._reply(may_be_silent=True)
        self._record_calls(entry, self._calls(1, status="cancelled", response={"error": "declined"}))
        self._notice("info", CANCELLED)
        self._drop_from(before, State.CANCELLED)
        self._write_again(self._copied(self.history))

    def rewind(self) -> None:
        """Go back to before one of the last prompts."""
        prompts = [index for index, entry in enumerate(self.history) if _is_prompt(entry)]
        if not prompts:
            return
        first = self._chance.choice(prompts[-3:])
        target = self.history[first].id
        self._write({"$rewindTo": target})
        self._drop_from(first, State.REWOUND)
        ids = list(self.listed)
        self.listed = {known: self.listed[known] for known in ids[: ids.index(target)]}
        if self._maybe():
            self._checkpoint()

    def compress(self) -> None:
        """Have the history summarised, all but its end; the end is restated under new ids."""
        if len(self.history) < 4:
            return
        later = range(self._chance.randrange(1, len(self.history)), len(self.history))
        starts = (index for index in later if _may_start_the_end(self.history[index]))
        first = next(starts, len(self.history))
        tail = [self._renewed(entry) for entry in self.history[first:]]
        self._drop(self.history[1:first] if self._opens_alone() else self.history[:first], State.COMPRESSED)
        snapshot = f"<state_snapshot>\nsummary {self._next_number()}\n</state_snapshot>"
        summary = [self._invented("user", snapshot), self._invented("gemini", SUMMARY_RECEIVED)]
        self.history = [self._context(), *summary, *tail]
        self._write({"$set": {"sessionId": self.session_id}})
        self._checkpoint()
        if self._maybe():
            self._notice("info", "")

    def mask(self) -> None:
        """Use so much room that the CLI masks what tools answered and writes the history again."""
        if not any(entry.holds_answers for entry in self.history):
            return
        entries = self._copied(self.history)
        answers = [part for entry in entries for part in entry.parts if "functionResponse" in part]
        for answer in answers:
            if self._maybe():
                answer["functionResponse"]["response"] = MASKED
        self._write_again(entries)

    def save_chat(self) -> None:
        """`/chat save`."""
        tag = self._chance.choice(("first", "second"))
        self._saved[tag] = list(self.history)
        self._notice("info", f"Conversation checkpoint saved with tag: {tag}.")

    def load_chat(self) -> None:
        """`/chat resume`: the saved history is written again.

        Where it holds a turn that was dropped since, and the same words were said at another time,
        nobody can tell which of the two was loaded.
        """
        if not self._saved or self._has_just_cancelled():
            return
        saved = self._copied(self._saved[self._chance.choice(sorted(self._saved))])
        loaded, replaced = _turns_of(saved), _turns_of(self.history)
        missing = [turn for turn in loaded if turn not in replaced]
        others = [turn for turn in self.truth if turn not in loaded]
        for turn in missing:
            alike = [other for other in others if (other.origin, other.text) == (turn.origin, turn.text)]
            for uncertain in (turn, *alike) if alike else ():
                uncertain.is_certain = False
        self._drop(self.history, State.SUPERSEDED)
        for turn in loaded:
            turn.state = State.CURRENT
        self._write_again(saved)

    def load_a_chat_of_another_session(self) -> None:
        """`/chat resume` of a chat that was saved elsewhere."""
        if self._has_just_cancelled():
            return
        number = self._next_number()
        words = f"question {number}", f"answer {number}"
        self.foreign_words += words
        opening = self._context()
        opening.id = self._new_id()
        opening.parts.append({"text": words[0]})
        self._drop(self.history, State.SUPERSEDED)
        self._write_again([opening, Entry(self._new_id(), "gemini", [{"text": words[1]}], self._now())])

    def resume_at_once(self) -> None:
        """Leave and `--resume`; in the minute in which the session began, start-up opens its own file."""
        opened = self._folder / self._file_name()
        remembered = list(self.listed.values())
        self._open(opened)
        self.history = [self._context()]
        self._write(self._checkpoint_record(), opened)
        self._write({"$set": {"sessionId": self.session_id}})
        self._restate(remembered, forgetful=opened == self.file)

    def resume_later(self) -> None:
        """Leave, and `--resume` in another minute: start-up leaves a second file."""
        self._clock += timedelta(minutes=1)
        self.resume_at_once()

    # How the CLI does it.

    def _now(self) -> str:
        self._clock += timedelta(milliseconds=self._chance.choice((1, 5, 40, 300)))
        return self._clock.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def _new_id(self) -> str:
        return str(UUID(int=self._next_number() << 96, version=4))

    def _next_number(self) -> int:
        self._numbers += 1
        return self._numbers

    def _maybe(self) -> bool:
        return self._chance.choice((True, False))

    def _file_name(self) -> str:
        return f"session-{self._clock:%Y-%m-%dT%H-%M}-{self.session_id[:8]}.jsonl"

    def _write(self, record: dict[str, Any], file: Path | None = None) -> None:
        with (file or self.file).open("a", encoding="utf-8") as log:
            log.write(json.dumps(record) + "\n")

    def _open(self, file: Path) -> None:
        """Begin to record: a header, whatever the file holds already."""
        now = self._now()
        identity = {"sessionId": self.session_id, "projectHash": "ab" * 32, "kind": "main"}
        self._write({**identity, "startTime": now, "lastUpdated": now}, file)

    def _record(self, message: dict[str, Any], entry: Entry, *, touch: bool = True) -> None:
        """Append a message, or a newer version of it."""
        self._write(message)
        self.listed[entry.id] = entry
        if touch:
            self._write({"$set": {"lastUpdated": self._now()}})

    def _checkpoint_record(self) -> dict[str, Any]:
        messages = [entry.as_record() for entry in self.history]
        return {"$set": {"messages": messages, "lastUpdated": self._now()}}

    def _checkpoint(self) -> None:
        """Write down the whole history; some turns are written here first."""
        self._write(self._checkpoint_record())
        self.listed = {entry.id: entry for entry in self.history}
        known = {turn.id for turn in self.truth}
        new = [turn for turn in _turns_of(self.history) if turn.id not in known]
        self.truth += [turn for turn in new if turn is not self._opening]

    def _context(self) -> Entry:
        self._opening.state = State.CURRENT
        return Entry(CONTEXT_ID, "user", [CONTEXT], self._now(), [self._opening])

    def _opens_alone(self) -> bool:
        return self.history[0].id == CONTEXT_ID

    def _has_just_cancelled(self) -> bool:
        """Whether the last line says so.

        A chat that is loaded right then looks just like the turn being taken back: nobody can tell.
        """
        last = list(self.listed.values())[-1]
        return [turn.text for turn in last.turns] == [CANCELLED]

    def _invented(self, side: str, text: str) -> Entry:
        turn = TrueTurn(self._new_id(), Origin.SYNTHETIC, text)
        return Entry(turn.id, side, [{"text": text}], self._now(), [turn])

    def _prompt(self) -> TrueTurn:
        return self._say(Origin.HUMAN, [{"text": self._chance.choice(_TYPED)}])

    def _say(
        self,
        origin: Origin,
        parts: list[dict[str, Any]],
        *,
        words: str | None = None,
        shown: str | None = None,
    ) -> TrueTurn:
        """Record a message of the user's side; `shown` is what the screen has instead of its parts."""
        text = words or (shown if origin is Origin.HUMAN else None) or parts[0].get("text", "")
        turn = TrueTurn(self._new_id(), origin, text)
        entry = Entry(turn.id, "user", parts, self._now(), [turn])
        display = {} if shown is None else {"displayContent": [{"text": shown}]}
        self.truth.append(turn)
        self.history.append(entry)
        self._record(entry.as_record() | display, entry)
        return turn

    def _notice(self, level: str, text: str) -> None:
        turn = TrueTurn(self._new_id(), Origin.NOTICE, text, is_certain=False)
        entry = Entry(turn.id, level, [], self._now(), [turn])
        self.truth.append(turn)
        self._record(entry.as_record() | {"content": text}, entry)

    def _reply(self, *, may_be_silent: bool = False) -> Entry:
        text = self._chance.choice(("", "", *_ANSWERED) if may_be_silent else _ANSWERED)
        count = self._chance.randrange(1, 1000)
        tokens = {"input": count, "output": 0, "cached": 0, "thoughts": 0, "tool": 0, "total": count}
        thought = {"subject": "Plan", "description": "All of it.", "timestamp": self._now()}
        facts = {"thoughts": [thought] if self._maybe() else [], "tokens": tokens, "model": "gemini-pro"}
        turn = TrueTurn(self._new_id(), Origin.MODEL, text, tokens=count)
        entry = Entry(turn.id, "gemini", [{"text": text}] if text else [], self._now(), [turn], facts)
        self.truth.append(turn)
        self.history.append(entry)
        self._record(entry.as_record() | {"content": text}, entry)
        return entry

    def _reply_with_calls(self) -> None:
        entry = self._reply(may_be_silent=True)
        calls = self._calls(
            self._chance.choice((1, 1, 2)),
            status="success",
            response={"output": self._chance.choice(_ANSWERED)},
        )
        self._record_calls(entry, calls)
        self._say(Origin.TOOL, _answers(calls))

    def _calls(self, count: int, *, status: str, response: dict[str, str]) -> list[dict[str, Any]]:
        calls = []
        for _ in range(count):
            name = "read_file"
            call_id = f"{name}__{name}_{self._next_number()}"
            answer = {"functionResponse": {"id": call_id, "name": name, "response": response}}
            call = {"id": call_id, "name": name, "args": {"file_path": "a"}, "status": status}
            calls.append({**call, "result": [answer], "timestamp": self._now()})
        return calls

    def _record_calls(self, entry: Entry, calls: list[dict[str, Any]]) -> None:
        """Append a reply again, with its calls."""
        (turn,) = entry.turns
        turn.calls = [call["id"] for call in calls]
        entry.facts = {**entry.facts, "toolCalls": calls}
        self._record(entry.as_record() | {"content": turn.text}, entry, touch=False)
        entry.parts += map(_asked, calls)

    def _drop(self, entries: Iterable[Entry], state: State) -> None:
        for turn in _turns_of(entries):
            turn.state = state

    def _drop_from(self, first: int, state: State) -> None:
        self._drop(self.history[first:], state)
        self.history = self.history[:first]

    def _renewed(self, entry: Entry) -> Entry:
        """A copy under a new id, at the present time, without what the CLI knew besides the words."""
        return Entry(self._new_id(), entry.side, copy.deepcopy(entry.parts), self._now(), list(entry.turns))

    def _copied(self, entries: Iterable[Entry]) -> list[Entry]:
        """The history as it is written again."""
        copies: list[Entry] = []
        for entry in entries:
            renewed = self._renewed(entry)
            if copies and copies[-1].side == entry.side and self._release >= _FUSED_SINCE:
                copies[-1].parts += renewed.parts
                copies[-1].turns += renewed.turns
            else:
                copies.append(renewed)
        return copies

    def _write_again(self, entries: list[Entry]) -> None:
        """Write a history line by line, then in one checkpoint."""
        for entry in entries:
            if entry.side == "gemini":
                entry.facts = {"thoughts": [], "tokens": None}
            self._record(entry.as_record(), entry)
        self.history = entries
        self._checkpoint()

    def _restate(self, remembered: list[Entry], *, forgetful: bool) -> None:
        """Go on from what was loaded; what tools answered is put after each reply that called them."""
        for entry in remembered:
            if entry.id == CONTEXT_ID or entry.side not in ("user", "gemini") or not entry.parts:
                continue
            facts = {} if forgetful else entry.facts
            self.history.append(Entry(entry.id, entry.side, entry.parts, entry.at, entry.turns, facts))
            answers = _answers(entry.facts.get("toolCalls", []))
            if answers:
                self.history.append(Entry(f"{entry.id}_response", "user", answers, self._now()))
        self._checkpoint()


def _asked(call: dict[str, Any]) -> dict[str, Any]:
    return {"functionCall": {"id": call["id"], "name": call["name"], "args": call["args"]}}


def _answers(calls: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return [copy.deepcopy(answer) for call in calls for answer in call["result"]]


def _turns_of(entries: Iterable[Entry]) -> list[TrueTurn]:
    return [turn for entry in entries for turn in entry.turns]


def _may_start_the_end(entry: Entry) -> bool:
    """Whether what a compression keeps may begin here: with what a human said."""
    return entry.side == "user" and not entry.holds_answers


def _is_prompt(entry: Entry) -> bool:
    return [turn.origin for turn in entry.turns] == [Origin.HUMAN]


ACTIONS: tuple[Callable[[SimulatedCli], None], ...] = (
    SimulatedCli.ask,
    SimulatedCli.ask_about_a_file,
    SimulatedCli.ask_about_an_image,
    SimulatedCli.ask_and_have_it_continued,
    SimulatedCli.run_a_shell_command,
    SimulatedCli.fail,
    SimulatedCli.fail_after_a_tool,
    SimulatedCli.cancel,
    SimulatedCli.cancel_tool,
    SimulatedCli.decline_tool,
    SimulatedCli.rewind,
    SimulatedCli.compress,
    SimulatedCli.mask,
    SimulatedCli.save_chat,
    SimulatedCli.load_chat,
    SimulatedCli.load_a_chat_of_another_session,
    SimulatedCli.resume_at_once,
    SimulatedCli.resume_later,
)
"""All that a user may do, in any order."""
