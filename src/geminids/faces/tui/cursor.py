"""Which line of a list is chosen, and which lines of it are seen."""

from __future__ import annotations


class Cursor:
    """A chosen line, and the first one that is seen."""

    def __init__(self) -> None:
        self.number = 0
        self.top = 0

    @property
    def seen(self) -> int:
        """Which of the lines that are seen is the chosen one."""
        return self.number - self.top

    def choose(self, number: int, there: int, rows: int) -> None:
        """Choose a line of those that are there, and see it among so many."""
        self.number = max(min(number, there - 1), 0)
        self.top = max(min(self.top, self.number), self.number - rows + 1)

    def press(self, key: object, there: int, rows: int) -> bool:
        """Do what a key says; whether it says anything here."""
        steps = {"up": -1, "down": 1, "page up": -rows, "page down": rows, "home": -there, "end": there}
        if key not in steps:
            return False
        self.choose(self.number + steps[str(key)], there, rows)
        return True
