"""`geminids stats`, as it is typed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click
from click.core import ParameterSource

from geminids.faces.cli.completers import complete_words
from geminids.faces.cli.options import Choices, options_of, pass_choices
from geminids.faces.cli.query_words import QueryCommand, query_words
from geminids.faces.cli.stats_answer import EVERY_SESSION, FORM

_NOT_EXPLAINED = ("by", "subagents", "estimate", "chart", "as_csv")
"""What says how a table of figures is laid out: an explanation has another one."""
_OF_ALL = ("words", "since", "until", "project", "agents", "limit")
"""What chooses among sessions: of one that is named there is nothing to choose."""


@click.command(name="stats", cls=QueryCommand, context_settings={"ignore_unknown_options": True})
@click.argument("words", nargs=-1, metavar="[QUERY]...", callback=query_words, shell_complete=complete_words)
@options_of(FORM)
@pass_choices
def stats(choices: Choices, /, **typed: Any) -> int:
    """Show what sessions used and cost, and where the time went.

    Each request counts once, however often files repeat it. QUERY is words and filters as in `search`; only
    matching sessions are counted. A session number or id counts that session. Costs are estimates at list
    price, not a bill.

    \b
    fresh      input that was not cached
    cached     input read from a cache
    written    input written to a cache
    output     answers, without thoughts
    thoughts   thoughts of the model
    tool       input added by tools of the provider
    –          not recorded; a * after a cost: some requests have no price

    \b
    geminids stats
    geminids stats --by model --since 30d
    geminids stats --since 2026-10 --until 2026-10
    geminids stats --by session --project .
    geminids stats --by tool tool:edit
    geminids stats --blocks
    geminids stats --live
    geminids stats --chart heatmap
    geminids stats --by month --csv > months.csv
    geminids stats --explain latest
    """  # noqa: D301 - click wants the character itself
    from geminids.faces.cli import stats_answer

    _refuse_together(choices, typed["explain"], as_csv=typed["as_csv"])
    return stats_answer.stats(choices, **typed)


def _refuse_together(choices: Choices, explain: str | None, *, as_csv: bool) -> None:
    """Refuse what cannot be had together: what is asked for must not be passed over in silence."""
    if explain is None or (as_csv and choices.json):
        # The latter is refused by itself.
        return
    is_one = explain not in ("", EVERY_SESSION)
    option = "--explain ID" if is_one else "--explain"
    if given := _given(_NOT_EXPLAINED + _OF_ALL if is_one else _NOT_EXPLAINED):
        raise click.UsageError(f"{option} cannot be combined with {', '.join(given)}.")


def _given(names: Sequence[str]) -> list[str]:
    """Those of some parameters that were typed, as they are typed."""
    context = click.get_current_context()
    spelled = {parameter.name: parameter for parameter in context.command.params}
    return [
        max(spelled[name].opts, key=len) if isinstance(spelled[name], click.Option) else "a QUERY"
        for name in names
        if context.params[name] and context.get_parameter_source(name) is not ParameterSource.DEFAULT
    ]
