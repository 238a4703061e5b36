"""Prices that the user settled, as `docs/prices.md` explains them."""

from __future__ import annotations

import re
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from geminids.core.price_bands import BANDS, band
from geminids.core.settings import BadSettingsError, read_settings
from geminids.query.usage.amounts import Amounts
from geminids.query.usage.prices import Cost, Prices, overrides_in
from tests.conftest import ROOT

A_DAY = date(2026, 10, 1)
PAGE = (ROOT / "docs" / "prices.md").read_text("utf-8")
MILLION = 1_000_000


def settled(folder: Path, toml: str, *wanted: tuple[str | None, str]) -> Prices:
    (folder / "settings.toml").write_text(toml, "utf-8")
    return Prices.load(None, overrides_in(read_settings(str(folder), {})), wanted)


def example() -> str:
    (toml,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    return str(toml)


def dollars(prices: Prices, provider: str | None, model: str, size: int, amounts: Amounts) -> Decimal | None:
    cost = prices.cost(provider, model, A_DAY, band(size), amounts)
    return cost.amount if cost else None


ALL_KINDS = [Amounts()._replace(**{kind: MILLION}) for kind in Amounts._fields]


def test_the_example_of_the_page_means_what_it_says(tmp_path: Path) -> None:
    wanted = [(None, "my-model"), ("ollama", "Llama-4"), ("groq", "llama-4"), ("google", "gemini-2.5-pro")]
    prices = settled(tmp_path, example(), *wanted)
    mine = [dollars(prices, None, "my-model", 0, amounts) for amounts in ALL_KINDS]
    assert mine == list(map(Decimal, ["1.25", "0.125", "1.5", "2", "10", "10", "1.25"]))
    assert dollars(prices, "ollama", "Llama-4", 0, Amounts(fresh=MILLION)) == 0
    assert dollars(prices, "groq", "llama-4", 0, Amounts(fresh=MILLION)) is None
    below, above = (
        [dollars(prices, "google", "gemini-2.5-pro", size, amounts) for amounts in ALL_KINDS]
        for size in (200_000, 200_001)
    )
    assert below == list(map(Decimal, [1, 1, 1, 1, 8, 8, 1]))
    assert above == list(map(Decimal, [2, 2, 2, 2, 12, 12, 2]))
    assert prices.basis.overrides == ("gemini-2.5-pro", "llama-*", "my-model")
    assert str(prices.basis.library).startswith("genai-prices ")


def test_the_page_names_all_sizes(tmp_path: Path) -> None:
    named = re.findall(r"`above-(\d+)(k?)`", PAGE)
    assert [int(size) * (1000 if thousands else 1) for size, thousands in named] == list(BANDS)
    above = "".join(f"above-{size}{thousands} = {{}}\n" for size, thousands in named)
    prices = settled(tmp_path, f"[prices.m]\ninput = 1\noutput = 2\n{above}", (None, "m"))
    assert dollars(prices, None, "m", 10**6, Amounts(fresh=MILLION)) == 1


def test_a_cost_says_that_the_user_settled_it(tmp_path: Path) -> None:
    prices = settled(tmp_path, "[prices.'m*']\ninput = 0.1\noutput = 0.2\n", (None, "mine"))
    cost = prices.cost(None, "mine", None, 0, Amounts(fresh=3, output=1))
    assert isinstance(cost, Cost)
    assert (cost.amount, cost.priced_as, cost.overridden) == (Decimal("0.0000005"), "m*", True)
    assert prices.why_not(None, "mine") is None


def test_the_name_that_says_most_goes_first(tmp_path: Path) -> None:
    toml = "".join(
        f"[prices.'{name}']\ninput = {price}\noutput = 0\n"
        for name, price in {"*": 1, "gemini-*": 2, "gemini-*-pro": 3, "gemini-3-pro": 4}.items()
    )
    names = {"claude": 1, "gemini-x": 2, "gemini-4-pro": 3, "GEMINI-3-pro": 4, "gemini-3-pro-x": 2}
    prices = settled(tmp_path, toml, *((None, name) for name in names))
    for name, price in names.items():
        assert dollars(prices, None, name, 0, Amounts(fresh=MILLION)) == price


def test_a_mark_of_the_context_is_part_of_a_name_not_a_pattern(tmp_path: Path) -> None:
    toml = "[prices.'claude-*[1m]']\ninput = 1\noutput = 2\n"
    prices = settled(tmp_path, toml, (None, "claude-x[1m]"), (None, "claude-x1"))
    assert dollars(prices, None, "claude-x[1m]", 0, Amounts(fresh=MILLION)) == 1
    assert dollars(prices, None, "claude-x1", 0, Amounts(fresh=MILLION)) is None


def test_what_a_larger_size_leaves_out_stays_as_it_was(tmp_path: Path) -> None:
    toml = """
        [prices.m]
        input = 1
        output = 10
        cached = 0.5
        above-200k = { input = 2 }
        above-272k = { output = 20 }
    """
    prices = settled(tmp_path, toml, (None, "m"))
    kinds = [Amounts(fresh=MILLION), Amounts(cached=MILLION), Amounts(output=MILLION)]
    for size, expected in {200_000: [1, 0.5, 10], 200_001: [2, 0.5, 10], 272_001: [2, 0.5, 20]}.items():
        assert [dollars(prices, None, "m", size, amounts) for amounts in kinds] == expected


@pytest.mark.parametrize(
    ("toml", "reason"),
    [
        ("prices = 1", "[prices] must be a table"),
        ("index = true", "[index] must be a table"),
        ("[price.m]\ninput = 1", "there is no section [price]; sections are index, read, list, prices"),
        ("[prices.'']\ninput = 1\noutput = 2", '[prices.""] names no model'),
        ("[prices.' ']\ninput = 1\noutput = 2", '[prices." "] names no model'),
        (
            "[prices]\ninput = 1",
            "'input' in [prices] must be a section [prices.\"input\"] with input and output",
        ),
        (
            "[prices.m]\ninput = 1",
            "[prices.\"m\"] lacks 'output', in dollars for a million tokens, such as 1.25",
        ),
        (
            "[prices.m]\ninput = 1\noutput = '2'",
            "'output' in [prices.\"m\"] must be dollars for a million tokens",
        ),
        ("[prices.m]\ninput = -1\noutput = 2", "'input' in [prices.\"m\"] must be dollars"),
        ("[prices.m]\ninput = true\noutput = 2", "'input' in [prices.\"m\"] must be dollars"),
        ("[prices.m]\ninput = nan\noutput = 2", "'input' in [prices.\"m\"] must be dollars"),
        ("[prices.m]\ninput = inf\noutput = 2", "'input' in [prices.\"m\"] must be dollars"),
        ("[prices.m]\ninput = 1e99\noutput = 2", "'input' in [prices.\"m\"] must be dollars"),
        ("[prices.m]\ninput = 1e9999999999999999999\noutput = 2", "is not a number"),
        (
            "[prices.m]\ninput = 1\noutput = 2\ncashed = 3",
            "[prices.\"m\"] has no setting 'cashed'; settings are input, output, c",
        ),
        (
            "[prices.m]\ninput = 1\noutput = 2\nprovider = 3",
            "'provider' in [prices.\"m\"] must be a name in quotes",
        ),
        (
            "[prices.m]\ninput = 1\noutput = 2\nabove-300k = {}",
            "has no setting 'above-300k'; settings are input",
        ),
        (
            "[prices.m]\ninput = 1\noutput = 2\nabove-200k = 3",
            "'above-200k' in [prices.\"m\"] must be a table",
        ),
        (
            "[prices.m]\ninput = 1\noutput = 2\nabove-200k = { provider = 'x' }",
            "'above-200k' in [prices.\"m\"] has no setting 'provider'",
        ),
    ],
)
def test_what_cannot_be_used_is_named_with_its_file(tmp_path: Path, toml: str, reason: str) -> None:
    with pytest.raises(BadSettingsError) as raised:
        settled(tmp_path, toml)
    assert str(tmp_path / "settings.toml") in str(raised.value)
    assert reason in str(raised.value)


def test_settings_that_are_there_and_cannot_be_read_are_told(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").mkdir()
    with pytest.raises(
        BadSettingsError, match=r"settings\.toml': it cannot be read \(it is not a regular file\)"
    ):
        read_settings(str(tmp_path), {})
    assert read_settings(str(tmp_path / "nowhere"), {}).prices == {}


def test_other_settings_are_read_beside_prices(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text(f"[index]\nevery-word = true\n{example()}", "utf-8")
    assert read_settings(str(tmp_path), {}).every_word
    settings = read_settings(str(tmp_path), {"GEMINIDS_EVERY_WORD": "0"})
    assert not settings.every_word
    assert overrides_in(settings) is not None


def test_nothing_settled_is_no_override(tmp_path: Path) -> None:
    assert overrides_in(read_settings(str(tmp_path), {})) is None
    assert overrides_in(read_settings(None, {})) is None
