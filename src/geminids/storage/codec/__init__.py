"""Values of the model as rows, and back."""
