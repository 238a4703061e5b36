"""Sessions to export in tests: those of every fixture, and one made to break things."""

from __future__ import annotations

import os
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from geminids import __version__
from geminids.core import agents
from geminids.core.model import (
    Attachment,
    Counts,
    Diff,
    FileChange,
    FileReference,
    KnownBy,
    Level,
    Location,
    Message,
    Operation,
    Origin,
    Plain,
    Project,
    Role,
    Session,
    SessionFile,
    SessionKind,
    State,
    Status,
    Text,
    Thought,
    ToolCall,
    ToolKind,
    ToolStatus,
    Unrecognised,
    Unrecorded,
    Usage,
)
from geminids.sharing import export
from geminids.sharing.export.base import Manner
from geminids.sharing.records.encoding import decode, encode_cbor, encode_json
from geminids.sharing.records.natives import Natives, read_natives
from geminids.sharing.transcript.entries import LEVELS
from tests.conftest import FIXTURES
from tests.support.reading import sessions as read_sessions

GOLDEN = FIXTURES / "exports"

LOOKED_AT = (
    "ask-user",
    "compress-checkpoint",
    "errors",
    "images",
    "rewind-jsonl-2",
    "shell-mode",
    "subagents-nested-jsonl",
    "tool-calls-jsonl-2",
    "claude-tools",
    "codex-tools",
)
"""The cases whose exports are kept whole; of all others, the digests of their bytes."""
HOME = "/home/ada"
"""Where all homes seem to be."""


def fixture_sessions() -> dict[str, Session]:
    """Every session of every fixture, by `case/native id`, as it would be read anywhere."""
    return {name: session for name, (session, _) in _fixtures().items()}


@cache
def _fixtures() -> dict[str, tuple[Session, Path]]:
    """The sessions of fixtures, each with the home that it was read in."""
    found: dict[str, tuple[Session, Path]] = {}
    for home in _homes():
        source = agents.load(home.parent.parent.name)
        for session in read_sessions(source, home):
            whole = source.companions().with_outputs(session)
            name = f"{_case_name(home.parent)}/{session.native_id}"
            while name in found:
                name += "+"
            found[name] = _moved(whole, home), home
    return found


def fixture_natives(session: Session) -> Natives:
    """What stands in the files of a session of a fixture."""
    home = next(home for known, home in _fixtures().values() if known is session)
    source = agents.load(session.agent)

    def content(path: str) -> bytes:
        original = Path(path.replace(HOME, str(home), 1))
        unpacked = source.files().unpacked(original)
        return original.read_bytes() if unpacked is None else unpacked

    return read_natives(session, content)


def _homes() -> list[Path]:
    """The homes of all fixtures, agent by agent. What no reader is installed for, `test_contract` names."""
    known = set(agents.available())
    return [home for home in sorted(FIXTURES.glob("*/*/home")) if home.parent.parent.name in known]


def _case_name(case: Path) -> str:
    """What tells a case from all others: those of other agents have the same names."""
    agent = case.parent.name
    return case.name if agent == "gemini" else f"{agent}-{case.name}"


def looked_at_sessions() -> dict[str, Session]:
    """The first session of each case whose exports are kept whole, by the case."""
    found: dict[str, Session] = {}
    for name, session in fixture_sessions().items():
        case = name.split("/")[0]
        if case in LOOKED_AT:
            found.setdefault(case, session)
    return found


def exported(name: str, *sessions: Session, level: str | None = None, **options: Any) -> bytes:
    """Sessions in a format, as `geminids export` would write them."""
    chosen = export.load(name)
    return b"".join(chosen.write(sessions, manner(level or chosen.level, **options)))


def exported_whole(name: str, session: Session) -> bytes:
    """A session of a fixture as `geminids export` would write it, which looks at the agent's files."""
    is_native = "natives" in export.load(name).options
    written = exported(name, session, natives=fixture_natives if is_native else None)
    return of_any_release(written)


def is_text(name: str) -> bool:
    """Whether a format is for terminals and editors, too."""
    return not export.load(name).suffix.endswith(".cbor")


def text_of(name: str, written: bytes) -> str:
    """An export as text: of CBOR, the same value as JSON."""
    if is_text(name):
        return written.decode("utf-8")
    record, _ = decode(written)
    return encode_json(record).decode("utf-8")


def of_any_release(written: bytes) -> bytes:
    """An export without the number of the release that wrote it: golden files outlive releases."""
    for ours, any_other in zip(_recorders(__version__), _recorders("…"), strict=True):
        written = written.replace(ours, any_other)
    return written


def _recorders(release: str) -> tuple[bytes, ...]:
    """What records call a release of geminids, in all their spellings."""
    recorder = {"name": "geminids", "version": release}
    return encode_json(recorder), encode_cbor(recorder), f"geminids/{release}".encode()


def manner(level: str, **options: Any) -> Manner:
    """How sessions are written in tests."""
    titles = {name: agents.load(name).title for name in agents.available()}
    return Manner(detail=LEVELS[level], agent_titles=titles, **options)


def check_golden_bytes(path: Path, content: bytes) -> None:
    """Compare bytes with a golden file."""
    if os.environ.get("GEMINIDS_GOLDEN") == "rewrite":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    assert path.exists(), f"no golden file {path}: run `make golden` and read what it wrote"
    assert path.read_bytes() == content


def hostile_words() -> Iterable[str]:
    """Words that break what is careless: each is data, whatever it looks like."""
    return (
        "<script>alert('owned')</script><img src=x onerror=alert(1)>",
        "</script><script>alert(2)</script>",
        "<!-- --> ]]> &lt;b&gt; &amp; <svg/onload=alert(3)>",
        "\x1b[31mred\x1b[0m \x1b]0;title\x07 \x1b]52;c;aGk=\x07 \x9b2J",
        "right-to-left: \u202egnp.exe\u202c and \u2066isolated\u2069 \u200bhidden \ufeff",
        "```\nfence\n```\n````\nlonger fence\n````\n~~~\ntilde\n~~~",
        "---\ntitle: not yours\n---\n# heading\n<details><summary>open</summary>",
        "[click](javascript:alert(4)) ![x](http://127.0.0.1:1/pixel.png) <http://127.0.0.1:1/>",
        "half an emoji: \ud83d and NUL: \x00 and CR: a\rb",
        '=HYPERLINK("http://127.0.0.1:1") , "quotes" ; \'single\'\tand tab',
        "{{7*7}} ${7*7} <%= 7*7 %> {% raw %}",
        "very-long-" + "x" * 5000,
    )


def hostile_session() -> Session:
    """A session in which every text, name and path is hostile."""
    words = list(hostile_words())
    nasty = "\n\n".join(words)
    call = ToolCall(
        'call-"><script>alert(5)</script>',
        "run_<b>shell</b>\x1b[31m",
        ToolKind.EXECUTE,
        {"command": nasty, "<key>": words[0], "```": ["~~~", {"deep": words[1]}]},
        ToolStatus.ERROR,
        native_status="error",
        result=(Text(nasty, Origin.TOOL),),
        display=Plain(nasty),
        at=_at(3),
        gist=words[1],
    )
    edit = ToolCall(
        "edit-1",
        "replace",
        ToolKind.EDIT,
        {"file_path": "/home/ada/<script>.py", "old_string": "a", "new_string": "```"},
        ToolStatus.SUCCESS,
        result=(Text("ok", Origin.TOOL), Attachment("image/png", data="!!not base64!!")),
        display=Diff("/home/ada/<script>.py", "--- a\n+++ b\n@@ -1 +1 @@\n-```\n+</script>\n"),
        changes=(
            FileChange(
                "/home/ada/<script>.py",
                Operation.EDIT,
                diff="--- a\n+++ b\n@@ -1 +1 @@\n-```\n+</script>\n",
                added=1,
                removed=1,
            ),
        ),
        at=_at(4),
    )
    messages = (
        _message(1, Role.USER, Origin.HUMAN, *(Text(word, Origin.HUMAN) for word in words)),
        _message(
            2,
            Role.ASSISTANT,
            Origin.MODEL,
            Thought(nasty, subject=words[0], at=_at(2)),
            Text(nasty, Origin.MODEL),
            call,
            edit,
            usage=Usage(1, 100, 50, 30, 20, 5, 0, 125, cache_write_hour=10),
            request_id='req-"><script>alert(11)</script>',
        ),
        _message(
            3,
            Role.USER,
            Origin.HUMAN,
            Attachment("text/html", data="PHNjcmlwdD5hbGVydCg2KTwvc2NyaXB0Pg=="),
            Attachment('image/svg+xml"><script>alert(7)</script>', uri="javascript:alert(8)"),
            FileReference("../../<img src=x>", nasty),
            Unrecognised({"</script>": words}),
        ),
        _message(4, Role.SYSTEM, Origin.NOTICE, Text(nasty, Origin.NOTICE), level=Level.ERROR),
        _message(5, Role.USER, Origin.HUMAN, Text(words[0], Origin.HUMAN), state=State.REWOUND),
    )
    return Session(
        id='gemini:<"evil">',
        agent="gemini",
        native_id='<"evil">',
        kind=SessionKind.MAIN,
        parent_id=None,
        project=Project("/home/ada/</script><script>alert(9)</script>", "0" * 64, "a: b", KnownBy.MARKER),
        title='</title><script>alert(10)</script>: "quoted"\n---\n# heading \u202e',
        summary=words[0],
        started_at=_at(0),
        ended_at=_at(9),
        status=Status.FAILURE,
        models=("gemini-<b>2.5</b>",),
        counts=Counts(2, 1, 2, 1, 1),
        usage=Usage(1, 100, 50, 30, 20, 5, 0, 125, cache_write_hour=10),
        files=(SessionFile("/home/ada/<script>.jsonl", "gemini-jsonl", 10),),
        branch=f"fix/{words[2]}",
        reported=Usage(2, 170, 50, 30, 40, 5, 0, 215),
        unrecorded=(Unrecorded(words[0], words[3], 1, Usage(1, 70, 0, 0, 20, 0, 0, 90)),),
        messages=messages,
    )


def _at(minute: int) -> datetime:
    return datetime(2026, 5, 1, 10, minute, tzinfo=UTC)


def _message(number: int, role: Role, origin: Origin, *parts: Any, **more: Any) -> Message:
    fields: dict[str, Any] = {
        "id": f"m{number}",
        "role": role,
        "origin": origin,
        "state": State.CURRENT,
        "at": _at(number),
        "model": "gemini-<b>2.5</b>" if role is Role.ASSISTANT else None,
        "parts": parts,
        "usage": None,
        "source": Location("/home/ada/<script>.jsonl", number, number * 10, number * 10 + 5),
    }
    return Message(**fields | more)


def _moved(session: Session, home: Path) -> Session:
    """The session as if its home were the same folder on every machine, with files of the same age."""
    encoded = msgspec.json.encode(session).replace(str(home).encode(), HOME.encode())
    moved = msgspec.json.decode(encoded, type=Session)
    beside = tuple(msgspec.structs.replace(file, modified_at=None) for file in moved.companions)
    # A saved chat has only the time of its file, and a copied file another one.
    ended_at = moved.ended_at if moved.started_at else None
    return msgspec.structs.replace(moved, companions=beside, ended_at=ended_at)
