"""Thin faces over the library: the command line, the web app, and what hooks start."""
