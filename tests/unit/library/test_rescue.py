"""Stranded sessions: what is said of them, what is written, and that we read one session before and after.

Whether the real Gemini CLI shows them again is tried in `tests/real/test_rescuing.py`.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from geminids.core import agents
from geminids.core.agents.homes import Home
from geminids.core.agents.rescue import Severity, Stranded
from geminids.core.agents.resume import Circumstances
from geminids.core.errors import FileExistsAlreadyError
from geminids.core.model import Message, Origin, Session, SessionKind, State, folder_hash
from geminids.library.custody.rescue import CannotRescueError, repaired, write_new
from tests.conftest import FIXTURES
from tests.support.fake_agents import install, path_with
from tests.support.homes import write_session
from tests.support.reading import custodian_of
from tests.support.reading import sessions as read_sessions

GEMINI = agents.load("gemini")
NOW = datetime(2026, 11, 16, tzinfo=UTC)
CASES = sorted(path.parent.name for path in (FIXTURES / "gemini").glob("*/home"))
STRANDED: dict[str, set[tuple[str, Severity, str]]] = {
    "chat-resume": {("889e09a6", Severity.PARTLY, "ignored")},
    "chat-resume-elsewhere": {
        ("59cff1bd", Severity.PARTLY, "ignored"),
        ("82922be8", Severity.PARTLY, "ignored"),
        ("82922be8", Severity.PARTLY, "replaced"),
    },
    "declined-and-resumed": {("e7037178", Severity.PARTLY, "ignored")},
    "declined-tools": {("92a09fc8", Severity.PARTLY, "ignored")},
    "disk-full": {("d1759a83", Severity.PARTLY, "damaged")},
    "hook-first": {("2575f18e", Severity.PARTLY, "ignored")},
    "hooks": {("48ff8f33", Severity.PARTLY, "ignored")},
    "log-lines": {("f889d9af", Severity.PARTLY, "ignored")},
    "masked-history": {("6fb9b904", Severity.PARTLY, "ignored")},
    "no-header": {("8b87e938", Severity.LOST, "headless")},
    "odd-ids": {("abcdefgh", Severity.LOST, "shared"), ("my-sessi", Severity.LOST, "shared")},
    "restored": {("01654596", Severity.PARTLY, "ignored")},
    "slash-commands": {("67ccf442", Severity.SLIGHT, "ignored")},
    "torn-json": {("6215427c", Severity.LOST, "cut")},
    "two-sessions-one-file": {("11111111", Severity.LOST, "shared")},
}
"""What of the recorded cases is stranded. Nothing else is: what was taken back was taken back knowingly."""


def stranded(home: Path, programs: Path | None = None) -> list[Stranded]:
    """The sessions in a folder that stands for a user's home, seen by the newest release that was tried."""
    circumstances = Circumstances(
        environment={"PATH": path_with(programs)} if programs else {},
        user_home=str(home),
        here=str(home),
        now=NOW,
    )
    return [
        one
        for found in GEMINI.homes_below(str(home))
        for one in custodian_of(GEMINI).stranded(found, circumstances)
    ]


def rescued(home: Path, now: datetime = NOW) -> Stranded:
    """The only stranded session of a home, after what lets the CLI show it was written, and for good."""
    (found,) = all_rescued(home, now)
    return found


def all_rescued(home: Path, now: datetime = NOW) -> list[Stranded]:
    """The stranded sessions of a home, after what lets the CLI show them was written."""
    found = stranded(home)
    before, told = contents(home), numbers(home)
    files = {file.path: file.content for file in (repaired(one, now) for one in found)}
    for path, content in files.items():
        write_new(path, content)
    assert contents(home) == before | files
    assert numbers(home) == told
    assert stranded(home) == []
    return found


def contents(home: Path) -> dict[str, bytes]:
    return {str(file): file.read_bytes() for file in home.rglob("*") if file.is_file()}


def numbers(home: Path) -> dict[str, tuple[int, int, int, Any]]:
    """What we count in each session of a home."""
    return {session.id: _numbers(session) for session in read_sessions(GEMINI, home)}


def _numbers(session: Session) -> tuple[int, int, int, Any]:
    counts = session.counts
    return counts.prompts, counts.replies, counts.tool_calls, session.usage


def shown(found: Stranded) -> list[str]:
    """The prompts that the CLI loads from what was written."""
    view = custodian_of(GEMINI).agent_view(Path(str(found.target)))
    assert view is not None
    return ["".join(_texts(m["content"])) for m in view["messages"] if m["type"] == "user"]


def _texts(content: Any) -> list[str]:
    return [content] if isinstance(content, str) else [part.get("text", "") for part in content]


def kinds(found: Stranded) -> set[str]:
    return {obstacle.kind for obstacle in found.obstacles}


@pytest.fixture
def recorded(tmp_path: Path) -> Callable[[str], Path]:
    """Copies the home of a recorded case."""

    def copied(case: str) -> Path:
        return Path(shutil.copytree(FIXTURES / "gemini" / case / "home", tmp_path / "home", symlinks=True))

    return copied


def file_of(home: Path, start: str) -> Path:
    """The only file of a session in a home."""
    (file,) = home.glob(f".gemini/tmp/*/chats/session-*-{start}.json*")
    return file


@pytest.mark.parametrize("case", CASES)
def test_of_recorded_cases_only_those_are_stranded_that_got_lost_by_accident(case: str) -> None:
    found = stranded(FIXTURES / "gemini" / case / "home")
    told = {(one.session.native_id[:8], one.severity, kind) for one in found for kind in kinds(one)}
    assert told == STRANDED.get(case, set())
    for one in found:
        assert one.hidden or one.hidden_replies
        assert all(Path(obstacle.file).exists() and obstacle.sentence for obstacle in one.obstacles)


@pytest.mark.parametrize("case", sorted(STRANDED.keys() - {"odd-ids"}))
def test_a_recorded_case_is_rescued(case: str, recorded: Callable[[str], Path]) -> None:
    for found in all_rescued(recorded(case)):
        said = shown(found)
        prompts = [m for m in found.session.messages if m.origin is Origin.HUMAN and m.state is State.CURRENT]
        assert all(any(message.text(Origin.HUMAN) in prompt for prompt in said) for message in prompts)


@pytest.mark.parametrize("case", sorted(STRANDED.keys() - {"odd-ids"}))
def test_what_was_rescued_by_a_clock_that_is_slow_is_not_stranded_again(
    case: str, recorded: Callable[[str], Path]
) -> None:
    all_rescued(recorded(case), datetime(2026, 6, 15, tzinfo=UTC))


FUSED = {
    "chat-resume": "How many notes?",
    "declined-and-resumed": "Which flower fits the notes?",
    "declined-tools": "Run something",
    "masked-history": "Read the first two files, each with the pages",
    "restored": "Write a new file",
}


@pytest.mark.parametrize(("case", "prompt"), FUSED.items(), ids=FUSED)
def test_a_prompt_in_one_piece_with_the_context_is_a_message_of_its_own_again(
    case: str, prompt: str, recorded: Callable[[str], Path]
) -> None:
    found = rescued(recorded(case))
    (obstacle,) = found.obstacles
    line = Path(obstacle.file).read_bytes().splitlines()[(obstacle.line or 0) - 1]
    (fused,) = [m for m in json.loads(line)["$set"]["messages"] if prompt in _texts(m["content"])]
    assert _texts(fused["content"])[0].lstrip().startswith("<session_context>")
    assert "joined a prompt" in obstacle.sentence
    assert prompt in shown(found)


@pytest.mark.parametrize("case", CASES)
def test_a_repaired_copy_of_any_session_changes_nothing_of_what_is_read(
    case: str, recorded: Callable[[str], Path]
) -> None:
    home = recorded(case)
    before = {session.id: session for session in read_sessions(GEMINI, home)}
    for number, session in enumerate(before.values()):
        if session.kind is SessionKind.MAIN and session.messages:
            target = Path(session.files[0].path).parent
            name = f"session-2026-11-16T00-00-{session.native_id[:8]}-rescued-{number + 2}.jsonl"
            file = repaired(as_it_is(session, str(target / name)), NOW)
            write_new(file.path, file.content)
    after = {session.id: session for session in read_sessions(GEMINI, home)}
    assert after.keys() == before.keys()
    for key, session in before.items():
        assert _numbers(after[key]) == _numbers(session)
        assert list(map(_told, after[key].messages)) == list(map(_told, session.messages))


def as_it_is(session: Session, target: str) -> Stranded:
    return Stranded(
        session=session, obstacles=(), severity=Severity.LOST, hidden=0, mended=session, target=target
    )


def _told(message: Message) -> tuple[Any, ...]:
    return message.id, message.state, message.origin, message.parts


def test_a_prompt_behind_a_hook_that_a_resume_left_out_comes_back(
    recorded: Callable[[str], Path],
) -> None:
    found = rescued(recorded("hook-first"))
    assert found.hidden == 2
    assert [obstacle.line for obstacle in found.obstacles] == [3, 14]
    said = shown(found)
    first = next(n for n, text in enumerate(said) if text.startswith("Which flower fits the notes?"))
    assert any(text.startswith("And another one?") for text in said[first:])


def test_a_prompt_like_a_command_that_a_resume_left_out_comes_back(
    recorded: Callable[[str], Path],
) -> None:
    home = recorded("hook-first")
    for file in home.rglob("session-*.jsonl"):
        words = file.read_text("utf-8").replace(
            "<hook_context>Primrose.</hook_context>\\n\\nWhich", "/etc/hosts or which"
        )
        file.write_text(words, "utf-8")
    found = rescued(home)
    assert found.hidden == 2
    assert any(text.startswith("\u200b/etc/hosts or which flower") for text in shown(found))


def test_what_a_start_in_the_same_minute_buried(recorded: Callable[[str], Path]) -> None:
    home = recorded("resume-same-minute")
    file = file_of(home, "3260f755")
    lines = file.read_bytes().splitlines(keepends=True)
    again = [number for number, line in enumerate(lines) if line.startswith(b'{"sessionId"')][1]
    # The CLI has died when it had written its opening, and before it wrote what it had loaded.
    file.write_bytes(b"".join(lines[: again + 2]))
    found = rescued(home)
    assert (kinds(found), found.severity) == ({"buried"}, Severity.LOST)
    assert found.obstacles[0].line == again + 2
    assert "Remember cherries." in shown(found)


def test_a_log_without_a_header_gets_the_id_that_was_typed_under(recorded: Callable[[str], Path]) -> None:
    home = recorded("no-header")
    found = rescued(home)
    assert found.mended.native_id == found.session.native_id == "8b87e938-9c1f-42e5-b570-79581720b291"
    assert "What is in the notes?" in shown(found)


def test_a_log_of_which_only_the_name_is_left_gets_a_whole_id(recorded: Callable[[str], Path]) -> None:
    home = recorded("no-header")
    (log,) = home.glob(".gemini/tmp/*/logs.json")
    log.unlink()
    (found,) = stranded(home)
    file = repaired(found, NOW)
    write_new(file.path, file.content)
    native_id = found.mended.native_id
    assert len(native_id) == 36
    assert native_id.startswith("8b87e938-")
    assert found.changes == (f"Only '8b87e938' of its id is known; the new id is {native_id!r}.",)
    ids = [session.native_id for session in read_sessions(GEMINI, home)]
    assert sorted(own for own in ids if own.startswith("8b87e938")) == [native_id]


def test_a_line_on_which_two_records_got_glued(tmp_path: Path) -> None:
    file = write_session(tmp_path)
    lines = file.read_bytes().splitlines(keepends=True)
    index = next(number for number, line in enumerate(lines) if b'"user"' in line)
    lines[index] = b'{"$set":{"lastUpda' + lines[index]
    file.write_bytes(b"".join(lines))
    found = rescued(tmp_path)
    assert kinds(found) == {"damaged"}
    assert found.obstacles[0].line == index + 1
    assert shown(found)


@pytest.mark.parametrize("ending", [".unreadable-1794745248193", ".tmp-4711"])
def test_a_file_that_was_put_aside(ending: str, tmp_path: Path) -> None:
    file = write_session(tmp_path)
    file.rename(file.with_name(file.name + ending))
    found = rescued(tmp_path)
    assert (kinds(found), found.severity) == ({"leftover"}, Severity.LOST)
    assert str(found.target).endswith("-rescued.jsonl")


def test_of_two_files_with_one_id_the_older_is_hidden(recorded: Callable[[str], Path]) -> None:
    home = recorded("compress-split")
    file = next(home.glob(".gemini/tmp/*/chats/session-*.json"))
    document = json.loads(file.read_bytes())
    half = len(document["messages"]) // 2
    older = document | {"messages": document["messages"][:half], "lastUpdated": document["startTime"]}
    newer = document | {"messages": document["messages"][half:], "startTime": document["lastUpdated"]}
    file.write_text(json.dumps(older, indent=2))
    later = file.with_name(file.name.replace("session-2026-11-15T", "session-2026-11-16T"))
    later.write_text(json.dumps(newer, indent=2))
    found = rescued(home)
    assert (kinds(found), found.severity) == ({"shadowed"}, Severity.PARTLY)
    assert later.name in found.obstacles[0].sentence
    assert len(shown(found)) == sum(message["type"] == "user" for message in document["messages"])


def test_a_folder_of_old_releases_is_no_longer_looked_into(tmp_path: Path) -> None:
    project = str(tmp_path / "shop")
    write_session(tmp_path, project=project)
    old = "22222222-0000-4000-8000-000000000000"
    file = write_session(tmp_path, old, project=project)
    chats = tmp_path / ".gemini" / "tmp" / folder_hash(project) / "chats"
    chats.mkdir(parents=True)
    moved = file.rename(chats / file.name)
    found = rescued(tmp_path)
    assert (kinds(found), found.severity) == ({"orphaned"}, Severity.LOST)
    assert found.obstacles[0].file == str(moved)
    assert Path(str(found.target)).parent == file.parent


def test_a_release_that_reads_no_logs_is_not_written_for(tmp_path: Path) -> None:
    file = write_session(tmp_path)
    file.rename(file.with_name(file.name + ".tmp-4711"))
    (found,) = stranded(tmp_path, install(tmp_path / "agent", "0.28.2"))
    assert found.target is None
    assert found.refusal == "Gemini CLI 0.28.2 does not read repaired files (.jsonl); 0.39.0 and later do."


def test_what_is_written_is_later_than_what_hides_the_session(tmp_path: Path) -> None:
    file = write_session(tmp_path)
    header = json.loads(file.read_bytes().splitlines()[0])
    asked = {"id": "other", "timestamp": "2027-01-01T00:00:00.000Z", "type": "user", "content": "Other."}
    header |= {"startTime": "2027-01-01T00:00:00.000Z", "lastUpdated": "2027-01-01T00:00:00.000Z"}
    later = file.with_name(f"session-2027-01-01T00-00-{header['sessionId'][:8]}.jsonl")
    later.write_text(f"{json.dumps(header)}\n{json.dumps(asked)}\n")
    assert kinds(rescued(tmp_path)) == {"shadowed"}


def test_a_subagent_with_the_id_of_its_parent_hides_it(recorded: Callable[[str], Path]) -> None:
    home = recorded("agent-beside-unmarked")
    files = sorted(home.glob(".gemini/tmp/*/chats/session-*.json"))
    child = min(files, key=lambda file: len(json.loads(file.read_bytes())["messages"]))
    document = json.loads(child.read_bytes())
    child.write_text(json.dumps(document | {"lastUpdated": "2026-11-15T23:00:00.000Z"}, indent=2))
    found = rescued(home)
    assert (kinds(found), found.severity) == ({"shadowed"}, Severity.LOST)


@pytest.mark.parametrize("prompt", ["/etc/hosts is what?", "  ?? What is that?"])
def test_a_prompt_like_a_command_keeps_its_words(prompt: str, tmp_path: Path) -> None:
    ask_instead(write_session(tmp_path), prompt)
    found = rescued(tmp_path)
    view = custodian_of(GEMINI).agent_view(Path(str(found.target)))
    assert view is not None
    written = [message["content"] for message in view["messages"] if message["type"] == "user"]
    # The CLI puts all parts together and trims them, which leaves this character in front.
    assert [{"text": f"\u200b{prompt}"}] in written
    assert len(found.changes) == 1


@pytest.mark.parametrize(
    ("prompt", "severity"),
    [
        ("/etc/hosts is what?", Severity.PARTLY),
        ("/etc/hosts", Severity.PARTLY),
        ("/summarise what we did", Severity.PARTLY),
        ("/nonsense", Severity.SLIGHT),
        ("/modle pro", Severity.SLIGHT),
        ("/git:comit now\n", Severity.SLIGHT),
        ("/", Severity.SLIGHT),
        ("?", Severity.SLIGHT),
        ("?? What is that?", Severity.PARTLY),
        ("?为什么", Severity.PARTLY),
        ("/修复这个错误", Severity.PARTLY),
    ],
)
def test_a_mistyped_command_is_missed_by_nobody(prompt: str, severity: Severity, tmp_path: Path) -> None:
    ask_instead(write_session(tmp_path), prompt)
    found = rescued(tmp_path)
    assert (kinds(found), found.severity, found.hidden) == ({"ignored"}, severity, 1)


def test_words_that_nobody_answered_are_missed_if_they_are_no_command(tmp_path: Path) -> None:
    said = {"/summarise what we did": Severity.SLIGHT, "/etc/hosts is what?": Severity.LOST}
    for prompt, severity in said.items():
        home = tmp_path / severity
        file = ask_instead(write_session(home), prompt)
        lines = [line for line in file.read_bytes().splitlines() if json.loads(line).get("type") != "gemini"]
        file.write_bytes(b"\n".join(lines) + b"\n")
        (found,) = stranded(home)
        assert found.severity is severity


def ask_instead(file: Path, prompt: str) -> Path:
    """Another prompt in place of the one of a session."""
    lines = [json.loads(line) for line in file.read_bytes().splitlines()]
    asked = next(line for line in lines if line.get("type") == "user")
    asked["content"] = [{"text": prompt}]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file


def test_a_title_in_another_script_becomes_a_summary(tmp_path: Path) -> None:
    ask_instead(write_session(tmp_path), "修复这个错误")
    found = rescued(tmp_path)
    assert (kinds(found), found.severity, found.hidden) == ({"title"}, Severity.TITLE, 0)
    view = custodian_of(GEMINI).agent_view(Path(str(found.target)))
    assert view is not None
    assert view["summary"] == "修复这个错误"


def test_a_repaired_session_is_whole_without_the_broken_file(recorded: Callable[[str], Path]) -> None:
    home = recorded("no-header")
    found = rescued(home)
    before = numbers(home)
    Path(found.session.files[0].path).unlink()
    assert numbers(home) == before


def test_what_goes_on_in_a_repaired_file_is_read(recorded: Callable[[str], Path]) -> None:
    home = recorded("no-header")
    found = rescued(home)
    with Path(str(found.target)).open("a") as log:
        said = {"id": "new", "timestamp": "2026-11-16T01:00:00.000Z", "type": "user"}
        log.write(json.dumps({**said, "content": [{"text": "And now?"}]}) + "\n")
    (session,) = [one for one in read_sessions(GEMINI, home) if one.id == found.session.id]
    assert session.counts.prompts == found.session.counts.prompts + 1
    assert session.messages[-1].text(Origin.HUMAN) == "And now?"


def test_a_session_that_went_on_in_the_broken_file_is_rescued_again(recorded: Callable[[str], Path]) -> None:
    home = recorded("no-header")
    first = rescued(home)
    with Path(first.session.files[0].path).open("a") as log:
        said = {"id": "new", "timestamp": "2026-11-16T01:00:00.000Z", "type": "user"}
        log.write(json.dumps({**said, "content": [{"text": "And now?"}]}) + "\n")
    (found,) = stranded(home)
    assert (found.hidden, found.severity) == (1, Severity.PARTLY)
    again = repaired(found, NOW + timedelta(minutes=1))
    write_new(again.path, again.content)
    assert again.path.endswith("-rescued-2.jsonl")
    assert stranded(home) == []
    assert "And now?" in shown(found)
    (session,) = [one for one in read_sessions(GEMINI, home) if one.id == first.session.id]
    assert session.counts.prompts == first.session.counts.prompts + 1


def test_a_command_of_the_humans_own_is_written_as_it_was(recorded: Callable[[str], Path]) -> None:
    home = recorded("custom-command")
    before = shown_in(home)
    file = next(home.glob(".gemini/tmp/*/chats/session-*.jsonl"))
    file.rename(file.with_name(file.name + ".tmp-4711"))
    found = rescued(home)
    assert found.changes == ()
    assert shown(found) == before


def shown_in(home: Path) -> list[str]:
    view = custodian_of(GEMINI).agent_view(next(home.glob(".gemini/tmp/*/chats/session-*.jsonl")))
    assert view is not None
    return ["".join(_texts(m["content"])) for m in view["messages"] if m["type"] == "user"]


def test_a_folder_that_no_cli_looks_into_is_refused(recorded: Callable[[str], Path]) -> None:
    home = recorded("no-header")
    elsewhere = (home / ".gemini").rename(home / "backup")
    circumstances = Circumstances(environment={}, user_home=str(home), here=str(home), now=NOW)
    (found,) = custodian_of(GEMINI).stranded(Home("gemini", str(elsewhere), "given"), circumstances)
    assert found.target is None
    with pytest.raises(CannotRescueError, match="where Gemini CLI does not look"):
        repaired(found, NOW)


def test_nothing_is_written_over_another_file(tmp_path: Path) -> None:
    there = tmp_path / "there.jsonl"
    there.write_bytes(b"mine")
    with pytest.raises(FileExistsAlreadyError):
        write_new(str(there), b"other")
    assert there.read_bytes() == b"mine"
    assert list(tmp_path.iterdir()) == [there]


@pytest.mark.parametrize("agent", ["claude", "codex"])
def test_other_agents_strand_no_session_that_we_know_of(agent: str, tmp_path: Path) -> None:
    circumstances = Circumstances(environment={}, user_home=str(tmp_path), here="/", now=NOW)
    assert (
        list(custodian_of(agents.load(agent)).stranded(Home(agent, str(tmp_path), "given"), circumstances))
        == []
    )
