"""Rollouts of Codex CLI into sessions.

    ~/.codex/sessions/2026/05/01/rollout-<time>-<thread>[_<rollout>].jsonl[.zst]

A day's folder is a shelf of no project: sessions say which folder they were worked in. Places in a compressed
rollout are those of its text.

| step | modules | what it settles |
|---|---|---|
| records | `rollout_text`, `log`, `records`, `rollouts` | lines of both histories (legacy, paginated) |
| ancestry | `ancestry` | what a fork, a revert or a subagent took over, with a guard against rings |
| messages | `replay`, `steps`, `drafts`, `call_index`, `drops` → `prompts`, `injected`, `shown`, |
| | `summaries`, `calls`, `patches`, `tokens` | items are the spine, events confirm what was typed |
| sessions | `sessions`, `titles` | whose it is, status, names from the agent's own lists |
"""
