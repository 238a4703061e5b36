"""The real command: the protocol on stdout and nothing else, whatever comes in, and a quick end."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from mcp import Client

from tests.support.homes import FIRST_ID, write_session
from tests.support.mcp_clients import RUN, run_with_sdk, text_of
from tests.support.processes import kept_running

HELLO = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "a-client", "version": "1"},
    },
}
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}


@pytest.fixture
def where(tmp_path: Path) -> list[str]:
    write_session(tmp_path / "home", prompt="plant the harvest")
    return ["--home", str(tmp_path / "home"), "--data", str(tmp_path / "data")]


@contextmanager
def started(where: Sequence[str]) -> Iterator[subprocess.Popen[str]]:
    pipe = subprocess.PIPE
    process = subprocess.Popen([*RUN, *where], stdin=pipe, stdout=pipe, stderr=pipe, text=True)
    with kept_running(process):
        yield process


def say(process: subprocess.Popen[str], *messages: dict[str, Any] | str) -> None:
    assert process.stdin is not None
    for message in messages:
        process.stdin.write((message if isinstance(message, str) else json.dumps(message)) + "\n")
    process.stdin.flush()


def call(number: int, name: str, arguments: Any) -> dict[str, Any]:
    return {
        "jsonrpc": "2.0",
        "id": number,
        "method": "tools/call",
        "params": {"name": name, "arguments": arguments},
    }


def spoken(process: subprocess.Popen[str], *messages: dict[str, Any] | str) -> tuple[dict[Any, Any], str]:
    """All answers by their numbers after the client has gone, and what stands on stderr."""
    wanted = {one["id"] for one in messages if isinstance(one, dict) and "id" in one}
    say(process, *messages)
    answers: dict[Any, Any] = {}
    assert process.stdout is not None
    while not wanted <= answers.keys():
        line = process.stdout.readline()
        assert line, "the server has ended"
        answer = json.loads(line)
        assert answer["jsonrpc"] == "2.0"
        answers[answer.get("id")] = answer
    rest, errors = process.communicate(timeout=20)
    assert [json.loads(line)["jsonrpc"] for line in rest.splitlines()] == ["2.0"] * len(rest.splitlines())
    assert process.returncode == 0
    return answers, errors


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_the_client_of_the_sdk_speaks_with_the_command(where: list[str], mode: str) -> None:
    async def talk(client: Client) -> tuple[Any, Any, Any]:
        tools = await client.list_tools()
        found = await client.call_tool("search_history", {"query": "harvest"})
        prompts = await client.list_prompts()
        return tools.tools, found, prompts.prompts

    tools, found, prompts = run_with_sdk(talk, *where, mode=mode)
    assert len(tools) == 6
    assert f"gemini:{FIRST_ID}" in text_of(found)
    assert [prompt.name for prompt in prompts] == ["recall", "handover"]


def test_stdout_is_the_protocol_whatever_comes_in(where: list[str]) -> None:
    garbage: list[dict[str, Any] | str] = [
        "this is no JSON",
        "\x00\x1b[2J",
        "{",
        "[]",
        "null",
        '{"jsonrpc": "2.0"}',
        '{"jsonrpc": "1.0", "id": 99, "method": "ping"}',
        '{"jsonrpc": "2.0", "method": "notifications/unheard"}',
        "",
    ]
    questions = [
        call(1, "search_history", {"query": "harvest"}),
        call(2, "search_history", {"query": 7}),
        call(3, "search_history", None),
        call(4, "read_session", {"id": "x" * 1_000_000}),
        call(5, "nothing", {}),
        call(6, "search_history", {"query": "harvest", "more": {"deep": [[[[]]]]}}),
        {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"arguments": 1}},
        {"jsonrpc": "2.0", "id": 8, "method": "no/method"},
        {"jsonrpc": "2.0", "id": 9, "method": "resources/read", "params": {"uri": "geminids://session/%00"}},
        {
            "jsonrpc": "2.0",
            "id": 10,
            "method": "prompts/get",
            "params": {"name": "recall", "arguments": {"about": "é"}},
        },
    ]
    with started(where) as process:
        answers, errors = spoken(process, HELLO, READY, *garbage, *questions)
    assert answers[0]["result"]["serverInfo"]["name"] == "geminids"
    assert answers[1]["result"]["structuredContent"]["sessions"][0]["id"] == f"gemini:{FIRST_ID}"
    assert [answers[number]["result"]["isError"] for number in (2, 3, 4, 6)] == [True] * 4
    assert [answers[number]["error"]["code"] for number in (5, 7, 8, 9)] == [-32602, -32602, -32601, -32602]
    assert "result" in answers[10]
    assert "Traceback" not in errors
    assert "Traceback" not in json.dumps(answers)


@pytest.mark.parametrize(
    ("line", "asked", "code"),
    [
        ("this is no JSON", None, -32700),
        ('{"jsonrpc": "2.0", "id": 5, "method": "ping", "params": {"of": "\\ud800"}}', 5, -32700),
        ('{"jsonrpc": "2.0", "id": "\\ud800", "method": "ping"}', None, -32700),
        ('{"jsonrpc": "2.0", "id": 6, "method": "ping", "params": {"\\udfff": 1}}', 6, -32700),
        ("[" * 100_000, None, -32700),
        ("[]", None, -32600),
        ('{"jsonrpc": "2.0"}', None, -32600),
        ('{"jsonrpc": "1.0", "id": 7, "method": "ping"}', 7, -32600),
        ('{"jsonrpc": "2.0", "id": true, "method": "ping"}', None, -32600),
        ('{"jsonrpc": "2.0", "id": null, "method": "ping"}', None, -32600),
        ('{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}', None, -32600),
    ],
)
def test_what_cannot_be_read_is_answered(where: list[str], line: str, asked: object, code: int) -> None:
    with started(where) as process:
        say(process, HELLO, READY, line, {"jsonrpc": "2.0", "id": 99, "method": "ping"})
        assert process.stdout is not None
        answers = [json.loads(process.stdout.readline()) for _ in range(3)]
        process.communicate(timeout=20)
    refused = next(answer for answer in answers if "error" in answer)
    assert (refused["id"], refused["error"]["code"]) == (asked, code)
    assert sorted(answer["id"] for answer in answers if "result" in answer) == [0, 99]


def test_a_second_request_with_an_open_id_is_refused(where: list[str]) -> None:
    twice = [call(1, "search_history", {"query": "harvest"})] * 2
    with started(where) as process:
        say(process, HELLO, READY, *twice)
        assert process.stdout is not None
        hello, *answers = [json.loads(process.stdout.readline()) for _ in range(3)]
        # The id can be used again.
        say(process, twice[0])
        answers.append(json.loads(process.stdout.readline()))
        process.communicate(timeout=20)
    assert [answer["id"] for answer in (hello, *answers)] == [0, 1, 1, 1]
    assert [answer.get("error", {}).get("code") for answer in answers] == [-32600, None, None]
    assert "has no answer yet" in answers[0]["error"]["message"]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the memory of a process is looked up in /proc")
def test_a_client_that_does_not_read_costs_little_memory(where: list[str]) -> None:
    asked = [{"jsonrpc": "2.0", "id": number, "method": "tools/list"} for number in range(1, 801)]
    with started(where) as process:
        say(process, HELLO, READY)
        assert process.stdout is not None
        process.stdout.readline()
        before = megabytes(process.pid)
        writing = Thread(target=say, args=(process, *asked))
        writing.start()
        wait_until_idle(process.pid)
        taken = megabytes(process.pid) - before
        # Nothing is lost: they are answered once somebody reads.
        answered = {json.loads(process.stdout.readline())["id"] for _ in asked}
        writing.join()
        process.communicate(timeout=20)
    assert answered == {one["id"] for one in asked}
    assert taken < 45, f"{taken:.0f} MB"


def megabytes(pid: int) -> float:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096 / 1e6


def wait_until_idle(pid: int) -> None:
    """Wait until a process uses no processor any more."""

    def used() -> int:
        return sum(map(int, Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]))

    before = -1
    while (now := used()) != before:
        before = now
        time.sleep(1.5)


def test_a_call_that_is_cancelled_is_not_answered(where: list[str]) -> None:
    cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    questions = (call(1, "search_history", {"query": "harvest"}), cancelled, call(2, "list_sessions", {}))
    with started(where) as process:
        say(process, HELLO, READY, *questions)
        seen: list[Any] = []
        assert process.stdout is not None
        while 2 not in seen:
            seen.append(json.loads(process.stdout.readline()).get("id"))
        process.communicate(timeout=20)
    assert 1 not in seen


def test_the_server_ends_with_its_client(where: list[str]) -> None:
    with started(where) as process:
        spoken(process, HELLO)
    with started(where) as process:
        say(process, HELLO, READY, call(1, "search_history", {"query": "harvest", "size": 8000}))
        # While it works: all of it would take longer.
        process.communicate(timeout=20)
        assert process.returncode == 0


def test_the_server_ends_where_nobody_reads_what_it_says(where: list[str]) -> None:
    with started(where) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        say(process, HELLO)
        process.stdout.readline()
        process.stdout.close()
        say(process, READY, {"jsonrpc": "2.0", "id": 1, "method": "ping"})
        assert (process.wait(timeout=20), process.stderr.read()) == (0, "")


@pytest.mark.parametrize("closed", ["<&-", ">&-"])
def test_without_a_client_there_is_nothing_to_do(where: list[str], closed: str) -> None:
    line = f"{shlex.join([*RUN, *where])} {closed}"
    ended = subprocess.run(
        line, shell=True, input="", capture_output=True, text=True, check=False, timeout=20
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


def test_the_server_ends_where_its_client_is_killed(where: list[str], tmp_path: Path) -> None:
    script = (
        "import subprocess, sys, time\n"
        f"server = subprocess.Popen({[*RUN, *where]!r}, stdin=subprocess.PIPE, stdout=subprocess.PIPE)\n"
        f"server.stdin.write({json.dumps(HELLO).encode()!r} + b'\\n'); server.stdin.flush()\n"
        "server.stdout.readline(); print(server.pid, flush=True); time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as client:
        assert client.stdout is not None
        server = int(client.stdout.readline())
        client.kill()
    end = time.monotonic() + 10
    while is_running(server):
        assert time.monotonic() < end
        time.sleep(0.05)


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat").read_text() if Path(f"/proc/{pid}").exists() else ") Z"
    return state.rpartition(")")[2].split()[0] != "Z"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_without_a_word_on_stdout(where: list[str], number: signal.Signals) -> None:
    with started(where) as process:
        say(process, HELLO)
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(number)
        out, errors = process.communicate(timeout=20)
    assert out == ""
    assert "Traceback" not in errors
    assert process.returncode == 128 + number


def test_a_new_server_finds_what_is_new_at_once(where: list[str], tmp_path: Path) -> None:
    async def talk(client: Client) -> int:
        answer = await client.call_tool("list_sessions", {})
        return len(answer.structured_content["sessions"]) if answer.structured_content else 0

    assert run_with_sdk(talk, *where) == 1
    write_session(tmp_path / "home", "2f0c9a2b-0000-4000-8000-000000000002", prompt="later", day=2)
    assert run_with_sdk(talk, *where) == 2


def test_without_a_sync_the_index_is_used_as_it_is(where: list[str]) -> None:
    async def talk(client: Client) -> Any:
        return await client.call_tool("list_sessions", {})

    answer = run_with_sdk(talk, *where, "--no-sync")
    assert answer.is_error
    assert "no index" in text_of(answer).lower()


@pytest.mark.slow
def test_two_servers_and_a_browser_at_once(where: list[str], tmp_path: Path) -> None:
    from tests.support.web_apps import serving

    for number in range(60):
        write_session(tmp_path / "home", f"{number:08x}-0000-4000-8000-00000000000c", prompt="harvest", day=3)
    web = [sys.executable, "-m", "geminids", "web", "--no-open", *where]
    with started(where) as one, started(where) as other, serving(web) as page, page.client() as browser:
        for process in (one, other):
            say(process, HELLO, READY, call(1, "search_history", {"query": "harvest", "sessions": 20}))
        end = time.monotonic() + 30
        while (
            found := browser.get("/api/search", params={"q": "harvest", "limit": "100"})
        ).status_code != 200:
            assert time.monotonic() < end
            time.sleep(0.1)
        for process in (one, other):
            answers, errors = spoken(process, call(2, "list_sessions", {"sessions": 100}))
            assert answers[2]["result"]["structuredContent"]["total"] == 61
            assert errors == ""
        assert found.json()["total"] > 0


def test_on_a_machine_without_the_extra_it_says_what_adds_it(where: list[str], tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    missing.mkdir()
    (missing / "sitecustomize.py").write_text("import sys\nsys.modules['mcp'] = None\n")
    environment = {**os.environ, "PYTHONPATH": str(missing)}
    ran = subprocess.run(
        [*RUN, *where], check=False, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "The MCP server needs 'mcp'" in ran.stderr
    assert "Traceback" not in ran.stderr
