from itertools import islice

import numpy as np
import pytest

from loadtests.bench.section import Bar
from loadtests.bench.turns import Turns
from loadtests.bench_peers import page
from loadtests.bench_peers import world as peer_world
from loadtests.bench_peers.checks import Quality, RightsCheck
from loadtests.bench_peers.side_by_side import OTHERS, PeerResult
from loadtests.bench_peers.systems.peer import Peer
from loadtests.bench_peers.world import PeerCaller, PeerTopicQuestion, PeerWorld
from loadtests.load.closed_loop import ClosedLoopResult


def world() -> PeerWorld:
    """Two tenants; `reader` may read the first and the third row."""
    return PeerWorld(
        tenants=["one", "one", "one", "two"],
        readers=[("tenant",), ("group:closed",), ("group:open",), ("tenant",)],
        texts=["a", "b", "c", "a"],
        passages=[0, 1, 2, 0],
        embedded=np.array([[1, 0], [0.9, 0.1], [0, 1], [1, 0]], np.float32),
        callers=[PeerCaller("one", "reader", ("open",))],
        questions=[PeerTopicQuestion("what?", {0, 1})],
        embedded_questions=np.array([[1, 0]], np.float32),
    )


def test_only_what_the_caller_may_read_counts_as_an_answer() -> None:
    built = world()

    assert built.visible[0].tolist() == [0, 2]
    assert built.relevant(0, 0) == {"0"}


def test_recall_is_of_the_nearest_rows_that_may_be_read() -> None:
    built = world()

    assert built.recall(0, 0, [0, 2]) == 1.0
    assert built.recall(0, 0, [2]) == 0.5
    assert built.recall(0, 0, [1, 3]) == 0.0


def test_nobody_asks_anew_what_was_asked_before() -> None:
    asks = list(peer_world.fresh([3.0, 1.0], range(50), seed=1))

    assert len(asks) == len(set(asks)) == 2 * 50
    assert {ask.caller for ask in asks[:20]} == {0, 1}


def test_seven_in_ten_of_the_mix_are_repeats_and_all_are_sent_the_same() -> None:
    asks = list(islice(peer_world.mix([1.0, 1.0], range(5_000), seed=1), 10_000))

    assert 1 - len(set(asks)) / len(asks) == pytest.approx(peer_world.REPEATS, abs=0.02)
    assert asks == list(islice(peer_world.mix([1.0, 1.0], range(5_000), seed=1), 10_000))


def test_what_was_asked_first_is_asked_the_most() -> None:
    asks = list(islice(peer_world.mix([1.0], range(5_000), seed=1), 10_000))
    first = asks[0]

    assert asks.count(first) > 10 * asks.count(asks[5_000])


def turns(per_second: int) -> Turns:
    result = ClosedLoopResult(seconds=1.0)
    for _ in range(per_second):
        result.latencies.add(0.001)
    return Turns([result])


def peer_result(name: str, *, cold: int, mix: int, stale: int = 0) -> PeerResult:
    peer = Peer(
        name=name,
        how="",
        url="",
        keys=[],
        pids=[],
        body=lambda _: b"",
        found=lambda _: [],
        edit=lambda _row, _text: None,
        restrict=lambda _row, _readers: None,
    )
    quality, rights = Quality(1, 1, 1), RightsCheck(50, stale, 50, 0)
    return PeerResult(peer, quality, turns(cold), turns(mix), rights, 100)


def line_up(*, nearhit_cold: int = 300, nearhit_mix: int = 500) -> list[PeerResult]:
    """Nearhit holds all targets at the first figures, and misses one if either is lower."""
    return [
        peer_result("Nearhit", cold=nearhit_cold, mix=nearhit_mix),
        peer_result("wardowl", cold=100, mix=100),
        peer_result("Chroma", cold=60, mix=50),
        peer_result("pgvector", cold=300, mix=900),
    ]


def missed(bars: list[Bar]) -> list[str]:
    return [bar.what for bar in bars if not bar.held]


def test_the_targets_of_new_questions_and_of_the_mix_are_held_at_their_limits() -> None:
    assert missed([*page.bars(line_up(), 30_000)]) == []
    assert missed([*page.bars(line_up(nearhit_cold=299), 30_000)]) == [
        "new questions a second, to those of wardowl",
        "new questions a second, to those of Chroma",
        "new questions a second, to those of pgvector",
    ]
    assert missed([*page.bars(line_up(nearhit_mix=499), 30_000)]) == [
        "capacity on the mix, to that of wardowl",
        "capacity on the mix, to that of Chroma",
    ]


def test_the_target_to_pgvector_depends_on_the_size() -> None:
    of_pgvector = "new questions a second, to those of pgvector"

    assert missed([*page.small_bars(line_up(nearhit_cold=210), 2_000)]) == []
    assert missed([*page.small_bars(line_up(nearhit_cold=209), 2_000)]) == [of_pgvector]
    assert missed([*page.small_bars(line_up(nearhit_cold=1), 5_000)]) == []
    assert of_pgvector not in [bar.what for bar in page.bars(line_up(), 5_000)]


def test_stale_answers_are_missed_targets_in_every_index() -> None:
    rows = [peer_result("Nearhit", cold=1, mix=1, stale=1)]

    assert missed([*page.bars(rows, 30_000)]) == ["Nearhit: stale answers"]
    assert missed([*page.small_bars(rows, 2_000)]) == ["Nearhit: stale answers"]


def test_the_small_index_has_the_systems_that_targets_name() -> None:
    assert set(page.SMALL_PEERS) <= OTHERS.keys()
