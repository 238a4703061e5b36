"""The web app: a local server that shows the sessions of this machine to a browser on it.

    app.py              all of it put together: routes, guard, errors
    server.py           the socket, the server, the browser that is opened, the clean end
    guard.py            who may ask: this machine, by this address, with the token of this start
    refusal_page.py     what a person sees who may not
    endpoints.py        what an endpoint is; subjects list theirs, and `openapi.py` describes them all
    ../documents/       what they answer with
    ../serving/         what it shares with the server of agents: libraries for threads, opened sessions
    events.py           what agents write, sent to browsers as it happens

- An endpoint is a value: a path, a class whose fields are the parameters, a class of the answer, a function.
  Routes, the OpenAPI document and the types of the page are made of these lists.
- The guard stands before everything, files and unknown paths included. The page is read into memory at the
  start (`pages.py`), so no request names a file.
- A connection waits for nobody long (`connections.py`): a request has seconds to come whole, and only so many
  are waited for.
- What leaves passes one place (`serving/outgoing.py`): it hides secrets and cleans every text of every
  document.
- Questions run in threads, on libraries that only read; one more library syncs. When it has taken something
  in, the readers are opened anew, and answers that were cached for the state before are dropped.
- Sessions are read once and answered window by window. The beginning of a large one is read alone first: the
  index says where the first messages stand, and each is taken only if its row is what reading all of it gave.
- One watch for all browsers: what it hears goes out as server-sent events with numbers, so a browser that
  slept gets what it missed or is told to begin anew.
- HTML is made in one place (`prose.py`): Markdown without raw HTML, cleaned by a second tool.

It knows the library, transcripts, the model and the errors, and asks them; it writes nothing.
"""
