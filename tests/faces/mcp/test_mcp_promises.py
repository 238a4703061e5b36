"""What holds for every answer, whatever is asked: it fits, it tells no secret, and what it cites is there."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any

import mcp_types as types
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp import Client
from mcp.shared.exceptions import MCPError

from geminids.faces.mcp.answers import Answers
from geminids.faces.mcp.server import McpServer
from geminids.faces.serving.libraries import Libraries
from geminids.library import open_library
from tests.support.examples import examples
from tests.support.mcp_clients import json_of, leaves, text_of
from tests.support.planted_homes import hidden_of, write_planted

Ask = Callable[[Callable[[Client], Coroutine[Any, Any, Any]]], Any]
USUAL, MOST = 8_000, 11_500


Planted = tuple[Path, dict[str, tuple[str, ...]]]
"""A folder, and by the ids of its sessions what must not be told of them."""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Planted:
    folder = tmp_path_factory.mktemp("planted")
    planted = write_planted(folder / "home")
    with open_library([str(folder / "home")], str(folder / "data")) as library:
        hidden = hidden_of(library, planted)
    assert sum(map(len, hidden.values())) > 300
    return folder, hidden


@contextmanager
def open_client(folder: Path) -> Iterator[Ask]:
    """A client that stays while a test asks many questions."""
    libraries = Libraries(partial(open_library, [str(folder / "home")], str(folder / "data")), syncs=True)
    libraries.sync()
    server = McpServer(lambda: Answers(libraries, hides=True))
    loop = asyncio.new_event_loop()
    thread = Thread(target=loop.run_forever)
    thread.start()

    def ask(talk: Callable[[Client], Coroutine[Any, Any, Any]]) -> Any:
        async def run() -> Any:
            async with Client(server.sdk, mode="legacy") as client:
                return await talk(client)

        return asyncio.run_coroutine_threadsafe(run(), loop).result()

    try:
        yield ask
    finally:
        server.end()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
        libraries.close()


def told_in(answer: Any) -> list[str]:
    """Every text of an answer."""
    return [text_of(answer), *(one for one in leaves(answer.structured_content) if isinstance(one, str))]


def cited_in(answer: Any) -> Iterator[tuple[str, int | None]]:
    """Ids of sessions, with the numbers of messages, that an answer cites."""

    def within(value: Any, session: str | None) -> Iterator[tuple[str, int | None]]:
        match value:
            case dict():
                inner = value.get("session")
                own = value.get("id") or (inner or {}).get("id") if isinstance(inner, dict | None) else None
                session = own or session
                if session:
                    yield session, value.get("message")
                for held in value.values():
                    yield from within(held, session)
            case list():
                for held in value:
                    yield from within(held, session)

    yield from within(answer.structured_content or {}, None)


SIZES = st.integers(2_000, 60_000)
WORDS = st.sampled_from(
    [
        "harvest",
        "look",
        "password",
        "token",
        "the",
        "key",
        "db",
        "and so on",
        '"the harvest"',
        "tool:shell",
        "-x",
    ]
)
DETAILS = st.sampled_from(["prompts", "conversation", "tools", "thoughts", "everything"])


def questions(ids: list[str]) -> st.SearchStrategy[tuple[str, dict[str, Any]]]:
    known = st.sampled_from(ids)
    return st.one_of(
        st.tuples(
            st.just("search_history"),
            st.fixed_dictionaries(
                {"query": st.lists(WORDS, min_size=1, max_size=3).map(" ".join), "size": SIZES},
                optional={
                    "sessions": st.integers(1, 20),
                    "messages": st.integers(1, 5),
                    "project": st.just("p1"),
                },
            ),
        ),
        st.tuples(
            st.just("read_session"),
            st.fixed_dictionaries(
                {"id": known, "size": SIZES},
                optional={
                    "detail": DETAILS,
                    "messages": st.integers(1, 9),
                    "from_message": st.integers(-3, 3),
                },
            ),
        ),
        st.tuples(st.just("session_brief"), st.fixed_dictionaries({"id": known, "size": SIZES})),
        st.tuples(
            st.just("list_sessions"),
            st.fixed_dictionaries(
                {"size": SIZES}, optional={"sessions": st.integers(1, 100), "after": st.just("7")}
            ),
        ),
        st.tuples(
            st.just("usage"),
            st.fixed_dictionaries(
                {"by": st.sampled_from(["day", "session", "project", "tool", "model"]), "size": SIZES}
            ),
        ),
    )


def test_every_answer_fits_and_tells_no_secret_and_cites_what_is_there(
    home: Planted,
) -> None:
    folder, sessions = home
    secrets = {secret for hidden in sessions.values() for secret in hidden}
    with open_client(folder) as ask, open_library([str(folder / "home")], str(folder / "data")) as library:

        @settings(max_examples=examples(150))
        @given(questions(list(sessions)))
        def check(question: tuple[str, dict[str, Any]]) -> None:
            name, asked = question
            answer = ask(lambda client: client.call_tool(name, asked))
            if answer.is_error:
                # What can be wrong here: words that are no question, and a message that is not there.
                assert name in {"search_history", "read_session"}, text_of(answer)
                assert "fits" not in text_of(answer)
                return
            assert max(len(text_of(answer).encode()), len(json_of(answer).encode())) <= min(
                asked["size"], MOST
            )
            texts = told_in(answer)
            assert [one for one in secrets if any(one in text for text in texts)] == []
            for session, number in set(cited_in(answer)):
                found = library.session(session)
                assert number is None or 1 <= number <= len(found.messages)

        check()


def test_resources_and_prompts_keep_the_same_promises(home: Planted) -> None:
    folder, sessions = home
    secrets = {secret for hidden in sessions.values() for secret in hidden}

    async def talk(client: Client) -> list[str]:
        listed = await client.list_resources()
        texts = [f"{one.uri} {one.title} {one.description}" for one in listed.resources]
        for session in list(sessions)[::40]:
            read = await client.read_resource(f"geminids://session/{session}")
            texts += [one.text for one in read.contents if isinstance(one, types.TextResourceContents)]
            prompt = await client.get_prompt("handover", {"session": session})
            texts += [
                one.content.text for one in prompt.messages if isinstance(one.content, types.TextContent)
            ]
        for about in ("harvest", "password", "token"):
            prompt = await client.get_prompt("recall", {"about": about})
            texts += [
                one.content.text for one in prompt.messages if isinstance(one.content, types.TextContent)
            ]
        return texts

    with open_client(folder) as ask:
        texts = ask(talk)
    assert len(texts) > 20
    assert max(len(text.encode()) for text in texts) <= USUAL
    assert [one for one in secrets if any(one in text for text in texts)] == []


@pytest.mark.slow
def test_no_session_tells_its_secret_in_any_way(home: Planted) -> None:
    folder, sessions = home

    async def talk(client: Client) -> list[str]:
        leaks: list[str] = []
        for session, hidden in sessions.items():
            looked_for = hidden[0].replace('"', " ") if hidden else "x"
            for name, asked in (
                ("read_session", {"id": session, "detail": "everything", "size": 11_500}),
                ("session_brief", {"id": session}),
                ("search_history", {"query": f"harvest id:{session[7:]}", "messages": 5}),
                ("search_history", {"query": f'"{looked_for[:1_000]}"'}),
            ):
                answer = await client.call_tool(name, asked)
                texts = told_in(answer)
                leaks += [f"{name} {one}" for one in hidden if any(one in text for text in texts)]
        return leaks

    with open_client(folder) as ask:
        assert ask(talk) == []


def test_secrets_are_shown_where_that_is_wished(tmp_path: Path) -> None:
    from tests.support.homes import write_session
    from tests.support.mcp_clients import asked, calls

    write_session(tmp_path / "home", prompt="the db password is Uh2p0?xZ-mc0f27FF, please connect")
    questions = [("search_history", {"query": "connect"}), ("read_session", {"id": "1f0c9a2b"})]
    shown = asked([tmp_path / "home"], tmp_path / "data", calls(*questions), hides=False)
    hidden = asked([tmp_path / "home"], tmp_path / "data", calls(*questions), hides=True)
    for one, other in zip(shown, hidden, strict=True):
        assert "Uh2p0?xZ-mc0f27FF" in text_of(one)
        assert "Uh2p0?xZ" not in text_of(other)
        assert "please connect" in text_of(other)


def test_what_resources_and_prompts_refuse_is_said_in_a_sentence(
    home: Planted,
) -> None:
    async def talk(client: Client) -> list[str]:
        said: list[str] = []
        for question in (
            partial(client.read_resource, "geminids://session/0123456789ab"),
            partial(client.read_resource, "file:///etc/passwd"),
            partial(client.get_prompt, "nothing"),
            partial(client.get_prompt, "recall"),
            partial(client.call_tool, "nothing"),
        ):
            with pytest.raises(MCPError) as refused:
                await question()
            said.append(refused.value.message)
        return said

    with open_client(home[0]) as ask:
        said = ask(talk)
    for sentence, piece in zip(
        said,
        (
            "No session",
            "no resource 'file:///etc/passwd'",
            "no prompt 'nothing'",
            "at `query`",
            "no tool 'nothing'",
        ),
        strict=True,
    ):
        assert piece in sentence


def test_ids_are_completed(home: Planted) -> None:
    reference = types.ResourceTemplateReference(uri="geminids://session/{id}")

    async def talk(client: Client) -> Any:
        some = await client.complete(reference, {"name": "id", "value": "gemini:00000001-"})
        every = await client.complete(reference, {"name": "id", "value": ""})
        none = await client.complete(reference, {"name": "id", "value": "zz"})
        return [one.completion for one in (some, every, none)]

    with open_client(home[0]) as ask:
        some, every, none = ask(talk)
    assert some.values == [f"gemini:00000001-0000-4000-8000-00000000000{end}" for end in "ab"]
    assert (len(every.values), every.total, every.has_more) == (100, len(home[1]), True)
    assert none.values == []
