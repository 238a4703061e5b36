"""`geminids web`: sessions in a browser on this machine."""

from __future__ import annotations

from functools import partial

import click

from geminids.faces.cli.options import Choices, pass_choices, shared_options, sync_option
from geminids.faces.cli.talk import say


@click.command()
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=0,
    metavar="N",
    help="Listen on this port. Default: a free port.",
)
@click.option("--no-open", is_flag=True, help="Do not open a browser; only print the address.")
@click.option("--redact", is_flag=True, help="Hide secrets in everything that is shown.")
@sync_option
@shared_options
@pass_choices
def web(choices: Choices, *, port: int, no_open: bool, redact: bool) -> int:
    """Open your sessions in a browser.

    Serves a page to this machine only, prints its address and opens it. The address has a token that is new
    each time; without it the server refuses every request. New messages appear as agents write them. Ctrl-C
    ends it.

    \b
    geminids web
    geminids web --no-open --port 8642
    geminids web --redact
    """  # noqa: D301 - click wants the character itself
    serve_web(choices, port=port, opens_browser=not no_open, redacts=redact)
    return 0


def serve_web(
    choices: Choices, *, port: int = 0, opens_browser: bool = True, redacts: bool = False, page: str = "/"
) -> None:
    """Serve the sessions that were chosen until somebody ends it, and open a page."""
    from geminids.library import are_chosen, open_library

    try:
        from geminids.faces.web.pages import NO_PAGE, is_built
        from geminids.faces.web.server import serve
    except ModuleNotFoundError as error:
        from geminids.faces.web.errors import WebNotInstalledError

        raise WebNotInstalledError(str(error.name)) from error
    if not is_built():
        say(NO_PAGE)
    may_be_sample = not choices.sample and not are_chosen(choices.home)
    serve(
        partial(open_library, choices.home, choices.data, sample=choices.sample),
        open_sample=partial(open_library, (), choices.data, sample=True) if may_be_sample else None,
        port=port,
        opens_browser=opens_browser and is_built(),
        page=page,
        redacts=redacts,
        syncs=not choices.no_sync,
        tell=click.echo,
    )
