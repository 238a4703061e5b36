"""What `geminids sync` does: the index, brought up to date."""

from __future__ import annotations

from geminids.core.errors import PARTLY_DONE
from geminids.faces.cli.forms import FLAG, JSON, WHERE_AND_HOW, Form, Option
from geminids.faces.cli.talk import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from geminids.faces.cli.choices import Choices
    from geminids.library import Library
    from geminids.query.health.facts import IndexFacts
    from geminids.sync.values import Outcome


FORM = Form(
    (
        Option("full", "--full", FLAG, "Make the index again from scratch."),
        Option("stats", "--stats", FLAG, "Also show the size and content of the index."),
        JSON,
        *WHERE_AND_HOW,
    )
)


def sync(choices: Choices, *, full: bool, stats: bool) -> int:
    """Take it in and say how much it was; the exit code."""
    from geminids.faces.cli.sessions import tell_nothing_found

    library = choices.open_library()
    outcome = library.sync(full=full)
    for message in outcome.said:
        say(message)
    vectors = 0 if outcome.failed else _renew_vectors(library)
    if choices.json:
        _print_json(outcome, vectors, library)
    else:
        _draw(choices, outcome, vectors, library, stats=stats)
    if library.is_empty():
        tell_nothing_found(library.searched_places)
    return PARTLY_DONE if outcome.failed else 0


def _renew_vectors(library: Library) -> int:
    """Bring up to date what searches by meaning compare; the index is up to date whatever becomes of it."""
    from geminids.core.errors import GeminidsError
    from geminids.faces.cli.progress import progress

    try:
        return library.renew_vectors(progress("Reading sessions"))
    except (GeminidsError, OSError) as error:
        say(f"The vectors for `search --like` are not up to date. {error}")
        return 0


def _print_json(outcome: Outcome, vectors: int, library: Library) -> None:
    from geminids.faces.cli.json_output import print_json
    from geminids.faces.documents.health import sync_document

    print_json(sync_document(outcome, vectors, library.index_facts()))


def _draw(choices: Choices, outcome: Outcome, vectors: int, library: Library, *, stats: bool) -> None:
    from geminids.sharing.transcript import words

    page = choices.open_page()
    made = f" Updated the vectors of {words.count(vectors, 'session')}." if vectors else ""
    page.line(f"{_sentence(outcome, library)}{made}")
    if stats:
        for name, value in _figures(library.index_facts()):
            page.line((f"{name:<10}", "quiet"), value)


def _sentence(outcome: Outcome, library: Library) -> str:
    from geminids.sharing.transcript import words

    if outcome.failed:
        return "The index was not updated."
    kept = f" Copies of {words.count(outcome.kept, 'file')} were kept." if outcome.kept else ""
    if not outcome.bundles:
        nothing = "Nothing is new." if not outcome.built else "There is nothing to index."
        return f"{nothing}{kept}"
    took = f"{words.size(outcome.bytes)} in {outcome.seconds:.1f} s.{kept}"
    if outcome.built:
        return f"The index was built: {words.sessions(library.index_facts().kinds)}, {took}"
    return f"Indexed: {words.count(outcome.bundles, 'group')} of files, {took}"


def _figures(facts: IndexFacts) -> list[tuple[str, str]]:
    from geminids.sharing.transcript import words

    scope = "every word" if facts.every_word else "everything but the middle of long tool outputs"
    return [
        ("sessions", f"{words.sessions(facts.kinds)} in {words.count(facts.projects, 'project')}"),
        ("messages", f"{facts.messages:,}"),
        ("words", f"{facts.words:,} different ones"),
        ("indexed", scope),
        ("sources", words.size(facts.source_bytes)),
        ("index", f"{words.size(facts.bytes)}{_share(facts)}"),
        ("file", words.path(facts.path) if facts.path else "kept nowhere"),
    ]


def _share(facts: IndexFacts) -> str:
    return f", {facts.bytes / facts.source_bytes:.2f} of the sources" if facts.source_bytes else ""
