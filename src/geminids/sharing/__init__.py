"""Sessions for others: told, written in formats, redacted, signed."""
