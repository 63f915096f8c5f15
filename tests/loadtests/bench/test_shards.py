"""The benchmark of shards: the targets and the page."""

from loadtests.bench_growth import shards
from loadtests.bench_growth.probe import COLUMNS, RequestCost
from loadtests.bench_growth.shards import BARE, SHARDS, WITHOUT, ShardFigures


def request_cost(p50_ms: float) -> RequestCost:
    return dict(zip(COLUMNS, (100, 0, p50_ms, 9, 800, 400, 0, 200, 100, 10), strict=True))


def figures(*, p50_ms: float = 1.0, size: float = 1_100) -> ShardFigures:
    costs = {SHARDS: request_cost(p50_ms), WITHOUT: request_cost(8), BARE: request_cost(0.25)}
    return ShardFigures(
        load_s=0.5,
        shard_bytes=size,
        process_bytes=size,
        new=costs,
    )


def test_a_new_question_is_judged_at_ten_thousand_chunks_alone() -> None:
    slow, fast = figures(p50_ms=1.6), figures(p50_ms=1.5)

    assert [bar.held for bar in shards.bars({1_000: fast, 10_000: slow})] == [
        False,
        True,
        True,
    ]
    assert all(bar.held for bar in shards.bars({1_000: slow, 10_000: fast, 30_000: slow}))
    assert len(list(shards.bars({1_000: slow}))) == 2


def test_bytes_are_judged_by_the_worst_size() -> None:
    size = figures(size=2_001)

    by_bytes = {bar.what: bar.held for bar in shards.bars({1_000: size, 10_000: figures()})}

    assert [what for what, held in by_bytes.items() if not held] == [
        "bytes a chunk, of a shard, the most of all sizes"
    ]


def test_the_page_shows_each_server() -> None:
    text = shards.text({1_000: figures(), 10_000: figures(p50_ms=2)})

    assert "| 1,000 | 0.50 | 1,100 | 1,100 |" in text
    assert "| 10,000, with shards | 100 | 2.00 | 9.00 | 8.0 | 800 | 400 |" in text
    assert "| 10,000, bare app | 100 | 0.25 | 9.00 | 1.0 |" in text
