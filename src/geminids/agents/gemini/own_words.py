"""What Gemini CLI says by itself in the human's place, as far as it is known.

The texts were looked for in the packages of 51 releases from 0.4.1 to 0.61.0: wherever the program adds to
a history with the role of the user, or sends something that nobody typed. What is sent was always recorded;
what is only added to the history, since 0.44. A text that has one form is told by all of it, so that a human
who quotes it and goes on stays a human. One who types exactly the same cannot be told from the CLI: only the
prompt log (`logs.json`) knows what was typed.

Told by other signs than how they begin: contents of files, what hooks said, commands of the shell and hints
(`injected`); "Please continue." and the reason for which a hook sends the model back to work (`messages`);
tasks of subagents (`sessions`).
"""

from __future__ import annotations

from typing import NamedTuple

from geminids.core.lazy_patterns import lazy_pattern
from geminids.core.model import Origin


class OwnWords(NamedTuple):
    """A text of the CLI's own."""

    what: str
    pattern: str
    """How it begins; all of it, where it ends in `\\Z`."""
    origin: Origin
    since: str
    """The first release, of those looked at, in whose sessions it can stand."""
    until: str | None = None


OWN_WORDS = (
    OwnWords("where it was started, folders, memory", r"\s*<session_context>", Origin.INJECTED, "0.44.0"),
    OwnWords(
        "the same in saved chats of older releases",
        r"This is the Gemini CLI\. We are setting up the context",
        Origin.INJECTED,
        "0.4.1",
        "0.28.2",
    ),
    OwnWords("that subagents were named with @", r"\s*<system_note>", Origin.INJECTED, "0.25.0"),
    OwnWords(
        "the files that are open in the editor",
        r"\s*Here is the user's editor context as a JSON object\. This is for",
        Origin.INJECTED,
        "0.44.0",
    ),
    OwnWords(
        "what changed in the editor",
        r"\s*Here is a summary of changes in the user's editor context, in JSON",
        Origin.INJECTED,
        "0.44.0",
    ),
    OwnWords("folders after /directory add", r"- \*\*Workspace Directories:\*\*", Origin.INJECTED, "0.44.0"),
    OwnWords(
        "the same in saved chats of older releases",
        r"I'm currently working in the (?:directory: .*|following directories:(?:\n  - .*)*)"
        r"\nHere is the folder structure of the current working directories:",
        Origin.INJECTED,
        "0.4.1",
        "0.28.2",
    ),
    OwnWords(
        "that plan mode was left by key",
        r"User has manually exited Plan Mode\. Switching to [\w-]+ mode \([^()\n]*\)\.\Z",
        Origin.INJECTED,
        "0.44.0",
    ),
    OwnWords(
        "what a command in the background printed",
        r"Background execution update:\s*<background_output>",
        Origin.INJECTED,
        "0.35.3",
    ),
    OwnWords(
        "that an image or a recording was taken out",
        r"\[Multi-Modal Blob \([^)]*\) degraded to text to preserve context window\. Saved to: ",
        Origin.INJECTED,
        "0.41.2",
    ),
    OwnWords(
        "that the answer was no answer", r"System: Please continue\.\Z", Origin.SYNTHETIC, "0.10.0", "0.41.2"
    ),
    OwnWords(
        "that it goes round in circles",
        r"System: Potential loop detected\. Details: ",
        Origin.SYNTHETIC,
        "0.34.0",
    ),
    OwnWords(
        "that an answer was empty",
        r"\[System: You (?:successfully executed a tool but|previously (?:generated|returned)) [^\]]*\]\Z",
        Origin.SYNTHETIC,
        "0.54.4",
    ),
    OwnWords(
        "that thoughts came first",
        r"\[Continuing from previous AI thoughts\.\.\.\]\Z",
        Origin.SYNTHETIC,
        "0.44.0",
    ),
    OwnWords("the summary of a compression", r"\s*<state_snapshot>", Origin.SYNTHETIC, "0.44.0"),
    OwnWords(
        "the summary of what was left out",
        r"\s*<intent_summary>|### \[System Note: Conversation History Truncated\]\n",
        Origin.SYNTHETIC,
        "0.44.0",
    ),
    OwnWords(
        "the same as an object",
        r'\{"active_tasks":\[[^\n]*?"discovered_facts":\[',
        Origin.SYNTHETIC,
        "0.44.0",
    ),
    OwnWords(
        "the request for a summary",
        r"First, reason in your scratchpad\. Then, generate the <state_snapshot>",
        Origin.SYNTHETIC,
        "0.4.1",
        "0.25.0",
    ),
    # Prompts of subagents, which stood in their parents' files until 0.36.
    OwnWords(
        "the task of a subagent, in its parent's file",
        r"Your task is to do a deep investigation of the codebase"
        r"|Your task is to answer the following question about Gemini CLI:\n<question>",
        Origin.SYNTHETIC,
        "0.10.0",
        "0.36.0",
    ),
    OwnWords(
        "the last warning to a subagent",
        r"You have (?:exceeded the (?:time limit|maximum number of turns)"
        r"|stopped calling tools without finishing)\. You have one final chance to complete the task",
        Origin.SYNTHETIC,
        "0.13.0",
    ),
    OwnWords(
        "the prompt of /init",
        r"\s*You are an AI agent that brings the power of Gemini directly into the terminal\. Your task is "
        r"to analyze the current directory and generate a comprehensive GEMINI\.md file",
        Origin.COMMAND,
        "0.4.1",
    ),
    OwnWords("a tool's answer among strings", r"\[Function Response: ", Origin.TOOL, "0.4.1", "0.27.4"),
)
"""The texts, by how they begin."""

_BY_ORIGIN = {
    origin: [known.pattern for known in OWN_WORDS if known.origin is origin]
    for origin in dict.fromkeys(known.origin for known in OWN_WORDS)
}
_NOT_HUMAN = lazy_pattern(
    "|".join(f"(?P<{origin}>{'|'.join(patterns)})" for origin, patterns in _BY_ORIGIN.items())
)


def whose_words(text: str) -> Origin:
    """Whose a text in the human's place is: the human's, unless it is one of the CLI's own."""
    found = _NOT_HUMAN.match(text)
    return Origin(str(found.lastgroup)) if found else Origin.HUMAN
