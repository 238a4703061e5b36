"""Find, read and keep the sessions that coding agents leave on a disk."""

__version__ = "0.1.0"
