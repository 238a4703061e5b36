"""What people type to search, and what is found."""
