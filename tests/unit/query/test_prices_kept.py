"""Prices are kept between runs, so that the library is loaded only where it has something new to say."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geminids.query.usage.amounts import Amounts
from geminids.query.usage.prices import Prices
from geminids.query.usage.prices.cache import library_footprint, read_kept
from geminids.query.usage.prices.overrides import read_overrides
from tests.conftest import ROOT

A_DAY = date(2026, 10, 1)
SOME = Amounts(1_000, 2_000, 3_000, 4_000, 5_000, 6_000, 7_000)
PRO = ("google", "gemini-2.5-pro")
UNKNOWN = (None, "gemini-9-pro")
SONNET = (None, "claude-sonnet-4-5-20250929")


def kept_text(*wanted: tuple[str | None, str]) -> str:
    made = Prices.load(None, None, wanted).to_keep
    assert made is not None
    return made


# Models of all kinds: dated, with tiers, without a price, not known.
KEPT = kept_text(PRO, UNKNOWN, SONNET, ("deepseek", "deepseek-chat"), ("anthropic", "claude-opus-4-6"))


def test_what_is_kept_answers_as_the_library_did() -> None:
    wanted = read_kept(KEPT)
    assert wanted is not None
    made = Prices.load(None, None, wanted.models.keys())
    again = Prices.load(KEPT, None, wanted.models.keys())
    assert again.to_keep is None
    assert again.basis == made.basis
    for provider, model in wanted.models:
        assert again.why_not(provider, model) == made.why_not(provider, model)
        for band in range(9):
            expected = made.cost(provider, model, A_DAY, band, SOME)
            assert again.cost(provider, model, A_DAY, band, SOME) == expected


def test_a_new_model_is_looked_up_and_the_others_are_kept_too() -> None:
    more = Prices.load(KEPT, None, [("openai", "gpt-5.2-codex")])
    assert more.cost("openai", "gpt-5.2-codex", A_DAY, 0, SOME)
    assert more.to_keep is not None
    everything = Prices.load(more.to_keep, None, [PRO, UNKNOWN, SONNET, ("openai", "gpt-5.2-codex")])
    assert everything.to_keep is None


def test_a_model_that_is_not_known_is_not_looked_up_twice() -> None:
    again = Prices.load(KEPT, None, [UNKNOWN])
    assert again.to_keep is None
    assert again.why_not(*UNKNOWN) == "not in the price list of genai-prices"


def test_a_model_that_nobody_asked_for_has_no_price() -> None:
    prices = Prices.load(KEPT, None, [PRO])
    assert prices.cost("openai", "gpt-5.1", A_DAY, 0, SOME) is None
    assert prices.why_not("openai", "gpt-5.1") == "its price was not looked up"


def test_prices_of_another_release_are_made_anew() -> None:
    document = json.loads(KEPT)
    document["footprint"] = document["footprint"].replace("data.py", "data.py 1", 1)
    document["library"] = "genai-prices 0.1"
    anew = Prices.load(json.dumps(document), None, [PRO])
    assert anew.basis.library == Prices.load(None, None, [PRO]).basis.library
    assert anew.to_keep is not None
    assert Prices.load(anew.to_keep, None, [PRO, SONNET]).to_keep is None


def test_prices_for_other_bands_are_made_anew() -> None:
    document = json.loads(KEPT)
    document["bands"][0] += 1
    assert Prices.load(json.dumps(document), None, [PRO]).to_keep is not None


def test_the_footprint_tells_a_library_from_another_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = library_footprint()
    package = tmp_path / "genai_prices"
    package.mkdir()
    (package / "__init__.py").touch()
    data = package / "data.py"
    data.write_text("providers = []")
    monkeypatch.syspath_prepend(tmp_path)
    first = library_footprint()
    os.utime(data, ns=(1, 1))
    assert len({installed, first, library_footprint()}) == 3


@given(st.integers(0, len(KEPT) - 1))
def test_a_text_that_was_cut_is_as_good_as_none(end: int) -> None:
    assert read_kept(KEPT[:end]) is None


VALUES = st.one_of(st.none(), st.integers(), st.text(max_size=3), st.just([]), st.just({}), st.just(["x"]))


@given(st.data())
def test_a_text_of_another_shape_is_never_an_error(data: st.DataObject) -> None:
    document: Any = json.loads(KEPT)
    place = document
    while True:
        key: Any = data.draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
        if not isinstance(place[key], list | dict) or not place[key] or data.draw(st.booleans()):
            break
        place = place[key]
    place[key] = data.draw(VALUES)
    kept = read_kept(json.dumps(document))
    for provider, model in kept.models if kept else ():
        prices = Prices(kept, None)
        cost = prices.cost(provider, model, A_DAY, 0, SOME)
        assert cost is None or cost.amount.is_finite()
        prices.why_not(provider, model)


@pytest.mark.parametrize("rate", ["NaN", "sNaN", "Infinity", "x", "", "-1", 1.25])
def test_a_rate_that_is_no_price_is_not_used(rate: object) -> None:
    document = json.loads(KEPT)
    document["models"][0][-1][0][-1][0][1] = rate
    assert read_kept(KEPT)
    assert read_kept(json.dumps(document)) is None


def test_rates_that_begin_above_some_size_are_not_used() -> None:
    document = json.loads(KEPT)
    document["models"][0][-1][0][-1][0][0] = 1
    assert read_kept(json.dumps(document)) is None


LIGHT = """
import sys
from datetime import date
before = set(sys.modules)
from geminids.query.usage.amounts import Amounts
from geminids.query.usage.prices import Prices
prices = Prices.load(sys.stdin.read(), None, [("google", "gemini-2.5-pro")])
print(prices.cost("google", "gemini-2.5-pro", date(2026, 10, 1), 0, Amounts(1000000)).amount)
print(*set(sys.modules) - before)
"""


def run(code: str, kept: str) -> list[str]:
    line = [sys.executable, "-c", code]
    done = subprocess.run(line, input=kept, check=True, capture_output=True, text=True, timeout=60)
    return done.stdout.splitlines()


def test_with_kept_prices_nothing_heavier_than_sqlite_and_decimal_is_loaded() -> None:
    amount, loaded = run(LIGHT, KEPT)
    assert Decimal(amount) == Decimal("1.25")
    ours = {name for name in loaded.split() if name.startswith("geminids")}
    assert ours == {
        "geminids",
        "geminids.core",
        "geminids.core.price_bands",
        "geminids.core.values",
        "geminids.query",
        "geminids.query.usage",
        "geminids.query.usage.amounts",
        "geminids.query.usage.prices",
        "geminids.query.usage.prices.cache",
        "geminids.storage",
        "geminids.storage.small_json",
    }
    heavy = {"genai_prices", "pydantic", "importlib.metadata", "importlib.util", "dataclasses", "tomllib"}
    assert not set(loaded.split()) & heavy


WITHOUT_LIBRARY = """
import sys
from datetime import date
sys.path[:] = [folder for folder in sys.path if not folder.endswith("site-packages")]
sys.path.append(sys.stdin.readline().strip())
from geminids.query.usage.amounts import Amounts
from geminids.query.usage.prices import Prices
from geminids.query.usage.prices.overrides import read_overrides
overrides = read_overrides("settings.toml", {"mine": {"input": 2, "output": 3}})
prices = Prices.load(sys.stdin.read(), overrides, [(None, "mine"), ("google", "gemini-2.5-pro")])
print(prices.cost("google", "gemini-2.5-pro", date(2026, 10, 1), 0, Amounts(1)))
print(prices.why_not("google", "gemini-2.5-pro"))
print(prices.cost(None, "mine", date(2026, 10, 1), 0, Amounts(1000000)).amount)
print(prices.basis.library, prices.basis.overrides, prices.to_keep)
"""


def test_without_the_library_only_what_the_user_settled_has_a_price() -> None:
    source = ROOT / "src"
    none, reason, amount, basis = run(WITHOUT_LIBRARY, f"{source}\n{KEPT}")
    assert none == "None"
    assert "; the extra `cost` of geminids adds it. " in reason
    assert Decimal(amount) == 2
    assert basis == "None ('mine',) None"


BROKEN_LIBRARY = """
import sys
sys.modules["genai_prices"] = None
from geminids.query.usage.prices import Prices
print(Prices.load(None, None, [(None, "gpt-5.1")]).why_not(None, "gpt-5.1"))
"""


def test_a_library_that_cannot_be_loaded_is_as_good_as_none() -> None:
    (reason,) = run(BROKEN_LIBRARY, "")
    assert "cannot be loaded" in reason


def test_where_the_user_settled_all_prices_the_library_is_not_asked() -> None:
    overrides = read_overrides("settings.toml", {"gemini-*": {"input": 2, "output": 3}})
    prices = Prices.load(None, overrides, [PRO])
    assert prices.to_keep is None
    assert prices.basis.library is None
