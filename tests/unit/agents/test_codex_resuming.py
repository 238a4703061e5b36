"""How Codex would go on with a session, and why it would not."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from geminids.agents.codex import CodexSource
from geminids.core.agents.resume import Circumstances, NotResumable, Resumable, Resuming
from geminids.core.model import Session
from tests.support.codex_homes import OTHER, THREAD, meta, said, write_rollout
from tests.support.reading import custodian_of, sessions

SOURCE = CodexSource()


def session_in(home: Path, folder: str = "sessions/2026/11/15", **header: Any) -> Session:
    write_rollout(home, [meta(**{"cwd": str(home), **header}), said("Hello?")], folder=folder)
    (session,) = sessions(SOURCE, home)
    return session


def ask(session: Session, home: Path, given: str | None = None, **variables: str) -> Resuming:
    now = datetime(2026, 11, 20, tzinfo=UTC)
    where = Circumstances(environment=variables, user_home=str(home), here="/", now=now, given=given)
    return custodian_of(SOURCE).resuming(session, where)


def resumable(session: Session, home: Path, **variables: str) -> Resumable:
    answer = ask(session, home, **variables)
    assert isinstance(answer, Resumable)
    return answer


def refused(answer: Resuming) -> NotResumable:
    assert isinstance(answer, NotResumable)
    return answer


@pytest.fixture
def programs(tmp_path: Path) -> str:
    """A folder with a program that is called codex; it is never started."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "codex").write_text("#!/bin/false\n")
    (folder / "codex").chmod(0o755)
    return str(folder)


@pytest.mark.parametrize("folder", ["sessions/2026/11/15", "archived_sessions"])
def test_an_id_that_is_an_option_is_never_handed_on(tmp_path: Path, folder: str) -> None:
    session = session_in(tmp_path, folder, id="--dangerously-bypass-approvals-and-sandbox")
    answer = refused(ask(session, tmp_path))
    assert "take its id for an option" in answer.reason
    assert answer.offers == ()


def test_a_session_goes_on_in_its_folder(tmp_path: Path, programs: str) -> None:
    answer = resumable(session_in(tmp_path), tmp_path, PATH=programs)
    assert answer.command == ("codex", "resume", THREAD)
    assert (answer.folder, answer.environment, answer.warnings) == (str(tmp_path), {}, ())
    assert answer.program == f"{programs}/codex"
    assert not answer.may_lose


def test_another_home_has_to_be_named(tmp_path: Path, programs: str) -> None:
    session = session_in(tmp_path)
    answer = resumable(session, tmp_path / "other", PATH=programs)
    assert answer.environment == {"CODEX_HOME": str(tmp_path / ".codex")}
    assert resumable(session, tmp_path / "other", CODEX_HOME=str(tmp_path / ".codex")).environment == {}


def test_a_missing_program_and_a_missing_folder_are_warned_of(tmp_path: Path) -> None:
    answer = resumable(session_in(tmp_path, cwd="/no/such/folder"), tmp_path)
    assert answer.program is None
    assert answer.folder == "/"
    assert len(answer.warnings) == 2
    assert len(resumable(session_in(tmp_path, cwd=None), tmp_path).warnings) == 2


def test_an_archived_session_is_taken_out_first(tmp_path: Path) -> None:
    answer = refused(ask(session_in(tmp_path, "archived_sessions"), tmp_path))
    assert answer.offers[0].commands == (("codex", "unarchive", THREAD), ("codex", "resume", THREAD))
    (session,) = sessions(SOURCE, tmp_path)
    elsewhere = refused(ask(session, tmp_path / "other"))
    assert elsewhere.offers[0].commands[0][:2] == ("env", f"CODEX_HOME={tmp_path / '.codex'}")


def test_a_subagent_goes_on_with_its_parent(tmp_path: Path) -> None:
    source = {"subagent": {"thread_spawn": {"parent_thread_id": OTHER, "depth": 1}}}
    answer = refused(ask(session_in(tmp_path, source=source), tmp_path))
    assert answer.offers[0].commands == (("codex", "resume", OTHER),)
    assert not refused(ask(session_in(tmp_path, source={"subagent": "review"}), tmp_path)).offers


def test_a_file_given_by_hand_is_not_resumed(tmp_path: Path) -> None:
    session = session_in(tmp_path)
    assert "by path" in refused(ask(session, tmp_path, given=session.files[0].path)).reason


def test_a_session_outside_of_a_home_is_not_resumed(tmp_path: Path) -> None:
    path = write_rollout(tmp_path, [meta(), said("Hello?")], folder="copies")
    reading = SOURCE.read_alone(path)
    assert reading
    assert "is not where" in refused(ask(reading.sessions[0], tmp_path)).reason
