"""What counts as a word, and where in a text something stands."""
