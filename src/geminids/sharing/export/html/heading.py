"""What stands before the story: what session this is, and the outline of its prompts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC

from geminids.core.model import AnyPart, Attachment, FileReference, Origin, Session, SessionKind, Text
from geminids.sharing.export.html.markup import NOTHING, Markup, attribute, filled, joined, line, number
from geminids.sharing.export.html.pieces import PageFacts, time
from geminids.sharing.export.html.tokens import bar, legend, total
from geminids.sharing.transcript import words
from geminids.sharing.transcript.entries import Speaker, Turn, is_marked
from geminids.sharing.transcript.labels import (
    NO_WORDS,
    attachment_name,
    kind_sentence,
    problem_line,
    problems_sentence,
    redacted_sentence,
)
from geminids.sharing.transcript.limits import LONGEST_PROMPT, cut


def about(facts: PageFacts, title: str, redacted: str | None) -> Markup:
    """The heading of the page."""
    return filled(
        '<header class="about">\n{}<h1>{}</h1>\n{}<dl>\n{}</dl>\n{}{}</header>\n',
        _kind(facts.session),
        line(title),
        _own_title(facts.session, title),
        joined(filled("<div><dt>{}</dt><dd>{}</dd></div>\n", *fact) for fact in _facts(facts)),
        _tokens(facts.session),
        joined(_notes(facts.session, redacted, with_places=facts.detail.notices)),
    )


def outline(turns: Sequence[Turn], facts: PageFacts) -> Markup:
    """Links to all prompts; a closed fold where there is little room."""
    prompts = [turn for turn in turns if turn.speaker in {Speaker.HUMAN, Speaker.PARENT}]
    links = joined(_link(turn, facts) for turn in prompts)
    return filled(
        '<nav class="outline" aria-label="Prompts">\n'
        "<details open><summary>{}</summary>\n<ol>\n{}</ol></details>\n</nav>\n",
        Markup(_how_many(prompts, facts.session)),
        links,
    )


def _how_many(turns: Sequence[Turn], session: Session) -> str:
    """How many prompts there are links to, of how many, and to what else that the human or a parent said."""
    prompts = [turn.message for turn in turns if turn.message.origin is Origin.HUMAN]
    tasks = sum(turn.speaker is Speaker.PARENT for turn in turns)
    commands = len(turns) - len(prompts) - tasks
    # What was taken over from another session is counted there.
    missing = max(session.counts.prompts - sum(not prompt.imported for prompt in prompts), 0)
    counted = words.count(len(prompts) + missing, "prompt")
    named = (
        f"{len(prompts):,} of {counted}" if missing else counted if prompts or not turns else "",
        words.count(tasks, "task") if tasks else "",
        words.count(commands, "command") if commands else "",
    )
    return ", ".join(filter(None, named))


def _link(turn: Turn, facts: PageFacts) -> Markup:
    place = number(facts.numbers[id(turn.message)])
    dropped = Markup(' class="dropped"') if is_marked(turn.message) else NOTHING
    shown = cut(" ".join(_first_words(turn)), LONGEST_PROMPT)
    return filled('<li><a href="#m-{}"{}><span>{}</span></a></li>\n', place, dropped, line(shown or NO_WORDS))


def _first_words(turn: Turn) -> Iterator[str]:
    """Enough of the words of a prompt to know it by, as one line."""
    if turn.message.origin is Origin.SHELL:
        yield "!"
    for part in turn.parts:
        if found := " ".join(_words_of(part)[: 4 * LONGEST_PROMPT].split()):
            yield found
            return


def _words_of(part: AnyPart) -> str:
    match part:
        case Text(text=text):
            return text
        case FileReference(path=path):
            return f"@ {path}"
        case Attachment():
            return f"▣ {attachment_name(part)}"
        case _:
            return ""


def _kind(session: Session) -> Markup:
    kind = kind_sentence(session, session.parent_id)
    return filled('<p class="kind">{}</p>\n', line(kind)) if kind else NOTHING


def _own_title(session: Session, title: str) -> Markup:
    """The title of a session that the user calls by another name."""
    if not session.title or session.title == title:
        return NOTHING
    return filled('<p class="quiet">{}</p>\n', line(session.title))


def _facts(facts: PageFacts) -> Iterator[tuple[Markup, Markup]]:
    session, counts = facts.session, facts.session.counts
    yield Markup("Project"), line(session.project.path or session.project.name)
    if session.branch:
        yield Markup("Branch"), line(session.branch)
    yield Markup("Agent"), line(", ".join((facts.agent_title, *session.models)))
    if when := _when(session):
        yield Markup("Time"), when
    if session.kind is not SessionKind.LOST:
        mark, style = words.STATUS_MARKS[session.status]
        yield (
            Markup("Status"),
            filled('<span class="{}">{} {}</span>', Markup(style), Markup(mark), Markup(session.status)),
        )
    numbers = [
        words.count(counts.prompts, "prompt"),
        words.count(counts.replies, "reply", "replies"),
        words.count(counts.tool_calls, "tool call"),
        *([words.count(counts.tool_errors, "error")] if counts.tool_errors else []),
        *([f"{counts.dropped:,} dropped"] if counts.dropped else []),
    ]
    yield Markup("Turns"), Markup(", ".join(numbers))
    yield Markup("Session"), filled("<code>{}</code>", line(session.id))


def _when(session: Session) -> Markup:
    begin, end = session.started_at, session.ended_at
    ends = words.span_ends(begin, end, UTC)
    known = [at for at in (begin, end) if at]
    if not (begin and end) or len(ends) < 2:
        return time(known[0], ends[0]) if known else NOTHING
    first, last = (time(at, shown) for at, shown in zip(known, ends, strict=True))
    return filled("{} to {} ({})", first, last, Markup(words.duration(end - begin)))


def _tokens(session: Session) -> Markup:
    used = total(session.usage)
    if not used:
        return NOTHING
    return filled(
        '<div class="tokens">{}<ul aria-label="Tokens">{}</ul></div>\n',
        bar(session.usage, used),
        legend(session.usage),
    )


def _notes(session: Session, redacted: str | None, *, with_places: bool) -> Iterator[Markup]:
    if redacted:
        yield filled('<p class="notice info">{}</p>\n', line(redacted_sentence(redacted)))
    if session.problems:
        count = problems_sentence(len(session.problems))
        yield filled('<p class="notice warning">{}</p>\n', Markup(count))
    for problem in session.problems if with_places else ():
        yield filled('<p class="notice warning">{}</p>\n', line(problem_line(problem, problem.file)))


def page_title(title: str, session: Session) -> Markup:
    """The title of the window."""
    return attribute(f"{title} · {session.project.name}")
