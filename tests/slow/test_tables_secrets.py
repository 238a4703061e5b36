"""No planted secret stands in any column of any table, in any file that is written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from uuid import UUID

import pytest

from geminids.core.disk import REAL
from geminids.core.model import Problem, ProblemKind, Session
from geminids.scale.engine import Question, batches
from geminids.scale.homes import pieces
from geminids.scale.rows import Whose, add_session, no_rows, problem_rows
from geminids.scale.schema import TABLES
from geminids.scale.tables.parquet import PartFiles
from geminids.scale.tables.part import Manner, PartToWrite, _Making
from tests.support.homes import tool_call, write_session
from tests.support.planted_secrets import Planted, cases, planted, session_of
from tests.support.poisoned_homes import SECRET, write_poisoned
from tests.support.redacting import redactor
from tests.support.tables import strings, table, write_tables

WHOSE = Whose("gemini", "2026-05", "laptop")


def files_of(sessions: Iterator[Session], folder: Path) -> str:
    """All that stands in the files of sessions, as they are written with secrets hidden."""
    hiding, rows = redactor("full"), no_rows()
    for session in sessions:
        add_session(rows, hiding.redact(session).session, WHOSE, words=True)
    folder.mkdir()
    with PartFiles(folder, words=True) as files:
        files.add(rows)
        files.finish()
    return "\n".join(strings(folder))


def visible(secret: Planted, text: str) -> list[str]:
    # A number may be a part of another one.
    return [piece for piece in secret.secrets if re.search(rf"(?<!\d){re.escape(piece)}(?!\d)", text)]


@pytest.mark.parametrize("secret", planted(), ids=lambda secret: secret.kind)
def test_a_secret_is_in_no_column_wherever_it_stands(secret: Planted, tmp_path: Path) -> None:
    text = files_of((session_of(secret, place) for place in secret.places), tmp_path / "files")
    assert "gemini:1f0c9a2b" in text
    assert visible(secret, text) == []


def test_a_home_full_of_secrets_is_written_without_them(tmp_path: Path) -> None:
    home, out = tmp_path / "home", tmp_path / "out"
    secrets = planted()
    for number, secret in enumerate(secrets):
        result = [{"functionResponse": {"id": "1", "name": "x", "response": {"output": secret.text}}}]
        calls = [tool_call(args=secret.arguments or {"command": secret.text}, result=result)]
        write_session(
            home,
            str(UUID(int=number, version=4)),
            slug=f"project-{number}",
            day=1 + number % 28,
            prompt=secret.text or "Log in",
            answer=secret.text or "Done.",
            calls=calls,
        )
    written = write_tables(home, tmp_path / "data", out, redactor=redactor("full"), jobs=2)
    assert written.rows["sessions"] == written.rows["calls"] == len(secrets)
    assert written.hidden >= len(secrets)
    assert not written.failed
    text = "\n".join(strings(out))
    assert {secret.kind: found for secret in secrets if (found := visible(secret, text))} == {}


def test_raw_tables_hold_what_was_said(tmp_path: Path) -> None:
    """What the tests above look for would be seen."""
    secret = planted()[0]
    write_session(tmp_path / "home", prompt=secret.text)
    write_tables(tmp_path / "home", tmp_path / "data", tmp_path / "out")
    assert visible(secret, "\n".join(strings(tmp_path / "out"))) == list(secret.secrets)


def test_what_people_tell_is_hidden_and_what_is_harmless_stays(tmp_path: Path) -> None:
    numbers, home, out = count(1000), tmp_path / "home", tmp_path / "out"
    told = [case for case in cases() if [who for who, _ in case["said"]] in (["user"], ["user", "model"])]
    assert len(told) > 20
    for number, case in zip(numbers, told, strict=False):
        said = [words for _, words in case["said"]]
        write_session(
            home,
            str(UUID(int=number, version=4)),
            slug=f"project-{number}",
            prompt=said[0],
            answer=said[-1] if len(said) > 1 else "Done.",
        )
    write_tables(home, tmp_path / "data", out, redactor=redactor("full"), jobs=2)
    text = "\n".join(strings(out))
    for case in told:
        assert [secret for secret in case.get("secrets", ()) if secret in text] == []
    staying = [words for case in told for words in case.get("stay", ())]
    assert sum(words in text for words in staying) > len(staying) * 0.9


def test_recorded_homes_in_which_every_text_holds_a_secret(tmp_path: Path) -> None:
    home = write_poisoned(tmp_path / "home", poison=f" token {SECRET}")
    written = write_tables(home, tmp_path / "data", tmp_path / "out", redactor=redactor("full"), jobs=2)
    assert written.rows["sessions"] > 5
    assert not written.failed
    text = "\n".join(strings(tmp_path / "out"))
    assert SECRET not in text
    assert {row["agent"] for row in table(tmp_path / "out", "sessions")} == {"gemini", "claude", "codex"}


def test_the_name_of_a_file_that_cannot_be_read_tells_no_secret(tmp_path: Path) -> None:
    token = next(one.secrets[0] for one in planted() if one.is_token)
    problem = Problem(f"/srv/{token}/chats/x.json", ProblemKind.BAD_JSON, "cut off")
    part = PartToWrite("gemini/unknown", Manner(str(tmp_path), "m", redactor=redactor("full")), (), (), {})
    rows = list(_Making(part)._problems([problem]))
    assert len(rows) == 1
    assert token not in repr(rows)
    assert token in repr(list(problem_rows([problem], WHOSE)))


def test_what_only_the_words_of_a_session_show_to_be_a_secret(tmp_path: Path) -> None:
    """It stands in the names of its project and of its files, too."""
    secret, home = "Xk9qLmPz7w2Rt", tmp_path / "home"
    path = write_session(
        home, slug=f"s-{secret}", prompt=f"password={secret}", project=f"/home/ada/dev/{secret}"
    )
    path.write_bytes(path.read_bytes() + b"{torn\n")
    write_tables(home, tmp_path / "data", tmp_path / "out", redactor=redactor("full"))
    assert len(table(tmp_path / "out", "problems")) == 1
    assert secret not in "\n".join(strings(tmp_path / "out"))
    for table_name in TABLES:
        for piece in pieces(REAL, str(home)):
            question = Question(piece, table_name, redactor=redactor("full"))
            assert secret not in repr([rows.to_pylist() for rows in batches(question)])
