"""Bundles of several homes."""

from itertools import permutations
from pathlib import Path

from geminids.core.agents.base import Bundle, FoundFile, may_be_folder, may_exist
from geminids.core.model import KnownBy, Project
from geminids.reading.bundles import better_known, joined

BY_HASH = Project(None, "ab12", None, None)
BY_SLUG = Project(None, "ab12", "shop", None)
BY_PATH = Project("/home/ada/shop", "ab12", None, KnownBy.REGISTRY)


def test_each_place_adds_what_it_knows_of_a_project() -> None:
    whole = Project("/home/ada/shop", "ab12", "shop", KnownBy.REGISTRY)
    for one, other, third in permutations((BY_HASH, BY_SLUG, BY_PATH)):
        assert better_known(better_known(one, other), third) == whole


def test_bundles_of_one_project_and_key_are_one(tmp_path: Path) -> None:
    def bundle(project: Project, folder: str, key: str = "1f0c9a2b") -> Bundle:
        path = tmp_path / folder
        return Bundle("gemini", key, project, (path,), (FoundFile(path / f"{key}.jsonl", 1, 1, 1),))

    both, other = joined(
        [bundle(BY_SLUG, "live"), bundle(BY_PATH, "backup"), bundle(BY_HASH, "live", "other")]
    )
    assert both.project == Project("/home/ada/shop", "ab12", "shop", KnownBy.REGISTRY)
    assert both.folders == (tmp_path / "live", tmp_path / "backup")
    assert [file.path.parent.name for file in both.files] == ["backup", "live"]
    assert other.key == "other"


def test_what_cannot_be_a_path_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert [may_exist(tmp_path / name) for name in ("", "file")] == [True, True]
    assert [may_exist(tmp_path / name) for name in ("missing", "a\0b")] == [False, False]
    assert [may_be_folder(tmp_path / name) for name in ("", "file", "missing")] == [True, False, False]
