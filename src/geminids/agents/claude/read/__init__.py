"""Session files of Claude Code into sessions."""
