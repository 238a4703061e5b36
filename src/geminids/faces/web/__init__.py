"""The web app: a local server that shows the sessions of this machine to a browser on it.

    app.py          all of it put together: routes, guard, errors
    serving.py      the socket, the server, the browser that is opened, the clean end
    guarding.py     who may ask: this machine, by this address, with the token of this start
    doors.py        what a person sees who may not
    endpoints.py    what an endpoint is; subjects list theirs, and `openapi.py` describes them all
    documents/      what is answered
    libraries.py    libraries for threads, and the one that syncs
    opened.py       sessions that were read lately
    live.py         what agents write, told to browsers as it happens

It knows the library, transcripts, the model and the errors, and asks them; it writes nothing.
"""
