"""`geminids install` and `geminids uninstall`: agents that can ask for their past sessions, and keep them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import click

from geminids.core.errors import NOTHING_FOUND, PARTLY_DONE, GeminidsError
from geminids.faces.cli.completers import complete_agents
from geminids.faces.cli.confirmation import UnansweredError, ask
from geminids.faces.cli.options import Choices, json_option, pass_choices, shared_options
from geminids.faces.cli.talk import say

if TYPE_CHECKING:
    from geminids.core.agents.install import Launch
    from geminids.faces.documents.installing import AgentChanges
    from geminids.faces.drawing.page import Page
    from geminids.library import Library
    from geminids.library.installing.files import Change
    from geminids.library.installing.plans import InstallPlan
    from geminids.library.installing.record import Installed

ALL = "all"
INDENT = 2
SERVER_MODULE, SERVER_EXTRA = "mcp", "mcp"


class NoServerError(GeminidsError):
    """The packages that the server needs are not there."""

    def __init__(self, who: str) -> None:
        super().__init__(f"Agents ask geminids through MCP, which needs more packages; {who} adds them.")


class TemporaryError(GeminidsError):
    """What agents were to start is gone tomorrow."""

    def __init__(self) -> None:
        super().__init__(
            "This geminids runs in a temporary environment. Install it first, with `uv tool install` or "
            "`pipx install`; then run `geminids install`."
        )


class UnwritableNameError(GeminidsError):
    """A name of bytes that settings, which are text, cannot hold."""

    def __init__(self, name: str) -> None:
        shown = name.encode("utf-8", "replace").decode()
        super().__init__(f"{shown!r} is not UTF-8, and cannot be written into the settings of agents.")


class NoAgentError(GeminidsError):
    """No agent is here that geminids could be installed into."""

    exit_code = NOTHING_FOUND

    def __init__(self, titles: Sequence[str], places: Sequence[str]) -> None:
        looked = f" Searched: {', '.join(places)}." if places else ""
        super().__init__(f"{' and '.join(titles)} not found.{looked} Start the agent once, then try again.")


class Done(NamedTuple):
    """What became of a plan."""

    plan: InstallPlan
    is_done: bool = False
    failure: str | None = None


def _agents_meant(_: click.Context, __: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    """The agents that were typed, each once; none for all. Refuse what is none."""
    from geminids.core.agents import available

    known = available()
    for name in value:
        if name.casefold() not in (*known, ALL):
            raise click.BadParameter(f"there is no agent {name!r}. Available: {', '.join((*known, ALL))}.")
    names = tuple(dict.fromkeys(map(str.casefold, value)))
    return () if ALL in names else names


_argument = click.argument(
    "wanted", nargs=-1, metavar="[AGENT]...", callback=_agents_meant, shell_complete=complete_agents
)
_dry_run = click.option("--dry-run", is_flag=True, help="Only show what would be written.")
_yes = click.option("--yes", is_flag=True, help="Write without asking.")


@click.command()
@_argument
@_dry_run
@_yes
@json_option
@shared_options
@pass_choices
def install(choices: Choices, *, wanted: tuple[str, ...], dry_run: bool, yes: bool) -> int:
    """Let agents search their past sessions, and keep new ones automatically.

    Registers `geminids mcp` and `geminids keep hook` with the agents on this machine, or with those that you
    name. First you see which files would be written; then you are asked.

    Where an agent takes extensions or plugins, geminids becomes one, in a folder of its own. Otherwise a few
    lines are added to the settings: everything else in them stays as it is, with comments, and a backup is
    kept. `geminids uninstall` undoes it.

    \b
    geminids install --dry-run
    geminids install
    geminids install all --yes
    """  # noqa: D301 - click wants the character itself
    _check(choices, dry_run=dry_run, yes=yes)
    launch = _launch(choices)
    with choices.open_library() as library:
        plans = library.installation.planned(wanted, launch, choices.now)
        _refuse_missing(library, wanted, plans)
        done = _carried_out(choices, library, plans, launch, dry_run=dry_run, yes=yes)
        if choices.json:
            from geminids.faces.cli.json_output import print_json
            from geminids.faces.documents.installing import InstallDocument

            print_json(
                InstallDocument(server=launch.server, dry_run=dry_run, agents=list(map(_document, done)))
            )
        elif any(one.is_done for one in done):
            say("Done. Restart running sessions of the agents to use it.")
        elif not dry_run and all(one.plan.is_done for one in done):
            say("Nothing to do: geminids is installed.")
    return _exit_code(done)


@click.command()
@_argument
@click.option("--dry-run", is_flag=True, help="Only show what would be removed.")
@click.option("--yes", is_flag=True, help="Remove without asking.")
@json_option
@shared_options
@pass_choices
def uninstall(choices: Choices, *, wanted: tuple[str, ...], dry_run: bool, yes: bool) -> int:
    """Remove geminids from agents.

    Removes what `geminids install` has written, from all agents or from those that you name. Settings become
    what they were, byte for byte. Where they have changed since, only what was added is removed.

    Your sessions, the index and the kept copies stay.

    \b
    geminids uninstall --dry-run
    geminids uninstall
    """  # noqa: D301 - click wants the character itself
    _check(choices, dry_run=dry_run, yes=yes)
    with choices.open_library() as library:
        launch = _launch_of(choices)
        plans = library.installation.planned_removal(wanted, launch)
        done = _carried_out(choices, library, plans, None, dry_run=dry_run, yes=yes)
        if choices.json:
            from geminids.faces.cli.json_output import print_json
            from geminids.faces.documents.installing import UninstallDocument

            print_json(UninstallDocument(dry_run=dry_run, agents=list(map(_document, done))))
        elif any(one.is_done for one in done):
            say("Done. Restart running sessions of the agents.")
        elif all(one.plan.is_done for one in done):
            say("Nothing to do: geminids is not installed.")
    return _exit_code(done)


def _check(choices: Choices, *, dry_run: bool, yes: bool) -> None:
    """Refuse what cannot be meant."""
    if dry_run and yes:
        raise click.UsageError("--dry-run and --yes cannot be combined.")
    if choices.sample:
        raise click.UsageError("Cannot install into the sample: it has no agent.")


def _launch(choices: Choices) -> Launch:
    """How agents start this installation. Raises GeminidsError if they could not."""
    from geminids.core.installation import is_added, is_temporary, who_adds

    if is_temporary():
        raise TemporaryError
    if not is_added(SERVER_MODULE):
        raise NoServerError(who_adds(SERVER_EXTRA))
    launch = _launch_of(choices)
    for word in (*launch.command, *launch.options, *launch.environment.values()):
        if word.encode("utf-8", "replace").decode() != word:
            raise UnwritableNameError(word)
    return launch


def _launch_of(choices: Choices) -> Launch:
    from geminids import __version__
    from geminids.core import agents
    from geminids.core.agents.install import Launch
    from geminids.core.config import DATA_VARIABLE, HOMES_VARIABLE, absolute
    from geminids.core.installation import own_words

    homes = [word for home in choices.home for word in ("--home", absolute(home))]
    data = ["--data", absolute(choices.data)] if choices.data else []
    heeded = {HOMES_VARIABLE, DATA_VARIABLE, "XDG_DATA_HOME"}
    heeded |= {name for agent in agents.every() for name in agent.variables}
    return Launch(
        command=tuple(own_words()),
        options=(*homes, *data),
        environment={name: _anywhere(os.environ[name]) for name in sorted(heeded) if os.environ.get(name)},
        version=__version__,
    )


def _anywhere(value: str) -> str:
    """What a variable says, for who is in another folder."""
    from geminids.core.config import absolute

    parts = value.split(os.pathsep)
    return os.pathsep.join(absolute(one) if os.path.isdir(one) else one for one in parts)  # noqa: PTH112


def _refuse_missing(library: Library, wanted: Sequence[str], plans: Sequence[InstallPlan]) -> None:
    """Raises NoAgentError if nothing is here, or one that was named is not."""
    missing = [name for name in wanted if not any(plan.agent == name for plan in plans)]
    if missing or not plans:
        names = missing or library.installation.agents()
        raise NoAgentError([library.agent_title(name) for name in names], library.searched_places)


def _carried_out(
    choices: Choices,
    library: Library,
    plans: Sequence[InstallPlan],
    launch: Launch | None,
    *,
    dry_run: bool,
    yes: bool,
) -> list[Done]:
    """Show what is to be done, ask, and do it; what stands in the way of one agent spares the others."""
    for plan in plans:
        if plan.refusal:
            say(f"{plan.title}: {plan.refusal}")
    possible = [plan for plan in plans if not plan.refusal]
    if not choices.json:
        _draw(choices.open_page(), possible, launch)
    if dry_run:
        return [Done(plan, failure=plan.refusal) for plan in plans]
    if any(plan.changes for plan in possible) and not yes:
        question = "Install?" if launch else "Remove it?"
        ask(question, UnansweredError("written" if launch else "removed"))
    # Where no file changes, the list of what is installed may.
    return [Done(plan, failure=plan.refusal) if plan.refusal else _do(library, plan) for plan in plans]


def _do(library: Library, plan: InstallPlan) -> Done:
    try:
        library.installation.carry_out(plan)
    except (GeminidsError, OSError) as error:
        failure = _why(error)
        say(f"{plan.title}: {failure}")
        return Done(plan, failure=failure)
    return Done(plan, is_done=bool(plan.changes))


def _why(error: GeminidsError | OSError) -> str:
    if isinstance(error, OSError):
        # Who writes and finds the disk full is not told of which file.
        what = f"use {error.filename!r}" if error.filename is not None else "write"
        return f"Cannot {what}: {error.strerror}. Nothing was changed."
    return str(error)


def _exit_code(done: Iterable[Done]) -> int:
    return PARTLY_DONE if any(one.failure for one in done) else 0


# Drawing


def _draw(page: Page, plans: Sequence[InstallPlan], launch: Launch | None) -> None:
    for plan in plans:
        if plan.changes or plan.notes or launch:
            _draw_plan(page, plan)
    if launch and any(plan.changes for plan in plans):
        from geminids.core.agents.install import command_line

        page.command("Agents will start:  ", command_line(launch.server))


def _draw_plan(page: Page, plan: InstallPlan) -> None:
    page.line((plan.title, "title"), ("" if plan.changes else "  nothing to do", "quiet"))
    for folder, files in _packages(plan.changes):
        page.line((_shown(folder), "human"), indent=INDENT)
        page.line((_sentence(files), "quiet"), indent=2 * INDENT)
    for change in plan.changes:
        if change.package is None:
            page.line((_shown(change.path), "human"), indent=INDENT)
            page.words(_edit_sentence(change, plan.entry), "quiet", indent=2 * INDENT)
    for note in plan.notes:
        page.words(note, "warning", indent=INDENT)


def _packages(changes: Iterable[Change]) -> Iterable[tuple[str, list[Change]]]:
    folders: dict[str, list[Change]] = {}
    for change in changes:
        if change.package is not None:
            folders.setdefault(change.package, []).append(change)
    return folders.items()


def _sentence(files: Sequence[Change]) -> str:
    """How many files are new, replaced and removed."""
    from geminids.sharing.transcript import words

    told = {"create": "new file", "replace": "file replaced", "remove": "file removed"}
    counts = {what: sum(one.action == action for one in files) for action, what in told.items()}
    return ", ".join(
        words.count(number, what, what.replace("file", "files")) for what, number in counts.items() if number
    )


def _edit_sentence(change: Change, entry: Installed | None) -> str:
    if change.after is None:
        return f"{change.what} removed, and the file, which was not there before"
    if change.before is None:
        return f"new file with {change.what}"
    # What was there with another command may become shorter.
    is_added = entry is not None and entry.edited(change.path) is not None
    return f"{change.what} {'added; a backup is kept' if is_added else 'removed'}"


def _shown(path: str) -> str:
    from geminids.sharing.transcript import words

    return words.path(path)


def _document(done: Done) -> AgentChanges:
    from geminids.faces.documents.base import filled
    from geminids.faces.documents.installing import AgentChanges, FileChange

    changes = [filled(FileChange, change) for change in done.plan.changes]
    return filled(AgentChanges, done.plan, changes=changes, done=done.is_done, failure=done.failure)
