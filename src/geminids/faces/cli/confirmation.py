"""Asking before something is done that cannot be taken back."""

from __future__ import annotations

import sys

import click

from geminids.core.errors import GeminidsError
from geminids.faces.cli.talk import say


class UnansweredError(GeminidsError):
    """Nothing is done without a yes, and there is nobody to say it."""

    def __init__(self, done: str) -> None:
        super().__init__(f"Nothing was {done}: there is no terminal to ask. --yes does it without asking.")
        self.done = done


def ask(question: str, unanswered: GeminidsError) -> None:
    """Go on if the user says yes. Raises click.Abort if not, and the error if there is nobody to ask."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise unanswered
    # What was drawn comes first.
    sys.stdout.flush()
    try:
        _hear_yes(question)
    except click.Abort as refused:
        if isinstance(unanswered, UnansweredError):
            refused.add_note(f"Nothing was {unanswered.done}.")
        raise


def _hear_yes(question: str) -> None:
    """Ask until it is a yes or a no, which Enter alone is, too. Raises click.Abort for a no."""
    while True:
        typed: str = click.prompt(f"{question} [y/N]", default="", show_default=False, err=True)
        match typed.strip().lower():
            case "y" | "yes":
                return
            case "" | "n" | "no":
                raise click.Abort
        say("Type y or n.")
