"""Tasks of whoever looks after sessions: keep, restore, rescue, forget."""
