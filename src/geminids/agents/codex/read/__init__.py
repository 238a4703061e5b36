"""Rollouts of Codex CLI into sessions."""
