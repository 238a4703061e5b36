"""`geminids search`: what people and programs see of what was found."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from geminids.query.search.filters import FILTERS
from tests.conftest import ROOT, Rights, Run
from tests.support.documents import check_printed
from tests.support.homes import tool_call, write_session
from tests.support.terminal import on_terminal

SAMPLE = ROOT / "src" / "geminids" / "sample" / "home"
LATER = "2026-11-15T12:00:00+00:00"
SCHEMA = "geminids/search/1"


def test_in_a_pipe_each_message_is_a_line_of_fields(geminids: Run) -> None:
    found = geminids("search", "weather", "cache", "--sample")
    assert found.code == 0
    lines = [line.split("\t") for line in found.out.splitlines()]
    assert {len(line) for line in lines} == {6}
    session, number, at, where, project, snippet = lines[0]
    assert session.startswith("gemini:")
    assert number.isdecimal()
    assert at[:4] == "2026"
    assert where in {"model", "output,paths", "output"}
    assert project == "skycast"
    assert "cache" in snippet


@pytest.mark.slow
def test_on_a_terminal_the_numbers_can_be_given_to_show(geminids: Run) -> None:
    drawn = on_terminal("search", "fahrenheit", "--sample", now=LATER, NO_COLOR="1")
    assert drawn.startswith(" 1  ")
    assert "geminids show 1 --at " in drawn
    first = json.loads(geminids("search", "fahrenheit", "--sample", "--json").out)["hits"][0]["session"]["id"]
    shown = json.loads(geminids("show", "1", "--sample", "--json").out)
    assert shown["id"] == first


@pytest.mark.slow
@pytest.mark.parametrize("columns", [40, 80, 120])
def test_no_line_of_hits_is_wider_than_the_terminal(columns: int) -> None:
    drawn = on_terminal("search", "json", "--sample", columns=columns, now=LATER, NO_COLOR="1")
    # A command is there to be copied, so it is not broken.
    hits = [line for line in drawn.splitlines() if not line.startswith(("geminids: ", "  `geminids "))]
    assert any("…" in line for line in hits)
    assert max(map(len, hits)) <= columns


@pytest.mark.slow
def test_matches_are_highlighted() -> None:
    assert "\x1b[1;33mweather" in on_terminal("search", "weather", "--sample", now=LATER)


def test_the_document_holds_all_of_it(geminids: Run) -> None:
    document = check_printed(geminids("search", "json project:skycast", "--sample", "--json").out, SCHEMA)
    assert document["total"]["matches"] > len(document["hits"]) > 5
    assert document["hidden"] == {"project:skycast": 14}
    assert document["next"] is None
    hit = document["hits"][0]
    start, end = hit["snippet"]["spans"][0]
    assert hit["snippet"]["text"][start:end].lower() == "json"
    assert hit["message"]["number"] >= 1
    lines = geminids("search", "json project:skycast", "--sample", "--jsonl").out.splitlines()
    assert [json.loads(line) for line in lines] == document["hits"]


def test_the_next_page_is_named_and_goes_on(geminids: Run) -> None:
    whole = geminids("search", "json", "--sample")
    first = geminids("search", "json", "--sample", "-n", "2")
    assert "There is more: `geminids search --limit 2 json --page 2 --sample`." in first.err
    after = json.loads(geminids("search", "json", "--sample", "-n", "2", "--json").out)["next"]
    rest = geminids("search", "json", "--sample", "--after", after)
    assert first.out + rest.out == whole.out
    assert "geminids show" not in rest.err
    pages = [
        geminids("search", "json", "--sample", "-n", "2", "--page", str(number)) for number in range(1, 6)
    ]
    there = [page.out for page in pages if page.code == 0]
    assert "".join(there) == whole.out
    none = pages[len(there)]
    assert (none.code, none.out) == (1, "")
    assert none.err == f"geminids: There is no page {len(there) + 1}; there are {len(there)} pages.\n"


def test_a_page_behind_the_last_one_is_an_empty_document_for_programs(geminids: Run) -> None:
    outcome = geminids("search", "json", "--sample", "--page", "9", "--json")
    document = check_printed(outcome.out, SCHEMA)
    assert outcome.code == 1
    assert (document["hits"], document["next"]) == ([], None)
    first = check_printed(geminids("search", "json", "--sample", "--json").out, SCHEMA)
    assert document["total"] == first["total"]
    assert outcome.err == "geminids: There is no page 9; there is 1 page.\n"
    lines = geminids("search", "json", "--sample", "--page", "9", "--jsonl")
    assert (lines.code, lines.out) == (1, "")


@pytest.mark.slow
def test_on_a_terminal_what_is_found_goes_through_the_pager(geminids: Run, tmp_path: Path) -> None:
    pager = tmp_path / "pager"
    pager.write_text("#!/bin/sh\necho PAGED\nhead -n 1\n")
    pager.chmod(0o755)
    shown = on_terminal("search", "json", "--sample", now=LATER, NO_COLOR="1", PAGER=str(pager))
    assert re.match(r"PAGED\n 1  .*\ngeminids: ", shown)
    straight = on_terminal("search", "json", "--sample", "--no-pager", now=LATER, PAGER=str(pager))
    assert "PAGED" not in straight
    assert "PAGED" not in on_terminal("search", "json", "--sample", "--json", now=LATER, PAGER=str(pager))
    # It was left after one line, and the number of the last session is known all the same.
    every = json.loads(geminids("search", "json", "--sample", "--json").out)["hits"]
    last = list(dict.fromkeys(hit["session"]["id"] for hit in every))[-1]
    number = str(len({hit["session"]["id"] for hit in every}))
    assert json.loads(geminids("show", number, "--sample", "--json").out)["id"] == last


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("less"), reason="less is not installed")
def test_the_best_hit_is_on_the_first_screen_and_what_is_said_comes_when_the_pager_is_left() -> None:
    words = ("search", "json", "--sample")
    whole = on_terminal(*words, now=LATER, NO_COLOR="1", PAGER="less", TERM="xterm", keys=" q")
    seen = on_terminal(*words, now=LATER, NO_COLOR="1", PAGER="less", TERM="xterm", keys="q")
    assert seen.partition("\r")[2].startswith(" 1  ")
    screen, _, said = seen.partition("geminids: ")
    assert 20 <= screen.count("\n") < 24 <= whole.partition("geminids: ")[0].count("\n")
    assert "Read one: `geminids show 1" in " ".join(said.split())


def test_nothing_found_is_said_with_what_may_have_been_meant(geminids: Run) -> None:
    found = geminids("search", "wether", "--exact", "--sample")
    assert found.code == 1
    assert not found.out
    assert "Did you mean weather?" in found.err
    hidden = geminids("search", "weather before:2001-01-01", "--sample")
    assert hidden.code == 1
    assert "Without `before:2001-01-01`: " in hidden.err
    project = geminids("search", "weather", "--project", "recip3s", "--sample")
    assert project.code == 1
    assert "No project matches 'recip3s'. Did you mean recipes?" in project.err


@pytest.mark.parametrize(
    "words",
    [
        ("search", "weather"),
        ("forget",),
        ("restore", "--to", "somewhere"),
        ("export", "-o", "-"),
        ("export", "-o", "-", "--query"),
        ("stats",),
    ],
    ids=" ".join,
)
def test_a_project_that_is_none_gets_the_same_answer_everywhere(
    geminids: Run, words: tuple[str, ...]
) -> None:
    found = geminids(*words, "project:recip3s", "--home", SAMPLE)
    assert (found.code, found.out) == (1, "")
    assert "No project matches 'recip3s'. Did you mean recipes?" in found.err
    assert "does not occur" not in found.err
    assert "No project" not in geminids("search", "weather", "-project:recip3s", "--home", SAMPLE).err


def test_the_beginning_of_a_filter_is_told_beside_what_is_found(geminids: Run) -> None:
    hint = "`proj:` is not a filter. Did you mean `project:`?"
    found = geminids("search", "weather proj:skycast", "--sample")
    assert found.out
    assert hint in found.err
    nothing = geminids("search", "proj:skycast", "--sample", "--exact")
    assert (nothing.code, nothing.err.count("`proj:`")) == (1, 1)
    for words in ("weather http://x", "weather foo:bar"):
        assert "is not a filter" not in geminids("search", words, "--sample").err


def _sessions(out: str) -> set[str]:
    return {line.partition("\t")[0] for line in out.splitlines()}


def test_what_fits_best_is_shown_where_nothing_has_all_the_words(geminids: Run) -> None:
    slip = geminids("search", "wether", "cache", "--sample")
    assert slip.code == 0
    meant = geminids("search", "weather", "cache", "--sample")
    assert sorted(_sessions(slip.out)) == sorted(_sessions(meant.out))
    assert slip.err == "geminids: 'wether' does not occur; searched for weather instead.\n"
    most = geminids("search", "stale", "kubernetes", "cache", "--sample", "--json")
    document = check_printed(most.out, SCHEMA)
    assert (most.code, document["words"]) == (0, 3)
    assert {tuple(hit["session"]["missing"]) for hit in document["hits"]} == {("kubernetes",)}
    assert "No session has all 3 words; those with the most come first." in most.err
    one = geminids("search", "weather", "forecast", "retries", "cache", "--sample")
    assert one.err == "geminids: Only 1 of these has all the words; the others lack some of them.\n"
    exact = geminids("search", "stale", "kubernetes", "cache", "--exact", "--sample")
    assert (exact.code, exact.out) == (1, "")


@pytest.mark.slow
def test_on_a_terminal_a_session_tells_which_word_it_lacks() -> None:
    drawn = on_terminal("search", "stale", "kubernetes", "cache", "--sample", now=LATER, NO_COLOR="1")
    assert "\n    without kubernetes\n" in drawn


def test_in_the_pager_it_stands_first_how_it_fits() -> None:
    typed = ("search", "becuase", "stale", "forcast", "kubernetes", "--sample")
    paged = on_terminal(*typed, now=LATER, NO_COLOR="1", PAGER="cat")
    notes = [
        "'forcast' does not occur; searched for forecast instead.",
        "'becuase' does not occur; taken for 'because' and left out.",
        "No session has all 3 words; those with the most come first.",
    ]
    assert paged.startswith("\n".join([*notes, "", " 1  "]))
    straight = on_terminal(*typed, now=LATER, NO_COLOR="1", PAGER="")
    for seen in (paged, straight):
        assert all(seen.count(note) == 1 for note in notes)
        assert "--find 'forecasts stale forecast'" in " ".join(seen.split())
    assert straight.startswith(" 1  ")


def test_what_is_not_indexed_is_said_and_can_be_scanned(geminids: Run) -> None:
    found = geminids("search", "qqqq", "--sample")
    assert "Not indexed: the middle of long outputs" in found.err
    assert "--scan" in found.err
    scanned = geminids("search", "weather", "--scan", "--sample")
    assert scanned.code == 0
    assert "Not searched" not in scanned.err


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ([], "Search for what?"),
        ([" "], "Search for what?"),
        (['"open'], "At column 1"),
        (["cors OR"], "OR needs something"),
        (["/[a/"], "At column"),
        (["is:blue cors"], "is: takes "),
        (["proejct:shop cors"], "did you mean project:?"),
        (["cors", "--since", "someday"], "Cannot read the time"),
        (["since:someday cors"], "Cannot read the time"),
        (["cors", "--after", "x"], "is not a page of this search"),
        (["cors", "--in", "pocket"], "Invalid value"),
        (["cors", "-n", "0"], "Invalid value"),
    ],
)
def test_what_cannot_be_understood_is_said(geminids: Run, typed: list[str], said: str) -> None:
    found = geminids("search", *typed, "--sample")
    assert found.code == 2
    assert said in found.err
    assert not found.out
    assert "Traceback" not in found.err


def test_options_narrow_as_filters_do(geminids: Run) -> None:
    assert (
        geminids("search", "json", "--project", "skycast", "--in", "human", "--sample").out
        == geminids("search", "json project:skycast in:human", "--sample").out
    )
    assert geminids("search", "--project", "skycast", "--sample").code == 0


def test_words_that_begin_like_options_come_after_two_dashes(geminids: Run) -> None:
    with_json = geminids("search", "cache", "--sample").out.splitlines()
    without = geminids("search", "--sample", "cache", "--", "-json").out.splitlines()
    assert 0 < len(without) < len(with_json)


def test_an_empty_machine_shows_the_samples(geminids: Run) -> None:
    found = geminids("search", "weather")
    assert found.code == 0
    assert "sample sessions that come with geminids" in found.err


def test_an_empty_home_is_said(geminids: Run, tmp_path: Path) -> None:
    found = geminids("search", "weather", "--home", tmp_path)
    assert found.code == 1
    assert "No session found in " in found.err


def test_hostile_text_does_not_reach_the_terminal(geminids: Run, tmp_path: Path) -> None:
    home = tmp_path / "home"
    shutil.copytree(SAMPLE, home)
    log = next(iter(sorted(home.rglob("session-*.jsonl"))))
    record = {
        "id": "evil",
        "timestamp": "2026-11-10T00:00:00Z",
        "type": "user",
        "content": "marmalade \x1b]52;c;ZXZpbA==\x07 \u202egnirts \x1b[2J end",
    }
    with log.open("a") as file:
        file.write(json.dumps(record) + "\n")
    for found in (
        geminids("search", "marmalade", "--home", home).out,
        geminids("search", "marmalade", "--home", home, "--json").out,
        on_terminal("search", "marmalade", "--home", home, NO_COLOR="1"),
    ):
        assert "marmalade" in found
        assert not {"\x1b]", "\x1b[2J", "\x07", "\u202e"} & set(found)
        assert "\x1b]52" not in found
        assert "\u202e" not in found


def test_a_file_that_is_gone_is_said_in_place_of_the_snippet(
    geminids: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GEMINIDS_KEEP", "0")
    home = tmp_path / "home"
    shutil.copytree(SAMPLE, home)
    assert geminids("search", "weather", "--home", home).code == 0
    for path in [path for path in home.rglob("*") if path.is_file()]:
        path.unlink()
    found = geminids("search", "weather", "--home", home, "--no-sync")
    assert found.code == 0
    assert "the file may have changed" in found.out


def test_what_is_to_be_left_out_needs_no_two_dashes_but_a_slip_in_an_option_is_told(geminids: Run) -> None:
    both, without = geminids("search", "cache", "--sample"), geminids("search", "cache", "-stale", "--sample")
    assert without.code == 0
    assert len(without.out.splitlines()) <= len(both.out.splitlines())
    assert "stale" not in without.out
    slip = geminids("search", "cache", "--limti", "3", "--sample")
    assert (slip.code, slip.out) == (2, "")
    assert "did you mean --limit" in slip.err


def test_what_looks_like_a_filter_and_is_none_is_said_with_those_there_are(geminids: Run) -> None:
    found = geminids("search", "colour:blue", "--sample")
    assert found.code == 1
    assert "`colour:` is not a filter" in found.err
    assert "project" in found.err


def test_a_dot_makes_a_pattern(geminids: Run) -> None:
    assert geminids("search", "/forec.sts?/i", "--sample").code == 0
    assert geminids("search", "/for.casts/", "--sample").code == 0


def test_several_tools_may_be_named_at_once(geminids: Run) -> None:
    tools = ("glob", "replace", "glob,replace")
    lines = [geminids("search", f"tool:{tool}", "--sample").out for tool in tools]
    ids = [set(re.findall(r"^\S+\t\d+", text, re.MULTILINE)) for text in lines]
    assert ids[2]
    assert ids[2] <= ids[0] | ids[1]


@pytest.mark.parametrize("between", ["\n", ",", " ", "、"])
def test_the_beginning_and_the_end_of_an_output_are_found_whatever_stands_between_its_words(
    geminids: Run, tmp_path: Path, between: str
) -> None:
    output = between.join(["firstword", *(f"src/file{number:03}.py" for number in range(300)), "lastword"])
    call = tool_call(result=[{"functionResponse": {"name": "x", "response": {"output": output}}}])
    write_session(tmp_path, calls=[call])
    for word, code in (("firstword", 0), ("lastword", 0), ("file001", 0), ("file299", 0), ("file150", 1)):
        assert geminids("search", word, "--home", tmp_path).code == code, word
    assert geminids("search", "file150", "--scan", "--home", tmp_path).code == 0


@pytest.mark.slow
def test_nothing_found_leaves_the_numbers_of_the_last_list(geminids: Run) -> None:
    on_terminal("list", "--sample", now=LATER, NO_COLOR="1")
    with pytest.raises(AssertionError, match="Nothing found"):
        on_terminal("search", "xyzzyplugh", "--sample", now=LATER, NO_COLOR="1")
    assert geminids("show", "8", "--sample").code == 0


def test_a_closed_file_is_named(geminids: Run, tmp_path: Path, without_privileges: Rights) -> None:
    closed = write_session(tmp_path, prompt="A giraffe")
    closed.chmod(0)
    with without_privileges():
        found = geminids("search", "giraffe", "--home", tmp_path)
    closed.chmod(0o600)
    assert found.code == 3
    assert str(closed) in found.err


def test_sessions_found_by_their_project_are_not_counted_as_messages(tmp_path: Path) -> None:
    for number, prompt in enumerate(("Count the words of the thesis", "Fix the margins", "Add a title"), 1):
        write_session(tmp_path, f"{number}0000000-a", slug="thesis", prompt=prompt, day=number)
    seen = on_terminal("search", "thesis", "--home", tmp_path, "--no-pager", NO_COLOR="1", columns=120)
    assert "geminids: 3 sessions; 1 message; searched: 3 sessions" in seen
    seen = on_terminal("search", "margins", "--home", tmp_path, "--no-pager", NO_COLOR="1", columns=120)
    assert "geminids: 1 message in 1 session; searched: 3 sessions" in seen


def test_help_names_every_filter(geminids: Run) -> None:
    told = re.sub(r"\s+", " ", geminids("search", "--help").out)
    named = re.search(r"filters: ([a-z: 0-9]+?) geminids", told)
    assert named
    assert set(named[1].split()) - {"tool:edit", "since:7d"} == set(FILTERS)


@pytest.mark.parametrize("excluded", ["-machine", "-notes", "-help", "-n5x"])
def test_a_word_behind_the_first_that_begins_with_a_minus_is_excluded(
    geminids: Run, tmp_path: Path, excluded: str
) -> None:
    word = excluded.removeprefix("-")
    write_session(tmp_path, "11111111-a", prompt=f"washing {word}")
    write_session(tmp_path, "22222222-b", prompt="washing dishes", day=2)
    for options in (
        ["--home", str(tmp_path)],
        ["-n", "3", "--home", str(tmp_path)],
        ["-n3", "--home", str(tmp_path)],
    ):
        found = geminids("search", "washing", excluded, *options)
        assert (found.code, found.err) == (0, "")
        assert [line.split("\t")[0] for line in found.out.splitlines()] == ["gemini:22222222-b"]
    assert "1 session " in geminids("stats", "washing", excluded, "--home", tmp_path).out


def test_options_behind_the_words_are_options(geminids: Run, tmp_path: Path) -> None:
    for number in "12":
        write_session(tmp_path, f"{number * 8}-a", prompt="washing dishes")
    where = ("--home", tmp_path)
    assert len(geminids("search", "washing", "-n", "1", *where).out.splitlines()) == 1
    assert len(geminids("search", "washing", "-n1", *where).out.splitlines()) == 1
    assert geminids("search", "washing", "-h").out.startswith("Usage:")
    assert "No such option '--jsno'" in geminids("search", "washing", "--jsno", *where).err
