"""A run of `tables` in a process of its own, which can be killed; it says when it begins to write.

python -m tests.support.tables_run HOME DATA OUT [PART-SIZE]
"""

from __future__ import annotations

import sys
from pathlib import Path

from geminids.query.sessions import by_month
from tests.support.tables import write_tables


def main() -> None:
    home, data, out, size = sys.argv[1:5]
    by_month.USUAL_PART = int(size)
    _say("ready")
    write_tables(Path(home), Path(data), out, progress=lambda done, _: _say(str(done)))
    _say("done")


def _say(word: str) -> None:
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
