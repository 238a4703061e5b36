"""What the values of a session are called in a report: `message: model`, `tool call: exit code`.

Whatever has no name here is called as the model calls it, so that a new field is never left out.
"""

from __future__ import annotations

from geminids.core.model import State
from geminids.sharing.export.kinds import message_kind

STARTS = {
    "message.also_at": "message: places of its copies and later versions",
    "message.dropped_by": "message: why the agent no longer sees it",
    "message.source": "message: place in the agent's files",
    "session.companions": "session: files beside it",
    "session.counts": "session: counts",
    "session.files": "session: its files",
    "session.problems": "session: problems of its files",
    "session.reported": "session: tokens as the agent counted",
    "session.unrecorded": "session: requests that are missing from its files",
    "session.usage": "session: tokens",
    "tool-call.display.agent-progress": "tool call: what was shown of a subagent",
    "tool-call.display.diff": "tool call: diff that was shown",
    "tool-call.display.listing": "tool call: list that was shown",
    "tool-call.display.text": "tool call: text that was shown",
    "tool-call.display.todos": "tool call: to-do list that was shown",
    "tool-call.display.unrecognised": "tool call: unrecognised display",
    "tool-call.full_output": "tool call: whole output that was moved to a file",
    "tool-call.other": "tool call: other fields of the agent",
    "tool-call.result.attachment": "tool call: pictures and files in the result",
    "tool-call.result.unrecognised": "tool call: unrecognised results",
    "tool-result.parts.attachment": "tool result: pictures and files",
    "tool-result.parts.text": "tool result: text",
    "unrecognised": "messages: unrecognised parts",
}
"""Kinds of values that are one thing to people, by the start of their paths."""

WORDS = {
    "attachment.data": "attachment: content",
    "attachment.mime_type": "attachment: type",
    "attachment.uri": "attachment: address",
    "file-reference.path": "file reference: path",
    "file-reference.text": "file reference: text",
    "message.at": "message: time",
    "message.imported": "message: whether copied from another session",
    "message.missing": "message: why the session's files do not hold it",
    "message.level": "message: level of a notice",
    "message.origin": "message: who really made it",
    "message.usage.cached": "message: cached tokens",
    "message.request_id": "message: id of its request",
    "message.usage.cache_write": "message: tokens written to the cache",
    "message.usage.cache_write_hour": "message: tokens written to the cache for an hour",
    "message.usage.input": "message: tokens of input",
    "message.usage.output": "message: tokens of output",
    "message.usage.reported_total": "message: total tokens as the agent counted",
    "message.usage.requests": "message: number of requests",
    "message.usage.thoughts": "message: tokens of thoughts",
    "message.usage.tool": "message: tokens of tools",
    "message.usage.total": "message: total tokens",
    **{message_kind(state): f"messages: {state}" for state in State},
    message_kind(State.CURRENT): "messages",
    "session.directories": "session: folders it was given",
    "session.ended_at": "session: end",
    "session.kept": "session: whether it is kept",
    "session.native_id": "session: id as the agent writes it",
    "session.parent_id": "session: id of its parent",
    "session.project.certain": "session: whether its folder is certain",
    "session.project.hash": "session: hash of its folder",
    "session.project.known_by": "session: how its folder is known",
    "session.project.path": "session: folder",
    "session.project.slug": "session: short name of its folder",
    "session.started_at": "session: start",
    "text.origin": "text: origin",
    "text.text (command)": "text: custom commands",
    "text.text (human)": "text: your prompts",
    "text.text (injected)": "text: context added by the agent",
    "text.text (model)": "text: the model",
    "text.text (notice)": "text: notices",
    "text.text (shell)": "text: output of your shell commands",
    "text.text (synthetic)": "text: automatic messages",
    "text.text (tool)": "text: tools",
    "thought.at": "thought: time",
    "tool-call.arguments (choices)": "tool call: boolean arguments",
    "tool-call.arguments (numbers)": "tool call: numeric arguments",
    "tool-call.at": "tool call: time",
    "tool-call.call_id": "tool call: id",
    "tool-call.changes.added": "tool call: lines added to a file",
    "tool-call.changes.after": "tool call: file after the change",
    "tool-call.changes.before": "tool call: file before the change",
    "tool-call.changes.diff": "tool call: diff of a file",
    "tool-call.changes.operation": "tool call: what happened to a file",
    "tool-call.changes.path": "tool call: path of a changed file",
    "tool-call.changes.removed": "tool call: lines removed from a file",
    "tool-call.child_id": "tool call: id of the subagent's session",
    "tool-call.display.screen.cells.text": "tool call: screen that was shown",
    "tool-call.display_name": "tool call: name for people",
    "tool-call.gist": "tool call: summary in one line",
    "tool-call.native_status": "tool call: status as the agent writes it",
    "tool-call.result.text.text": "tool call: text that the model got",
    "tool-result.call_id": "tool result: id of its call",
}
SCREEN = "tool-call.display.screen.cells"
SCREEN_WORDS = "tool call: colours and styles of a screen"


def fact_of(path: str) -> str:
    """What people call the values of a kind, or the messages of one."""
    if path in WORDS:
        return WORDS[path]
    if path.startswith(SCREEN):
        return SCREEN_WORDS
    for start, words in STARTS.items():
        if path == start or path.startswith((f"{start}.", f"{start} (")):
            return words
    head, _, rest = path.partition(".")
    return f"{head}: {rest}".replace("-", " ").replace("_", " ").replace(".", " ").rstrip(": ")
