"""Records of what Codex CLI wrote: what of it a session tells, how it is translated."""
