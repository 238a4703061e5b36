"""Which project is meant."""

from pathlib import Path

import pytest

from geminids.core.model import KnownBy, Project, folder_hash
from geminids.core.names import project_names
from geminids.query.projects.lookup import match, nearest
from tests.support.summaries import project

SHOP = project("/home/ada/dev/shop", "shop")
SHOPPING = project("/home/ada/dev/shopping-list", "shopping-list")
BLOG = project("/srv/My_Blog", "my-blog")
WORK_TREE = project("/home/ada/dev/shop/.gemini/worktrees/fix", "fix")
HASH_ONLY = Project(None, "0123456789abcdef" * 4, None, None)
OTHER_SHOP = project("/srv/shop", "shop")
WHARF = project("/srv/wharf/my", "wharf")
ALL = [SHOP, SHOPPING, BLOG, WORK_TREE, HASH_ONLY]


def test_what_agents_know_by_other_names_is_meant_too_if_the_folder_is_the_same() -> None:
    recorded = Project("/home/ada/dev/shop", None, None, KnownBy.RECORDS)
    spelled = Project("/home/ada/dev/shop/", None, "elsewhere", KnownBy.RECORDS)
    known = [recorded, BLOG, SHOP, spelled]
    assert SHOP.hash is not None
    for wanted in (SHOP.hash[:8], "elsewhere", "shop", "/home/ada/dev/shop"):
        assert match(known, wanted) == (recorded, SHOP, spelled)


@pytest.mark.parametrize(
    ("wanted", "meant"),
    [
        ("shop", [SHOP, WORK_TREE]),
        ("SHOP", [SHOP, WORK_TREE]),
        ("hopp", [SHOPPING]),
        ("my blog", [BLOG]),
        ("MYBLOG", [BLOG]),
        ("my-blog", [BLOG]),
        ("0123456", [HASH_ONLY]),
        ("/srv", [BLOG]),
        ("/home/ada/dev/shop/", [SHOP, WORK_TREE]),
        ("dev/shopping-list", [SHOPPING]),
        ("fix", [WORK_TREE]),
        ("shplst", [SHOPPING]),
        ("mblg", [BLOG]),
        ("shpo", []),
        ("0129", []),
        ("/home/ada/dev/sho", []),
    ],
)
def test_the_narrowest_way_of_meaning_a_project_wins(wanted: str, meant: list[Project]) -> None:
    assert list(match(ALL, wanted)) == meant


@pytest.mark.parametrize(
    ("wanted", "meant"),
    [
        ("shop", [SHOP, WORK_TREE, OTHER_SHOP]),
        ("hopp", [SHOPPING]),
        ("wharf", [WHARF]),
        ("wha", [WHARF]),
        ("/srv/wharf", [WHARF]),
        ("my", [BLOG, WHARF]),
    ],
)
def test_another_folder_of_a_session_is_meant_beside_projects(wanted: str, meant: list[Project]) -> None:
    assert list(match(ALL, wanted, [WHARF, OTHER_SHOP])) == meant


def test_what_nothing_is_like_means_nothing() -> None:
    assert match(ALL, "zebra") == ()
    assert match(ALL, "/zebra/shop-") == ()


@pytest.mark.parametrize(
    ("written", "typed"),
    [
        ("C:\\Users\\Ada\\shop", "c:/users/ada/shop"),
        ("/c/Users/Ada/shop", "C:\\Users\\Ada\\shop"),
        ("/mnt/c/Users/Ada/shop", "C:\\Users\\Ada"),
    ],
)
def test_a_path_means_a_folder_however_it_is_spelled(written: str, typed: str) -> None:
    there = project(written)
    assert match([there, BLOG], typed) == (there,)


def test_a_link_to_the_folder_one_stands_in_means_both_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    monkeypatch.chdir(tmp_path / "link")
    monkeypatch.setenv("PWD", str(tmp_path / "link"))
    by_shell = Project(None, folder_hash(str(tmp_path / "link")), None, None)
    by_system = Project(None, folder_hash(str(tmp_path / "real")), None, None)
    assert match([by_shell, by_system, SHOP], ".") == (by_shell, by_system)


def test_names_that_are_near_keep_their_capitals() -> None:
    assert nearest(["Shop", "Blog"], "shpo") == ["Shop"]
    assert nearest(["Shop", "Blog"], "zzz") == ["Shop", "Blog"]


def test_namesakes_are_told_apart_by_the_folder_above() -> None:
    other = Project("/srv/shop", "ff" * 32, "shop-1", KnownBy.MARKER)
    assert project_names([SHOP, other, BLOG]) == {SHOP: "dev/shop", other: "srv/shop", BLOG: "My_Blog"}
