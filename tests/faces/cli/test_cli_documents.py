"""The JSON Schemas in docs/: generated from the documents, and true of what the commands print."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import msgspec
import pytest

from geminids.faces.documents.printed import DOCUMENTS
from geminids.sharing.export.data import encode
from geminids.sharing.export.session_document import SessionDocument
from tests.conftest import FIXTURES, ROOT, Run
from tests.support.documents import check_printed, generated, name_of, validators
from tests.support.golden import check_golden

HOMES = sorted(FIXTURES.glob("gemini/*/home"))


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_the_schema_in_docs_is_that_of_the_document(document: type[msgspec.Struct]) -> None:
    _, name, _ = name_of(document).split("/")
    check_golden(ROOT / "docs" / f"{name}.schema.json", generated(document))


@pytest.mark.slow
@pytest.mark.parametrize("home", HOMES, ids=lambda home: home.parent.name)
def test_what_is_printed_obeys_the_schemas(geminids: Run, home: Path) -> None:
    where = ("--home", home, "--json")
    check_printed(geminids(*where).out, "geminids/overview/1")
    check_printed(geminids("doctor", *where).out, "geminids/doctor/1")
    listed = check_printed(geminids("list", "--kind", "all", *where).out, "geminids/list/1")["sessions"]
    by_line = geminids("list", "--kind", "all", "--jsonl", *where).out.splitlines()
    assert [json.loads(line) for line in by_line] == listed
    for path in {file["path"] for session in listed for file in session["files"]}:
        printed = geminids("show", path, "--json").out
        check_printed(printed, "geminids/session/1")
        document = msgspec.json.decode(printed, type=SessionDocument)
        assert json.loads(msgspec.json.encode(document)) == json.loads(printed), "nothing is lost on the way"
        seen_by_agent = geminids("show", path, "--agent-view", "--json")
        if seen_by_agent.code == 0:
            check_printed(seen_by_agent.out, "geminids/agent-view/1")
        else:
            assert "would not load" in seen_by_agent.err


def test_a_file_of_several_sessions_is_one_document(geminids: Run) -> None:
    (path,) = (FIXTURES / "gemini" / "two-sessions-one-file").rglob("session-*.jsonl")
    document = check_printed(geminids("show", path, "--json").out, "geminids/session/1")
    assert [other["id"] == document["id"] for other in document["others"]] == [False]


def test_a_missing_field_is_noticed(geminids: Run) -> None:
    document = json.loads(geminids("show", "latest", "--sample", "--json").out)
    for name in ("schema", "others", "directories", "kept", "problems", "messages"):
        without = {field: value for field, value in document.items() if field != name}
        with pytest.raises(jsonschema.ValidationError, match=f"'{name}' is a required property"):
            validators()["geminids/session/1"].validate(without)


def test_odd_values_become_json_all_the_same() -> None:
    odd = {"not a number": float("nan"), "half \ud83d": ["\ud83d", 1.5, None]}
    assert json.loads(encode(odd)) == {"not a number": None, "half ?": ["?", 1.5, None]}
