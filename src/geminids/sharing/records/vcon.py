"""A record inside of a vCon, the container for conversations that the successor of the format is built on.

    parties      the human, and the agent with its model, folder and branch
    dialog       one text for each message of theirs that has words
    analysis     agent_trace: the record itself
    attachments  agent_file_change: who wrote which lines; agent_trace_cose_sign1: the signature

Only the record is signed. The rest is told from it, for who reads vCons and no records: `record_in` takes
nothing but the record and the signature.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from geminids.core.names import storable
from geminids.sharing.records.errors import RecordError
from geminids.sharing.records.profile import COMMITMENT, UNKNOWN

VERSION = "0.4.0"
SCHEMA = "https://datatracker.ietf.org/doc/draft-birkholz-verifiable-agent-conversations/"
EXTENSION = "agent_session"
TRACE = "agent_trace"
FILE_CHANGE = "agent_file_change"
SIGNATURE = "agent_trace_cose_sign1"

_HUMAN, _AGENT = 0, 1
_SPEAKERS = {"user": _HUMAN, "assistant": _AGENT}
_IDS = uuid.UUID("7c9c28a1-6b5c-5a0c-9a57-6c0d1f5f6a3e")
"""Ids of vCons are derived from those of records in this name space."""
_LONG_AGO = "1970-01-01T00:00:00Z"
"""A vCon must say when it was made; this says that nobody knows."""
_FIRST_MILLISECOND_STAMP = 10**11
_HEX_DIGEST = re.compile(r"[0-9a-f]{64}")
_CONTRIBUTORS = {"ai": "agent"}
"""Words for who wrote something that are others here."""


def vcon_of(record: Mapping[str, Any], *, signature: bytes | None = None) -> dict[str, Any]:
    """A record as a vCon, with the signature over it if there is one. The same record gives the same vCon."""
    entries = _entries(record)
    start = _start(record, entries)
    dialog = list(_dialog(entries, start))
    attachments = [*_file_changes(record), *([_signed(signature)] if signature is not None else [])]
    return {
        "vcon": VERSION,
        **_identity(record),
        "created_at": start,
        "extensions": [EXTENSION],
        "parties": [{"name": "User", "role": "user"}, _agent(record)],
        "dialog": dialog,
        "analysis": [_trace(record, len(dialog))],
        "attachments": attachments,
    }


def record_in(vcon: Mapping[str, Any]) -> tuple[dict[str, Any], bytes | None]:
    """The record that a vCon carries, and the signature over it. Raises RecordError if there is none."""
    if not isinstance(vcon.get("vcon"), str):
        raise RecordError("This is no vCon: it does not say of which version it is.")
    traces = [analysis for analysis in _maps(vcon, "analysis") if analysis.get("type") == TRACE]
    if len(traces) != 1:
        raise RecordError(f"The vCon has {len(traces) or 'no'} analyses of the type {TRACE}; one is needed.")
    signatures = [held for held in _maps(vcon, "attachments") if held.get("purpose") == SIGNATURE]
    if len(signatures) > 1:
        raise RecordError(
            f"The vCon has {len(signatures)} attachments {SIGNATURE}; one at most can be meant."
        )
    return _record_of(traces[0]), _signature_of(signatures[0]) if signatures else None


def _entries(record: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    match record:
        case {"id": str(), "session": {"entries": list(entries)}}:
            return [entry for entry in entries if isinstance(entry, dict)]
        case _:
            raise RecordError("This is not a record: it lacks an id, or a session with entries.")


def _identity(record: Mapping[str, Any]) -> dict[str, Any]:
    """The id of the vCon. A record that is not whole any more is another vCon, and names the whole one."""
    whole = uuid.uuid5(_IDS, storable(record["id"]))
    match record.get(COMMITMENT):
        case {"redacted": list(taken_out)} if taken_out:
            own = uuid.uuid5(whole, json.dumps(taken_out, sort_keys=True))
            return {"uuid": str(own), "redacted": {"uuid": str(whole), "type": TRACE}}
        case _:
            return {"uuid": str(whole)}


def _start(record: Mapping[str, Any], entries: Sequence[Mapping[str, Any]]) -> str:
    """When the session began, or the first moment that the record tells."""
    began = (_map_at(record, "session").get("session-start"), record.get("created"))
    known = (*began, *(entry.get("timestamp") for entry in entries))
    return next(filter(None, map(_moment, known)), _LONG_AGO)


def _moment(at: object) -> str | None:
    """A time of a record as a text; numbers count seconds or milliseconds."""
    match at:
        case str():
            return at
        case int() if not isinstance(at, bool):
            seconds = at / 1000 if at >= _FIRST_MILLISECOND_STAMP else at
            try:
                moment = datetime.fromtimestamp(seconds, UTC)
            except (ValueError, OverflowError, OSError):
                return None
            return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        case _:
            return None


def _agent(record: Mapping[str, Any]) -> dict[str, Any]:
    meta = _map_at(record, "session", "agent-meta")
    model = meta.get("model-id") or UNKNOWN
    about = {
        "model_id": model,
        "provider": meta.get("model-provider") or UNKNOWN,
        "recording_agent": _recorder(record.get("recording-agent")),
        "environment": _environment(record),
    }
    known = {name: value for name, value in about.items() if value}
    return {"name": meta.get("cli-name") or model, "role": "agent", "meta": {EXTENSION: known}}


def _recorder(recorder: object) -> str | None:
    match recorder:
        case {"name": str(name), "version": str(version)}:
            return f"{name}/{version}"
        case {"name": str(name)}:
            return name
        case _:
            return None


def _environment(record: Mapping[str, Any]) -> dict[str, Any]:
    environment = _map_at(record, "session", "environment")
    versions = _map_at(environment, "vcs") or _map_at(record, "vcs")
    known = {
        "cwd": environment.get("working-dir"),
        "vcs_branch": versions.get("branch"),
        "vcs_commit": versions.get("revision"),
    }
    return {name: value for name, value in known.items() if value is not None}


def _dialog(entries: Sequence[Mapping[str, Any]], start: str) -> Iterator[dict[str, Any]]:
    """What was said. A message without a time was said when the one before it was, or after."""
    at = start
    for entry in entries:
        speaker = _SPEAKERS.get(str(entry.get("type")))
        words = _words(entry.get("content"))
        at = _moment(entry.get("timestamp")) or at
        if speaker is not None and words:
            yield {
                "type": "text",
                "start": at,
                "parties": [speaker],
                "mediatype": "text/plain",
                "encoding": "none",
                "body": words,
            }


def _words(content: object) -> str:
    """The words of a content, which is a text or a list of blocks."""
    match content:
        case str():
            return content
        case {"text": str(text)}:
            return text
        case list():
            return "\n\n".join(filter(None, map(_words, content)))
        case _:
            return ""


def _trace(record: Mapping[str, Any], turns: int) -> dict[str, Any]:
    meta = _map_at(record, "session", "agent-meta")
    return {
        "type": TRACE,
        "dialog": list(range(turns)),
        "vendor": meta.get("model-provider") or UNKNOWN,
        "product": meta.get("model-id") or UNKNOWN,
        "schema": SCHEMA,
        "mediatype": "application/json",
        "encoding": "json",
        "body": record,
    }


def _file_changes(record: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """An attachment for each range of lines that somebody is known to have written."""
    for file in _maps(_map_at(record, "file-attribution"), "files"):
        for conversation in _maps(file, "conversations"):
            whose = conversation.get("contributor")
            ranges = list(_maps(conversation, "ranges"))
            for lines in ranges or [{}]:
                body = {
                    "path": file.get("path"),
                    "contributor": _contributor(lines.get("contributor") or whose),
                    "line_range": [lines.get("start-line"), lines.get("end-line")] if lines else None,
                    "content_hash": _hash(lines),
                }
                yield {
                    "purpose": FILE_CHANGE,
                    "party": _AGENT,
                    "encoding": "json",
                    "body": {name: value for name, value in body.items() if value is not None},
                }


def _contributor(whose: object) -> str:
    match whose:
        case {"type": str(kind)}:
            return _CONTRIBUTORS.get(kind, kind)
        case _:
            return UNKNOWN


def _hash(lines: Mapping[str, Any]) -> str | None:
    """A hash as vCons spell it, if it is one that we know."""
    match lines.get("content-hash"), lines.get("content-hash-alg", "sha-256"):
        case str(digest), "sha-256" if _HEX_DIGEST.fullmatch(digest):
            return f"sha256-{_base64url(bytes.fromhex(digest))}"
        case digest, _:
            return digest


def _signed(signature: bytes) -> dict[str, Any]:
    return {
        "purpose": SIGNATURE,
        "party": _AGENT,
        "mediatype": 'application/cose; cose-type="cose-sign1"',
        "encoding": "base64url",
        "body": _base64url(signature),
    }


def _base64url(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def _map_at(holder: Mapping[str, Any], *names: str) -> Mapping[str, Any]:
    """The map that something has under these names, one below the other; an empty one if it has none."""
    for name in names:
        held = holder.get(name)
        holder = held if isinstance(held, dict) else {}
    return holder


def _maps(holder: Mapping[str, Any], name: str) -> Iterator[Mapping[str, Any]]:
    """The maps in a list that something has under this name."""
    listed = holder.get(name)
    yield from (one for one in (listed if isinstance(listed, list) else []) if isinstance(one, dict))


def _record_of(trace: Mapping[str, Any]) -> dict[str, Any]:
    match trace:
        case {"encoding": "json", "body": dict(body)}:
            record = body
        case {"encoding": "json", "body": str(body)}:
            record = _parsed(body)
        case {"encoding": str(encoding)}:
            raise RecordError(f"The record in the vCon is encoded as {encoding!r}; only json can be read.")
        case _:
            raise RecordError("The record in the vCon has no body, or does not say how it is encoded.")
    _entries(record)
    return record


def _parsed(body: str) -> dict[str, Any]:
    """A record that stands in the vCon as a text, as some write it."""
    try:
        record = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise RecordError(f"The record in the vCon is no JSON: {error}.") from None
    if not isinstance(record, dict):
        raise RecordError("The record in the vCon is not an object.")
    return record


def _signature_of(attachment: Mapping[str, Any]) -> bytes:
    match attachment:
        case {"encoding": "base64url", "body": str(body)}:
            return _decoded(body)
        case _:
            raise RecordError("The signature in the vCon is not encoded as base64url.")


def _decoded(body: str) -> bytes:
    try:
        decoded = base64.b64decode(body + "=" * (-len(body) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        decoded = None
    # Bytes have one spelling: bits that mean nothing would let the same signature look like another.
    if decoded is None or _base64url(decoded) != body:
        raise RecordError("The signature in the vCon is no base64url.")
    return decoded
