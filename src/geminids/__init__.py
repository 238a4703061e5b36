"""Find, read and keep the sessions that coding agents leave on a disk."""

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    """Load the library when somebody asks for it: its parts need not wait for each other."""
    if name in {"Filter", "Library", "MarkChange", "Question", "StatsQuestion"}:
        from geminids import library

        return getattr(library, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
