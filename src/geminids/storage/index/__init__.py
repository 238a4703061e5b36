"""The index: one SQLite file for each set of homes, `<data>/index/<homes>-<build>.db`.

All of it can be thrown away and made again from the agents' files. `schema.py` has the tables, `database.py`
the file.

| question | answer |
|---|---|
| what changed? | a footprint (names, sizes, times, inodes) of each folder; equal texts mean equal content |
| what is read again? | of a folder that changed, its whole *shelf* (project) is scanned, and the bundles |
| | whose stamp differs are read; what lies beside is tied to sessions by their stored traces |
| what is written? | rows that differ: a message whose words are the same keeps its number in the full text |
| what if we are killed? | a bundle's rows and its stamp are one transaction; a folder's footprint is noted |
| | when all of its shelf is in; a new index is a file of its own that counts once it is renamed |
| what if there is none? | the newest sessions are read first; the rest follows in steps, and `meta` says |
| | how much is still to come, in the same transaction as what is in (`to_come.py`) |
| who may write? | one process, by a lock that the system takes back if it dies; others wait, or read |
| what is forgotten? | what is gone from a scan that saw everything; a closed folder forgets nothing |
| what is opened? | to show a session, the files that its bundle was read from (`bundles.found`), if they |
| | and the names around them are what they were; else its project is scanned |
| where are the words? | not here: `texts` is a contentless FTS5 table, `messages.spans` says where a |
| | message stands in the agent's files, and snippets are cut from there |

FTS5 knows only how words begin. So that pieces of words are found too, all words of an index are kept as one
text in a file beside it (`….db.terms`, made when it is first asked for); what came later is looked through.

Whoever has written an index notes the checksums of its bytes in a file beside it (`seal.py`); whoever opens
one compares them, if any of the times of the file is another one or nobody has compared them for a day (the
time of the checksum's file tells). Rows that nobody wrote lead to any error, so one that nobody expects makes
the index anew once, before it counts as a bug.

SQLite 3.40 cannot delete from a contentless table, so rows of messages that are gone stay and are joined
away; when a quarter is dead the index is made anew. A new build never takes the name of an old one, because
SQLite would join it with the journal of the old. An index that cannot be kept (no home, a read-only folder, a
full disk) is made in memory. A build is made without a journal, in one transaction, with rowids that only
grow, and without merging: FTS5 gathers 32 MiB of words at a time. Statements that replace rows are kept out
of it, since each makes FTS5 write out what it has gathered. Where nothing can be asked yet, only its first
step is made so, of the newest sessions; large steps of older ones follow, each with smaller rowids than the
last.

Tokens, calls and changed files hang on messages; `usage.py` sums them up by session and day when sessions are
written (`days`, `spent`, `called`, `changed`), and once more by day alone (`day_totals`, `spent_totals`).
Days are those of the machine's zone, and tokens are summed by how large the prompts were; if either changes,
all is summed up anew. A span that does not begin at midnight is summed up in temporary tables by the same
statements.

A fork or a resumed session may repeat what another holds (`copies.py`). Readers only say what the provider
called a request; all sessions are compared, and what a later one took over is marked (`messages.imported` =
2; what a reader itself knows to be taken over is 1). Of those that hold a request, the fullest count wins,
then the session that a human led, then the one that began first. If it is deleted, the next one has it.
"""
