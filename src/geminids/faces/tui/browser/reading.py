"""The transcript of a session: read line by line, message by message, prompt by prompt.

What is new in a session that is running comes at the end; who stands there sees it come, and for all others
nothing moves. Of a large session the beginning is there at once, and the rest is read behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from time import monotonic
from typing import TYPE_CHECKING, TypeVar

from rich.cells import cell_len

from geminids.core.model import ToolCall
from geminids.faces.drawing.page import LaidOutPage
from geminids.faces.tui.browser.actions import ACTION_LETTERS, SessionList, Subject, actions_of
from geminids.faces.tui.browser.actions.palette import open_palette
from geminids.faces.tui.browser.dialogs import Choice, Choose, tell_keys
from geminids.faces.tui.browser.file_watch import FileWatch
from geminids.faces.tui.browser.finding import Found, found_again, found_in, places_of_words
from geminids.faces.tui.browser.last_line import LastLine
from geminids.faces.tui.browser.preview import LINES, Wanted, is_far_down, laid_out_far_down
from geminids.faces.tui.browser.prompts import ToldPrompt, prompts_of
from geminids.faces.tui.browser.story_pane import StoryPane
from geminids.faces.tui.browser.told import Telling, Told, retold, sizes_of, told_first, told_whole
from geminids.faces.tui.browser.view import Help, Row, Seen, Stage, View, footer
from geminids.faces.tui.keys import Key, Typed
from geminids.faces.tui.lines import Piece, fitted
from geminids.sharing.transcript.call_summary import main_argument
from geminids.sharing.transcript.words import count

if TYPE_CHECKING:
    from geminids.faces.drawing.page import Places
    from geminids.faces.tui.browser.questions import Failed
    from geminids.faces.tui.browser.story_lines import Ahead, StoryLines
    from geminids.library import Library

    Value = TypeVar("Value")

GONE = "Its file was deleted; what is shown stays."
COPIED = "Its file was deleted; this is read from a copy."
_WIDE = 96
"""Columns of a dialog with words of the session."""
_FOOTER = (
    Help("?", "keys"),
    Help("Esc", "back"),
    Help("v", "more"),
    Help("Enter", "unfold"),
    Help("/", "find"),
    Help("l", "prompts"),
)
"""The keys that the last line tells, as far as there is room."""
_MOVES: Mapping[str, Callable[[StoryPane], None]] = {
    "j": lambda pane: pane.scroll(1),
    "k": lambda pane: pane.scroll(-1),
    " ": lambda pane: pane.page(1),
    "b": lambda pane: pane.page(-1),
    "d": lambda pane: pane.page(0.5),
    "u": lambda pane: pane.page(-0.5),
    "g": lambda pane: pane.to_start(),
    "J": lambda pane: pane.step(1),
    "K": lambda pane: pane.step(-1),
    "]": lambda pane: pane.step_prompt(1),
    "[": lambda pane: pane.step_prompt(-1),
}
_LIKE = {
    "down": "j",
    "up": "k",
    "page down": " ",
    "page up": "b",
    "ctrl+f": " ",
    "ctrl+b": "b",
    "delete": "d",  # Ctrl-D
    "clear": "u",  # Ctrl-U
    "home": "g",
    "end": "G",
    "enter": "o",
    "left": "q",
    "escape": "q",
}
"""Keys that do what a letter does."""


class Reading(View):
    """One session."""

    keys = (
        Help("Esc q ←", "back"),
        Help("v V", "more, less detail"),
        Help("Enter o", "unfold or fold the calls of the message"),
        Help("O", "unfold or fold all calls"),
        Help("t", "thoughts on or off"),
        Help("x", "dropped turns on or off"),
        Help("j k", "next, previous line"),
        Help("Space b", "next, previous page"),
        Help("d u", "half a page on, back"),
        Help("g G", "beginning, end"),
        Help("J K", "next, previous message"),
        Help("] [", "next, previous prompt"),
        Help("l", "outline of the prompts"),
        Help("/", "find words"),
        Help("n N", "next, previous match"),
        Help(":", "go to a message by its number"),
        Help("s", "open the subagent of the message"),
        *ACTION_LETTERS,
    )

    def __init__(
        self,
        stage: Stage,
        key: str,
        *,
        message: int | None = None,
        words: str = "",
        sessions: SessionList | None = None,
    ) -> None:
        """`message` is the number of the one to begin at, `words` are those that were searched for.

        `sessions` is the list to which actions lead back.
        """
        super().__init__(stage)
        self.key = key
        self._sessions = sessions
        self.pane: StoryPane | None = None
        """What is read; None as long as it is not there."""
        self._begins_at = message
        self._glance: Sequence[Row] = ()
        """What is seen of the message to begin at as long as all else is not there."""
        self._telling = Telling()
        self._sought: tuple[str, Places] | None = None
        """What is looked for, and what tells where it stands."""
        self._trouble = ""
        """Why there is no session, or no newer state of it."""
        self._watch: FileWatch | None = None
        self._is_reading = False
        """Whether all of it is being read."""
        self._goes_on: Callable[[], None] | None = None
        """What is to be done as soon as all of it is there."""
        self._last_line: LastLine | None = None
        self._size = (80, 23)
        self._is_closed = False
        self._commands = self._commands_by_letter()
        self._read_first(words.strip())

    def _commands_by_letter(self) -> Mapping[str, Callable[[], None]]:
        """What letters do that are no moves and no actions."""
        return {
            "q": self.stage.close,
            "?": lambda: self.stage.show(tell_keys(self.stage, self.keys)),
            "G": self._to_end,
            "v": lambda: self._tell_at(self._telling.at_next_level(1)),
            "V": lambda: self._tell_at(self._telling.at_next_level(-1)),
            "t": lambda: self._switch(self._telling.with_other_thoughts),
            "x": lambda: self._switch(self._telling.with_other_dropped),
            "o": self._fold,
            "O": self._fold_all,
            "l": self._outline,
            "/": lambda: self._type("/", self._find),
            ":": lambda: self._type("Message ", self._go_to),
            "#": lambda: self._type("Message ", self._go_to),
            "n": lambda: self._to_match(1),
            "N": lambda: self._to_match(-1),
            "s": self._open_subagent,
        }

    # What is read.

    def _ask(
        self,
        lane: str,
        question: Callable[[Library], Value],
        then: Callable[[Value], None],
        failed: Failed | None = None,
        *,
        is_slow: bool = False,
    ) -> None:
        """Ask in a lane of this view alone; who has left it wants no answer."""

        def take(answer: Value) -> None:
            if not self._is_closed:
                then(answer)

        self.stage.ask(f"{id(self)} {lane}", question, take, failed, is_slow=is_slow)

    def _read_first(self, words: str) -> None:
        """Ask for it, or for as much as is seen first."""
        key, message = self.key, self._begins_at
        if message and is_far_down(message):
            wanted = Wanted(key, None, message, words, self.stage.size[0] - 1)
            self._ask("glance", lambda library: laid_out_far_down(library, wanted, LINES), self._see)
        self._ask(
            "first",
            lambda library: told_first(library, key, self._telling, message),
            lambda told: self._begin(told, words),
            self._fail,
        )

    def _see(self, rows: Sequence[Row]) -> None:
        self._glance = rows

    def _begin(self, told: Told, words: str) -> None:
        """Show it for the first time, with the words that were searched for."""
        self._telling = told.telling
        self.pane = StoryPane(told, *self._size)
        if self._begins_at:
            self.pane.to_message(self._begins_at)
        if words:
            self._ask("find", lambda library: found_again(library, told, words), self._take_searched)
        if told.is_whole:
            self._take_all(told, 0)
        else:
            self._read_all()

    def _read_all(self) -> None:
        """Read all of it, as it is now."""
        if self._is_reading:
            return
        self._is_reading, began = True, monotonic()
        self._ask(
            "all",
            lambda library: told_whole(library, self.key, self._telling),
            lambda told: self._take_all(told, monotonic() - began),
            self._fail,
            is_slow=True,
        )

    def _take_all(self, told: Told, seconds: float) -> None:
        was_kept = self.pane is None or self.pane.told.session.kept
        self._is_reading, self._trouble = False, COPIED if told.session.kept and not was_kept else ""
        if self.pane and self.pane.told is not told:
            self._take(told)
        self._watch_files(told, seconds)
        goes_on, self._goes_on = self._goes_on, None
        if goes_on:
            goes_on()

    def _watch_files(self, told: Told, seconds: float) -> None:
        """Notice what becomes of its files; of those that are gone, that they come back."""
        sizes = sizes_of(told.session)
        if self._watch is None or (sizes and self._watch.paths != sizes.keys()):
            if self._watch:
                self._watch.close()
            self._watch = FileWatch(sizes, self.stage.wake)
        self._watch.rest(seconds)

    def _take(self, told: Told) -> None:
        """Show another state of it, or the same in another detail."""
        if pane := self.pane:
            pane.take(told)
            if told.telling != self._telling:
                self._tell_at(self._telling)
            elif self._sought:
                self._find_in(pane, *self._sought, self._show_found)

    def _tell_at(self, telling: Telling) -> None:
        """Have more or less of it told."""
        self._telling = telling
        if pane := self.pane:
            told = pane.told
            self._ask("detail", lambda _: retold(told, telling), lambda now: self._take_retold(told, now))

    def _take_retold(self, asked: Told, told: Told) -> None:
        # Where more was read meanwhile, that is being told in the new detail.
        if self.pane and self.pane.told is asked:
            self._take(told)

    def _fail(self, error: Exception) -> None:
        self._is_reading = False
        self._trouble = str(error) if self.pane is None else GONE

    def look(self) -> None:
        """Read it again if its files differ."""
        if self._watch and self._watch.take_change():
            self.stage.renew()
            self._read_all()

    def closed(self) -> None:
        """Look at its files no more."""
        self._is_closed = True
        if self._watch:
            self._watch.close()

    # What keys do.

    def press(self, key: Key) -> None:
        """Move, tell more or less, find; other letters are actions."""
        if line := self._last_line:
            # What is typed there may ask for another line.
            self._last_line = None
            if line.press(key):
                self._last_line = line
            return
        letter = key.text if isinstance(key, Typed) else _LIKE.get(key, key)
        if self.pane and letter in _MOVES:
            _MOVES[letter](self.pane)
        elif letter in self._commands and (self.pane or letter in "q?"):
            self._commands[letter]()
        elif self.pane:
            self._act(letter, self.pane)

    def _act(self, letter: str, pane: StoryPane) -> None:
        actions = actions_of(self.stage, self._subject(pane))
        if letter == "ctrl+p":
            open_palette(self.stage, actions, hint=lambda action: action.letter)
            return
        for action in actions:
            if letter in (action.letter, action.control):
                action.run()
                return

    def _subject(self, pane: StoryPane) -> Subject:
        """The session as something that is done with."""
        told, session = pane.told, pane.told.session
        project = session.project
        return Subject(
            self.key,
            told.name,
            session.agent,
            project.path,
            session.kept,
            pane.number,
            project.path or project.hash or project.slug,
            self._sessions,
            is_open=True,
        )

    def _type(self, mark: str, run: Callable[[str], None]) -> None:
        self._last_line = LastLine(mark, run)

    def _when_whole(self, does: Callable[[StoryPane], None]) -> None:
        """Do something now, or as soon as all of it is there."""
        if pane := self.pane:
            if pane.told.is_whole:
                does(pane)
            else:
                self._goes_on = lambda: does(pane)

    def _to_end(self) -> None:
        self._when_whole(lambda pane: pane.to_end())

    def _switch(self, switched: Telling) -> None:
        if self._telling.detail.everything:
            self.stage.say("This level tells everything; V tells less.", "quiet")
        else:
            self._tell_at(switched)

    def _fold(self) -> None:
        if self.pane and not self.pane.fold():
            self.stage.say("Nothing is folded in this message.", "quiet")

    def _fold_all(self) -> None:
        if self.pane:
            self.pane.fold_all()

    def _go_to(self, typed: str) -> None:
        number = typed.lstrip("#")
        if number.isdecimal() and len(number) < 10:
            self._to_message(int(number))
        elif typed:
            self.stage.say("Type the number of a message.", "warning")

    def _to_message(self, number: int) -> None:
        def go(pane: StoryPane) -> None:
            last = pane.told.messages
            if not 1 <= number <= last:
                self.stage.say(f"There is no message #{number}; the last one is #{last}.", "warning")
            elif not pane.to_message(number):
                self.stage.say(f"This level does not show message #{number}; v shows more.", "warning")

        if self.pane and number <= len(self.pane.told.session.messages):
            go(self.pane)
        else:
            self._when_whole(go)

    # What is looked for.

    def _find(self, typed: str) -> None:
        """Look for words from here on; without any, mark none."""
        if pane := self.pane:
            if typed:
                self._find_in(pane, typed, places_of_words(typed), self._take_found)
            else:
                self._sought = None
                pane.show_found(None)

    def _find_in(self, pane: StoryPane, typed: str, places: Places, then: Callable[[Found], None]) -> None:
        self._sought, told = (typed, places), pane.told
        self._ask("find", lambda _: (told, found_in(told, typed, places)), self._checked(then))

    def _checked(self, then: Callable[[Found], None]) -> Callable[[tuple[Told, Found]], None]:
        """What is done with what was found, if it was found in what is shown now."""

        def take(answer: tuple[Told, Found]) -> None:
            told, found = answer
            if self.pane and self.pane.told is told:
                then(found)

        return take

    def _show_found(self, found: Found) -> None:
        if self.pane:
            self.pane.show_found(found)

    def _take_found(self, found: Found) -> None:
        """Go to the first place."""
        self._show_found(found)
        self._to_match(1)

    def _take_searched(self, found: Found | None) -> None:
        """Mark what was searched for, and go to it in the message that was found."""
        if found and self.pane:
            self._sought = found.typed, found.places
            self._show_found(found)
            if self._begins_at:
                self._to_match(1)

    def _to_match(self, by: int) -> None:
        found = self.pane.found if self.pane else None
        if self._sought is None:
            self.stage.say("/ finds words.", "quiet")
        elif self.pane and found and found.total:
            self.pane.to_next_match(by)
        elif found and found.hidden:
            self.stage.say("Only in what this level leaves out; v shows more.", "warning")

    # Dialogs.

    def _outline(self) -> None:
        """Choose one of the prompts."""
        if pane := self.pane:
            told = pane.told
            self._ask("outline", lambda _: prompts_of(told), self._show_outline)

    def _show_outline(self, prompts: Sequence[ToldPrompt]) -> None:
        if not prompts:
            self.stage.say("It has no prompts.", "quiet")
            return
        choices = [Choice(one.name, self._going_to(one.number), one.came_of_it) for one in prompts]
        at = self.pane.number or 1 if self.pane else 1
        before = sum(one.number <= at for one in prompts)
        self.stage.show(Choose(self.stage, "Prompts", choices, width=_WIDE, chosen=max(before - 1, 0)))

    def _going_to(self, number: int) -> Callable[[], None]:
        return lambda: self._to_message(number)

    def _open_subagent(self) -> None:
        turn = self.pane.turn if self.pane else None
        calls = [part for part in turn.parts if isinstance(part, ToolCall)] if turn else []
        choices = [
            Choice(f"{call.name}  {main_argument(call, None)}", self._opening(call.child_id))
            for call in calls
            if call.child_id
        ]
        if not choices:
            self.stage.say("No subagent was started in this message.", "quiet")
        elif len(choices) == 1:
            choices[0].run()
        else:
            self.stage.show(Choose(self.stage, "Subagents", choices, width=_WIDE))

    def _opening(self, session_id: str) -> Callable[[], None]:
        return lambda: self.stage.open(Reading(self.stage, session_id, sessions=self._sessions))

    # The mouse.

    def click(self, column: int, line: int) -> None:
        """A click goes to a message, and unfolds the one where one is; on the bar it goes so far."""
        columns, rows = self._size
        if self.pane is None or line >= rows:
            return
        if column >= columns - 1:
            self.pane.to_share(line)
        elif self.pane.choose(line):
            self._fold()

    def wheel(self, column: int, line: int, by: int) -> None:
        """The wheel scrolls."""
        if self.pane:
            self.pane.scroll(by)

    # What is seen.

    def seen(self, columns: int, height: int) -> Seen:
        """The lines, and where one is in them."""
        self._size = columns, height - 1
        if self.pane is None:
            return Seen([*self._waiting(*self._size), footer(_FOOTER[:2], columns)])
        self.pane.resize(*self._size)
        last = self._last_line.row(columns) if self._last_line else self._status(self.pane, columns)
        rows = self.pane.rows()
        self._lay_out_ahead(self.pane.text, self.pane.ahead())
        return Seen([*rows, last])

    def _lay_out_ahead(self, text: StoryLines, ahead: Ahead) -> None:
        if ahead.wanted:
            self._ask("ahead", lambda _: text.made(ahead), text.keep)

    def _waiting(self, columns: int, rows: int) -> list[Row]:
        """What is seen as long as there is no session."""
        page = LaidOutPage(columns)
        page.words(self._trouble or "Reading …", "warning" if self._trouble else "quiet", indent=1)
        seen = [*page.lines, *(() if self._trouble else self._glance)][:rows]
        return [*seen, *([[]] * (rows - len(seen)))]

    def _status(self, pane: StoryPane, columns: int) -> Row:
        """The level, which message of how many, how far, what was found, and keys."""
        number = f"#{pane.number:,} of {pane.told.messages:,}" if pane.number else "no message"
        reading = "" if pane.told.is_whole or self._trouble else "reading the rest …"
        facts = (
            (self._trouble, "bad"),
            (self._telling.name, "title"),
            (number, ""),
            (f"{pane.percent} %", ""),
            (self._found_words(pane), "match"),
            (reading, "quiet"),
        )
        pieces = [Piece(" ")]
        for told, style in facts:
            if told:
                pieces += [Piece(" · " if len(pieces) > 1 else "", "quiet"), Piece(told, style)]
        room = columns - sum(cell_len(piece.text) for piece in pieces) - 1
        return [*pieces, Piece(" "), *footer(_FOOTER, room)] if room >= 0 else fitted(pieces, columns)

    def _found_words(self, pane: StoryPane) -> str:
        """Which of the places one is at, and how many there are in what is not told."""
        if self._sought is None:
            return ""
        found = pane.found
        if found is None:
            return "searching …"
        hidden = f", {found.hidden:,} hidden" if found.hidden else ""
        every = count(found.total, "match", "matches") if found.total else "no match"
        at = f"match {pane.match.number + 1:,} of {found.total:,}" if pane.match else every
        return f"{at}{hidden}"
