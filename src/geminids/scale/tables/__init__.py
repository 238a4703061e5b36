"""Tables written into a folder or a bucket, and kept up to date there.

    OUT/sessions/agent=<agent>/month=2026-11/<machine>.parquet    and so for each table
    OUT/sessions/agent=<agent>/month=2026-11/<machine>~<group>.parquet    more of a month with many sessions
    OUT/_geminids/<machine>.json                                  what of it is up to date

A *part* is an agent's sessions of a month on one machine, or a group of them: a file in each table. What
changed is written anew, part by part, each file in the place of the one before; so whoever reads meanwhile
sees a file as it was or as it is, and nothing twice. The sessions of a part are written last: what they tell
of is there by then. Each machine writes files of its own and never looks at those of others. The manifest
only saves work: who reads need not know it, and where it is lost all is written anew.

| module | what is in it |
|---|---|
| `run` | bringing tables up to date: which parts, by which processes |
| `part` | one part: read, made safe to share, written |
| `parquet` | rows into Parquet files, a group at a time |
| `manifest` | what was written, as the next run needs to know it |
| `stored` | tables that were written, in pieces, as engines read them |
"""
