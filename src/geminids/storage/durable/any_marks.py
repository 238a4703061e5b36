"""Whether anything was said of any session. Most people never say anything, and a list is in a hurry: to ask
this loads nothing of what reads and changes marks.
"""

import os
import sqlite3

from geminids.core.config import DURABLE_FILE
from geminids.storage.paths import uri_of

_ANY = "SELECT EXISTS (SELECT 1 FROM names) OR EXISTS (SELECT 1 FROM tags) OR EXISTS (SELECT 1 FROM notes)"


def any_marks(folder: str) -> bool:
    """Whether there are marks, or trouble, which whoever reads them will explain."""
    file = f"{folder}/{DURABLE_FILE}"
    if not os.path.isfile(file):  # noqa: PTH113
        # One that is gone while its copy is there, or is no file, is trouble.
        return os.path.lexists(file) or os.path.lexists(f"{file}.bak")
    try:
        connection = sqlite3.connect(uri_of(file, "mode=rw"), timeout=0, uri=True)
        try:
            return bool(connection.execute(_ANY).fetchone()[0])
        finally:
            connection.close()
    except sqlite3.Error:
        return True
