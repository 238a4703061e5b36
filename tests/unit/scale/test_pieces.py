"""Homes in pieces: nothing is lost or told twice however they are divided, and one bad file ends nothing."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

import pytest

from geminids.core.disk import REAL, AnyPath, Disk
from geminids.core.model import ProblemKind
from geminids.scale.engine import Question, UnknownNameError, batches, read
from geminids.scale.homes import EVERYTHING, Piece, Wanted, pieces, readings, units_of
from geminids.scale.places.disks import Place
from geminids.scale.rows import project_name
from geminids.scale.schema import TABLES
from tests.conftest import FIXTURES
from tests.support.homes import write_session

SECOND = "2f0c9a2b-0000-4000-8000-000000000002"
HOMES = sorted(path for path in FIXTURES.glob("*/*/home"))


def _rows(found: list[Piece], table: str) -> list[str]:
    return sorted(
        repr(row) for piece in found for batch in batches(Question(piece, table)) for row in batch.to_pylist()
    )


@pytest.mark.parametrize("agent", sorted({home.parent.parent.name for home in HOMES}))
@pytest.mark.parametrize("table", TABLES)
def test_tables_are_the_same_however_homes_are_divided(agent: str, table: str) -> None:
    whole = list(pieces(REAL, str(FIXTURES / agent), most=10**12))
    least = list(pieces(REAL, str(FIXTURES / agent), most=1))
    assert len(least) > len(whole)
    assert _rows(least, table) == _rows(whole, table)


def test_other_processes_make_the_same(tmp_path: Path) -> None:
    for number in range(5):
        write_session(tmp_path / f"m{number}", prompt=f"Say {number}", slug=f"p{number}")
    questions = [Question(piece, "messages") for piece in pieces(REAL, str(tmp_path), most=1)]
    assert len(questions) == 5
    alone = [batch.to_pylist() for batch in read(questions, jobs=1)]
    assert [batch.to_pylist() for batch in read(questions, jobs=2)] == alone
    assert len(alone) == 5


def test_folders_of_homes_are_machines(tmp_path: Path) -> None:
    write_session(tmp_path / "laptop")
    write_session(tmp_path / "office" / "ada")
    assert [piece.machine for piece in pieces(REAL, str(tmp_path))] == ["laptop", "office/ada"]
    assert [piece.machine for piece in pieces(REAL, str(tmp_path), machine="all")] == ["all"]
    only = Wanted(machines=frozenset({"laptop"}))
    assert [piece.machine for piece in pieces(REAL, str(tmp_path), only)] == ["laptop"]


@pytest.mark.parametrize("home", HOMES, ids=lambda home: f"{home.parent.parent.name}-{home.parent.name}")
def test_a_certain_project_is_the_project_of_its_sessions(home: Path) -> None:
    """Else what is left out by its name would be missing."""
    for piece in pieces(REAL, str(home)):
        for part in piece.parts:
            for bundle in part.bundles:
                told = [one for _, reading in readings(piece) for one in reading.sessions]
                if bundle.project.certain:
                    files = {str(file.path) for file in bundle.files}
                    names = {project_name(one.project) for one in told if one.file in files}
                    assert names <= {bundle.project.path}


def test_a_project_that_is_not_wanted_is_not_planned(tmp_path: Path) -> None:
    for slug in ("shop", "blog"):
        write_session(tmp_path / "m", slug=slug)
    only = Wanted(projects=frozenset({"/home/ada/dev/shop"}))
    found = [one for piece in pieces(REAL, str(tmp_path), only) for _, one in readings(piece)]
    assert {session.project.path for one in found for session in one.sessions} == {"/home/ada/dev/shop"}


class _Broken(Disk):
    """A disk on which opening files ends as no reader expects it."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def opened(self, path: AnyPath) -> BinaryIO:
        if self.name in str(path):
            raise RuntimeError("nobody knows why")
        return super().opened(path)


def test_what_no_reader_expects_is_a_problem_and_all_else_is_read(tmp_path: Path) -> None:
    broken = write_session(tmp_path / "m")
    write_session(tmp_path / "m", native_id=SECOND)
    disk = _Broken("nothing yet")
    planned = list(pieces(disk, str(tmp_path)))
    disk.name = broken.name
    found = [one for piece in planned for _, one in readings(piece)]
    assert [session.native_id for one in found for session in one.sessions] == [SECOND]
    (problem,) = (problem for one in found for problem in one.problems)
    assert problem.kind is ProblemKind.UNREADABLE
    assert problem.detail == "reading it ended with RuntimeError; please report this"
    assert problem.file == str(broken)


def test_a_home_that_cannot_be_looked_through_is_a_problem_too(tmp_path: Path) -> None:
    for machine in "mn":
        write_session(tmp_path / machine, slug=f"of-{machine}")
    found = [one for piece in pieces(_Broken("of-m"), str(tmp_path)) for _, one in readings(piece)]
    assert len([session for one in found for session in one.sessions]) == 1
    assert [problem.file for one in found for problem in one.problems] == [str(tmp_path / "m/.gemini")]


def test_a_unit_has_another_stamp_as_soon_as_a_file_of_it_grew(tmp_path: Path) -> None:
    place = Place(REAL, str(tmp_path))
    first = write_session(tmp_path / "m")
    write_session(tmp_path / "m", native_id=SECOND, day=2)
    before = {unit.name: unit.stamp for unit in units_of(place)}
    with first.open("a") as file:
        file.write("\n")
    after = {unit.name: unit.stamp for unit in units_of(place)}
    (grown,) = (name for name in after if after[name] != before[name])
    assert after.keys() == before.keys()
    wanted = EVERYTHING._replace(units={grown})
    told = [one for piece in pieces(REAL, str(tmp_path), wanted) for _, one in readings(piece)]
    assert [session.file for one in told for session in one.sessions] == [str(first)]


@pytest.mark.parametrize(
    ("table", "column", "said"),
    [
        ("request", "total", "No table 'request'. There are: sessions, messages"),
        ("requests", "totl", "No column of requests 'totl'. There are: agent, month,"),
    ],
)
def test_a_name_that_there_is_not_is_said(tmp_path: Path, table: str, column: str, said: str) -> None:
    write_session(tmp_path)
    (piece,) = pieces(REAL, str(tmp_path))
    question = Question(piece, table, ("agent", column))
    for answers in (batches(question), read([question], jobs=1)):
        with pytest.raises(UnknownNameError) as error:
            list(answers)
        assert str(error.value).startswith(said)
