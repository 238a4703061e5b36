"""Session files of Gemini CLI into sessions.

A session may live in several files and a file may hold several sessions, so what is read is a bundle.

| step | modules | what it settles |
|---|---|---|
| records | `files` → `log` (.jsonl), `document` (.json), `records` | each record with its place |
| agent's view | `agent_view` | exactly what Gemini CLI's own loader would return |
| full view | `replay`, `turns`, `versions`, `copies`, `traits` | each turn once, from all its versions; |
| | | copies recognised; why a turn was dropped |
| sessions | `sessions`, `subagents` | which segments are one session; subagents tied to the call that ran |
| project | `projects`, `evidence` | the folder, from the CLI's notes and what the session says |
| messages | `messages`, `injected`, `tools`, `content` | role, origin of each piece, calls in all shapes |
| requests | `unrecorded` | requests that the CLI made and did not write down |
"""
