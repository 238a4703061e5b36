"""Reading a rollout line by line. What a process that died left of a line is searched for whole records."""

from __future__ import annotations

from pathlib import Path

from geminids.agents.codex.read.records import BEGINNING, RolloutLog, is_record
from geminids.agents.codex.read.rollout_text import opened
from geminids.core.disk import REAL, Disk
from geminids.core.model import Location, ProblemKind
from geminids.reading.jsonl import UndecodableError
from geminids.reading.lines import decoded, lines_of, salvaged


def read_log(path: Path, disk: Disk = REAL) -> RolloutLog:
    """Every record of a rollout. Raises OSError."""
    rollout = opened(path, disk)
    text, content = rollout.text, rollout.text.whole
    log = RolloutLog(str(path), rollout)
    if rollout.trouble:
        log.remark(ProblemKind.BAD_JSON, rollout.trouble, None, text.size, text.size)
    if content is not None and (not content or content.isspace()):
        log.report(ProblemKind.EMPTY, "nothing was written, or it was lost", None, 0, len(content))
        return log
    for raw, place in lines_of(log, text):
        _read_line(log, raw, place)
    return log


def _read_line(log: RolloutLog, raw: bytes, place: Location) -> None:
    try:
        line = decoded(log, raw, place)
    except UndecodableError as error:
        for found, at in salvaged(log, raw, place, str(error), beginning=BEGINNING, is_record=is_record):
            log.take(found.value, at)
        return
    if type(line) is dict:
        log.take(line, place)
    else:
        log.ignore(f"a line that is no object but {type(line).__name__}", len(raw))
