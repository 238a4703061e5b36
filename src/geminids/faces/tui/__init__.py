"""Choosing a session on a terminal: type, see, Enter.

| module | what is in it |
|---|---|
| `pick` | all of it together: the session that somebody chose |
| `picker` | what was typed, what is listed and chosen: keys in, questions out; it touches no terminal |
| `view` | what that looks like, as lines of words with styles |
| `matches` | which sessions are listed for what was typed so far |
| `asker` | the threads that ask for them, so that a key never waits for an answer |
| `box`, `keys` | a line that is typed into; what a terminal sends, as keys and words |
| `cursor`, `rows` | which line is chosen and which are seen; a session as one line |
| `browser/` | all sessions on one screen: another thing, which has the list in common |
| `errors` | what keeps either from being shown |
| `lines`, `terminal` | words cut to columns; a terminal that is drawn on, and given back as it was |

It is drawn with little more than what `list` loads, because it is opened many times a day.
"""
