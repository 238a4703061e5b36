"""The index of a library: brought up to date when it is first asked, made anew where it is damaged.

`IndexManner.behind` tells who may answer early. What shows sessions may (`list`, `search`, `show`, and to
people the overview; the web app has a thread that reads on): the newest are what people look for, and it is
said how many are still to come. That a session does not exist is said when all are known. All else waits
until all is read, and draws progress meanwhile: what adds up (`stats`), what writes (`export`, `keep`,
`mark`, `forget`, `restore`), what checks (`rescue`, `attest`, `verify`), and programs that use `Library`
without saying more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from geminids.core.errors import NoIndexError
from geminids.core.values import Value
from geminids.storage.index.database import (
    DamagedIndexError,
    Index,
    IndexFile,
    closed_on_error,
    naming_damage,
    naming_strange_rows,
)
from geminids.storage.index.to_come import to_come
from geminids.storage.paths import written

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    from geminids.sync import Sync
    from geminids.sync.values import Outcome

    Answer = TypeVar("Answer")

BUDGET = 5.0
"""Seconds that a command may spend on what is new before it answers with what it has."""

NEWEST_FIRST = "The newest sessions are indexed; about "
"""How it begins what is said of those that are still to come."""

Tell = Callable[[str], None]
Progress = Callable[[int, int], None]
"""Told how many bytes of how many are read."""


class CopiesInUse(Value):
    """What is to be done with the kept copies, as far as anybody has asked for any."""

    look_again: Callable[[], None]
    """See which of them stand for files that are gone."""
    said: Callable[[], Sequence[str]]
    """What the user should hear of them."""
    let_go: Callable[[], None]


class IndexManner(Value):
    """How the index is brought up to date."""

    place: Callable[[], IndexFile | None]
    """Where it is kept; None if nowhere."""
    sync: Callable[[], Sync]
    is_synced: bool
    """Whether that is done before it is asked; else it is used as it is."""
    behind: Callable[[], None] | None
    """Begins to read, in another process, what there was no time for; None: all is read first."""
    copies: CopiesInUse
    tell: Tell
    progress: Progress | None


class CurrentIndex:
    """The index that questions are put to."""

    def __init__(self, manner: IndexManner) -> None:
        self._manner = manner
        self._opened: Index | None = None

    def ask(self, question: Callable[[Index], Answer]) -> Answer:
        """The answer of the index; one that turns out to be damaged is made anew first."""
        try:
            with naming_strange_rows(self.open().path):
                return self._answer(question)
        except DamagedIndexError as error:
            place = self._manner.place()
            if place is None:
                raise
            self.close()
            follows = "; the index is made again" if self._manner.is_synced else ""
            self._manner.tell(f"{error} It was moved to {place.move_aside(error.path)!r}{follows}.")
            return self._answer(question)

    def ask_until_found(
        self, question: Callable[[Index], Answer], is_found: Callable[[Answer], bool]
    ) -> Answer:
        """The answer of the index. That nothing is found is only said when all is read."""
        answer = self.ask(question)
        if is_found(answer) or not self.read_the_rest():
            return answer
        return self.ask(question)

    def open(self) -> Index:
        """The index, up to date if that is wished."""
        if self._opened is None:
            self._opened = self._up_to_date() if self._manner.is_synced else self._as_it_is()
        return self._opened

    def catch_up(self) -> None:
        """Bring it up to date now, if that is done at all before it is asked."""
        if self._manner.is_synced:
            self.open()

    def sync(self, *, full: bool) -> Outcome:
        """Bring it up to date, however long it takes; with `full`, make it from nothing."""
        self.close()
        self._manner.copies.look_again()
        self._opened, outcome = self._manner.sync().up_to_date(full=full, progress=self._manner.progress)
        self._manner.copies.look_again()
        return outcome

    def to_come(self) -> int:
        """How many groups of files are known of and not read yet."""
        left = self.ask(to_come)
        return left.bundles if left else 0

    def state(self) -> Sequence[object]:
        """Values that differ as soon as its answers may: which file it is, and when that was written."""
        path = self.open().path
        return (path, *written(path)) if path else ()

    def read_the_rest(self) -> bool:
        """Wait until all is read that is still to come, if we may; whether anything was."""
        if not self._manner.is_synced or not self.to_come():
            return False
        for message in self.sync(full=False).said:
            self._manner.tell(message)
        return True

    def close(self) -> None:
        """Let go of the index and of the kept copies; what is asked later opens them again."""
        if self._opened is not None:
            self._opened.close()
            self._opened = None
        self._manner.copies.let_go()

    def _answer(self, question: Callable[[Index], Answer]) -> Answer:
        index = self.open()
        with naming_damage(index.path):
            return question(index)

    def _up_to_date(self) -> Index:
        manner = self._manner
        budget = BUDGET if manner.behind else None
        index, outcome = manner.sync().up_to_date(budget=budget, progress=manner.progress)
        manner.copies.look_again()
        with closed_on_error(index):
            for message in (*outcome.said, *manner.copies.said()):
                manner.tell(message)
            self._tell_what_is_to_come(index)
            if outcome.left and manner.behind and not outcome.others_write:
                manner.behind()
            return index

    def _tell_what_is_to_come(self, index: Index) -> None:
        with naming_damage(index.path):
            left = to_come(index)
        if left:
            # A group of files nearly always holds one session.
            more = "1 more session is" if left.bundles == 1 else f"{left.bundles:,} more sessions are"
            self._manner.tell(f"{NEWEST_FIRST}{more} still to be read. `geminids sync` waits for them.")

    def _as_it_is(self) -> Index:
        place = self._manner.place()
        index = place.open() if place else None
        if index is None:
            raise NoIndexError
        with closed_on_error(index):
            self._tell_what_is_to_come(index)
        return index
