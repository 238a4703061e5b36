"""What sessions have in common, and how many have it: counted where they are kept."""

# Annotations are no strings here: compiling them would take most of the time that loading this takes.
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from geminids.query.search.found_sessions import found_and_tagged
from geminids.query.sessions.listing import Filter, conditions_of
from geminids.storage.index import facets, reader
from geminids.storage.index.reader import Condition
from geminids.storage.index.values import ProjectRow

if TYPE_CHECKING:
    from geminids.storage.durable.values import Marks
    from geminids.storage.index.database import Index


class Facet(NamedTuple):
    """Sessions that have all of this in common."""

    agent: str
    project: ProjectRow
    kind: str
    status: str
    month: str
    """Of their last moment in local time, as 2026-05; empty if there is none."""
    sessions: int
    """How many they are."""


class FacetCounts(NamedTuple):
    """Some sessions, by what they have in common."""

    facets: Sequence[Facet]
    tags: Mapping[str, int]
    """How many sessions have each tag, the most used first."""
    is_exact: bool = True
    """Else only the best of those that may be meant are counted: texts must be read to tell."""


def listed_facets(
    index: "Index", wanted: Filter, marks: "Mapping[str, Marks]", tagged: Collection[str] = ()
) -> FacetCounts:
    """What the sessions of a list have in common; `tagged` are those that have the tags it asks for."""
    return _counted(index, list(conditions_of(index, wanted, tagged).values()), marks)


def facets_of(
    index: "Index",
    sessions: Sequence[int],
    marks: "Mapping[str, Marks]",
    tagged: Collection[str] | None = None,
) -> FacetCounts:
    """What some sessions have in common; with `tagged`, those of them that are tagged."""
    return _counted(index, found_and_tagged(sessions, tagged), marks)


def _counted(index: "Index", conditions: Sequence[Condition], marks: "Mapping[str, Marks]") -> FacetCounts:
    projects = reader.projects(index)
    found = [
        Facet(**{**row._asdict(), "project": projects[row.project]})
        for row in facets.facet_rows(index, conditions)
    ]
    tagged = [session for session, said in marks.items() if said.tags]
    here = facets.those_among(index, conditions, tagged) if tagged else ()
    tags = Counter(tag for session in here for tag in marks[session].tags)
    return FacetCounts(found, dict(tags.most_common()))
