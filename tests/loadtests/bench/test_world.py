from random import Random

from loadtests.workload import topics


def test_equal_seeds_make_equal_worlds() -> None:
    assert topics.build(5, 20, 1) == topics.build(5, 20, 1)
    assert topics.build(5, 20, 1) != topics.build(5, 20, 2)


def test_all_questions_differ_and_each_is_about_one_document() -> None:
    generated = topics.build(5, 50, 1)

    assert len(set(generated.questions)) == 50
    for question, number in zip(generated.questions, generated.about, strict=True):
        assert set(question.split()) <= set(generated.topics[number])


def test_an_edit_replaces_one_sentence() -> None:
    generated = topics.build(1, 1, 1)
    text = generated.documents[0]["text"]

    random = Random(1)  # noqa: S311  no secret
    edited = topics.edited(text, generated.topics[0], random)

    before, after = text.split(". "), edited.split(". ")
    assert len(before) == len(after)
    assert (
        sum(old.strip(".") != new.strip(".") for old, new in zip(before, after, strict=True)) == 1
    )
