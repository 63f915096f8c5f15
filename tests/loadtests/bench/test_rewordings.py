"""Questions changed by rule: each trap is another question, and equal seeds make equal pairs."""

from random import Random

from loadtests.bench_semantic import rewordings

QUESTIONS = (
    "What article was published in 1937?",
    "Who won Super Bowl 50 in the city of Denver?",
    "What is the largest lake in Central Victoria?",
)


def made(seed: int) -> dict[str, list[tuple[str, str]]]:
    return rewordings.made(QUESTIONS, "en", {}, Random(seed))  # noqa: S311  no secret


def test_each_trap_changes_one_thing() -> None:
    pairs_by_family = made(3)

    assert ("What article was published in 1937?", "What article was not published in 1937?") in (
        pairs_by_family["negation"]
    )
    assert pairs_by_family["opposite"] == [
        (QUESTIONS[2], "What is the smallest lake in Central Victoria?")
    ]
    assert {cached for cached, _ in pairs_by_family["number"]} <= set(QUESTIONS[:2])
    for cached, asked in pairs_by_family["entity"]:
        assert cached != asked
        assert len(cached.split()) - len(asked.split()) in range(-2, 3)


def test_a_question_of_which_a_thing_is_known_is_asked_of_another() -> None:
    things = {"what is gout ?": "gout", "what is scabies ?": "scabies"}

    pairs_by_family = rewordings.made(list(things), "en", things, Random(1))  # noqa: S311  no secret

    assert set(pairs_by_family["entity"]) <= {
        ("what is gout ?", "what is scabies ?"),
        ("what is scabies ?", "what is gout ?"),
    }


def test_equal_seeds_make_equal_pairs() -> None:
    assert made(5) == made(5)
