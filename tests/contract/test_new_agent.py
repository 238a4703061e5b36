"""A new agent takes a source and a line under `geminids.sources`: no file of ours knows of the toy agent.

Its sessions stand beside those of Gemini CLI in every view, and a folder in which both worked is one project.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from geminids.core import agents
from geminids.core.errors import PARTLY_DONE
from geminids.core.model import FileAccount, KnownBy, folder_hash
from geminids.library import Library
from geminids.reading.describe import describe
from geminids.sharing import export
from geminids.sharing.export.losses import losses
from geminids.sharing.records.evidence import evidence_of
from geminids.sharing.records.mismatches import check_record
from geminids.sharing.records.reader import session_of
from geminids.sharing.records.simple import simple_record
from geminids.sharing.records.translation import record_of
from tests.conftest import ROOT, Run
from tests.support.exporting import manner, text_of
from tests.support.homes import FIRST_ID, write_session
from tests.support.reading import readings, scans
from tests.support.reading import sessions as read_sessions
from tests.support.records import natives_of
from tests.support.terminal import on_terminal
from tests.support.toys import FOLDER, installed, write_talk
from tests.support.watching import watching

Command = Callable[..., subprocess.CompletedProcess[bytes]]

SHOP = "/home/ada/dev/shop"
SECOND_ID = "2f0c9a2b-0000-4000-8000-000000000002"
BUILT_IN = {path.parent.name for path in (ROOT / "src/geminids/agents").glob("*/homes.py")}


OF_MODELS = {
    '"gemini": "google",': "how names of models begin",
    '"claude": "anthropic",': "how names of models begin",
    '"codex": "openai",': "how names of models begin",
    'TELEMETRY_NAMES = {"google": "gcp.gemini", "anthropic": "anthropic", "openai": "openai"}': "a provider",
    r'AT_AMAZON = re.compile(r"^(?:[a-z-]+\.)?anthropic\.claude")': "how names of models begin",
    'AT_GOOGLE = re.compile(r"^claude[^/]*@")': "how names of models begin",
}
"""Lines of `core/model_names.py` with words that agents have for names too, and what they name there."""


def test_only_its_own_folder_knows_an_agent_by_name() -> None:
    root = ROOT / "src" / "geminids"
    named = re.compile(rf"({'|'.join(sorted(BUILT_IN))})(?!ds)", re.IGNORECASE)
    found = [
        (path.relative_to(root).as_posix(), line.strip())
        for path in sorted(root.rglob("*.*"))
        if path.relative_to(root).parts[0] not in {"agents", "sample"}
        and not {"frontend", "built", "__pycache__"} & set(path.parts)
        and path.is_file()
        for line in path.read_text("utf-8").splitlines()
        if named.search(line)
    ]
    assert found == [("core/model_names.py", line) for line in OF_MODELS]


@pytest.fixture(autouse=True)
def toy(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The toy agent, installed here and in all processes that a test starts."""
    folder = tmp_path_factory.mktemp("modules")
    before = os.environ.get("PYTHONPATH")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, (before, str(folder), str(ROOT)))))
    with installed(folder):
        yield


def seen(home: Path, *arguments: object, columns: int = 80) -> str:
    """What stands on a terminal; the index is made before, so that nothing is told of that."""
    with Library([home]) as library:
        library.sync()
    return on_terminal(*arguments, "--home", home, "--no-color", columns=columns)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home in which two agents worked in the same folder; one writes its path, the other its hash."""
    session = write_session(tmp_path, slug=folder_hash(SHOP), project=SHOP)
    (session.parent.parent / ".project_root").unlink()
    write_session(tmp_path, SECOND_ID, slug="blog", day=3, prompt="Write about the window")
    write_talk(tmp_path)
    return tmp_path


def test_it_is_found_without_a_change_of_ours() -> None:
    assert "toy" in agents.available()
    assert agents.load("toy").title == "Toy Agent"


def test_every_byte_of_its_files_is_accounted_for(home: Path) -> None:
    source = agents.load("toy")
    path = write_talk(home, "7c1d0009")
    path.write_text(path.read_text() + "what is this?\n")
    (home / FOLDER / "drafts").mkdir()
    (home / FOLDER / "drafts" / "a.talk").write_text("talk")
    accounts = [account for reading in readings(source, home) for account in reading.accounts]
    assert {Path(account.path) for account in accounts} == set((home / FOLDER / "talks").rglob("*.talk"))
    assert all(_accounted(account) == account.size for account in accounts)
    assert [skipped.path.name for scan in scans(source, home) for skipped in scan.skipped] == ["drafts"]


def _accounted(account: FileAccount) -> int:
    tallies = (*account.used.values(), *account.ignored.values(), *account.problem.values())
    return sum(tally.bytes for tally in tallies)


def test_it_is_listed_beside_others(geminids: Run, home: Path) -> None:
    listed = geminids("list", "--home", home)
    assert [line.split("\t")[0] for line in listed.out.splitlines()] == [
        f"gemini:{SECOND_ID}",
        "toy:7c1d0001",
        f"gemini:{FIRST_ID}",
    ]
    assert [line.split("\t")[5] for line in listed.out.splitlines()] == ["blog", "shop", "shop"]


def test_it_can_ask_for_its_sessions(geminids: Run, home: Path) -> None:
    settings = home / FOLDER / "toy.conf"
    settings.write_text("loud no\n")
    shown = geminids("install", "toy", "--yes", "--home", home)
    assert (shown.code, "Toy Agent\n" in shown.out, "Wind it up first." in shown.out) == (0, True, True)
    assert settings.read_text() == "loud no\ntoy geminids\n"
    assert f"mcp --home {home}" in (home / FOLDER / "toys/geminids/start").read_text()
    assert geminids("uninstall", "toy", "--yes", "--home", home).code == 0
    assert settings.read_text() == "loud no\n"
    assert not (home / FOLDER / "toys").exists()


def test_a_list_can_be_narrowed_to_agents(geminids: Run, home: Path) -> None:
    assert _ids(geminids("list", "--home", home, "--agent", "toy").out) == {"toy:7c1d0001"}
    both = geminids("list", "--home", home, "--agent", "TOY", "--agent", "gemini")
    assert len(_ids(both.out)) == 3
    narrowed = geminids("list", "--home", home, "--agent", "gemini", "--project", SHOP)
    assert _ids(narrowed.out) == {f"gemini:{FIRST_ID}"}


def _ids(out: str) -> set[str]:
    return {line.split("\t")[0] for line in out.splitlines()}


@pytest.mark.parametrize("verb", ["list", "search x", "projects", "watch", "export"])
def test_an_agent_that_there_is_not_is_answered_with_those_there_are(
    geminids: Run, home: Path, verb: str
) -> None:
    refused = geminids(*verb.split(), "--home", home, "--agent", "tory")
    assert refused.code == 2
    known = ", ".join(agents.available())
    assert f"there is no agent 'tory'. Available: {known}." in refused.err


def test_names_of_agents_are_completed(home: Path, command: Command) -> None:
    asked = {
        "COMP_WORDS": "geminids list --agent t",
        "COMP_CWORD": "3",
        "_GEMINIDS_COMPLETE": "bash_complete",
    }
    done = command("list", env=os.environ | asked)
    assert done.stdout.decode().split() == ["plain,toy"]


@pytest.mark.slow
def test_a_hint_narrows_to_the_same_agents(home: Path) -> None:
    for number in range(25):
        write_talk(home, f"8c1d{number:04}", day=number % 27 + 1)
    told = " ".join(seen(home, "list", "--agent", "toy").split())
    assert "Showing 20 of 26 sessions; `geminids list --limit 26 --agent toy --home" in told


@pytest.mark.slow
@pytest.mark.parametrize("columns", [80, 60])
def test_the_agent_has_a_column_where_there_are_several(home: Path, columns: int) -> None:
    lines = seen(home, "list", columns=columns).splitlines()
    assert lines[0].split()[:4] == ["#", "when", "agent", "project"]
    assert [line.split()[4] for line in lines[1:4]] == ["gemini", "toy", "gemini"]
    assert all(cell_len(line) <= columns for line in lines)
    alone = seen(home, "list", "--agent", "toy", columns=columns)
    assert "agent" not in alone.splitlines()[0]


def test_it_is_found_by_its_words_with_snippets_from_its_own_files(geminids: Run, home: Path) -> None:
    found = json.loads(geminids("search", "blue", "--json", "--home", home).out)
    assert {hit["session"]["id"] for hit in found["hits"]} == {"toy:7c1d0001"}
    snippets = [hit["snippet"]["text"] for hit in found["hits"]]
    assert any("It is blue now." in snippet for snippet in snippets)
    assert geminids("search", "window", "agent:toy", "--home", home).out.count("toy:7c1d0001") >= 1
    assert _ids(geminids("search", "window", "--home", home, "--agent", "toy").out) == {"toy:7c1d0001"}
    everywhere = _ids(geminids("search", "window", "--home", home).out)
    assert everywhere == {"toy:7c1d0001", f"gemini:{SECOND_ID}"}


def test_snippets_are_cut_from_files_that_it_packs(geminids: Run, home: Path) -> None:
    talk = write_talk(home, "7c1d0002", answer="The door is green. " * 20)
    talk.with_suffix(".talk.gz").write_bytes(gzip.compress(talk.read_bytes()))
    talk.unlink()
    found = geminids("search", "green", "--home", home).out
    assert "toy:7c1d0002" in found
    assert "The door is green." in found


@pytest.mark.slow
def test_hits_say_whose_they_are_where_there_are_several(home: Path) -> None:
    mixed = seen(home, "search", "window")
    heads = [line.split()[4] for line in mixed.splitlines() if line[:3].strip().isdecimal()]
    assert sorted(heads) == ["gemini", "toy"]
    alone = seen(home, "search", "blue")
    assert " toy " not in alone.splitlines()[0]


def test_it_is_shown_by_its_id_and_as_a_file(geminids: Run, home: Path) -> None:
    shown = geminids("show", "7c1d0001", "--home", home)
    assert "Toy Agent" in shown.out
    assert "It is blue now." in shown.out
    assert "paint --colour blue window.png" in shown.out
    talk = next(home.rglob("*.talk"))
    assert "It is blue now." in geminids("show", talk, "--home", home).out
    view = json.loads(geminids("show", talk, "--agent-view", "--json", "--home", home).out)
    assert view["lines"][0] == f"talk 7c1d0001 in {SHOP} on window"


def test_a_file_of_it_is_known_by_its_name_where_one_is(
    geminids: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(next(home.rglob("*.talk")).parent)
    assert "It is blue now." in geminids("show", "7c1d0001.talk", "--home", home).out


def test_what_is_no_session_of_it_is_told_in_its_words(geminids: Run, tmp_path: Path) -> None:
    draft = tmp_path / "draft.talk"
    draft.write_text("talking to nobody")
    assert describe(draft) == "a draft of Toy Agent"
    assert "it looks like a draft of Toy Agent" in geminids("show", draft).err
    toys = tmp_path / "toys.json"
    toys.write_text('{"toys": []}')
    assert describe(toys) == "the toys of Toy Agent"
    key = tmp_path / "toy.key"
    key.write_text("secret")
    assert "holds credentials" in geminids("show", key).err


def test_a_folder_in_which_both_worked_is_one_project(geminids: Run, home: Path) -> None:
    with Library([home]) as library:
        reports = library.projects().projects
    assert [(report.project.path, report.agents, report.sessions) for report in reports] == [
        ("/home/ada/dev/blog", ("gemini",), 1),
        (SHOP, ("gemini", "toy"), 2),
    ]
    shop = reports[1].project
    assert (shop.hash, shop.known_by, shop.certain) == (folder_hash(SHOP), KnownBy.RECORDS, True)
    fields = [line.split("\t") for line in geminids("projects", "--home", home).out.splitlines()]
    assert [line[-1] for line in fields] == ["gemini", "gemini,toy"]
    assert fields[1][:3] == [folder_hash(SHOP), SHOP, "records"]


@pytest.mark.parametrize("wanted", ["shop", SHOP, folder_hash(SHOP)[:8]])
def test_all_of_a_project_is_meant_whatever_it_is_called_by(geminids: Run, home: Path, wanted: str) -> None:
    both = {"toy:7c1d0001", f"gemini:{FIRST_ID}"}
    assert _ids(geminids("list", "--home", home, "--project", wanted).out) == both
    assert _ids(geminids("search", f"project:{wanted} is:current", "--home", home).out) == both
    shown = geminids("projects", "show", wanted, "--home", home)
    assert "2 sessions" in shown.out
    assert "by gemini and toy" in shown.out


def test_what_is_no_project_is_never_taken_for_one(geminids: Run, home: Path) -> None:
    """The toy agent keeps sessions in the folders of months, and Gemini CLI may leave an empty folder."""
    (home / ".gemini" / "tmp" / "nothing" / "chats").mkdir(parents=True)
    listed = geminids("projects", "--home", home).out
    assert "2026/05" not in listed
    assert "nothing" not in listed
    missing = geminids("list", "--home", home, "--project", "2026")
    assert "No project matches '2026'. Available: blog, shop." in missing.err
    overview = json.loads(geminids("--json", "--home", home).out)
    assert [report["project"]["path"] for report in overview["projects"]] == ["/home/ada/dev/blog", SHOP]


def test_projects_can_be_narrowed_to_agents(geminids: Run, home: Path) -> None:
    told = [
        line.split("\t") for line in geminids("projects", "--home", home, "--agent", "toy").out.splitlines()
    ]
    assert [(line[1], line[3], line[-1]) for line in told] == [(SHOP, "1", "toy")]
    refused = geminids("projects", "--agent", "toy", "show", "shop", "--home", home)
    assert refused.code == 2


@pytest.mark.slow
def test_projects_say_whose_they_are_where_there_are_several(home: Path) -> None:
    lines = seen(home, "projects").splitlines()
    assert lines[0].split()[:2] == ["project", "agents"]
    assert "gemini toy" in lines[2]
    assert all(cell_len(line) <= 80 for line in lines)
    alone = seen(home, "projects", "--agent", "toy").splitlines()
    assert "agents" not in alone[0]


def test_a_link_holds_for_all_agents_that_worked_there(geminids: Run, home: Path) -> None:
    (home / "moved").mkdir()
    assert geminids("projects", "link", "shop", home / "moved", "--home", home).code == 0
    fields = [line.split("\t") for line in geminids("projects", "--home", home).out.splitlines()]
    assert [(line[1], line[3], line[-1]) for line in fields][-1] == (str(home / "moved"), "2", "gemini,toy")


def test_the_overview_counts_each_agent(geminids: Run, home: Path) -> None:
    shown = geminids("--home", home)
    assert "Gemini CLI  2 sessions, 2 projects" in shown.out
    assert "Toy Agent  1 session, 1 project" in shown.out
    assert "in blog (1), shop (2)\n" in shown.out, "a project counts once, so these are all"
    overview = json.loads(geminids("--json", "--home", home).out)
    assert overview["project_count"] == 2
    assert {agent["agent"]: agent["sessions"] for agent in overview["agents"]} == {"gemini": 2, "toy": 1}


@pytest.mark.parametrize("name", export.available())
def test_it_is_exported_in_every_format(geminids: Run, home: Path, tmp_path: Path, name: str) -> None:
    suffix = export.load(name).suffix
    target = tmp_path / f"talk{suffix}"
    assert geminids("export", "toy:7c1d0001", "-f", name, "-o", target, "--home", home).code == 0
    written = text_of(name, target.read_bytes())
    assert "Paint the shop window" in written
    assert "It is blue now." in written
    if name in {"markdown", "html", "text"}:
        assert "Toy Agent" in written
    if name in {"markdown", "text"}:
        assert "branch window" in written
    (session,) = read_sessions(agents.load("toy"), home)
    report = losses(session, export.load(name), manner("everything"))
    assert report.losses


def test_it_becomes_a_record_that_tells_every_line_of_its_file(home: Path) -> None:
    (session,) = read_sessions(agents.load("toy"), home)
    evidence = evidence_of(session, natives_of(session))
    record = record_of(session, evidence)
    assert check_record(record) is None
    assert session_of(record) == (session, evidence)
    assert record["session"]["agent-meta"]["cli-name"] == "toy"
    talk = next(home.rglob("*.talk"))
    assert [(file.path, file.sha256) for file in evidence.files] == [
        (str(talk), hashlib.sha256(talk.read_bytes()).hexdigest())
    ]
    places = [place for places in evidence.messages for place in places]
    kept = [place.native for place in (*places, *evidence.others)]
    lines = talk.read_text().splitlines()
    assert [line for line in lines if not any(line in str(native) for native in kept)] == []


def test_it_becomes_a_record_as_other_tools_make_them(home: Path) -> None:
    (session,) = read_sessions(agents.load("toy"), home)
    record = simple_record(session, natives_of(session))
    assert check_record(record) is None
    assert record == simple_record(session), "other tools know nothing of its files"
    assert record["session"]["agent-meta"]["cli-name"] == "toy"
    entries = record["session"]["entries"]
    assert [entry["type"] for entry in entries] == ["user", "assistant"]
    assert [child["type"] for child in entries[1]["children"]] == ["tool-call", "tool-result"]


def test_what_is_exported_can_be_narrowed_to_agents(geminids: Run, home: Path, tmp_path: Path) -> None:
    done = geminids("export", "--agent", "toy", "-f", "csv", "-o", tmp_path / "all.csv", "--home", home)
    assert done.code == 0
    rows = list(csv.DictReader(io.StringIO((tmp_path / "all.csv").read_text("utf-8"))))
    assert {row["session_id"] for row in rows} == {"toy:7c1d0001"}
    both = geminids("export", "--all", "-f", "html", "-o", f"{tmp_path}/pages/", "--home", home)
    assert "3 files written" in both.err
    contents = (tmp_path / "pages" / "index.html").read_text("utf-8")
    assert "Toy Agent" in contents
    assert "Gemini CLI" in contents


@pytest.mark.slow
@pytest.mark.parametrize("way", [(), ("--poll", "0.05")], ids=["events", "polling"])
def test_it_is_watched_in_nested_folders_that_appear_later(home: Path, way: tuple[str, ...]) -> None:
    talk = next(home.rglob("*.talk"))
    with watching("--home", home, *way) as command:
        with talk.open("a") as written:
            written.write("you 2026-05-02T10:05:00Z And the door?\n")
        command.wait_for_words("And the door?")
        later = home / FOLDER / "talks" / "2027" / "01" / "9c1d0001.talk"
        later.parent.mkdir(parents=True)
        later.write_text(f"talk 9c1d0001 in {SHOP}\nyou 2027-01-01T10:00:00Z A happy new year\n")
        command.wait_for_words("A happy new year")


def test_a_watch_can_be_narrowed_to_agents(home: Path) -> None:
    talk = next(home.rglob("*.talk"))
    gemini = next(home.rglob(f"*{FIRST_ID[:8]}.jsonl"))
    with watching("--home", home, "--json", "--agent", "toy", "--poll", "0.05") as command:
        line = {"id": "m9", "timestamp": "2026-05-02T10:05:00Z", "type": "user", "content": [{"text": "No"}]}
        with gemini.open("a") as written:
            written.write(json.dumps(line) + "\n")
        with talk.open("a") as written:
            written.write("you 2026-05-02T10:05:00Z And the door?\n")
        command.wait_for(lambda: command.documents)
        assert {document["session_id"] for document in command.documents} == {"toy:7c1d0001"}


def test_it_is_resumed_as_its_source_says(geminids: Run, home: Path) -> None:
    told = json.loads(geminids("resume", "toy:7c1d0001", "--json", "--home", home).out)
    assert told["agent"] == "toy"
    assert told["command"] == ["toy", "--again", "7c1d0001"]


def test_doctor_accounts_for_its_files_and_hides_names(geminids: Run, home: Path) -> None:
    write_talk(home, "7c1d0009").rename(home / FOLDER / "talks" / "2026" / "05" / "big client.talk")
    report = json.loads(geminids("doctor", "--json", "--home", home).out)
    assert {entry["agent"] for entry in report["homes"]} == {"gemini", "toy"}
    assert report["bytes"]["total"] == sum(entry["size"] for entry in report["files"])
    with Library([home]) as library:
        for_strangers = library.doctor((), with_names=False)
    paths = {account.path.rpartition(".toy/")[2] for account in for_strangers.files if ".toy" in account.path}
    assert paths == {"talks/2026/05/7c1d0001.talk", "talks/2026/05/name-2"}


def test_sync_takes_in_what_changed_of_it(geminids: Run, home: Path) -> None:
    assert geminids("sync", "--home", home).code == 0
    talk = next(home.rglob("*.talk"))
    talk.write_text(talk.read_text() + "toy 2026-05-02T10:06:00Z 7 The door is green.\n")
    assert "The door is green" in geminids("search", "green", "--home", home).out
    # Old talks are packed, which is not to be gone.
    talk.with_name(f"{talk.name}.gz").write_bytes(gzip.compress(talk.read_bytes()))
    talk.unlink()
    assert [line["kept"] for line in toys(geminids, home)] == [False]
    talk.with_name(f"{talk.name}.gz").unlink()
    assert [line["kept"] for line in toys(geminids, home)] == [True]
    assert "The door is green" in geminids("show", "toy:7c1d0001", "--home", home).out


def toys(geminids: Run, home: Path) -> list[dict[str, Any]]:
    """The sessions of the toy agent, as a list has them."""
    told = json.loads(geminids("list", "--json", "--home", home).out)
    return [line for line in told["sessions"] if line["agent"] == "toy"]


def test_a_closed_file_of_it_is_named(geminids: Run, home: Path) -> None:
    talk = next(home.rglob("*.talk"))
    talk.write_text("nothing that is a talk\n")
    assert "toy:" not in geminids("list", "--home", home).out
    assert geminids("doctor", "--home", home).code in (0, PARTLY_DONE)


@pytest.mark.slow
def test_secrets_in_it_are_hidden(geminids: Run, home: Path) -> None:
    token = "gh" + "p_" + "a8Fk2Lq9Zx7Wv3Tn5Rb1Yc6Md4Pe0Gh8Js2K"
    write_talk(home, "7c1d0005", prompt=f"Use {token} for it", branch=f"try-{token}")
    written = geminids("export", "7c1d0005", "--redact", "-f", "json", "--home", home)
    assert written.code == 0
    assert token not in written.out


def test_its_variable_says_where_its_home_is(
    home: Path, monkeypatch: pytest.MonkeyPatch, geminids: Run
) -> None:
    monkeypatch.setenv("TOY_HOME", str(home))
    assert _ids(geminids("list").out) == {"toy:7c1d0001"}


@pytest.mark.slow
def test_the_real_command_reads_it(home: Path, command: Command) -> None:
    done = command("list", "--home", home, "--agent", "toy")
    assert b"Paint the shop window" in done.stdout
