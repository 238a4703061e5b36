"""Requests as the library genai-prices prices them, one by one."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from decimal import Decimal

from genai_prices import Usage, calc_price
from genai_prices.data_snapshot import get_snapshot
from genai_prices.types import ConditionalPrice, ModelInfo, ModelPrice, StartDateConstraint, TieredPrices

from geminids.query.usage.amounts import Amounts

AGENTS_PROVIDERS = (
    "anthropic",
    "aws",
    "azure",
    "deepseek",
    "github-copilot",
    "google",
    "mistral",
    "moonshotai",
    "openai",
    "x-ai",
    "zhipuai",
)


def all_models() -> dict[tuple[str, str], ModelInfo]:
    """Those in the list by provider and id."""
    return {
        (provider.id, model.id): model for provider in get_snapshot().providers for model in provider.models
    }


def conditional_prices(model: ModelInfo) -> list[ConditionalPrice]:
    """All prices it ever had."""
    return [ConditionalPrice(prices=model.prices)] if isinstance(model.prices, ModelPrice) else model.prices


def first_days(model: ModelInfo) -> set[date]:
    """The days on which its price changed."""
    rules = (price.constraint for price in conditional_prices(model))
    return {rule.start_date for rule in rules if isinstance(rule, StartDateConstraint)}


def tier_starts(price: ModelPrice) -> set[int]:
    """Above which inputs it is another price."""
    return {
        tier.start
        for value in vars(price).values()
        if isinstance(value, TieredPrices)
        for tier in value.tiers
    }


def library_price(provider: str | None, model: str, day: date, request: Amounts) -> Decimal:
    """What one request cost at noon of a day, by the library."""
    usage = Usage(
        input_tokens=sum(request) - request.output - request.thoughts,
        cache_read_tokens=request.cached,
        cache_write_tokens=request.cache_write + request.cache_write_hour,
        cache_write_1h_tokens=request.cache_write_hour,
        output_tokens=request.output + request.thoughts,
        output_reasoning_tokens=request.thoughts,
    )
    noon = datetime.combine(day, time(12), UTC)
    return calc_price(usage, model, provider_id=provider, genai_request_timestamp=noon).total_price
