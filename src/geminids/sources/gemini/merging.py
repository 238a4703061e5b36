"""Merging versions of a message: what was once known is never erased by a version that lacks it."""

from __future__ import annotations

from typing import Any

from geminids.sources.gemini.tools import MASKED

_EMPTY: tuple[Any, ...] = (None, "", [], {})
"""What says nothing. Comparing is slow, so what is true is not even compared."""


def merged(known: dict[str, Any], later: dict[str, Any], *, restated: bool) -> dict[str, Any]:
    """Both versions in one. A restatement never changes what was said, only adds what was not known."""
    result = dict(known)
    for name, value in later.items():
        if not value and value in _EMPTY:
            result.setdefault(name, value)
        elif name == "toolCalls":
            result[name] = merged_calls(known.get(name), value, restated=restated)
        elif not restated or known.get(name) in _EMPTY:
            result[name] = value
    if isinstance(known.get("timestamp"), str):
        result["timestamp"] = known["timestamp"]
    return result


def merged_calls(known: object, later: object, *, restated: bool) -> object:
    """The calls of two versions, by id, in the order in which they were first recorded."""
    if not isinstance(known, list) or not isinstance(later, list):
        return later
    calls: dict[object, Any] = {}
    for index, call in enumerate([*known, *later]):
        call_id = call.get("id") if isinstance(call, dict) else None
        key = call_id if isinstance(call_id, str) else index
        before = calls.get(key)
        calls[key] = call if before is None else _merged_call(before, call, restated=restated)
    return list(calls.values())


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
