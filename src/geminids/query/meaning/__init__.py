"""Search by meaning: sessions that are about the same, whatever their words.

A text becomes a vector, the mean of those of its pieces of words, by a small model that comes with a package
of the extra `meaning`: nothing is fetched and nothing leaves the machine. Only what tells what a session is
about is compared: its title, its prompts and its last answer. It is a ranking of its own and is not mixed
with that of words, in which either would hide the best of the other.
"""
