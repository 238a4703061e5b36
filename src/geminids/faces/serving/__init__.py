"""What servers share, whatever they speak: the web app and the server of agents (MCP).

    libraries.py        libraries for threads, and the one that syncs
    workers.py          threads that work out answers
    opened_sessions.py  sessions that were read lately
    collecting.py       how often Python tidies up
    redaction.py        the one engine that hides secrets
    outgoing.py         what leaves: without secrets, and with characters that harm nobody
    session_lines.py    sessions as lines of a list

Nothing here knows HTTP or MCP.
"""
