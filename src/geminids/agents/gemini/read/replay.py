"""The full view: every turn that was ever taken, once, and why it is no longer current if it is not.

The last state of a log is not the conversation. A checkpoint (`$set.messages`) replaces the agent's
list and leaves out prompts, notices, tokens, calls and times that earlier lines of the same file
still hold; masking and reloading write the whole history again under new ids. So a turn is merged
from all its versions, copies are recognised, and what a rewind, a compression, a failure, a
cancellation or a restart took away is kept and says so.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import takewhile
from pathlib import Path
from typing import Any

from geminids.agents.gemini.phrases import REQUEST_CANCELLED, SUMMARY_RECEIVED
from geminids.agents.gemini.read.content import parts_of, plain_text
from geminids.agents.gemini.read.copies import NOTHING, Copy, Originals
from geminids.agents.gemini.read.injected import ACKNOWLEDGEMENTS, CONTEXT_ID
from geminids.agents.gemini.read.records import MESSAGE, Kind, Record
from geminids.agents.gemini.read.traits import is_context
from geminids.agents.gemini.read.turns import VERSION, Turn
from geminids.core.model import Location, State

_RESTATED = "/$set/messages"


class Replay:
    """Reads the records of one session, file by file, into turns."""

    def __init__(self) -> None:
        self._turns: dict[str, Turn] = {}
        self._count = 0
        self._copies: dict[str, list[Turn]] = {}
        self._alive: dict[str, None] = {}
        """The ids in the agent's list, copies included."""
        self._moved: dict[str, dict[str, Turn]] = {}
        """The turns whose calls moved into the content of another turn, by its id."""
        self._burst: list[str] = []
        """The ids of the unbroken run of message lines just before."""
        self._settled = 0
        """So many turns are known from other files, which know them better."""
        self._last_kind: Kind | None = None
        self._mentioned: set[str] = set()
        self._seen: set[str] = set()
        """The ids in the file so far; a copy of it may have been read before."""

    @property
    def turns(self) -> list[Turn]:
        """All turns in the order in which they were first written, earlier versions before the last."""
        return [version for turn in self._originals() for version in (*turn.versions, turn)]

    def _originals(self) -> list[Turn]:
        return sorted(self._turns.values(), key=lambda turn: turn.number)

    def read_file(self, records: Iterable[Record], *, is_rescued: bool = False) -> None:
        """Take in one file of the session; files come in order of time.

        A repaired copy was made of what the others hold: it brings turns back into the agent's view, but
        knows nothing more of them, and what it leaves out was left out by us.
        """
        before = self._alive_turns()
        self._settled = self._count if is_rescued else 0
        self._alive, self._burst, self._mentioned, self._last_kind = {}, [], set(), None
        self._seen = set()
        last_place: Location | None = None
        for record in records:
            self._read(record)
            last_place = record.place
        if before and last_place is not None and not is_rescued:
            self._supersede(before, last_place)

    def _supersede(self, before: list[Turn], place: Location) -> None:
        """Mark what an older copy of the session holds and the newer one no longer does.

        Only a file that repeats turns of the older one is a copy; one that merely goes on is not.
        """
        if not any(turn.id in self._mentioned and not turn.is_context for turn in before):
            return
        for turn in before:
            if turn.id not in self._mentioned and not turn.is_notice:
                turn.drop(State.SUPERSEDED, place)

    def _read(self, record: Record) -> None:
        if record.kind is MESSAGE:
            self._message(record)
            self._last_kind = MESSAGE
            return
        match record.kind:
            case Kind.UPDATE:
                if record.value["$set"].keys() != {"lastUpdated"}:
                    self._burst = []
                return
            case Kind.CHECKPOINT if record.complete:
                self._checkpoint(record)
                self._burst = []
            case Kind.CHECKPOINT:
                # Half a list says what was there, but not what was not.
                self._state_all(record.value["$set"]["messages"], record.place, _RESTATED, complete=False)
                self._burst = []
            case Kind.REWIND:
                self._rewind(record)
                self._burst = []
            case Kind.HEADER:
                self._state_all(record.value.get("messages"), record.place, "/messages")
                self._burst = []
        self._last_kind = record.kind

    def _message(self, record: Record) -> None:
        value = record.value
        turn_id = value.get("id")
        if type(turn_id) is not str or not turn_id:
            place = record.place
            turn_id = f"{Path(place.file).name}:{place.pointer or place.line}"
        self._put(turn_id, value, record.place, complete=record.complete)
        self._burst.append(turn_id)
        self._seen.add(turn_id)

    def _put(
        self,
        turn_id: str,
        value: dict[str, Any],
        place: Location,
        *,
        complete: bool = True,
        restated: bool = False,
    ) -> None:
        """Take in a version of a turn and put it into the agent's list."""
        if VERSION in turn_id and (version := self._version(turn_id)) is not None:
            version.places.append(place)
            return
        self._alive.setdefault(turn_id)
        turn = self._turns.get(turn_id)
        is_settled = turn is not None and turn.number <= self._settled
        if turn is not None and not (restated or is_settled) and complete and turn.is_another(value):
            self._set_aside(turn, place)
            turn = None
        if turn is not None:
            self._mentioned.add(turn_id)
            turn.places.append(place)
            if turn.state is not State.CURRENT:
                turn.restore()
            if complete and not is_settled:
                turn.merge(value, place, restated=restated)
        elif turn_id in self._copies:
            self._update_originals(turn_id, value, place)
        else:
            self._new_turn(turn_id, value, place)

    def _version(self, turn_id: str) -> Turn | None:
        """The earlier version of a turn that a repaired copy names."""
        turn = self._turns.get(turn_id.rpartition(VERSION)[0])
        return next((one for one in turn.versions if one.id == turn_id), None) if turn else None

    def _set_aside(self, turn: Turn, place: Location) -> None:
        """Make room for another turn under the same id; to the agent it replaces this one."""
        turn.drop(State.SUPERSEDED, place)
        del self._turns[turn.id]
        turn.rename(f"{turn.id}~{turn.number}")
        self._turns[turn.id] = turn

    def _new_turn(self, turn_id: str, value: dict[str, Any], place: Location) -> Turn:
        """A turn that was not there before."""
        self._count += 1
        turn = self._turns[turn_id] = Turn(turn_id, value, place, self._count)
        return turn

    def _update_originals(self, turn_id: str, value: dict[str, Any], place: Location) -> None:
        """A copy that is written again may have calls, which belong to its last original, or words."""
        originals = self._copies[turn_id]
        for original in originals:
            original.places.append(place)
        copy = Copy(value, Originals(originals, [], newest_first=False), newest_first=False)
        for original in copy.of:
            if original.state is not State.CURRENT:
                original.restore()
        if originals and value.get("toolCalls"):
            originals[-1].merge({"toolCalls": value["toolCalls"]}, place, restated=True)
        if copy.new_pieces:
            self._add_to_copy(turn_id, _only(copy.new_pieces, value), place)

    def _add_to_copy(self, turn_id: str, value: dict[str, Any], place: Location) -> None:
        """Take in what a copy says that its originals do not, as a turn of its own."""
        turn = self._turns.get(f"{turn_id}+")
        if turn is None:
            turn = self._new_turn(f"{turn_id}+", value, place)
            self._copies.setdefault(turn_id, []).append(turn)
        else:
            turn.merge(value, place, restated=False)

    def _state_all(self, messages: object, place: Location, pointer: str, *, complete: bool = True) -> None:
        """Take in the messages that a record carries, without forgetting any other."""
        for index, value in _stated(messages):
            self._put(value["id"], value, _inside(place, f"{pointer}/{index}"), complete=complete)

    def originals_of(self, turn_id: str) -> list[Turn]:
        """Return the turn of an id, or those that it is a copy of, and those whose calls moved into these."""
        turn = self._turns.get(turn_id)
        originals = [turn] if turn is not None else self._copies.get(turn_id, [])
        return [one for turn in originals for one in (turn, *self._moved.get(turn.id, {}).values())]

    def _alive_turns(self) -> list[Turn]:
        """The originals of all that is in the agent's list, in its order, each once."""
        found = {turn.id: turn for turn_id in self._alive for turn in self.originals_of(turn_id)}
        return list(found.values())

    def _rewind(self, record: Record) -> None:
        for turn_id in _taken_back(self._alive, record.value["$rewindTo"]):
            for turn in self.originals_of(turn_id):
                turn.drop(State.REWOUND, record.place)

    def _checkpoint(self, record: Record) -> None:
        stated = dict(_stated(record.value["$set"]["messages"]))
        re_emitted = self._re_emitted(list(stated.values()))
        emitted = self._take_back(re_emitted)
        before = self._alive_turns()
        copies = self._recognise(stated.values(), before, re_emitted=bool(re_emitted))
        brought: list[Turn] = []
        for index, value in stated.items():
            place = _inside(record.place, f"{_RESTATED}/{index}")
            copy = copies.get(value["id"])
            if copy is None:
                self._put(value["id"], value, place, restated=True)
            else:
                places = [*emitted.get(value["id"], ()), place]
                brought += self._take_in_copy(value, copy, places, reloaded=bool(re_emitted))
        self._alive = dict.fromkeys(value["id"] for value in stated.values())
        self._note_moved_calls(before)
        summaries = (v for v in stated.values() if v["id"] not in self._seen and _is_summary(v))
        compressed = not re_emitted and any(summaries)
        self._seen.update(self._alive)
        is_other = any(turn.imported for turn in brought)
        self._restate(before, record, reloaded=bool(re_emitted), is_other=is_other, compressed=compressed)

    def _note_moved_calls(self, before: list[Turn]) -> None:
        """Note the turns that a checkpoint leaves out because the contents of others hold their calls now.

        When a prompt is cancelled, the CLI writes earlier calls into the contents of the messages that asked
        for them, and leaves out the messages in which it had recorded their results.
        """
        left_out = [turn for turn in before if turn.id not in self._alive and turn.holds_only_calls]
        for holder in self._alive_turns() if left_out else ():
            if moved := {turn.id: turn for turn in left_out if turn.call_ids <= holder.asked.keys()}:
                self._moved.setdefault(holder.id, {}).update(moved)

    def _take_back(self, re_emitted: list[str]) -> dict[str, list[Location]]:
        """Forget lines that only wrote the history again; returns where they stand."""
        for turn_id in re_emitted:
            self._alive.pop(turn_id, None)
        taken = {turn_id: self._turns.pop(turn_id) for turn_id in re_emitted if turn_id in self._turns}
        return {turn_id: turn.places for turn_id, turn in taken.items()}

    def _recognise(
        self, stated: Iterable[dict[str, Any]], alive: list[Turn], *, re_emitted: bool
    ) -> dict[str, Copy]:
        """What the messages under new ids are copies of.

        A compression keeps the end of the history, so there the newest match is the right one.
        """
        new = [v for v in stated if v["id"] not in self._turns and v["id"] not in self._copies]
        if not new:
            return {}
        newest_first = not re_emitted and any(map(_is_summary, new))
        turns = self._originals()
        found = _matched(new, Originals(turns, alive, newest_first=newest_first), newest_first=newest_first)
        if re_emitted and any(copy.new_pieces for copy in found.values()):
            # A chat that was saved long ago: what the agent saw last may be none of it.
            as_written = _matched(new, Originals(turns, [], newest_first=False), newest_first=False)
            found = min(found, as_written, key=_number_of_new_pieces)
        return found

    def _re_emitted(self, stated: list[dict[str, Any]]) -> list[str]:
        """The ids of a history that was just written again, line by line, before being restated."""
        ids = [value["id"] for value in stated]
        replies = [value for value in stated if value.get("type") == "gemini"]
        is_copy = (
            (bool(replies) or _opens_again(stated))
            and not any(isinstance(value.get("model"), str) for value in replies)
            and len(self._alive) > len(ids)
            and self._burst[-len(ids) :] == ids
        )
        return ids if is_copy else []

    def _take_in_copy(
        self, value: dict[str, Any], copy: Copy, places: list[Location], *, reloaded: bool
    ) -> list[Turn]:
        """A message under a new id: a copy of turns, something new, or a bit of both. Returns what is new."""
        turn_id = value["id"]
        for original in copy.of:
            original.places.extend(places)
        self._mentioned.update(original.id for original in copy.of)
        brought: list[Turn] = []
        if not copy.of:
            brought = [self._new_turn(turn_id, value, places[0])]
        elif copy.new_pieces:
            brought = [self._new_turn(f"{turn_id}+", _only(copy.new_pieces, value), places[0])]
        for turn in brought:
            turn.places = list(places)
            # A chat that was saved in another session is written like a history, but is none of ours.
            turn.imported = reloaded and not _is_spoken_for(value)
        if copy.of:
            self._copies[turn_id] = [*copy.of, *brought]
        return brought

    def _restate(
        self, before: list[Turn], record: Record, *, reloaded: bool, is_other: bool, compressed: bool
    ) -> None:
        """Tell what a checkpoint brought back from what it dropped, and why."""
        restated = self._alive_turns()
        for turn in restated:
            if turn.state is not State.CURRENT:
                turn.restore()
        still_there = {turn.id for turn in restated}
        # Notices are never restated, and never were part of what the model sees.
        dropped = [turn for turn in before if turn.id not in still_there and not turn.is_notice]
        if not dropped:
            return
        last = _last_of(before, dropped)
        # A turn that is taken back is the last, but for empty ones that only end a cancelled call and are
        # never restated; a chat that is loaded replaces more, or brings other turns.
        is_last = all(turn.id in last or not turn.value.get("content") for turn in dropped)
        taken_back = not is_other and (is_last or not reloaded)
        for turn in dropped:
            if compressed:
                state = State.COMPRESSED
            elif self._last_kind is Kind.REWIND:
                state = State.REWOUND
            elif taken_back and _says_cancelled(before[-1]):
                state = State.CANCELLED
            elif reloaded or self._last_kind is Kind.HEADER or turn.id not in last:
                state = State.SUPERSEDED
            else:
                state = State.FAILED
            turn.drop(state, record.place)


def _taken_back(ids: dict[str, Any], target: str) -> list[str]:
    """Take an id and all behind it out of a list, in their order; all of them if it is not there."""
    taken: list[str] = []
    is_there = target in ids
    # From the end: there may be as many rewinds as there are messages.
    while ids and (not is_there or target in ids):
        taken.append(ids.popitem()[0])
    return taken[::-1]


def _matched(new: list[dict[str, Any]], originals: Originals, *, newest_first: bool) -> dict[str, Copy]:
    """What each message is a copy of; the summary of a compression is one of nothing."""
    # The summary and the thanks for it; the kept end of the history may hold older ones.
    summary = [value["id"] for value in takewhile(_is_summary, new)][:2] if newest_first else []
    copies = {}
    for value in reversed(new) if newest_first else new:
        known = NOTHING if value["id"] in summary else originals
        copies[value["id"]] = Copy(value, known, newest_first=newest_first)
    return copies


def _number_of_new_pieces(copies: dict[str, Copy]) -> int:
    return sum(len(copy.new_pieces) for copy in copies.values())


def _opens_again(stated: list[dict[str, Any]]) -> bool:
    """Whether a list begins with the CLI's opening under another id: then it was written anew."""
    opening = stated[0] if stated else {}
    pieces = parts_of(opening.get("content"))
    return opening.get("id") != CONTEXT_ID and bool(pieces) and is_context(pieces[0])


def _last_of(before: list[Turn], dropped: list[Turn]) -> set[str]:
    """The dropped turns at the end: a prompt that failed, and what followed it."""
    gone = {turn.id for turn in dropped}
    talk = [turn.id for turn in reversed(before) if not turn.is_notice]
    return set(takewhile(gone.__contains__, talk))


def _stated(messages: object) -> list[tuple[int, dict[str, Any]]]:
    """The messages of a list that the CLI would take, with their positions."""
    return [
        (index, value)
        for index, value in enumerate(messages if isinstance(messages, list) else ())
        if isinstance(value, dict) and isinstance(value.get("id"), str)
    ]


def _only(pieces: list[Any], value: dict[str, Any]) -> dict[str, Any]:
    """A message with no more than these pieces of it."""
    return {**value, "content": pieces, "toolCalls": []}


def _inside(place: Location, pointer: str) -> Location:
    return Location(place.file, place.line, place.start, place.end, pointer)


def _is_summary(value: dict[str, Any]) -> bool:
    """Whether a message stands for a history that was compressed."""
    text = plain_text(value.get("content")).lstrip()
    is_thanks = value.get("type") == "gemini" and "model" not in value and text == SUMMARY_RECEIVED
    return is_thanks or text.startswith("<state_snapshot>")


def _is_spoken_for(value: dict[str, Any]) -> bool:
    """Whether the CLI said this in the model's name."""
    return value.get("type") == "gemini" and plain_text(value.get("content")).strip() in ACKNOWLEDGEMENTS


def _says_cancelled(turn: Turn) -> bool:
    return turn.value.get("type") == "info" and turn.value.get("content") == REQUEST_CANCELLED
