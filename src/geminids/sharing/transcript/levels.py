"""The levels of detail by name. Help tells of them, so this loads nothing."""

LEVEL_WORDS = {
    "prompts": "what the human typed",
    "conversation": "what was said, each tool call in one line, errors",
    "tools": "also arguments, outputs and diffs of tools",
    "thoughts": "also what the model thought",
    "everything": "also notices, injected context, dropped turns, the model and tokens of each turn",
}
"""What each level tells, the same wherever it is asked for or explained."""
