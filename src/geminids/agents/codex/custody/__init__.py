"""What Codex CLI deletes and loads, and how sessions come back to it."""
