"""What the entries of a story are called, the same wherever they are drawn or written."""

from __future__ import annotations

from geminids.model import Message, Origin, State, ToolCall, ToolStatus
from geminids.transcript import words
from geminids.transcript.entries import Mark, Speaker, Turn, is_marked

MARKS = {
    State.COMPRESSED: "compressed here: {} above left the agent's view",
    State.REWOUND: "rewound here: {} taken back",
}

_AGENT_WORDS = {Origin.TOOL: "Tool results", Origin.INJECTED: "Context"}


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
    is_told = is_marked(message) or (everything and message.state is not State.CURRENT)
    return str(message.state) if is_told else ""


def mark_sentence(mark: Mark) -> str:
    """What happened at a place where messages were taken out of the agent's view."""
    return MARKS[mark.state].format(words.count(mark.messages, "message"))


def call_trouble(call: ToolCall) -> str:
    """How a call ended if not well: `exit 1`, `cancelled`, `error`; nothing for a success."""
    if call.exit_code:
        return f"exit {call.exit_code}"
    if call.status is ToolStatus.SUCCESS:
        return ""
    return call.native_status or str(call.status)


def _agent_word(message: Message, agent_title: str) -> str:
    if message.level:
        return str(message.level).capitalize()
    if message.origin is Origin.SYNTHETIC:
        return f"{agent_title} (automatic)"
    return _AGENT_WORDS.get(message.origin, "Agent")
