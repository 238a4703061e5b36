"""Thin faces over the library: the command line, the web app, the JSON of both, and what hooks start."""
