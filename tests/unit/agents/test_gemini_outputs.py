"""Outputs that Gemini CLI moved out of its sessions, and how they come back."""

from __future__ import annotations

import io
import json
import os
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from geminids.agents.gemini import GeminiSource
from geminids.agents.gemini.companions.outputs import named_ids, with_outputs
from geminids.core.model import Plain, ProblemKind, Screen, Session, Text, ToolCall
from geminids.faces.drawing.page import PlainPage
from geminids.faces.drawing.story import StoryContext, draw_session
from geminids.reading import outputs
from geminids.reading.texts import LONGEST
from geminids.sharing.transcript.entries import Detail
from tests.conftest import FIXTURES, RecordProperty, Rights, Run
from tests.support.homes import FIRST_ID, tool_call, write_session
from tests.support.reading import sessions

SOURCE = GeminiSource()
MASKED_HISTORY = FIXTURES / "gemini" / "masked-history" / "home"
TAIL = "the tail, which is long enough to be known again"
CUT = "Output too large. Showing first 4 and last 48 characters. For full output see: {}\nhead\n...\n" + TAIL
MASK = (
    "<tool_output_masked>\nhead\n\n... [40 lines omitted] ...\n\n" + TAIL + "\n\n"
    "Output too large. Full output available at: {}\n</tool_output_masked>"
)
WHOLE = f"head and all that stood between it and {TAIL}"


def whole_sessions(home: Path) -> list[Session]:
    """The sessions of a home with the outputs that were moved out of them."""
    return [with_outputs(session) for session in sessions(SOURCE, home)]


def calls(home: Path) -> Iterator[ToolCall]:
    for session in whole_sessions(home):
        for message in session.messages:
            yield from message.tool_calls


def moved(home: Path) -> dict[str, str | None]:
    """The whole texts by the ids of their calls."""
    return {call.call_id or "": call.full_output.text for call in calls(home) if call.full_output}


def write_call(home: Path, result: str, call_id: str = "shell_1", **fields: Any) -> Path:
    """A session with one call and what its record has left of the answer; its project's folder."""
    call = tool_call(**{"id": call_id, "result": result, "resultDisplay": None, **fields})
    return write_session(home, calls=[call]).parent.parent


def put(project: Path, inside: str, text: str = WHOLE) -> Path:
    file = project / inside
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")
    return file


def printed_lines(report: str) -> list[str]:
    """What a command printed, out of the report that the model got of it."""
    _, _, output = report.partition("Output: ")
    lines = [line.rstrip() for line in output.split("\n")]
    ends = ("Error: ", "Exit Code: ", "Process Group PGID: ", "cat: ")
    return lines[: next(place for place, line in enumerate(lines) if line.startswith(ends))]


def counted(command: str) -> list[str]:
    """What `seq` or a file of the scenario prints."""
    match command.split():
        case ["seq", first, last]:
            return [str(number) for number in range(int(first), int(last) + 1)]
        case ["cat", name, *_] if name.startswith("count"):
            digit = name.removeprefix("count").removesuffix(".txt")
            end = " ü 漢字" if digit == "3" else ""
            return [f"{digit}{number:03}{end}" for number in range(300)]
        case _:
            raise AssertionError(command)


def shown_lines(call: ToolCall) -> list[str]:
    assert isinstance(call.display, Plain | Screen)
    return [line.rstrip().replace("漢 字", "漢字") for line in call.display.text.rstrip().split("\n")]


def compared(home: Path) -> int:
    """How many outputs of a recording came back, all of them as the command printed them."""
    count = 0
    for call in calls(home):
        result = "\n".join(part.text for part in call.result if isinstance(part, Text))
        if not result.startswith(("Output too large.", "Tool output was too large")):
            assert call.full_output is None
            continue
        assert call.full_output, (home, call.call_id)
        lines, truth = printed_lines(call.full_output.text or ""), counted(call.arguments["command"])
        # Some releases lose the end of what a command prints before they write anything.
        is_all_there_was = lines == truth[: len(lines)] and lines[-1] == shown_lines(call)[-1]
        assert lines == truth or is_all_there_was, (home, call.call_id)
        count += 1
    return count


@pytest.mark.parametrize("name", ["long-output", "outputs-in-project-folder"])
def test_cut_outputs_come_back_as_the_command_printed_them(name: str) -> None:
    assert compared(FIXTURES / "gemini" / name / "home")


def test_cut_outputs_of_every_release_come_back(corpus: Path, record_property: RecordProperty) -> None:
    by_release: Counter[str] = Counter()
    for name in ("long-output", "c-tool-outputs"):
        for home in sorted(corpus.glob(f"real/*/{name}/home")):
            by_release[home.parent.parent.name] += compared(home)
    record_property("counts", f"outputs put back: {dict(by_release)}")
    assert by_release.total()


def test_what_a_record_has_whole_is_left_as_it_is() -> None:
    """Masking copies outputs to files again and again; the session has them all."""
    for name in ("masked-outputs", "masked-history"):
        assert list(FIXTURES.glob(f"gemini/{name}/home/.gemini/tmp/*/tool-outputs/*/*"))
        assert not moved(FIXTURES / "gemini" / name / "home")


def only_masks(home: Path) -> dict[str, str]:
    """A copy of a home with what masking wrote last; the whole outputs by the ids of their calls."""
    shutil.copytree(MASKED_HISTORY, home)
    (file,) = home.glob(".gemini/tmp/*/chats/*.jsonl")
    header, *lines = file.read_text("utf-8").splitlines(keepends=True)
    last = max(number for number, line in enumerate(lines) if '"$set":{"messages"' in line)
    file.write_text("".join([header, *lines[last:]]), "utf-8")
    return {
        call.call_id or "": "\n".join(part.text for part in call.result if isinstance(part, Text))
        for call in calls(MASKED_HISTORY)
    }


def test_masked_outputs_come_back_where_only_the_mask_is_left(tmp_path: Path) -> None:
    """The beginning of the file is lost, so that what masking wrote last is all there is."""
    truth = only_masks(tmp_path / "home")
    found = moved(tmp_path / "home")
    assert found
    assert {call_id: truth[call_id] for call_id in found} == found


def test_masked_outputs_are_known_by_what_their_masks_show(tmp_path: Path) -> None:
    """The files that the masks name are gone; those of other times when the same was masked are not."""
    truth = only_masks(tmp_path / "home")
    named = moved(tmp_path / "home")
    folders = (tmp_path / "home").glob(".gemini/tmp/*/tool-outputs/*")
    for file in [file for folder in folders for file in folder.iterdir()]:
        file.rename(file.with_name(f"{file.stem}x.txt"))
    found = moved(tmp_path / "home")
    assert {call_id: truth[call_id] for call_id in named} == found


def test_an_output_of_another_call_is_not_what_a_mask_shows(tmp_path: Path) -> None:
    only_masks(tmp_path / "home")
    folders = (tmp_path / "home").glob(".gemini/tmp/*/tool-outputs/*")
    files = sorted(file for folder in folders for file in folder.iterdir())
    for file, other in zip(files, reversed([file.read_bytes() for file in files]), strict=True):
        file.unlink()
        file.with_name(f"{file.stem}x.txt").write_bytes(other)
    assert moved(tmp_path / "home") == {}


@pytest.mark.parametrize(
    "inside",
    [
        f"tool-outputs/session-{FIRST_ID}/shell_1.txt",
        "tool-outputs/run_shell_command_7.txt",
        "tool_output/shell_1.txt",
        "run_shell_command_shell_1.txt",
        "shell_1.output",
    ],
)
@pytest.mark.parametrize("written", ["/elsewhere/.gemini/tmp/old-name/{}", "C:\\me\\.gemini\\tmp\\x\\{}"])
def test_every_place_is_known_wherever_the_home_was(tmp_path: Path, inside: str, written: str) -> None:
    spelled = inside.replace("/", "\\") if "\\" in written else inside
    file = put(write_call(tmp_path, CUT.format(written.format(spelled))), inside)
    (call,) = calls(tmp_path)
    assert call.full_output is not None
    assert (call.full_output.path, call.full_output.text) == (str(file), WHOLE)
    assert call.full_output.size == len(WHOLE)


@pytest.mark.parametrize(
    ("call_id", "name"),
    [
        ("shell_1", f"tool-outputs/session-{FIRST_ID}/shell_1.txt"),
        ("Call#1/Ü", f"tool-outputs/session-{FIRST_ID}/run_shell_command_call_1__.txt"),
        ("shell-17-ab", "shell-17-ab.output"),
    ],
)
def test_an_output_is_found_by_its_call_where_its_path_is_of_no_use(
    tmp_path: Path, call_id: str, name: str
) -> None:
    project = write_call(tmp_path, CUT.format("/nowhere/at/all.log"), call_id)
    put(project, name)
    assert moved(tmp_path) == {call_id: WHOLE}


def test_of_several_masks_the_longest_is_taken(tmp_path: Path) -> None:
    project = write_call(tmp_path, MASK.format("/gone/with/the/home"))
    folder = f"tool-outputs/session-{FIRST_ID}/run_shell_command_shell_1"
    put(project, f"{folder}_x1y2z3.txt", json.dumps({"output": f"head\n{TAIL}"}, indent=2))
    put(project, f"{folder}_a1b2c3.txt", json.dumps({"output": WHOLE}, indent=2))
    put(project, f"{folder[:-1]}2_a1b2c3.txt", json.dumps({"output": "of another call" * 100}, indent=2))
    assert moved(tmp_path) == {"shell_1": WHOLE}


def test_what_was_cut_before_it_was_masked_is_whole(tmp_path: Path) -> None:
    folder = f"tool-outputs/session-{FIRST_ID}"
    project = write_call(tmp_path, MASK.format(f"/x/{folder}/run_shell_command_shell_1_abc.txt"))
    put(project, f"{folder}/run_shell_command_shell_1_abc.txt", json.dumps({"output": CUT.format("/y")}))
    put(project, f"{folder}/shell_1.txt", WHOLE)
    assert moved(tmp_path) == {"shell_1": WHOLE}


def test_an_output_that_another_call_has_written_over_is_not_taken(tmp_path: Path) -> None:
    """Servers may give the same id in every session, and older releases have one folder for all."""
    put(
        write_call(tmp_path, CUT.format("/x/call_1.output"), "call_1"),
        "call_1.output",
        "words of another session",
    )
    assert moved(tmp_path) == {}


def test_the_boilerplate_at_the_end_of_an_output_proves_nothing(tmp_path: Path) -> None:
    end = "\nError: (none)\nExit Code: 0\nProcess Group PGID: 26\n</untrusted_context>"
    project = write_call(tmp_path, CUT.format("/x/call_1.output") + end, "call_1")
    put(project, "call_1.output", "words of another session" + end)
    assert moved(tmp_path) == {}


def test_calls_that_were_given_the_same_id_keep_their_own_outputs(tmp_path: Path) -> None:
    folder = f"tool-outputs/session-{FIRST_ID}"
    written = [
        tool_call(id="call_1", result=CUT.format(f"/x/{folder}/call_1.txt")),
        tool_call("grep", id="call_1", result=MASK.format(f"/x/{folder}/grep_call_1_abc.txt")),
    ]
    # Gemini CLI itself would take two calls of one message for one.
    file = write_session(tmp_path, calls=written[:1])
    later = {"id": "later", "type": "gemini", "timestamp": "2026-05-01T10:06:00.000Z", "content": ""}
    with file.open("a", encoding="utf-8") as opened:
        opened.write(json.dumps({**later, "toolCalls": written[1:]}) + "\n")
    project = file.parent.parent
    put(project, f"{folder}/call_1.txt", WHOLE)
    put(project, f"{folder}/grep_call_1_abc.txt", json.dumps({"output": "of the second call"}))
    outputs_of = [(call.name, call.full_output and call.full_output.text) for call in calls(tmp_path)]
    assert outputs_of == [("run_shell_command", WHOLE), ("grep", "of the second call")]


@pytest.mark.parametrize("remains", [CUT, MASK], ids=["cut", "masked"])
@pytest.mark.parametrize("written", ["/x/tool-outputs/passwords.txt", "/x/passwords.txt"])
def test_in_the_folder_of_a_project_only_names_of_the_call_are_opened(
    tmp_path: Path, remains: str, written: str
) -> None:
    put(write_call(tmp_path, remains.format(written)), "passwords.txt", f"head\n{TAIL}")
    assert moved(tmp_path) == {}


def test_nothing_is_opened_for_a_mask_outside_the_folder_of_outputs(tmp_path: Path) -> None:
    project = write_call(tmp_path, MASK.format("/x/tool_output/other.txt"))
    put(project, "tool_output/other.txt", f"head\n{TAIL}")
    assert moved(tmp_path) == {}


def taken_elsewhere(tmp_path: Path, folder: Path) -> str | None:
    """The text that comes back into a session whose file was copied, and an output beside it."""
    inside = f"tool-outputs/session-{FIRST_ID}/shell_1.txt"
    (file,) = (write_call(tmp_path / "home", CUT.format(f"/x/{inside}")) / "chats").iterdir()
    (folder / "chats").mkdir(parents=True)
    taken = shutil.copy(file, folder / "chats")
    put(folder, inside)
    reading = SOURCE.read_alone(Path(taken))
    assert reading is not None
    (call,) = with_outputs(reading.sessions[0]).messages[-1].tool_calls
    return call.full_output.text if call.full_output else None


@pytest.mark.parametrize(
    "beside", ["projects.json", "history", "tmp/shop/.project_root", "tmp/shop/logs.json"]
)
def test_a_copied_home_is_known_by_what_it_holds(tmp_path: Path, beside: str) -> None:
    put(tmp_path / "backup", beside)
    assert taken_elsewhere(tmp_path, tmp_path / "backup" / "tmp" / "shop") == WHOLE


@pytest.mark.parametrize("folder", [".gemini/tmp/shop", f"moved/{'a1' * 32}"])
def test_the_folder_of_a_project_is_known_by_its_name(tmp_path: Path, folder: str) -> None:
    assert taken_elsewhere(tmp_path, tmp_path / folder) == WHOLE


@pytest.mark.parametrize("folder", ["Downloads", "tmp/dl", "projects/shop"])
def test_what_lies_beside_a_copied_session_anywhere_else_is_private(tmp_path: Path, folder: str) -> None:
    assert taken_elsewhere(tmp_path, tmp_path / folder) is None


def test_nothing_is_found_outside_the_project(tmp_path: Path) -> None:
    secret = put(tmp_path, "secret.txt")
    said = {
        "outside": str(secret),
        "climbing": "/x/tool-outputs/../../../../../secret.txt",
        "link": "/x/tool-outputs/link.txt",
        "linked-folder": "/x/tool_output/secret.txt",
        "gone": "/x/tool-outputs/none.txt",
        "nul": "/x/tool-outputs/\0.txt",
        "long": "/x/tool-outputs/" + "n" * 5000 + ".txt",
        "credentials": "/x/.gemini/oauth_creds.json",
        "../../../../secret": "/x",
        "": "/x",
    }
    written = [tool_call(id=name, result=CUT.format(path)) for name, path in said.items()]
    project = write_session(tmp_path, calls=written).parent.parent
    (project / "tool-outputs").mkdir()
    (project / "tool-outputs" / "link.txt").symlink_to(secret)
    (project / "tool_output").symlink_to(tmp_path)
    put(project.parent.parent, "oauth_creds.json")
    assert moved(tmp_path) == {}


def test_a_file_given_by_hand_opens_nothing_beside_it(tmp_path: Path) -> None:
    project = write_call(tmp_path, CUT.format("/x/notes.txt"))
    (file,) = (project / "chats").iterdir()
    taken = shutil.copy(file, tmp_path / "session.jsonl")
    put(tmp_path, "notes.txt")
    reading = SOURCE.read_alone(Path(taken))
    assert reading is not None
    assert with_outputs(reading.sessions[0]) is reading.sessions[0]


def test_of_a_huge_output_the_beginning_and_the_end_are_read(tmp_path: Path) -> None:
    project = write_call(tmp_path, CUT.format("/x/shell_1.output"))
    file = put(project, "shell_1.output", "the beginning")
    os.truncate(file, 5_000_000_000)
    with file.open("r+b") as opened:
        opened.seek(-len(TAIL), os.SEEK_END)
        opened.write(TAIL.encode())
    (call,) = [call for call in calls(tmp_path) if call.full_output]
    assert call.full_output is not None
    assert call.full_output.left_out == 5_000_000_000 - LONGEST
    text = call.full_output.text or ""
    assert text.startswith("the beginning")
    assert "4,984,000,000 bytes are left out here" in text
    assert len(text) < LONGEST + 100


def test_more_than_a_session_may_take_is_left_unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outputs, "MOST", 2 * len(WHOLE))
    written = [tool_call(id=f"c{number}", result=CUT.format("/x")) for number in range(3)]
    project = write_session(tmp_path, calls=written).parent.parent
    for number in range(3):
        put(project, f"c{number}.output")
    (session,) = whole_sessions(tmp_path)
    assert [call.full_output and call.full_output.text for call in session.messages[-1].tool_calls] == [
        WHOLE,
        WHOLE,
        None,
    ]
    assert [problem.kind for problem in session.problems] == [ProblemKind.LEFT_UNREAD]


def test_an_output_that_may_not_be_read_is_a_problem(tmp_path: Path, without_privileges: Rights) -> None:
    file = put(write_call(tmp_path, CUT.format("/x/shell_1.output")), "shell_1.output")
    file.chmod(0)
    with without_privileges():
        (session,) = whole_sessions(tmp_path)
    assert [(p.file, p.kind) for p in session.problems] == [(str(file), ProblemKind.UNREADABLE)]
    (call,) = session.messages[-1].tool_calls
    assert call.full_output is not None
    assert call.full_output.text is None


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(write_call(tmp_path, CUT.format("/x/shell_1.output")) / "shell_1.output")
    (session,) = whole_sessions(tmp_path)
    assert [problem.detail for problem in session.problems] == ["not a regular file"]


def test_a_session_names_the_ids_that_its_files_were_put_away_under(geminids: Run, tmp_path: Path) -> None:
    """After /clear the CLI believes in a new id; releases 0.29 to 0.34 go on recording under the old one."""
    plan = {"file_path": "/home/ada/.gemini/tmp/shop/ab-2/plans/plan.md", "content": "x"}
    other = {"file_path": "/home/ada/.gemini/tmp/shop/tool-outputs/session-ab-3/shell_1.txt"}
    written = [
        tool_call(id="c1", result=CUT.format("/x/.gemini/tmp/shop/tool-outputs/session-ab-1/c1.txt")),
        tool_call("write_file", id="c2", args=plan),
        tool_call("read_file", id="c3", args=other),
    ]
    project = write_session(tmp_path, calls=written).parent.parent
    (session,) = sessions(SOURCE, tmp_path)
    assert named_ids(session) == {"ab-1", "ab-2"}
    imported = [msgspec.structs.replace(message, imported=True) for message in session.messages]
    assert named_ids(msgspec.structs.replace(session, messages=tuple(imported))) == set()
    for number in (1, 2, 3):
        put(project, f"tool-outputs/session-ab-{number}/c1.txt")
    story = json.loads(geminids("projects", "show", "shop", "--home", tmp_path, "--json").out)
    gone = [event["session_id"] for event in story["events"] if event["kind"] == "gap"]
    assert gone == ["gemini:ab-3"]


def drawn(session: Session, detail: Detail) -> str:
    stream = io.StringIO()
    draw_session(PlainPage(stream), StoryContext(session, detail, "Gemini CLI", str))
    return stream.getvalue()


def test_the_story_tells_the_whole_output_and_where_it_lies(tmp_path: Path) -> None:
    file = put(
        write_call(tmp_path, CUT.format("/x/shell_1.output")), "shell_1.output", "\x1b]0;x\x07" + WHOLE
    )
    (session,) = whole_sessions(tmp_path)
    told = drawn(session, Detail(tools=True))
    assert WHOLE in told
    assert f"the whole output: {file}, {file.stat().st_size} bytes" in told
    assert "\x1b" not in told
    assert WHOLE not in drawn(session, Detail())
