"""`geminids resume`: go on with a session in its agent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import click

from geminids.core.errors import NOTHING_FOUND, AgentNotFoundError, NobodyToAskError
from geminids.faces.cli.becoming import become
from geminids.faces.cli.completers import complete_sessions
from geminids.faces.cli.confirmation import ask
from geminids.faces.cli.options import Choices, json_option, pass_choices, shared_options, sync_option
from geminids.faces.cli.picked import session_wanted
from geminids.faces.cli.talk import say
from geminids.faces.shell_line import offered_lines, shell_line

if TYPE_CHECKING:
    from geminids.query.sessions.resume import NotResumable, Offer, Resumable


@click.command()
@click.argument("wanted", required=False, metavar="[ID|FILE]", shell_complete=complete_sessions)
@click.argument("arguments", metavar="[-- ARGUMENTS]", nargs=-1, type=click.UNPROCESSED)
@click.option("--print", "only_print", is_flag=True, help="Print the command instead of running it.")
@click.option("--yes", is_flag=True, help="Do not ask, even if the agent may delete something.")
@sync_option
@json_option
@shared_options
@pass_choices
def resume(
    choices: Choices, *, wanted: str | None, arguments: tuple[str, ...], only_print: bool, yes: bool
) -> int:
    """Resume a session in its agent.

    Changes to the folder of the project and runs the agent's own command; arguments after `--` are passed on
    to it. Without an ID, choose the session from a list; those of this folder come first. If it cannot be
    resumed, the reason is shown, and what to type instead. If the agent is known to delete what it
    resumes, you are asked first. With --print and --json nothing is started.

    \b
    geminids resume 3
    geminids resume latest --print
    geminids resume 1f0c9a2b -- --model NAME
    """  # noqa: D301 - click wants the character itself
    from geminids.query.sessions.resume import Resumable

    wanted = session_wanted(choices, wanted, "resume", here_first=True)
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
        ask("Continue?", NobodyToAskError())
    return become(how, how.program)


def _line(how: Resumable) -> str:
    return shell_line(how.folder, how.environment, how.command)


def _tell(choices: Choices, sentence: str, offers: Iterable[Offer]) -> None:
    """Say something, and what can be done about it."""
    say("\n".join([sentence, *_offered(choices, offers)]))


def _offered(choices: Choices, offers: Iterable[Offer]) -> Iterator[str]:
    for offer in offers:
        yield f"  {offer.sentence}"
        yield from (f"    {line}" for line in offered_lines(offer, choices.spelled))


def _print_document(choices: Choices, how: Resumable | NotResumable, session_id: str, agent: str) -> None:
    from geminids.faces.cli.json_output import print_json
    from geminids.faces.documents.resume import OfferedCommand, resume_document
    from geminids.query.sessions.resume import Resumable

    line = _line(how) if isinstance(how, Resumable) else None
    offers = [
        OfferedCommand(
            sentence=offer.sentence, line=" && ".join(offered_lines(offer, choices.spelled)) or None
        )
        for offer in how.offers
    ]
    print_json(resume_document(session_id, agent, how, line, offers))
