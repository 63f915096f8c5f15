from itertools import islice
from random import Random

import numpy as np
import pytest

from loadtests.bench_peers import generated_passages, similar, trace
from loadtests.bench_peers.generated_passages import PeerTopicQuestion
from loadtests.bench_peers.world import PeerCaller, PeerWorld


def world() -> PeerWorld:
    """Two tenants; `reader` may read the first and the third row."""
    return PeerWorld(
        tenants=["one", "one", "one", "two"],
        readers=[("tenant",), ("group:closed",), ("group:open",), ("tenant",)],
        texts=["a", "b", "c", "a"],
        passages=[0, 1, 2, 0],
        embedded=np.array([[1, 0], [0.9, 0.1], [0, 1], [1, 0]], np.float32),
        callers=[PeerCaller("one", "reader", ("open",))],
        questions=[PeerTopicQuestion("what?", {0: 1.0, 1: 1.0})],
        embedded_questions=np.array([[1, 0]], np.float32),
    )


def test_only_what_the_caller_may_read_counts_as_an_answer() -> None:
    built = world()

    assert built.visible[0].tolist() == [0, 2]
    assert built.relevant(0, 0) == {"0": 1.0}


def test_recall_is_of_the_nearest_rows_that_may_be_read() -> None:
    built = world()

    assert built.recall(0, 0, [0, 2]) == 1.0
    assert built.recall(0, 0, [2]) == 0.5
    assert built.recall(0, 0, [1, 3]) == 0.0


def test_nobody_asks_anew_what_was_asked_before() -> None:
    asks = list(trace.fresh([3.0, 1.0], range(50), seed=1))

    assert len(asks) == len(set(asks)) == 2 * 50
    assert {ask.caller for ask in asks[:20]} == {0, 1}


def test_seven_in_ten_of_the_mix_are_repeats_and_all_are_sent_the_same() -> None:
    asks = list(islice(trace.mix([1.0, 1.0], range(5_000), seed=1), 10_000))

    assert 1 - len(set(asks)) / len(asks) == pytest.approx(trace.REPEATS, abs=0.02)
    assert asks == list(islice(trace.mix([1.0, 1.0], range(5_000), seed=1), 10_000))


def test_what_was_asked_first_is_asked_the_most() -> None:
    asks = list(islice(trace.mix([1.0], range(5_000), seed=1), 10_000))
    first = asks[0]

    assert asks.count(first) > 10 * asks.count(asks[5_000])


def test_made_up_questions_are_about_the_passages_that_answer_them() -> None:
    texts, questions = generated_passages.make(50, Random(1))  # noqa: S311  no secret

    assert len(texts) == 50
    for question in questions:
        question_words = set(question.text.split()) - {
            "how",
            "do",
            "i",
            "find",
            "the",
            "what",
            "is",
        }
        for passage in question.relevant:
            assert question_words & set(texts[passage].lower().replace(".", "").split())


@pytest.mark.parametrize(
    "answered",
    [
        [4, 1, 2, 3],  # its first is not among the fresh one's first three
        [1, 7, 8, 9],  # three of the fresh one's four are not in it
        [],
    ],
)
def test_an_answer_to_another_question_is_wrong_if_a_fresh_one_differs_much(
    answered: list[int],
) -> None:
    assert similar.is_wrong(answered, [1, 2, 3, 4])


@pytest.mark.parametrize("answered", [[1, 2, 3, 4], [3, 1, 8, 9]])
def test_an_answer_to_another_question_is_right_if_a_fresh_one_is_much_the_same(
    answered: list[int],
) -> None:
    assert not similar.is_wrong(answered, [1, 2, 3, 4])
