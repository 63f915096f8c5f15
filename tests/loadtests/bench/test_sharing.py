"""The benchmark of shared answers: who has hits of whom."""

from loadtests.bench_cache import sharing
from loadtests.bench_cache.sharing import MembershipEvent

NO_CHANGE = [MembershipEvent(joins=False, user=0, group=1_000_001)]


def test_many_users_in_few_groups_hit_more_by_what_they_see() -> None:
    few, many = (sharing.count(users, NO_CHANGE, 50, 1_000) for users in (10, 500))

    assert many.groups == 10
    assert few.by_grants > many.by_grants
    assert many.by_sight > 2 * many.by_grants
    assert few.sights_read < many.sights_read < 1


def test_equal_runs_count_the_same() -> None:
    first, second = (sharing.count(100, NO_CHANGE, 20, 500) for _ in range(2))

    assert first == second
