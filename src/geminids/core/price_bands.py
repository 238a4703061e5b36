"""Sizes of input at which prices change: tokens are summed by them, as within a band a price is a factor."""

# Where prices of the library rise; 199,999 is how it says "from 200,000 on" for xAI. A size that no request
# reaches costs nothing here. 32,000, for two models of OpenRouter, would cut nearly all sums in two.
BANDS = (100_000, 128_000, 199_999, 200_000, 256_000, 272_000, 512_000, 524_288)
"""The sizes of input above which some model costs more. If they change, sums by band must be made anew."""


def band(input_tokens: int) -> int:
    """How many of the sizes an input is above: 0 for up to 100,000 tokens."""
    return sum(input_tokens > size for size in BANDS)
