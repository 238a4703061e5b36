"""What is known of projects from all their sessions together."""

from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from geminids.core.agents.base import CompanionFile
from geminids.core.errors import AmbiguousProjectError, ProjectNotFoundError
from geminids.core.model import (
    CompanionKind,
    KnownBy,
    Project,
    SessionKind,
    SessionSummary,
    folder_hash,
)
from geminids.query.projects.report import (
    Contents,
    Shelved,
    certain_paths,
    hash_meant,
    hashes_without_folder,
    identify,
    the_one,
)
from geminids.query.projects.timeline import EventKind
from geminids.query.projects.timeline import story as tell
from tests.support.summaries import summary

PATH = "/home/ada/dev/shop"
HASH = folder_hash(PATH)
KNOWN = Project(PATH, HASH, "shop", KnownBy.MARKER, certain=True)
BY_HASH = Project(None, HASH, None, None)
GUESS = Project("/home/ada", HASH, None, KnownBy.ARGUMENTS)
RECORDED = Project(PATH, None, None, KnownBy.RECORDS)
OTHER = Project("/srv/blog", folder_hash("/srv/blog"), "blog", KnownBy.MARKER, certain=True)


def shelf(
    project: Project, *summaries: SessionSummary, companions: tuple[CompanionFile, ...] = ()
) -> Shelved:
    own = [msgspec.structs.replace(s, project=project) for s in summaries]
    return Shelved(project, own, companions, (), [], "gemini")


def beside(kind: CompanionKind, at: datetime, native_id: str | None = None) -> CompanionFile:
    return CompanionFile(f"/x/{native_id}/{at}", 5, int(at.timestamp() * 1e9), 1, kind, native_id)


def nothing(_: str) -> Project | None:
    return None


def test_what_one_session_proves_is_known_of_all_with_its_hash() -> None:
    identity = identify([shelf(BY_HASH, summary("a")), shelf(GUESS), shelf(KNOWN)], nothing)
    assert identity[BY_HASH] == Project(PATH, HASH, "shop", KnownBy.MARKER, certain=True)
    assert identity[GUESS].path == PATH
    assert hashes_without_folder(identity) == []
    assert certain_paths(identity) == [PATH]


def test_a_folder_that_one_agent_writes_proves_the_hash_that_another_does() -> None:
    identity = identify([shelf(BY_HASH, summary("a")), shelf(GUESS), shelf(RECORDED, summary("b"))], nothing)
    assert identity[BY_HASH] == Project(PATH, HASH, None, KnownBy.RECORDS, certain=True)
    assert identity[GUESS].path == PATH
    assert hashes_without_folder(identity) == []
    (report,) = Contents([shelf(BY_HASH, summary("a")), shelf(RECORDED, summary("b"))], identity).reports()
    assert (report.project.hash, report.sessions) == (HASH, 2)


def test_what_a_hash_proves_goes_before_what_only_fits_it() -> None:
    identity = identify([shelf(KNOWN), shelf(RECORDED)], nothing)
    assert identity[KNOWN].known_by is KnownBy.MARKER
    assert identity.key(identity[KNOWN]) == identity.key(identity[RECORDED])


def test_a_folder_that_an_agent_wrote_needs_no_hash_to_be_known() -> None:
    """Whatever its reader says of how certain it is."""
    for certain in (False, True):
        told = Project("/srv/blog", None, None, KnownBy.RECORDS, certain=certain)
        identity = identify([shelf(told, summary("a")), shelf(OTHER, summary("b"))], nothing)
        assert len(Contents([shelf(told, summary("a")), shelf(OTHER, summary("b"))], identity).reports()) == 1


def test_the_word_of_the_user_moves_what_every_agent_did_there() -> None:
    link = Project("/new/shop", HASH, None, KnownBy.LINK)
    identity = identify([shelf(BY_HASH), shelf(RECORDED)], lambda name: link if name == HASH else None)
    assert identity[RECORDED].path == identity[BY_HASH].path == "/new/shop"


def test_a_shelf_that_is_sorted_by_something_else_is_no_project() -> None:
    """An agent may keep the sessions of a day together."""
    day = Project(None, None, "2026/05/01", None)
    beside_it = (beside(CompanionKind.TOOL_OUTPUT, datetime(2026, 5, 1, tzinfo=UTC)),)
    for companions in ((), beside_it):
        sorted_by_day = Shelved(day, [_in(RECORDED, "a"), _in(OTHER, "b")], companions, (), [], "codex")
        shelves = [sorted_by_day, shelf(KNOWN, summary("c"))]
        reports = Contents(shelves, identify(shelves, nothing)).reports()
        assert {report.project.path: report.sessions for report in reports} == {PATH: 2, "/srv/blog": 1}


def test_an_empty_shelf_is_no_project() -> None:
    shelves = [shelf(KNOWN), shelf(OTHER, summary("a"))]
    reports = Contents(shelves, identify(shelves, nothing)).reports()
    assert [report.project for report in reports] == [OTHER]


def test_what_some_agents_did_is_counted_alone() -> None:
    by_other = Shelved(RECORDED, [_in(RECORDED, "b", "codex")], (), (), [], "codex")
    shelves = [shelf(BY_HASH, summary("a")), by_other]
    contents = Contents(shelves, identify(shelves, nothing))
    assert contents.reports()[0].agents == ("codex", "gemini")
    (report,) = contents.of_agents({"gemini"}).reports()
    assert (report.agents, report.sessions, report.project.path) == (("gemini",), 1, PATH)


def test_the_hash_of_a_project_is_found_among_its_names() -> None:
    shelves = [shelf(RECORDED, summary("a")), shelf(BY_HASH, summary("b"))]
    reports = Contents(shelves, identify(shelves, nothing)).reports()
    assert hash_meant(reports, "shop") == hash_meant(reports, PATH) == HASH


def _in(project: Project, native_id: str, agent: str = "gemini") -> SessionSummary:
    return msgspec.structs.replace(summary(native_id), project=project, agent=agent)


def test_a_guess_is_better_than_nothing_and_stays_a_guess() -> None:
    identity = identify([shelf(BY_HASH), shelf(GUESS)], nothing)
    assert (identity[BY_HASH].path, identity[BY_HASH].certain) == ("/home/ada", False)
    assert hashes_without_folder(identity) == [HASH]


def test_memory_helps_where_the_files_do_not() -> None:
    learnt = Project(PATH, HASH, None, KnownBy.SEARCH, certain=True)
    assert identify([shelf(GUESS)], lambda _: learnt)[GUESS].known_by is KnownBy.SEARCH
    assert identify([shelf(KNOWN)], lambda _: learnt)[KNOWN].known_by is KnownBy.MARKER


def test_the_word_of_the_user_goes_before_a_proof_of_where_it_was() -> None:
    link = Project("/new/shop", HASH, None, KnownBy.LINK)
    identity = identify([shelf(KNOWN)], lambda _: link)
    assert identity[KNOWN] == Project("/new/shop", HASH, "shop", KnownBy.LINK, certain=False)
    assert hashes_without_folder(identity) == [], "nobody needs to look for it"


def test_several_names_of_one_folder_are_one_project() -> None:
    tree_path = f"{PATH}/.gemini/worktrees/fix"
    tree = Project(tree_path, folder_hash(tree_path), "fix", KnownBy.MARKER, certain=True)
    shelves = [shelf(tree, summary("c", 3)), shelf(BY_HASH, summary("a")), shelf(KNOWN, summary("b", 2))]
    identity = identify(shelves, nothing)
    (report,) = Contents(shelves, identity).reports()
    assert report.project == KNOWN
    assert tree in report.also
    assert report.sessions == 3
    assert report.bytes == 30


def test_container_and_windows_paths_are_one_project() -> None:
    paths = ("C:\\Users\\Ada\\shop", "/c/Users/Ada/shop")
    both = [Project(path, folder_hash(path), None, KnownBy.CONTEXT, certain=True) for path in paths]
    shelves = [shelf(project, summary(str(number))) for number, project in enumerate(both)]
    assert len(Contents(shelves, identify(shelves, nothing)).reports()) == 1


def test_two_guesses_of_one_folder_stay_two_projects() -> None:
    guesses = [Project("/home/ada", letter * 64, None, KnownBy.ARGUMENTS) for letter in "ab"]
    shelves = [shelf(guess, summary(guess.hash or "")) for guess in guesses]
    assert len(Contents(shelves, identify(shelves, nothing)).reports()) == 2


def test_the_project_last_used_comes_first_and_one_is_picked_by_name() -> None:
    shelves = [shelf(KNOWN, summary("a", 1)), shelf(OTHER, summary("b", 2))]
    found = Contents(shelves, identify(shelves, nothing)).reports()
    assert [report.project.name for report in found] == ["blog", "shop"]
    assert the_one(found, "shop").project == KNOWN
    assert the_one(found, HASH[:8]).project == KNOWN
    with pytest.raises(AmbiguousProjectError, match="blog, shop"):
        the_one(found, "o")
    with pytest.raises(ProjectNotFoundError, match="Did you mean shop"):
        the_one(found, "shpo")


def test_a_story_stands_in_order_of_time_and_shows_what_is_gone() -> None:
    output = beside(CompanionKind.TOOL_OUTPUT, datetime(2026, 5, 4, tzinfo=UTC), "gone")
    plan = beside(CompanionKind.PLAN, datetime(2026, 5, 2, tzinfo=UTC))
    shelves = [
        shelf(
            KNOWN,
            summary("late", 9),
            summary("early", 1),
            summary("saved", 6, kind=SessionKind.CHECKPOINT, parent_id="gemini:early"),
            summary("child", 5, kind=SessionKind.SUBAGENT, parent_id="gemini:parent"),
            summary("words", 7, kind=SessionKind.LOST),
            companions=(output, plan),
        ),
        shelf(OTHER, summary("elsewhere", 3)),
    ]
    identity = identify(shelves, nothing)
    contents = Contents(shelves, identity)
    told = tell(contents, the_one(contents.reports(), "shop"), [])
    assert [
        (event.kind, event.session_id or (event.session and event.session.native_id)) for event in told.events
    ] == [
        (EventKind.SESSION, "early"),
        (EventKind.FILE, None),
        (EventKind.GAP, "gemini:gone"),
        (EventKind.GAP, "gemini:parent"),
        (EventKind.SUBAGENT, "child"),
        (EventKind.CHECKPOINT, "saved"),
        (EventKind.LOST, "words"),
        (EventKind.SESSION, "late"),
    ]


def gaps(*shelves: Shelved) -> list[str | None]:
    """The sessions of which a story says that they are gone."""
    identity = identify(shelves, nothing)
    contents = Contents(shelves, identity)
    told = tell(contents, the_one(contents.reports(), "shop"), [])
    return [event.session_id for event in told.events if event.kind is EventKind.GAP]


@pytest.mark.parametrize(("minutes", "found"), [(-1, True), (0, False), (30, False), (60, False), (62, True)])
def test_what_was_written_while_a_session_was_at_work_does_not_prove_another(
    minutes: int, found: bool
) -> None:
    """Gemini CLI takes a new id at /clear; releases 0.29 to 0.34 go on recording under the old one."""
    start = datetime(2026, 5, 4, 10, tzinfo=UTC)
    long = summary("long", 4, started_at=start, ended_at=start + timedelta(minutes=60))
    short = summary(
        "short", 4, started_at=start + timedelta(minutes=5), ended_at=start + timedelta(minutes=6)
    )
    output = beside(CompanionKind.TOOL_OUTPUT, start + timedelta(minutes=minutes), "stale")
    assert gaps(shelf(KNOWN, long, short, companions=(output,))) == (["gemini:stale"] if found else [])


def test_one_file_from_another_time_proves_that_a_session_is_gone() -> None:
    start = datetime(2026, 5, 4, 10, tzinfo=UTC)
    work = summary("work", 4, started_at=start, ended_at=start + timedelta(minutes=60))
    outputs = [beside(CompanionKind.TOOL_OUTPUT, start + timedelta(hours=n), "gone") for n in (0, 5, 6)]
    assert gaps(shelf(KNOWN, work, companions=tuple(outputs))) == ["gemini:gone"]


def test_an_id_that_a_session_names_as_its_own_is_not_gone() -> None:
    output = beside(CompanionKind.TOOL_OUTPUT, datetime(2026, 6, 4, tzinfo=UTC), "stale")
    told = shelf(KNOWN, summary("long", 4), companions=(output,))
    assert gaps(told) == ["gemini:stale"]
    told.named.add("gemini:stale")
    assert gaps(told) == []
