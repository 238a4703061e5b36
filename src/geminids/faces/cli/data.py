"""Data for programs: JSON on stdout."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from geminids.sharing.export.data import encode, encode_with_halves, indented
from geminids.sharing.transcript import safe

__all__ = ["encode", "encode_with_halves", "join", "print_json", "print_lines"]


def print_json(encoded: bytes) -> None:
    """One JSON document, indented where a person looks at it."""
    if sys.stdout.isatty():
        encoded = indented(encoded)
    print_lines([encoded])


def print_lines(lines: Iterable[bytes]) -> None:
    """Encoded JSON values, one a line, in UTF-8 whatever the encoding of the terminal is."""
    stdout = getattr(sys.stdout, "buffer", None)
    for encoded in lines:
        line = safe.json_bytes(encoded) + b"\n"
        if stdout:
            stdout.write(line)
        else:
            sys.stdout.write(line.decode())


def join(*objects: bytes) -> bytes:
    """One JSON object with the fields of several encoded ones, in their order."""
    return b"{" + b",".join(fields for encoded in objects if (fields := encoded[1:-1])) + b"}"
