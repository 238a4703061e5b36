"""How geminids comes into Gemini CLI: as an extension, whose files are in `package/`."""
