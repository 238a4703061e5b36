"""Records of what Claude Code wrote: what of it a session tells, whose it is, how it is translated."""
