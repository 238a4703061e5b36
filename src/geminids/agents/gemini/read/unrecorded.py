"""Requests that Gemini CLI made for a session and did not write down, as far as the session shows them.

Session files hold the requests of the talk. The CLI asks models for more: which of them shall answer, who
speaks next, whether the talk goes in circles, a summary, a title, what stands on a page of the web. Such a
request is told of where something in the session cannot be there without it, and its number only where
that is certain. Whether a model was chosen or a loop looked for depends on settings that no session file
knows, so nothing is said of these; only what a run printed of itself can tell.

Turns that only call tools are the talk's own. Up to 0.31 their calls were put into the message before, and
their tokens were lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import timedelta
from itertools import pairwise

from geminids.agents.gemini.phrases import GO_ON, STATE_SNAPSHOT
from geminids.agents.gemini.read.records import ID_UP_TO_030
from geminids.agents.gemini.read.turns import Turn
from geminids.core.model import Level, Message, Origin, Plain, Role, State, ToolCall, ToolStatus, Unrecorded
from geminids.core.model.summary import calls_in

COMPRESSION = "a summary for a compression"
TOOL_TURNS = "turns of tools only"
TITLE = "a title"
NEXT_SPEAKER = "a check who speaks next"
WEB_SEARCH = "a search of the web"
WEB_PAGE = "reading a page of the web"

_REASONS = {
    COMPRESSION: "A model sums up what is compressed, and Gemini CLI records nothing of that request.",
    TOOL_TURNS: (
        "Until 0.31, Gemini CLI stored the calls of such a reply in the previous message and did not store "
        "its tokens."
    ),
    TITLE: "A model made it when Gemini CLI was next started, and nothing is recorded of that request.",
    NEXT_SPEAKER: "A model was asked before the CLI told it to go on, and that request is not recorded.",
    WEB_SEARCH: "The tool asks a model that can search, and that request is not recorded.",
    WEB_PAGE: "The tool has a model read the page, and that request is not recorded.",
}
_SYNTHETIC = Origin.SYNTHETIC
"""Under a name that Python looks up faster: every message is asked for it."""
_WITH_CHECK = 2
"""Requests for a compression: since 0.26 a second one checks the summary."""
_COMPRESSED_BY_ITSELF = ("IMPORTANT: This conversation exceeded the compress", "Context compressed from ")
"""How the notices begin that a conversation was compressed without being asked for it."""
_IN_ONE_GO = timedelta(milliseconds=5)
"""The calls of one reply are recorded together; between two replies there is at least a request."""
_ID_SINCE_031 = re.compile(r"_\d{13}_(\d{1,9})\Z")
"""How ids of calls end since 0.31: those of each reply are numbered from 0."""
_SEARCH, _FETCH = "google_web_search", "web_fetch"
_WEB_TOOLS = frozenset({_SEARCH, _FETCH})
_READ_BY_A_MODEL = Plain("Content processed from prompt.")
"""What is shown for the latter if a model read the page, at the first attempt."""


def unrecorded(
    turns: Sequence[Turn], messages: Sequence[Message], calls: Sequence[ToolCall], *, has_title: bool
) -> tuple[Unrecorded, ...]:
    """What is missing from a session; each message is made of the turn at its position."""
    # Nearly every message is none that tells anything: so it is asked for little.
    notices = [index for index, message in enumerate(messages) if message.level is not None]
    spoken_for = [index for index, message in enumerate(messages) if message.origin is _SYNTHETIC]
    found: dict[str, int | None] = {
        TOOL_TURNS: sum(_merged_replies(turns, messages)),
        COMPRESSION: sum(_summaries(turns, messages, spoken_for)) * _WITH_CHECK,
        NEXT_SPEAKER: sum(_goes_on(messages, index) for index in spoken_for),
        TITLE: int(has_title),
        **_web_requests(messages, calls),
    }
    if notices and not found[COMPRESSION]:
        found[COMPRESSION] = _noticed_compressions(turns, messages, notices)
    return tuple(Unrecorded(what, _REASONS[what], number) for what, number in found.items() if number != 0)


# Turns of tools only


def _merged_replies(turns: Sequence[Turn], messages: Sequence[Message]) -> Iterator[int]:
    for turn, message in zip(turns, messages, strict=True):
        written = turn.value.get("toolCalls")
        # What is first written into a log is of 0.39 or later.
        if type(written) is list and len(written) > 1 and not message.source.file.endswith(".jsonl"):
            yield 0 if message.imported else _further_replies(message.tool_calls)


def _further_replies(calls: Sequence[ToolCall]) -> int:
    """How many replies the calls of a message come from, besides its own."""
    times = [call.at for call in calls if call.at]
    further = sum([other - one > _IN_ONE_GO for one, other in pairwise(times)])
    ids = [call.call_id or "" for call in calls] if further else []
    if any(map(ID_UP_TO_030.search, ids)):
        return further
    numbers = [number[1] for call_id in ids if (number := _ID_SINCE_031.search(call_id))]
    return max(0, [int(number) for number in numbers].count(0) - 1)


# Compressions


def _summaries(
    turns: Sequence[Turn], messages: Sequence[Message], spoken_for: Sequence[int]
) -> Iterator[bool]:
    """The summaries that a checkpoint brought (since 0.44)."""
    for index in spoken_for:
        message = messages[index]
        if message.role is Role.USER and turns[index].was_born_restated and not message.imported:
            yield message.text(Origin.SYNTHETIC).lstrip().startswith(STATE_SNAPSHOT)


def _noticed_compressions(
    turns: Sequence[Turn], messages: Sequence[Message], notices: Sequence[int]
) -> int | None:
    """The requests for compressions that notices tell of (0.18 to 0.43); None if nobody knows how many."""
    compressed = [index for index in notices if _says_compressed(turns, messages, index)]
    if not compressed or any(turn.was_born_restated for turn in turns[: compressed[0]]):
        # Since 0.44 the summary itself is there, or the compression failed.
        return 0
    numbers = [_requests_to_compress(turns, index) for index in compressed]
    return None if None in numbers else sum(number for number in numbers if number)


def _says_compressed(turns: Sequence[Turn], messages: Sequence[Message], index: int) -> bool:
    """Whether a notice says that a summary was asked for.

    /compress leaves an empty one. If the model had the last word there was something to sum up.
    """
    content = turns[index].value.get("content")
    if messages[index].level is not Level.INFO or messages[index].imported or not isinstance(content, str):
        return False
    if content:
        return content.startswith(_COMPRESSED_BY_ITSELF)
    before = _said_before(messages, index)
    return before is not None and _has_the_last_word(before)


def _requests_to_compress(turns: Sequence[Turn], index: int) -> int | None:
    """How many requests a compression took: since 0.28, when prompts became lists, it is sure to be two."""
    typed = next((turn for turn in reversed(turns[:index]) if turn.value.get("type") == "user"), None)
    is_list = typed is not None and isinstance(typed.value.get("content"), list)
    return _WITH_CHECK if is_list else None


# What the model was asked in between


def _goes_on(messages: Sequence[Message], index: int) -> bool:
    """Whether the CLI said "Please continue." to a model that had the last word."""
    message = messages[index]
    if message.role is not Role.USER or message.imported or message.text(Origin.SYNTHETIC) != GO_ON:
        return False
    before = _said_before(messages, index)
    return before is not None and _has_the_last_word(before)


def _said_before(messages: Sequence[Message], index: int) -> Message | None:
    """The last message before one that is no notice."""
    return next((message for message in reversed(messages[:index]) if message.level is None), None)


def _has_the_last_word(message: Message) -> bool:
    """Whether the model said something and called nothing, and it was not taken back."""
    has_spoken = message.origin is Origin.MODEL and bool(message.text(Origin.MODEL))
    return has_spoken and not message.tool_calls and message.state is not State.REWOUND


# Tools that ask a model themselves


def _web_requests(messages: Sequence[Message], calls: Sequence[ToolCall]) -> dict[str, int]:
    if _WEB_TOOLS.isdisjoint([call.name for call in calls]):
        return {}
    own = calls_in([message for message in messages if not message.imported])
    asked = [_asked_a_model(call) for call in own]
    return {what: asked.count(what) for what in (WEB_SEARCH, WEB_PAGE)}


def _asked_a_model(call: ToolCall) -> str | None:
    """What a tool asked a model for, where that is certain."""
    if call.status is not ToolStatus.SUCCESS:
        return None
    if call.name == _SEARCH:
        return WEB_SEARCH
    return WEB_PAGE if call.name == _FETCH and call.display == _READ_BY_A_MODEL else None
