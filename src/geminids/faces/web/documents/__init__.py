"""What the server answers with, subject by subject."""
