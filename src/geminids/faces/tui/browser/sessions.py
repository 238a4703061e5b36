"""The list of sessions: a box to type into, what fits, and a look at the one that is chosen.

80x24        the box, the agents, 13 sessions, a rule, 7 lines of the chosen one, the keys
110 columns  the chosen one stands beside the list, over the whole height
under 20 lines, or with Ctrl-O, the list has all the room, or the chosen one
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from rich.cells import cell_len

from geminids.core.agents import available as known_agents
from geminids.core.values import NamedTuple
from geminids.faces.tui.asker import Asker
from geminids.faces.tui.browser.actions import ACTION_KEYS, Action, Subject, actions_of
from geminids.faces.tui.browser.completing import Completing
from geminids.faces.tui.browser.dialogs import Choice, tell_keys, worded
from geminids.faces.tui.browser.expiring import ExpiringSessions
from geminids.faces.tui.browser.hindrances import Hindrances
from geminids.faces.tui.browser.preview import Preview
from geminids.faces.tui.browser.view import Help, Row, Seen, Stage, View, footer, with_cursor
from geminids.faces.tui.browser.views import KEYS, VIEWS, Views
from geminids.faces.tui.cursor import Cursor
from geminids.faces.tui.keys import Key
from geminids.faces.tui.lines import Piece, cut, fitted
from geminids.faces.tui.matches import Line, Listed, Scope
from geminids.faces.tui.picker import Picker
from geminids.faces.tui.rows import (
    BROWSED,
    SessionRows,
    Told,
    box_row,
    cells_for,
    cursor_column,
    highlighted,
    how_many,
)

if TYPE_CHECKING:
    from geminids.faces.tui.asker import OpenLibrary
    from geminids.library.completions import Completions
    from geminids.query.search.found import Hit

BESIDE_FROM = 110
"""Columns from which on the chosen session stands beside the list."""
BELOW_FROM = 20
"""Lines from which on it stands below."""
_LIST_SHARE = 0.58
_BAR_LINES = 3
"""The box, the agents, the keys."""
_MESSAGES_OF_EACH = 100
"""Where messages are listed."""
SYNC_EVERY = 5.0
"""Seconds after which what is new is taken in again."""
ORDERS = {"date": "newest first", "started": "by start", "messages": "longest first", "project": "by project"}
"""In which sessions may stand, and what that is called."""


class Layout(NamedTuple):
    """What stands where."""

    list_columns: int
    list_rows: int
    preview: str
    """`beside`, `below`, `instead` of the list, or nothing."""
    preview_columns: int = 0
    preview_rows: int = 0


def layout_of(columns: int, height: int, *, is_switched: bool) -> Layout:
    """What fits; `is_switched` turns the preview off where it stands, and on where it does not."""
    rows = max(height - _BAR_LINES, 1)
    if columns >= BESIDE_FROM and not is_switched:
        left = int(columns * _LIST_SHARE)
        return Layout(left, rows, "beside", columns - left - 2, rows)
    if columns < BESIDE_FROM and height >= BELOW_FROM and not is_switched:
        below = max((rows - 1) * 7 // 20, 3)
        return Layout(columns, rows - 1 - below, "below", columns, below)
    if columns < BESIDE_FROM and height < BELOW_FROM and is_switched:
        return Layout(columns, rows, "instead", columns, rows)
    return Layout(columns, rows, "")


class Listing(Picker):
    """What was typed and is listed, with as many rows as the browser has."""

    room = 1
    _opened: Scope | None = None
    """The project that was looked into last."""
    _number: int | None = None
    """The line to choose in the next answer."""

    def snapshot(self) -> Callable[[], None]:
        """Return what brings back the words, the scopes and the chosen line of now."""
        text, scopes, opened = self.box.text, self._scopes, self._opened
        agent, number = self.scope.agent, self.cursor.number

        def bring_back() -> None:
            self.box.set(text)
            self._scopes, self._opened, self._number = scopes, opened, number
            self.to_agent(agent)

        return bring_back

    def take(self, listed: Listed) -> None:
        """Show an answer, with the line chosen that was when a snapshot was taken."""
        super().take(listed)
        if self._number is not None and self.has_answer:
            self.choose(self._number)
            self._number = None

    @property
    def rows(self) -> int:
        """For how many sessions there is room."""
        return self.room

    def look_in(self, project: str) -> None:
        """Look in a project; where was looked before is the next scope."""
        scope = Scope(project=project)
        self._scopes = [scope, *(one for one in self._scopes if one not in (scope, self._opened))]
        self._opened = scope
        self.to_agent(None)


class FoundMessage(NamedTuple):
    """A message of the list of those that were found."""

    line: Line
    hit: Hit


class Sessions(View):
    """What one sees first."""

    keys = (
        Help("Enter", "read"),
        ACTION_KEYS[0],
        Help("Tab", "messages"),
        Help("Shift-Tab", "agent"),
        Help("^T", "this project, all, deleted"),
        Help("F3 F4 F5", "projects, usage, what is kept"),
        Help("^P", "all actions"),
        Help("F1", "keys"),
        Help("Esc", "clear, then back"),
        *ACTION_KEYS[1:],
        Help("↑ ↓ PgUp PgDn", "choose"),
        Help("→", "take what is offered, or read"),
        Help("^S", "newest first, by start, longest first, by project"),
        Help("^O", "hide or show the preview"),
        Help("Shift-↑ Shift-↓", "scroll the preview"),
        Help("^C", "quit"),
        Help("^Z", "suspend"),
    )

    def __init__(
        self,
        stage: Stage,
        open_library: OpenLibrary,
        scopes: Sequence[Scope],
        typed: str = "",
        *,
        completions: Completions,
        enter_resumes: bool = False,
    ) -> None:
        super().__init__(stage)
        self.listing = Listing(scopes, typed)
        self.messages: Sequence[FoundMessage] | None = None
        """Those that are listed in place of sessions."""
        self._among_messages = Cursor()
        self._enter_resumes = enter_resumes
        self._preview = Preview(stage)
        self._completing = Completing(stage, completions)
        self._hindrances = Hindrances(stage)
        self._is_switched = False
        self._ways_back: list[Callable[[], None]] = []
        """What Esc goes back to: what was seen before each project that was looked into."""
        self._awaited: Key | None = None
        """What is to be done with the chosen session as soon as the answer to what was typed is there."""
        # What is asked first is asked for as many rows as there are.
        self._layout = layout_of(*stage.size, is_switched=False)
        self.listing.room = self._layout.list_rows
        self.listing.resize(*stage.size)
        self._rows = SessionRows()
        self._chips: Sequence[tuple[range, str | None]] = ()
        self._readings = self._changes = 0
        self._expiring = ExpiringSessions(stage)
        self._asker = Asker(open_library, stage.now, stage.wake, with_use=True, every=SYNC_EVERY)

    # What is chosen.

    @property
    def chosen(self) -> Line | None:
        """The session that is chosen, with the message in it that is."""
        if self.messages is None:
            return self.listing.chosen
        if not self.messages:
            return None
        found = self.messages[self._among_messages.number]
        return found.line._replace(message=found.hit.message.place + 1)

    # What comes in.

    def look(self) -> None:
        """Take in an answer, an error, that what is new was read; ask what is to be asked."""
        if self._asker.error:
            self.stage.fail(self._asker.error)
        if self._asker.changes != self._changes:
            self._changes = self._asker.changes
            self._completing.forget()
            self.stage.changed(told=self)
        if self._asker.readings != self._readings:
            self._readings = self._asker.readings
            self._hindrances.forget()
            if self._readings > 1:
                # It takes longer than all else of the start, and nobody waits for it.
                self._expiring.renew()
        listed = self._asker.listed
        if listed is not None and listed is not self.listing.listed:
            self.listing.take(listed)
            self._take_messages()
        if self.listing.asked != self._asker.asked:
            self._asker.ask(self.listing.asked)
        self._hindrances.look(self.listing.seen)
        if self.listing.decided:
            self.listing.settle()
            self._enter()
        if self._awaited and self.listing.has_answer:
            self.press(self._awaited)

    def press(self, key: Key) -> None:
        """Type, move, open; everything else is an action."""
        self._expiring.silence()
        self._asker.silence()
        self._awaited = None
        match key:
            case str() if self.chosen and not self.listing.has_answer and self._is_action(key):
                self._awaited = key
            case str() if key in KEYS:
                self.open_view(key)
            case "escape" if not self.listing.box.text and self._ways_back:
                self._ways_back.pop()()
            case "escape" if not self.listing.box.text:
                self.stage.close()
            case "tab":
                self._switch_messages()
            case "shift tab":
                self.listing.to_next_agent()
            case "ctrl+t":
                self.listing.to_next_scope()
            case "ctrl+s":
                self._to_next_order()
            case "ctrl+o":
                self._is_switched = not self._is_switched
            case "shift+up" | "shift+down":
                self._preview.top += 1 if key == "shift+down" else -1
            case "right" if self.listing.box.cursor == len(self.listing.box.text):
                if not self._completing.accept(self.listing.box):
                    self._read()
            case "up" | "down" | "page up" | "page down" if self.messages is not None:
                self._among_messages.press(key, len(self.messages), self._layout.list_rows)
            case "enter" if self.messages is not None and self.listing.has_answer:
                self._enter()
            case "?":
                self.stage.show(tell_keys(self.stage, self.keys))
            case "ctrl+p":
                self._open_palette()
            case _:
                if not self._act(key):
                    self.listing.press(key)

    def changed(self) -> None:
        """Ask for the same again."""
        if self._asker.asked:
            self._asker.ask(self._asker.asked)

    def click(self, column: int, line: int) -> None:
        """A click chooses a session, and opens the one that is chosen; on an agent it shows its sessions."""
        if line == 1:
            for columns, agent in self._chips:
                if column in columns:
                    self.listing.to_agent(agent)
        at = line - 2
        if not (0 <= at < self._layout.list_rows and column < self._layout.list_columns):
            return
        cursor, there = self._list()
        number = cursor.top + at
        if number == cursor.number and number < there:
            self._read()
        elif number < there:
            cursor.choose(number, there, self._layout.list_rows)

    def wheel(self, column: int, line: int, by: int) -> None:
        """The wheel moves what it stands over."""
        is_over_list = column < self._layout.list_columns and line < 2 + self._layout.list_rows
        if self._layout.preview and not is_over_list:
            self._preview.top += by
        else:
            cursor, there = self._list()
            cursor.choose(cursor.number + by, there, self._layout.list_rows)

    def open_view(self, key: str) -> None:
        """Show a view beside the list, by its key."""
        self.stage.open(Views(self.stage, key, self._look_in, partial(self.read, message=None)))

    def _look_in(self, project: str, back: Callable[[], None]) -> None:
        """List the sessions of a project; Esc calls `back` and shows the list of before."""
        bring_back, messages = self.listing.snapshot(), self.messages

        def go_back() -> None:
            bring_back()
            self.messages = messages
            back()

        self._ways_back.append(go_back)
        self.messages = None
        self.listing.look_in(project)

    def closed(self) -> None:
        """End the threads that ask."""
        self._asker.close()

    def _list(self) -> tuple[Cursor, int]:
        """The list that is seen, and how many lines it has."""
        if self.messages is not None:
            return self._among_messages, len(self.messages)
        return self.listing.cursor, len(self.listing.listed.lines if self.listing.listed else ())

    # What is done.

    def read(self, key: str, message: int | None) -> None:
        """Open a session to read it, at a message if one is named."""
        # What it takes to read is loaded when something is read: the list is there sooner without.
        from geminids.faces.tui.browser.reading import Reading

        is_found = self.chosen is not None and self.chosen.key == key
        words = self.listing.listed.words if is_found and self.listing.listed else ""
        self.stage.open(Reading(self.stage, key, message=message, words=words, sessions=self))

    def show_project(self, subject: Subject) -> None:
        """List the sessions of its project with the words that were typed; Esc goes back to the session."""
        if subject.project:
            self.stage.back_to(self)
            reopen = partial(self.read, subject.key, subject.message)
            self._look_in(subject.project, reopen if subject.is_open else lambda: None)

    def _enter(self) -> None:
        if self._enter_resumes and (subject := self._subject):
            from geminids.faces.tui.browser.actions.resuming import resume

            resume(self.stage, subject)
        else:
            self._read()

    def _open_palette(self) -> None:
        from geminids.faces.tui.browser.actions.palette import open_palette

        open_palette(self.stage, self._actions(), self._views())

    def _read(self) -> None:
        if line := self.chosen:
            self.read(line.key, line.message)

    def _is_action(self, key: str) -> bool:
        """Whether a key does something with the chosen session."""
        is_control = key.startswith("ctrl+")
        return is_control and (key == "ctrl+p" or any(one.control == key for one in self._actions()))

    def _act(self, key: Key) -> bool:
        """Do what a control key does; whether it does anything."""
        is_control = isinstance(key, str) and key.startswith("ctrl+")
        actions = [one for one in self._actions() if one.control == key] if is_control else ()
        for action in actions:
            action.run()
        return bool(actions)

    def _actions(self) -> Sequence[Action]:
        return actions_of(self.stage, subject) if (subject := self._subject) else ()

    @property
    def _subject(self) -> Subject | None:
        """The chosen session as something that is done with."""
        line = self.chosen
        if line is None:
            return None
        session, project = line.session, line.session.project
        meant = project.path or project.hash or project.slug
        return Subject(
            line.key, line.name, session.agent, project.path, session.kept, line.message, meant, self
        )

    def _views(self) -> Sequence[Choice]:
        """The views beside the list, to be chosen where actions are."""
        return [Choice(view.name, partial(self.open_view, view.key), view.key.upper()) for view in VIEWS]

    def _switch_messages(self) -> None:
        if self.messages is None:
            self.messages = ()
            self._among_messages = Cursor()
            self._take_messages()
        else:
            self.messages = None
        self.listing.per_session = 1 if self.messages is None else _MESSAGES_OF_EACH

    def _take_messages(self) -> None:
        """List all messages that were found, session by session."""
        if self.messages is None:
            return
        lines = self.listing.listed.lines if self.listing.listed else ()
        self.messages = [
            FoundMessage(line, hit)
            for line in lines
            for hit in line.hits
            if hit.is_of_message and hit.snippet
        ]
        cursor = self._among_messages
        cursor.choose(cursor.number, len(self.messages), self._layout.list_rows)

    def _to_next_order(self) -> None:
        names = list(ORDERS)
        self.listing.order = names[(names.index(self.listing.order) + 1) % len(names)]

    # What is seen.

    def seen(self, columns: int, height: int) -> Seen:
        """The box, the agents, the list with the chosen session beside or below it, the keys."""
        self._layout = layout = layout_of(columns, height, is_switched=self._is_switched)
        self.listing.room = layout.list_rows
        self.listing.resize(columns, height)
        rows: list[Row] = [self._box(columns), self._agents(columns)]
        if layout.preview == "instead":
            rows += _filled(self._previewed(), layout.list_rows)
        else:
            listed = _filled(self._listed(layout.list_columns), layout.list_rows)
            rows += self._beside(listed) if layout.preview == "beside" else listed
            if layout.preview == "below":
                rows.append([Piece("─" * columns, "frame")])
                rows += _filled(self._previewed(), layout.preview_rows)
        note = self._note(columns)
        if len(note) > 1:
            rows[-len(note) :] = note
        rows.append(self._footer(note, columns))
        chosen = 2 + self._list()[0].seen
        is_chosen = self.chosen is not None and layout.preview != "instead"
        return Seen(rows, range(chosen, chosen + 1) if is_chosen else range(0), layout.list_columns)

    def _box(self, columns: int) -> Row:
        box = self.listing.box
        told = how_many(self.listing.listed, self.listing.scope)
        row = box_row(box, columns - 1, told, self._completing.ghost(box))
        return with_cursor(row, cursor_column(box, columns - 1))

    def _agents(self, columns: int) -> Row:
        """All agents, the chosen one marked, and the order of the sessions; or what may follow."""
        if offered := self._completing.offered(self.listing.box):
            return fitted([Piece(" → ", "key"), Piece("  ".join(offered), "quiet")], columns)
        pieces, chips, at = [Piece(" ")], [], 1
        for agent in (None, *known_agents()):
            is_chosen = agent == self.listing.scope.agent
            style = f"agent {agent}" if agent else ""
            name = agent or "all"
            pieces.append(Piece(f"[{name}]" if is_chosen else f" {name} ", style))
            chips.append((range(at, at + len(name) + 2), agent))
            at += len(name) + 2
        self._chips = chips
        is_search = bool(self.listing.box.text.strip())
        order = "best match first" if is_search else ORDERS[self.listing.order]
        what = "messages" if self.messages is not None else "sessions"
        right = f"{what} · {order} "
        room = columns - at - cell_len(right)
        if room > 0:
            pieces += [Piece(" " * room), Piece(right, "quiet")]
        return fitted(pieces, columns)

    def _listed(self, columns: int) -> list[Row]:
        listed = self.listing.listed
        if listed is None:
            return [fitted([Piece(f"  {told}", "quiet")], columns) for told in self._told_first()]
        if not listed.lines:
            return self._nothing(columns)
        if self.messages is not None:
            return self._listed_messages(columns)
        names = self.listing.projects
        seen = (one._replace(is_expiring=one.session.id in self._expiring.ids) for one in self.listing.seen)
        now, hindrance = self.stage.now, self._hindrances.of
        told = (Told(line, names[line.session.project], now, bool(hindrance(line))) for line in seen)
        cells = cells_for(names.values(), BROWSED)
        return [self._rows.row(one, columns, cells) for one in told]

    def _listed_messages(self, columns: int) -> list[Row]:
        messages, top = self.messages or (), self._among_messages.top
        if not messages:
            is_search = bool(self.listing.box.text.strip())
            sentence = "No message has these words." if is_search else "Type words to find messages."
            return [fitted([Piece(f"  {sentence}", "quiet")], columns)]
        return [_message_row(found, columns) for found in messages[top : top + self._layout.list_rows]]

    def _told_first(self) -> Sequence[str]:
        """What is seen as long as there is no list."""
        if said := self._asker.said:
            return (said, "The newest come first. They appear as soon as they are read.")
        return ("Looking …",)

    def _nothing(self, columns: int) -> list[Row]:
        listed = self.listing.listed
        if note := listed.note if listed else "":
            told = [(note, "warning")]
        elif self.listing.box.text.strip():
            elsewhere = "Esc clears the words; Shift-Tab and Ctrl-T look elsewhere."
            told = [("Nothing found.", "warning"), (elsewhere, "quiet")]
        else:
            told = [
                (self._asker.closed or "No session found.", "warning"),
                ("geminids browse --home DIR looks in another home directory,", "quiet"),
                ("geminids browse --sample shows the sessions that come with geminids.", "quiet"),
            ]
        return [
            [Piece("  "), *row] for sentence, style in told for row in worded(sentence, columns - 3, style)
        ]

    def _previewed(self) -> list[Row]:
        layout = self._layout
        # What is typed is found a moment later: until then another look at the same would be in its way.
        words = self.listing.listed.words if self.listing.listed else ""
        chosen = self.chosen
        hindrance = self._hindrances.of(chosen) if chosen else ""
        return self._preview.rows(chosen, words, layout.preview_columns, layout.preview_rows, hindrance)

    def _beside(self, listed: Sequence[Row]) -> list[Row]:
        shown = _filled(self._previewed(), len(listed))
        columns = self._layout.list_columns
        return [
            [*_wide(left, columns), Piece("│ ", "frame"), *right]
            for left, right in zip(listed, shown, strict=True)
        ]

    def _note(self, columns: int) -> list[Row]:
        """What a person should know, where the list does not say it already."""
        listed = self.listing.listed
        if listed is None or not listed.lines:
            return []
        note = self._asker.said or listed.note or self._expiring.note
        return [[Piece(" "), *row] for row in worded(note, columns - 2, "warning")] if note else []

    def _footer(self, note: Sequence[Row], columns: int) -> Row:
        """The keys, beside a note that fits into the line."""
        if len(note) != 1:
            return footer(self.keys, columns)
        told = sum(cell_len(piece.text) for piece in note[0])
        return [*note[0], Piece(" "), *footer(self.keys, max(columns - told - 1, 0))]


def _message_row(found: FoundMessage, columns: int) -> Row:
    """A message in its words, and the session in which it stands."""
    line, hit = found
    where = f"{line.name}"
    title = min(max(columns // 3, 12), 40)
    before = [
        Piece("  "),
        Piece(cut(line.session.agent, 6) + " ", f"agent {line.session.agent}"),
        Piece(cut(where, title) + " ", "quiet"),
        Piece(f"{f'#{hit.message.place + 1}':>6} ", "quiet"),
    ]
    room = columns - sum(cell_len(piece.text) for piece in before)
    return fitted([*before, *(highlighted(hit.snippet, room) if hit.snippet else [])], columns)


def _filled(rows: Sequence[Row], height: int) -> list[Row]:
    """So many lines."""
    return [*rows[:height], *([[]] * (height - len(rows)))]


def _wide(row: Row, columns: int) -> Row:
    """A line in so many columns."""
    missing = columns - sum(cell_len(piece.text) for piece in row)
    return [*row, Piece(" " * missing)] if missing > 0 else row
