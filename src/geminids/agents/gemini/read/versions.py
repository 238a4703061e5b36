"""Merging versions of a message: what was once known is never erased by a version that lacks it.

A version may also have other words. A stream grows, a checkpoint restates what was said in another form,
an output is masked: all that is the same message. Only where words vanish that the later version does not
hold, the earlier one is kept as a version of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from geminids.agents.gemini.read.tools import MASKED
from geminids.agents.gemini.read.traits import without_unseen
from geminids.reading.shapes import texts_in

_EMPTY: tuple[Any, ...] = (None, "", [], {})
"""What says nothing. Comparing is slow, so what is true is not even compared."""
_SAYING = ("content", "thoughts")
"""Fields of a message that hold somebody's words; calls are compared one by one."""
_ABOUT = frozenset({"id", "name", "mimeType", "data", "fileUri", "timestamp", "thoughtSignature"})
"""Fields in which no words stand."""


Places = dict[object, int]
"""Where the calls of a message stand in their list, by their ids."""


def merged(
    known: dict[str, Any], later: dict[str, Any], *, restated: bool, places: Places | None = None
) -> dict[str, Any]:
    """Both versions in one. A restatement adds what was not known, and changes what it says otherwise.

    `places` is what this function noted of the calls in `known` before: a message may have very many versions
    with a call more in each.
    """
    result = dict(known)
    for name, value in later.items():
        if not value and value in _EMPTY:
            result.setdefault(name, value)
        elif name == "toolCalls":
            result[name] = _merged_calls(known.get(name), value, {} if places is None else places, restated)
        elif (
            not restated or known.get(name) in _EMPTY or (name in _SAYING and _says_more(known[name], value))
        ):
            result[name] = value
    if isinstance(known.get("timestamp"), str):
        result["timestamp"] = known["timestamp"]
    return result


def _merged_calls(known: object, later: object, places: Places, restated: bool) -> object:
    """The calls of two versions, by id, in the order in which they were first recorded."""
    if not isinstance(known, list) or not isinstance(later, list):
        places.clear()
        return later
    calls: list[Any] = list(known) if len(places) == len(known) else []
    if not calls:
        places.clear()
        _add_calls(calls, known, places, restated=restated)
    _add_calls(calls, later, places, restated=restated)
    return calls


def _add_calls(calls: list[Any], more: list[Any], places: Places, *, restated: bool) -> None:
    for call in more:
        call_id = call.get("id") if isinstance(call, dict) else None
        # What has no id is never the same as anything else.
        key = call_id if isinstance(call_id, str) else len(calls)
        at = places.setdefault(key, len(calls))
        if at == len(calls):
            calls.append(call)
        else:
            calls[at] = _merged_call(calls[at], call, restated=restated)


def _merged_call(known: dict[str, Any], later: dict[str, Any], *, restated: bool) -> dict[str, Any]:
    result = known | {name: value for name, value in later.items() if value or value not in _EMPTY}
    before, after = known.get("result"), later.get("result")
    if before in _EMPTY:
        return result
    # A restatement gives each call the answers of all parallel ones, without their pictures.
    own = _own_answers(after, later.get("id")) if restated else after
    if _is_masked(after) or (restated and not _says_more(before, own)):
        result["result"] = before
    elif restated:
        result["result"] = own
    return result


def _own_answers(result: object, call_id: object) -> object:
    """What a call was answered, of all that stands in its result."""
    if not isinstance(result, list):
        return result
    return [piece for piece in result if _answers(piece) in (None, call_id)]


def _answers(piece: object) -> object:
    match piece:
        case {"functionResponse": {"id": str(call_id)}}:
            return call_id
        case _:
            return None


def _is_masked(result: object) -> bool:
    match result:
        case list():
            return any(map(_is_masked, result))
        case {"functionResponse": {"response": {"output": str(output)}}} | str(output):
            return output.lstrip().startswith(MASKED)
        case _:
            return False


def vanished(
    known: dict[str, Any], later: dict[str, Any], now: dict[str, Any], places: Places
) -> dict[str, Any]:
    """The fields of a version of which not all words are in what it was merged into.

    `places` is what merging noted: only calls that the later version names again can have changed.
    """
    gone = {name: known[name] for name in _SAYING if name in known and not _holds(now.get(name), known[name])}
    lost = list(_lost_calls(known.get("toolCalls"), later.get("toolCalls"), now.get("toolCalls"), places))
    return gone | ({"toolCalls": lost} if lost else {})


def _lost_calls(known: object, later: object, now: object, places: Places) -> Iterator[dict[str, Any]]:
    if not (isinstance(known, list) and isinstance(later, list) and isinstance(now, list)):
        return
    for call in later:
        call_id = call.get("id") if isinstance(call, dict) else None
        at = places.get(call_id) if isinstance(call_id, str) else None
        if at is not None and at < len(known) and not _holds_call(now[at], known[at]):
            yield known[at]


def _holds_call(now: dict[str, Any], known: dict[str, Any]) -> bool:
    return now is known or all(_holds(now.get(name), known.get(name)) for name in ("args", "result"))


def _holds(now: object, known: object) -> bool:
    """Whether a value holds all words of another, as one that only grew does."""
    if now is known or now == known:
        return True
    return words_of(known) in words_of(now)


def _says_more(known: object, later: object) -> bool:
    """Whether a restatement holds words that the version that is known does not."""
    if later == known or _is_masked(later):
        return False
    before, after = " ".join(_words(known)), " ".join(_words(later))
    return " ".join(after.split()) not in " ".join(before.split()) and words_of(later) not in words_of(known)


def words_of(value: object) -> str:
    """All words of a value, however they are broken into lines and pieces."""
    return " ".join(without_unseen(" ".join(_words(value))).split())


def _words(value: object) -> Iterator[str]:
    """Every text in a value that is somebody's words: no names, no bytes; thoughts and calls have fields."""
    return texts_in(value, _ABOUT, lambda part: part.get("thought") is True or "functionCall" in part)
