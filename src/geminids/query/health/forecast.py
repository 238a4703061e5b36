"""What agents are going to delete by themselves: which sessions, when, why, and how to prevent it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import msgspec

from geminids.core import agents
from geminids.core.agents.fates import Deletion, Fate, Retention
from geminids.core.agents.homes import Home
from geminids.core.agents.resume import Circumstances

__all__ = ["SOON", "Endangered", "Expiring", "ForecastReport", "Held", "Retention", "forecast_report"]

SOON = timedelta(days=7)
"""What goes within this is worth a sentence wherever sessions are told of."""

_AT_ONCE = datetime.min.replace(tzinfo=UTC)


class Held(NamedTuple):
    """What is known of the session that a file holds."""

    session_id: str
    title: str | None
    project: str | None


class Endangered(msgspec.Struct, frozen=True, kw_only=True):
    """A file that its agent is going to delete, and the session in it."""

    session_id: str | None
    """None where the file gives no session."""
    title: str | None
    agent: str
    project: str | None
    """The folder of the project, where it is known."""
    file: str
    at: datetime | None
    """From when on; None: from now on. What deletes is a start of the agent, as the reason says."""
    cause: str
    """In one word, for programs."""
    reason: str
    setting: str | None
    """The file of settings that says so; None: what the agent does if nothing is said."""
    kept: bool
    """Whether there is a copy of the file as it is."""


class Expiring(NamedTuple):
    """A session of which files are going to be deleted; a file that gives no session stands for itself."""

    first: Endangered
    """The file that goes first."""
    files: int
    kept: bool
    """Whether there is a copy of each of them."""


class ForecastReport(msgspec.Struct, frozen=True, kw_only=True):
    """What is going to be deleted, the soonest first, and by which rules."""

    endangered: tuple[Endangered, ...] = ()
    retentions: tuple[Retention, ...] = ()

    def due(self, by: datetime) -> tuple[Endangered, ...]:
        """What the next start of an agent deletes, or one until then."""
        return tuple(one for one in self.endangered if one.at is None or one.at <= by)

    def sessions(self, by: datetime | None = None) -> list[Expiring]:
        """The sessions that go until then, or ever, each once, the soonest first."""
        files: dict[str, list[Endangered]] = {}
        for one in self.due(by) if by else self.endangered:
            files.setdefault(one.session_id or one.file, []).append(one)
        return [Expiring(of_one[0], len(of_one), all(x.kept for x in of_one)) for of_one in files.values()]


def forecast_report(
    homes: Iterable[Home],
    fates_by_agent: Mapping[str, Sequence[Fate]],
    held_in: Mapping[str, Held],
    kept_paths: Callable[[Collection[str]], Collection[str]],
    circumstances: Circumstances,
) -> ForecastReport:
    """What the agents are going to delete in some homes; each picks the files that lie in its home.

    Which files are kept is asked once, for those that are endangered and no others.
    """
    found: list[tuple[str, Deletion]] = []
    retentions: list[Retention] = []
    for home in homes:
        fates = fates_by_agent.get(home.agent, ())
        custodian = agents.custodian(home.agent)
        if custodian is None:
            continue
        forecast = custodian.forecast(home, fates, circumstances)
        found += ((home.agent, deletion) for deletion in forecast.deletions)
        retentions += forecast.retentions
    kept = frozenset(kept_paths([deletion.file for _, deletion in found]))
    endangered = [_endangered(agent, one, held_in.get(one.file), one.file in kept) for agent, one in found]
    endangered.sort(key=lambda one: (one.at or _AT_ONCE, one.file))
    return ForecastReport(endangered=tuple(endangered), retentions=tuple(retentions))


def _endangered(agent: str, deletion: Deletion, held: Held | None, kept: bool) -> Endangered:
    return Endangered(
        session_id=held.session_id if held else None,
        title=held.title if held else None,
        agent=agent,
        project=held.project if held else None,
        file=deletion.file,
        at=deletion.at,
        cause=deletion.cause,
        reason=deletion.reason,
        setting=deletion.setting,
        kept=kept,
    )
