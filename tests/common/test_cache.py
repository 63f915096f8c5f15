"""A cache that tenants share: whose entries give way."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from common.shares.cache import FairCache


def filled(size_max: int, entries: Sequence[tuple[str, int]]) -> FairCache[int, int]:
    """Entry number n of the list has the key n, and its size is its value."""
    cache: FairCache[int, int] = FairCache(size_max, lambda size: size)
    for key, (tenant, size) in enumerate(entries):
        cache.put(tenant, key, size)
    return cache


def test_a_tenant_that_fills_the_cache_displaces_its_own_entries() -> None:
    cache = filled(10, [("beta", 1), ("beta", 1), *[("acme", 1)] * 100])

    assert 0 in cache
    assert 1 in cache
    assert len(cache) == 10


def test_the_least_recently_used_entry_of_the_largest_tenant_gives_way() -> None:
    cache = filled(4, [("acme", 1), ("acme", 1), ("acme", 1), ("beta", 1)])
    cache.get(0)

    cache.put("beta", 9, 1)

    assert 0 in cache
    assert 1 not in cache


def test_a_tenant_that_had_all_gives_way_until_others_hold_as_much() -> None:
    cache = filled(10, [*[("acme", 1)] * 10, *[("beta", 1)] * 20])

    assert sum(key in cache for key in range(10)) == 5


def test_an_entry_larger_than_the_cache_is_not_kept_and_displaces_nothing() -> None:
    cache = filled(10, [("acme", 5), ("beta", 11)])

    assert cache.get(0) == 5
    assert len(cache) == 1


def test_an_entry_that_is_put_again_replaces_the_first() -> None:
    cache: FairCache[str, int] = FairCache(10, lambda size: size)
    cache.put("acme", "key", 5)

    cache.put("beta", "key", 7)

    assert cache.get("key") == 7
    assert cache.size == 7


@given(
    size_max=st.integers(1, 20),
    steps=st.lists(
        st.tuples(
            st.sampled_from(["put", "get", "pop"]),
            st.integers(0, 3),
            st.integers(0, 9),
            st.integers(1, 8),
        ),
        max_size=60,
    ),
)
def test_the_largest_tenant_always_gives_way(
    size_max: int, steps: Sequence[tuple[str, int, int, int]]
) -> None:
    cache: FairCache[int, int] = FairCache(size_max, lambda size: size)
    model: dict[int, tuple[str, int]] = {}  # the least recently used first

    def held(tenant: str) -> int:
        return sum(size for owner, size in model.values() if owner == tenant)

    for step, number, key, size in steps:
        if step == "get":
            assert cache.get(key) == (model[key][1] if key in model else None)
            if key in model:
                model[key] = model.pop(key)
        else:
            model.pop(key, None)
            if step == "pop":
                cache.pop(key)
            else:
                cache.put(f"t{number}", key, size)
                if size <= size_max:
                    model[key] = (f"t{number}", size)
            while sum(size for _, size in model.values()) > size_max:
                most = max(held(owner) for owner, _ in model.values())
                missing = [each for each in model if each not in cache]
                gone = next(each for each in missing if held(model[each][0]) == most)
                assert gone == next(each for each in model if model[each][0] == model[gone][0])
                del model[gone]
        assert {each for each in range(10) if each in cache} == set(model)
        assert cache.size == sum(size for _, size in model.values())
