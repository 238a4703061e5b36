"""What all floors stand on: the model, errors, settings, the disk, what an agent may offer."""
