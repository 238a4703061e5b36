"""What gets lost by going on with a session in Gemini CLI: the session itself, or others.

A start deletes what was not used for long. Some releases also leave a small file beside a session that they
resume; the next start takes it for rubbish, and deletes the session together with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from geminids.agents.gemini.custody.loaded_files import Loaded
from geminids.agents.gemini.custody.lookup import session_files, written_before
from geminids.agents.gemini.custody.releases import Program
from geminids.agents.gemini.custody.retention import spoken
from geminids.agents.gemini.custody.session_files import ProjectFiles
from geminids.agents.gemini.file_names import start_of_id
from geminids.core.timestamps import parse_time

_GONE = (
    "the next start of Gemini CLI in this folder deletes the whole session, new messages included, unless "
    "it resumes the same session again"
)


def is_expired(taken: Loaded, rest: timedelta, now: datetime) -> bool:
    """Whether a session was not used for longer than it may rest."""
    used = parse_time(taken.last_used)
    return used is not None and used < now - rest


def loss(program: Program, taken: Loaded, rest: timedelta, now: datetime) -> str | None:
    """What is lost by going on, or may be; None where nothing is known to be."""
    if program.installed is None:
        return None
    if program.release is None:
        return (
            "The installed release of Gemini CLI is not known. 0.42, 0.43 and 0.47 to 0.61 delete what "
            f"they resume: {_GONE}."
        )
    if program.deletes_resumed or _is_outlived(program, taken, rest, now):
        return f"{program.name} deletes what it resumes: {_GONE}."
    if program.is_untried:
        return (
            f"Gemini CLI 0.47 to 0.61 delete what they resume: {_GONE}. Whether {program.name} does so too "
            "is not known."
        )
    return None


def _is_outlived(program: Program, taken: Loaded, rest: timedelta, now: datetime) -> bool:
    """Whether the CLI would go on in a new file, and delete that together with the one it came from."""
    is_document = taken.file.suffix == ".json" and program.deletes_by_start_of_id
    return is_document and is_expired(taken, rest, now)


def expiring(
    place: ProjectFiles, rest: timedelta, now: datetime, taken: Loaded | None = None
) -> Iterator[str]:
    """What starts delete because it rested too long: the session itself, and others."""
    if taken and is_expired(taken, rest, now):
        yield (
            f"It has not been used for more than {spoken(rest)}. Gemini CLI keeps it if it is started to "
            "resume it; any other start deletes it, even one to find it with /resume."
        )
    if number := _others_expired(place, (now - rest).timestamp(), taken):
        yield (
            f"Like every start, this one deletes files that have not been used for {spoken(rest)}: at "
            f"least {number:,} other file{'' if number == 1 else 's'} of this project."
        )


def _others_expired(place: ProjectFiles, before: float, taken: Loaded | None) -> int:
    """How many other files were not written to since then, at least.

    The CLI goes by the times in the files, which may be earlier; to read them all would take too long.
    """
    own = start_of_id(taken.file.name) if taken else None
    others = [file for file in session_files(place.folder) if start_of_id(file.name) != own]
    return sum(written_before(file, before) for file in others)
