"""How Claude Code would go on with a session."""

from __future__ import annotations

import json
import os
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from geminids.agents.claude import ClaudeSource
from geminids.core.agents.resume import Circumstances, NotResumable, Resumable, Resuming
from geminids.core.model import Session, SessionKind
from tests.support.claude_lines import SESSION, read_home, reply, user, words, write
from tests.support.reading import custodian_of

SOURCE = ClaudeSource()
NOW = datetime(2026, 5, 10, tzinfo=UTC)


class Desk:
    """A user's home, the folder of a project, and an installed CLI."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.project = folder / "shop"
        self.programs = folder / "bin"
        self.project.mkdir()
        self.programs.mkdir()
        program = self.programs / "claude"
        program.write_text("#!/bin/sh\nexit 1\n")
        program.chmod(0o755)
        slug = re.sub(r"[^A-Za-z0-9]", "-", str(self.project))
        lines = (
            user("u", None, "Hi", cwd=str(self.project)),
            reply("a", "u", words("Ho"), reply_id="m", cwd=str(self.project)),
        )
        self.file = write(self.home, *lines, slug=slug)
        self.used(NOW - timedelta(days=3))

    def used(self, at: datetime) -> None:
        """Have the session used at a moment, and not later."""
        os.utime(self.file, (at.timestamp(), at.timestamp()))

    def session(self) -> Session:
        (session,) = read_home(self.home).sessions
        return session

    def ask(self, session: Session | None = None, given: str | None = None, **variables: str) -> Resuming:
        environment = {"PATH": str(self.programs), **variables}
        circumstances = Circumstances(
            environment=environment, user_home=str(self.home), here="/", now=NOW, given=given
        )
        return custodian_of(SOURCE).resuming(session or self.session(), circumstances)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def resumable(how: Resuming) -> Resumable:
    assert isinstance(how, Resumable), how
    return how


def test_it_goes_on_in_the_folder_of_the_project(desk: Desk) -> None:
    how = resumable(desk.ask())
    assert how.command == ("claude", "--resume", SESSION)
    assert how.folder == str(desk.project)
    assert (how.environment, how.warnings, how.may_lose) == ({}, (), False)
    assert how.program == str(desk.programs / "claude")


def test_another_home_is_named_by_its_variable(desk: Desk, tmp_path: Path) -> None:
    elsewhere = str(tmp_path / "other")
    how = resumable(desk.ask(CLAUDE_CONFIG_DIR=elsewhere))
    assert how.environment == {"CLAUDE_CONFIG_DIR": str(desk.home / ".claude")}
    same = resumable(desk.ask(CLAUDE_CONFIG_DIR=str(desk.home / ".claude")))
    assert same.environment == {}


def test_a_program_that_is_not_there_is_a_warning(desk: Desk) -> None:
    how = resumable(desk.ask(PATH=""))
    assert how.program is None
    assert how.warnings == ("`claude` is not on the PATH.",)


def test_what_will_soon_be_deleted_is_told(desk: Desk) -> None:
    desk.used(NOW - timedelta(days=28))
    assert resumable(desk.ask()).warnings == (
        "Claude Code deletes sessions that have not been used for 30 days; this one on 2026-05-12.",
    )
    desk.used(NOW - timedelta(days=40))
    how = resumable(desk.ask())
    assert how.may_lose
    assert [offer.commands[0][:2] for offer in how.offers] == [("geminids", "export")]
    settings = desk.home / ".claude" / "settings.json"
    settings.write_text(json.dumps({"cleanupPeriodDays": 3650}))
    assert resumable(desk.ask()).warnings == ()
    settings.write_text("{ no settings")
    assert resumable(desk.ask()).may_lose


def test_a_folder_that_is_gone_or_was_moved_keeps_it_from_going_on(desk: Desk) -> None:
    moved = msgspec.structs.replace(desk.session().project, path=str(desk.home))
    how = desk.ask(msgspec.structs.replace(desk.session(), project=moved))
    assert isinstance(how, NotResumable)
    assert "was moved" in how.reason
    session = desk.session()
    desk.project.rmdir()
    gone = desk.ask(session)
    assert isinstance(gone, NotResumable)
    assert "does not exist" in gone.reason
    unknown = msgspec.structs.replace(session.project, path=None)
    assert isinstance(desk.ask(msgspec.structs.replace(session, project=unknown)), NotResumable)


def test_subagents_and_files_given_by_hand_are_not_resumed(desk: Desk) -> None:
    child = msgspec.structs.replace(desk.session(), kind=SessionKind.SUBAGENT)
    assert isinstance(desk.ask(child), NotResumable)
    assert isinstance(desk.ask(given=str(desk.file)), NotResumable)
