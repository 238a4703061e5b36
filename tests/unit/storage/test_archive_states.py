"""An archive does what a dictionary of lists would do, whatever is done to it and in which order."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from random import Random

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from geminids.storage.archive import keeper, packs
from geminids.storage.archive import rewrite as rewriting
from geminids.storage.archive.archive import Archive
from geminids.storage.archive.rewrite import remove
from geminids.storage.archive.verification import verify
from tests.support.archives import AGENT, HOME, contents
from tests.support.examples import examples

NAMES = st.sampled_from(["a.jsonl", "b.jsonl", "c.json"])
CONTENTS = st.one_of(
    st.binary(max_size=40),
    st.builds(lambda piece, times: piece * times, st.binary(min_size=1, max_size=5), st.integers(1, 400)),
)


class KeptFiles(RuleBasedStateMachine):
    """Files that are changed and kept, beside a model of what must be there."""

    @initialize()
    def begin(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.archive = Archive(str(self.folder / "kept"))
        self.home = self.folder / "home"
        self.home.mkdir()
        self.model: dict[str, list[bytes]] = {}
        # Small, so that little content takes many segments and packs.
        self.usual = packs.LIMIT, keeper.LONGEST_SEGMENT, rewriting._LEAST_DEAD
        packs.LIMIT, keeper.LONGEST_SEGMENT, rewriting._LEAST_DEAD = 3_000, 100, 500

    def teardown(self) -> None:
        if hasattr(self, "folder"):
            packs.LIMIT, keeper.LONGEST_SEGMENT, rewriting._LEAST_DEAD = self.usual
            self.archive.close()
            shutil.rmtree(self.folder)

    @rule(name=NAMES, content=CONTENTS)
    def rewrite(self, name: str, content: bytes) -> None:
        self.write(name, content)

    @rule(name=NAMES, content=CONTENTS)
    def grow(self, name: str, content: bytes) -> None:
        path = self.home / name
        self.write(name, (path.read_bytes() if path.exists() else b"") + content)

    def write(self, name: str, content: bytes) -> None:
        (self.home / name).write_bytes(content)

    @rule()
    def keep(self) -> None:
        with self.archive.writing() as writer:
            for path in sorted(self.home.iterdir()):
                assert writer.keep(AGENT, HOME, str(path))
                self.expect(str(path), path.read_bytes())

    def expect(self, path: str, content: bytes) -> None:
        versions = self.model.setdefault(path, [])
        if versions and content.startswith(versions[-1]):
            versions.pop()
        versions.append(content)

    @rule(name=NAMES)
    def delete(self, name: str) -> None:
        (self.home / name).unlink(missing_ok=True)

    @precondition(lambda self: bool(self.model))
    @rule(chosen=st.randoms(use_true_random=False))
    def remove(self, chosen: Random) -> None:
        path = chosen.choice(sorted(self.model))
        versions = self.archive.versions(path)
        number = chosen.randrange(len(versions))
        with self.archive.writing() as writer:
            remove(writer, [versions[number].number])
        del self.model[path][number]
        if not self.model[path]:
            del self.model[path]

    @rule()
    def reopen(self) -> None:
        self.archive.close()
        self.archive = Archive(self.archive.folder)

    @rule()
    def lose_the_list(self) -> None:
        (Path(self.archive.folder) / "manifest.db").unlink(missing_ok=True)

    @rule(garbage=st.binary(min_size=1, max_size=60))
    def leave_something_torn(self, garbage: bytes) -> None:
        for pack in sorted(Path(self.archive.folder).glob("packs/*.pack"))[-1:]:
            with pack.open("ab") as out:
                out.write(garbage)

    @rule()
    def check(self) -> None:
        assert not verify(self.archive, lambda _: None).damage

    @invariant()
    def all_is_there(self) -> None:
        if hasattr(self, "model"):
            assert contents(self.archive) == self.model


TestKeptFiles = KeptFiles.TestCase
TestKeptFiles.settings = settings(
    max_examples=examples(25), stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck)
)
