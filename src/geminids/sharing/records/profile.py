"""The names that records use, ours and those of the format."""

from __future__ import annotations

VERSION = "3.0.0-draft"
"""The version of the format that records say they have."""
PROFILE = "geminids/vac/1"
"""How sessions are told in the format; another profile would tell them in another way."""

NATIVE = "x-native"
"""What the agent wrote and no other member tells, untouched."""
SOURCE = "x-source"
"""Where something stands in the agent's files, with hashes of these bytes."""
OURS = "x-geminids"
"""What we know of a session that the format has no member for."""
COMMITMENT = "x-commitment"
"""What the pieces of a record are hashed with, and what was taken out of it."""

UNKNOWN = "unknown"
"""For what the format demands and nobody recorded."""
