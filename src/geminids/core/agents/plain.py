"""The plainest answers of an agent, for what its package says nothing about."""

from __future__ import annotations

from geminids.core.disk import REAL, Disk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from geminids.core.agents.base import Bundle, Companions, Reading
    from geminids.core.agents.fates import Fate, Forecast
    from geminids.core.agents.homes import Home
    from geminids.core.agents.rescue import Progress, Stranded
    from geminids.core.agents.resume import Circumstances, Offer
    from geminids.core.agents.traces import Trace
    from geminids.core.model import Session


class PlainCompanions:
    """Nothing lies beside the sessions, and nothing is moved out of them."""

    def read_beside(self, companions: Companions, traces: Sequence[Trace], limit: int | None) -> Reading:
        """No further session."""
        from geminids.core.agents.base import Reading

        return Reading((), (), ())

    def typed_mark(self, bundle: Bundle) -> str | None:
        """None: sessions are told by their own files."""
        return None

    def with_outputs(self, session: Session, disk: Disk = REAL) -> Session:
        """The session as it is."""
        return session

    def moved_marks(self) -> Collection[str]:
        """None: nothing is moved."""
        return ()

    def named_ids(self, session: Session) -> Collection[str]:
        """None: nothing is put away under an id."""
        return ()


class PlainFiles:
    """Files that are neither packed nor moved, and known by nothing but what a reader finds in them."""

    def recognise(self, content: object) -> str | None:
        """None: nothing is known by its looks."""
        return None

    def is_own_name(self, name: str) -> bool:
        """No name is known not to say something about people."""
        return False

    def keeps_secrets(self, path: Path) -> bool:
        """No file is known to hold credentials."""
        return False

    def unpacked(self, path: Path, disk: Disk = REAL) -> bytes | None:
        """None: nothing is packed."""
        return None

    def moved_name(self, path: str) -> str | None:
        """None: nothing is moved."""
        return None


class PlainProjects:
    """An agent that leaves nothing in the folders that it is used in."""

    marks: Collection[str] = ()
    data_folders: Collection[str] = ()
    tree_folders: Collection[str] = ()

    def known_folders(
        self, user_home: Path, environment: Mapping[str, str], deadline: float
    ) -> Iterator[str]:
        """None but those that its sessions name."""
        return iter(())

    def named_folders(self, session: Session) -> Iterable[str]:
        """The folder that a session was worked in, where its records say so."""
        return (session.project.path,) if session.project.path else ()

    def slug_of(self, path: str) -> str | None:
        """Return None: the names of its folders say nothing of paths."""
        return None


class PlainCustody:
    """An agent that deletes nothing by itself, and of which nobody knows that it hides sessions."""

    finds_stranded = False

    def forecast(self, home: Home, fates: Sequence[Fate], circumstances: Circumstances) -> Forecast:
        """Nothing is deleted."""
        from geminids.core.agents.fates import Forecast

        return Forecast()

    def stranded(
        self, home: Home, circumstances: Circumstances, progress: Progress | None = None
    ) -> Iterable[Stranded]:
        """No session is known that the agent has on the disk and cannot resume."""
        return ()

    def unlisted(self) -> Sequence[Offer]:
        """Return nothing: it is not known what the agent's list leaves out."""
        return ()
