"""No interleaving leaves a subscriber without the final answer, and no rule is to spare.

Every world within the bounds is visited, and counted. `make thorough` adds bounds that take a
minute.
"""

import pytest

from cache.lookup import ComputedAnswer
from gateway.extensions.subscriptions.pinned_answers import PinnedAnswers
from tests.gateway.extensions.subscriptions.subscription_model import Bounds, Pinned, Rules, search
from tests.sampling import is_thorough

TWO_CHANGES = Bounds(commits=2, toggles=0)
LOST = Bounds(commits=2, toggles=0, loses=True)
RIGHT = Bounds(commits=0, toggles=2)
BOUNDS = {
    "two changes": (TWO_CHANGES, 530),
    "two changes, of which messages are lost": (LOST, 1_375),
    "a right goes and comes back": (RIGHT, 355),
    "a change, and a right that goes and comes back": (Bounds(commits=1, toggles=2), 5_420),
}
if is_thorough():
    BOUNDS["changes and rights"] = (Bounds(commits=2, toggles=2, loses=True), 507_014)


@pytest.mark.parametrize(("bounds", "states"), BOUNDS.values(), ids=BOUNDS)
def test_no_interleaving_leaves_a_subscriber_without_the_final_answer(
    bounds: Bounds, states: int
) -> None:
    outcome = search(Rules(), bounds)

    assert outcome.trace is None
    assert outcome.states == states
    assert outcome.labels >= {"an answer is told", "a message arrives"}


def keep_without_waking(pinned: Pinned, key: str, answer: ComputedAnswer) -> set[str]:
    PinnedAnswers.keep(pinned, key, answer)
    return set()


MUTANTS = {
    "woken is cleared after the look": (Rules(clears_before_reading=False), TWO_CHANGES),
    "who computed too early is not woken": (Rules(keep=keep_without_waking), TWO_CHANGES),
    "rights are not compared again": (Rules(checks_rights_again=False), RIGHT),
    "nobody follows what was announced while nothing was pinned": (
        Rules(follows_after_keeping=False),
        TWO_CHANGES,
    ),
    "counters are not read after a loss": (Rules(reads_counters_after_a_loss=False), LOST),
}


@pytest.mark.parametrize(("rules", "bounds"), MUTANTS.values(), ids=MUTANTS)
def test_each_rule_is_needed(rules: Rules, bounds: Bounds) -> None:
    assert search(rules, bounds).trace is not None
