"""Settled tables add up to what `stats` says, whatever stands twice in them and on how many machines."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from geminids.library import Library
from tests.conftest import FIXTURES
from tests.support import claude_lines
from tests.support.engines import (
    Figures,
    asked_figures,
    database_of,
    pool_tables,
    settled_in_duckdb,
    stats_figures,
)
from tests.support.examples import examples
from tests.support.homes import write_session
from tests.support.tables import write_tables

pytestmark = pytest.mark.usefixtures("without_copies")

HOMES = sorted(FIXTURES.glob("*/*/home"))
SOME = [home for home in HOMES if any(word in home.parent.name for word in ("fork", "copied", "resum"))]
OTHER = "3f2c9a2b-0000-4000-8000-000000000002"
Homes = Sequence[tuple[str, Path]]


def said(homes: Homes) -> Figures:
    return asked_figures(settled_in_duckdb(pool_tables(homes)))


def truth(home: Path, data: Path) -> Figures:
    with Library([home], data) as library:
        return stats_figures(library)


def differing(one: Figures, other: Figures) -> dict[str, tuple[object, object]]:
    return {
        name: (one.get(name), other.get(name)) for name in one | other if one.get(name) != other.get(name)
    }


def name_of(home: Path) -> str:
    return f"{home.parent.parent.name}-{home.parent.name}"


@pytest.mark.parametrize("home", SOME, ids=name_of)
def test_settled_tables_say_what_stats_says(home: Path, tmp_path: Path) -> None:
    assert differing(said([("laptop", home)]), truth(home, tmp_path)) == {}


@pytest.mark.parametrize("home", SOME, ids=name_of)
def test_a_home_on_two_machines_counts_once(home: Path, tmp_path: Path) -> None:
    assert differing(said([("laptop", home), ("desktop", home)]), truth(home, tmp_path)) == {}


def conversation(*turns: str, start: int = 0) -> list[claude_lines.Line]:
    """A prompt and a reply for each name, one after the other."""
    lines: list[claude_lines.Line] = []
    for number, turn in enumerate(turns, start):
        before = lines[-1]["uuid"] if lines else None
        lines.append(claude_lines.user(f"{turn}-asked", before, f"Do {turn}", 20 * number))
        lines.append(
            claude_lines.reply(
                f"{turn}-done",
                f"{turn}-asked",
                claude_lines.words(f"Did {turn}."),
                reply_id=turn,
                second=20 * number + 9,
            )
        )
    return lines


def home_of(folder: Path, *lines: claude_lines.Line, name: str | None = None) -> Path:
    claude_lines.write(folder, *lines, **({"name": name} if name else {}))
    return folder


@pytest.mark.parametrize("order", [("a", "b"), ("b", "a")], ids=["home first", "backup first"])
def test_an_older_backup_adds_nothing(order: tuple[str, str], tmp_path: Path) -> None:
    lines = conversation("one", "two", "three")
    home, backup = home_of(tmp_path / "home", *lines), home_of(tmp_path / "backup", *lines[:3])
    write_session(home)
    write_session(backup)

    found = said([(order[0], home), (order[1], backup)])
    assert differing(found, truth(home, tmp_path / "data")) == {}
    assert found["total"] == 3 * 12 + 12


@pytest.mark.parametrize("order", [("a", "b"), ("b", "a")], ids=["home first", "backup first"])
def test_a_backup_that_does_not_know_what_was_taken_over_adds_nothing(
    order: tuple[str, str], tmp_path: Path
) -> None:
    home = FIXTURES / "gemini" / "saved-chats" / "home"
    backup = shutil.copytree(home, tmp_path / "backup", symlinks=True)
    # Chats were saved of it; the later half of it is not there yet.
    (session,) = backup.glob(".gemini/tmp/*/chats/session-*.jsonl")
    lines = session.read_bytes().splitlines(keepends=True)
    session.write_bytes(b"".join(lines[: len(lines) * 2 // 3]))

    found = said([(order[0], home), (order[1], backup)])
    assert differing(found, truth(home, tmp_path / "data")) == {}


def test_copies_that_went_on_by_themselves_count_what_they_do_not_share(tmp_path: Path) -> None:
    laptop = home_of(tmp_path / "laptop", *conversation("one", "two", "three", "four"))
    desktop = home_of(tmp_path / "desktop", *conversation("one", "two", "other"))

    found = said([("desktop", desktop), ("laptop", laptop)])
    assert (found["requests"], found["prompts"], found["replies"]) == (5, 5, 5)
    # The session went on twice: each copy is told of with its own.
    assert found["kinds"] == {"main": (2,)}
    assert found["of summed prompts"] == 5


def test_what_only_a_smaller_copy_still_holds_is_not_lost(tmp_path: Path) -> None:
    lines = conversation("one", "two", "three", "four", "five")
    damaged = home_of(tmp_path / "damaged", *lines[:2], *lines[4:])
    backup = home_of(tmp_path / "backup", *lines[:6])

    found = said([("damaged", damaged), ("backup", backup)])
    assert (found["requests"], found["prompts"], found["replies"]) == (5, 5, 5)


def test_a_fork_on_another_machine_counts_what_is_its_own(tmp_path: Path) -> None:
    fork = FIXTURES / "claude" / "fork" / "home"
    for name, other in (("laptop", 0), ("desktop", 1)):
        shutil.copytree(fork, tmp_path / name)
        sorted((tmp_path / name).glob(".claude/projects/*/*.jsonl"))[other].unlink()

    found = said([("laptop", tmp_path / "laptop"), ("desktop", tmp_path / "desktop")])
    tokens = json.loads((fork.parent / "truth.json").read_bytes())["tokens"]["main"]
    assert (found["total"], found["requests"]) == (tokens["total"], tokens["replies"])
    assert differing(found, truth(fork, tmp_path / "data")) == {}


def test_requests_without_a_name_are_never_taken_for_copies(tmp_path: Path) -> None:
    nameless = [dict(line) for line in conversation("one", "two")]
    for line in nameless:
        line.pop("requestId", None)
        line["message"] = {name: value for name, value in line["message"].items() if name != "id"}
    other = [line | {"sessionId": OTHER, "uuid": f"{line['uuid']}-other"} for line in nameless]
    for line in other:
        line["parentUuid"] = line["parentUuid"] and f"{line['parentUuid']}-other"
    home = home_of(tmp_path / "home", *nameless)
    home_of(home, *other, name=f"{OTHER}.jsonl")

    found = said([("laptop", home)])
    assert found["requests"] == 4
    assert differing(found, truth(home, tmp_path / "data")) == {}


DAMAGED = [
    FIXTURES / case / "home"
    for case in ("gemini/tool-calls-jsonl-1", "claude/nested-agents", "codex/tools", "codex/fork")
]
HEADER, GARBAGE = 1000, 200
"""Bytes at the beginning of a file that name the session, and bytes of damage."""


@pytest.mark.parametrize("order", [("a", "b"), ("b", "a")], ids=["damaged first", "whole first"])
def test_a_whole_copy_is_preferred_to_one_that_lost_calls(order: tuple[str, str], tmp_path: Path) -> None:
    home = DAMAGED[0]
    copy = shutil.copytree(home, tmp_path / "copy", symlinks=True)
    (file,) = copy.rglob("session-*.jsonl")
    content = bytearray(file.read_bytes())
    content[17289:17489] = Random(3).randbytes(GARBAGE)
    file.write_bytes(content)
    assert said([("laptop", copy)])["calls"] < said([("laptop", home)])["calls"]
    both = said([(order[0], copy), (order[1], home)])
    assert differing(both, truth(home, tmp_path / "data")) == {}


@pytest.mark.slow
@pytest.mark.parametrize("home", DAMAGED, ids=name_of)
def test_a_damaged_copy_changes_no_figure_anywhere(home: Path, tmp_path: Path) -> None:
    whole = truth(home, tmp_path / "data")

    @settings(max_examples=examples(10), deadline=None)
    @given(st.randoms(use_true_random=False), st.booleans())
    def check(random: Random, is_first: bool) -> None:
        with TemporaryDirectory(dir=tmp_path) as folder:
            copy = shutil.copytree(home, Path(folder, "home"), symlinks=True)
            file = random.choice(sorted(copy.rglob("*-*.jsonl")))
            content = bytearray(file.read_bytes())
            start = random.randrange(min(HEADER, len(content) - GARBAGE), len(content) - GARBAGE + 1)
            content[start : start + GARBAGE] = random.randbytes(GARBAGE)
            file.write_bytes(content)
            machines = [("a" if is_first else "z", copy), ("laptop", home)]
            with Library([home, copy], Path(folder, "data")) as library:
                assert differing(stats_figures(library), whole) == {}, (file.name, start)
            assert differing(said(machines), whole) == {}, (file.name, start)

            out = Path(folder, "out")
            for machine, home_of_machine in machines:
                write_tables(home_of_machine, Path(folder, machine), out, machine)
            with database_of(out) as ask:
                assert differing(asked_figures(ask), whole) == {}, (file.name, start)

    check()


@pytest.mark.slow
def test_recorded_homes_of_every_kind_on_two_machines_count_once() -> None:
    for home in HOMES[::3]:
        once = said([("laptop", home)])
        assert differing(said([("laptop", home), ("desktop", home)]), once) == {}, home
