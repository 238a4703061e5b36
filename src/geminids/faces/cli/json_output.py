"""Data for programs: JSON on stdout."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

import msgspec

from geminids.faces.documents.base import filled
from geminids.sharing.export.data import encode, indented
from geminids.sharing.transcript import safe


def print_json(document: msgspec.Struct | bytes) -> None:
    """One document, which may be encoded already; indented where a person looks at it."""
    encoded = document if isinstance(document, bytes) else encode(document)
    _print(indented(encoded) if sys.stdout.isatty() else encoded)


def print_filled(kind: type[msgspec.Struct], value: object, /, **others: Any) -> None:
    """A document with the fields of a value, and with others."""
    print_json(filled(kind, value, **others))


def print_lines(documents: Iterable[msgspec.Struct]) -> None:
    """Documents, one a line."""
    for document in documents:
        _print(encode(document))


def _print(encoded: bytes) -> None:
    """A line in UTF-8, whatever the encoding of the terminal is."""
    line = safe.json_bytes(encoded) + b"\n"
    if stdout := getattr(sys.stdout, "buffer", None):
        stdout.write(line)
    else:
        sys.stdout.write(line.decode())
