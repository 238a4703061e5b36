"""Questions about sessions and their answers, as values; nothing is drawn here.

    sessions/   which there are (`listing`, `contents`), which one is meant (`lookup`, `ids`,
                `session_ref`, `last_list`), one read from its files (`session_reader`, `known_bundles`,
                `assembly`, `beginning`) or from a file given by hand (`input_files`), how its agent would go
                on with it (`resume`), what belongs to it, what users said of it
    search/     the language (`language` → `grammar`, `tokens`, `filters`, `tree`), what it finds (`engine`,
                `scope`, `snippets`, `facets`), also where texts must be read (`text_search`, with `literals`,
                `record_filter`, `session_texts`), and the answer (`answer`, `found`)
    usage/      what sessions did, used and cost (`stats`, `over_time`, `costs`, `prices/`), and where a total
                comes from (`explanation`)
    projects/   what all sessions together know of a project (`report`), all of it in order of time
                (`timeline`), which one is meant (`lookup`)
    health/     all there is in little (`overview`), what became of every byte (`fidelity`), what is kept
                (`kept_copies`), what agents are going to delete (`forecast`)

Answers are facts; words, dates and columns are the face's. An error that offers sessions to choose from holds
them as `Candidate`s.
"""
