"""What Claude Code deletes and loads, and how sessions come back to it."""
