"""The application: every route, the guard before them all, and what lives as long as it does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache, partial
from itertools import chain

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from geminids.faces.serving.libraries import Libraries, OpenLibrary
from geminids.faces.web import (
    health,
    media,
    overview,
    projects,
    resume,
    search,
    session_opening,
    sessions,
    timeline,
    transcript,
    usage,
    words_in_session,
)
from geminids.faces.web.agents import PATH as AGENTS
from geminids.faces.web.agents import AgentsDoor
from geminids.faces.web.answers import JSON, Answers
from geminids.faces.web.endpoints import Endpoint
from geminids.faces.web.events import Live
from geminids.faces.web.faults import fault
from geminids.faces.web.guard import HEALTH, Code, Guard, Key
from geminids.faces.web.openapi import openapi
from geminids.faces.web.pages import Pages
from geminids.sharing.export.data import encode

_SUBJECTS = (
    overview,
    sessions,
    search,
    session_opening,
    transcript,
    words_in_session,
    timeline,
    media,
    resume,
    usage,
    projects,
    health,
)
ENDPOINTS: tuple[Endpoint, ...] = tuple(chain.from_iterable(subject.ENDPOINTS for subject in _SUBJECTS))

EVENTS = "text/event-stream"
_HOME = next(one for one in ENDPOINTS if one.path == "/api/overview")


def create_app(
    open_library: OpenLibrary,
    key: Key,
    *,
    code: Code | None = None,
    open_sample: OpenLibrary | None = None,
    redacts: bool = False,
    syncs: bool = True,
) -> Starlette:
    """The web app over a library, or over the sample as long as there is no session in it.

    The `code` stands for the key once. With `redacts`, secrets are hidden in all that is served.
    """
    libraries = Libraries(open_library, syncs=syncs, open_sample=open_sample)
    answers = Answers(libraries, token=key.token, redacts=redacts)
    live = Live(libraries, answers.writer, redacts=redacts)
    agents = AgentsDoor(libraries)
    described = cache(lambda: encode(openapi(ENDPOINTS)))

    async def description(_: Request) -> Response:
        return Response(described(), media_type=JSON)

    async def events(request: Request) -> Response:
        if request.method == "HEAD":
            # A line without words would never end.
            return Response(media_type=EVENTS)
        is_redacted = redacts or request.query_params.get("redact") in {"true", "1"}
        lines = live.listen(request.headers.get("last-event-id"), is_redacted=is_redacted)
        return StreamingResponse(lines, media_type=EVENTS)

    app = Starlette(
        routes=[
            Route(HEALTH, _is_alive),
            Route("/api/openapi.json", description),
            Route("/api/events", events),
            Route(AGENTS, agents),
            *(Route(one.path, answers.to(one), methods=[one.method]) for one in ENDPOINTS),
            Route("/{path:path}", Pages().answer),
        ],
        middleware=[Middleware(Guard, key=key, code=code)],
        exception_handlers={HTTPException: _refused},
        lifespan=partial(_lifespan, libraries, answers, live, agents),
    )
    app.state.live = live
    app.state.answers = answers
    return app


@asynccontextmanager
async def _lifespan(
    libraries: Libraries, answers: Answers, live: Live, agents: AgentsDoor, _: Starlette
) -> AsyncIterator[None]:
    live.start()
    # The page opens with it, and a browser takes a moment to start.
    preparing = asyncio.create_task(answers.prepare(_HOME))
    yield
    preparing.cancel()
    answers.end()
    await agents.end()
    await live.end()
    libraries.close()


async def _is_alive(_: Request) -> Response:
    return PlainTextResponse("ok\n")


async def _refused(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return fault(error.status_code, str(error.detail))
