"""The benchmark of shards: the targets, the page, and what an edit costs."""

from loadtests.bench_growth import edits, shards
from loadtests.bench_growth.edits import EditDifference, EditTimes
from loadtests.bench_growth.probe import RequestCost
from loadtests.bench_growth.shards import BARE, SHARDS, WITHOUT, ShardFigures


def test_an_edit_is_compared_with_the_other_of_its_turn() -> None:
    shards_times = [EditTimes(1, 10, 4), EditTimes(1, 50, 4), EditTimes(1, 20, 4)]
    without_times = [EditTimes(2, 10, 2), EditTimes(2, 49, 4), EditTimes(2, 26, 4)]

    difference = edits.difference(shards_times, without_times)

    assert difference.more_ms == 1  # of 2, 1 and -6
    assert difference.shards == cost(1, 20, 4, 24)
    assert difference.without == cost(2, 26, 4, 30)


def cost(*ms: float) -> dict[str, float]:
    return dict(zip(("before_ms", "write_ms", "search_ms", "total_ms"), ms, strict=True))


def request_cost(p50_ms: float) -> RequestCost:
    return RequestCost(100, 0, p50_ms, 9, 800, 400, 0, 200, 100, 10)


def figures(*, p50_ms: float = 1.0, more_ms: float = 1.0, size: float = 1_100) -> ShardFigures:
    costs = {SHARDS: request_cost(p50_ms), WITHOUT: request_cost(8), BARE: request_cost(0.25)}
    return ShardFigures(
        load_s=0.5,
        shard_bytes=size,
        process_bytes=size,
        new=costs,
        edit=EditDifference(cost(1, 9, 2, 11), cost(2, 9, 3, 12), more_ms),
    )


def test_a_new_question_is_judged_at_ten_thousand_chunks_alone() -> None:
    slow, fast = figures(p50_ms=1.6), figures(p50_ms=1.5)

    assert [bar.held for bar in shards.bars({1_000: fast, 10_000: slow})] == [
        False,
        True,
        True,
        True,
    ]
    assert all(bar.held for bar in shards.bars({1_000: slow, 10_000: fast, 30_000: slow}))
    assert len(list(shards.bars({1_000: slow}))) == 3


def test_bytes_and_edits_are_judged_by_the_worst_size() -> None:
    size, more = figures(size=2_001), figures(more_ms=1.6)

    by_bytes = {bar.what: bar.held for bar in shards.bars({1_000: size, 10_000: figures()})}
    by_edits = {bar.what: bar.held for bar in shards.bars({1_000: more, 10_000: figures()})}

    assert [what for what, held in by_bytes.items() if not held] == [
        "bytes a chunk, of a shard, the most of all sizes"
    ]
    assert [what for what, held in by_edits.items() if not held] == [
        "ms that an edit costs more with shards, the most of all sizes"
    ]


def test_the_page_shows_each_server() -> None:
    text = shards.text({1_000: figures(), 10_000: figures(p50_ms=2)}, edits_each=50)

    assert "| 1,000 | 0.50 | 1,100 | 1,100 |" in text
    assert "| 10,000, with shards | 100 | 2.00 | 9.00 | 8.0 | 800 | 400 |" in text
    assert "| 10,000, bare app | 100 | 0.25 | 9.00 | 1.0 |" in text
    assert "| 1,000, with shards | 1.00 | 9.00 | 2.00 | 11.00 | +1.00 |" in text
    assert "| 1,000, without | 2.00 | 9.00 | 3.00 | 12.00 |  |" in text
