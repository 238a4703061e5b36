"""How geminids comes into Codex CLI: by its settings and a skill; `package/` is the same as a plugin."""
