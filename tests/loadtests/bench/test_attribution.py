import pytest

from loadtests.bench_cache import precision
from loadtests.bench_cache.precision import DroppedByWrite

ONE = DroppedByWrite(live=1_000, dropped=40, in_vain=10, inserted=1)
FOUR = DroppedByWrite(live=1_000, dropped=80, in_vain=0, inserted=4)
NONE = DroppedByWrite(live=1_000, dropped=30, in_vain=20, inserted=0)
TAKEN = [ONE, FOUR, NONE]


def test_a_write_took_the_share_of_the_answers_that_it_dropped() -> None:
    assert precision.share_by_write(TAKEN) == pytest.approx((0.04 + 0.08 + 0.03) / 3)


def test_what_a_write_took_is_parted_among_the_chunks_that_it_inserted() -> None:
    assert precision.share_by_chunk(TAKEN) == pytest.approx((0.04 + 0.08 / 4) / 2)


def test_in_vain_is_a_share_of_all_that_was_dropped() -> None:
    assert precision.share_in_vain(TAKEN) == pytest.approx(30 / 150)
    assert precision.share_in_vain([DroppedByWrite(1_000, 0, 0, 1)]) == 0


def test_a_write_without_live_answers_counts_for_nothing() -> None:
    unanswered = DroppedByWrite(live=0, dropped=0, in_vain=0, inserted=1)

    assert precision.share_by_write([ONE, unanswered]) == pytest.approx(0.04)
    assert precision.share_by_chunk([ONE, unanswered]) == pytest.approx(0.04)
    with pytest.raises(SystemExit, match="too few edits"):
        precision.share_by_write([unanswered])
