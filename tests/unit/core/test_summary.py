"""What a session comes to: its title."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geminids.core.model.summary import first_sentence


@pytest.mark.parametrize(
    ("typed", "title"),
    [
        ("Fix the upload. It fails since Monday.", "Fix the upload."),
        ("the tests fail! can you fix them?", "the tests fail!"),
        ('Why is it "refused?" I ask.', 'Why is it "refused?"'),
        ("Read README.md, e.g. its end. Then stop.", "Read README.md, e.g. its end."),
        ("Das geht z. B. mit Python 3.11 bzw. neuer. Oder?", "Das geht z. B. mit Python 3.11 bzw. neuer."),
        ("It fails with Python 3.11. Why?", "It fails with Python 3.11."),
        ("1. Read the notes\n2. Count them", "1. Read the notes"),
        ("Hello! Where do we count notes? And why?", "Hello! Where do we count notes?"),
        ("A prompt that was\nbroken into lines", "A prompt that was broken into lines"),
        ("Explain this error\n\nTraceback (most recent call last):", "Explain this error"),
        ("Explain this error\n```\nValueError\n```", "Explain this error"),
        ("Change these:\n- the name\n- the place", "Change these:"),
        ("list them with find . and sort. Then stop.", "list them with find . and sort."),
        (
            "want `find . -name '*.jpg' | tagsort` on stdin. ok?",
            "want `find . -name '*.jpg' | tagsort` on stdin.",
        ),
        ("Overfull \\hbox in ch. 3, because of paths. how?", "Overfull \\hbox in ch. 3, because of paths."),
        ("camera jitters, esp. on a 144hz monitor", "camera jitters, esp. on a 144hz monitor"),
        ("bibliography is empty, (?) everywhere. why", "bibliography is empty, (?) everywhere."),
        ('it says "Text did not match. Server: x" now. Why?', 'it says "Text did not match. Server: x" now.'),
        (
            "undo must work (e.g. Power cut. Or not.) always. And redo",
            "undo must work (e.g. Power cut. Or not.) always.",
        ),
        ("authors (Year), et al. From 3 on", "authors (Year), et al. From 3 on"),
        ("sigma vs Var. use one notation", "sigma vs Var. use one notation"),
        ("find duplicates. 200k files", "find duplicates."),
        ('it fails with "too late". next one works', 'it fails with "too late".'),
        ('why does "Stop!" mean (really?) nothing! tell me', 'why does "Stop!" mean (really?) nothing!'),
        ("Fix it. Then stop.", "Fix it. Then stop."),
        ("Das sagt „Nein. Nie.“ immer. Warum?", "Das sagt „Nein. Nie.“ immer."),
        ("Which project is this? (alpha)", "Which project is this? (alpha)"),
        ("味噌汁のレシピを追加してください。写真も。", "味噌汁のレシピを追加してください。"),
        ("**Write the release notes.** Briefly.", "**Write the release notes.**"),
        ("  \n ", ""),
        ("no end at all", "no end at all"),
    ],
)
def test_a_title_is_the_first_sentence(typed: str, title: str) -> None:
    assert first_sentence(typed) == title


@given(st.text(st.sampled_from('aB1 .?!(`"。…\n'), max_size=60))
def test_a_title_is_only_short_if_what_was_typed_is(typed: str) -> None:
    title = first_sentence(typed)
    assert sum(map(str.isalnum, title)) >= 8 or title == " ".join(typed.split())


def test_a_long_sentence_is_cut_between_words() -> None:
    title = first_sentence("word " * 1000 + "end.")
    assert title.endswith("word")
    assert len(title) <= 300
