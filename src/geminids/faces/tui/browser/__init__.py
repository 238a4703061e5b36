"""The browser of sessions: type, see, Enter.

| module | what is in it |
|---|---|
| `browse` | all of it together, from its start to what becomes of it |
| `app` | the stage, as textual runs it: one canvas, keys and the mouse in, lines out |
| `view`, `dialogs`, `columns`, `styles` | what is seen, what stands in front of it, how it looks |
| `questions` | threads that ask the library, so that a key never waits |
| `sessions`, `preview`, `completing`, `expiring` | the list, and what stands beside a session of it |
| `hindrances` | why a session cannot be resumed now, as far as that can be told without reading it |
| `reading`, `last_line` | a session, read: its keys, its questions, what is typed in the last line |
| `story_pane`, `story_lines`, `window` | what is seen of it; its lines, laid out as far as they are needed |
| `told`, `finding`, `prompts`, `file_watch` | what is told of it, words in it, its outline, whether it grew |
| `actions/` | what can be done with a session |
| `failures`, `results` | how errors are told; what is to be done after the browser |
| `views`, `projects`, `usage`, `day_bars`, `keeping` | what else can be looked at |

Only `app` and `browse` know textual; all else takes keys and gives lines.
"""
