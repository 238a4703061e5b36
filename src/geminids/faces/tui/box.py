"""A line that is typed into, with the keys that people know from shells."""

from __future__ import annotations

from geminids.faces.tui.keys import Key, Typed


class TextBox:
    """Words, and the place at which the next letter comes."""

    def __init__(self, text: str = "") -> None:
        self.text = text
        self.cursor = len(text)

    @property
    def before_cursor(self) -> str:
        """The words up to there."""
        return self.text[: self.cursor]

    def set(self, text: str) -> None:
        """Other words, with the next letter at their end."""
        self.text, self.cursor = text, len(text)

    def press(self, key: Key) -> bool:
        """Do what a key says; whether it says anything here."""
        if isinstance(key, Typed):
            self._replace(self.cursor, self.cursor, key.text)
            return True
        match key:
            case "left":
                self.cursor = max(self.cursor - 1, 0)
            case "right":
                self.cursor = min(self.cursor + 1, len(self.text))
            case "home":
                self.cursor = 0
            case "end":
                self.cursor = len(self.text)
            case "backspace":
                self._replace(max(self.cursor - 1, 0), self.cursor)
            case "delete":
                self._replace(self.cursor, self.cursor + 1)
            case "delete word":
                self._replace(self.before_cursor.rstrip().rfind(" ") + 1, self.cursor)
            case "clear":
                self._replace(0, len(self.text))
            case _:
                return False
        return True

    def _replace(self, start: int, end: int, text: str = "") -> None:
        self.text = self.text[:start] + text + self.text[end:]
        self.cursor = start + len(text)
