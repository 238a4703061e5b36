"""Small files of our own that are replaced as a whole and private to the user."""

# Annotations are no strings here: compiling them would take most of the time that loading this takes.
import os

from geminids.core.atomic_files import PartFile, opened_plain, remove_left_over


def write(folder: str, name: str, content: bytes) -> None:
    """Write a file in our folder, which is made if it is missing. Raises OSError."""
    os.makedirs(folder, mode=0o700, exist_ok=True)  # noqa: PTH103 - pathlib takes longer than the rest
    remove_left_over(folder)
    with PartFile(f"{folder}/{name}") as part:
        part.file.write(content)
        part.settle(replace=True)


def read(folder: str, name: str) -> bytes:
    """What a file in our folder holds. Raises OSError."""
    with open(opened_plain(f"{folder}/{name}"), "rb") as file:  # noqa: PTH123
        return file.read()
