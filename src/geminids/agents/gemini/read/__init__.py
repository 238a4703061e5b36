"""Session files of Gemini CLI into sessions."""
