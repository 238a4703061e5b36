"""The lines and texts that footprints of homes are made of.

Every command takes footprints, so nothing is loaded for them: no model, no reader, no pathlib.
"""

# Annotations are no strings here, for the reason given in places.py.
import os

_NOTHING: dict[str, int] = {}


def walk(
    folder: str, levels: int, lines: list[str], inside: str = "", other_levels: dict[str, int] = _NOTHING
) -> bool:
    """Add a line for all that a folder holds, so many levels deep; answers whether it could be listed.

    Below some folders, given by their place in it, there may be another number of levels.
    """
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                name = inside + entry.name
                if not entry.is_dir(follow_symlinks=False):
                    lines.append(line(name, entry.path))
                    continue
                lines.append(f"{name}/")
                if levels:
                    walk(entry.path, other_levels.get(name, levels - 1), lines, f"{name}/", other_levels)
    except OSError as error:
        lines.append(closed(inside, error))
        return False
    return True


def line(name: str, path: str) -> str:
    """What a thing looks like from outside: size, time of change, inode and mode."""
    try:
        # The method of an entry is no faster, and without an inode on Windows.
        facts = os.lstat(path)
    except OSError as error:
        return closed(name, error)
    return f"{name}\t{facts.st_size} {facts.st_mtime_ns} {facts.st_ino} {facts.st_mode:o}"


def closed(name: str, error: OSError) -> str:
    """What could not be looked at, with the number of the error."""
    return f"{name}\terror {error.errno}"


def text(lines: list[str]) -> str:
    """The lines in an order that does not depend on the disk, fit to be stored."""
    lines.sort()
    joined = "\n".join(lines)
    # A name that is no UTF-8 is read as half characters, which cannot be written.
    return joined if joined.isascii() else joined.encode(errors="backslashreplace").decode()
