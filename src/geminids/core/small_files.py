"""Small files of our own that are replaced as a whole and private to the user."""

# Annotations are no strings here: compiling them would take most of the time that loading this takes.
import os
from contextlib import suppress

from geminids.core.atomic_files import opened_plain, part_beside, remove_left_over


def keep(folder: str, name: str, content: bytes) -> None:
    """Write a file in our folder, which is made if it is missing. Raises OSError."""
    os.makedirs(folder, mode=0o700, exist_ok=True)  # noqa: PTH103 - pathlib takes longer than the rest
    remove_left_over(folder)
    new = part_beside(f"{folder}/{name}")
    try:
        handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(handle, "wb") as file:  # noqa: PTH123
            file.write(content)
        os.replace(new, f"{folder}/{name}")  # noqa: PTH105
    except BaseException:
        # We may be told to end at any moment, also before it is there.
        with suppress(OSError):
            os.remove(new)  # noqa: PTH107
        raise


def kept(folder: str, name: str) -> bytes:
    """What a file in our folder holds. Raises OSError."""
    with open(opened_plain(f"{folder}/{name}"), "rb") as file:  # noqa: PTH123
        return file.read()
