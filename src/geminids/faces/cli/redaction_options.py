"""What may be hidden in a session, as it is typed: the same wherever something is hidden."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import click

from geminids.faces.cli.progress import waiting
from geminids.faces.cli.talk import say

if TYPE_CHECKING:
    from geminids.library import Library
    from geminids.sharing.redact import Redactor

HIDDEN = ("home", "names", "emails")
"""What is hidden besides secrets if asked for; written here so that help need not load what hides it."""
EVERYTHING = "all"

hide_option = click.option(
    "--hide",
    type=click.Choice([*HIDDEN, EVERYTHING]),
    multiple=True,
    help="Also hide home folders, user names or e-mail addresses. Repeatable.",
)


def open_redactor(library: Library, hide: Collection[str], *, keep_attachments: bool) -> Redactor:
    """What hides what was typed. Says so if it looks for less than it could."""
    wanted = HIDDEN if EVERYTHING in hide else hide
    # For the first time its rules are compiled, which takes seconds.
    with waiting("Preparing the rules that find secrets"):
        redactor = library.redactor(wanted, keep_attachments=keep_attachments)
    if redactor.is_reduced:
        from geminids.core.installation import who_adds

        say(f"Only a small set of rules is used to find secrets; {who_adds('redact')} adds hundreds more.")
    return redactor
