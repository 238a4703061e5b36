"""What a format could not carry, in lines for people: on stderr, since stdout may be the export itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from geminids.faces.cli.talk import say

if TYPE_CHECKING:
    from geminids.sharing.export.losses import Loss, LossReport


def say_losses(report: LossReport) -> None:
    """Say what is lost, what is there in part, and what another level of detail would tell."""
    from geminids.sharing.export.losses import Verdict
    from geminids.sharing.transcript import words

    carried = len(report.having(Verdict.CARRIED))
    of = words.count(report.sessions, "session")
    lines = [
        f"Of {len(report.losses):,} kinds of facts in {of}, {report.format} carries {carried:,} whole.",
        *_section("Lost", report.having(Verdict.LOST), _number),
        *_section("In part", report.having(Verdict.PARTLY), _share),
        *_section("Left out at this level of detail", report.having(Verdict.LEFT_OUT), _number),
    ]
    say("\n".join(lines))


def _section(title: str, losses: Sequence[Loss], detail: Callable[[Loss], str]) -> list[str]:
    return [f"{title}:", *(f"  {loss.fact} ({detail(loss)})" for loss in losses)] if losses else []


def _number(loss: Loss) -> str:
    return f"{loss.values:,}"


def _share(loss: Loss) -> str:
    if loss.cut == loss.values:
        return _number(loss)
    cut = f", {loss.cut:,} in part" if loss.cut else ""
    return f"{loss.carried:,} of {loss.values:,}{cut}"
