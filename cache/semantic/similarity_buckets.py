"""Buckets of similarity, each open only while measurements show its answers to be right; pure.

A sample of the answers that a bucket would serve is verified. The bucket is open while the upper
confidence bound of its error is under the limit.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import exp, lgamma, log

# Raise it with any change of guards, edges, similarity model or fusion: old counts become invalid.
RULES = "semantic-2"

CONFIDENCE = 0.95
# Lower edges, chosen by `loadtests.bench_semantic`: pairs below the first are never considered.
EDGES = (0.85, 0.9, 0.95)
SERVED_WRONG_TOP = 3  # the served top hit has to be among so many of the real ones

# Counts halve at this many verified answers, so that old documents lose weight. Half of it still
# opens a bucket at a limit of 0.2 % with no wrong answer: a starting value, not measured.
VERIFIED_MAX = 4_000
_SHUT_SAMPLE = 1.0  # a closed bucket counts every pair
_OPEN_SAMPLE = 0.05  # starting value, not measured
_UNSURE_SAMPLE = 0.25  # of an open bucket that one more wrong answer would close
_STEPS = 50  # of bisection: to fifteen digits
_TERMS_MAX = 500  # the fraction needs about the root of the number verified
_PRECISION = 1e-14


@dataclass(frozen=True, slots=True)
class BucketCounts:
    """Of one bucket: pairs that passed the guards, answers served, samples verified, wrong ones."""

    seen: int = 0
    served: int = 0
    verified: int = 0
    wrong: int = 0


def bucket_of(similarity: float) -> int | None:
    """The number of a similarity's bucket, counted from the least similar; None below all."""
    below = sum(edge <= similarity for edge in EDGES)
    return below - 1 if below else None


def bucket_bounds(number: int) -> tuple[float, float]:
    """The lower bound, inclusive, and the upper one, exclusive except for 1."""
    return EDGES[number], (*EDGES, 1.0)[number + 1]


def error_upper_bound(counts: BucketCounts) -> float:
    """The one-sided upper bound of the share of wrong answers; 1 if none is verified.

    The greatest p at which this number of wrong answers or fewer has a chance of 5 %.

    Source: Clopper, Pearson, Biometrika 1934.
    """
    verified, wrong = counts.verified, counts.wrong
    if wrong >= verified:
        return 1.0
    low, high = wrong / verified, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if _at_most(wrong, verified, middle) > 1 - CONFIDENCE:
            low = middle
        else:
            high = middle
    return high


def is_open(counts: BucketCounts, error_max: float) -> bool:
    """Whether answers of the bucket may be served."""
    return error_upper_bound(counts) <= error_max


def sample_share(counts: BucketCounts, error_max: float) -> float:
    """The share of the bucket's pairs to verify, in the background if the pair is served."""
    if not is_open(counts, error_max):
        return _SHUT_SAMPLE
    one_more = BucketCounts(verified=counts.verified + 1, wrong=counts.wrong + 1)
    return _OPEN_SAMPLE if is_open(one_more, error_max) else _UNSURE_SAMPLE


def decay(counts: BucketCounts) -> BucketCounts:
    """The counts with verified and wrong halved once `VERIFIED_MAX` is reached.

    Wrong ones are rounded up. The SQL statement that adds counts does the same.
    """
    if counts.verified < VERIFIED_MAX:
        return counts
    return BucketCounts(counts.seen, counts.served, counts.verified // 2, (counts.wrong + 1) // 2)


def is_wrong(served: Sequence[int], real: Sequence[int]) -> bool:
    """Whether the served answer was wrong, judged by the real one; hits are best first."""
    if not served or not real:
        return bool(served or real)
    return served[0] not in real[:SERVED_WRONG_TOP] or 2 * _common(served, real) < len(real)


def _common(served: Collection[int], real: Collection[int]) -> int:
    return len(set(served) & set(real))


def _at_most(wrong: int, verified: int, chance: float) -> float:
    """The probability of at most `wrong` wrong answers, each with this chance (0 < chance < 1).

    It is the regularised incomplete beta function I(1 - chance; verified - wrong, wrong + 1).
    """
    a, b = float(verified - wrong), wrong + 1.0
    x = 1 - chance
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(chance))
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(a, b, x) / a
    return 1 - front * _fraction(b, a, chance) / b


def _fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function, by Lentz's method.

    Source: Press et al., Numerical Recipes, 3rd edition, section 6.4.
    """
    ratio, d = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, _TERMS_MAX):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        step = 1.0
        for term in (even, odd):
            d = 1 / (1 + term * d)
            ratio = 1 + term / ratio
            step = d * ratio
            value *= step
        if abs(step - 1) < _PRECISION:
            break
    return value
