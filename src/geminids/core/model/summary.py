"""What a session comes to, from its messages: title, status, counts, tokens; for all agents."""

from __future__ import annotations

from collections.abc import Sequence

from geminids.core.lazy_patterns import lazy_pattern
from geminids.core.model import (
    Counts,
    Level,
    Message,
    Origin,
    Role,
    SessionKind,
    State,
    Status,
    Text,
    ToolCall,
    ToolStatus,
    Usage,
)

_LONGEST_TITLE = 300
_SHORTEST_SENTENCE = 8
"""Letters and digits; "Hello!" and "1." are no sentence that says what a session is about."""
_SENTENCE_END = lazy_pattern(
    r"""(?P<mark>(?<![\s(\[{.!?…])[.!?…]+["'»”’)\]*_`]*)(?=\s+(?P<next>[^\W_]|["'«„“‘¿¡`*_@$]))|[。！？]+[」』”’）]*"""
    r"|(?=\n\s*(?:\n|```|[-*+•>#|]\s|\d+[.)]\s))"
)
"""Behind its last character, if what follows can begin another; or before an empty line, a list, code or a
quotation."""
_QUOTED = lazy_pattern(r'"[^"]*"|`[^`]*`|“[^”]*”|„[^“]*“|\((?:[^()]|\([^()]*\))*\)|\[[^\]]*\]')
_OPENING = lazy_pattern(r'["`“„(\[]')
_ABBREVIATION = lazy_pattern(
    r"(?im)(?:^\s*\d+|\b(?:[a-z]|al|approx|bzw|ca|cf|ch|dr|e\.g|eq|esp|etc|evtl|excl|fig|ggf|i\.e|incl|inkl|kap|mr|mrs|ms"
    r"|nr|prof|resp|sec|st|usw|vgl|vol|vs|z\.\s?b))\.\Z"
)
"""A full stop behind one of these says nothing about the end of a sentence."""
_NO_ABBREVIATION = lazy_pattern(r"""(?:[^\W\d_]{4}|["'»”’)\]*`])[.…]+\W*\Z""")
"""A shorter word before a full stop may be one, unless a capital letter follows."""
_LAST_WORD = lazy_pattern(r"[!-~]+\Z")
"""Of letters that words are made of between spaces; other scripts need none."""
_SPOKEN = frozenset({Text, ToolCall})
_OF_HUMAN = frozenset({Origin.HUMAN, Origin.COMMAND, Origin.SHELL})
_SEEN_OR_UNRECORDED = frozenset({State.CURRENT, State.UNRECORDED})
"""What the agent sees, and what it never took out of its view as far as its files tell."""
_MODEL = Origin.MODEL
"""Under a name that Python looks up faster: every message is asked for it."""


def title_of(summary: object, messages: Sequence[Message]) -> str | None:
    """The summary, else the first sentence that the human typed; whatever language it is in."""
    if isinstance(summary, str) and summary.strip():
        return one_line(summary)
    asked = [message for message in messages if message.origin in _OF_HUMAN]
    # A command of the shell says less about a session than a prompt does.
    asked.sort(key=lambda message: message.origin is Origin.SHELL)
    titles = (first_sentence(message.text(Origin.HUMAN)) for message in asked)
    return next((title for title in titles if title), None)


def first_sentence(text: str) -> str:
    """The first sentence of a text as a title. A greeting of one word is none, and takes the next with it."""
    beginning = text[: 4 * _LONGEST_TITLE].strip()
    for end in _SENTENCE_END.finditer(beginning):
        sentence = beginning[: end.end()]
        if sum(map(str.isalnum, sentence)) >= _SHORTEST_SENTENCE and _is_over(
            sentence, end["mark"], end["next"]
        ):
            return one_line(sentence)
    return one_line(text)


def _is_over(sentence: str, mark: str | None, following: str | None) -> bool:
    """Whether a sentence ends with this mark before this character; one without a mark does."""
    if not mark or not following:
        return True
    if _OPENING.search(_QUOTED.sub("", sentence)) or _ABBREVIATION.search(sentence):
        return False
    if following.islower() and mark[-1] not in ".!?…":
        # What is quoted ends, and not what quotes it.
        return False
    is_certain = mark[0] in "!?" or not (following.islower() or following.isdigit())
    return is_certain or _NO_ABBREVIATION.search(sentence) is not None


def one_line(text: str) -> str:
    """The beginning of a text as a title, in whole words: nobody could tell that half of one is a secret."""
    line = " ".join(text[: 4 * _LONGEST_TITLE].split())
    title = line[:_LONGEST_TITLE]
    following = line[_LONGEST_TITLE:][:1] or text[4 * _LONGEST_TITLE : 4 * _LONGEST_TITLE + 1]
    is_half = following.isascii() and following.strip() != ""
    return (_LAST_WORD.sub("", title).rstrip() or title) if is_half else title.rstrip()


def counts_of(messages: Sequence[Message]) -> Counts:
    """How much there is of what. A reply is a model's message that says or asks for something."""
    own = [message for message in messages if not message.imported]
    calls = calls_in(own)
    return Counts(
        prompts=[message.origin for message in own].count(Origin.HUMAN),
        replies=[says_something(message) for message in own if message.origin is _MODEL].count(True),
        tool_calls=len(calls),
        tool_errors=[call.status for call in calls].count(ToolStatus.ERROR),
        dropped=[message.state in _SEEN_OR_UNRECORDED for message in own].count(False),
    )


def usage_of(messages: Sequence[Message]) -> Usage:
    """What its own requests used."""
    return Usage.sum(message.usage for message in messages if message.usage and not message.imported)


def models_of(messages: Sequence[Message]) -> tuple[str, ...]:
    """The models that answered, in the order in which they first did."""
    return tuple(dict.fromkeys(message.model for message in messages if message.model))


def calls_in(messages: Sequence[Message]) -> list[ToolCall]:
    """All tool calls."""
    return [part for message in messages for part in message.parts if type(part) is ToolCall]


def status_of(
    messages: Sequence[Message],
    kind: SessionKind,
    *,
    cancelled: str | None = None,
    last_tool: str | None = None,
    stores_results_in_calls: bool = False,
) -> Status:
    """How the session seems to have ended.

    `cancelled` is what the agent says when a request was, and `last_tool` the one with which a model ends.
    If the agent stores the result of a call in the message that asked for it, only a message of results after
    that one shows that a tool had the last word.
    """
    has_results = not stores_results_in_calls
    for message in reversed(messages):
        if message.state in (State.REWOUND, State.SUPERSEDED):
            continue
        match message.origin:
            case Origin.NOTICE if message.level is Level.ERROR:
                return Status.ERROR
            case Origin.NOTICE if message.text(Origin.NOTICE) == cancelled:
                return Status.CANCELLED
            case Origin.HUMAN | Origin.COMMAND if message.role is Role.USER:
                return _unanswered(message)
            case Origin.TOOL if message.state is State.CURRENT:
                has_results = True
            case Origin.MODEL:
                return _answered(message, kind, last_tool, has_results=has_results)
    return Status.INTERRUPTED


def _unanswered(prompt: Message) -> Status:
    ends = {State.FAILED: Status.ERROR, State.CANCELLED: Status.CANCELLED}
    return ends.get(prompt.state, Status.INTERRUPTED)


def says_something(reply: Message) -> bool:
    """Whether the model said or asked for anything; a thought alone is the trace of a reply cut short."""
    return not _SPOKEN.isdisjoint(map(type, reply.parts))


def _answered(reply: Message, kind: SessionKind, last_tool: str | None, *, has_results: bool) -> Status:
    ends = {call.status for call in reply.tool_calls}
    # What tools a subagent called was not recorded until 0.37: a bare thought may be all there is.
    cut_short = kind is SessionKind.MAIN and not says_something(reply)
    if cut_short or ToolStatus.PENDING in ends:
        return Status.INTERRUPTED
    if ToolStatus.ERROR in ends:
        return Status.FAILURE
    if ToolStatus.CANCELLED in ends:
        return Status.CANCELLED
    return Status.INTERRUPTED if _awaits_more(reply, last_tool, has_results=has_results) else Status.SUCCESS


def _awaits_more(reply: Message, last_tool: str | None, *, has_results: bool) -> bool:
    """Return whether the last result of a tool still waits for an answer of the model."""
    spoken = [part for part in reply.parts if type(part) in _SPOKEN]
    match spoken[-1:]:
        case [ToolCall(name=name)] if name != last_tool:
            return has_results or not any(isinstance(part, Text) and part.text.strip() for part in spoken)
        case _:
            return False
