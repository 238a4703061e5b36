"""Values of the model as the database keeps them, and back."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from typing import Any, Literal, TypeVar

import msgspec

from geminids.core.model import KnownBy, Problem, ProblemKind, Project
from geminids.storage.index.database import DamagedValueError
from geminids.storage.index.values import ProblemRow, ProjectRow

Value = TypeVar("Value")
_SMALL = 200
"""Bytes; to make less of so few is not worth the time."""
_QUICKLY, _WINDOW, _MEMORY = 1, 12, 5
"""How values are zipped: most are of a kilobyte, and clearing the usual room for it takes the most time."""
_ZIPPED = b"\x48"
"""How what is zipped so begins."""


def packed(value: Any, *, has_sets: bool = False) -> bytes:
    """A value as MessagePack; as JSON where it holds half characters, or a sum of more than 64 bits.

    It is zipped if that is worth it. Sets have no order of their own: with them the same value is the same
    bytes in every process only if that is said.
    """
    order: Literal["deterministic"] | None = "deterministic" if has_sets else None
    try:
        written = msgspec.msgpack.encode(value, order=order)
    except (UnicodeEncodeError, OverflowError):
        import json

        written = json.dumps(msgspec.to_builtins(value, order=order)).encode("ascii")
    if len(written) <= _SMALL:
        return written
    zipping = zlib.compressobj(_QUICKLY, zlib.DEFLATED, _WINDOW, _MEMORY)
    return zipping.compress(written) + zipping.flush()


def unpacked(packed: bytes, kind: type[Value]) -> Value:
    """The value that was packed. Raises DamagedValueError if it was not."""
    try:
        # No object or list of MessagePack begins like one of JSON, or like what was zipped.
        written = zlib.decompress(packed) if packed[:1] == _ZIPPED else packed
        if written[:1] in (b"{", b"["):
            import json

            return msgspec.convert(json.loads(written), kind)
        return msgspec.msgpack.decode(written, type=kind)
    except (ValueError, zlib.error) as error:
        raise DamagedValueError(f"a value cannot be read: {error}") from error


def project_row(project: Project) -> ProjectRow:
    """A project as the store keeps it."""
    known_by = project.known_by.value if project.known_by else None
    return ProjectRow(project.path, project.hash, project.slug, known_by, project.certain)


def project_of(row: ProjectRow) -> Project:
    """The project that the store kept."""
    known_by = KnownBy(row.known_by) if row.known_by else None
    return Project(row.path, row.hash, row.slug, known_by, row.certain)


def problem_rows(problems: Iterable[Problem]) -> list[ProblemRow]:
    """Problems as the store keeps them."""
    return [ProblemRow(p.file, p.kind.value, p.detail, p.line, p.start, p.end) for p in problems]


def problem_of(row: ProblemRow) -> Problem:
    """The problem that the store kept."""
    return Problem(row.file, ProblemKind(row.kind), row.detail, row.line, row.start, row.end)
