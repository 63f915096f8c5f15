import pytest

from cache.redis import redis_url
from common.circuit_breaker import REDIS, CircuitBreaker


@pytest.mark.parametrize(
    "url",
    ["nonsense-hush", "hush://one", "redis://me:hush@one:hush", "redis://me:hu/sh@one:7000"],
)
@pytest.mark.anyio
async def test_another_form_is_refused_without_repeating_the_url(url: str) -> None:
    opening = redis_url.open_nodes(
        url, redis_url.ONE_SERVER, lambda: CircuitBreaker(float, REDIS), budget_s=1.0
    )

    with pytest.raises(ValueError) as refusal:  # noqa: PT011  its text is what is tested
        await opening.__aenter__()

    assert "hu" not in str(refusal.value)
    assert refusal.value.__suppress_context__ or refusal.value.__context__ is None
