"""The agents, each in a folder with everything that knows it. Imported by nobody: entry points name them."""
