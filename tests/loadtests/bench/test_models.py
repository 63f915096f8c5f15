"""The comparison of models: what it asks of whom, and how it divides times."""

from loadtests.bench_index.models import comparison
from loadtests.bench_index.sets import RetrievalSet, SetPassage, SetQuestion


def _set(passages: int, relevant: str) -> RetrievalSet:
    text = "word " * 150
    return RetrievalSet(
        "set",
        "en",
        [SetPassage(f"{number}", "", text) for number in range(passages)],
        [SetQuestion("what?", {relevant: 1.0})],
    )


def test_a_sample_is_bounded_and_holds_the_passages_that_answer() -> None:
    answering = f"{comparison.PASSAGES_MAX + 4}"

    sampled = comparison.sample(_set(comparison.PASSAGES_MAX + 5, answering))

    identifiers = {passage.passage_id for passage in sampled.passages}
    assert len(identifiers) == comparison.PASSAGES_MAX
    assert answering in identifiers


def test_models_are_timed_on_the_same_texts_in_turns() -> None:
    calls: list[tuple[str, str, bool]] = []

    def embed(name: str) -> comparison.Embed:
        return lambda text, is_query: calls.append((name, text, is_query))

    times = comparison.take_times(
        {"first": embed("first"), "second": embed("second")}, _set(9, "1"), 2
    )

    by_model = [[call[1:] for call in calls if call[0] == name] for name in ("first", "second")]
    assert by_model[0] == by_model[1]
    assert calls[0][0] == "first"
    assert calls[-1][0] == "second"
    assert times["first"].query_ratio == 1
    assert times["first"].passage_ratio == 1
