"""What a response cost and what a model can hold, from a maintained table. Loaded when it is first needed.

Unknown stays unknown: no price is never said to be zero.
"""

import asyncio
import logging
from collections.abc import Callable
from decimal import Decimal
from functools import lru_cache

from holdfast.core.budget import Usage
from holdfast.core.value import replace

LOG = logging.getLogger(__name__)
MICROS = 1_000_000
# Ways to write a provider that have no table of their own.
_SAME = {"openai-chat": "openai", "openai-responses": "openai", "google-cloud": "google"}


async def priced(usage: Usage, *, provider: str, model: str) -> Usage:
    """With its cost; where nobody knows it, counted as one response without a price."""
    price = await asyncio.to_thread(_price)
    cost = price(usage, _SAME.get(provider, provider), model)
    if cost is None:
        return replace(usage, unpriced=1)
    return replace(usage, cost_micros=cost)


async def window(provider: str, model: str) -> int | None:
    """Tokens; None: nobody knows. `provider` empty: whoever has a model of that name."""
    return await asyncio.to_thread(_window, _SAME.get(provider, provider), model)


def _window(provider: str, model: str) -> int | None:
    from genai_prices import data_snapshot  # noqa: PLC0415  half a second

    table = data_snapshot.get_snapshot()
    try:
        found = table.find_provider_model(model, None, provider or None, None)[1]
    except LookupError:
        return None
    size: int | None = found.context_window
    return size


@lru_cache(maxsize=1)
def _price() -> Callable[[Usage, str, str], int | None]:
    import genai_prices  # noqa: PLC0415  half a second

    def price(usage: Usage, provider: str, model: str) -> int | None:
        counted = genai_prices.Usage(
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            cache_read_tokens=usage.cache_read_tokens,
            cache_write_tokens=usage.cache_write_tokens,
        )
        try:
            found = genai_prices.calc_price(counted, model, provider_id=provider).total_price
        except LookupError:
            return None
        except ValueError as error:  # counts that contradict each other
            LOG.warning("no price for %s:%s: %s", provider, model, error)
            return None
        return int((Decimal(found) * MICROS).to_integral_value(rounding="ROUND_CEILING"))

    return price
