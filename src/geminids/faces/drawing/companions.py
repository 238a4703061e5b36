"""What lies beside a session: told in a few quiet lines, and on request shown."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from geminids.core.model import Companion, CompanionKind, Problem, Session
from geminids.faces.drawing.page import Page
from geminids.sharing.transcript import words
from geminids.sharing.transcript.tasks import task_words

INDENT = 2
MOST_NAMES = 3
"""So many files of one kind are named; of more only the number is told."""
LONGEST_NAME = 60

KIND_NAMES = {
    CompanionKind.PLAN: ("plan", "plans"),
    CompanionKind.TASKS: ("task", "tasks"),
    CompanionKind.TOOL_OUTPUT: ("tool output", "tool outputs"),
    CompanionKind.ACTIVITY_LOG: ("activity log", "activity logs"),
    CompanionKind.IMAGE: ("picture", "pictures"),
    CompanionKind.MEMORY: ("note", "notes"),
    CompanionKind.SAVED_CHAT: ("saved chat", "saved chats"),
    CompanionKind.RESTORE_POINT: ("restore point", "restore points"),
    CompanionKind.REPORT: ("report", "reports"),
    CompanionKind.PROMPT_LOG: ("prompt log", "prompt logs"),
    CompanionKind.SHELL_HISTORY: ("shell history", "shell histories"),
    CompanionKind.MARKER: ("marker", "markers"),
}
NAMED = {CompanionKind.PLAN, CompanionKind.ACTIVITY_LOG, CompanionKind.MEMORY}
"""Kinds whose names say something; ids of tasks and calls do not."""
SHOWN = (CompanionKind.PLAN, CompanionKind.TASKS, CompanionKind.MEMORY)
"""Kinds whose words are shown on request. Outputs stand in their calls, and logs are for `show FILE`."""


def shown_beside(companions: Sequence[Companion]) -> list[Companion]:
    """What can be shown in words, in the order of the kinds."""
    return [companion for kind in SHOWN for companion in companions if companion.kind is kind]


def draw_beside(page: Page, session: Session, how_to_see: str | None = None) -> None:
    """Tell what lies beside a session, and how to see more of it."""
    by_kind: dict[CompanionKind, list[Companion]] = {}
    for companion in session.companions:
        by_kind.setdefault(companion.kind, []).append(companion)
    if not by_kind:
        return
    counts = [_counted(kind, by_kind[kind]) for kind in KIND_NAMES if kind in by_kind]
    hint = f" ({how_to_see})" if how_to_see and shown_beside(session.companions) else ""
    page.line()
    page.words(f"Beside it: {' · '.join(counts)}{hint}", "quiet")


def draw_companion(page: Page, companion: Companion, content: str | Problem) -> None:
    """Draw what a plan, a task or a note says, or why it cannot be read."""
    name = KIND_NAMES[companion.kind][0].capitalize()
    page.line()
    page.line((name, "title"), (f"  {words.path(companion.path)}, {words.size(companion.size)}", "quiet"))
    if isinstance(content, Problem):
        page.words(content.detail, "warning", indent=INDENT)
    elif companion.kind is CompanionKind.TASKS:
        page.words(task_words(content), indent=INDENT)
    elif companion.path.endswith(".md"):
        page.markdown(content, indent=INDENT)
    else:
        page.words(content, indent=INDENT)


def _counted(kind: CompanionKind, companions: Sequence[Companion]) -> str:
    sizes = words.size(sum(companion.size for companion in companions))
    if kind in NAMED and len(companions) <= MOST_NAMES:
        names = ", ".join(_name(companion.path) for companion in companions)
        return f"{KIND_NAMES[kind][len(companions) > 1]} {names}, {sizes}"
    return f"{words.count(len(companions), *KIND_NAMES[kind])}, {sizes}"


def _name(path: str) -> str:
    """The name of a file on one line, which it need not keep to."""
    name = " ".join(PurePath(path).name.split())
    return name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]}…"
