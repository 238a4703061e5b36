"""Records of what Gemini CLI wrote: what of it a session tells, whose it is, how it is translated."""
