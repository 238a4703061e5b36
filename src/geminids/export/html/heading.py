"""What stands before the story: what session this is, and the outline of its prompts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from geminids.export.html.markup import NOTHING, Markup, attribute, filled, joined, line, number
from geminids.export.html.telling import Telling, moment, time
from geminids.export.html.tokens import bar, legend, total
from geminids.model import AnyPart, Attachment, FileReference, Origin, Session, SessionKind, Text
from geminids.transcript import words
from geminids.transcript.entries import Speaker, Turn, is_marked

LONGEST_PROMPT = 120
"""Characters of a prompt in the outline."""

_KINDS = {
    SessionKind.SUBAGENT: "Session of a subagent",
    SessionKind.CHECKPOINT: "Conversation saved by hand",
    SessionKind.COPY: "Copy of a conversation",
    SessionKind.LOST: "Lost session: what was typed is what remains",
}


def about(telling: Telling, title: str, redacted: str | None) -> Markup:
    """The heading of the page."""
    return filled(
        '<header class="about">\n{}<h1>{}</h1>\n{}<dl>\n{}</dl>\n{}{}</header>\n',
        _kind(telling.session),
        line(title),
        _own_title(telling.session, title),
        joined(filled("<div><dt>{}</dt><dd>{}</dd></div>\n", *fact) for fact in _facts(telling)),
        _tokens(telling.session),
        joined(_notes(telling.session, redacted, with_places=telling.detail.notices)),
    )


def outline(turns: Iterable[Turn], telling: Telling) -> Markup:
    """Links to all prompts; a closed fold where there is little room."""
    prompts = [turn for turn in turns if turn.speaker in {Speaker.HUMAN, Speaker.PARENT}]
    links = joined(_link(turn, telling) for turn in prompts)
    return filled(
        '<nav class="outline" aria-label="Prompts">\n'
        "<details open><summary>{}</summary>\n<ol>\n{}</ol></details>\n</nav>\n",
        Markup(words.count(len(prompts), "prompt")),
        links,
    )


def _link(turn: Turn, telling: Telling) -> Markup:
    place = number(telling.numbers[id(turn.message)])
    dropped = Markup(' class="dropped"') if is_marked(turn.message) else NOTHING
    first = " ".join(_first_words(turn))
    shown = first if len(first) <= LONGEST_PROMPT else first[: LONGEST_PROMPT - 1] + "…"
    return filled(
        '<li><a href="#m-{}"{}><span>{}</span></a></li>\n', place, dropped, line(shown or "(no words)")
    )


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
        case Attachment(mime_type=mime_type):
            return f"▣ {mime_type or 'an attachment'}"
        case _:
            return ""


def _kind(session: Session) -> Markup:
    if session.kind not in _KINDS:
        return NOTHING
    parent = filled(" of <code>{}</code>", line(session.parent_id)) if session.parent_id else NOTHING
    return filled('<p class="kind">{}{}</p>\n', Markup(_KINDS[session.kind]), parent)


def _own_title(session: Session, title: str) -> Markup:
    """The title of a session that the user calls by another name."""
    if not session.title or session.title == title:
        return NOTHING
    return filled('<p class="quiet">{}</p>\n', line(session.title))


def _facts(telling: Telling) -> Iterator[tuple[Markup, Markup]]:
    session, counts = telling.session, telling.session.counts
    yield Markup("Project"), line(session.project.path or session.project.name)
    yield Markup("Agent"), line(", ".join((telling.agent_title, *session.models)))
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
    first, last = begin or end, end or begin
    if first is None or last is None:
        return NOTHING
    if first == last:
        return time(first, moment(first))
    length = Markup(f" ({words.duration(last - first)})")
    shown = moment(last) if moment(first)[:10] != moment(last)[:10] else moment(last)[11:]
    return joined((time(first, moment(first).removesuffix(" UTC")), Markup(" – "), time(last, shown), length))


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
        yield filled('<p class="notice info">Redacted: {}</p>\n', line(redacted))
    if session.problems:
        count = words.count(len(session.problems), "problem")
        yield filled('<p class="notice warning">{} in the files of this session</p>\n', Markup(count))
    for problem in session.problems if with_places else ():
        place = f"{problem.file}:{problem.line}" if problem.line else problem.file
        yield filled(
            '<p class="notice warning">{} · {} · {}</p>\n',
            Markup(problem.kind),
            line(place),
            line(problem.detail),
        )


def page_title(title: str, session: Session) -> Markup:
    """The title of the window."""
    return attribute(f"{title} · {session.project.name}")
