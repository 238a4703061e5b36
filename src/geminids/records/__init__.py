"""Records that anyone can verify: sessions in the format of Verifiable Agent Conversations, signed.

    session, and the bytes it was read from ─► record ─► committed ─► signed ─► (redacted) ─► verified

    translating, reading     a session as a record, and back (the profile is told in docs/records.md)
    natives, evidence        what stands in the agent's files where a session says, and what the model leaves of it
    simple                   the plainer translation that other tools make
    cddl, schema             whether a value has the shape of a record
    commitment, redacting    salted hashes over every piece, so that pieces can be taken out later
    signing, keys            COSE_Sign1
    standalone               the verifier: one file that needs nothing of ours

Nothing here looks for files: bytes are given.
"""
