"""Kept sessions on their way back to the disk: planned first, then written, and never over anything.

All of a plan is written or nothing, for this user alone. No file goes through a link out of the folder that
it is meant for: what a link leads to may be anybody's.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence

import msgspec

from geminids.core import agents
from geminids.core.agents.homes import Home
from geminids.core.agents.restore import ELSEWHERE, Copy, Placement, is_held
from geminids.core.agents.resume import Circumstances
from geminids.sharing.export.private_files import PrivateFile, stays_in, write_private

_ON_WINDOWS = os.name == "nt"
_WINDOWS_DEVICE = re.compile(
    r"(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(?:\..*)?", re.IGNORECASE
)
_NOT_ON_WINDOWS = re.compile(r'[<>:"|?*\\\x00-\x1f]|[. ]$')


class RestorePlan(msgspec.Struct, frozen=True):
    """What is to be written for a session, and what there is to know about it before."""

    session_id: str
    placements: tuple[Placement, ...] = ()
    warnings: tuple[str, ...] = ()
    refusal: str | None = None
    """Why nothing can be written; then there are no placements."""
    within: str | None = None
    """The folder that nothing of it may leave."""
    is_there: bool = False
    """Whether nothing need be written, since all of it is in the folder it is meant for."""

    @property
    def size(self) -> int:
        """How many bytes are to be written."""
        return sum(placement.size for placement in self.placements)


def plan_in_home(
    session_id: str, home: Home, copies: Sequence[Copy], circumstances: Circumstances
) -> RestorePlan:
    """How a session is put back where its agent finds it."""
    custodian = agents.custodian(home.agent)
    if custodian is None:
        reason = f"Unknown where {agents.load(home.agent).title} would look for it. {ELSEWHERE}"
        return RestorePlan(session_id, refusal=reason)
    found = custodian.restoring(home, copies, circumstances)
    for placement in found.placements:
        if not stays_in(placement.path, home.folder):
            reason = f"{placement.path!r} leads out of {home.folder!r} through a link. {ELSEWHERE}"
            return RestorePlan(session_id, refusal=reason)
    return RestorePlan(session_id, found.placements, found.warnings, found.refusal, home.folder)


def plan_to_folder(session_id: str, home_folder: str, copies: Iterable[Copy], folder: str) -> RestorePlan:
    """Every file of a session, byte for byte, under the path that it had in the home, in another folder."""
    placements: list[Placement] = []
    for copy in copies:
        pieces = pieces_below(copy.path, home_folder)
        if pieces is None:
            reason = f"{copy.path!r} is no path in {home_folder!r}, and not written anywhere else."
            return RestorePlan(session_id, refusal=reason)
        target = os.path.join(folder, *pieces)  # noqa: PTH118
        if not stays_in(target, folder):
            reason = f"{target!r} leads out of {folder!r} through a link. Choose another folder."
            return RestorePlan(session_id, refusal=reason)
        if not os.path.lexists(target):
            placements.append(_exactly(copy, target))
        elif not is_held(target, copy):
            reason = f"{target!r} exists and is not overwritten. Choose another folder."
            return RestorePlan(session_id, refusal=reason)
    if not placements:
        return RestorePlan(session_id, refusal=f"Everything is already in {folder!r}.", is_there=True)
    return RestorePlan(session_id, tuple(placements), within=folder)


def _exactly(copy: Copy, target: str) -> Placement:
    return Placement(path=target, read=copy.read, size=copy.size, origin=copy.path, mtime_ns=copy.mtime_ns)


def pieces_below(path: str, folder: str, *, on_windows: bool = _ON_WINDOWS) -> list[str] | None:
    """The names that lead from a folder to a path in it; None if one of them may lead elsewhere."""
    separator = r"[/\\]" if on_windows else "/"
    names, above = re.split(separator, path), re.split(separator, folder)
    while above and not above[-1]:
        above.pop()
    pieces = names[len(above) :]
    is_inside = names[: len(above)] == above and all(_is_name(name, on_windows) for name in pieces)
    return pieces if pieces and is_inside else None


def _is_name(name: str, on_windows: bool) -> bool:
    if name in ("", ".", "..") or "\0" in name:
        return False
    return not (on_windows and (_NOT_ON_WINDOWS.search(name) or _WINDOWS_DEVICE.fullmatch(name)))


def write(plan: RestorePlan) -> list[str]:
    """Write all files of a plan; their paths. If anything fails, what was made is taken away again.

    Raises FileExistsAlreadyError or LedAwayError where something was put there meanwhile, OSError with the
    name of the file, and what reading a damaged copy raises.
    """
    files = (PrivateFile(one.path, one.read, one.mtime_ns) for one in plan.placements)
    write_private(files, plan.within)
    return [placement.path for placement in plan.placements]
