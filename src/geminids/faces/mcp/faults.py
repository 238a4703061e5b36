"""Whatever goes wrong while a question is answered, as a GeminidsError in words that a model understands."""

from __future__ import annotations

import sys
from collections.abc import Awaitable
from typing import TypeVar

from geminids.core.errors import GeminidsError

Worth = TypeVar("Worth")
A_BUG = "This is a bug in geminids; please report it with what its stderr says."


async def in_words(work: Awaitable[Worth]) -> Worth:
    """What comes of some work."""
    try:
        return await work
    except GeminidsError:
        raise
    except OSError as error:
        raise GeminidsError(f"Cannot use {error.filename or 'a file'}: {error.strerror}.") from error
    except Exception as error:
        log(f"{type(error).__name__}: {error}")
        raise GeminidsError(A_BUG) from error


def log(sentence: str) -> None:
    """Say something to whoever started the server; stdout is the protocol's."""
    print(f"geminids: {sentence}", file=sys.stderr, flush=True)  # noqa: T201
