"""What to type for this installation: what runs it, and what adds the packages of an extra.

The packages themselves are named, since those an index has. Where geminids came from (a clone, an archive, an
index) and whether that is still there does not matter then.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator


def who_adds(extra: str) -> str:
    """What brings an extra, as the beginning of "… adds it": the line to type, where that is known."""
    if packages := list(_packages(extra)):
        return f"`{_line([*_installer(), *packages])}`"
    return f"the extra `{extra}` of geminids"


def own_command() -> str:
    """What runs this installation from anywhere: its name where a shell finds it, else its path."""
    from shutil import which

    program = os.path.abspath(sys.argv[0])  # noqa: PTH100
    name = os.path.basename(program)  # noqa: PTH119
    if name.removesuffix(".exe") != "geminids":
        return _line([sys.executable, "-m", "geminids"])
    found = which("geminids")
    return "geminids" if found and os.path.realpath(found) == os.path.realpath(program) else _line([program])


def own_words() -> list[str]:
    """What starts this installation from anywhere, word by word, for who knows no shell and no path."""
    from shutil import which

    program = os.path.abspath(sys.argv[0])  # noqa: PTH100
    if os.path.basename(program).removesuffix(".exe") != "geminids":  # noqa: PTH119
        # -P: no module is taken from the folder that it is started in.
        return [sys.executable, "-P", "-m", "geminids"]
    # Links stay as they are: those of pipx and uv lead to the next release too.
    return [which(program) or program]


def is_temporary() -> bool:
    """Whether this installation was made for one run, by `uvx` or `pipx run`, and goes away by itself."""
    folders = sys.prefix.replace(os.sep, "/").split("/")
    return "archive-v0" in folders or (".cache" in folders and "pipx" in folders)


def is_added(module: str) -> bool:
    """Whether the module that an extra brings is here; it is not loaded."""
    from importlib.util import find_spec

    return find_spec(module) is not None


def _packages(extra: str) -> Iterator[str]:
    from importlib.metadata import PackageNotFoundError, requires

    try:
        needed = requires("geminids") or []
    except PackageNotFoundError:
        # Used from a folder, without being installed.
        return
    for requirement in needed:
        package, _, condition = requirement.partition(";")
        if condition.replace('"', "'").rstrip(") ").endswith(f"extra == '{extra}'"):
            yield package.strip()


def _installer() -> list[str]:
    """What installs packages beside us: pipx and uv keep environments that pip is not in."""
    from importlib.util import find_spec

    if os.path.exists(os.path.join(sys.prefix, "pipx_metadata.json")):  # noqa: PTH110, PTH118
        return ["pipx", "inject", os.path.basename(sys.prefix)]  # noqa: PTH119
    if find_spec("pip") is None:
        return ["uv", "pip", "install", "--python", sys.executable]
    return [sys.executable, "-m", "pip", "install"]


def _line(words: list[str]) -> str:
    if os.name == "nt":
        from subprocess import list2cmdline

        return list2cmdline(words)
    from shlex import join

    return join(words)
