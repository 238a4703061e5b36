"""What Gemini CLI deletes, hides and loads, and how sessions come back to it."""
