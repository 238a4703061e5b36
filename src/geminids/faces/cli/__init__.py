"""The command line: asks the library, then draws."""
