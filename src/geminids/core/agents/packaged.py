"""An agent whose package has the usual modules, each of which is loaded when something in it is asked for.

    homes          homes, homes_below        footprint      footprint
    layout         scan                      reader         read, read_alone

What else it offers, it says in tables: where the answer to each question of a protocol stands, as
`module` (a function of the question's name) or `module:function`, or the answer itself.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from geminids.core.agents.source import Source

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

    from geminids.core.agents.base import Bundle, Reading, Scan
    from geminids.core.agents.homes import Home
    from geminids.core.agents.protocols import CompanionReader, Custodian, FileFacts, ProjectFacts


class PackagedSource(Source):
    """Finds all that is asked of an agent in the modules of its package."""

    package: str
    custody: Mapping[str, Any]
    beside: Mapping[str, Any] = {}
    file_facts: Mapping[str, Any]
    project_facts: Mapping[str, Any]

    def homes(self, environment: Mapping[str, str], user_home: str) -> Sequence[Home]:
        """The homes this machine has."""
        homes: Sequence[Home] = self._load("homes:homes")(environment, user_home)
        return homes

    def homes_below(self, folder: str) -> Sequence[Home]:
        """The homes in a folder that stands for a user's home."""
        homes: Sequence[Home] = self._load("homes:homes_below")(folder)
        return homes

    def footprint(self, home: Home) -> dict[str, str]:
        """A text for each folder of a home, which is another one as soon as its content may be."""
        texts: dict[str, str] = self._load("footprint:footprint")(home)
        return texts

    def scan(self, home: Home, only: Collection[str] | None = None) -> Scan:
        """The session files of a home or of some of its folders, in bundles."""
        scan: Scan = self._load("layout:scan")(home, only)
        return scan

    def read(self, bundle: Bundle) -> Reading:
        """The sessions of a bundle, and where every byte of its files went."""
        reading: Reading = self._load("reader:read")(bundle)
        return reading

    def read_alone(self, path: Path) -> Reading | None:
        """What one file given by hand holds."""
        reading: Reading | None = self._load("reader:read_alone")(path)
        return reading

    def companions(self) -> CompanionReader:
        """What lies beside its sessions."""
        return cast("CompanionReader", _Answering(self._load, "PlainCompanions", self.beside))

    def files(self) -> FileFacts:
        """What is known of its files, whatever they hold."""
        return cast("FileFacts", _Answering(self._load, "PlainFiles", self.file_facts))

    def projects(self) -> ProjectFacts:
        """Where it is used."""
        return cast("ProjectFacts", _Answering(self._load, "PlainProjects", self.project_facts))

    def custodian(self) -> Custodian:
        """What it deletes, and how its sessions come back."""
        return cast("Custodian", _Answering(self._load, "PlainCustody", self.custody))

    def _load(self, place: str) -> Any:
        module, _, name = place.partition(":")
        return getattr(import_module(f"{self.package}.{module}"), name)


class _Answering:
    """Answers the questions of a protocol as a table says, and all others in the plainest way."""

    def __init__(self, load: Any, plain: str, answers: Mapping[str, Any]) -> None:
        self._load, self._plain, self._answers = load, plain, answers

    def __getattr__(self, question: str) -> Any:
        answer = self._answers.get(question)
        if answer is None:
            plain = getattr(import_module("geminids.core.agents.plain"), self._plain)
            return getattr(plain(), question)
        if isinstance(answer, str):
            return self._load(answer if ":" in answer else f"{answer}:{question}")
        return answer
