"""What a document tells, so that one can ask whether another tells it too."""

from __future__ import annotations

import re

from tests.support.exporting import looked_at_sessions

CASES = sorted(looked_at_sessions())
_NOT_TOLD = re.compile(r"^\*?hidden:.*$|^ *… [\d,]+ more lines?$", re.MULTILINE)


def told_words(written: bytes) -> set[str]:
    """The words of a document, without what it says of what it leaves out."""
    return set(re.findall(r"\w{3,}", _NOT_TOLD.sub("", written.decode().lower())))
