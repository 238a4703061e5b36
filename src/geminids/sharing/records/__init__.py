"""Records that anyone can verify: sessions in the format of Verifiable Agent Conversations, signed.

    session, and the bytes it was read from ─► record ─► committed ─► signed ─► (redacted) ─► verified

    translation*, reader*      a session as a record, and back (docs/records.md tells the profile)
    natives, remnants*, others what stands in the agent's files, and what of it a session does not tell
    evidence, record_maker     all of that, and the record it gives
    files, any_record          a record in any file, and what can be told of one that is not whole or not ours
    attribution, line_owners   which lines of which files the model wrote
    simple*, vcon, formats     the plainer translation of other tools, the wrapper, unsigned exports
    mismatches, *shapes        whether a value has the shape of a record: of any, or of ours
    commitment, redaction      salted hashes over every piece, so that pieces can be taken out later
    unwanted                   which pieces: what differs, where a text stands, what repeats it
    signature, keys, key_files COSE_Sign1, and what it is made with; public_keys: what is told of keys
    timestamps, cms, der       time stamps of authorities
    standalone                 the verifier: one file that needs nothing of ours

But for the keys, nothing here looks for files: bytes are given.
"""
