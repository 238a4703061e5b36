"""Changes to settings that somebody wrote by hand: a text goes in, all else stays as it is, byte for byte.

Nothing here opens a file. What comes out is read again before it is given back: it says what it said before,
and what was to be added.
"""
