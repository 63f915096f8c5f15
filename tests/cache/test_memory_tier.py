from typing import Any, cast

from cache.invalidation.local_registry import LocalInvalidation
from cache.lookup import ServedAnswer
from cache.protocol import Revisions
from cache.tiers.memory import LocalEntry, MemoryTier
from tests.cache.support.histories import at


def tier(size_bytes_max: int) -> MemoryTier:
    """Without changes that invalidate its answers."""
    return MemoryTier(size_bytes_max, cast("LocalInvalidation[Any]", None), lambda *_: None)


def entry(body: bytes, valid_until: Revisions) -> LocalEntry:
    return LocalEntry(ServedAnswer(body, valid_until, "memory"))


def test_an_answer_is_given_up_to_the_revisions_that_it_is_known_good_at() -> None:
    memory = tier(10_000)
    memory.entries.put("acme", "key", entry(b"body", at(acme=5, public=2)))

    assert memory.find("key", at(acme=5, public=2)) is not None
    assert memory.find("key", at(acme=4, public=1)) is not None
    assert memory.find("key", at(acme=6, public=2)) is None
    assert memory.find("key", at(acme=5, public=3)) is None


def test_an_answer_says_nothing_of_a_partition_that_it_was_not_computed_in() -> None:
    memory = tier(10_000)
    memory.entries.put("acme", "key", entry(b"body", at(acme=5)))

    assert memory.find("key", at(acme=5, public=0)) is None


def test_the_least_recently_used_answers_go_first() -> None:
    memory = tier(4_000)
    for name in "abc":
        memory.entries.put("acme", name, entry(b"x" * 500, at(acme=1)))
    memory.find("a", at(acme=1))

    memory.entries.put("acme", "d", entry(b"x" * 500, at(acme=1)))

    assert [name for name in "abcd" if memory.find(name, at(acme=1))] == ["a", "c", "d"]


def test_a_tenant_with_many_answers_displaces_none_of_another() -> None:
    memory = tier(40_000)
    memory.entries.put("beta", "beta", entry(b"x" * 500, at(beta=1)))

    for number in range(100):
        memory.entries.put("acme", f"acme {number}", entry(b"x" * 500, at(acme=1)))

    assert memory.find("beta", at(beta=1)) is not None
    assert memory.find("acme 99", at(acme=1)) is not None


def test_an_answer_larger_than_the_whole_cache_is_not_kept() -> None:
    memory = tier(1_000)

    memory.entries.put("acme", "key", entry(b"x" * 2_000, at(acme=1)))

    assert memory.find("key", at(acme=1)) is None
