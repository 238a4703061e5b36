"""Kept copies of agents' files: byte for byte, packed, named by their content, never torn.

    <data folder>/kept/packs/000001.pack     records that only get more; all that is needed is in them
    <data folder>/kept/manifest.db           where everything lies; can be made anew from the packs
    <data folder>/kept/manifest.db.damaged-1 one that could not be read, moved aside
    <data folder>/kept/lock                  held by whoever writes; says who that is

A version of a file is a list of segments, so that a file which only grows costs only what it grew by.
Versions are states that differ other than by growth: a copy that is the beginning of a later one is replaced
by it.

| file | what is in it |
|---|---|
| `archive.py`, `values.py` | the copies in a folder, and what is said of them |
| `keeper.py` | the one who writes: what is new in a file, and the order in which it becomes durable |
| `exclusive.py`, `lock.py` | one process at a time, from the lock to the packs that are tidied at its end |
| `steady.py` | reads a file that others may be writing, all of one moment or not at all |
| `records.py`, `packs.py`, `compression.py` | the bytes of a pack |
| `reader.py` | copies read again and compared with their digests |
| `manifest.py`, `manifest_rows.py`, `rebuild.py` | where everything lies, and how that is found out again |
| `rewrite.py` | packs without what is no longer wanted |
| `verification.py` | reads all of it, names what is damaged, heals it |
| `transfer.py` | copies in one file that others can open, and back |

| question | answer |
|---|---|
| what does growth cost? | a segment for the tail, and no new version; small tails are merged like a counter |
| what if we are killed? | the bytes of a pack are on the disk before the manifest says so; what lies behind |
| | its end is taken in or cut off by the next one |
| what if a bit flips? | every copy is compared with its SHA-256 when it is read; `keep verify` reads all, |
| | and heals from the original. Rows of the manifest have checksums |
| what makes the list smaller? | `forget` alone. What a pack no longer says is damage that is named |
| how do deleted sessions stay? | `disk.py` shows the newest copy of each file that is gone, as a plain file |
| | with inode -1, so the index can be made from copies alone |
| what of copies of another machine? | they are shown; the folders that they name are words: nothing there |
| | is looked at or written, and restoring goes into the home of this machine |
| what is forgotten? | a tombstone in the durable file keeps a session out; packs are rewritten without it |
"""
