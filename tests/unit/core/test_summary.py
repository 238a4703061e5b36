"""What a session comes to: its title."""

from __future__ import annotations

import pytest

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
        ("Which project is this? (alpha)", "Which project is this? (alpha)"),
        ("味噌汁のレシピを追加してください。写真も。", "味噌汁のレシピを追加してください。"),
        ("**Write the release notes.** Briefly.", "**Write the release notes.**"),
        ("  \n ", ""),
        ("no end at all", "no end at all"),
    ],
)
def test_a_title_is_the_first_sentence(typed: str, title: str) -> None:
    assert first_sentence(typed) == title


def test_a_long_sentence_is_cut_between_words() -> None:
    title = first_sentence("word " * 1000 + "end.")
    assert title.endswith("word")
    assert len(title) <= 300
