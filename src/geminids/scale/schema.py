"""The tables: which columns each has, and what they mean.

Plain values, so that whoever documents, checks or asks for columns need not load what writes them. A column
that holds words of a conversation is marked: it can be left out, and is where only numbers are wished.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal, NamedTuple

VERSION = 1
"""Raised when a column goes or changes its meaning; one that is new may come at any time."""

Kind = Literal["text", "texts", "int", "bool", "time", "dollars", "files"]
"""What a column holds: one text or several, a whole number, yes or no, a moment in UTC, dollars, files."""


class Column(NamedTuple):
    """One column of a table."""

    name: str
    kind: Kind
    meaning: str
    is_words: bool = False
    """Whether it holds words of a conversation or of files, and not only names and numbers."""

    @property
    def repeats(self) -> bool:
        """Whether many rows have the same in it: then it is stored once, and which of them."""
        return self.kind in ("text", "bool") and not self.is_words and self.name not in _DIFFERENT


_DIFFERENT = frozenset({"id", "key", "native_id", "message_id", "request_id", "call_id"})
"""Columns in which hardly two rows have the same."""


class Table(NamedTuple):
    """One table."""

    name: str
    meaning: str
    columns: tuple[Column, ...]

    def without_words(self) -> Table:
        """The same with no words of conversations."""
        return self._replace(columns=tuple(column for column in self.columns if not column.is_words))

    @property
    def names(self) -> tuple[str, ...]:
        """What its columns are called."""
        return tuple(column.name for column in self.columns)


_WHOSE = (
    Column("agent", "text", "The agent, as `list` names it."),
    Column("month", "text", "The month (UTC) in which what is read together began: 2026-11, or unknown."),
    Column("machine", "text", "The machine that the files are from."),
)
_PROJECT = Column("project", "text", "The folder of the project; where that is not known, its hash or slug.")
_OF_SESSION = (
    Column("session_id", "text", "The session: sessions.id."),
    Column("session_key", "text", "The session in this place: sessions.key."),
)
_OF_MESSAGE = (
    *_OF_SESSION,
    Column("message_number", "int", "The message: messages.number."),
    Column("message_id", "text", "The message: messages.id."),
)
_IMPORTED = Column("imported", "bool", "Whether its own files tell that it was taken over from elsewhere.")
_MADE = (
    Column("release", "text", "The release of geminids that made the row."),
    Column("schema", "int", "The version of these tables."),
)
TOKENS = (
    Column("input", "int", "Tokens of the whole prompt."),
    Column("cached", "int", "Those of them that came from a cache."),
    Column("cache_write", "int", "Those of them that were written to a cache."),
    Column("cache_write_hour", "int", "Those of cache_write that the cache keeps for an hour."),
    Column("output", "int", "Tokens of the answer, without thoughts."),
    Column("thoughts", "int", "Tokens of thoughts, where the agent tells them apart."),
    Column("tool", "int", "Tokens of what tools added to the prompt."),
    Column("total", "int", "input + output + thoughts + tool."),
)
"""Kinds of tokens; what an agent did not record is null."""

SESSIONS = Table(
    "sessions",
    "A row for each session, as the files of one machine tell it.",
    (
        *_WHOSE,
        _PROJECT,
        Column("id", "text", "What commands take: <agent>:<id>. The same on every machine that has a copy."),
        Column("key", "text", "The session in this place: no other row has the same."),
        Column("native_id", "text", "The agent's own id."),
        Column("kind", "text", "main, subagent, checkpoint, lost or copy."),
        Column("parent_id", "text", "The session that started it, or that it was saved from."),
        Column("project_path", "text", "The folder of its project."),
        Column("project_hash", "text", "The SHA-256 by which the agent names that folder."),
        Column("project_slug", "text", "The agent's short name for it."),
        Column("project_known_by", "text", "How the folder is known."),
        Column("project_certain", "bool", "Whether the hash proves the folder."),
        Column("title", "text", "What it is about: the agent's title, or the first sentence.", is_words=True),
        Column("summary", "text", "What the agent wrote as its summary.", is_words=True),
        Column("branch", "text", "The branch that was checked out, the last one."),
        Column("started_at", "time", "Its first moment."),
        Column("ended_at", "time", "Its last moment."),
        Column("status", "text", "How it seems to have ended: success, failure, interrupted, …"),
        Column("models", "texts", "The models that answered."),
        Column("directories", "texts", "Folders that it was given."),
        Column("messages", "int", "Messages in it, of any origin and state."),
        Column("prompts", "int", "Prompts that were typed."),
        Column("replies", "int", "What models answered."),
        Column("tool_calls", "int", "Calls of tools."),
        Column("tool_errors", "int", "Those of them that failed."),
        Column("dropped", "int", "Messages that the agent no longer sees."),
        Column("requests", "int", "Requests of which tokens were recorded."),
        *TOKENS,
        Column("reported_total", "int", "The agent's own total, where it keeps one."),
        Column("unrecorded", "int", "Requests that are known to be missing from its files."),
        Column("incomplete", "bool", "Whether its files were not read completely: numbers are lower bounds."),
        Column("files", "files", "The files that it was read from."),
        Column("kept", "bool", "Whether files of it are gone, and it was read from kept copies."),
        Column("problems", "int", "What could not be read of it."),
        *_MADE,
    ),
)
MESSAGES = Table(
    "messages",
    "A row for each message, also of those that the agent no longer sees.",
    (
        *_WHOSE,
        _PROJECT,
        *_OF_SESSION,
        Column("number", "int", "Its place in the session, from 1: what show and search print."),
        Column("id", "text", "The agent's id of it."),
        Column("at", "time", "When it was written."),
        Column("role", "text", "user, assistant or system."),
        Column("origin", "text", "Who really made it: human, model, tool, injected, command, shell, …"),
        Column("state", "text", "current, or why the agent no longer sees it: rewound, compressed, …"),
        _IMPORTED,
        Column("model", "text", "The model that answered."),
        Column("says", "bool", "Whether it holds words or calls, and not only thoughts."),
        Column("level", "text", "Of a notice: info, warning or error."),
        Column("request_id", "text", "The provider's name of the request that gave it."),
        Column("calls", "int", "How many calls of tools are in it."),
        Column("length", "int", "Letters of its text."),
        Column("estimated_input", "int", "Of a reply without recorded tokens: those of its prompt, guessed."),
        Column("estimated_output", "int", "Of a reply without recorded tokens: those of it, guessed."),
        Column("text", "text", "Its words.", is_words=True),
        Column("thoughts", "text", "What the model thought, as far as that was shown.", is_words=True),
        Column("attached", "texts", "Files and pictures that came with it."),
        Column("file", "text", "The file that it stands in."),
        Column("line", "int", "The line, from 1."),
        Column("start", "int", "Its first byte."),
        Column("end", "int", "The byte behind its last one."),
        *_MADE,
    ),
)
REQUESTS = Table(
    "requests",
    "A row for each message of which tokens were recorded.",
    (
        *_WHOSE,
        _PROJECT,
        *_OF_MESSAGE,
        Column("request_id", "text", "The provider's name of the request: copies have the same."),
        Column("at", "time", "When it was answered."),
        Column("model", "text", "The model that answered."),
        _IMPORTED,
        Column("requests", "int", "How many requests the row stands for; nearly always 1."),
        *TOKENS,
        Column("reported_total", "int", "The agent's own total, where it differs."),
        Column("cost", "dollars", "What it cost in dollars at list price; null without a price."),
        Column("priced_on", "text", "The price list and its release, or settings.toml: what `cost` is from."),
        *_MADE,
    ),
)
CALLS = Table(
    "calls",
    "A row for each call of a tool.",
    (
        *_WHOSE,
        _PROJECT,
        *_OF_MESSAGE,
        Column("number", "int", "Its place in the message, from 1."),
        Column("call_id", "text", "The agent's id of it."),
        Column("at", "time", "When it was called, else when the message was written."),
        Column("tool", "text", "The tool, as the agent spells it."),
        Column("kind", "text", "What it does: read, edit, execute, search, list, fetch, …"),
        Column("status", "text", "success, error, cancelled, pending or unknown."),
        Column("native_status", "text", "The same in the agent's words."),
        Column("exit_code", "int", "What a command of the shell ended with."),
        Column("child_id", "text", "The session of the subagent that it started."),
        _IMPORTED,
        Column("argument", "text", "The argument that says most.", is_words=True),
        Column("arguments", "text", "All of them, as JSON.", is_words=True),
        Column("output", "text", "What came back.", is_words=True),
        Column("error", "text", "The line that tells what went wrong.", is_words=True),
        *_MADE,
    ),
)
CHANGES = Table(
    "changes",
    "A row for each file that a call changed, or was to change.",
    (
        *_WHOSE,
        _PROJECT,
        *_OF_MESSAGE,
        Column("call_number", "int", "The call: calls.number."),
        Column("at", "time", "When."),
        Column("tool", "text", "The tool that was called."),
        Column("path", "text", "The file, with the folder of the project before it where that is known."),
        Column("operation", "text", "create, edit or delete."),
        Column("done", "bool", "Whether it happened: what failed or was declined changed nothing."),
        Column("added", "int", "Lines added."),
        Column("removed", "int", "Lines removed."),
        _IMPORTED,
        Column("diff", "text", "The change itself.", is_words=True),
        *_MADE,
    ),
)
PROBLEMS = Table(
    "problems",
    "A row for everything that could not be read.",
    (
        *_WHOSE,
        Column("file", "text", "The file."),
        Column("kind", "text", "bad-json, bad-text, unreadable, …"),
        Column("detail", "text", "What is wrong; never a word of what stands there."),
        Column("line", "int", "The line, from 1."),
        Column("start", "int", "The first byte."),
        Column("end", "int", "The byte behind the last one."),
        *_MADE,
    ),
)

TABLES = {table.name: table for table in (SESSIONS, MESSAGES, REQUESTS, CALLS, CHANGES, PROBLEMS)}
"""All of them, by name."""
FORMER: Collection[str] = ()
"""Names of tables that earlier versions had: whoever writes tables anew removes what there is of them."""
PARTITIONS = ("agent", "month")
"""The columns by which files of tables are laid into folders."""
