"""Regular expressions that people type: found as Python finds them, and in their time."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from geminids.core.errors import INTERRUPTED, NOTHING_FOUND, PARTLY_DONE, WRONG_USAGE, SlowPatternError
from geminids.faces.serving.libraries import READERS
from geminids.library import open_library
from geminids.query.search.question import Question
from geminids.query.usage.prices.overrides import read_overrides
from geminids.storage.text import pattern_trees, patterns
from geminids.storage.text.characters import without_case
from geminids.storage.text.pattern_worker import FLAGS, Span
from geminids.storage.text.patterns import Patterns, TooSlowError
from geminids.storage.text.places import find, has_substring, substring_places
from geminids.storage.text.words import Want, Way
from tests.support.examples import examples
from tests.support.homes import FIRST_ID, write_session
from tests.support.web_apps import RUN, Served, serving, wait_until

SLOW = (
    "a*a*a*a*a*b",
    "(.*a){12}b",
    "(?:a?){30}a{30}b",
    "(a{1,5}){1,50}b",
    r"\w*\w*\w*\w*z9",
    r"(a+)+\d",
    r"(a|aa)+\d",
    r"(\w+\s?)*!$",
    "(a|a)*b",
)
FOR_PYTHON_ALONE = (r"(a*)*\1b", "(?=(a+)+b)a", "(?<=a)(a|aa)+b", "(?>a*a*a*b)")
LONG = "a" * 600_000
ID = f"gemini:{FIRST_ID}"
ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="processes are looked for in /proc")


def as_python_finds_it(text: str, pattern: str) -> Iterator[Span]:
    """What all of them must find: slices of 8,192 characters, 1,024 of which are seen twice."""
    regex, end = re.compile(pattern, FLAGS), 0
    for start in range(0, max(len(text) - 1_024, 1), 7_168):
        stop = min(start + 8_192, len(text))
        begins_before = stop - 1_024 if stop < len(text) else len(text) + 1
        for found in regex.finditer(text, start, stop):
            if end <= found.start() < begins_before:
                yield found.span()
                end = found.end()


@pytest.fixture
def without_linear_engine(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(sys.modules, "re2", None)
    patterns._by_linear_engine.cache_clear()
    yield
    patterns._by_linear_engine.cache_clear()


@pytest.fixture
def nothing_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is looked for is not looked for in this process by Python."""
    monkeypatch.setattr(patterns, "QUICK", -1)


# The same places


ATOMS = st.sampled_from(
    [
        *("a", "b", "k", "s", "i", "é", "İ", "ſ", "中", " ", r"\n", r"\.", "ab", "[a-c]", "[^a]", "[k-s_]"),
        *(r"\d", r"\w", r"\s", r"\D", r"\W", r"\S", ".", r"[^\W\d]", r"[\s-]", r"[^\x00-\x7f]", "[一-龥]"),
        *("^", "$", r"\b", r"\B", r"\A", r"\Z", "(?-i:a)", "(?s:.)", "(?a:\\w)", "(?=a)", "(?<!b)", "(?>a*)"),
    ]
)
REPEATS = st.sampled_from(["*", "+", "?", "{2}", "{1,3}", "{0,2}", "{2,}", "*?", "+?", "??", "*+"])


def _compound(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.lists(inner, min_size=2, max_size=4).map("".join),
        st.lists(inner, min_size=2, max_size=3).map(lambda all_of_them: f"({'|'.join(all_of_them)})"),
        st.tuples(inner, REPEATS).map(lambda both: f"(?:{both[0]}){both[1]}"),
    )


PATTERNS = st.recursive(ATOMS, _compound, max_leaves=8)
TEXTS = st.text("aabbcAkKsSiIéÉİıſK中٣ \n_1.-\x1c\x85\v\ud83d", max_size=24)


def _is_pattern(pattern: str) -> bool:
    try:
        pattern_trees.check(pattern)
    except (re.error, OverflowError):
        return False
    return True


@settings(max_examples=examples(400), deadline=None)
@given(PATTERNS.filter(_is_pattern), TEXTS)
@example("(?:a?){2}b", "aab")
@example(r"\w+", "aſ中é1")
@example("x*", "")
def test_linear_engine_finds_what_python_finds(pattern: str, text: str) -> None:
    pytest.importorskip("re2")
    regex = re.compile(pattern, FLAGS)
    for only_first in (True, False):
        find = patterns._find_here(pattern, text, only_first=only_first) if _is_encodable(text) else None
        find = find and patterns._by_linear_engine(pattern, is_ascii=text.isascii(), only_first=only_first)
        for start, stop in ((0, len(text)), (len(text) // 3, max(len(text) - 2, len(text) // 3))):
            expected = [found.span() for found in regex.finditer(text, start, stop)]
            if find is None:
                continue
            if only_first:
                first = next(iter(find(text, start, stop)), None)
                assert (first and first[0]) == (expected[0][0] if expected else None)
            else:
                assert list(find(text, start, stop)) == expected


def _is_encodable(text: str) -> bool:
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


@pytest.mark.slow
@settings(max_examples=examples(25), deadline=None)
@given(st.lists(st.tuples(PATTERNS.filter(_is_pattern), TEXTS), min_size=4, max_size=16))
def test_however_it_is_looked_for_the_same_is_found(asked: list[tuple[str, str]]) -> None:
    with Patterns() as by_worker, Patterns() as by_any:
        for pattern, text in asked:
            expected = list(as_python_finds_it(text, pattern))
            question = (pattern, text, 500, True, 5.0)
            assert by_worker._found_by_worker(question).places == expected[:500]
            assert by_any.is_in(text, pattern) == bool(expected)
            assert by_any.places(text, pattern, 500) == [place for place in expected if place[0] < place[1]]


@pytest.mark.parametrize("pattern", [r"\w+", r"\W+", r"\d+", r"\s+", "[a-z]", "[^a-z]+", "i|k|s", r"[\s\d]+"])
def test_linear_engine_takes_every_character_as_python_does(pattern: str) -> None:
    pytest.importorskip("re2")
    regex = re.compile(pattern, FLAGS)
    everything = "".join(map(chr, [*range(0xD800), *range(0xE000, 0x110000)]))
    for text in (everything, everything[:128]):
        find = patterns._by_linear_engine(pattern, is_ascii=text.isascii(), only_first=False)
        assert find is not None
        assert list(find(text, 0, len(text))) == [found.span() for found in regex.finditer(text)]


@pytest.mark.usefixtures("nothing_here")
@pytest.mark.parametrize("engine", ["linear", "worker"])
def test_it_is_tried_on_all_of_a_long_text(request: pytest.FixtureRequest, engine: str) -> None:
    if engine == "worker":
        request.getfixturevalue("without_linear_engine")
    text = "x" * 100_000 + "needle" + "y" * 50_000
    with Patterns(60) as looking:
        assert looking.places(text, "need[l]e", 9) == [(100_000, 100_006)]
        assert looking.places(text, "needle[^z]*", 9)[0][0] == 100_000
        for start in (7_000, 7_163, 7_168, 8_190, 8_192):
            found = looking.places("x" * start + "needle" + "y" * 9_000, "needle", 9)
            assert found == [(start, start + 6)]
        assert looking.places("ab " * 9_000, r"\bab\b", 7) == [(3 * n, 3 * n + 2) for n in range(7)]


# Within a time


@pytest.mark.parametrize("pattern", [*SLOW, *FOR_PYTHON_ALONE])
def test_without_linear_engine_it_ends_when_its_time_is_over(
    without_linear_engine: None, pattern: str
) -> None:
    began = time.monotonic()
    with Patterns(0.3) as looking:
        with pytest.raises(TooSlowError):
            looking.is_in(LONG, pattern)
        assert looking.is_spent
        with pytest.raises(TooSlowError):
            looking.is_in("b", pattern)
    assert time.monotonic() - began < 3


@pytest.mark.parametrize("pattern", SLOW)
def test_with_linear_engine_it_is_answered(pattern: str) -> None:
    pytest.importorskip("re2")
    with Patterns() as looking:
        assert not looking.is_in(LONG, pattern)
        assert not looking.is_in("é" + LONG, pattern)


@pytest.mark.slow
def test_what_was_found_before_the_time_is_over_counts(without_linear_engine: None) -> None:
    with Patterns(1.0) as looking:
        assert looking.places("aab " + LONG, "a*a*a*a*b", 9) == [(0, 3)]


@pytest.mark.parametrize(
    "pattern", [r"time ?out", r"foo.*bar", r"https?:\/\/\S+", r"\bTS\d{4}\b", "(get|put)[A-Z]", r"^def \w+\("]
)
def test_usual_ones_start_no_process(without_linear_engine: None, pattern: str) -> None:
    text = "def foo(bar): return get('http://localhost/', timeout=3)  # see also TS2345\n" * 2_000
    with Patterns() as looking:
        assert looking.is_in(text, pattern) == (re.search(pattern, text, FLAGS) is not None)
        assert looking._worker is None


def test_a_process_is_used_again_and_ended(without_linear_engine: None, nothing_here: None) -> None:
    with Patterns() as looking:
        assert looking.is_in("xxb", "x*b")
        worker = looking._worker
        assert worker is not None
        assert not looking.is_in("xxc", "x*b")
        assert looking._worker is worker
    assert worker._process.returncode is not None


def test_one_that_is_too_large_to_compile_is_refused_at_once() -> None:
    began = time.monotonic()
    with pytest.raises(OverflowError):
        pattern_trees.check("[\0-\uffff]" * 1_000)
    assert time.monotonic() - began < 2


# Searching


@pytest.fixture
def home(tmp_path: Path) -> Path:
    write_session(tmp_path / "home", prompt=LONG, answer="All of it is the letter a.")
    write_session(tmp_path / "home", FIRST_ID[:-1] + "2", day=2, prompt="aaab")
    return tmp_path / "home"


@pytest.fixture
def bare(tmp_path: Path) -> Mapping[str, str]:
    """What makes a process believe that there is no linear engine."""
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "re2.py").write_text("raise ModuleNotFoundError('No module', name='re2')\n")
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(hidden), *filter(None, sys.path)])}


def run(
    tmp_path: Path, environment: Mapping[str, str], *arguments: str
) -> tuple[subprocess.CompletedProcess[str], float]:
    began = time.monotonic()
    line = [sys.executable, "-m", "geminids", *arguments]
    where = ["--home", str(tmp_path / "home"), "--data", str(tmp_path / "data")]
    done = subprocess.run(
        [*line, *where], capture_output=True, text=True, check=False, timeout=60, env=environment
    )
    return done, time.monotonic() - began


@pytest.mark.slow
def test_search_says_what_it_did_not_search(home: Path, tmp_path: Path, bare: Mapping[str, str]) -> None:
    done, seconds = run(tmp_path, bare, "search", "/a*a*a*a*a*[bc]/")
    assert done.returncode == PARTLY_DONE
    assert f"Not searched: 1 message in which the regular expression takes too long: {ID} #1." in done.stderr
    assert FIRST_ID[:-1] + "2" in done.stdout
    assert seconds < 15
    done, _ = run(tmp_path, bare, "search", "/a*a*a*a*a*[bc]/", "--json")
    assert done.returncode == PARTLY_DONE
    document = json.loads(done.stdout)
    assert document["unsearched"] == [{"session_id": ID, "messages": [1]}]
    assert not document["total"]["is_exact"]
    assert [hit["snippet"]["text"] for hit in document["hits"]] == ["aaab"]


def test_where_letters_are_missing_that_it_needs_it_is_not_looked_for(
    home: Path, tmp_path: Path, without_linear_engine: None
) -> None:
    with open_library([str(home)], str(tmp_path / "data")) as library:
        found = library.search("/a*a*a*a*a*b/")
    assert (len(found.sessions), found.unsearched, found.total.is_exact) == (1, [], True)


def test_with_linear_engine_search_leaves_nothing_out(home: Path, tmp_path: Path) -> None:
    pytest.importorskip("re2")
    done, _ = run(tmp_path, os.environ, "search", "/a*a*a*a*a*[bc]/", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    document = json.loads(done.stdout)
    assert document["unsearched"] == []
    assert document["total"]["is_exact"]


@pytest.mark.slow
def test_whoever_needs_all_that_is_found_is_refused(
    home: Path, tmp_path: Path, bare: Mapping[str, str]
) -> None:
    for command in (
        ["export", "--query", "/a*a*a*a*a*[bc]/", "-o", str(tmp_path / "out") + "/"],
        ["stats", "/a*a*a*a*a*[bc]/"],
    ):
        done, seconds = run(tmp_path, bare, *command)
        assert (done.returncode, done.stdout) == (WRONG_USAGE, ""), done.stderr
        assert f"takes too long in a message of {ID}" in done.stderr
        assert seconds < 15
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_a_library_says_it_too(home: Path, tmp_path: Path, without_linear_engine: None) -> None:
    with open_library([str(home)], str(tmp_path / "data")) as library:
        found = library.search(Question("agent:gemini -/a*a*a*a*a*[bc]/", per_session=0))
        assert [(one.session, one.messages) for one in found.unsearched] == [(ID, (0,))]
        with pytest.raises(SlowPatternError):
            library.found_sessions("/a*a*a*a*a*[bc]/")


@pytest.mark.slow
def test_a_search_goes_on_after_its_time_where_it_stopped(
    tmp_path: Path, without_linear_engine: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patterns, "FOR_ONE_TEXT", 0.2)
    monkeypatch.setattr(patterns, "FOR_ALL", 0.3)
    for number in range(1, 7):
        write_session(tmp_path / "home", f"{FIRST_ID[:-1]}{number}", day=number, prompt=LONG[:50_000])
    with open_library([str(tmp_path / "home")], str(tmp_path / "data")) as library:
        question, unsearched, pages = Question("/a*a*a*a*a*[bc]/"), 0, 0
        while True:
            found = library.search(question)
            unsearched += len(found.unsearched)
            pages += 1
            if found.next is None:
                break
            assert found.stopped is not None
            question = question._replace(after=found.next)
    assert unsearched == 6
    assert pages > 2


# Processes


def children(pid: int) -> list[int]:
    """The processes that a process has started, from whichever thread."""
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        return [int(one) for task in tasks for one in (task / "children").read_text().split()]
    except (FileNotFoundError, ProcessLookupError):
        return []


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def has_ended(pid: int) -> bool:
    return not is_running(pid)


def _busy_child(pid: int) -> int:
    """The process that matches, once it is at it: then it is to be told when its pipe ends."""
    wait_until(lambda: any(map(is_at_work, children(pid))), "a process that is at work")
    (child,) = children(pid)
    return child


def is_at_work(pid: int) -> bool:
    try:
        _, _, flags = Path(f"/proc/{pid}/fdinfo/0").read_text().partition("flags:")
    except (FileNotFoundError, ProcessLookupError):
        return False
    return bool(int(flags.split()[0], 8) & os.O_ASYNC)


@pytest.mark.slow
@ON_LINUX
@pytest.mark.parametrize(
    ("how", "code"),
    [(signal.SIGINT, INTERRUPTED), (signal.SIGTERM, 128 + signal.SIGTERM), (signal.SIGKILL, -signal.SIGKILL)],
)
def test_ending_a_search_ends_its_process(
    home: Path, tmp_path: Path, bare: Mapping[str, str], how: signal.Signals, code: int
) -> None:
    run(tmp_path, bare, "sync")
    line = [sys.executable, "-m", "geminids", "search", "/a*a*a*a*a*[bc]/", "--no-sync"]
    where = ["--home", str(home), "--data", str(tmp_path / "data")]
    pipe = subprocess.PIPE
    took: list[float] = []
    # A machine that is busy may take its time once; one that waits for the text does so always.
    while not took or (took[-1] >= 1.4 and len(took) < 4):
        with subprocess.Popen([*line, *where], stdout=pipe, stderr=pipe, text=True, env=bare) as search:
            worker = _busy_child(search.pid)
            began = time.monotonic()
            search.send_signal(how)
            out, said = search.communicate(timeout=30)
            took.append(time.monotonic() - began)
        assert (out, said) == ("", "")
        assert search.returncode == code
        wait_until(partial(has_ended, worker), "the end of the process", 5)
    assert took[-1] < 1.4, f"it does not wait for the time of the text to be over: {took}"


# The web app


@pytest.fixture
def server(home: Path, tmp_path: Path, bare: Mapping[str, str]) -> Iterator[Served]:
    line = [*RUN, "--no-open", "--home", str(home), "--data", str(tmp_path / "data")]
    with serving(line, bare) as server:
        with server.client() as client:
            wait_until(lambda: client.get("/api/sessions").status_code == 200, "the first index")
        yield server


def _ask_slowly(server: Served, number: int) -> dict[str, object]:
    with server.client() as client:
        answer = client.get("/api/search", params={"q": f"/a*a*a*a*a*[bc{number}]/"})
        return {"status": answer.status_code, **answer.json()}


@pytest.mark.slow
def test_others_are_answered_while_it_searches(server: Served) -> None:
    """More of them than there are threads for all answers."""
    with ThreadPoolExecutor(READERS + 2) as pool, server.client() as client:
        asked = [pool.submit(_ask_slowly, server, number) for number in range(READERS + 2)]
        slowest, times = 0.0, 0
        while not all(one.done() for one in asked):
            began = time.monotonic()
            assert client.get("/healthz").text == "ok\n"
            assert client.get("/api/session/outline", params={"id": ID}).status_code == 200
            slowest, times = max(slowest, time.monotonic() - began), times + 1
            time.sleep(0.02)
        assert client.get("/api/sessions").status_code == 200
    assert slowest < 1
    assert times > 10
    for one in asked:
        assert one.result()["status"] == 200
        assert one.result()["unsearched"] == [{"id": ID, "messages": [1]}]
    with server.client() as client:
        refused = client.get("/api/sessions", params={"q": "/a*a*a*a*a*[bc]/"})
    assert refused.status_code == 400
    assert "takes too long" in refused.json()["detail"]


@pytest.mark.slow
@ON_LINUX
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_the_server_ends_at_once_while_it_searches(server: Served, how: signal.Signals) -> None:
    with ThreadPoolExecutor(3) as pool:
        for number in range(3):
            pool.submit(_ask_slowly, server, number)
        workers: set[int] = set()

        def are_three() -> bool:
            workers.update(filter(is_at_work, children(server.process.pid)))
            return len(workers) == 3

        wait_until(are_three, "processes that search")
        began = time.monotonic()
        server.process.send_signal(how)
        server.process.wait(30)
        seconds = time.monotonic() - began
        assert seconds < 4, "it takes half a second where nobody else is at work"
        wait_until(lambda: not any(map(is_running, workers)), "the end of the processes", 1)
    codes = {signal.SIGTERM: 0, signal.SIGINT: INTERRUPTED, signal.SIGKILL: -signal.SIGKILL}
    assert server.process.returncode == codes[how]


def _listens(server: Served) -> Callable[[], object]:
    client = server.client()
    stream = client.stream("GET", "/api/events")
    assert next(stream.__enter__().iter_lines()) == "retry: 1000"
    return client.close


def _sends_half_a_request(server: Served) -> Callable[[], object]:
    host, _, port = server.base.removeprefix("http://").partition(":")
    connections = [socket.create_connection((host, int(port))) for _ in range(20)]
    for number, connection in enumerate(connections):
        connection.sendall(b"GET /api/search?q=x HTTP/1.1\r\nHost: x\r\n" if number % 2 else b"GE")

    def let_go() -> None:
        for connection in connections:
            connection.close()

    return let_go


def _takes_nothing(server: Served) -> Callable[[], object]:
    """Asks for a large export and reads none of it."""
    host, _, port = server.base.removeprefix("http://").partition(":")
    connection = socket.create_connection((host, int(port)))
    path = f"/api/session/export?id={ID}&format=html"
    headers = f"Host: {host}:{port}\r\nx-geminids-token: {server.token}\r\n"
    connection.sendall(f"GET {path} HTTP/1.1\r\n{headers}\r\n".encode())
    time.sleep(0.3)
    return connection.close


@pytest.mark.slow
@pytest.mark.parametrize("keeps", [_listens, _sends_half_a_request, _takes_nothing])
def test_the_server_ends_at_once_whoever_keeps_it(
    server: Served, keeps: Callable[[Served], Callable[[], object]]
) -> None:
    let_go = keeps(server)
    began = time.monotonic()
    server.process.terminate()
    server.process.wait(30)
    seconds = time.monotonic() - began
    let_go()
    assert server.process.returncode == 0
    assert seconds < 4, "it takes half a second, or one where somebody keeps it, if nobody else is at work"


def test_nothing_is_found_by_a_quick_one_as_before(home: Path, tmp_path: Path) -> None:
    done, _ = run(tmp_path, os.environ, "search", "/time ?out/")
    assert done.returncode == NOTHING_FOUND


# Words, substrings and names, which are looked for in similar ways


def test_letters_are_the_same_as_they_are_to_python() -> None:
    letters = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    cased = [one for one in letters if one.lower() != one or one.upper() != one]
    alike: dict[str, str] = {}
    for one in cased:
        alike[without_case(one)] = alike.get(without_case(one), "") + one
    everything = "".join(cased)
    assert len(cased) > 2_000
    for group in alike.values():
        same = re.compile(f"[{re.escape(group[0])}]", re.IGNORECASE).findall(everything)
        assert sorted(same) == sorted(group)
    assert len(without_case(everything)) == len(everything)


@given(st.text("aAbéÉsSſİıiIΣσς", max_size=12), st.text("aAbéÉsSſİıiIΣσς", min_size=1, max_size=3))
def test_substrings_stand_where_python_finds_them(text: str, wanted: str) -> None:
    expected = [found.span() for found in re.finditer(re.escape(wanted), text, re.IGNORECASE)]
    assert list(substring_places(text, wanted)) == expected
    assert has_substring(text, wanted) == bool(expected)


@pytest.mark.parametrize("end", ["b", "é"])
def test_a_long_substring_takes_no_longer_than_the_text(end: str) -> None:
    began = time.process_time()
    wanted = "a" * 9_000 + end
    assert list(substring_places(LONG + wanted + LONG, wanted)) == [(600_000, 609_001)]
    assert not has_substring(LONG + "ü", wanted)
    assert time.process_time() - began < 2


@pytest.mark.slow
def test_a_long_phrase_is_given_up_and_lets_others_run() -> None:
    phrase = "a " * 499 + "b"
    began = time.monotonic()
    find("a " * 1_000_000 + "b", [Want(phrase, Way.PHRASE)])
    assert time.monotonic() - began < 10
    near = find("x " * 30_000 + "a b c " + "y " * 30_000 + "a b c", [Want("a b c", Way.PHRASE)])
    assert [(one.start, one.end) for one in near] == [(60_000, 60_005), (120_006, 120_011)]


def test_a_name_with_many_stars_fits_or_not_at_once() -> None:
    prices = {"input": 1, "output": 1}
    found = read_overrides("x", {"a*" * 20 + "b": prices}).find(None, "a" * 5_000)
    assert found is None
    overrides = read_overrides("x", {"*Pro*2*": prices, "a*b": prices})
    assert [bool(overrides.find(None, name)) for name in ("x-pro-12", "a-b", "AB", "pro-3", "a-bc")] == [
        *(True, True, True),
        *(False, False),
    ]
