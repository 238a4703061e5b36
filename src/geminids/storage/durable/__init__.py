"""The durable file: what users said and what cannot be made again.

| file | what is in it |
|---|---|
| `database.py` | the file: its tables and their versions, reading it, its checksums, its lock |
| `changes.py` | changing it: all or nothing, one process at a time, a copy once a day |
| `recovery.py` | what can be read of a damaged one, and of its copy |
| `marks.py`, `mark_changes.py`, `mark_texts.py` | names, tags and notes: read, changed, as they are stored |
| `any_marks.py` | whether there are any, for those in a hurry |
| `tombstones.py`, `project_tables.py` | what is forgotten; what is known of projects |
"""
