"""What lies beside sessions and homes: told apart, never opened where it is secret, never an obstacle."""

from __future__ import annotations

import io
import json
import math
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from geminids.agents.gemini import GeminiSource
from geminids.agents.gemini.companion_files import is_credential, place
from geminids.core.agents.base import Home, Scan
from geminids.core.model import CompanionKind, Problem
from geminids.faces.drawing.companions import draw_beside, draw_companion, shown_beside
from geminids.faces.drawing.page import PlainPage
from geminids.reading.companions import CREDENTIALS, UNKNOWN, CompanionRole
from geminids.reading.scanner import LINK, NO_FILE, TOO_DEEP
from geminids.reading.texts import text_beside
from geminids.scale.sql.memory import bounded
from tests.conftest import FIXTURES, Outcome, RecordProperty, Rights, Run
from tests.support.homes import FIRST_ID, write_session
from tests.support.reading import sessions

SOURCE = GeminiSource()
CANARY = "canary-5f1d-never-to-be-read"
SECRETS = (
    "oauth_creds.json",
    "google_accounts.json",
    "google_account_id",
    "mcp-oauth-tokens.json",
    "mcp-oauth-tokens-v2.json",
    "a2a-oauth-tokens.json",
    "gemini-credentials.json",
    ".env",
    ".env.local",
    "id_ed25519",
    "my-token.txt",
    "service.pem",
)
HUGE = 5_000_000_000


def scan(home: Path) -> Scan:
    return SOURCE.scan(Home("gemini", str(home / ".gemini"), "test"))


def put(folder: Path, inside: str, text: str = "x") -> Path:
    file = folder / inside
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")
    return file


# -- what is what ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("inside", "kind", "native_id"),
    [
        ("logs.json", CompanionKind.PROMPT_LOG, None),
        ("logs.json.invalid_json.1794744424629.bak", CompanionKind.PROMPT_LOG, None),
        ("checkpoint.json", CompanionKind.SAVED_CHAT, None),
        ("checkpoint-v1.2_x.json", CompanionKind.SAVED_CHAT, None),
        ("checkpoints/2026-11-15T12-06-58_805Z-new file.md-replace.json", CompanionKind.RESTORE_POINT, None),
        ("bug-report-history-1794744424629.json", CompanionKind.REPORT, None),
        ("logs/session-ab-1.jsonl", CompanionKind.ACTIVITY_LOG, "ab-1"),
        ("tool-outputs/session-ab-1/shell_1.txt", CompanionKind.TOOL_OUTPUT, "ab-1"),
        ("tool-outputs/shell_1.txt", CompanionKind.TOOL_OUTPUT, None),
        ("tool_output/shell_1.txt", CompanionKind.TOOL_OUTPUT, None),
        ("run_shell_command_ab#1.txt", CompanionKind.TOOL_OUTPUT, None),
        ("shell-1794-ab.output", CompanionKind.TOOL_OUTPUT, None),
        ("ab-1/plans/deep/plan.md", CompanionKind.PLAN, "ab-1"),
        ("plans/plan.md", CompanionKind.PLAN, None),
        ("ab-1/tracker/ec09ef.json", CompanionKind.TASKS, "ab-1"),
        ("ab-1/tasks/1.json", CompanionKind.TASKS, "ab-1"),
        ("tracker/ec09ef.json", CompanionKind.TASKS, None),
        ("memory/skills/x/SKILL.md", CompanionKind.MEMORY, None),
        ("images/clipboard-1794744598873.png", CompanionKind.IMAGE, None),
        ("shell_history", CompanionKind.SHELL_HISTORY, None),
        (".project_root", CompanionKind.MARKER, None),
    ],
)
def test_a_file_is_known_by_its_place(inside: str, kind: CompanionKind, native_id: str | None) -> None:
    assert place(inside) == CompanionRole(kind, native_id)


@pytest.mark.parametrize("inside", ["memory/.extraction.lock", "trace.log", "otel/x", "logs/rag-trace.log"])
def test_what_is_left_alone_has_a_reason(inside: str) -> None:
    reason = place(inside)
    assert isinstance(reason, str)
    assert reason != UNKNOWN


def test_nothing_in_the_corpus_is_unknown(corpus: Path) -> None:
    homes = [*corpus.glob("real/*/*/home"), *FIXTURES.glob("gemini/*/home")]
    unknown = [file.path for home in homes for file in scan(home).skipped if file.reason == UNKNOWN]
    # The corpus keeps what Gemini CLI's own loader answered beside the files it was asked about.
    assert [path for path in unknown if not path.name.endswith(".oracle.json")] == []


def test_a_project_of_which_only_companions_are_left_is_one(tmp_path: Path) -> None:
    put(tmp_path, ".gemini/tmp/shop/tool-outputs/session-ab/x.txt")
    put(tmp_path, ".gemini/tmp/bin/rg")
    found = scan(tmp_path)
    assert [[file.kind for file in beside.files] for beside in found.companions] == [
        [CompanionKind.TOOL_OUTPUT]
    ]
    assert [file.path.name for file in found.skipped] == ["bin"]


# -- told beside a session --------------------------------------------------------------


def test_a_session_tells_what_lies_beside_it(tmp_path: Path) -> None:
    project = write_session(tmp_path).parent.parent
    put(project, f"{FIRST_ID}/plans/evil\n\x1b[31m{'n' * 150}.md", "# Plan")
    task = {
        "title": "Write it",
        "status": "open",
        "description": "All of it.",
        "dependencies": [],
        "id": "ab",
    }
    put(project, f"{FIRST_ID}/tracker/ab.json", json.dumps(task))
    for number in range(4):
        put(project, f"tool-outputs/session-{FIRST_ID}/{number}.txt")
    (session,) = sessions(SOURCE, tmp_path)
    stream = io.StringIO()
    draw_beside(PlainPage(stream), session, "--beside")
    told = stream.getvalue()
    assert told.startswith("\nBeside it: plan evil nnn")
    assert told.endswith("n…, 6 bytes · 1 task, 100 bytes · 4 tool outputs, 4 bytes (--beside)\n")
    assert "\x1b" not in told
    for companion in shown_beside(session.companions):
        draw_companion(PlainPage(stream), companion, text_beside(companion))
    assert "[open] Write it\n  All of it.\n  id: ab\n" in stream.getvalue()
    assert "# Plan" in stream.getvalue()


def test_what_cannot_be_read_beside_a_session_is_said(tmp_path: Path) -> None:
    project = write_session(tmp_path).parent.parent
    file = put(project, f"{FIRST_ID}/tracker/ab.json", "[" * 100_000)
    (session,) = sessions(SOURCE, tmp_path)
    stream = io.StringIO()
    draw_companion(PlainPage(stream), session.companions[0], text_beside(session.companions[0]))
    file.unlink()
    file.symlink_to("/etc/passwd")
    gone = text_beside(session.companions[0])
    assert isinstance(gone, Problem)
    draw_companion(PlainPage(stream), session.companions[0], gone)
    assert "root:" not in stream.getvalue()


# -- credentials --------------------------------------------------------------------------

HOOK = """
import os, sys

TELLING = {"open", "shutil.copyfile", "os.link", "os.symlink", "os.rename", "subprocess.Popen"}

def watch(event, arguments):
    if event in TELLING:
        os.write(DESCRIPTOR, (event + " " + repr(arguments) + "\\n").encode("utf-8", "replace"))

DESCRIPTOR = os.open(os.environ["WATCHED"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
sys.addaudithook(watch)
"""
COMMANDS: tuple[tuple[str, ...], ...] = (
    (),
    ("list",),
    ("list", "--json"),
    ("show", "latest", "--all"),
    ("show", "latest", "--json"),
    ("show", "SESSION", "--all"),
    ("show", "SESSION", "--agent-view"),
    ("doctor",),
    ("doctor", "--paths"),
    ("doctor", "--json"),
    ("doctor", "SESSION"),
)


@pytest.fixture
def rich_home(tmp_path: Path, machine: Path) -> Path:
    """The machine's home with a session, companions, and every kind of secret where it may lie."""
    session = write_session(machine)
    project = session.parent.parent
    put(project, f"{FIRST_ID}/plans/plan.md")
    put(project, "logs.json", "[]")
    folders = (machine / ".gemini", machine / ".gemini" / "tmp", project, machine)
    for name in SECRETS:
        for folder in folders:
            put(folder, name, CANARY)
    put(machine / ".gemini", "extensions/x/.env", CANARY)
    return session


def watched(tmp_path: Path, line: Sequence[str], prefix: Sequence[str] = ()) -> tuple[str, str]:
    """What a command printed, and every file it opened."""
    put(tmp_path, "hook/sitecustomize.py", HOOK)
    log = put(tmp_path, "opened", "")
    paths = os.pathsep.join([str(tmp_path / "hook"), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": paths, "WATCHED": str(log)}
    done = subprocess.run(
        [*prefix, *line], check=False, capture_output=True, text=True, env=environment, timeout=120
    )
    return done.stdout + done.stderr, log.read_text("utf-8")


def opened_secrets(opened: str) -> list[str]:
    return [
        line
        for line in opened.splitlines()
        if any(f"/{name}'" in line or f'/{name}"' in line for name in SECRETS)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(command) or "alone")
def test_no_command_opens_credentials(tmp_path: Path, rich_home: Path, command: tuple[str, ...]) -> None:
    arguments = [str(rich_home) if word == "SESSION" else word for word in command]
    printed, opened = watched(tmp_path, [sys.executable, "-m", "geminids", *arguments])
    assert printed
    assert opened.count(str(rich_home)), "the hook sees what is opened"
    assert opened_secrets(opened) == []
    assert CANARY not in printed


@pytest.mark.slow
def test_the_watch_over_credentials_sees_one_that_is_opened(tmp_path: Path, rich_home: Path) -> None:
    for name in SECRETS:
        path = rich_home.parents[3] / name
        for how in (f"open({str(path)!r}).read()", f"import os; os.open({str(path)!r}, 0)"):
            _, opened = watched(tmp_path, [sys.executable, "-c", how])
            assert opened_secrets(opened), name


@pytest.mark.slow
def test_the_operating_system_sees_no_credentials_opened(tmp_path: Path, rich_home: Path) -> None:
    trace = tmp_path / "trace"
    prefix = ["strace", "-f", "-qq", "-e", "trace=%file", "-o", str(trace)]
    if not shutil.which("strace") or subprocess.run([*prefix, "true"], check=False).returncode:
        pytest.skip("no strace: that no credentials are opened was proved inside Python only")

    def opens(line: Sequence[str]) -> list[str]:
        watched(tmp_path, line, prefix)
        calls = [
            one for one in trace.read_text("utf-8", "replace").splitlines() if "open" in one.partition("(")[0]
        ]
        assert calls
        return opened_secrets("\n".join(calls))

    for command in ((), ("list", "--json"), ("show", "latest", "--all"), ("doctor", "--json")):
        assert opens([sys.executable, "-m", "geminids", *command]) == []
    assert opens(["cat", str(rich_home.parents[3] / "oauth_creds.json")]), "strace sees what is opened"


def test_credentials_are_named_as_such(tmp_path: Path, rich_home: Path, machine: Path) -> None:
    reasons = {
        file.path.name: file.reason for file in scan(machine).skipped if file.path.parent.name == ".gemini"
    }
    assert {name: reasons[name] for name in SECRETS} == dict.fromkeys(SECRETS, CREDENTIALS)
    assert is_credential("oauth_creds.json")
    assert not is_credential("session-of-my-token.jsonl")


@pytest.mark.parametrize(
    "name",
    ["OAUTH_CREDS.JSON", "oauth_creds.json.bak", "oauth_creds.json~", ".oauth_creds.json.swp", ".ENV.local"],
)
@pytest.mark.parametrize("folder", [".", ".gemini", ".gemini/tmp/shop", ".gemini/tmp/shop/memory"])
def test_credentials_in_other_spellings_and_their_copies_are_not_opened(
    geminids: Run, tmp_path: Path, folder: str, name: str
) -> None:
    file = put(tmp_path, f"{folder}/{name}", CANARY)
    (tmp_path / "link.json").symlink_to(file)
    for path in (file, tmp_path / "link.json"):
        outcome = geminids("show", path)
        assert outcome.code
        assert "holds credentials and is not opened" in outcome.err
        assert CANARY not in outcome.out + outcome.err


@pytest.mark.parametrize(
    ("inside", "is_secret"),
    [
        ("mcp-token-cache.json", True),
        ("extensions/x/api-key.json", True),
        ("tmp/shop/client_secret.json", True),
        ("tmp/shop/checkpoint-my-token.json", False),
        ("tmp/shop/chats/session-of-my-token.jsonl", False),
        ("tmp/shop/memory/about-tokens.md", False),
    ],
)
def test_in_a_home_what_looks_secret_is_not_opened_unless_the_cli_writes_it(
    tmp_path: Path, inside: str, is_secret: bool
) -> None:
    assert SOURCE.files().keeps_secrets(tmp_path / ".gemini" / inside) is is_secret
    assert not SOURCE.files().keeps_secrets(tmp_path / inside)


@pytest.mark.parametrize("folder", ["memory/", "plans/", "images/", f"tool-outputs/session-{FIRST_ID}/", ""])
def test_credentials_are_no_companion_wherever_they_lie(folder: str) -> None:
    for name in ("oauth_creds.json", "Oauth_Creds.json.bak", "google_accounts.json.txt", ".env"):
        assert place(f"{folder}{name}") == CREDENTIALS


# -- hostile homes -------------------------------------------------------------------------


def link_everywhere(project: Path) -> None:
    """Links at every place where the scan might follow one."""
    tmp = project.parent
    (tmp / "linked-project").symlink_to(project)
    (tmp / "loop").symlink_to(tmp)
    for name in ("linked-chats", "checkpoint-only"):
        (tmp / name).mkdir()
    (tmp / "linked-chats" / "chats").symlink_to(project / "chats")
    (tmp / "linked-chats" / "logs.json").symlink_to("/dev/zero")
    (tmp / "linked-chats" / ".project_root").symlink_to("/dev/zero")
    os.mkfifo(tmp / "checkpoint-only" / "checkpoint-x.json")
    (project / "logs.json").symlink_to("/dev/zero")
    (project / "plans").symlink_to("/")
    (project / FIRST_ID).mkdir()
    (project / FIRST_ID / "plans").symlink_to(project)
    (project / "memory").mkdir()
    (project / "memory" / "self").symlink_to(project / "memory")
    os.mkfifo(project / "shell_history")
    (tmp.parent / "history").symlink_to("/")
    (tmp.parent / "settings.json").symlink_to("/dev/zero")


def odd_names(project: Path) -> None:
    """Names that nobody expects."""
    for name in ("line\nbreak", "\x1b]0;title\x07", "n" * 255, "\u202edrow", "-rf", "名" * 80):
        put(project, f"memory/{name}")
        put(project, f"tool-outputs/session-{FIRST_ID}/{name}")
        put(
            project, f"checkpoint-{name[:200]}.json" if len(name.encode()) < 200 else "checkpoint-x.json", "{"
        )
    (project / "plans").mkdir()
    (project / "plans" / os.fsdecode(b"\xff\xfe.md")).write_bytes(b"\xff")


def deep_folders(project: Path) -> None:
    """Folders in folders, deeper than a path may be long."""
    folder = os.open(project, os.O_RDONLY)
    for name in ["plans", *["d" * 30] * 200]:
        os.mkdir(name, dir_fd=folder)
        inner = os.open(name, os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = inner
    os.close(folder)


def huge_files(project: Path) -> None:
    """Files that do not fit into memory."""
    for name in (
        "logs.json",
        "checkpoint-x.json",
        f"tool-outputs/session-{FIRST_ID}/x.txt",
        "shell-1.output",
    ):
        os.truncate(put(project, name, "["), HUGE)
    os.truncate(put(project, f"{FIRST_ID}/plans/huge.md"), HUGE)


def wrong_kinds(project: Path) -> None:
    """Folders in the place of files and files in the place of folders."""
    for name in ("logs.json", "checkpoint-x.json", "shell_history"):
        (project / name).mkdir()
    for name in ("tool-outputs", "plans", "memory", "images", FIRST_ID):
        put(project, name)
    put(project.parent, "a-file")
    put(project.parent.parent, "history")


HOSTILE: tuple[Callable[[Path], None], ...] = (
    link_everywhere,
    odd_names,
    deep_folders,
    huge_files,
    wrong_kinds,
)


@pytest.fixture
def limited() -> Iterator[None]:
    """Memory for no more than what a home may take, so that a huge file that is read whole is noticed."""
    with bounded(4 * HUGE // 5):
        yield


@pytest.mark.usefixtures("limited")
@pytest.mark.parametrize("hostile", HOSTILE, ids=lambda hostile: hostile.__name__)
def test_hostile_companions_are_no_obstacle(
    geminids: Run, tmp_path: Path, hostile: Callable[[Path], None]
) -> None:
    hostile(write_session(tmp_path).parent.parent)
    for command in (
        ["list"],
        ["list", "--json"],
        ["show", FIRST_ID, "--all"],
        ["doctor"],
        ["doctor", "--json"],
        [],
    ):
        started = time.process_time()
        outcome: Outcome = geminids(*command, "--home", tmp_path)
        assert outcome.code == 0, (command, outcome.err)
        assert "\x1b]" not in outcome.out
        # Only doctor reads everything, and there are gigabytes of it.
        assert time.process_time() - started < (60 if "doctor" in command else 10), command
    listed = json.loads(geminids("list", "--home", tmp_path, "--json").out)["sessions"]
    assert FIRST_ID in [session["native_id"] for session in listed]


def test_links_are_named_and_not_followed(tmp_path: Path) -> None:
    link_everywhere(write_session(tmp_path).parent.parent)
    found = scan(tmp_path)
    assert found.problems == ()
    reasons = [file.reason for file in found.skipped]
    assert (reasons.count(LINK), reasons.count(NO_FILE)) == (11, 2)
    assert sum(len(bundle.files) for bundle in found.bundles) == 1


def test_folders_that_are_nested_too_deep_are_one_thing(tmp_path: Path) -> None:
    deep_folders(write_session(tmp_path).parent.parent)
    assert [file.reason for file in scan(tmp_path).skipped] == [TOO_DEEP]


@pytest.mark.parametrize("closed", ["plans", "memory/x", "tool-outputs", f"{FIRST_ID}/tracker", "images"])
def test_a_closed_folder_beside_sessions_makes_a_command_partial(
    geminids: Run, tmp_path: Path, without_privileges: Rights, closed: str
) -> None:
    folder = write_session(tmp_path).parent.parent / closed
    folder.mkdir(parents=True)
    for name in ("list", "doctor"):
        # Who has no privileges may not even load the modules.
        geminids(name, "--home", tmp_path)
    folder.chmod(0)
    with without_privileges():
        outcomes = [geminids(name, "--home", tmp_path) for name in ("list", "doctor")]
    folder.chmod(0o755)
    assert [outcome.code for outcome in outcomes] == [3, 3]
    assert "Fix the login redirect" in outcomes[0].out


def test_a_closed_folder_of_the_home_that_holds_no_sessions_does_not(
    geminids: Run, tmp_path: Path, without_privileges: Rights
) -> None:
    write_session(tmp_path)
    for name in ("list", "doctor"):
        geminids(name, "--home", tmp_path)
    closed = [tmp_path / ".gemini" / name for name in ("history", "extensions")]
    for folder in closed:
        folder.mkdir()
        folder.chmod(0)
    secret = put(tmp_path, ".gemini/oauth_creds.json")
    secret.chmod(0)
    with without_privileges():
        outcomes = [geminids(name, "--home", tmp_path) for name in ("list", "doctor")]
    for folder in closed:
        folder.chmod(0o755)
    assert [outcome.code for outcome in outcomes] == [0, 0]


def processor_seconds(run: Callable[[], object]) -> float:
    """What a command takes of the processor, however busy that is with other things."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


AT_MOST = 2.0
"""Times the time of a list without them: to look at their names takes a third of a second."""


@pytest.mark.slow
@pytest.mark.usefixtures("without_copies")
def test_many_companions_do_not_slow_a_list_down(
    tmp_path: Path,
    record_property: RecordProperty,
    command: Callable[..., subprocess.CompletedProcess[bytes]],
) -> None:
    for number in range(2000):
        write_session(tmp_path / "plain", f"{number:08x}-0000-4000-8000-000000000000", answer="word " * 4000)
    shutil.copytree(tmp_path / "plain", tmp_path / "full")
    (project,) = (tmp_path / "full").glob(".gemini/tmp/*")
    outputs = project / "tool-outputs" / "session-00000000-0000-4000-8000-000000000000"
    outputs.mkdir(parents=True)
    for number in range(20_000):
        (outputs / f"run_shell_command_{number}.txt").touch()

    def seconds(home: Path) -> float:
        """The time of a first list, which reads everything."""
        return processor_seconds(
            lambda: command("list", "--home", home, "--data", tempfile.mkdtemp(dir=tmp_path))
        )

    plain = full = math.inf
    for _ in range(15):
        full, plain = min(full, seconds(tmp_path / "full")), min(plain, seconds(tmp_path / "plain"))
        if full <= AT_MOST * plain:
            break
    record_property("counts", f"list beside 20,000 outputs: {full:.2f} s, without them {plain:.2f} s")
    assert full <= AT_MOST * plain


@pytest.mark.parametrize(
    "name",
    [
        "shell_history",
        "logs.json",
        "logs.json.invalid_json.1.bak",
        "checkpoint-x.json",
        "checkpoints/2026-05-01T10-00-00_000Z-a.txt-write_file.json",
        "bug-report-history-1.json",
        f"logs/session-{FIRST_ID}.jsonl",
        f"tool-outputs/session-{FIRST_ID}/shell_1.txt",
        "tool_output/shell_1.txt",
        "shell_1.output",
        f"{FIRST_ID}/plans/plan.md",
        f"{FIRST_ID}/tracker/0a1b2c.json",
        "plans/plan.md",
        "memory/MEMORY.md",
        "images/clipboard-1.png",
    ],
)
def test_every_kind_of_companion_is_accounted_for_when_it_is_the_only_one(
    geminids: Run, tmp_path: Path, name: str
) -> None:
    file = put(write_session(tmp_path).parent.parent, name, "ls\npwd")
    files = json.loads(geminids("doctor", "--home", tmp_path, "--json").out)["files"]
    assert [account["size"] for account in files if account["path"] == str(file)] == [6]
