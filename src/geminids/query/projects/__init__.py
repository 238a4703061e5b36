"""Projects: which there are, which one is meant, and what happened in it."""
