"""What requests cost by the list: as the library says for each of them, or nothing."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal
from functools import cache, reduce
from typing import Any

import pytest
from genai_prices import extract_usage
from hypothesis import given, settings
from hypothesis import strategies as st

from geminids.core.price_bands import BANDS, band
from geminids.query.usage.amounts import Amounts
from geminids.query.usage.prices import Prices
from tests.support.examples import examples
from tests.support.prices import (
    AGENTS_PROVIDERS,
    all_models,
    conditional_prices,
    first_days,
    library_price,
    tier_starts,
)

NOT_TOLD_APART = {("openrouter", "qwen/qwen3-coder-flash"), ("openrouter", "qwen/qwen3.7-flash")}
"""Their prices change at 32,000 tokens. They are left without a price."""
A_DAY = date(2026, 10, 1)
ONE_OF_EACH = Amounts(1, 2, 3, 4, 5, 6, 7)
SIZES = (0, 1, *(size + more for size in BANDS for more in (0, 1)), 2_000_000)


def listed(provider: str | None, model: str) -> Prices:
    return Prices.load(None, None, [(provider, model)])


@cache
def all_prices() -> Prices:
    return Prices.load(None, None, all_models().keys())


def priced_as(provider: str | None, model: str) -> str | None:
    cost = listed(provider, model).cost(provider, model, A_DAY, 0, ONE_OF_EACH)
    return cost.priced_as if cost else None


def test_an_input_is_in_the_band_of_the_sizes_it_is_above() -> None:
    assert [band(size) for size in (0, 100_000, 100_001, 128_000, 128_001)] == [0, 0, 1, 1, 2]
    assert [band(199_999), band(200_000), band(200_001), band(10**9)] == [2, 3, 4, len(BANDS)]


def test_prices_change_only_where_a_band_begins() -> None:
    elsewhere = {
        pair
        for pair, model in all_models().items()
        for price in conditional_prices(model)
        if tier_starts(price.prices) - set(BANDS)
    }
    assert elsewhere == NOT_TOLD_APART


def test_every_band_is_needed() -> None:
    used = {
        start
        for model in all_models().values()
        for price in conditional_prices(model)
        for start in tier_starts(price.prices)
    }
    assert used >= set(BANDS)


def split(size: int) -> Amounts:
    """A request with so much input, of all kinds."""
    return Amounts(size - size // 2 - size // 3, size // 2, size // 6, size // 3 - size // 6, 1234, 567, 0)


@pytest.mark.slow
def test_a_price_is_the_librarys_for_every_model_at_every_size() -> None:
    prices = all_prices()
    checked = 0
    for provider, model in all_models():
        for request in map(split, SIZES):
            cost = prices.cost(provider, model, A_DAY, band(request.input), request)
            if cost is None:
                break
            assert cost.amount == library_price(provider, model, A_DAY, request), (provider, model, request)
            checked += 1
    assert checked > 1_500 * len(SIZES)


@cache
def agents_models() -> list[tuple[str, str]]:
    days = {pair: first_days(model) or {A_DAY} for pair, model in all_models().items()}
    return [
        pair
        for pair, its_days in days.items()
        if pair[0] in AGENTS_PROVIDERS
        and any(all_prices().cost(*pair, day, 0, ONE_OF_EACH) for day in its_days)
    ]


@st.composite
def requests(draw: st.DrawFn) -> Amounts:
    """A request of any size, often one near the sizes at which prices change."""
    size = draw(
        st.one_of(
            st.integers(0, 2_000_000),
            st.builds(int.__add__, st.sampled_from(BANDS), st.integers(-2, 2)),
        )
    )
    cuts = sorted(draw(st.lists(st.integers(0, size), min_size=4, max_size=4)))
    fresh, cached, write, hour, tool = (
        until - since for since, until in zip([0, *cuts], [*cuts, size], strict=True)
    )
    output, thoughts = draw(st.tuples(st.integers(0, 200_000), st.integers(0, 200_000)))
    return Amounts(fresh, cached, write, hour, output, thoughts, tool)


@st.composite
def days_of_requests(draw: st.DrawFn) -> tuple[tuple[str, str], date, list[Amounts]]:
    pair = draw(st.sampled_from(agents_models()))
    changes = sorted(first_days(all_models()[pair]))
    near = st.builds(
        lambda day, days: day + timedelta(days=days), st.sampled_from(changes or [A_DAY]), st.integers(-1, 1)
    )
    day = draw(st.one_of(near, st.dates(date(2024, 1, 1), date(2027, 12, 31))))
    return pair, day, draw(st.lists(requests(), min_size=1, max_size=8))


@settings(max_examples=examples(400), deadline=None)
@given(days_of_requests())
def test_sums_by_band_cost_what_their_requests_cost(
    drawn: tuple[tuple[str, str], date, list[Amounts]],
) -> None:
    (provider, model), day, made = drawn
    sums: dict[int, Amounts] = {}
    for request in made:
        size = band(request.input)
        sums[size] = sums.get(size, Amounts()).plus(request)
    costs = [all_prices().cost(provider, model, day, size, amounts) for size, amounts in sums.items()]
    amounts = [cost.amount for cost in costs if cost]
    if len(amounts) < len(costs):
        assert not amounts
        assert all_prices().why_not(provider, model)
    else:
        assert sum(amounts) == sum(library_price(provider, model, day, request) for request in made)


CLAUDE = {
    "model": "claude-sonnet-4-5-20250929",
    "usage": {
        "input_tokens": 1_000,
        "cache_read_input_tokens": 150_000,
        "cache_creation_input_tokens": 60_000,
        "cache_creation": {"ephemeral_5m_input_tokens": 20_000, "ephemeral_1h_input_tokens": 40_000},
        "output_tokens": 3_000,
    },
}
GEMINI = {
    "modelVersion": "gemini-2.5-pro",
    "usageMetadata": {
        "promptTokenCount": 190_000,
        "cachedContentTokenCount": 120_000,
        "toolUsePromptTokenCount": 20_000,
        "candidatesTokenCount": 2_000,
        "thoughtsTokenCount": 1_000,
    },
}
GPT = {
    "model": "gpt-5.1-codex-max",
    "usage": {
        "input_tokens": 90_000,
        "input_tokens_details": {"cached_tokens": 80_000},
        "output_tokens": 5_000,
        "output_tokens_details": {"reasoning_tokens": 4_000},
    },
}


@pytest.mark.parametrize(
    ("provider", "flavor", "answer", "amounts"),
    [
        ("anthropic", "default", CLAUDE, Amounts(1_000, 150_000, 20_000, 40_000, 3_000)),
        (
            "google",
            "default",
            GEMINI,
            Amounts(fresh=70_000, cached=120_000, output=2_000, thoughts=1_000, tool=20_000),
        ),
        ("openai", "responses", GPT, Amounts(fresh=10_000, cached=80_000, output=1_000, thoughts=4_000)),
    ],
    ids=["anthropic", "google", "openai"],
)
def test_amounts_are_what_the_library_reads_from_answers(
    provider: str, flavor: str, answer: dict[str, Any], amounts: Amounts
) -> None:
    told = extract_usage(answer, provider_id=provider, api_flavor=flavor).calc_price()
    model = answer.get("model") or answer["modelVersion"]
    cost = listed(provider, model).cost(provider, model, A_DAY, band(amounts.input), amounts)
    assert cost is not None
    assert cost.amount == told.total_price


def test_a_request_above_a_size_costs_more_for_all_its_tokens() -> None:
    prices = listed("google", "gemini-2.5-pro")
    below = prices.cost("google", "gemini-2.5-pro", A_DAY, band(200_000), Amounts(fresh=200_000))
    above = prices.cost("google", "gemini-2.5-pro", A_DAY, band(200_001), Amounts(fresh=200_001))
    assert below is not None
    assert above is not None
    assert (below.amount, above.amount) == (Decimal("0.25"), Decimal("0.5000025"))
    assert list(map(str, below.rates)) == ["1.25", "0.125", "1.25", "1.25", "10", "10", "1.25"]


@pytest.mark.parametrize(
    ("provider", "written", "meant"),
    [
        (None, "gemini-2.5-pro", "google/gemini-2.5-pro"),
        ("google", "gemini-2.5-pro", "google/gemini-2.5-pro"),
        ("google", "gemini-3-pro-preview", "google/gemini-3-pro-preview"),
        (None, "models/gemini-2.5-flash", "google/gemini-2.5-flash"),
        ("google", "publishers/google/models/gemini-2.5-pro", "google/gemini-2.5-pro"),
        (None, "google/gemini-2.5-pro", "google/gemini-2.5-pro"),
        (None, "claude-sonnet-4-5-20250929", "anthropic/claude-sonnet-4-5"),
        ("anthropic", "claude-sonnet-4-5-20250929[1m]", "anthropic/claude-sonnet-4-5"),
        (None, "claude-opus-5[1m]", "anthropic/claude-opus-5"),
        (None, "claude-opus-4-5@20251101", "google/claude-opus-4-5"),
        ("anthropic", "claude-opus-4-5@20251101", "google/claude-opus-4-5"),
        (
            None,
            "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
            "aws/regional.anthropic.claude-sonnet-4-5-20250929-v1:0",
        ),
        (
            "anthropic",
            "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-sonnet-4-5-20250929-v1:0",
            "aws/regional.anthropic.claude-sonnet-4-5-20250929-v1:0",
        ),
        (None, "global.anthropic.claude-opus-4-5-20251101-v1:0", "aws/global.anthropic.claude-opus-4-5-v1:0"),
        (None, "anthropic/claude-sonnet-4.5", "anthropic/claude-sonnet-4-5"),
        ("openrouter", "anthropic/claude-sonnet-4.5", "openrouter/anthropic/claude-sonnet-4.5"),
        ("openai", "gpt-5.2-codex", "openai/gpt-5.2"),
        (None, "gpt-5.1-codex-max", "openai/gpt-5.1"),
        ("openai", "openai/gpt-5.1", "openai/gpt-5.1"),
        (None, "openai/gpt-5.1", "openai/gpt-5.1"),
        ("azure", "gpt-5.1", "azure/gpt-5.1"),
        ("xai", "grok-code-fast-1", "x-ai/grok-code-fast-1"),
    ],
)
def test_models_are_known_by_the_names_agents_write(provider: str | None, written: str, meant: str) -> None:
    assert priced_as(provider, written) == meant


@pytest.mark.parametrize(
    ("provider", "written"),
    [
        (None, "gemini-9-pro"),
        (None, "auto"),
        (None, "<synthetic>"),
        (None, "sonnet"),
        (None, ""),
        (None, "claude-opus-4-12"),
        (None, "claude-opus-4-9"),
        ("openai", "gpt-5.3-codex-spark"),
        ("openai", "claude-opus-4-5"),
        ("anthropic", "openai/gpt-5.1"),
        ("ollama", "gpt-oss:20b"),
        ("my-proxy", "gpt-5.1"),
        (None, "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc123"),
    ],
)
def test_a_name_that_may_mean_another_model_has_no_price(provider: str | None, written: str) -> None:
    assert priced_as(provider, written) is None
    assert listed(provider, written).why_not(provider, written) == ("not in the price list of genai-prices")


def test_no_model_of_the_list_is_taken_for_another_one() -> None:
    taken = {
        pair: cost.priced_as
        for pair in all_models()
        if (cost := all_prices().cost(*pair, A_DAY, 0, ONE_OF_EACH)) and cost.priced_as != "/".join(pair)
    }
    assert taken == {}


@pytest.mark.parametrize(
    ("provider", "model", "reason"),
    [
        ("deepseek", "deepseek-chat", "its price depends on the time of day"),
        ("openrouter", "qwen/qwen3.7-flash", "its price changes at 32,000 tokens of input"),
        ("perplexity", "sonar-pro", "each of its requests has a price"),
        ("google", "gemma-3", "has no price for its tokens"),
    ],
)
def test_what_would_not_be_exact_has_a_reason_instead_of_a_price(
    provider: str, model: str, reason: str
) -> None:
    prices = listed(provider, model)
    assert prices.cost(provider, model, A_DAY, 0, ONE_OF_EACH) is None
    assert reason in str(prices.why_not(provider, model))


# Since then, its long prompts cost no more than others.
CHANGED = "claude-opus-4-6"
CHANGED_ON = date(2026, 3, 13)


def test_a_price_is_that_of_the_day() -> None:
    prices = listed(None, CHANGED)
    long = Amounts(fresh=1_000_000)
    day_before, that_day = (
        prices.cost(None, CHANGED, day, band(long.input), long)
        for day in (CHANGED_ON - timedelta(days=1), CHANGED_ON)
    )
    assert day_before is not None
    assert that_day is not None
    assert (day_before.amount, that_day.amount) == (Decimal(10), Decimal(5))


def test_without_a_day_a_price_that_changed_is_not_known() -> None:
    prices = listed(None, CHANGED)
    assert prices.cost(None, CHANGED, None, 0, ONE_OF_EACH) is None
    assert "has changed" in str(prices.why_not(None, CHANGED))
    always = listed("google", "gemini-2.5-pro")
    assert always.cost("google", "gemini-2.5-pro", None, 0, ONE_OF_EACH)
    assert always.why_not("google", "gemini-2.5-pro") is None


def test_nothing_costs_nothing() -> None:
    cost = listed(None, "gemini-2.5-pro").cost(None, "gemini-2.5-pro", A_DAY, 0, Amounts())
    assert cost is not None
    assert cost.amount == 0


def test_amounts_add_up_field_by_field() -> None:
    twice = reduce(Amounts.plus, [ONE_OF_EACH, ONE_OF_EACH])
    assert twice == Amounts(2, 4, 6, 8, 10, 12, 14)
    assert twice.input == 2 + 4 + 6 + 8 + 14


@pytest.mark.parametrize(
    ("model", "tokens"),
    [
        ("claude-sonnet-4-5", 200_000),
        ("claude-sonnet-4-5[1m]", 1_000_000),
        ("gemini-2.5-flash", 1_048_576),
        ("a-model-of-nobody", None),
    ],
)
def test_the_list_tells_how_large_a_prompt_may_be(model: str, tokens: int | None) -> None:
    prices = listed(None, model)
    assert prices.context_window(None, model) == tokens
    kept = Prices.load(prices.to_keep, None, [(None, model)])
    assert (kept.context_window(None, model), kept.to_keep) == (tokens, None)
