"""What sessions used and cost."""
