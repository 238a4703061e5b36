"""The durable file: what users said and what cannot be made again. Never thrown away."""
