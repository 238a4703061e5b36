"""Campaigns against what is written: commands that are killed, a disk that fails, files that are damaged.

    python -m tests.faults kills --rounds 1000     killed at a call that writes, or at any time
    python -m tests.faults failing --rounds 300    a call that writes fails, once or from there on
    python -m tests.faults damage --rounds 1000    a file of ours is damaged, then everything is asked

Each episode is made of its seed and number alone, so one that failed can be played again with `--only`. What
was done is noted in `.faults/`, and a campaign that was stopped goes on there. `make test-faults` runs all.
"""
