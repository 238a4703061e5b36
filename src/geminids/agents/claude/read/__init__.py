"""Session files of Claude Code into sessions.

    ~/.claude/projects/<folder>/<session>.jsonl                        one line a block; a tree of records
    ~/.claude/projects/<folder>/<session>/subagents/agent-<id>.jsonl   since 2.1; before, beside or inside it

| step | modules | what it settles |
|---|---|---|
| records | `log`, `records` | kinds that are used, and those that are ignored by name |
| order | `tree` | the way from the leaf to the root, parallel answers, compactions, what was taken back |
| conversations | `conversations` | sidechains and agents' files as sessions, tied to the call behind them |
| messages | `messages` → `origins`, `attachments`, `content`, `tools`, `changes`, `tokens` | lines of one |
| | | reply joined, answers with their calls, whose words they are, tokens once |
| sessions | `sessions`, `totals` | title, status, branch, the CLI's own total |
"""
