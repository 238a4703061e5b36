"""What `geminids show` does: a session to read."""

from __future__ import annotations

import sys
from contextlib import contextmanager, nullcontext
from functools import partial

from geminids.core.values import NamedTuple
from geminids.faces.cli.choices import WrongUsageError
from geminids.faces.cli.forms import (
    FLAG,
    JSON,
    NO_PAGER,
    NO_SYNC,
    NUMBER,
    TEXT,
    WHERE_AND_HOW,
    WORD,
    Form,
    Option,
)
from geminids.sharing.transcript.levels import LEVEL_WORDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any, Literal

    from geminids.core.errors import Unreadable
    from geminids.core.model import Session
    from geminids.faces.cli.choices import Choices
    from geminids.faces.drawing.page import Page, Places
    from geminids.library import Library
    from geminids.sharing.transcript.entries import Detail
    from geminids.storage.durable.values import Marks


class Drawing(NamedTuple):
    """What is drawn of sessions, and how."""

    detail: Detail
    first: int
    """The number of the first message."""
    whole: Sequence[Session]
    """The sessions with all their messages."""
    found: Places | None
    """Where in a text what is to be highlighted stands."""
    beside: bool
    """Whether what lies beside them is drawn too."""


DETAIL = Option(
    "detail_level",
    "--detail",
    WORD,
    f"How much to show. {'; '.join(f'{level}: {note}' for level, note in LEVEL_WORDS.items())}.",
    words=tuple(LEVEL_WORDS),
)
FORM = Form(
    (
        DETAIL,
        Option("thoughts", "--thoughts", FLAG, "Also show the model's thoughts."),
        Option("tools", "--tools", FLAG, "Also show tool arguments, tool outputs and whole diffs."),
        Option(
            "notices",
            "--notices",
            FLAG,
            "Also show notices of the agent. Warnings and errors are always shown.",
        ),
        Option("everything", "--all", FLAG, "Show everything, dropped turns included."),
        Option("at", "--at", NUMBER, "Begin at message N, as numbered by `search`.", metavar="N"),
        Option("limit", "-n --limit", NUMBER, "Show at most N messages.", metavar="N"),
        Option("find", "--find", TEXT, "Highlight these words, as `search` takes them.", metavar="WORDS"),
        Option(
            "version",
            "--version",
            NUMBER,
            "Show version N of the session, as numbered by `keep versions`.",
            metavar="N",
        ),
        Option("beside", "--beside", FLAG, "Also show the plans, tasks and notes beside the session."),
        Option("agent_view", "--agent-view", FLAG, "Show the messages as the agent itself would load them."),
        NO_SYNC,
        JSON,
        NO_PAGER,
        Option("width", "--width", NUMBER, "Wrap lines at N columns.", metavar="N", least=20),
        *WHERE_AND_HOW,
    ),
    argument="wanted",
)


def show(
    choices: Choices,
    *,
    wanted: str,
    detail_level: str | None,
    thoughts: bool,
    tools: bool,
    notices: bool,
    everything: bool,
    at: int | None,
    limit: int | None,
    find: str | None,
    version: int | None,
    beside: bool,
    agent_view: bool,
    no_pager: bool,
    width: int | None,
) -> int:
    """Show it as it is asked for, and say what else there is of it; the exit code."""
    from geminids.faces.cli.sessions import marks_of, tell_unreadable
    from geminids.query.sessions.input_files import file_meant

    if version is not None:
        _check_version(wanted, agent_view=agent_view)
    with _stdin_as_file() if wanted == "-" else nullcontext(wanted) as meant:
        library = choices.open_library(sample_if_empty=file_meant(meant) is None, early=True)
        if agent_view:
            record = library.agent_view(meant)
            if choices.json:
                _print_record(record)
            else:
                _draw(choices, width, no_pager, lambda page: _draw_record(page, record))
            return 0
        sessions, unreadable = _read(library, meant, version)
        document = _document(meant)
        # Anybody may have written a document: the files that it names are not opened.
        beside = beside and not document
    whole = sessions
    if at is not None or limit is not None:
        sessions = [_piece(session, at or 1, limit) for session in sessions]
    if choices.json:
        _print_sessions(sessions, marks_of(library, sessions))
    else:
        detail = detail_of(
            detail_level, thoughts=thoughts, tools=tools, notices=notices, everything=everything
        )
        drawing = Drawing(detail, at or 1, whole, library.places_of(find) if find else None, beside)
        _draw(
            choices, width, no_pager, lambda page: _draw_sessions(page, choices, library, sessions, drawing)
        )
    if not choices.json and (version is not None or any(session.kept for session in sessions)):
        _tell_versions(choices, library, wanted, len(sessions[0].files))
    if document == "record":
        _tell_unverified(choices, wanted)
    return tell_unreadable(unreadable)


def _check_version(wanted: str, *, agent_view: bool) -> None:
    """Refuse to look for earlier states of what has none."""
    from geminids.query.sessions.input_files import file_meant

    if wanted == "-" or file_meant(wanted):
        raise WrongUsageError("show", "--version needs an ID: a FILE has no kept versions.")
    if agent_view:
        raise WrongUsageError("show", "--version and --agent-view cannot be combined.")


def _document(wanted: str) -> Literal["session", "record"] | None:
    """Which kind of document was read, if it was one: names that are no paths are looked up as files too."""
    from pathlib import Path

    from geminids.query.sessions.input_files import file_meant, is_document

    file = file_meant(wanted) or Path(wanted)
    if not is_document(file):
        return None
    return "record" if is_document(file, of_records=True) else "session"


def _tell_unverified(choices: Choices, wanted: str) -> None:
    """Say that a record was read, and not checked."""
    from geminids.faces.cli.talk import say

    check = choices.spelled("verify", "FILE" if wanted == "-" else wanted)
    say(f"This is an exported record. `{check}` checks whether its signature is valid.")


def _read(
    library: Library, wanted: str, version: int | None
) -> tuple[Sequence[Session], Sequence[Unreadable]]:
    if version is None:
        return library.read(wanted)
    return [library.kept.session_as_it_was(wanted, version)], ()


def _tell_versions(choices: Choices, library: Library, wanted: str, files: int) -> None:
    """Say that there are earlier states. Of a session that is read from its own files it takes too long."""
    from geminids.faces.cli.talk import say
    from geminids.sharing.transcript import words

    number = len(library.kept.versions(wanted).versions)
    if number > files:
        every = choices.spelled("keep", "versions", wanted)
        say(f"{words.count(number, 'version')} of its files are kept: `{every}`.")


def _piece(session: Session, number: int, limit: int | None) -> Session:
    """A session from one of its messages on, and no more of them than are wished."""
    import msgspec

    if number > len(session.messages):
        raise WrongUsageError(
            "show", f"Invalid value for '--at': the session has {len(session.messages)} messages."
        )
    end = None if limit is None else number - 1 + limit
    return msgspec.structs.replace(session, messages=session.messages[number - 1 : end])


@contextmanager
def _stdin_as_file() -> Iterator[str]:
    """What stands on stdin, in a file that only this user can read and that is gone afterwards."""
    from pathlib import Path

    from geminids.core.atomic_files import temporary_folder

    with temporary_folder() as folder:
        file = Path(folder, "stdin")
        file.write_bytes(sys.stdin.buffer.read())
        yield str(file)


def detail_of(
    level: str | None = None, *, thoughts: bool, tools: bool, notices: bool, everything: bool
) -> Detail:
    """How much is told of a session, as it was chosen: a level, and what is added to it."""
    from geminids.sharing.transcript.entries import LEVELS, Detail

    chosen = LEVELS["everything" if everything else level or "conversation"]
    return Detail(
        replies=chosen.replies,
        thoughts=thoughts or chosen.thoughts,
        tools=tools or chosen.tools,
        notices=notices or chosen.notices,
        everything=chosen.everything,
    )


def _print_record(record: dict[str, Any]) -> None:
    from geminids.faces.cli.json_output import print_json
    from geminids.faces.documents.sessions import agent_view_document

    print_json(agent_view_document(record))


def _print_sessions(sessions: Sequence[Session], marks: Mapping[str, Marks]) -> None:
    """One document for the first session of a file; others that lie in the same file stand in it."""
    from geminids.faces.cli.json_output import print_filled
    from geminids.faces.documents.sessions import marked
    from geminids.sharing.export.session_document import MarkedSession, SessionDocument

    first, *others = [marked(MarkedSession, session, marks) for session in sessions]
    print_filled(SessionDocument, first, others=others)


def _draw(choices: Choices, width: int | None, no_pager: bool, draw: Callable[[Page], None]) -> None:
    from geminids.faces.cli.pager import draw_paged
    from geminids.faces.drawing.screen import find_screen

    draw_paged(find_screen(no_color=choices.no_color, width=width), draw, no_pager=no_pager)


def _draw_sessions(
    page: Page, choices: Choices, library: Library, sessions: Sequence[Session], drawing: Drawing
) -> None:
    """Draw sessions, or what is asked for of the whole ones."""
    from geminids.faces.cli.sessions import marks_of
    from geminids.faces.drawing.companions import draw_companion, shown_beside
    from geminids.faces.drawing.story import StoryContext, draw_session

    marks = marks_of(library, sessions)

    for number, (session, all_of_it) in enumerate(zip(sessions, drawing.whole, strict=True)):
        if number:
            page.line()
        title = library.agent_title(session.agent)
        said = marks.get(session.id)
        how_to_show = partial(choices.spelled, "show")
        below = len(all_of_it.messages) - (drawing.first - 1) - len(session.messages)
        context = StoryContext(session, drawing.detail, title, how_to_show, said, library.cost_of(all_of_it))
        context = context._replace(first=drawing.first, below=below, found=drawing.found)
        draw_session(page, context._replace(used=library.used_by([session.id]).get(session.id)))
        for companion in shown_beside(session.companions) if drawing.beside else ():
            draw_companion(page, companion, library.text_beside(companion))


def _draw_record(page: Page, record: dict[str, Any]) -> None:
    from geminids.faces.drawing.story import draw_record

    draw_record(page, record)
