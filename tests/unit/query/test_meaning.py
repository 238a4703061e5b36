"""Search by meaning: what is compared, what is remembered of it, and how well it answers."""

from __future__ import annotations

import os
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from geminids.core.errors import GeminidsError, MeaningOptionError
from geminids.library import Library
from geminids.query.meaning.embedding import MODEL, SIZE, Embedding, MeaningNotInstalledError
from geminids.query.meaning.passages import LONGEST, MOST_PROMPTS, passages
from geminids.query.search.question import Question
from geminids.storage.index.vectors import VectorFile, VectorsInUseError
from tests.conftest import NOW, Run
from tests.support.documents import check_printed
from tests.support.homes import write_session
from tests.support.indexes import Connected
from tests.support.questions import by_meaning, measured, write_home
from tests.support.startup import loaded_by

np = pytest.importorskip("numpy", reason="the extra `meaning` is not installed")
pytest.importorskip("tokenizers", reason="the extra `meaning` is not installed")

UPLOAD = "1a0c9a2b-0000-4000-8000-000000000001"
DIAGRAM = "2b0c9a2b-0000-4000-8000-000000000002"
BREAD = "3c0c9a2b-0000-4000-8000-000000000003"
SESSIONS = {
    UPLOAD: ("shop", "The bucket answers 403 Forbidden since the release", "The role may write to it again."),
    DIAGRAM: ("blog", "Draw a chart of visitors per month", "The page has a bar chart now."),
    BREAD: ("recipes", "Make the rye bread recipe serve four people", "All amounts are doubled."),
}
MEANT = {
    "permission denied when storing files": UPLOAD,
    "a graph of how many people came": DIAGRAM,
    "baking for a family": BREAD,
}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Three sessions about different things."""
    for day, (native_id, (slug, prompt, answer)) in enumerate(SESSIONS.items(), start=1):
        write_session(tmp_path / "home", native_id, slug=slug, day=day, prompt=prompt, answer=answer)
    return tmp_path / "home"


@pytest.fixture
def library(home: Path, tmp_path: Path) -> Iterator[Library]:
    """Open over these."""
    with Library([home], tmp_path / "data") as opened:
        yield opened


def vectors(data: Path) -> Path:
    (file,) = (data / "index").glob("*.meaning.db")
    return file


def found(library: Library, text: str, question: str = "") -> list[str]:
    return [hits.session.native_id for hits in library.like(text, question, NOW).sessions]


@pytest.mark.parametrize("text", MEANT)
def test_sessions_are_found_without_any_of_their_words(library: Library, text: str) -> None:
    answer = library.like(text, now=NOW)
    assert answer.sessions[0].session.native_id == MEANT[text]
    assert len(answer.sessions) == len(SESSIONS)
    scores = [hits.hits[0].score for hits in answer.sessions]
    assert scores == sorted(scores, reverse=True)
    assert all(hits.hits[0].snippet for hits in answer.sessions)


def test_what_is_no_whole_text_is_asked_all_the_same(library: Library) -> None:
    assert len(found(library, "caf\udce9 login")) == len(SESSIONS)
    assert len(found(library, "\ud83c")) == len(SESSIONS)


def test_what_only_texts_can_tell_does_not_narrow_it(library: Library) -> None:
    for words in ("*read*", "/num.er5/"):
        with pytest.raises(MeaningOptionError, match="cannot be combined with --like"):
            found(library, "bread", words)


def test_words_and_options_say_among_which(library: Library) -> None:
    text = next(iter(MEANT))
    assert found(library, text, "bread") == [BREAD]
    assert set(found(library, text, "chart OR bread")) == {BREAD, DIAGRAM}
    assert found(library, text, "nothinghasthis") == []
    narrowed = library.like(text, Question("", project="blog"), NOW)
    assert [hits.session.native_id for hits in narrowed.sessions] == [DIAGRAM]


def test_what_is_new_changed_or_gone_is_brought_up_to_date(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GEMINIDS_KEEP", "0")
    data, text = tmp_path / "data", "baking for a family"
    told: list[tuple[int, int]] = []
    with Library([home], data) as library:
        library.like(text, now=NOW, progress=lambda done, total: told.append((done, total)))
    assert told[-1][1] == len(SESSIONS)
    new = write_session(
        home, "4d0c9a2b-0000-4000-8000-000000000004", day=9, prompt="Bake a cake for the family"
    )
    told.clear()
    with Library([home], data) as library:
        progress = lambda done, total: told.append((done, total))  # noqa: E731
        assert library.like(text, now=NOW, progress=progress).sessions[0].session.native_id[:2] == "4d"
        assert told[-1][1] == 1
    new.unlink()
    with Library([home], data) as library:
        assert "4d0c9a2b-0000-4000-8000-000000000004" not in found(library, text)
    with VectorFile(str(vectors(data)), MODEL) as file:
        assert len(file.stamps()) == len(SESSIONS)


def test_what_was_read_before_ctrl_c_is_not_read_again(library: Library, tmp_path: Path) -> None:
    def interrupted(done: int, _: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        library.like("bread", now=NOW, progress=interrupted)
    with VectorFile(str(vectors(tmp_path / "data")), MODEL) as file:
        assert len(file.stamps()) == 2
    told: list[tuple[int, int]] = []
    library.like("bread", now=NOW, progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 1)]


@pytest.mark.slow
def test_ctrl_c_ends_the_first_search_at_once_and_the_next_one_goes_on(tmp_path: Path) -> None:
    home, data = tmp_path / "home", tmp_path / "data"
    many = 600
    for number in range(many):
        write_session(
            home, f"{number:08}-a", day=1 + number % 28, prompt=f"Number {number}", answer="Yes " * 99
        )
    with Library([home], data) as library:
        library.sync()
    command = [
        sys.executable,
        "-m",
        "geminids",
        "search",
        "--like",
        "bread",
        "--home",
        str(home),
        "--data",
        str(data),
    ]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + 60
    while not (made := list(data.glob("index/*.meaning.db"))) or not _vectors_in(made[0]):
        assert child.poll() is None, "it was over before anybody could stop it"
        assert time.monotonic() < until
        time.sleep(0.01)
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=30)
    there = _vectors_in(made[0])
    assert (child.returncode, out, err) == (130, "", "")
    assert 0 < there < many
    told: list[tuple[int, int]] = []
    with Library([home], data) as library:
        library.like("bread", now=NOW, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (many - there, many - there)


def _vectors_in(path: Path) -> int:
    with Connected(path) as connection:
        try:
            return int(connection.execute("SELECT count(*) FROM sessions").fetchone()[0])
        except sqlite3.OperationalError:
            return 0  # its tables are being made


def test_a_sync_reads_what_is_new_for_the_next_search_once_somebody_has_searched_so(
    home: Path, tmp_path: Path, geminids: Run
) -> None:
    data = tmp_path / "data"
    where = ("--home", home, "--data", data)
    assert "Vectors" not in geminids("sync", *where).out
    assert not list(data.glob("index/*.meaning.db"))
    geminids("search", "--like", "bread", *where)
    write_session(home, "4d0c9a2b-0000-4000-8000-000000000004", day=9, prompt="Bake a cake for the family")
    outcome = geminids("sync", *where)
    assert outcome.out.endswith(" Updated the vectors of 1 session.\n")
    assert geminids("sync", *where).out == "Nothing is new.\n"
    told: list[tuple[int, int]] = []
    with Library([home], data) as library:
        progress = lambda done, total: told.append((done, total))  # noqa: E731
        found = library.like("baking for a family", now=NOW, progress=progress)
    assert not told
    assert found.sessions[0].session.native_id[:2] == "4d"
    write_session(home, "5d0c9a2b-0000-4000-8000-000000000005", day=10, prompt="Bake bread")
    document = check_printed(geminids("sync", "--json", *where).out, "geminids/sync/1")
    assert (document["bundles"], document["vectors"]) == (1, 1)


def test_a_sync_in_the_background_does_so_too(home: Path, tmp_path: Path, geminids: Run) -> None:
    data = tmp_path / "data"
    geminids("search", "--like", "bread", "--home", home, "--data", data)
    write_session(home, "4d0c9a2b-0000-4000-8000-000000000004", day=9, prompt="Bake a cake for the family")
    command = [sys.executable, "-m", "geminids.faces.background", "--home", str(home), "--data", str(data)]
    subprocess.run(command, check=True, timeout=60)
    assert (data / "hook.log").read_text().endswith(" Updated the vectors of 1 session.\n")


def test_a_sync_loads_no_model_where_nothing_is_new_or_nobody_has_searched_so(
    home: Path, tmp_path: Path, geminids: Run
) -> None:
    data = tmp_path / "data"
    heavy = {"numpy", "tokenizers", "safetensors"}
    where = ("--home", str(home), "--data", str(data))
    loaded_by("sync", *where)
    write_session(home, "4d0c9a2b-0000-4000-8000-000000000004", day=9, prompt="Bake a cake for the family")
    assert not loaded_by("sync", *where) & {*heavy, "geminids.query.meaning"}
    geminids("search", "--like", "bread", *where)
    assert not loaded_by("sync", *where) & heavy
    write_session(home, "5d0c9a2b-0000-4000-8000-000000000005", day=10, prompt="Bake bread")
    for command in (["list"], ["search", "bread"]):
        assert not loaded_by(*command, *where) & {*heavy, "geminids.query.meaning"}
    assert loaded_by("search", "--like", "bread", *where) >= heavy


def test_a_sync_says_where_vectors_cannot_be_written_and_is_done_all_the_same(
    home: Path, tmp_path: Path, geminids: Run
) -> None:
    import geminids.storage.index.vectors as module

    data = tmp_path / "data"
    geminids("search", "--like", "bread", "--home", home, "--data", data)
    write_session(home, "4d0c9a2b-0000-4000-8000-000000000004", day=9, prompt="Bake a cake for the family")
    other = sqlite3.connect(vectors(data), isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    module._PATIENCE, before = 0.1, module._PATIENCE
    try:
        outcome = geminids("sync", "--home", home, "--data", data)
    finally:
        module._PATIENCE = before
        other.close()
    assert (outcome.code, outcome.out[:8]) == (0, "Indexed:")
    assert "cannot be used (database is locked). Try again in a while." in outcome.err


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such rights")
def test_what_is_remembered_is_for_this_user_alone(library: Library, tmp_path: Path) -> None:
    found(library, "bread")
    assert stat.S_IMODE(vectors(tmp_path / "data").stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "damage", ["letters", "emptied", "another model", "a page", "another table", "half a vector"]
)
def test_vectors_that_are_damaged_or_of_another_model_are_made_anew(
    library: Library, tmp_path: Path, damage: str
) -> None:
    before = found(library, "baking for a family")
    file = vectors(tmp_path / "data")
    if damage == "letters":
        file.write_bytes(b"no database at all, but some letters" * 100)
    elif damage == "emptied":
        file.write_bytes(b"")
    elif damage == "another model":
        with VectorFile(str(file), "an older one"):
            assert file.stat().st_size > 0
    elif damage == "a page":
        content = file.read_bytes()
        file.write_bytes(content[:4_096] + b"\xff" * (len(content) - 4_096))
    else:
        with Connected(file) as connection:
            wrong = "DROP TABLE meta; CREATE TABLE meta (x)"
            connection.executescript(
                wrong if damage == "another table" else "UPDATE sessions SET vectors = x'00'"
            )
    index = sorted(path.name for path in (tmp_path / "data" / "index").glob("*-*"))
    assert found(library, "baking for a family") == before
    assert sorted(path.name for path in (tmp_path / "data" / "index").glob("*-*")) == index


def test_they_go_with_a_session_that_is_forgotten(
    library: Library, geminids: Run, home: Path, tmp_path: Path
) -> None:
    found(library, "bread")
    file = vectors(tmp_path / "data")
    library.close()
    assert geminids("forget", BREAD, "--yes", "--home", home, "--data", tmp_path / "data").code == 0
    assert not file.exists()
    with Library([home], tmp_path / "data") as after:
        assert set(found(after, "bread")) == {UPLOAD, DIAGRAM}


def test_the_command_line_tells_it_apart(geminids: Run, home: Path, tmp_path: Path) -> None:
    where = ("--home", home, "--data", tmp_path / "data")
    outcome = geminids("search", "--like", "baking for a family", "--json", *where)
    document = check_printed(outcome.out, "geminids/search/1")
    assert document["like"] == "baking for a family"
    assert document["hits"][0]["session"]["native_id"] == BREAD
    assert (outcome.code, outcome.err) == (0, "")
    lines = geminids("search", "--like", "baking for a family", "-n", "1", *where).out.splitlines()
    assert len(lines) == 1
    nothing = geminids("search", "--like", "bread", "nothinghasthis", *where)
    assert (nothing.code, nothing.err) == (1, "geminids: No session to compare.\n")
    for option in (["--scan"], ["--sort", "newest"], ["--after", "x"], ["--page", "2"]):
        refused = geminids("search", "--like", "bread", *option, *where)
        assert (refused.code, refused.out) == (2, "")
        assert "cannot be combined with --like" in refused.err


def test_without_the_extra_it_is_said_what_adds_it(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(MeaningNotInstalledError, match=r"needs 'tokenizers'; .*wordllama.* adds it"):
        library.like("bread", now=NOW)
    assert issubclass(MeaningNotInstalledError, GeminidsError)


def test_no_package_that_asks_the_network_is_loaded(geminids: Run, home: Path) -> None:
    code = (
        "import sys; from geminids.library import Library\n"
        "with Library([sys.argv[1]], sys.argv[2]) as library: library.like('bread')\n"
        "print(*sys.modules)"
    )
    line = [sys.executable, "-c", code, str(home), str(home.parent / "data")]
    loaded = subprocess.run(line, check=True, capture_output=True, text=True).stdout.split()
    assert not {"wordllama", "huggingface_hub", "requests", "http.client"}.intersection(loaded)


def test_vectors_have_one_length_and_no_words_have_none() -> None:
    made = Embedding().of(["bread", "bread " * 3_000, "", "\ud83c".encode("utf-8", "replace").decode()])
    assert made.shape == (4, SIZE)
    lengths = np.linalg.norm(made.astype(np.float32), axis=1)
    assert lengths[:2] == pytest.approx([1.0, 1.0], abs=1e-2)
    assert lengths[2] == 0.0


def test_passages_are_the_title_prompts_and_the_last_answer() -> None:
    texts = [
        (0, {"human": "one", "model": ""}),
        (1, {"human": "", "model": "first answer"}),
        (2, {"human": "two " * LONGEST, "model": ""}),
        (3, {"human": "", "model": "last answer"}),
    ]
    *told, whole = passages("A title", texts)
    assert [place for place, _ in told] == [0, 0, 2, 3]
    assert [text[:4] for _, text in told] == ["A ti", "one", "two ", "last"]
    assert len(told[2][1]) == LONGEST
    assert whole[0] == 0
    assert all(piece in whole[1] for piece in ("A title", "one", "last answer"))
    assert passages("one", texts[:1]) == [(0, "one"), (0, "one")]
    assert passages("A title", []) == []
    many = [(place, {"human": f"prompt {place}", "model": ""}) for place in range(2 * MOST_PROMPTS)]
    assert len(passages(None, many)) == MOST_PROMPTS + 1


def test_a_file_that_others_write_is_no_damage(tmp_path: Path) -> None:
    path = tmp_path / "x.meaning.db"
    with VectorFile(str(path), MODEL):
        pass
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    try:
        with pytest.raises(VectorsInUseError, match="locked"), _impatient(VectorFile(str(path), MODEL)):
            pass
    finally:
        other.close()
    assert path.stat().st_size > 0


def _impatient(file: VectorFile) -> VectorFile:
    import geminids.storage.index.vectors as module

    module._PATIENCE, before = 0.1, module._PATIENCE
    try:
        return file.__enter__()
    finally:
        module._PATIENCE = before


@pytest.mark.slow
def test_paraphrases_that_others_wrote_are_understood(tmp_path: Path) -> None:
    write_home(tmp_path / "home")
    with Library([tmp_path / "home"], tmp_path / "data") as library:
        successes, _ = measured(library, by_meaning)
    asked, _, among_five = successes["paraphrase"]
    assert among_five >= 0.6 * asked
    asked, _, among_five = successes["natural"]
    assert among_five >= 0.9 * asked
