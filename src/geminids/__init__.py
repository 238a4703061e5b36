"""Find, read and keep the sessions that coding agents leave on a disk."""

__version__ = "0.1.0"

_OFFERED = {
    "Filter": "geminids.query.sessions.listing",
    "Library": "geminids.library",
    "MarkChange": "geminids.storage.durable.values",
    "Question": "geminids.query.search.question",
    "StatsQuestion": "geminids.query.usage.stats",
}


def __getattr__(name: str) -> object:
    """Load the library, or what one asks it with, when somebody wants it: a release needs neither."""
    if name in _OFFERED:
        from importlib import import_module

        return getattr(import_module(_OFFERED[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
