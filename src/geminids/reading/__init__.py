"""What readers of agents' files share.

    accounting         the account of a file: every byte used, ignored by name or a problem
    bounded            files of any size: whole up to what the user settled, of a larger one its two ends;
                       what is not read is a gap with its place. Holes and runs of NULs are never held
    lines, jsonl       lines of a log, decoded fast and forgiven slowly, salvaged where they are damaged
    scanning           folders on their way into bundles, and why something is left alone
    bundles            bundles of several homes, joined before they are read
    companions, texts  what lies beside sessions, and its words
    outputs            outputs that were moved out of sessions, put back
    footprints         what runs in every command: neither the model nor pathlib is loaded
    describe           what a file that is no session looks like instead
    counts, shapes     what a count and a text is

Decode fast, forgive slowly: the strict decoder reads nearly everything; what it refuses goes to the standard
one (half an emoji, NaN, a byte order mark), and what that refuses is searched for whole records, each
candidate read afresh from its own first brace.
"""
