"""Questions about sessions and their answers, as values; nothing is drawn here."""
