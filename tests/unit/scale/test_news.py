"""What is new since somebody looked: each state once, whatever ends in the middle."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from geminids.scale.homes import Unit
from geminids.scale.news import DamagedStepError, LostStepsError, News
from geminids.scale.places.stores import open_store


def _news(folder: Path) -> News:
    return News(open_store(str(folder)))


def test_a_look_at_the_same_is_no_step(tmp_path: Path) -> None:
    news = _news(tmp_path)
    assert news.look([]) == 0
    assert news.look([Unit("a", "1"), Unit("b", "1")]) == 1
    assert news.look([Unit("a", "1"), Unit("b", "1")]) == 1
    assert news.look([Unit("a", "2"), Unit("b", "1"), Unit("c", "1")]) == 2
    assert news.between(0, 1) == {"a", "b"}
    assert news.between(1, 2) == {"a", "c"}
    assert news.between(0, 2) == {"a", "b", "c"}
    assert news.between(2, 2) == set()


def test_what_is_gone_for_a_while_is_not_new(tmp_path: Path) -> None:
    news = _news(tmp_path)
    news.look([Unit("a", "1")])
    assert news.look([]) == 1
    assert news.look([Unit("a", "1")]) == 1


def test_another_process_goes_on_with_the_same_steps(tmp_path: Path) -> None:
    _news(tmp_path).look([Unit("a", "1")])
    _news(tmp_path).look([Unit("a", "2")])
    later = _news(tmp_path)
    assert later.newest == 2
    assert later.look([Unit("a", "2")]) == 2
    assert later.between(0, 1) == later.between(1, 2) == {"a"}


def test_many_steps_become_one_and_say_the_same(tmp_path: Path) -> None:
    news = _news(tmp_path)
    for number in range(110):
        news.look([Unit("a", str(number)), Unit(f"b{number}", "1")])
    news.forget_until(109)
    assert len(list(tmp_path.iterdir())) == 2
    again = _news(tmp_path)
    assert again.newest == 110
    assert again.between(109, 110) == {"a", "b109"}
    assert len(again.between(0, 110)) == 111
    assert again.look([Unit("a", "109"), Unit("b7", "1")]) == 110


def test_who_is_stopped_while_steps_become_one_tells_the_same(tmp_path: Path) -> None:
    before = _news(tmp_path / "state")
    for number in range(110):
        before.look([Unit("a", str(number)), Unit(f"b{number}", "1")])
    shutil.copytree(tmp_path / "state", tmp_path / "before")
    before.forget_until(109)
    # As if not one of them had been removed yet.
    for file in (tmp_path / "before").iterdir():
        if not (tmp_path / "state" / file.name).exists():
            shutil.copy(file, tmp_path / "state")
    again = _news(tmp_path / "state")
    assert again.newest == 110
    assert again.look([Unit("a", "109"), Unit("b0", "1"), Unit("b109", "1")]) == 110
    assert again.between(109, 110) == {"a", "b109"}
    assert len(again.between(0, 110)) == 111


def test_few_steps_are_left_as_they_are(tmp_path: Path) -> None:
    news = _news(tmp_path)
    for number in range(5):
        news.look([Unit("a", str(number))])
    news.forget_until(5)
    assert len(list(tmp_path.iterdir())) == 5


def test_steps_that_are_not_there_are_named(tmp_path: Path) -> None:
    with pytest.raises(LostStepsError, match=r"tells of 0 steps, and step 3 is asked for"):
        _news(tmp_path).between(2, 3)


def test_a_damaged_step_is_no_empty_one(tmp_path: Path) -> None:
    _news(tmp_path).look([Unit("a", "1")])
    next(tmp_path.iterdir()).write_text("{")
    with pytest.raises(DamagedStepError, match=r"is damaged. To tell everything anew"):
        _news(tmp_path)
