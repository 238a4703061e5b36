"""Finding and replacing secrets, reviewably."""
