"""Sessions for others.

    transcript/   how a session is told: which parts, in how much detail, in which words
    export/       one format a file; a format writes bytes and sees neither a file nor the index
    redact/       secrets, found and replaced in the model, so that every format is covered at once
    records/      signed records that anyone can verify

Nothing here looks for files of agents: sessions and bytes are given.
"""
