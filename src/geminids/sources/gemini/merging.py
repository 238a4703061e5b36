"""Merging versions of a message: what was once known is never erased by a version that lacks it."""

from __future__ import annotations

from typing import Any

from geminids.sources.gemini.tools import MASKED

_EMPTY: tuple[Any, ...] = (None, "", [], {})
"""What says nothing. Comparing is slow, so what is true is not even compared."""


Places = dict[object, int]
"""Where the calls of a message stand in their list, by their ids."""


def merged(
    known: dict[str, Any], later: dict[str, Any], *, restated: bool, places: Places | None = None
) -> dict[str, Any]:
    """Both versions in one. A restatement never changes what was said, only adds what was not known.

    `places` is what this function noted of the calls in `known` before: a message may have very many versions
    with a call more in each.
    """
    result = dict(known)
    for name, value in later.items():
        if not value and value in _EMPTY:
            result.setdefault(name, value)
        elif name == "toolCalls":
            result[name] = _merged_calls(known.get(name), value, {} if places is None else places, restated)
        elif not restated or known.get(name) in _EMPTY:
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
    if known.get("result") not in _EMPTY and (restated or _is_masked(later.get("result"))):
        # A restatement gives each call the answers of all parallel ones, without their pictures.
        result["result"] = known["result"]
    return result


def _is_masked(result: object) -> bool:
    match result:
        case list():
            return any(map(_is_masked, result))
        case {"functionResponse": {"response": {"output": str(output)}}} | str(output):
            return output.lstrip().startswith(MASKED)
        case _:
            return False
