"""What Gemini CLI is going to delete, by its release and settings. tests/real compares it with the CLI."""

from __future__ import annotations

import hashlib
import json
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from geminids.agents.gemini.read.fates import fates_of
from geminids.agents.gemini.read.files import read_file
from geminids.core import agents
from geminids.core.agents.base import Bundle, FoundFile
from geminids.core.agents.fates import Deletion, Fate, Forecast
from geminids.core.agents.homes import Home
from geminids.core.agents.resume import Circumstances
from geminids.core.disk import KEPT_INODE
from geminids.core.model import Project
from tests.conftest import ROOT
from tests.support.fake_agents import install, path_with
from tests.support.reading import custodian_of

FIXTURES = ROOT / "tests" / "fixtures" / "gemini"
NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
ONE, TWO, THREE = (f"{number}{number * 7}-aaaa-4aaa-8aaa-aaaaaaaaaaaa" for number in "123")
OFF = {"general": {"sessionRetention": {"enabled": False}}}

Record = dict[str, Any]


def log(*records: Record) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def header(session_id: str = ONE, days: float = 1, **more: Any) -> Record:
    used = f"{NOW - timedelta(days=days):%Y-%m-%dT%H:%M:%S}.000Z"
    return {"sessionId": session_id, "projectHash": "f" * 64, "startTime": used, "lastUpdated": used, **more}


def said(message_id: str, text: str, kind: str = "user") -> Record:
    return {"id": message_id, "timestamp": "2026-11-14T12:00:00.000Z", "type": kind, "content": text}


TALK = (said("m1", "Count the apples"), said("m2", "Seven.", "gemini"))


class Desk:
    """A home with one project, and a release of the CLI."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.project = folder / "shop"
        self.project.mkdir()
        self.data = folder / "home" / ".gemini"
        self.chats = self.data / "tmp" / "shop" / "chats"
        self.chats.mkdir(parents=True)
        (self.chats.parent / ".project_root").write_text(str(self.project))
        self.programs: Path | None = None
        self.variables: dict[str, str] = {
            "GEMINI_CLI_SYSTEM_SETTINGS_PATH": str(folder / "etc" / "settings.json")
        }
        self.use("0.61.0")

    def use(self, version: str | None) -> None:
        """Have this release, and no other."""
        shutil.rmtree(self.folder / "agent", ignore_errors=True)
        self.programs = install(self.folder / "agent", version) if version else None

    def put(self, name: str, content: str) -> Path:
        """A file among the sessions of the project."""
        file = self.chats / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(content)
        return file

    def session(self, session_id: str = ONE, days: float = 1, minute: str = "10-00") -> Path:
        """A session of the log era, last used so many days ago."""
        name = f"session-2026-10-01T{minute}-{session_id[:8]}.jsonl"
        return self.put(name, log(header(session_id, days), *TALK))

    def settle(self, written: object, folder: Path | None = None, name: str = "settings.json") -> Path:
        """Write settings: the user's, if nothing else is said."""
        file = (folder or self.data) / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(written if isinstance(written, str) else json.dumps(written))
        return file

    def trust(self, **rules: str) -> None:
        """Answer the question whether folders are trusted."""
        told = {str(self.folder / name): level for name, level in rules.items()}
        (self.data / "trustedFolders.json").write_text(json.dumps(told))

    def fates(self) -> list[Fate]:
        source = agents.load("gemini")
        bundles = source.scan(self.home).bundles
        return [fate for bundle in bundles for fate in source.read_with_fates(bundle).fates]

    @property
    def home(self) -> Home:
        return Home("gemini", str(self.data), "given")

    def forecast(self) -> Forecast:
        path = path_with(self.programs) if self.programs else path_with()
        circumstances = Circumstances(
            environment={"PATH": path, **self.variables},
            user_home=str(self.folder / "home"),
            here=str(self.folder),
            now=NOW,
        )
        return custodian_of(agents.load("gemini")).forecast(self.home, self.fates(), circumstances)

    def doomed(self) -> dict[str, Deletion]:
        return {Path(one.file).name: one for one in self.forecast().deletions}

    def causes(self) -> dict[str, str]:
        """Why files go that are due now."""
        return {name: one.cause for name, one in self.doomed().items() if one.at is None or one.at < NOW}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def traits(name: str, content: str) -> tuple[str, ...]:
    """The facts that are noted of a file, but for its id."""
    (fate,) = noted(name, content)
    return tuple(trait for trait in fate.traits if not trait.startswith("id:"))


def noted(name: str, content: str, inode: int = 1) -> tuple[Fate, ...]:
    file = FoundFile(Path("/home/.gemini/tmp/shop/chats") / name, len(content), 10**18, inode)
    written = content.encode()
    return fates_of(file, read_file(file.path, written), written)


# -- what is noted -----------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (log(header(), *TALK), ()),
        ("", ("no-session",)),
        ("{ torn", ("no-session",)),
        (log(*TALK), ("no-session",)),
        (log(header()), ("nothing-resumable", "no-turns", "no-turns-stated")),
        (log(header(), said("m1", "/help")), ("nothing-resumable",)),
        (log(header(), said("m1", "<session_context>\nx")), ("nothing-resumable",)),
        (log(header(), said("m1", "Well", "info")), ("nothing-resumable", "no-turns", "no-turns-stated")),
        (log(header(kind="subagent"), *TALK), ("subagent",)),
        (log(header(), *TALK, {"$rewindTo": "m1"}), ("nothing-resumable", "no-turns", "no-turns-stated")),
        (log(header(), *TALK, {"$rewindTo": "m2"}), ()),
        (log(header(), *TALK, {"$rewindTo": "gone"}), ("nothing-resumable", "no-turns", "no-turns-stated")),
        (
            log(header(), *TALK, {"$set": {"messages": [said("c", "<session_context>")]}}),
            ("nothing-resumable",),
        ),
        (
            log(header(), *TALK, {"$set": {"messages": []}}),
            ("nothing-resumable", "no-turns", "no-turns-stated"),
        ),
        (log(header(), {"$set": {"messages": []}}, *TALK), ()),
        # To list sessions, the CLI forgets what was written again after the message that is rewound to.
        (
            log(header(), said("a", "Hello"), said("b", "/x"), said("a", "Hello"), {"$rewindTo": "b"}),
            ("nothing-resumable", "no-turns", "no-turns-stated"),
        ),
    ],
)
def test_what_a_log_is_to_the_cli_that_lists_it(content: str, expected: tuple[str, ...]) -> None:
    assert traits("session-2026-10-01T10-00-11111111.jsonl", content) == expected


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({**header(), "messages": list(TALK)}, ()),
        ({**header(), "messages": []}, ("nothing-resumable", "no-turns", "no-turns-stated")),
        ({**header(), "lastUpdated": "", "messages": list(TALK)}, ("no-document", "undated")),
        (header(), ("no-document", "nothing-resumable", "no-turns", "no-turns-stated")),
        ({"messages": list(TALK)}, ("no-session", "no-document")),
    ],
)
def test_what_a_document_is_to_the_cli(document: Record, expected: tuple[str, ...]) -> None:
    name = "session-2026-10-01T10-00-11111111.json"
    assert traits(name, json.dumps(document, indent=2)) == expected
    assert traits(name, json.dumps(document, indent=2)[:-30])[0] == "no-session"


def test_when_a_file_was_used_is_what_it_says_or_what_the_disk_says() -> None:
    name = "session-2026-10-01T10-00-11111111.json"
    (dated,) = noted(f"{name}l", log(header(days=3), *TALK))
    assert dated.last_used == NOW - timedelta(days=3)
    (undated,) = noted(f"{name}l", log({**header(), "lastUpdated": None}, *TALK))
    assert undated.last_used is None
    begun = {**header(days=5), "messages": list(TALK)}
    del begun["lastUpdated"]
    assert noted(name, json.dumps(begun, indent=1))[0].last_used == NOW - timedelta(days=5)
    del begun["startTime"]
    assert noted(name, json.dumps(begun, indent=1))[0].last_used == datetime(
        2001, 9, 9, 1, 46, 40, tzinfo=UTC
    )


def test_nothing_is_noted_of_what_is_gone_and_little_of_what_the_cli_does_not_list() -> None:
    content = log(header(), *TALK)
    assert noted("session-2026-10-01T10-00-11111111.jsonl", content, KEPT_INODE) == ()
    (left,) = noted("session-2026-10-01T10-00-11111111.jsonl.unreadable-1791300000000", content)
    assert (left.last_used, left.traits) == (None, ())


def test_a_file_that_cannot_be_read_is_noted(tmp_path: Path) -> None:
    file = FoundFile(tmp_path / "session-2026-10-01T10-00-11111111.json", 1, 1, 1)
    bundle = Bundle("gemini", "11111111", Project(None, None, None, None), (tmp_path,), (file,))
    assert agents.load("gemini").read(bundle).fates == (), "who only reads has no use for them"
    (fate,) = agents.load("gemini").read_with_fates(bundle).fates
    assert fate.traits == ("no-session", "no-document")


CASES = sorted(path.parent for path in FIXTURES.glob("*/home"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case.name))
def test_every_recorded_file_is_noted_and_its_words_can_be_stored(case: Path) -> None:
    source = agents.load("gemini")
    for home in source.homes_below(str(case / "home")):
        for bundle in source.scan(home).bundles:
            fates = source.read_with_fates(bundle).fates
            assert [fate.file for fate in fates] == [str(file.path) for file in bundle.files]
            assert not any(trait.split() != [trait] for fate in fates for trait in fate.traits)


# -- what goes ---------------------------------------------------------------


def test_what_was_not_used_for_thirty_days_goes_with_the_next_start(desk: Desk) -> None:
    old, new = desk.session(ONE, 31), desk.session(TWO, 29)
    doomed = desk.doomed()
    assert {name: one.at for name, one in doomed.items()} == {
        old.name: NOW - timedelta(days=1),
        new.name: NOW + timedelta(days=1),
    }
    assert doomed[old.name].cause == "age"
    assert doomed[old.name].reason == (
        f"Deleted whenever Gemini CLI 0.61.0 is started in {str(desk.project)!r}: it was last used on "
        "2026-10-15, and is kept for 30 days."
    )
    assert [Path(one.file).name for one in desk.forecast().deletions] == [old.name, new.name]


@pytest.mark.parametrize(
    ("version", "cause"),
    [("0.33.2", None), ("0.41.2", None), ("0.46.0", None), ("0.47.0", "nothing-to-resume")],
)
def test_what_holds_only_commands_goes_at_once_since_0_47(
    desk: Desk, version: str, cause: str | None
) -> None:
    desk.use(version)
    file = desk.put("session-2026-10-01T10-00-11111111.jsonl", log(header(), said("m1", "/help")))
    assert desk.causes() == ({file.name: cause} if cause else {})


@pytest.mark.parametrize(
    ("version", "taken"),
    [("0.38.2", set()), ("0.41.2", set()), ("0.42.0", {"same-suffix"}), ("0.61.0", {"same-suffix"})],
)
def test_an_old_document_takes_its_new_log_along(desk: Desk, version: str, taken: set[str]) -> None:
    desk.use(version)
    document = {**header(ONE, 31), "messages": list(TALK)}
    desk.put("session-2026-10-01T10-00-11111111.json", json.dumps(document, indent=2))
    new = desk.put("session-2026-10-01T10-00-11111111.jsonl", log(header(ONE, 0.5), *TALK))
    causes = desk.causes()
    assert causes.pop("session-2026-10-01T10-00-11111111.json") == "age"
    assert set(causes.values()) == taken
    if taken:
        assert "'session-2026-10-01T10-00-11111111.json'" in desk.doomed()[new.name].reason


@pytest.mark.parametrize(
    ("version", "causes"),
    [
        ("0.41.2", {"unreadable"}),
        ("0.43.0", {"unreadable", "same-suffix"}),
        ("0.45.2", {"unreadable", "same-suffix"}),
    ],
)
def test_what_lost_its_header_takes_others_along_by_the_end_of_its_name(
    desk: Desk, version: str, causes: set[str]
) -> None:
    desk.use(version)
    desk.session(ONE)
    desk.put("session-2026-10-01T10-05-11111111.jsonl", log(*TALK))
    assert set(desk.causes().values()) == causes


def test_the_twin_that_resuming_leaves_takes_the_session_along(desk: Desk) -> None:
    for file in (FIXTURES / "startup-twin" / "home/.gemini/tmp/alpha/chats").iterdir():
        shutil.copy(file, desk.chats)
    assert desk.causes() == {
        "session-2026-11-15T07-14-90417a75.jsonl": "twin",
        "session-2026-11-15T07-15-90417a75.jsonl": "nothing-to-resume",
    }
    desk.use("0.45.2")
    assert desk.causes() == {}


def test_subagents_go_with_their_parent(desk: Desk) -> None:
    desk.session(ONE, 31)
    desk.session(TWO, 1)
    for parent in (ONE, TWO, "skill-extraction-12345678"):
        desk.put(f"{parent}/agent-{parent[:4]}.jsonl", log(header(kind="subagent"), *TALK))
    assert desk.causes() == {
        "session-2026-10-01T10-00-11111111.jsonl": "age",
        "agent-1111.jsonl": "with-parent",
    }
    desk.use("0.36.0")
    assert desk.causes() == {}


@pytest.mark.parametrize(
    ("version", "causes"),
    [
        ("0.30.1", []),
        ("0.33.2", ["subagent"]),
        ("0.35.3", ["subagent"]),
        ("0.36.0", ["same-suffix", "subagent"]),
        ("0.61.0", ["same-suffix", "subagent"]),
    ],
)
def test_the_flat_file_of_a_subagent_goes_and_takes_its_parent_along(
    desk: Desk, version: str, causes: list[str]
) -> None:
    desk.use(version)
    desk.settle({"general": {"sessionRetention": {"enabled": True, "maxAge": "30d"}}})
    for minute, kind in (("10-00", "main"), ("10-05", "subagent")):
        document = {**header(ONE, kind=kind), "messages": list(TALK)}
        desk.put(f"session-2026-10-01T{minute}-11111111.json", json.dumps(document, indent=2))
    assert sorted(desk.causes().values()) == causes


def test_leftovers_and_other_files_are_left_alone(desk: Desk) -> None:
    content = log(header(days=400), *TALK)
    for name in ("session-2026-10-01T10-00-11111111.jsonl.unreadable-1791300000000", "notes.jsonl"):
        desk.put(name, content)
    assert desk.forecast().deletions == ()


def test_ids_that_do_not_fill_the_name_take_nothing_along(desk: Desk) -> None:
    desk.put("session-2026-10-01T10-00-my-ses-1.jsonl", log(header("my-ses-1", 31), *TALK))
    desk.put("session-2026-10-01T10-05-my-ses-1.jsonl", log(header("my-ses-1", 1), *TALK))
    assert desk.causes() == {"session-2026-10-01T10-00-my-ses-1.jsonl": "age"}


# -- which folders -----------------------------------------------------------


def test_only_folders_count_that_a_start_would_look_into(desk: Desk) -> None:
    old = desk.session(ONE, 31)
    hashed = hashlib.sha256(str(desk.project).encode()).hexdigest()
    for name in (hashed, "nobodys"):
        (desk.data / "tmp" / name / "chats").mkdir(parents=True)
        shutil.copy(old, desk.data / "tmp" / name / "chats")
    assert [one.file for one in desk.forecast().deletions] == [str(old)]
    desk.trust(shop="TRUST_FOLDER")
    desk.use("0.28.2")
    desk.settle({"general": {"sessionRetention": {"enabled": True, "maxAge": "30d"}}})
    old.rename(old.with_suffix(".json"))
    (desk.data / "tmp" / hashed / "chats" / old.name).rename(
        other := desk.data / "tmp" / hashed / "chats" / old.with_suffix(".json").name
    )
    assert [one.file for one in desk.forecast().deletions] == [str(other)]


def test_a_name_that_the_project_no_longer_has_does_not_count(desk: Desk) -> None:
    desk.session(ONE, 31)
    (desk.data / "projects.json").write_text(json.dumps({"projects": {str(desk.project): "shop-1"}}))
    assert desk.forecast().deletions == ()


def test_where_nobody_can_start_anything_nothing_goes(desk: Desk) -> None:
    desk.session(ONE, 31)
    desk.project.rmdir()
    assert desk.forecast().deletions == ()


def test_a_home_that_is_not_the_usual_one_has_to_be_named(desk: Desk) -> None:
    file = desk.session(ONE, 31)
    desk.variables["GEMINI_CLI_HOME"] = str(desk.folder / "elsewhere")
    assert f" with GEMINI_CLI_HOME={desk.data.parent}:" in desk.doomed()[file.name].reason


def test_without_a_cli_it_is_told_what_the_newest_would_do(desk: Desk) -> None:
    file = desk.session(ONE, 31)
    desk.use(None)
    assert "whenever Gemini CLI is started" in desk.doomed()[file.name].reason
    (retention,) = desk.forecast().retentions
    assert (retention.program, retention.rest) == (None, timedelta(days=30))


# -- what the settings say ---------------------------------------------------


@pytest.mark.parametrize(
    ("retention", "gone"),
    [
        ({}, 1),
        ({"enabled": False}, 0),
        ({"enabled": "false"}, 0),
        ({"enabled": None}, 0),
        ({"maxAge": "7d"}, 2),
        ({"maxAge": "1w"}, 2),
        ({"maxAge": "007d"}, 2),
        ({"maxAge": "$AGE"}, 2),
        ({"maxAge": "${NO_SUCH:-7d}"}, 2),
        ({"maxAge": "1m"}, 1),
        ({"maxAge": "12h"}, 0),
        ({"maxAge": "12h", "minRetention": "1h"}, 3),
        ({"maxAge": "12h", "minRetention": "soon"}, 0),
        ({"maxAge": "2d", "minRetention": "soon"}, 2),
        ({"maxAge": "0d"}, 0),
        ({"maxAge": "7 days"}, 0),
        ({"maxAge": 7}, 0),
        ({"maxAge": ""}, 0),
        ({"maxAge": "99999999999999999999w"}, 0),
        ({"maxCount": 1}, 3),
        ({"maxCount": 2.5}, 1),
        ({"maxCount": "2"}, 2),
        ({"maxAge": None, "maxCount": 3}, 1),
        ({"maxAge": None, "maxCount": 9}, 0),
        ({"maxCount": 0}, 0),
        ({"maxCount": None}, 0),
        (None, 0),
        ("off", 0),
    ],
    ids=str,
)
def test_what_the_cli_does_not_understand_it_does_not_do(desk: Desk, retention: object, gone: int) -> None:
    for number, days in enumerate((0.2, 0.8, 8, 31)):
        desk.session(f"{number}0000000-aaaa", days)
    desk.variables["AGE"] = "7d"
    desk.settle({"general": {"sessionRetention": retention}})
    assert len(desk.causes()) == gone


@pytest.mark.parametrize("written", ["", "[1]", "{", '{"general": }'])
def test_a_cli_that_does_not_start_deletes_nothing(desk: Desk, written: str) -> None:
    file = desk.settle(written)
    desk.session(ONE, 31)
    forecast = desk.forecast()
    assert forecast.deletions == ()
    assert str(file) in (forecast.retentions[0].remedy or "")


def test_before_0_33_nothing_goes_unless_it_is_switched_on_and_told_how_long(desk: Desk) -> None:
    desk.use("0.32.1")
    desk.put(
        "session-2026-10-01T10-00-11111111.json", json.dumps({**header(ONE, 31), "messages": list(TALK)})
    )
    assert desk.causes() == {}
    desk.settle({"general": {"sessionRetention": {"enabled": True}}})
    assert desk.causes() == {}
    desk.settle({"general": {"sessionRetention": {"enabled": True, "maxAge": "30d"}}})
    assert len(desk.causes()) == 1


@pytest.mark.parametrize(
    ("rules", "variables", "counts"),
    [
        ({"shop": "TRUST_FOLDER"}, {}, True),
        ({"shop/inner": "TRUST_PARENT"}, {}, True),
        ({".": "TRUST_FOLDER"}, {}, True),
        ({".": "TRUST_FOLDER", "shop": "DO_NOT_TRUST"}, {}, False),
        ({"shopping": "TRUST_FOLDER"}, {}, False),
        ({}, {}, False),
        ({}, {"GEMINI_CLI_TRUST_WORKSPACE": "true"}, True),
        ({"shop": "TRUST_FOLDER"}, {"GEMINI_CLI_TRUST_WORKSPACE": "false"}, False),
        ({"shop": "TRUST_FOLDER"}, {"GEMINI_RESTRICTED_MODE": "true"}, False),
    ],
)
def test_what_a_project_settles_counts_if_its_folder_is_trusted(
    desk: Desk, rules: dict[str, str], variables: dict[str, str], counts: bool
) -> None:
    desk.session(ONE, 31)
    own = desk.settle(
        '{"general": {"sessionRetention": {"enabled": false}}} // ours', desk.project / ".gemini"
    )
    desk.trust(**rules)
    desk.variables |= variables
    forecast = desk.forecast()
    assert bool(forecast.deletions) is not counts
    assert [one.told_by for one in forecast.retentions] == ([None, str(own)] if counts else [None])


def test_where_trust_is_not_asked_for_every_project_counts(desk: Desk) -> None:
    desk.session(ONE, 31)
    desk.settle({"security": {"folderTrust": {"enabled": False}}})
    desk.settle(OFF, desk.project / ".gemini")
    assert desk.forecast().deletions == ()


def test_what_the_machines_owner_demands_counts_most_and_what_he_proposes_least(desk: Desk) -> None:
    desk.use("0.58.0")
    file = desk.session(ONE, 8)
    etc = desk.folder / "etc"
    desk.settle({"general": {"sessionRetention": {"maxAge": "2d"}}}, etc, "system-defaults.json")
    assert desk.causes() == {file.name: "age"}
    desk.settle({"general": {"sessionRetention": {"maxAge": "60d"}}})
    assert desk.causes() == {}
    demanded = desk.settle({"general": {"sessionRetention": {"maxAge": "7d"}}}, etc)
    assert desk.causes() == {file.name: "age"}
    assert "its administrator must add" in (desk.forecast().retentions[0].remedy or "")
    assert desk.doomed()[file.name].setting == str(demanded)


def test_a_link_to_settings_is_followed(desk: Desk) -> None:
    desk.session(ONE, 31)
    kept = desk.settle(OFF, desk.folder / "dotfiles")
    (desk.data / "settings.json").symlink_to(kept)
    assert desk.forecast().deletions == ()


def test_how_to_prevent_it_is_said(desk: Desk) -> None:
    (retention,) = desk.forecast().retentions
    assert retention.program == "Gemini CLI 0.61.0"
    assert retention.remedy == (
        'To stop this, add {"general": {"sessionRetention": {"enabled": false}}} to '
        f"{str(desk.data / 'settings.json')!r}."
    )
    desk.settle(OFF)
    (retention,) = desk.forecast().retentions
    assert (retention.rest, retention.remedy) == (None, None)
