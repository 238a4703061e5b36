"""Count up in a comment of a settings file as an agent writes settings: read, change one line, write.

    python -m tests.support.counting FILE LAST rename|in-place [SECONDS]

Prints how many writes were not there when the file was read again; ends with 1 if the last one is gone.
"""

from __future__ import annotations

import re
import sys
import time
from pathlib import Path

LINE = re.compile(r"^# (\d+)$", re.MULTILINE)


def main(settings: Path, last: int, way: str, pause: float = 0.001) -> int:
    """Write the numbers from 1 to `last` into the file, with a pause after each."""
    lost = 0
    for number in range(1, last + 1):
        text = settings.read_text()
        lost += LINE.findall(text) != [str(number - 1)]
        text = LINE.sub(f"# {number}", text)
        if way == "rename":
            new = settings.with_suffix(".new")
            new.write_text(text)
            new.replace(settings)
        else:
            settings.write_text(text)
        time.sleep(pause)
    is_gone = LINE.findall(settings.read_text()) != [str(last)]
    sys.stdout.write(f"{lost + is_gone} of {last} writes lost\n")
    return int(is_gone)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3], *map(float, sys.argv[4:])))
