"""What `geminids search` does: the sessions and messages that hold some words, the best first."""

from __future__ import annotations

import sys
from functools import partial

from geminids.core.errors import NOTHING_FOUND, PARTLY_DONE, MeaningOptionError
from geminids.faces.cli.forms import (
    AGENTS,
    FLAG,
    JSON,
    NO_PAGER,
    NO_SYNC,
    NUMBER,
    PROJECT,
    TEXT,
    WHERE_AND_HOW,
    WORD,
    Form,
    Option,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from geminids.faces.cli.choices import Choices
    from geminids.library import Library
    from geminids.query.search.found import Found, Hit
    from geminids.query.search.question import Question

LIMIT = 10
DEFAULT_WIDTH = 160
"""Characters of a snippet where no terminal sets the limit."""
LONGEST_FIND = 80
"""Characters of what is to be highlighted, in a command that is offered."""
PLACES = ("human", "model", "thoughts", "arguments", "output", "paths", "other")


FORM = Form(
    (
        Option(
            "places",
            "--in",
            WORD,
            "Where to look: your prompts (human), the model's answers, its thoughts, tool arguments, tool "
            "output, paths, or all other text. Repeatable. Default: everywhere.",
            many=True,
            words=PLACES,
        ),
        PROJECT,
        AGENTS,
        Option("since", "--since", TEXT, "Only messages after WHEN: 12h, 7d, 2026-05-01.", metavar="WHEN"),
        Option("until", "--until", TEXT, "Only messages before the end of WHEN.", metavar="WHEN"),
        Option("limit", "-n --limit", NUMBER, f"Show at most N sessions. Default: {LIMIT}.", metavar="N"),
        Option("page", "--page", NUMBER, "Show page N of the results. Default: 1.", metavar="N"),
        Option("after", "--after", TEXT, "Show the page after PAGE, the `next` of its JSON.", metavar="PAGE"),
        Option(
            "order",
            "--sort",
            WORD,
            "Sort sessions by best match or newest first. Default: best.",
            words=("best", "newest"),
            default="best",
        ),
        Option(
            "like",
            "--like",
            TEXT,
            "Find sessions about the same subject as TEXT, whatever their words, closest first. WORDS and "
            "other options narrow the search. Needs the extra `meaning`.",
            metavar="TEXT",
        ),
        Option("exact", "--exact", FLAG, "Match all words exactly as typed; no partial matches."),
        Option(
            "scan",
            "--scan",
            FLAG,
            "Read the full text of all sessions, including text that is not indexed. Slow.",
        ),
        JSON,
        Option("jsonl", "--jsonl", FLAG, "Print one JSON value per line, one for each message."),
        NO_SYNC,
        NO_PAGER,
        *WHERE_AND_HOW,
    ),
    argument="words",
    many=True,
)


def search(
    choices: Choices,
    *,
    words: tuple[str, ...],
    places: tuple[str, ...],
    project: str | None,
    agents: tuple[str, ...],
    since: str | None,
    until: str | None,
    limit: int | None,
    page: int | None,
    after: str | None,
    order: str,
    like: str | None,
    exact: bool,
    scan: bool,
    jsonl: bool,
    no_pager: bool,
) -> int:
    """Show what is found, and say what more there is; the exit code."""
    from geminids.faces.cli.progress import progress
    from geminids.query.search.question import Question

    choices.json = choices.json or jsonl
    question = Question(
        words=" ".join(words),
        places=places,
        project=project,
        since=since,
        until=until,
        limit=limit or LIMIT,
        width=_snippet_width(choices),
        after=after,
        order=order,
        scan=scan,
        agents=agents,
        forgiving=not exact,
        with_names=True,
    )
    library = choices.open_library(sample_if_empty=True, early=True)
    if like is not None:
        if scan or page or after or order != "best":
            raise MeaningOptionError
        found = library.like(like, question, choices.now, progress("Reading sessions"))
    else:
        searching = partial(library.search, progress=progress("Scanning" if scan else "Searching"))
        found = searching(question, choices.now)
        for number in range(1, page or 1):
            if found.next is None:
                return _no_such_page(choices, library, found, jsonl=jsonl, wanted=page or 1, last=number)
            found = searching(question._replace(after=found.next), choices.now)
    _show(choices, library, found, question, jsonl=jsonl, no_pager=no_pager, like=like, page=page or 1)
    if unreadable := library.unreadable():
        from geminids.faces.cli.sessions import tell_unreadable

        return tell_unreadable(unreadable)
    if found.unsearched:
        return PARTLY_DONE
    return 0 if found.sessions else NOTHING_FOUND


def _show(
    choices: Choices,
    library: Library,
    found: Found,
    question: Question,
    *,
    jsonl: bool,
    no_pager: bool,
    like: str | None,
    page: int,
) -> None:
    """Give out what was found, and say what stands beside it."""
    is_fit_told = False
    if jsonl:
        _print_json_lines(found)
    elif choices.json:
        _print_json(found, library.to_come(), like)
    else:
        is_fit_told = _draw(choices, library, found, no_pager=no_pager)
    if like is None:
        _tell(choices, library, question, found, page, is_fit_told=is_fit_told)
    else:
        from geminids.faces.cli.search_talk import tell_meaning

        tell_meaning(found, choices.spelled("show", *_first(found)))


def _snippet_width(choices: Choices) -> int:
    if choices.json or not sys.stdout.isatty():
        return DEFAULT_WIDTH
    from geminids.faces.cli.hits import snippet_width

    return snippet_width()


def _print_json(found: Found, to_come: int, like: str | None) -> None:
    from geminids.faces.cli.json_output import print_json
    from geminids.faces.documents.search import search_document

    print_json(search_document(found, to_come, like))


def _print_json_lines(found: Found) -> None:
    from geminids.faces.cli.json_output import print_lines
    from geminids.faces.documents.search import hits_of

    print_lines(hits_of(found))


def _draw(choices: Choices, library: Library, found: Found, *, no_pager: bool) -> bool:
    """Draw what was found; whether it was also told how it fits."""
    from geminids.faces.cli.hits import draw_hits, print_hits, remember
    from geminids.faces.drawing.page import open_page
    from geminids.faces.drawing.screen import find_screen

    screen = find_screen(no_color=choices.no_color)
    if not screen.is_terminal:
        print_hits(open_page(screen), found)
        return False
    from geminids.faces.cli.pager import draw_paged
    from geminids.faces.cli.search_talk import how_it_fits
    from geminids.faces.cli.sessions import marks_of

    # Whoever leaves the pager early has seen numbers, too.
    remember(library, found)
    marks = marks_of(library, [group.session for group in found.sessions])
    notes = list(how_it_fits(found)) if found.sessions else ()
    return draw_paged(
        screen, lambda page: draw_hits(page, found, marks, choices.now), no_pager=no_pager, notes=notes
    )


def _no_such_page(
    choices: Choices, library: Library, found: Found, *, jsonl: bool, wanted: int, last: int
) -> int:
    """Give out an empty page behind the last one, and say that there is nothing on it."""
    from geminids.faces.cli.talk import say
    from geminids.sharing.transcript import words

    if choices.json and not jsonl:
        _print_json(found._replace(sessions=()), library.to_come(), None)
    say(words.no_page(wanted, last))
    return NOTHING_FOUND


def _tell(
    choices: Choices, library: Library, question: Question, found: Found, page: int, *, is_fit_told: bool
) -> None:
    from geminids.faces.cli.search_talk import SearchOutcome, tell_found

    spelled = ["search", *_spelled(question)]
    show = choices.spelled("show", *_first(found, question.words))
    unknown = None if found.sessions else library.no_such_project(question, choices.now)
    tell_found(
        SearchOutcome(
            found,
            lambda *more: choices.spelled(*spelled, *more),
            show,
            choices.json,
            question.words,
            page,
            library.searched_places,
            str(unknown or ""),
            is_fit_told,
            is_partial=library.to_come() > 0,
        )
    )


def _first(found: Found, typed: str = "") -> list[str]:
    """The words that show the first message that was found, and highlight in it what was looked for."""
    hits = found.sessions[0].hits if found.sessions else ()
    if not hits:
        return ["1"]
    find = _to_highlight(found, hits, typed) if typed else ""
    # What begins like an option would be taken for one.
    words = [f"--find={find}"] if find.startswith("-") else ["--find", find]
    return ["1", "--at", str(hits[0].message.place + 1), *(words if find else [])]


def _to_highlight(found: Found, hits: Sequence[Hit], typed: str) -> str:
    """What was typed; where something else was found for it, what that is. Nothing if no words were."""
    snippets = [hit.snippet for hit in hits if hit.snippet]
    spans = [snippet.text[start:end] for snippet in snippets for start, end in snippet.spans]
    if not spans:
        return ""
    missing = found.sessions[0].missing
    spans += [word for typed, read in found.respelt.items() if typed not in missing for word in read]
    shown = list(dict.fromkeys(word for span in spans for word in span.lower().split() if word.isalnum()))
    wanted = [word.strip('"()*') for word in typed.lower().split()]
    others = [word for word in shown if word not in wanted]
    if all(map(str.isalnum, wanted)):
        # Of a sentence, what it is about.
        return typed if set(wanted) <= set(shown) else " ".join(shown)
    every = " ".join([typed, *others])
    # Who pastes a page can still copy the command.
    return every if len(every) <= LONGEST_FIND else " ".join(shown)


def _spelled(question: Question) -> list[str]:
    """The words to type for a question, but for the page."""
    options = [word for place in question.places for word in ("--in", place)]
    options += [word for agent in question.agents for word in ("--agent", agent)]
    for name, value in (("project", question.project), ("since", question.since), ("until", question.until)):
        options += [f"--{name}", value] if value else []
    options += ["--sort", question.order] if question.order != "best" else []
    options += ["--limit", str(question.limit)] if question.limit != LIMIT else []
    options += ["--exact"] if not question.forgiving else []
    options += ["--scan"] if question.scan else []
    # Options come first: after the words, one that begins with - would be taken for an option.
    ends_options = ["--"] if question.words.startswith("-") else []
    return [*options, *ends_options, question.words] if question.words else options
