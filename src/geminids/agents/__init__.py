"""The agents, each in a folder with everything that knows it. Imported by nobody: entry points name them.

| in the folder of an agent | what is in it |
|---|---|
| `__init__.py` | what it is called, and what it offers; nothing else is loaded before it is asked for |
| `reader.py`, `companion_reader.py`, `custodian.py`, `writer.py`, `recorder.py` | what it offers |
| `homes.py`, `layout.py`, `footprint.py`, `file_facts.py`, `project_facts.py` | where its files lie |
| `read/`, `companions/`, `custody/`, `write/`, `record/` | how each of these is done |
"""
