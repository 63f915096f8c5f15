"""Pairs of questions that must not share an answer, by guard, and pairs that may."""

import random
import string
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gateway.extensions.similar_questions import guards
from gateway.extensions.similar_questions.guards import GUARDS
from index.text import lexical

LANGUAGES = ("de", "en", "es", "fr", "it", "pt")


def objections(cached: str, asked: str, *languages: str) -> frozenset[str]:
    read_in = languages or LANGUAGES
    return frozenset(
        guards.objections(*(guards.features(text, read_in) for text in (cached, asked)))
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cached", "asked"),
    [
        ("What is the travel policy?", "what is the travel policy"),
        ("What is the travel policy?", "What's the travel policy, please?"),
        ("How many days of leave do I get?", "how many days of leave do we get"),
        ("Who did the Super Bowl 50 anthem?", "Who did the anthem at Super Bowl 50?"),
        ("What are the limits for 1,000 people?", "What is the limit for 1000 people?"),
        ("Why can't I complete my transfer?", "Why can't I complete the transfer?"),
        ("How far is it from Rome to Paris?", "How far is it to Paris from Rome?"),
        ("Is 5-10 µg of it safe?", "is 5-10 \u03bcg of it safe"),
        ("How long do two refunds take?", "How long do 2 refunds take?"),
        ("Qual é a política de férias?", "qual a politica de ferias"),
        ("¿Cuáles son los síntomas de la gripe?", "cuales son los sintomas de gripe"),
        ("Quels sont les symptômes de la grippe ?", "quels sont les symptomes de la grippe"),
        ("Was sind die Symptome der Grippe?", "was sind Symptome der Grippe"),
        ("Quali sono i sintomi dell'influenza?", "quali sono sintomi influenza"),
    ],
)
def test_the_same_question_in_other_small_words_passes(cached: str, asked: str) -> None:
    assert objections(cached, asked) == frozenset()


@pytest.mark.parametrize(
    ("guard", "cached", "asked"),
    [
        ("language", "Who is the author of the book?", "Quem é o autor do livro?"),
        ("question", "When was the company founded?", "Where was the company founded?"),
        ("question", "What is a budget?", "Why is a budget?"),
        ("question", "How many budgets do I have?", "How do I have budgets?"),
        ("question", "What year was the bridge built?", "Who built the bridge?"),
        ("question", "Quando foi fundada a empresa?", "Onde foi fundada a empresa?"),
        ("question", "¿Quién fundó la empresa?", "¿Cuándo fundó la empresa?"),
        ("question", "Où est la banque ?", "Qui est la banque ?"),
        ("question", "Wann schließt die Bank?", "Warum schließt die Bank?"),
        ("question", "Quanto costa la banca?", "Dove costa la banca?"),
        ("number", "What article was published in 1937?", "What article was published in 1938?"),
        ("number", "Who won Super Bowl 50?", "Who won the Super Bowl?"),
        ("number", "How do I book for two people?", "How do I book for three people?"),
        ("number", "Who was the first president?", "Who was the second president?"),
        ("number", "É possível para duas pessoas?", "É possível para três pessoas?"),
        ("number", "Is 1.5 enough?", "Is 15 enough?"),
        ("unit", "Is 5 mg of it safe?", "Is 5 kg of it safe?"),
        ("unit", "Can I pay 20 €?", "Can I pay 20 $?"),
        ("unit", "Is it back in 3 hours?", "Is it back in 3 days?"),
        ("unit", "How many hours of leave?", "How many days of leave?"),
        ("date", "Is the office open in May 2024?", "Is the office open in June 2024?"),
        ("date", "Is it open on Monday?", "Is it open on Sunday?"),
        ("date", "Abre na quarta ou amanhã?", "Abre na quarta ou hoje?"),
        ("negation", "Who can apply?", "Who can not apply?"),
        ("negation", "Which files do I need?", "Which files don't I need?"),
        ("negation", "Can I travel with a visa?", "Can I travel without a visa?"),
        ("negation", "Quem pode votar?", "Quem não pode votar?"),
        ("negation", "¿Quién puede votar?", "¿Quién no puede votar?"),
        ("negation", "Qui peut voter ?", "Qui ne peut pas voter ?"),
        ("negation", "Wer darf wählen?", "Wer darf nicht wählen?"),
        ("negation", "Chi può votare?", "Chi non può votare?"),
        ("opposite", "What happens before the merge?", "What happens after the merge?"),
        ("opposite", "How do I enable alerts?", "How do I disable alerts?"),
        ("opposite", "What is the maximum amount?", "What is the minimum amount?"),
        ("opposite", "Does salt increase pressure?", "Does salt decrease pressure?"),
        (
            "opposite",
            "Does trade with rich countries help the poor?",
            "Does trade with poor countries help the rich?",
        ),
        ("opposite", "Qual é o maior prazo?", "Qual é o menor prazo?"),
        ("opposite", "Was gilt vor dem Urlaub?", "Was gilt nach dem Urlaub?"),
        ("code", "What does config.yaml hold?", "What does config.toml hold?"),
        ("code", "What is max_staleness_ms?", "What is max_staleness?"),
        ("code", "Is v1.2b out?", "Is v1.2c out?"),
        ("code", "What does --force do?", "What does --fast do?"),
        ("code", "Is it for us?", "Is it for US?"),
        ("code", "Is a < b?", "Is a > b?"),
        ("code", "What is C used for?", "What is C# used for?"),
        ("code", "What is C++ used for?", "What is C# used for?"),
        ("way", "How do I convert USD to EUR?", "How do I convert EUR to USD?"),
        ("way", "Is it far from Rome to Paris?", "Is it far from Paris to Rome?"),
        ("order", "Ana pays Bo", "Bo pays Ana"),
        ("order", "Does Ana report to Bo?", "Does Bo report to Ana?"),
        ("order", "replace Redis by Postgres", "replace Postgres by Redis"),
        ("order", "Zahlt Ana an Bo?", "Zahlt Bo an Ana?"),
        ("way", "Is gold heavier than lead?", "Is lead heavier than gold?"),
        ("way", "É longe o voo de Roma para Paris?", "É longe o voo de Paris para Roma?"),
        ("number", "Is it 10 m² or more?", "Is it 10 m³ or more?"),
        ("number", "Is -5 degrees cold?", "Is 5 degrees cold?"),
        ("number", "Is ½ enough?", "Is ¼ enough?"),
        ("rare", "What is the capital of Burundi?", "What is the capital of Kyrgyzstan?"),
        ("rare", "What are the symptoms of dengue?", "What are the symptoms of scabies?"),
        ("word", "What are the symptoms of malaria?", "What is the treatment of malaria?"),
        ("word", "Who pays for hotels?", "Who pays?"),
        ("word", "What did he say then to them?", "What will you take from there?"),
    ],
)
def test_a_guard_objects_to_what_turns_an_answer(guard: str, cached: str, asked: str) -> None:
    assert guard in objections(cached, asked)
    assert guard in objections(asked, cached)


def test_each_guard_is_named_once() -> None:
    assert len(GUARDS) == 12


def test_may_is_a_month_only_beside_a_date() -> None:
    assert "date" not in objections("May I leave early?", "Can I leave early?")
    assert "date" in objections("Who may come in May?", "Who may come in March?")


def test_words_are_stemmed_in_a_language_that_the_index_reads() -> None:
    asked = guards.features("Quais são os prazos?", ["en"])

    assert asked.language == "pt"
    stems = {lexical.stem(word, "en") for word in ("quais", "sao", "os", "prazos")}
    assert asked.words.keys() == stems


@given(st.text(max_size=200))
def test_any_text_may_share_its_own_answer(text: str) -> None:
    asked = guards.features(text, ["en"])

    assert guards.may_share(asked, asked)
    assert not [*guards.objections(asked, asked)]


@example("M", "A0M")  # "m" weighs otherwise once an "a" makes the text Portuguese
@given(st.text(max_size=80), st.text(max_size=80))
def test_the_guards_do_not_ask_which_came_first(one: str, other: str) -> None:
    first, second = (guards.features(text, ["en", "pt"]) for text in (one, other))

    assert [*guards.objections(first, second)] == [*guards.objections(second, first)]
    assert guards.may_share(first, second) == (not [*guards.objections(first, second)])


@pytest.mark.sampled("a'")
@pytest.mark.slow
@pytest.mark.parametrize("piece", ["1,", "1.", "a.", "-", "1 ", "$ ", "_", "/a", "a'", "(", "1/"])
def test_a_text_of_any_length_is_read_in_time_linear_in_it(piece: str) -> None:
    def seconds(length: int) -> float:
        text = piece * (length // len(piece))
        started_s = time.process_time()
        guards.features(text, ["en"])
        return time.process_time() - started_s

    seconds(1_000)

    # Quadratic would be 64 times as long.
    assert seconds(80_000) < 24 * max(seconds(10_000), 0.005)


def test_random_noise_is_read() -> None:
    noise = random.Random(1)  # noqa: S311  no secret
    for _ in range(200):
        text = "".join(noise.choices(string.printable, k=100))
        guards.features(text, ["en"])
