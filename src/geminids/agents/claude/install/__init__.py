"""How geminids comes into Claude Code: as a plugin, whose files are in `package/`."""
