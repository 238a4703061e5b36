"""Names for session files which Gemini CLI does not delete together with others.

Since 0.36 it deletes together what ends with the same eight characters (`-<start of id>.json`; since 0.42
`.jsonl` too), and what it leaves beside a session that it resumes is such a file, which it then takes for
rubbish. So a session that is put back gets an ending of its own: `session-<minute>-<start of id>-<8>.jsonl`.
Releases 0.28, 0.33, 0.38, 0.41, 0.43, 0.45, 0.47, 0.54, 0.58 and 0.61 list and resume a session of such a
name, keep it through resumes and later starts, and delete it when they are told to.

A document goes on as a log of the same name, and would take that with it when it expires (0.42 and later): so
its ending has seven characters, which are never compared. The price: told to delete a session of such a name,
0.36 and later give an error.
"""

from __future__ import annotations

import re
from hashlib import sha256

from geminids.agents.gemini.file_names import ID_START, start_of_id
from geminids.core.lazy_patterns import lazy_pattern

_OURS = lazy_pattern(r"session-.+-[A-Za-z0-9]{8}-(?:[0-9a-f]{8}\.jsonl|[0-9a-f]{7}\.json)")
_COMPARED = {"jsonl": 8, "json": 7}


def name_apart(name: str, number: int = 0) -> str:
    """A name that ends like no other, from which the CLI still tells the start of the id.

    It is the same for the same name, and one that was given here stays; with a number it is another one.
    """
    if _OURS.fullmatch(name) and not number:
        return name
    stem, _, suffix = name.partition(".")
    start = (start_of_id(name) or "")[:ID_START]
    named = re.match(rf"session-.+?-{re.escape(start)}(?=-|$)", stem)
    ending = sha256(f"{name} {number}".encode()).hexdigest()[: _COMPARED.get(suffix, ID_START)]
    return f"{named[0] if named else stem}-{ending}.{suffix}"
