"""However files came to be as they are, an index that followed them equals one that is made from them."""

from __future__ import annotations

import encodings.utf_8_sig  # noqa: F401 - what nobody may load later
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from geminids.library import Library
from tests.conftest import FIXTURES, Rights
from tests.support.changing_homes import STEPS, ChangingHomes, change
from tests.support.indexes import assert_equals_a_fresh_build, sync

pytestmark = pytest.mark.usefixtures("without_copies")

HISTORIES = int(os.environ.get("GEMINIDS_HISTORIES", "40"))
"""A few by default; thousands were compared when this was written."""
SETTINGS = settings(max_examples=HISTORIES, deadline=None, suppress_health_check=list(HealthCheck))
SYNC, SYNC_A_LITTLE = "sync", "sync a little"
_histories = some.lists(some.sampled_from([*STEPS, SYNC, SYNC, SYNC_A_LITTLE]), min_size=3, max_size=14)


@contextmanager
def _folder() -> Iterator[Path]:
    """A folder for one history: there are many in one test."""
    folder = Path(tempfile.mkdtemp(prefix="history-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def _sync_a_little(homes: ChangingHomes, data: Path) -> None:
    """As a command does that has no time."""
    with pytest.MonkeyPatch.context() as small_steps, Library(homes.homes, data) as library:
        small_steps.setattr("geminids.sync.intake.STEP_IN_TIME", 1)
        index, _ = library._context.sync.up_to_date(budget=0.0)
        index.close()


def _follow(steps: list[str], seed: int, folder: Path) -> None:
    homes, data = ChangingHomes(folder, Random(seed)), folder / "data"
    sync(homes.homes, data)
    for step in steps:
        if step == SYNC:
            sync(homes.homes, data)
        elif step == SYNC_A_LITTLE:
            _sync_a_little(homes, data)
        else:
            change(homes, step)
    homes.open_everything()
    sync(homes.homes, data)
    assert_equals_a_fresh_build(homes.homes, data, folder / "fresh")


@pytest.fixture(scope="module")
def everything_loaded(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What is loaded on demand may lie where only root can read."""
    sync(sorted((FIXTURES / "gemini").glob("*/home")), tmp_path_factory.mktemp("loaded"))


@pytest.mark.slow
@SETTINGS
@given(steps=_histories, seed=some.integers(0, 2**32))
def test_an_index_that_followed_changes_equals_a_new_one(
    everything_loaded: None, without_privileges: Rights, steps: list[str], seed: int
) -> None:
    # Root may read whatever is closed.
    with without_privileges(), _folder() as folder:
        _follow(steps, seed, folder)
