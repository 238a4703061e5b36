"""Outputs too long for a session: found where Gemini CLI moved them, and put back into their calls.

    tool-outputs/session-<id>/<call>.txt                  cut down to a limit, since 0.29
    tool-outputs/session-<id>/<tool>_<call>_<any>.txt     masked later: the answer as JSON, again each time
    tool-outputs/<tool>_<number>.txt                      cut by a compression
    tool_output/<call>.txt, <call>.txt, <call>.output     in older releases

The path in a record was written by an agent and is data: its last pieces are looked up in the folders of
the session's own project and nowhere else, in the folder itself only under names that the CLI makes of a
call. Servers give ids again, so what is found by an id must hold what the record has left of the output.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from geminids.agents.gemini.companion_files import place
from geminids.agents.gemini.read.content import response_parts
from geminids.agents.gemini.read.projects import MARKER
from geminids.agents.gemini.read.tools import MASKED
from geminids.core.disk import REAL, Disk
from geminids.core.lazy_patterns import lazy_pattern
from geminids.core.model import CompanionKind, MovedOutput, Session, Text, ToolCall
from geminids.reading.companions import CompanionRole
from geminids.reading.jsonl import UndecodableError, decode
from geminids.reading.outputs import Outputs

_CUT = ("Output too large.", "Tool output was too large")
MARKS = (MASKED.strip("<>"), *_CUT)
"""Words of which one stands wherever an output was moved away."""
_CUT_TO = lazy_pattern(r"(?:saved to|full output see): ([^\n]+)")
_MASKED_TO = lazy_pattern(r"(?:Output too large\. )?Full output available at: ([^\n<]+)")
_LEFT_OUT = lazy_pattern(r"^\.\.\. \[(?:[\d,]+ characters omitted|CONTENT TRUNCATED)\] \.\.\.$", re.MULTILINE)
_LEFT_OUT_BEFORE = lazy_pattern(r"^\.\.\.", re.MULTILINE)
"""Where 0.27 and 0.28, which kept only the end, left out the rest."""
_LINE_CUT = "... [LINE WIDTH TRUNCATED]"
_MASKED_OUT = lazy_pattern(r"^\.\.\. \[(?:[\d,]+ lines omitted|TRUNCATED)\] \.\.\.$", re.MULTILINE)
_SHOWN_LINES = 10
"""A mask shows so many lines of a shell's output before and after what it leaves out."""
_HALF = "?\ufffd"
"""What we read where half of a character was cut off."""
_FOLDER = "tool-outputs"
_DEPTHS = (3, 2)
_UNSAFE = lazy_pattern(r"[^a-z0-9_-]")
_UNSAFE_BEFORE = lazy_pattern(r"[^a-z0-9]")
"""The same in 0.27 and 0.28."""
_OWNED = lazy_pattern(r"[/\\]tool-outputs[/\\]session-([\w-]+)[/\\]")
_PLANNED = lazy_pattern(r"[/\\]tmp[/\\][^/\\]+[/\\]([\w-]+)[/\\](?:plans|tasks|tracker)[/\\]")
_HASH = lazy_pattern(r"[0-9a-f]{64}")
_OF_HOME = ("projects.json", "settings.json", "history")


def with_outputs(session: Session, disk: Disk = REAL) -> Session:
    """The session with the whole text of every output that was moved out of it and still exists."""
    return _Outputs(session, disk).put_back(session)


class _Outputs(Outputs):
    def __init__(self, session: Session, disk: Disk) -> None:
        super().__init__(disk)
        self._folders = list(dict.fromkeys(_project_folders(session, disk)))
        self._places = [*(f"tool-outputs/session-{name}" for name in _ids(session)), "tool_output", "."]

    def moved(self, call: ToolCall) -> MovedOutput | None:
        """The output that a record has the ends of, or a mask."""
        remains = _remains(call)
        if remains is None:
            return None
        return self._unmasked(call, remains) if remains.startswith(MASKED) else self._uncut(call, remains)

    def _uncut(self, call: ToolCall, remains: str) -> MovedOutput | None:
        """The output that a record has the beginning and the end of."""
        written = _written_path(remains)
        for path in dict.fromkeys([*self._at(written), *self._named_after(call, written)]):
            moved = self._read(path)
            if moved.text is None or _is_rest_of(remains, moved.text):
                return moved
        return None

    def _unmasked(self, call: ToolCall, remains: str) -> MovedOutput | None:
        """The output that a mask stands for, whole even where it was cut before it was masked."""
        moved = self._behind_mask(call, remains)
        if moved is None or moved.text is None:
            return moved
        answer = _answer(moved.text)
        whole = self._uncut(call, answer) if answer.startswith(_CUT) else None
        return whole or msgspec.structs.replace(moved, text=answer)

    def _behind_mask(self, call: ToolCall, remains: str) -> MovedOutput | None:
        """The file that a mask names; where it is gone, another one that holds what the mask shows."""
        for path in self._at(_written_path(remains), only_in=_FOLDER):
            # No two masks are given the same name.
            return self._read(path)
        for path in dict.fromkeys([*self._masks_of(call), *self._named_after(call)]):
            moved = self._read(path)
            if moved.text is None or _is_shown_by(remains, moved.text):
                return moved
        return None

    def _at(self, written: str | None, only_in: str | None = None) -> Iterator[str]:
        """Where the last pieces of a path lead to inside the project's folders of outputs."""
        pieces = re.split(r"[/\\]", (written or "").strip())
        for depth in _DEPTHS:
            inside = pieces[-depth:]
            is_there = len(inside) == depth and only_in in (None, inside[0])
            if is_there and _is_output("/".join(inside)) and not {".", ".."} & {*inside}:
                yield from self._inside(*inside)

    def _named_after(self, call: ToolCall, written: str | None = None) -> Iterator[str]:
        """The files that are named after a call, in whatever way its release did."""
        for folder in self._places if call.call_id else ():
            for name in _names(call):
                yield from self._inside(*folder.split("/"), name)
        # A compression counts outputs and does not look at ids.
        name = re.split(r"[/\\]", written or "")[-1].strip()
        if re.fullmatch(rf"{re.escape(_safe(call.name))}_\d+\.txt", name):
            yield from self._inside(name)

    def _masks_of(self, call: ToolCall) -> list[str]:
        """The files to which the answer to a call was copied each time it was masked, the longest first."""
        begin = f"{_safe(call.name)}_{_safe(call.call_id or '')}_"
        found: list[tuple[int, str]] = []
        for folder in self._places[:-2]:
            for path in self._inside(*folder.split("/")):
                found += [(-size, file) for size, file in self._files_in(path) if _begins(file, begin)]
        return [file for _, file in sorted(found)]

    def _inside(self, *pieces: str) -> Iterator[str]:
        """A place in each of the project's folders, unless a link leads there."""
        for folder in self._folders:
            real = os.path.realpath(folder)
            path = os.path.normpath(os.path.join(folder, *pieces))  # noqa: PTH118 - a NUL is no error here
            try:
                is_there = os.path.realpath(path) == os.path.normpath(os.path.join(real, *pieces))  # noqa: PTH118
            except (OSError, ValueError):
                # A name that no file can have, or a ring of links: what a record names need not be there.
                continue
            if is_there and self._disk.is_there(path):
                yield path

    def _files_in(self, folder: str) -> Iterator[tuple[int, str]]:
        try:
            for entry in self._disk.entries(folder):
                if entry.is_file(follow_symlinks=False):
                    yield self._disk.facts(entry.path).st_size, entry.path
        except OSError:
            # What the project holds was scanned, and trouble with it reported there.
            return


def named_ids(session: Session) -> set[str]:
    """The ids under which the session's own records say that files were put away.

    From 0.29 to 0.34 the CLI took a new id at /clear and went on recording under the old one.
    """
    calls = (call for message in session.messages if not message.imported for call in message.tool_calls)
    paths = (path for call in calls for path in _named_paths(call))
    return {found[1] for path in paths if (found := _OWNED.search(path) or _PLANNED.search(path))}


def _named_paths(call: ToolCall) -> Iterator[str]:
    """Where a call's output was put, and what it wrote. (It may read what another session left.)"""
    if (remains := _remains(call)) and (written := _written_path(remains)):
        yield written
    yield from (change.path for change in call.changes)


def _remains(call: ToolCall) -> str | None:
    """What a record has left of an output that was moved away; None if it has all of it."""
    for part in call.result:
        if isinstance(part, Text):
            text = part.text.lstrip()
            if text.startswith((MASKED, *_CUT)):
                return text
    return None


def _written_path(remains: str) -> str | None:
    if remains.startswith(MASKED):
        # Its own words stand last; what stands before them are a tool's.
        found = [*_MASKED_TO.finditer(remains)][-1:]
    else:
        found = [*_CUT_TO.finditer(remains)][:1]
    return found[0][1] if found else None


def _is_rest_of(remains: str, text: str) -> bool:
    """Whether all that is left of an output's end stands in this one."""
    marks = [*_LEFT_OUT.finditer(remains)][-1:] or [*_LEFT_OUT_BEFORE.finditer(remains)][:1]
    end = remains[marks[0].end() :].strip().lstrip(_HALF) if marks else ""
    return bool(end) and all(piece.strip() in text for piece in end.split(_LINE_CUT))


def _is_shown_by(mask: str, text: str) -> bool:
    """Whether a mask shows the beginning and the end of this output, or all of it."""
    end = next((found.start() for found in reversed([*_MASKED_TO.finditer(mask)])), None)
    shown = mask[len(MASKED) : end].strip()
    # The answers of a shell are shown as words, others as they were kept.
    texts = (text, _answer(text))
    marks = [*_MASKED_OUT.finditer(shown)][:1]
    if not marks:
        return bool(shown) and shown in [one.strip() for one in texts]
    before = shown[: marks[0].start()].strip().splitlines()[-_SHOWN_LINES:]
    after = shown[marks[0].end() :].strip().splitlines()[:_SHOWN_LINES]
    pieces = ["\n".join(lines).strip(_HALF) for lines in (before, after)]
    return all(pieces) and any(all(piece in one for piece in pieces) for one in texts)


def _answer(text: str) -> str:
    """The words of an answer that was masked; it was kept as JSON."""
    try:
        answer = decode(text.encode("utf-8", "replace")).value
    except UndecodableError:
        return text
    words = [part.text for part in response_parts({"response": answer}) if isinstance(part, Text)]
    return "\n".join(words) if words else text


def _is_output(inside: str) -> bool:
    known = place(inside)
    return isinstance(known, CompanionRole) and known.kind is CompanionKind.TOOL_OUTPUT


def _project_folders(session: Session, disk: Disk) -> Iterator[Path]:
    """The project's folders in the agent's homes, by where the files of the session lie."""
    for file in session.files:
        above = Path(file.path).absolute().parents
        chats = next((folder for folder in above[:2] if folder.name == "chats"), None)
        folder = chats.parent if chats else above[0]
        if _is_project_folder(folder, disk):
            yield folder


def _is_project_folder(folder: Path, disk: Disk) -> bool:
    """Whether the CLI made this folder. What lies beside a session that was copied anywhere is private."""
    if _HASH.fullmatch(folder.name) or disk.is_there(folder / MARKER):
        return True
    home = folder.parent.parent
    # The system has a `tmp` as well, and whatever lies in it.
    if folder.parent.name != "tmp" or home == home.parent:
        return False
    is_home = home.name == ".gemini" or any(disk.is_there(home / name) for name in _OF_HOME)
    return is_home or disk.is_there(folder / "logs.json")


def _ids(session: Session) -> Iterable[str]:
    """The ids under which outputs of the session were put away; those of a subagent may be its parent's."""
    parent = (session.parent_id or "").partition(":")[2]
    names = (session.native_id, session.native_id.partition("#")[0], parent)
    return dict.fromkeys(name for name in names if re.fullmatch(r"[\w-]+", name))


def _begins(file: str, begin: str) -> bool:
    return os.path.basename(file).lower().startswith(begin)  # noqa: PTH119 - thousands of them


def _names(call: ToolCall) -> Iterable[str]:
    """What the file of a cut output may be called by its call."""
    call_id = call.call_id or ""
    own_name = re.split(r"[/\\\0]", call_id)[-1]
    earlier = (_UNSAFE_BEFORE.sub("_", part.lower()) for part in (call.name, call_id))
    names = (
        f"{_safe(call_id)}.txt",
        f"{_safe(call.name)}_{_safe(call_id)}.txt",
        f"{'_'.join(earlier)}.txt",
        f"{own_name}.output",
    )
    return dict.fromkeys(names)


def _safe(name: str) -> str:
    """A name as the CLI makes it fit for a file."""
    return _UNSAFE.sub("_", name.lower())
