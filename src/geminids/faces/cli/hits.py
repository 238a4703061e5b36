"""What a search has found, drawn for people or printed for programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from geminids.faces.drawing.page import Page, Span

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from geminids.library import Library
    from geminids.query.search.found import Found, FoundMessage, Hit, SessionHits
    from geminids.storage.durable.values import Marks
    from geminids.storage.text.values import Snippet

_INDENT = 4
_WIDEST_LABEL = 18
_USUAL_LABEL = 20
_NARROWEST = 40
DELETED = "deleted"
"""What is said of a session whose files are gone, as in a list."""
NO_SNIPPET = "(no words to show; the file may have changed)"
_SELF = {"human": "human", "model": "model", "thoughts": "thoughts", "output": "output", "paths": "path"}


def snippet_width() -> int:
    """Characters that fit beside the usual labels."""
    from shutil import get_terminal_size

    return max(get_terminal_size().columns - _INDENT - _USUAL_LABEL, _NARROWEST)


def draw_hits(page: Page, found: Found, marks: Mapping[str, Marks], now: datetime) -> None:
    """Sessions with numbers, called as the user calls them, below each its best messages."""
    from geminids.core.names import project_names

    names = project_names(group.session.project for group in found.sessions)
    is_mixed = len({group.session.agent for group in found.sessions}) > 1
    for number, group in enumerate(found.sessions, start=1):
        if number > 1:
            page.line()
        agent = f"{group.session.agent}  " if is_mixed else ""
        place = (agent, names[group.session.project])
        _draw_session(page, number, group, place, said=marks.get(group.session.id), now=now)


def print_hits(page: Page, found: Found) -> None:
    """One line a message: session, number of the message, time, where, project, snippet."""
    for group in found.sessions:
        for hit in group.hits:
            at = hit.message.at or group.session.last_at
            page.fields(
                (group.session.id, "quiet"),
                str(hit.message.place + 1),
                f"{at.astimezone():%Y-%m-%dT%H:%M}" if at else "-",
                ",".join(hit.where) or hit.message.origin,
                (group.session.project.name, "human"),
                _plain(hit.snippet),
                *([(DELETED, "quiet")] if group.session.kept else []),
            )


def remember(library: Library, found: Found) -> None:
    """Keep the sessions by their numbers, which `show` takes."""
    if not found.sessions:
        # The numbers of the list before are worth more than none.
        return
    from geminids.faces.cli.talk import say

    try:
        library.remember([group.session for group in found.sessions])
    except OSError as error:
        say(f"Cannot store the numbers ({error.strerror}); give `show` an id instead.")


def _draw_session(
    page: Page,
    number: int,
    group: SessionHits,
    place: tuple[str, str],
    *,
    said: Marks | None,
    now: datetime,
) -> None:
    from geminids.sharing.transcript import words

    session = group.session
    agent, project = place
    mark = words.KIND_MARKS.get(session.kind)
    name = (said and said.name) or session.title
    page.line(
        (f"{number:>2}", "quiet"),
        "  ",
        words.when(session.last_at, now),
        "  ",
        (agent, "quiet"),
        (project, "human"),
        "  ",
        (f"{DELETED}  " if session.kept else "", "quiet"),
        (f"{mark} " if mark else "", ""),
        (name or "untitled", "title" if name else "quiet"),
        (f"  {words.tags(said.tags)}" if said and said.tags else "", "tool"),
    )
    if group.missing:
        page.line((f"without {', '.join(group.missing)}", "quiet"), indent=_INDENT)
    labels = [_label(hit) for hit in group.hits]
    width = min(max(map(len, labels), default=0), _WIDEST_LABEL)
    for label, hit in zip(labels, group.hits, strict=True):
        page.line(*_hit(label, width, hit), indent=_INDENT)
    in_messages = [hit for hit in group.hits if hit.is_of_message]
    if (more := group.matches - len(in_messages)) > 0:
        page.line((f"+ {more:,} more in this session", "quiet"), indent=_INDENT)


def _hit(label: str, width: int, hit: Hit) -> Iterator[Span]:
    yield (f"{label[:width]:<{width}}", hit.message.origin if hit.message.origin in _SELF else "tool")
    yield (f" {'#' + str(hit.message.place + 1):<5}", "quiet")
    if hit.message.state not in ("current", "compressed"):
        yield (f"{hit.message.state}: ", "warning")
    yield from _snippet(hit.snippet)


def _label(hit: Hit) -> str:
    """Whose words they are, or what they belong to."""
    place = hit.where[0] if hit.where else hit.message.origin
    if place == "arguments":
        return _tool(hit.message)
    if place == "other":
        return hit.message.origin
    return _SELF.get(place, place)


def _tool(message: FoundMessage) -> str:
    return message.tools[0] if len(message.tools) == 1 else "arguments"


def _snippet(snippet: Snippet | None) -> Iterator[Span]:
    if snippet is None:
        yield (NO_SNIPPET, "quiet")
        return
    done = 0
    if snippet.is_cut_before:
        yield ("…", "quiet")
    for start, end in snippet.spans:
        yield snippet.text[done:start]
        yield (snippet.text[start:end], "match")
        done = end
    yield snippet.text[done:]
    if snippet.is_cut_after:
        yield ("…", "quiet")


def _plain(snippet: Snippet | None) -> str:
    return "".join(_words(_snippet(snippet)))


def _words(spans: Iterator[Span]) -> Sequence[str]:
    return [span if isinstance(span, str) else span[0] for span in spans]
