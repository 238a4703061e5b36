"""The server of agents: their own history over MCP, read-only.

    stdio.py       the server that an agent starts: stdin, stdout, the end
    wire.py        its lines: bad ones are refused, and it reads no more than it can answer
    server.py      what the SDK asks of it, wired up; nothing else knows the SDK
    apart.py       answers from a process of their own (`answering.py`), which is let go when nobody asks
    http.py        the same server inside the web app
    tools.py       the table of tools: what may be asked, what is answered, who answers
    answers.py     from a call to an answer: checked, worked out in a thread, hidden, cleaned, bounded
    callers.py     who asks: which agent, which session, where, and how much it passes on
    desk.py        what is at hand while an answer is worked out
    room.py        how much fits into an answer
    syncing.py     what is done to be up to date before a question
    resources.py, prompts.py    sessions as resources; what users start by name
    faults.py      whatever goes wrong, in words
    search_history.py, read_session.py …    a tool each
    told.py        answers as text

- Every tool reads. Nothing that a session says is looked at as anything but words: it opens no file, names no
  command and reaches no tool.
- An answer is a document; its text is made of that document, so both say the same. Both fit into what was
  asked for, and into what the agent that asks hands to its model.
- Secrets are hidden unless the server is told otherwise, in the session as a whole, before anything is cut.
- An agent's session that asks is left out of what it finds.
- A server lives as long as its agent and is asked now and then: what it takes to answer is there around a
  question alone, and what it takes to read what is new is a sync of its own.
- An answer is due soon: a first index is waited for a while, then what it holds is the answer, which says so.

It knows the library, transcripts, the model and the errors, and asks them; it writes nothing.
"""
