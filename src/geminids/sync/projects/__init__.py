"""Which folder on this machine a project is, and what was learnt about that.

An agent names a project by the hash of its folder's path. `resolution` hashes folders that are known
(`folders`) or met on the disk (`walk`) in all their spellings; `memory` keeps what was found and the
links that the user gave. A path is certain only if its hash is the project's; everything else is a guess.

Evidence comes in this order: the agent's own notes, what a session says, what other sessions of the same hash
know and what was learnt before, and only where somebody asks, or for a quarter of a second, what this machine
knows. `knowledge` is the door to all of it.
"""
