"""What geminids keeps in its own folder.

    index/     one SQLite file for each set of homes; can be thrown away and made again
    durable/   one SQLite file with what users said and what cannot be made again
    archive/   kept copies of agents' files
    text/      what counts as a word, and where in a text something stands
    codec/     values of the model as rows, and back: the only part that knows the model

One process writes at a time; nothing here reads a file of an agent but to keep a copy of it.
"""
