"""Words in the human's place that no human typed, told by how they begin."""

from __future__ import annotations

import re
from typing import NamedTuple

from geminids.core.lazy_patterns import lazy_pattern
from geminids.core.model import Origin

_INJECTED = (
    "# AGENTS.md instructions",
    "<environment_context",
    "<user_instructions",
    "<turn_aborted",
    "<subagent_notification",
    "<skill",
    "<skills_instructions",
    "<recommended_plugins",
    "<external_",
    "<codex_internal_context",
    "<goal_context",
    "<permissions instructions",
    "<collaboration_mode",
    "<user_action",
    "<apps_instructions",
    "<plugins_instructions",
    "<hook_prompt",
    "<model_switch",
    "<realtime_conversation",
    "<personality_spec",
    "<INSTRUCTIONS>",
    "<multi_agent",
    "<budget_context",
    "<context_window_guidance",
)
"""How context begins that Codex puts in under the role of the user."""
_SHELL = "<user_shell_command"
_REQUEST = "## My request for Codex:"
"""Behind this an editor puts what the human typed; before it, what was open."""
_RUN_BY_HAND = lazy_pattern(
    r"\s*<user_shell_command>\s*<command>\n?(?P<command>.*?)\n?</command>\s*"
    r"<result>\n?(?P<result>.*?)\n?</result>\s*</user_shell_command>\s*",
    re.DOTALL,
)
_ENDED = lazy_pattern(
    r"Exit code: (?P<code>-?\d{1,10})\nDuration: [^\n]*\nOutput:\n(?P<output>.*)", re.DOTALL
)
_PICTURE = lazy_pattern(r"<image(?: [^>]*)?>|</image>|<local_image(?: [^>]*)?>")
"""What stands around a picture."""


def origin_of(text: str) -> Origin:
    """Who made a text in the human's place."""
    begin = text.lstrip()
    if begin.startswith(_SHELL):
        return Origin.SHELL
    if begin.startswith(_INJECTED):
        return Origin.INJECTED
    return Origin.HUMAN


class RunByHand(NamedTuple):
    """A command that the human gave to the shell."""

    command: str
    output: str
    """What it printed, and how it ended if that was not well."""


def run_by_hand(text: str) -> RunByHand | None:
    """The command in a text of the shell's; None if it is written in a way that we do not know."""
    run = _RUN_BY_HAND.fullmatch(text)
    if run is None:
        return None
    ended = _ENDED.fullmatch(run["result"])
    if ended is None:
        return RunByHand(run["command"], run["result"])
    if ended["code"] == "0":
        return RunByHand(run["command"], ended["output"])
    return RunByHand(run["command"], f"{ended['output'].rstrip()}\nExit code: {ended['code']}".lstrip("\n"))


def split_request(text: str) -> tuple[str, str]:
    """What an editor put before the words of the human, and these."""
    context, found, request = text.partition(_REQUEST)
    return (context + found, request.strip()) if found and request.strip() else ("", text)


def is_around_picture(text: str) -> bool:
    """Whether a text only says where a picture begins or ends."""
    return _PICTURE.fullmatch(text.strip()) is not None
