"""How one folder may be spelled."""

from __future__ import annotations

import string
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geminids.core.model import folder_hash
from geminids.core.spellings import (
    ancestors,
    main_place,
    same_place,
    spellings,
    verified,
    walked_spellings,
)

NAMES = st.one_of(
    st.text(string.ascii_letters + string.digits + " .-_", min_size=1, max_size=8),
    st.text("éÉßΣςİıǆ中ÅåñЖ\u0345\u0301", min_size=1, max_size=4),
    st.sampled_from(
        ["home", "private", "tmp", "var", "mnt", "c", "C", "Users", "host_mnt", "..", ".", "", "x"]
    ),
)
POSIX_ROOTS = ["/", "//", "/private/", "/var/home/", "/host_mnt/", "/System/Volumes/Data/", ""]
DRIVE_ROOTS = ["C:\\", "c:/", "/c/", "/mnt/d/", "/cygdrive/c/", "\\\\?\\C:\\"]
SHARE_ROOTS = ["\\\\server\\share\\", "\\\\wsl$\\Ubuntu\\", "\\\\?\\UNC\\server\\share\\"]
ROOTS = st.sampled_from([*POSIX_ROOTS, *DRIVE_ROOTS, *SHARE_ROOTS])


@st.composite
def paths(draw: st.DrawFn) -> str:
    names = draw(st.lists(NAMES, max_size=5))
    root = draw(ROOTS)
    separator = draw(st.sampled_from(["/", "\\"])) if "\\" in root or ":" in root else "/"
    return root + separator.join(names) + draw(st.sampled_from(["", separator]))


@pytest.mark.parametrize(
    ("hashed", "known"),
    [
        ("/home/ana/shop", "/home/ana/shop/"),
        ("/home/ana/shop", "/home//ana/./dev/../shop"),
        ("/private/tmp/shop", "/tmp/shop"),
        ("/tmp/shop", "/private/tmp/shop"),
        ("/var/home/ana/shop", "/home/ana/shop"),
        ("/home/ana/shop", "/var/home/ana/shop"),
        ("/host_mnt/private/tmp/shop", "/tmp/shop"),
        ("C:\\Users\\Ana\\shop", "c:\\users\\ana\\shop"),
        ("C:\\Users\\Ana\\Documents\\Shop", "c:\\users\\ana\\documents\\shop"),
        ("C:\\Users\\Ana\\shop", "/c/Users/Ana/shop"),
        ("C:\\Users\\Ana\\shop", "C:/Users/Ana/shop/"),
        ("c:\\Users\\Ana\\shop", "C:\\Users\\Ana\\shop"),
        ("/c/Users/Ana/shop", "C:\\Users\\Ana\\shop"),
        ("/c/Users/Ana/shop", "c:\\users\\ana\\shop"),
        ("/mnt/c/Users/Ana/shop", "C:\\Users\\Ana\\shop"),
        ("/cygdrive/c/Users/Ana/shop", "/mnt/c/Users/Ana/shop"),
        ("C:\\work", "\\\\?\\C:\\work"),
        ("C:\\", "/mnt/c"),
        ("/home/ana/shop", "\\\\wsl.localhost\\Ubuntu\\home\\ana\\shop"),
        ("\\\\server\\share\\shop", "\\\\?\\UNC\\server\\share\\shop"),
        ("/home/ana/café", "/home/ana/cafe\u0301"),
        ("/home/ana/cafe\u0301", "/home/ana/café"),
        ("/home/ana/caf\ufffd", "/home/ana/caf\udce9"),
    ],
)
def test_a_folder_is_known_by_another_spelling(hashed: str, known: str) -> None:
    assert verified(folder_hash(hashed), ["/elsewhere", known]) == hashed
    assert same_place(hashed) == same_place(known)


@given(paths(), paths())
def test_nothing_is_verified_that_is_not_the_same_place(one: str, other: str) -> None:
    found = verified(folder_hash(one), [other])
    if found is None:
        assert one not in spellings(other)
    else:
        assert found == one
        assert same_place(one) == same_place(other)


@given(paths())
def test_all_spellings_are_one_place(path: str) -> None:
    assert {same_place(spelled) for spelled in spellings(path)} <= {same_place(path)}


@given(paths())
def test_spellings_are_few_and_begin_with_the_path_itself(path: str) -> None:
    found = list(spellings(path))
    assert found[:1] == ([path] if path else [])
    assert len(found) == len(set(found)) < 1000
    assert "" not in found


@given(st.one_of(paths(), st.text()))
def test_the_key_of_a_place_is_its_own_key(path: str) -> None:
    assert same_place(same_place(path)) == same_place(path)
    assert main_place(main_place(path)) == main_place(path)


@given(st.text(st.characters(), max_size=20))
def test_any_text_can_be_asked_about(text: str) -> None:
    assert len(list(spellings(text))) < 1000
    assert len(list(ancestors(text))) <= len(text) + 1
    for spelled in spellings(text):
        folder_hash(spelled)


@pytest.mark.parametrize("other", ["/home/ana/Shop", "/home/ana/shop2", "/home/ana", "/home/ana/shop/a"])
def test_other_folders_are_other_places(other: str) -> None:
    assert same_place("/home/ana/shop") != same_place(other)


@pytest.mark.parametrize(
    ("path", "main"),
    [
        ("/home/ana/shop/.gemini/worktrees/fix-1", "/home/ana/shop"),
        ("/home/ana/shop/.claude/worktrees/fix/packages/api/", "/home/ana/shop/packages/api"),
        ("/w/s/.claude/worktrees/a/.claude/worktrees/b", "/w/s"),
        ("C:\\Code\\Shop\\.gemini\\worktrees\\fix", "/mnt/c/code/shop"),
        ("/home/ana/shop/.gemini/worktrees", "/home/ana/shop/.gemini/worktrees"),
        ("/home/ana/.codex/worktrees/1a2b/shop", "/home/ana/.codex/worktrees/1a2b/shop"),
        ("/.gemini/worktrees/x", "/"),
    ],
)
def test_a_work_tree_of_an_agent_belongs_to_its_repository(path: str, main: str) -> None:
    assert main_place(path) == same_place(main)


@pytest.mark.parametrize(
    ("path", "above"),
    [
        ("/a/b/", ["/a/b", "/a", "/"]),
        ("/a/../b", ["/b", "/"]),
        ("/", ["/"]),
        ("C:\\a\\b", ["C:\\a\\b", "C:\\a", "C:\\"]),
        ("C:/a/b", ["C:/a/b", "C:/a", "C:/"]),
        ("\\\\s\\t\\a", ["\\\\s\\t\\a", "\\\\s\\t\\"]),
        ("\\\\?\\C:\\a", ["\\\\?\\C:\\a", "\\\\?\\C:\\"]),
        ("a/b", ["a/b", "a"]),
        ("", []),
    ],
)
def test_the_folders_above(path: str, above: list[str]) -> None:
    assert list(ancestors(path)) == above


def test_a_folder_met_on_the_disk_is_hashed_once() -> None:
    assert list(walked_spellings("/home/ana/shop")) == ["/home/ana/shop"]
    assert "C:\\Users\\Ana" in walked_spellings("/mnt/c/Users/Ana")
    assert "/c/Users/Ana" in walked_spellings("C:\\Users\\Ana")
    assert unicodedata.normalize("NFD", "/é") in walked_spellings("/é")
