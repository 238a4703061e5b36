"""The browser of sessions: type, see, Enter.

| module | what is in it |
|---|---|
| `browse` | all of it together, from its start to what becomes of it |
| `app` | the stage, as textual runs it: one canvas, keys and the mouse in, lines out |
| `view`, `dialogs`, `columns`, `styles` | what is seen, what stands in front of it, how it looks |
| `questions` | threads that ask the library, so that a key never waits |
| `sessions`, `preview`, `completing`, `expiring` | the list, and what stands beside a session of it |
| `reading` | a session, read |
| `actions` | what can be done with a session |
| `views`, `projects`, `usage`, `day_bars`, `keeping` | what else can be looked at |

Only `app` and `browse` know textual; all else takes keys and gives lines.
"""
