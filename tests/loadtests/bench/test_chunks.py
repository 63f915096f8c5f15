"""The benchmark of chunks: its targets."""

from loadtests.scenarios import chunks


def row(*, p50_ms: float = 1.0, size: float = 1_100) -> chunks.Row:
    return {"p50_ms": p50_ms, "load_s": 0.5, "shard_bytes": size, "process_bytes": size}


def test_a_new_question_is_judged_at_ten_thousand_chunks_alone() -> None:
    slow, fast = row(p50_ms=1.6), row(p50_ms=1.5)

    assert [bar.held for bar in chunks.bars({1_000: fast, 10_000: slow})] == [False, True, True]
    assert all(bar.held for bar in chunks.bars({1_000: slow, 10_000: fast, 30_000: slow}))
    assert len(list(chunks.bars({1_000: slow}))) == 2


def test_bytes_are_judged_by_the_worst_size_that_is_in_memory() -> None:
    by_size = {1_000: row(size=2_001), 10_000: row(), 1_000_000: {"p50_ms": 60.0}}

    by_bytes = {bar.what: bar.held for bar in chunks.bars(by_size)}

    assert [what for what, held in by_bytes.items() if not held] == [
        "bytes a chunk, of a shard, the most of all sizes"
    ]
