"""Tasks of whoever proves sessions: sign, chain, check, take pieces out."""
