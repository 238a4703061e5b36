"""Values of the model as the database keeps them, and back."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, TypeVar

import msgspec

from geminids.model import KnownBy, Problem, ProblemKind, Project
from geminids.store.index import DamagedValueError
from geminids.store.reading import ProblemRow, ProjectRow

Value = TypeVar("Value")


def packed(value: Any) -> bytes:
    """A value as MessagePack; as JSON where there are half characters in names and words."""
    try:
        return msgspec.msgpack.encode(value)
    except UnicodeEncodeError:
        return json.dumps(msgspec.to_builtins(value)).encode("ascii")


def unpacked(kept: bytes, kind: type[Value]) -> Value:
    """The value that was packed. Raises DamagedValueError if it was not."""
    try:
        # No object or list of MessagePack begins like one of JSON.
        if kept[:1] in (b"{", b"["):
            return msgspec.convert(json.loads(kept), kind)
        return msgspec.msgpack.decode(kept, type=kind)
    except ValueError as error:
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
