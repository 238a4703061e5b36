"""Folders that are known on a machine, and folders that are looked for."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Iterator
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geminids.agents.claude.known_folders import folders_named
from geminids.core.model import KnownBy
from geminids.sync.projects.agents_folders import agents_folders
from geminids.sync.projects.folders import current_folder, known_folders
from geminids.sync.projects.resolution import Known
from geminids.sync.projects.shells import folders_in_history, shell_history
from geminids.sync.projects.walk import DEEP_DEPTH, QUICK_DEPTH, Mounts, search_roots, searched
from geminids.sync.projects.work_trees import work_trees
from tests.conftest import Rights

NO_MOUNTS = Mounts(b"/dev/sda / ext4 rw 0 0\n")
LATER = float("inf")
PIECES = rb"""cd@pushd@'@"@\@;@/a@~@$HOME@${@..@- cmd:@: 1:0;@C:\@\\@-@ @z""".split(b"@")
PIECES += [b"\n", b"\0", b"\x83", b"\xe3\x81"]


def paths(known: Iterable[Known]) -> list[str]:
    return [path for path, _ in known]


def written(file: Path, content: str | bytes) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return file


def test_the_current_folder_and_those_above_it() -> None:
    assert list(current_folder(Path("/home/ana"))) == [
        ("/home/ana", KnownBy.CURRENT_FOLDER),
        ("/home", KnownBy.CURRENT_FOLDER),
        ("/", KnownBy.CURRENT_FOLDER),
    ]


@pytest.mark.parametrize(
    ("line", "folder"),
    [
        ("cd /srv/shop", "/srv/shop"),
        ("cd ~/dev/shop", "/home/ana/dev/shop"),
        ("cd dev/shop", "/home/ana/dev/shop"),
        ("cd '/srv/my shop' && ls", "/srv/my shop"),
        ('cd "/srv/my shop"; ls', "/srv/my shop"),
        (r"cd /srv/my\ shop", "/srv/my shop"),
        ("cd -- $HOME/shop", "/home/ana/shop"),
        ('pushd "${WORK}/shop" >/dev/null', "/w/shop"),
        ("make && cd -P /srv/shop", "/srv/shop"),
        (": 1458291931:0;cd /srv/shop", "/srv/shop"),
        ("- cmd: cd /srv/shop", "/srv/shop"),
        ("git -C /srv/shop status", "/srv/shop"),
        ("code /srv/shop", "/srv/shop"),
        ("(cd /srv/shop && make)", "/srv/shop"),
        (r"cd C:\Users\Ana\shop", r"C:\Users\Ana\shop"),
        (r"Set-Location 'C:\Users\Ana\my shop'", r"C:\Users\Ana\my shop"),
        ("cd /srv\ncd ../opt/x\ncd ..\ncd shop", "/opt/shop"),
        ("cd /srv/shop\ncd /opt\ncd -\ncd api", "/srv/shop/api"),
        ("cd /srv\nls\ncd shop", "/srv/shop"),
    ],
)
def test_where_a_command_goes(line: str, folder: str) -> None:
    assert folder in folders_in_history(line, "/home/ana", {"WORK": "/w"})


@pytest.mark.parametrize(
    "line", ["cdfoo /a", "echo cd", "zsh /a", "decode /a", "cd ~root/x", "cd", "cd -", ""]
)
def test_where_no_command_goes(line: str) -> None:
    assert folders_in_history(line, "/home/ana", {}) == []


def test_histories_of_all_shells_are_read_with_the_folders_above(tmp_path: Path) -> None:
    written(tmp_path / ".bash_history", "#1458291931\ncd /b/one\n")
    # As zsh writes it: some bytes behind another.
    written(tmp_path / ".zsh_history", ": 1:0;cd /zsh/ほげ\n".encode().replace(b"\x92", b"\x83\xb2"))
    written(tmp_path / ".local/share/fish/fish_history", "- cmd: cd /fish/my\\\\ shop\n  when: 1\n")
    written(tmp_path / "own-history", "cd /own/shop\n")
    written(tmp_path / ".z", "/jump/shop|12.5|1458291931\nnonsense\n")
    written(tmp_path / ".local/share/autojump/autojump.txt", "20.0\t/auto/shop\n")
    found = list(shell_history(tmp_path, {"HISTFILE": str(tmp_path / "own-history")}))
    assert {known_by for _, known_by in found} == {KnownBy.SHELL_HISTORY}
    for path in ("/b/one", "/b", "/zsh/ほげ", "/fish/my shop", "/own/shop", "/jump/shop", "/auto/shop", "/"):
        assert path in paths(found)
    assert len(found) == len(set(found))


def test_the_last_folder_gone_to_comes_first(tmp_path: Path) -> None:
    written(tmp_path / ".bash_history", "cd /a/one\ncd /a/two\ncd /a/one\n")
    assert paths(shell_history(tmp_path, {})) == ["/a/one", "/a", "/", "/a/two"]


def test_only_the_end_of_a_long_history_is_read(tmp_path: Path) -> None:
    written(tmp_path / ".bash_history", "cd /early\n" + "ls -la\n" * 400_000 + "cd /late\n")
    assert "/late" in paths(shell_history(tmp_path, {}))
    assert "/early" not in paths(shell_history(tmp_path, {}))


@given(st.one_of(st.binary(max_size=300), st.lists(st.sampled_from(PIECES), max_size=40).map(b"".join)))
def test_no_history_is_too_strange(content: bytes) -> None:
    text = content.decode("utf-8", "surrogateescape")
    for path in folders_in_history(text, "/home/ana", {}):
        assert "\0" not in path


@pytest.mark.slow
@pytest.mark.parametrize(
    "content",
    [
        b"\xff\xfe\x00" * 200_000,
        b"cd " + b"x" * 2_000_000,
        b"cd '" * 400_000,
        b'cd "\\' * 300_000,
        b";cd \\" * 300_000,
        b"cd ../" * 300_000,
        b"; " * 1_000_000,
        b"cd a\n" * 400_000,
        b"cd /" + b"a/" * 1_000_000,
    ],
)
def test_a_hostile_history_takes_no_long_time(tmp_path: Path, content: bytes) -> None:
    for name in (".bash_history", ".zsh_history"):
        written(tmp_path / name, content)
    began = time.process_time()
    for _ in shell_history(tmp_path, {}):
        pass
    assert time.process_time() - began < 10


def test_a_history_that_is_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / ".bash_history")
    (tmp_path / ".zsh_history").mkdir()
    assert paths(shell_history(tmp_path, {"HISTFILE": "/dev/zero"})) == []


def test_projects_of_claude_code(tmp_path: Path) -> None:
    written(tmp_path / ".claude.json", json.dumps({"projects": {"/a/account": {}}, "oauthAccount": {}}))
    session = (
        json.dumps({"type": "summary"}) + "\n" + json.dumps({"cwd": "/a/thrée-four", "text": '"cwd":"/no"'})
    )
    written(tmp_path / ".claude/projects/-a-thr-e-four/x.jsonl", session)
    assert list(agents_folders(tmp_path, {})) == [("/a/thrée-four", KnownBy.OTHER_AGENT)]
    assert paths(agents_folders(tmp_path / "no", {"CLAUDE_CONFIG_DIR": str(tmp_path / ".claude")})) == [
        "/a/thrée-four"
    ]


def test_projects_of_codex(tmp_path: Path) -> None:
    written(tmp_path / ".codex/config.toml", '[projects."/a/one"]\ntrust_level = "trusted"\n')
    first = json.dumps(
        {"type": "session_meta", "payload": {"id": "1", "cwd": "/a/two", "instructions": "x" * 99_999}}
    )
    written(tmp_path / ".codex/sessions/2026/05/01/rollout-2026-05-01-x.jsonl", first)
    assert paths(agents_folders(tmp_path, {})) == ["/a/one", "/a/two"]
    assert paths(agents_folders(tmp_path / "no", {"CODEX_HOME": str(tmp_path / ".codex")})) == [
        "/a/one",
        "/a/two",
    ]


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"projects": 1}', b"\xff\0", b"[" * 100_000])
def test_damaged_files_of_other_agents_tell_nothing(tmp_path: Path, content: bytes) -> None:
    written(tmp_path / ".codex/config.toml", content)
    written(tmp_path / ".claude/projects/strange/x.jsonl", content)
    written(tmp_path / ".codex/sessions/2026/05/01/rollout-x.jsonl", content)
    assert paths(agents_folders(tmp_path, {})) == []


def test_a_damaged_config_still_names_its_projects(tmp_path: Path) -> None:
    written(tmp_path / ".codex/config.toml", 'model = \n[projects."/a/one"]\ntrust_level = "trusted"\n')
    assert paths(agents_folders(tmp_path, {})) == ["/a/one"]


def test_a_name_of_claude_code_is_looked_up_on_the_disk(tmp_path: Path) -> None:
    for name in ("my-shop", "my/shop", "my.shop", "my/shop/deeper", "else"):
        (tmp_path / "root" / name).mkdir(parents=True)
    root = str(tmp_path / "root")
    found = folders_named("-my-shop", root)
    assert sorted(found) == sorted(f"{root}/{name}" for name in ("my-shop", "my/shop", "my.shop"))
    assert folders_named("-my-shop-gone", root) == []
    assert folders_named("no-path", root) == []


def test_a_name_that_could_be_anything_is_given_up(tmp_path: Path) -> None:
    folder = tmp_path
    for _ in range(12):
        for name in ("-", "--", "---"):
            (folder / name).mkdir()
        folder = folder / "-"
    began = time.process_time()
    folders_named("-" * 200, str(tmp_path))
    assert time.process_time() - began < 5


def test_work_trees_and_their_repository(tmp_path: Path) -> None:
    shop, tree, moved = (str(tmp_path / name) for name in ("shop", "tree", "moved"))
    written(tmp_path / "shop/.git/worktrees/tree/gitdir", f"{tree}/.git\n")
    written(tmp_path / "shop/.git/worktrees/near/gitdir", "../../../../moved/.git\n")
    written(tmp_path / "shop/.git/worktrees/bad/gitdir", b"\0\n\n")
    written(tmp_path / "tree/.git", f"gitdir: {shop}/.git/worktrees/tree\n")
    assert {path for path, _ in work_trees([shop])} == {tree, moved}
    assert {path for path, _ in work_trees([tree])} == {shop, moved}
    assert {path for path, _ in work_trees([tree, shop])} == {shop, moved}
    assert paths(work_trees([str(tmp_path), "relative", "/nowhere", "/\0", "x" * 5000])) == []


def test_all_that_is_known_comes_with_where_links_lead(tmp_path: Path) -> None:
    real = tmp_path / "real" / "shop"
    real.mkdir(parents=True)
    (tmp_path / "link").symlink_to(real)
    written(tmp_path / "home/.bash_history", f"cd {tmp_path}/link\n")
    written(real / ".git/worktrees/tree/gitdir", "/elsewhere/tree/.git\n")
    sources = known_folders(tmp_path / "home", {}, Path("/"), NO_MOUNTS)
    found = [known for source in sources for known in source]
    assert (str(real), KnownBy.SHELL_HISTORY) in found
    assert ("/elsewhere/tree", KnownBy.WORKTREE) in found
    remote = Mounts(f"server:/x {tmp_path} nfs4 rw 0 0\n".encode())
    sources = known_folders(tmp_path / "home", {}, Path("/"), remote)
    assert str(real) not in paths(known for source in sources for known in source)


def tree(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).mkdir(parents=True, exist_ok=True)


def test_folders_are_met_nearest_first_and_projects_before_others(tmp_path: Path) -> None:
    tree(tmp_path, "a/plain/deep", "a/shop/.git", "a/shop/api/v1", "b")
    root = str(tmp_path)
    found = paths(searched([root], QUICK_DEPTH, LATER, mounts=NO_MOUNTS))
    depths = [path.count("/") for path in found]
    assert depths == sorted(depths)
    assert found.index(f"{root}/a/shop/api/v1") < len(found)
    inside = [path for path in found if path.count("/") == root.count("/") + 3]
    assert set(inside) == {f"{root}/a/plain/deep", f"{root}/a/shop/.git", f"{root}/a/shop/api"}
    written(tmp_path / "a/plain/GEMINI.md", "")
    tree(tmp_path, "a/plain/deep/one", "a/other/deep/two")
    found = paths(searched([root], QUICK_DEPTH, LATER, mounts=NO_MOUNTS))
    assert found.index(f"{root}/a/plain/deep/one") < found.index(f"{root}/a/other/deep/two")


def test_what_programs_fill_is_met_but_not_entered(tmp_path: Path) -> None:
    tree(
        tmp_path,
        "node_modules/x",
        ".git/x",
        ".hidden/x",
        "build/x",
        "Library/x",
        "shop/.gemini/worktrees/fix/api",
    )
    root = str(tmp_path)
    walked = searched([root], 4, LATER, homes=[tmp_path], mounts=NO_MOUNTS)
    quick = {path.removeprefix(root) for path in paths(walked)}
    assert quick == {
        *("", "/node_modules", "/.git", "/.hidden", "/build", "/Library", "/shop", "/shop/.gemini"),
        *("/shop/.gemini/worktrees/fix", "/shop/.gemini/worktrees/fix/api"),
    }
    deep = set(paths(searched([root], DEEP_DEPTH, LATER, homes=[tmp_path], mounts=NO_MOUNTS)))
    assert {f"{root}/.hidden/x", f"{root}/build/x"} <= deep
    assert not {f"{root}/node_modules/x", f"{root}/.git/x", f"{root}/Library/x"} & deep


def test_a_walk_never_leaves_its_roots(tmp_path: Path) -> None:
    tree(tmp_path, "root/a", "outside/secret", "root/mounted/secret")
    (tmp_path / "root/link").symlink_to(tmp_path / "outside")
    (tmp_path / "root/a/loop").symlink_to(tmp_path / "root")
    mounts = Mounts(f"server:/x {tmp_path}/root/mounted nfs4 rw 0 0\n".encode())
    found = paths(searched([str(tmp_path / "root")], DEEP_DEPTH, LATER, mounts=mounts))
    assert {path.removeprefix(str(tmp_path)) for path in found} == {"/root", "/root/a", "/root/mounted"}


def test_a_walk_does_not_enter_what_the_kernel_makes_up() -> None:
    found = paths(searched(["/"], 2, LATER, mounts=Mounts.of_this_machine()))
    assert "/proc" in found
    assert not [path for path in found if path.startswith(("/proc/", "/sys/", "/dev/"))]


def test_without_a_table_of_mounts_a_walk_stays_on_its_disk() -> None:
    found = paths(searched(["/"], 2, LATER, mounts=Mounts(b"")))
    entered = {Path(path).parent for path in found}
    assert {folder.lstat().st_dev for folder in entered if folder.is_dir()} == {Path("/").stat().st_dev}


def test_a_folder_that_may_not_be_read_does_not_stop_a_walk(
    tmp_path: Path, without_privileges: Rights
) -> None:
    tree(tmp_path, "a/x", "closed/x", "z/x")
    (tmp_path / "closed").chmod(0)
    with without_privileges():
        found = paths(searched([str(tmp_path), str(tmp_path / "gone")], 3, LATER, mounts=NO_MOUNTS))
    (tmp_path / "closed").chmod(0o755)
    assert {str(tmp_path / name) for name in ("a/x", "closed", "z/x")} <= set(found)
    assert str(tmp_path / "closed/x") not in found


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A clock that goes on by one whenever the walk looks at it, however quick the machine is."""
    looks = count(1)
    monkeypatch.setattr("geminids.sync.projects.walk.time", SimpleNamespace(monotonic=looks.__next__))
    return looks


def test_a_walk_ends_at_its_deadline(tmp_path: Path, looks: Iterator[int]) -> None:
    for outer in range(20):
        for inner in range(20):
            (tmp_path / str(outer) / str(inner)).mkdir(parents=True)
    roots = [str(tmp_path)]
    assert len(paths(searched(roots, 4, LATER, mounts=NO_MOUNTS))) == 1 + 20 + 20 * 20
    assert paths(searched(roots, 4, next(looks), mounts=NO_MOUNTS)) == roots
    # It looks before it enters a folder: the root, and four of those in it.
    assert len(paths(searched(roots, 4, next(looks) + 6, mounts=NO_MOUNTS))) == 1 + 20 + 4 * 20


def test_a_walk_ends_at_its_deadline_within_one_huge_folder(tmp_path: Path, looks: Iterator[int]) -> None:
    for number in range(1000):
        (tmp_path / str(number)).mkdir()
    found = paths(searched([str(tmp_path)], 4, next(looks) + 2, mounts=NO_MOUNTS))
    assert 1 < len(found) < 1001


def test_where_to_look(tmp_path: Path) -> None:
    tree(tmp_path, "dev", "Documents", "go/src", "own")
    roots = search_roots(
        tmp_path, {"GHQ_ROOT": str(tmp_path / "own"), "WORKSPACE": "relative"}, mounts=NO_MOUNTS
    )
    assert roots[:5] == [str(tmp_path / name) for name in ("own", "dev", "go/src", "Documents", ".")]
    assert "relative" not in roots
    remote = Mounts(
        f"server:/x {tmp_path}/dev nfs4 rw 0 0\n/dev/sdb {tmp_path}/disk\\040two ext4 rw 0 0".encode()
    )
    tree(tmp_path, "disk two")
    assert str(tmp_path / "dev") not in search_roots(tmp_path, {}, mounts=remote)
    assert str(tmp_path / "disk two") in search_roots(tmp_path, {}, deep=True, mounts=remote)
    assert str(tmp_path / "disk two") not in search_roots(tmp_path, {}, mounts=remote)


@pytest.mark.parametrize(
    ("row", "entered"),
    [
        ("/dev/sda1 /m ext4 rw", True),
        ("C:\\134 /m 9p rw,aname=drvfs;path=C:\\;uid=1000", True),
        ("/dev/sdb1 /m fuse.ntfs-3g rw", True),
        ("tmpfs /m tmpfs rw", True),
        ("host:/x /m nfs4 rw", False),
        ("//host/x /m cifs rw", False),
        ("me@host: /m fuse.sshfs rw", False),
        ("x /m 9p rw,trans=virtio", False),
        ("systemd-1 /m autofs rw", False),
        ("proc /m proc rw", False),
    ],
)
def test_which_mounts_are_entered(row: str, entered: bool) -> None:
    mounts = Mounts(f"{row} 0 0\n".encode())
    assert ("/m" in mounts.entered, "/m" in mounts.not_entered) == (entered, not entered)
