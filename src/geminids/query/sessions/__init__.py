"""Which sessions there are, which one is meant, and what is in it."""
