"""`geminids resume`: go on with a session in its agent."""

from __future__ import annotations

import os
import re
import signal
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import click

from geminids.cli.options import (
    Choices,
    complete_ids,
    json_option,
    pass_choices,
    shared_options,
    sync_option,
)
from geminids.cli.shell_line import shell_line, shell_words
from geminids.cli.talk import say
from geminids.errors import NOTHING_FOUND, AgentNotFoundError, NobodyToAskError, UnsafeArgumentError

if TYPE_CHECKING:
    from geminids.library import NotResumable, Offer, Resumable

OURS = "geminids"
_HARMLESS = re.compile(r"[\w@./:\\=-]+")
"""Words that the shell of Windows, through which the programs of npm are started, takes as they are."""


@click.command()
@click.argument("wanted", metavar="ID|FILE", shell_complete=complete_ids)
@click.argument("arguments", metavar="[-- ARGUMENTS]", nargs=-1, type=click.UNPROCESSED)
@click.option("--print", "only_print", is_flag=True, help="Only print the command, as a line for a shell.")
@click.option("--yes", is_flag=True, help="Go on without asking, also where something gets lost by it.")
@sync_option
@json_option
@shared_options
@pass_choices
def resume(choices: Choices, *, wanted: str, arguments: tuple[str, ...], only_print: bool, yes: bool) -> int:
    """Go on with a session in its agent.

    Goes to the folder of its project and runs the agent's own command, such as `gemini --resume ID`;
    what stands after `--` is passed on to it. Where that cannot be done, it is said why, and what can be
    done instead. Where the agent is known to delete what it resumes, you are asked first. With --print
    and with --json nothing is started.

    \b
    geminids resume 3
    geminids resume latest --print
    geminids resume 1f0c9a2b -- --model gemini-2.5-pro
    """  # noqa: D301 - click wants the character itself
    from geminids.library import Resumable

    with choices.open_library() as library:
        found = library.resuming(wanted, choices.now)
    how = found.how
    if isinstance(how, Resumable):
        how = _passing_on(how, arguments)
    if choices.json:
        _print_document(choices, how, found.session.id, found.session.agent)
        return 0 if isinstance(how, Resumable) else NOTHING_FOUND
    if isinstance(how, Resumable):
        return _go_on(choices, how, only_print=only_print, yes=yes)
    _tell(choices, how.reason, how.offers)
    return NOTHING_FOUND


def _passing_on(how: Resumable, arguments: tuple[str, ...]) -> Resumable:
    import msgspec

    return msgspec.structs.replace(how, command=(*how.command, *arguments))


def _go_on(choices: Choices, how: Resumable, *, only_print: bool, yes: bool) -> int:
    if how.program is None and not only_print:
        raise AgentNotFoundError(how.command[0], _line(how))
    for number, warning in enumerate(how.warnings, start=1):
        _tell(choices, warning, how.offers if number == len(how.warnings) else ())
    if how.program is None or only_print:
        click.echo(_line(how))
        return 0
    if how.may_lose and not yes:
        _ask()
    return _become(how, how.program)


def _line(how: Resumable) -> str:
    return shell_line(how.folder, how.environment, how.command)


def _tell(choices: Choices, sentence: str, offers: Iterable[Offer]) -> None:
    """Say something, and what can be done about it."""
    say("\n".join([sentence, *_offered(choices, offers)]))


def _offered(choices: Choices, offers: Iterable[Offer]) -> Iterator[str]:
    for offer in offers:
        yield f"  {offer.sentence}"
        if typed := _typed(choices, offer):
            yield f"    {typed}"


def _typed(choices: Choices, offer: Offer) -> str | None:
    """What to type for an offer; our own commands look where this one did."""
    lines = (
        choices.spelled(*words[1:]) if words[0] == OURS else shell_words(words) for words in offer.commands
    )
    return " && ".join(lines) or None


def _print_document(choices: Choices, how: Resumable | NotResumable, session_id: str, agent: str) -> None:
    from geminids.cli.data import print_json
    from geminids.cli.resume_document import resume_document
    from geminids.library import Resumable

    line = _line(how) if isinstance(how, Resumable) else None
    offers = [(offer.sentence, _typed(choices, offer)) for offer in how.offers]
    print_json(resume_document(session_id, agent, how, line, offers))


def _ask() -> None:
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise NobodyToAskError
    click.confirm("Go on?", abort=True, err=True)


def _become(how: Resumable, program: str) -> int:
    """Be the agent from now on. (Windows knows no such thing: there we wait for it.)"""
    variables = {**os.environ, **how.environment, "PWD": how.folder}
    sys.stdout.flush()
    sys.stderr.flush()
    if os.name != "nt":
        os.chdir(how.folder)
        # Python turns this signal off, which is nothing to pass on.
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.execve(program, how.command, variables)
    return _wait_for(how, program, variables)


def _wait_for(how: Resumable, program: str, variables: dict[str, str]) -> int:
    import subprocess

    for word in how.command:
        if not _HARMLESS.fullmatch(word):
            raise UnsafeArgumentError(word)
    return subprocess.run([program, *how.command[1:]], cwd=how.folder, env=variables, check=False).returncode
