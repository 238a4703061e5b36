"""The index: one SQLite file that can be thrown away and made again."""
