"""Whose session is it: what files say about a project's folder, and that no wrong path is ever certain."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from geminids.agents.gemini.read.evidence import context_paths
from geminids.core import agents
from geminids.core.model import KnownBy, Session, folder_hash
from tests.conftest import RecordProperty
from tests.support.examples import examples
from tests.support.homes import tool_call, write_session
from tests.support.reading import sessions

SOURCE = agents.load("gemini")


def scenarios(corpus: Path) -> Iterator[tuple[Path, set[str]]]:
    """Every recorded home, and the folders that the CLI was really started in."""
    for manifest in sorted(corpus.glob("real/*/*/manifest.json")):
        runs = json.loads(manifest.read_bytes())["runs"]
        yield manifest.parent, {run["cwd"] for run in runs if run.get("cwd")}


@pytest.mark.slow
def test_every_project_of_the_corpus_is_known_for_certain(
    corpus: Path, record_property: RecordProperty
) -> None:
    known: Counter[str] = Counter()
    for scenario, folders in scenarios(corpus):
        for session in sessions(SOURCE, scenario / "home"):
            assert session.project.certain, f"{scenario}: {session.id}"
            assert session.project.path in folders, f"{scenario}: {session.id}"
            known[str(session.project.known_by)] += 1
    record_property("counts", f"folders of sessions in the corpus, all certain and right: {dict(known)}")


@pytest.mark.slow
def test_sessions_alone_prove_every_folder_that_they_name(
    corpus: Path, tmp_path: Path, record_property: RecordProperty
) -> None:
    """The same without any note of the CLI about its projects; a naive search tells what can be found."""
    known: Counter[str] = Counter()
    for number, (scenario, folders) in enumerate(scenarios(corpus)):
        home = tmp_path / str(number)
        for file in (scenario / "home").rglob("session-*.json*"):
            if not file.name.endswith(".oracle.json"):
                copied = home / ".gemini" / "tmp" / ("ab" * 32) / "chats" / file.name
                copied.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(file, copied)
        for session in sessions(SOURCE, home):
            project = session.project
            assert not project.certain or project.path in folders
            named = named_folder(session)
            how = str(project.known_by) if project.certain else "not at all"
            if named and not project.certain:
                assert named in SOURCE.projects().named_folders(session), session.files
                how = "any word, on request"
            known[how] += 1
    record_property("counts", f"folders that sessions alone prove: {dict(known)}")


def named_folder(session: Session) -> str | None:
    """The folder whose hash the session has, if any text in its files names it or something in it."""
    texts = "\n".join(Path(file.path).read_text("utf-8", "replace") for file in session.files)
    for path in set(re.findall(r"/tmp/demo[^\s\"'\\`:;,)<>*]*", texts)):
        above = Path(path)
        for folder in (above, *above.parents):
            if folder_hash(str(folder)) == session.project.hash:
                return str(folder)
    return None


@pytest.mark.parametrize(
    ("text", "folders"),
    [
        ("- **Workspace Directories:**\n  - /a/b\n  - /c d\n- **Directory Structure:**", ["/a/b", "/c d"]),
        ("I'm currently working in the directory: /a/b\nHere is the folder", ["/a/b"]),
        ("I'm currently working in the following directories:\n  - /a\n  - /b\nHere", ["/a", "/b"]),
        ("- **Workspace Directories:**\n\n  - /a", []),
        ("nothing of the kind", []),
    ],
)
def test_the_opening_of_the_cli_names_the_folders_it_works_in(text: str, folders: list[str]) -> None:
    assert list(context_paths(text)) == folders


NAMES = some.text("abcXYZ 0-_.éж世", min_size=1, max_size=6).filter(lambda name: name.strip(" .") == name)
PATHS = some.lists(NAMES, min_size=1, max_size=5).map(lambda names: "/" + "/".join(names))


@settings(
    max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(true=PATHS, other=PATHS, data=some.data())
def test_no_wrong_path_is_ever_certain(true: str, other: str, data: Any, tmp_path: Path) -> None:
    """Markers, registries, trust, arguments and directories that are right, wrong, moved or absent."""
    home = tmp_path / folder_hash(true + other)[:12]
    shutil.rmtree(home, ignore_errors=True)
    claims = some.sampled_from([true, other, f"{true}/", f"{true}/src", None, "/", "relative", ""])
    asked = data.draw(claims)
    calls = [tool_call(args={"file_path": f"{asked}/deep/file.py"})] if asked else []
    file = write_session(home, slug="app", project=true, calls=calls)
    write_claims(home, file.parent.parent, data.draw(claims), data.draw(claims), data.draw(claims))
    (session,) = (s for s in sessions(SOURCE, home) if s.kind == "main")
    project = session.project
    assert project.hash == folder_hash(true)
    if project.certain:
        assert project.path is not None
        assert folder_hash(project.path) == project.hash
        assert project.path == true
    if asked and asked.startswith(true):
        assert project.certain, "a path below the folder is a proof of it"


def write_claims(
    home: Path, folder: Path, marker: str | None, registered: str | None, trusted: str | None
) -> None:
    (folder / ".project_root").unlink()
    if marker is not None:
        (folder / ".project_root").write_text(marker, "utf-8")
    if registered is not None:
        registry = {"projects": {registered: "app"}}
        (home / ".gemini" / "projects.json").write_text(json.dumps(registry), "utf-8")
    if trusted is not None:
        trust = {trusted: "TRUST_FOLDER"}
        (home / ".gemini" / "trustedFolders.json").write_text(json.dumps(trust), "utf-8")


def test_a_marker_of_windows_in_small_letters_is_proven_by_the_true_spelling(tmp_path: Path) -> None:
    true = "C:\\Users\\Ada\\Shop"
    calls = [tool_call(args={"file_path": f"{true}\\src\\a.py"})]
    file = write_session(tmp_path, project=true, calls=calls)
    (file.parent.parent / ".project_root").write_text(true.lower(), "utf-8")
    (session,) = sessions(SOURCE, tmp_path)
    assert (session.project.path, session.project.known_by) == (true, KnownBy.MARKER)
    assert session.project.certain


def test_a_folder_that_only_a_call_hints_at_is_a_guess(tmp_path: Path) -> None:
    calls = [tool_call(args={"file_path": f"/home/ada/dev/moved/src/{name}.py"}) for name in "abc"]
    file = write_session(tmp_path, project="/home/ada/dev/before", calls=calls)
    (file.parent.parent / ".project_root").unlink()
    (session,) = sessions(SOURCE, tmp_path)
    assert (session.project.path, session.project.certain) == ("/home/ada/dev/moved/src", False)
    assert session.project.known_by is KnownBy.ARGUMENTS


@pytest.mark.parametrize(
    "registry",
    [
        "",
        "{",
        '{"projects": {"/home/ada/dev/shop": "sh',
        "[]",
        '["/home/ada/dev/shop"]',
        '{"projects": ["/home/ada/dev/shop"]}',
        '{"projects": {"/home/ada/dev/shop": 7, "": "x", "relative": "y"}}',
        "null",
        "\x00\x01",
    ],
)
def test_a_broken_registry_costs_nothing_but_itself(tmp_path: Path, registry: str) -> None:
    write_session(tmp_path)
    for name in ("projects.json", "trustedFolders.json"):
        (tmp_path / ".gemini" / name).write_text(registry, "utf-8")
    (session,) = sessions(SOURCE, tmp_path)
    assert session.project.certain


def test_a_registry_that_is_being_written_is_read_as_it_was(tmp_path: Path) -> None:
    path = write_session(tmp_path)
    (path.parent.parent / ".project_root").unlink()
    home = tmp_path / ".gemini"
    (home / "projects.json").write_text('{"projects": {"/home/ada/dev/shop": "shop"}}', "utf-8")
    (home / "projects.json.lock").mkdir()
    (home / "projects.json.0a1b2c3d.tmp").write_text('{"projects": {"/ho', "utf-8")
    (session,) = sessions(SOURCE, tmp_path)
    assert (session.project.path, session.project.known_by) == ("/home/ada/dev/shop", KnownBy.REGISTRY)
