"""What the values of a session are called in a report: `message: model`, `tool call: exit code`.

Whatever has no name here is called as the model calls it, so that a new field is never left out.
"""

from __future__ import annotations

from geminids.core.model import State
from geminids.sharing.export.kinds import message_kind

STARTS = {
    "message.also_at": "message: places of its copies and later versions",
    "message.dropped_by": "message: what took it out of the agent's view",
    "message.source": "message: place in the agent's files",
    "session.companions": "session: files beside it",
    "session.counts": "session: counts",
    "session.files": "session: its files",
    "session.problems": "session: problems of its files",
    "session.reported": "session: tokens as the agent added them up",
    "session.unrecorded": "session: requests that are missing from its files",
    "session.usage": "session: tokens",
    "tool-call.display.agent-progress": "tool call: what was shown of a subagent",
    "tool-call.display.diff": "tool call: diff that was shown",
    "tool-call.display.listing": "tool call: list that was shown",
    "tool-call.display.text": "tool call: text that was shown",
    "tool-call.display.todos": "tool call: list of things to do",
    "tool-call.display.unrecognised": "tool call: what was shown and has no name yet",
    "tool-call.full_output": "tool call: whole output that was moved to a file",
    "tool-call.other": "tool call: what else the agent wrote",
    "tool-call.result.attachment": "tool call: pictures and files it answered",
    "tool-call.result.unrecognised": "tool call: answers that have no name yet",
    "tool-result.parts.attachment": "tool result: pictures and files",
    "tool-result.parts.text": "tool result: text",
    "unrecognised": "messages: parts that have no name yet",
}
"""Kinds of values that are one thing to people, by the start of their paths."""

WORDS = {
    "attachment.data": "attachment: content",
    "attachment.mime_type": "attachment: type",
    "attachment.uri": "attachment: address",
    "file-reference.path": "file reference: path",
    "file-reference.text": "file reference: text",
    "message.at": "message: time",
    "message.imported": "message: whether taken over from another session",
    "message.missing": "message: why the session's files do not hold it",
    "message.level": "message: how grave a notice is",
    "message.origin": "message: who really made it",
    "message.usage.cached": "message: tokens from the cache",
    "message.request_id": "message: id of its request",
    "message.usage.cache_write": "message: tokens into the cache",
    "message.usage.cache_write_hour": "message: tokens into the cache for an hour",
    "message.usage.input": "message: tokens of input",
    "message.usage.output": "message: tokens of output",
    "message.usage.reported_total": "message: tokens in all as the agent counted",
    "message.usage.requests": "message: number of requests",
    "message.usage.thoughts": "message: tokens of thoughts",
    "message.usage.tool": "message: tokens of tools",
    "message.usage.total": "message: tokens in all",
    **{message_kind(state): f"messages: {state}" for state in State},
    message_kind(State.CURRENT): "messages",
    "session.directories": "session: folders it was given",
    "session.ended_at": "session: end",
    "session.kept": "session: whether it is kept",
    "session.native_id": "session: id as the agent writes it",
    "session.parent_id": "session: id of the one that led it",
    "session.project.certain": "session: whether its folder is certain",
    "session.project.hash": "session: hash of its folder",
    "session.project.known_by": "session: how its folder is known",
    "session.project.path": "session: folder",
    "session.project.slug": "session: short name of its folder",
    "session.started_at": "session: start",
    "text.origin": "text: whose it is",
    "text.text (command)": "text: of custom commands",
    "text.text (human)": "text: of the human",
    "text.text (injected)": "text: context put in by the agent",
    "text.text (model)": "text: of the model",
    "text.text (notice)": "text: of notices",
    "text.text (shell)": "text: of the human's shell",
    "text.text (synthetic)": "text: said by the agent in somebody's name",
    "text.text (tool)": "text: of tools",
    "thought.at": "thought: time",
    "tool-call.arguments (choices)": "tool call: arguments that are yes or no",
    "tool-call.arguments (numbers)": "tool call: arguments that are numbers",
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
    "tool-call.gist": "tool call: what it was about in a line",
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
