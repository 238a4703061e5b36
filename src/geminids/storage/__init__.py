"""What geminids keeps in its own folder, in SQLite: the index, and what the user told us."""
