"""The lines and texts that footprints of homes are made of.

Every command takes footprints, so nothing is loaded for them: no model, no reader, no pathlib.
"""

# Annotations are no strings here, for the reason given in places.py.
import os

_NOTHING: dict[str, int] = {}
_BY_NAME = os.scandir in os.supports_fd
"""Whether things are looked at by their names within an open folder. Of ten thousand files that takes a
quarter less than finding the way to each from the root; Windows cannot."""
_AS_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)


def walk(
    folder: str,
    levels: int,
    lines: list[str],
    inside: str = "",
    other_levels: dict[str, int] = _NOTHING,
    *,
    within: int | None = None,
) -> bool:
    """Add a line for all that a folder holds, so many levels deep; answers whether it could be listed.

    Below some folders, given by their place in it, there may be another number of levels. Where the folder
    lies is told by its path, or by its name `within` an open one.
    """
    opened = None
    try:
        opened = os.open(folder, _AS_FOLDER, dir_fd=within) if _BY_NAME else None
        with os.scandir(folder if opened is None else opened) as entries:
            for entry in entries:
                name = inside + entry.name
                if not entry.is_dir(follow_symlinks=False):
                    lines.append(line(name, entry.path, opened))
                    continue
                lines.append(f"{name}/")
                if levels:
                    below = other_levels.get(name, levels - 1)
                    walk(entry.path, below, lines, f"{name}/", other_levels, within=opened)
    except OSError as error:
        lines.append(closed(inside, error))
        return False
    finally:
        if opened is not None:
            os.close(opened)
    return True


def line(name: str, path: str, within: int | None = None) -> str:
    """What a thing looks like from outside: size, time of change, inode and mode."""
    try:
        # The method of an entry is no faster, and without an inode on Windows.
        facts = os.lstat(path, dir_fd=within)
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
