"""How things stand: what was understood, what is kept, what agents will delete."""
