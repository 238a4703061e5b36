"""What the packages of agents offer fits what is asked: no type checker looks through their tables."""

import inspect
from typing import Any

import pytest

from geminids.agents.claude import ClaudeSource
from geminids.agents.codex import CodexSource
from geminids.agents.gemini import GeminiSource
from geminids.core.agents import protocols
from geminids.core.agents.packaged import PackagedSource

SOURCES = (ClaudeSource(), CodexSource(), GeminiSource())


def offers(source: PackagedSource) -> list[tuple[type, Any, set[str]]]:
    """Each protocol, what answers its questions, and the questions that a table names."""
    return [
        (protocols.CompanionReader, source.companions(), set(source.beside)),
        (protocols.FileFacts, source.files(), set(source.file_facts)),
        (protocols.ProjectFacts, source.projects(), set(source.project_facts)),
        (protocols.Custodian, source.custodian(), set(source.custody)),
    ]


def questions(protocol: type) -> dict[str, Any]:
    return {name: value for name, value in vars(protocol).items() if not name.startswith("_")}


def parameters(function: Any) -> list[tuple[str, object]]:
    found = inspect.signature(function).parameters.values()
    return [(one.name, one.annotation) for one in found if one.name != "self"]


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.name)
def test_every_question_has_an_answer_of_its_shape(source: PackagedSource) -> None:
    for protocol, answering, named in offers(source):
        asked = questions(protocol)
        assert named <= asked.keys(), protocol
        for name, question in asked.items():
            answer = getattr(answering, name)
            if isinstance(question, property):
                assert not callable(answer), name
            else:
                assert parameters(answer) == parameters(question), (protocol, name)


def test_a_question_that_nobody_asks_has_no_answer() -> None:
    with pytest.raises(AttributeError):
        SOURCES[0].files().weigh  # type: ignore[attr-defined]  # noqa: B018
