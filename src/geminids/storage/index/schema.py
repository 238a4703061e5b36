"""The tables of the index. All of it can be thrown away and made again from the agents' files.

    folders ─► shelves ─► bundles ─► sessions ─► messages ─► texts (full text, contentless)
                                         └─► projects           └─► calls, changes, requests, estimates

A *shelf* is a project of an agent, in one folder or several. The words of messages are not kept: `texts`
knows where which word occurs, and `spans` where the message stands in the agent's files. SQLite 3.40 cannot
delete from a contentless table, so rows of `texts` whose message is gone stay until the next build;
whoever searches joins with `messages`. What sessions did and used is summed up day by day in tables of its
own (`storage/index/usage.py`), so that no statistic adds up messages.
"""

from __future__ import annotations

VERSION = 12
"""Raised when a table or what is written into it changes: then the index is made anew."""

EVERY_WORD = "every word"
"""The name in `meta` of whether all of every output was taken in."""

BESIDE = ""
"""The key of the bundle that holds what lies beside the sessions of a shelf."""

COLUMNS = ("model", "thought", "output", "tool", "human", "path", "other")
"""Where words can stand, as the columns of `texts`: what the human typed, what the model answered and
thought, names and arguments of tools, paths, what tools answered, and all else (notices, context).
The first one takes the least room, so it is the one with the most words."""

USAGE = ("input", "cached", "cache_write", "cache_write_hour", "output", "thoughts", "tool", "total")
"""Kinds of tokens, as the columns of `requests` and `spent`."""

DAYS = """
CREATE TABLE {prefix}days (   -- what a session did on a day
    session INTEGER NOT NULL, day INTEGER NOT NULL, subagent INTEGER NOT NULL,
    prompts INTEGER NOT NULL, replies INTEGER NOT NULL, active INTEGER NOT NULL,
    calls INTEGER NOT NULL, errors INTEGER NOT NULL, cancelled INTEGER NOT NULL,
    added INTEGER, removed INTEGER,
    PRIMARY KEY (day, session)
) WITHOUT ROWID;
CREATE INDEX {prefix}days_by_session ON days (session, subagent);

CREATE TABLE {prefix}spent (  -- and used, for each model and size of prompts
    session INTEGER NOT NULL, day INTEGER NOT NULL, model INTEGER NOT NULL, band INTEGER NOT NULL,
    requests INTEGER NOT NULL, unmeasured INTEGER NOT NULL,
    input INTEGER, cached INTEGER, cache_write INTEGER, cache_write_hour INTEGER,
    output INTEGER, thoughts INTEGER, tool INTEGER, total INTEGER,
    PRIMARY KEY (day, model, band, session)
) WITHOUT ROWID;
CREATE INDEX {prefix}spent_by_session ON spent (session);

CREATE TABLE {prefix}estimated (
    session INTEGER NOT NULL, day INTEGER NOT NULL, model INTEGER NOT NULL, band INTEGER NOT NULL,
    requests INTEGER NOT NULL, input INTEGER NOT NULL, output INTEGER NOT NULL,
    PRIMARY KEY (day, model, band, session)
) WITHOUT ROWID;
CREATE INDEX {prefix}estimated_by_session ON estimated (session);

CREATE TABLE {prefix}called ( -- which tools it called
    session INTEGER NOT NULL, day INTEGER NOT NULL, tool INTEGER NOT NULL,
    calls INTEGER NOT NULL, errors INTEGER NOT NULL, cancelled INTEGER NOT NULL,
    PRIMARY KEY (day, tool, session)
) WITHOUT ROWID;
CREATE INDEX {prefix}called_by_session ON called (session);

CREATE TABLE {prefix}changed ( -- which files it changed
    session INTEGER NOT NULL, day INTEGER NOT NULL, tool INTEGER NOT NULL, file INTEGER NOT NULL,
    added INTEGER, removed INTEGER,
    PRIMARY KEY (day, session, tool, file)
) WITHOUT ROWID;
CREATE INDEX {prefix}changed_by_session ON changed (session);
CREATE INDEX {prefix}changed_by_file ON changed (file);
"""
"""What is summed up from messages, by days of the zone that `meta` notes; copies are left out.
It lies in order of days, in which it is mostly asked for."""

DAY_TOTALS = """
CREATE TABLE day_totals (     -- what all sessions together did on a day
    day INTEGER PRIMARY KEY, sessions INTEGER NOT NULL, subagents INTEGER NOT NULL,
    prompts INTEGER NOT NULL, replies INTEGER NOT NULL, active INTEGER NOT NULL,
    calls INTEGER NOT NULL, errors INTEGER NOT NULL, cancelled INTEGER NOT NULL,
    added INTEGER, removed INTEGER, files INTEGER NOT NULL
);

CREATE TABLE spent_totals (   -- and used
    day INTEGER NOT NULL, model INTEGER NOT NULL, band INTEGER NOT NULL,
    requests INTEGER NOT NULL, unmeasured INTEGER NOT NULL,
    input INTEGER, cached INTEGER, cache_write INTEGER, cache_write_hour INTEGER,
    output INTEGER, thoughts INTEGER, tool INTEGER, total INTEGER,
    PRIMARY KEY (day, model, band)
) WITHOUT ROWID;
"""
"""The same summed up once more, without the sessions: most ask for all of them."""

TABLES = f"""
CREATE TABLE meta (name TEXT PRIMARY KEY, value) WITHOUT ROWID;

CREATE TABLE folders (
    path TEXT PRIMARY KEY,
    agent TEXT NOT NULL,
    footprint TEXT NOT NULL,  -- what lies in it, by name, size, time and inode; or that it is gone
    shelf INTEGER             -- NULL: the home itself, or a folder that holds nothing of a project
);

CREATE TABLE shelves (
    id INTEGER PRIMARY KEY,
    agent TEXT NOT NULL,
    key TEXT NOT NULL,
    project INTEGER NOT NULL,
    companions BLOB NOT NULL, -- what lies beside its sessions
    UNIQUE (agent, key)
);

CREATE TABLE bundles (
    id INTEGER PRIMARY KEY,
    shelf INTEGER NOT NULL,
    key TEXT NOT NULL,        -- empty: what lies beside the sessions
    stamp BLOB NOT NULL,      -- what was read, in little: if it is the same, so is what it gave
    bytes INTEGER NOT NULL DEFAULT 0,
    found BLOB NOT NULL DEFAULT x'', -- its files and what they looked like, to open them without a scan
    UNIQUE (shelf, key)
);

CREATE TABLE problems (
    bundle INTEGER,           -- NULL: it stood in the way of finding bundles at all
    file TEXT NOT NULL, kind TEXT NOT NULL, detail TEXT NOT NULL,
    line INTEGER, start INTEGER, "end" INTEGER
);
CREATE INDEX problems_by_bundle ON problems (bundle);

CREATE TABLE fates (          -- session files as the part of their agent sees them that deletes
    bundle INTEGER NOT NULL, file INTEGER NOT NULL,
    used INTEGER,             -- microseconds since 1970
    traits TEXT NOT NULL,     -- words of the agent's reader, with blanks between
    PRIMARY KEY (bundle, file)
) WITHOUT ROWID;

CREATE TABLE projects (
    id INTEGER PRIMARY KEY,
    told_path TEXT, told_hash TEXT, told_slug TEXT, told_by TEXT, told_certain INTEGER NOT NULL,
    path TEXT, slug TEXT, known_by TEXT, certain INTEGER NOT NULL  -- the best that is known of it
);

CREATE TABLE files (id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE);

CREATE TABLE names (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);  -- of tools and of models

CREATE TABLE sessions (
    id INTEGER PRIMARY KEY,
    bundle INTEGER NOT NULL,
    sid TEXT NOT NULL, agent TEXT NOT NULL, native_id TEXT NOT NULL,
    kind TEXT NOT NULL, parent_id TEXT, project INTEGER NOT NULL, title TEXT, status TEXT NOT NULL,
    started INTEGER, ended INTEGER, last INTEGER,  -- microseconds since 1970
    prompts INTEGER NOT NULL, replies INTEGER NOT NULL, tool_calls INTEGER NOT NULL,
    tool_errors INTEGER NOT NULL, dropped INTEGER NOT NULL,
    file TEXT,                -- the first of its files
    problems INTEGER NOT NULL,
    kept INTEGER NOT NULL,    -- whether files of it are gone, and it is read from copies
    folders TEXT,             -- other folders that it was worked in, as JSON; NULL: none
    is_incomplete INTEGER NOT NULL, -- whether records of its files could not be read
    summary BLOB NOT NULL,    -- all of it but the messages, as JSON
    trace BLOB                -- what ties words to it that stand elsewhere
);
CREATE INDEX sessions_by_bundle ON sessions (bundle);
CREATE INDEX sessions_by_time ON sessions (last, sid, kind, project, started);
CREATE INDEX sessions_incomplete ON sessions (id) WHERE is_incomplete;
CREATE INDEX sessions_by_id ON sessions (native_id COLLATE NOCASE);
CREATE INDEX sessions_by_folders ON sessions (folders) WHERE folders IS NOT NULL;

CREATE TABLE messages (
    id INTEGER PRIMARY KEY,   -- the rowid in `texts`; a larger one is of a session that is newer, or grew
    session INTEGER NOT NULL,
    place INTEGER NOT NULL,   -- in the session, from 0
    mid TEXT NOT NULL,
    role TEXT NOT NULL, origin TEXT NOT NULL, state TEXT NOT NULL,
    imported INTEGER NOT NULL, -- taken over from another session, where it is counted: 1 as its file
                              -- tells, 2 as a comparison with that session does
    at INTEGER, model INTEGER,
    says INTEGER NOT NULL,    -- whether it holds words or calls, not only thoughts
    spans TEXT NOT NULL,      -- where it stands: file:start:end, with blanks between
    digest BLOB NOT NULL      -- of its words and calls: if it is the same, so are they
);
CREATE INDEX messages_by_session ON messages (session, place);

CREATE TABLE calls (
    message INTEGER NOT NULL, tool INTEGER NOT NULL, status TEXT NOT NULL, number INTEGER NOT NULL,
    PRIMARY KEY (message, tool, status)
) WITHOUT ROWID;

CREATE TABLE changes (
    message INTEGER NOT NULL, file INTEGER NOT NULL, tool INTEGER NOT NULL,
    added INTEGER, removed INTEGER,
    PRIMARY KEY (message, file, tool)
) WITHOUT ROWID;

CREATE TABLE requests (
    message INTEGER PRIMARY KEY, session INTEGER NOT NULL,
    key INTEGER,              -- of what the provider calls it: copies in other sessions have the same
    requests INTEGER NOT NULL,
    input INTEGER, cached INTEGER, cache_write INTEGER, cache_write_hour INTEGER,
    output INTEGER, thoughts INTEGER, tool INTEGER, total INTEGER
);
CREATE INDEX requests_by_session ON requests (session);
CREATE INDEX requests_by_key ON requests (key, session) WHERE key IS NOT NULL;

CREATE TABLE estimates (      -- of replies whose tokens the agent did not record
    message INTEGER PRIMARY KEY, session INTEGER NOT NULL, input INTEGER NOT NULL, output INTEGER NOT NULL
);
CREATE INDEX estimates_by_session ON estimates (session);

{DAYS.format(prefix="")}
{DAY_TOTALS}
CREATE VIRTUAL TABLE texts USING fts5 (
    {", ".join(COLUMNS)}, content='', tokenize='unicode61 remove_diacritics 2'
);
CREATE VIRTUAL TABLE vocabulary USING fts5vocab (texts, 'row');
"""
