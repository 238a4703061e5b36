"""The levels of detail by name. Help tells of them, so this loads nothing."""

LEVEL_WORDS = {
    "prompts": "what you typed",
    "conversation": "also answers, errors, and each tool call as one line",
    "tools": "also tool arguments, outputs and diffs",
    "thoughts": "also thoughts of the model",
    "everything": "also notices, injected context, dropped turns, and the model and tokens of each turn",
}
"""What each level tells, the same wherever it is asked for or explained."""
