"""What the things of a story are called, the same wherever they are drawn or written."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import tzinfo

from geminids.core.model import (
    Attachment,
    Message,
    MovedOutput,
    Origin,
    Problem,
    SessionKind,
    SessionSummary,
    State,
    Thought,
    ToolCall,
    ToolResult,
    ToolStatus,
)
from geminids.sharing.transcript import safe, words
from geminids.sharing.transcript.entries import Mark, Pause, Speaker, Turn, is_marked

MARKS = {
    State.COMPRESSED: "compressed here: the agent no longer sees {} above",
    State.REWOUND: "rewound here: {} undone",
}

KINDS = {
    SessionKind.SUBAGENT: ("a subagent", "its parent"),
    SessionKind.CHECKPOINT: ("saved chat", "saved from"),
    SessionKind.COPY: ("a copy of a session that is stored elsewhere, if at all", "copied from"),
    SessionKind.LOST: ("lost: only your prompts remain", ""),
}
"""What a session is that is no main one, and what its parent is to it."""

LEFT_OUT = {
    "replies": ("reply", "replies"),
    "thoughts": ("thought", "thoughts"),
    "notices": ("notice", "notices"),
    "rewound": ("rewound message", "rewound messages"),
    "synthetic": ("automatic message", "automatic messages"),
    "unrecognised": ("unrecognised part", "unrecognised parts"),
}
"""What a reader may miss. Context stands in nearly every session, and calls tell their results."""

CALL_MARKS = {
    ToolStatus.SUCCESS: ("●", "good"),
    ToolStatus.ERROR: ("✗", "bad"),
    ToolStatus.CANCELLED: ("⊘", "warning"),
    ToolStatus.PENDING: ("○", "warning"),
    ToolStatus.UNKNOWN: ("?", "quiet"),
}
"""How a call ended as a sign, and in which style."""

NO_WORDS = "(empty)"
UNRECOGNISED = "Unrecognised"
"""What stands before something that an agent wrote and that has no name yet."""

_AGENT_WORDS = {Origin.TOOL: "Tool results", Origin.INJECTED: "Context"}


def kind_sentence(session: SessionSummary, parent: str | None) -> str:
    """What a session is, if no main one, and where it comes from: by an id, or by what to type to see it."""
    if session.kind not in KINDS:
        return ""
    kind, tie = KINDS[session.kind]
    if parent and tie:
        kind = f"{kind}; {tie}: {safe.line(parent)}"
    elif session.kind is SessionKind.LOST and session.summary:
        kind = f"{kind} ({safe.line(session.summary)})"
    return f"{words.KIND_MARKS.get(session.kind, '')} {kind}".strip()


def models_sentence(session: SessionSummary, cost: str = "") -> str:
    """What answered, for how many dollars if that is known, and for how many tokens."""
    said = (safe.line(", ".join(session.models)) or "model unknown", cost, words.tokens(session.usage))
    told = " · ".join(filter(None, said))
    return f"{told} (at least)" if session.is_incomplete else told


def branch_name(session: SessionSummary) -> str:
    """The branch that a session was on, if the agent noted it."""
    return f"branch {session.branch}" if session.branch else ""


def problems_sentence(number: int) -> str:
    """How much of a session could not be read."""
    return f"⚠ {words.count(number, 'problem')} in its files"


def problem_line(problem: Problem, path: str) -> str:
    """What is wrong where; the path as it is to be shown. What it hit is private."""
    place = f"{path}:{problem.line}" if problem.line else path
    return f"{problem.kind}  {place}  {problem.detail}"


def redacted_sentence(hidden: str) -> str:
    """That and what was hidden."""
    return f"Redacted: {hidden}"


def speaker_name(turn: Turn, agent_title: str) -> str:
    """Whose turn it is, in a word or two."""
    match turn.speaker:
        case Speaker.HUMAN:
            return "You"
        case Speaker.MODEL:
            return agent_title
        case Speaker.PARENT:
            return "Task"
        case Speaker.AGENT:
            return _agent_word(turn.message, agent_title)


def state_name(message: Message, *, everything: bool) -> str:
    """The state that a reader should know of, or nothing; where everything is told, any but the usual."""
    is_worth_saying = is_marked(message) or (everything and message.state is not State.CURRENT)
    if not is_worth_saying:
        return ""
    return f"{message.state}: {message.missing}" if everything and message.missing else str(message.state)


def made_by(message: Message) -> str:
    """Which model made a message and for how many tokens, as far as it is known."""
    tokens = words.tokens(message.usage) if message.usage else ""
    return " · ".join(filter(None, (message.model, tokens)))


def mark_sentence(mark: Mark) -> str:
    """What happened at a place where messages were taken out of the agent's view."""
    return MARKS[mark.state].format(words.count(mark.messages, "message"))


def pause_sentence(pause: Pause, zone: tzinfo | None = None) -> str:
    """How long nothing happened, and until when."""
    return f"{words.duration(pause.length)} later, {words.moment(pause.until, zone)}"


def left_out_sentence(counts: Mapping[str, int], hints: Mapping[str, str] | None = None) -> str:
    """What was not told, if a reader may miss it; hints say, by name, how to see it."""
    what = [
        f"{counted} ({hints[name]})" if hints and name in hints else counted
        for name, counted in left_out_words(counts).items()
    ]
    return f"Hidden: {', '.join(what)}." if what else ""


def left_out_words(counts: Mapping[str, int]) -> dict[str, str]:
    """What a reader may miss, by name: 3 thoughts."""
    return {name: words.count(counts[name], *nouns) for name, nouns in LEFT_OUT.items() if name in counts}


def thought_title(thought: Thought) -> str:
    """What stands above a thought."""
    return f"Thought: {thought.subject}" if thought.subject else "Thought"


def result_title(result: ToolResult) -> str:
    """What stands above a result that is a part of its own."""
    return f"Result of {result.name or 'a tool'}"


def attachment_name(attachment: Attachment) -> str:
    """What is known of an attachment: its type, where it lies, how large it is."""
    data = attachment.data
    size = words.size(len(data) * 3 // 4 - data[-2:].count("=")) if data else ""
    return " · ".join(filter(None, (attachment.mime_type, attachment.uri, size))) or "an attachment"


def call_outcome(call: ToolCall) -> ToolStatus:
    """How a call ended; to agents, a command that ran and failed is a success."""
    return ToolStatus.ERROR if call.exit_code else call.status


def call_mark(call: ToolCall) -> str:
    """How a call ended, as a sign."""
    return CALL_MARKS[call_outcome(call)][0]


def call_trouble(call: ToolCall) -> str:
    """How a call ended if not well: `exit 1`, `cancelled`, `error`; nothing for a success."""
    if call.exit_code:
        return f"exit {call.exit_code}"
    if call.status is ToolStatus.SUCCESS:
        return ""
    return call.native_status or str(call.status)


def child_sentence(child: str) -> str:
    """Where to find what a subagent did: by its id, or by what to type to see it."""
    return f"its session: {child}"


def moved_sentence(moved: MovedOutput, path: str) -> str:
    """Where an output lies that was too long for the session; the path as it is to be shown."""
    what = "the whole output" if moved.text is not None else "the whole output, which could not be read"
    return f"{what}: {path}, {words.size(moved.size)}"


def _agent_word(message: Message, agent_title: str) -> str:
    if message.level:
        return str(message.level).capitalize()
    if message.origin is Origin.SYNTHETIC:
        return f"{agent_title} (automatic)"
    return _AGENT_WORDS.get(message.origin, "Agent")
