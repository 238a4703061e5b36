"""What `geminids stats` is asked, as it was typed; and what is said where there is nothing to count."""

from __future__ import annotations

from geminids.core.values import NamedTuple
from geminids.faces.cli.talk import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from geminids.faces.cli.choices import Choices
    from geminids.library import Library
    from geminids.query.usage.stats import StatsQuestion

GROUPS = ("day", "week", "month", "model", "agent", "project", "session", "tool")
"""What figures can be grouped by; written here so that help need not load what makes it."""
ON_A_TERMINAL = 30
"""Rows of a table, where no limit is set."""


class StatsOptions(NamedTuple):
    """What is asked for, as it was typed."""

    words: str
    by: str | None
    since: str | None
    until: str | None
    project: str | None
    agents: tuple[str, ...]
    subagents: str
    estimate: bool
    chart: str | None
    limit: int | None
    blocks: bool = False

    def question(self) -> StatsQuestion:
        """What the library is asked."""
        from geminids.query.usage.stats import StatsQuestion

        return StatsQuestion(
            by=self.by or GROUPS[0],
            words=self.words,
            since=self.since,
            until=self.until,
            project=self.project,
            agents=self.agents,
            fold=self.subagents == "fold",
            estimate=self.estimate,
        )

    def options(self) -> list[str]:
        """The words to type for it."""
        once = {name: getattr(self, name) for name in ("by", "since", "until", "project", "chart", "limit")}
        typed = [word for name, value in once.items() if value for word in (f"--{name}", str(value))]
        typed += [word for agent in self.agents for word in ("--agent", agent)]
        typed += ["--subagents", self.subagents] if self.subagents != "fold" else []
        typed += ["--estimate"] if self.estimate else []
        typed += ["--blocks"] if self.blocks else []
        # Options come first: after the words, one that begins with - would be taken for an option.
        ends_options = ["--"] if self.words.startswith("-") else []
        return [*typed, *ends_options, self.words] if self.words else typed


def tell_more(choices: Choices, asked: StatsOptions, rows: int, limit: int | None, noun: str) -> None:
    """Say how many rows a limit leaves out, and how to see them."""
    from geminids.sharing.transcript import words

    if limit is not None and (more := rows - limit) > 0:
        everything = choices.spelled("stats", *asked._replace(limit=rows).options())
        say(f"{words.count(more, f'more {noun}')}; `{everything}` shows {words.them(more)}.")


def tell_nothing(library: Library, asked: StatsOptions) -> None:
    """Say why there is nothing to count."""
    from geminids.faces.cli.sessions import tell_nothing_found
    from geminids.query.search.question import Question
    from geminids.query.usage.stats import StatsQuestion
    from geminids.sharing.transcript import words

    every = library.stats(StatsQuestion(by="agent")).kinds
    if not every:
        tell_nothing_found(library.searched_places)
        return
    if unknown := library.no_such_project(Question(asked.words, project=asked.project)):
        say(str(unknown))
        return
    say(f"No match in {words.sessions(every)}.")
