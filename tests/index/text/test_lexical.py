import math
import time
import unicodedata
from collections import Counter
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from itertools import chain

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from index.text import dates, lexical, tokens
from index.text.lexical import CHUNK_TERMS_MAX, DIMENSION, QUERY_TERMS_MAX
from index.text.word_lists import analysed_languages
from index.text.word_lists.analysed_languages import LANGUAGES
from index.text.word_lists.stemming import UNDETERMINED

TEXTS = st.text(st.sampled_from("aàáâãäbcçdeéêëiíîlmnñoóôõöprstuúüvwxyzß019 .-_@"))
PIECES = st.sampled_from(
    [
        "the",
        "lighthouse",
        "keeper.",
        "(Lighthouse),",
        "e-mail",
        "snake_case",
        "C++",
        "C#",
        "---",
        "1,000.50",
        "v2.3.1",
        "…",
        "Łódź",
        "é",
        "x™y",
        "9\xa01",
        "http://a.pt/b?d=1",
        "a/b/c",
        "+351",
        "912",
        "345",
        "678",
        "99999-0000",
        "東京都",
        "ไทย",
        "हिन्दी",
    ]
)
WRITTEN = st.lists(
    st.tuples(PIECES | st.text(max_size=4), st.sampled_from(["", " ", "\n", "\u2003", "\x1c"]))
).map(lambda pairs: "".join(chain.from_iterable(pairs)))
IDENTIFIERS = ["ERR_1042", "snake_case", "v2.3.1", "ana@exemplo.pt", "covid-19", "config.yaml"]


@pytest.fixture(scope="module", autouse=True)
def _word_lists() -> None:
    """Loaded ahead: Hypothesis allows an example 200 ms."""
    analysed_languages.load(LANGUAGES)


def score(query: str, chunk: str, language: str, also: Collection[str] = ()) -> float:
    held = lexical.chunk(chunk, language)
    asked = lexical.query(query, {language, *also}).weights
    return sum(weight * held[index] for index, weight in asked.items() if index in held)


def test_a_chunk_holds_saturated_frequencies() -> None:
    vector = lexical.chunk("lighthouse keeper of the lighthouse", "en")

    norm = 0.8 * (1 - 0.75 + 0.75 * 5 / 200)
    assert sorted(vector.values()) == pytest.approx([1.8 / (1 + norm), 2 * 1.8 / (2 + norm)])


def test_a_query_weighs_a_word_by_the_inverse_chance_that_a_text_holds_it() -> None:
    asked = lexical.query("xqzwv lighthouse", ["en"])
    unheard_of, listed = sorted(asked.weights, key=lambda term: asked.chances[term])

    assert asked.chances[unheard_of] == pytest.approx(1 - (1 - 1e-7) ** 150)
    assert asked.weights[unheard_of] / asked.weights[listed] == pytest.approx(
        math.log(asked.chances[unheard_of]) / math.log(asked.chances[listed])
    )


def test_a_chunk_that_says_nothing_but_the_query_over_and_over_scores_1() -> None:
    asked = "the lighthouse keeper"

    once, often = (score(asked, f"{asked} " * times, "en") for times in (1, 10_000))

    assert 0.5 < once < often < 1


@given(TEXTS, TEXTS, st.sampled_from(sorted(LANGUAGES)))
def test_no_score_is_below_0_or_above_1(query: str, chunk: str, language: str) -> None:
    assert 0 <= score(query, chunk, language) <= 1


def test_a_rare_word_weighs_more_than_a_common_one() -> None:
    asked = "the house by the lighthouse"

    assert score(asked, "the lighthouse", "en") > score(asked, "the house", "en") > 0


@pytest.mark.parametrize(
    ("words", "language"),
    [("the of and to", "en"), ("de a o que e", "pt"), ("der die und", "de"), ("the de la", "und")],
)
def test_words_that_nearly_every_text_holds_score_nothing(words: str, language: str) -> None:
    assert lexical.chunk(words, language) == lexical.query(words, [language]).weights == {}


@pytest.mark.parametrize(
    ("one", "other", "language"),
    [
        ("searching", "searched", "en"),
        ("educação", "educações", "pt"),
        ("canciones", "canción", "es"),
        ("Häuser", "Häusern", "de"),
        ("nationales", "nationale", "fr"),
        ("ragazzi", "ragazzo", "it"),
    ],
)
def test_inflections_of_a_word_meet(one: str, other: str, language: str) -> None:
    assert score(one, other, language) > 0


def test_an_undetermined_language_knows_no_inflections() -> None:
    assert score("searching", "searching", "und") > 0
    assert score("searching", "searched", "und") == 0


@given(st.lists(WRITTEN, max_size=4), st.sampled_from(sorted(LANGUAGES)))
@example(["+351 912", "345 678", "the lighthouse"], "en")
def test_chunks_of_one_text_do_not_change_one_another(texts: list[str], language: str) -> None:
    weights, pieces = lexical.chunks(texts, language, "A title")

    assert weights == [lexical.chunk(text, language, "A title") for text in texts]
    assert pieces == {"A", "title", *(piece for text in texts for piece in text.split())}


@given(st.lists(TEXTS, min_size=2, max_size=4), st.sampled_from(sorted(LANGUAGES)))
def test_a_title_counts_the_same_in_each_chunk_and_its_words_in_the_text_count_more(
    texts: list[str], language: str
) -> None:
    title = "xqzwv lighthouse"
    asked = lexical.query(title, [language]).weights.keys()

    without, _ = lexical.chunks(texts, language, title)
    within, _ = lexical.chunks([f"{text} {title}" for text in texts], language, title)

    assert len({*(tuple(chunk[term] for term in asked) for chunk in without)}) == 1
    for one, other in zip(without, within, strict=True):
        assert all(one[term] < other[term] for term in asked)


@given(TEXTS, st.sampled_from(sorted(LANGUAGES)))
def test_accents_never_matter(text: str, language: str) -> None:
    letters = unicodedata.normalize("NFD", text)
    plain = "".join(letter for letter in letters if not unicodedata.combining(letter))

    assert lexical.chunk(plain, language) == lexical.chunk(text, language)
    assert lexical.chunk(letters, language) == lexical.chunk(text, language)


@given(TEXTS, st.sampled_from(sorted(LANGUAGES)))
def test_case_never_matters(text: str, language: str) -> None:
    assert lexical.chunk(text.upper(), language) == lexical.chunk(text, language)


@pytest.mark.parametrize("identifier", IDENTIFIERS)
def test_an_identifier_is_found_whole_before_it_is_found_in_parts(identifier: str) -> None:
    parted = identifier.translate(str.maketrans("_.@-", "    "))

    whole = score(identifier, f"see {identifier}", "en")
    in_parts = score(identifier, f"see {parted}", "en")
    assert whole > in_parts > 0
    assert score(parted, f"see {identifier}", "en") > 0


@pytest.mark.parametrize(
    ("part", "whole"),
    [
        ("user name", "getUserName"),
        ("http server", "HTTPServer"),
        ("1042", "ERR1042"),
        ("kg", "10kg"),
        ("oxygen 2", "oxygen2"),
        ("2024", "2024-05-01"),
        ("example.com", "https://example.com/a/b?x=1"),
        ("c", "C++"),
        ("exemplo", "ana@exemplo.pt"),
        ("東", "東京都"),
    ],
)
def test_a_part_finds_the_whole_which_prefers_itself(part: str, whole: str) -> None:
    assert score(part, f"see {whole}", "en") > 0
    assert score(whole, f"see {whole}", "en") > score(whole, f"see {part} {part}", "en")


@pytest.mark.parametrize(
    ("one", "other", "language"),
    [
        ("snake_case", "snakeCase", "en"),
        ("AB-1234", "AB1234", "en"),
        ("v2.3.1", "2.3.1", "en"),
        ("e-mail", "email", "en"),
        ("1,000.50", "1000.50", "en"),
        ("1'000.50", "1000.50", "en"),
        ("1.000,50", "1000.50", "pt"),
        ("1.000", "1000", "de"),
        ("straße", "STRASSE", "de"),
        ("Łódź", "lodz", "und"),
        ("smørbrød", "smorbrod", "und"),
        ("l\u2019eau", "l'eau", "fr"),
        ("\ufb01le", "file", "en"),
        ("\uff11\uff12\uff13", "123", "en"),
        ("co\u00adoperate", "cooperate", "en"),
    ],
)
def test_spellings_of_one_thing_meet(one: str, other: str, language: str) -> None:
    held, asked = lexical.chunk(one, language), lexical.query(other, [language]).weights

    rarest = max(asked, key=asked.__getitem__)
    assert rarest in held


def test_a_date_is_no_number() -> None:
    assert score("01.05.2024", "10.52024", "en") == 0


def test_the_signs_of_a_programming_language_part_it_from_others() -> None:
    assert score("C++", "learn C++", "en") > score("C++", "learn C#", "en") > 0
    assert score("C#", "learn C#", "en") > score("C#", "learn C++", "en") > 0


def test_a_phone_number_is_found_however_it_is_grouped() -> None:
    assert score("+351 912 345 678", "call +351912345678", "pt") > 0
    assert score("912345678", "call (+351) 912-345-678", "pt") > 0
    assert score("912345678", "call (+351) 912-345-679", "pt") == 0


def test_an_address_is_found_without_its_scheme_and_before_its_words() -> None:
    linked = "as [the guide](https://example.com/a/b) says"

    assert score("example.com/a/b", linked, "en") > score("example.com/b/a", linked, "en") > 0


@pytest.mark.parametrize(
    ("asked", "held"), [("東京", "東京都に住む"), ("한국", "한국어를"), ("ไทย", "ประเทศไทย")]
)
def test_scripts_without_spaces_are_found_by_pairs_of_characters(asked: str, held: str) -> None:
    assert score(asked, held, "und") > score(asked, f"{asked[1:]} {asked[0]}", "und") > 0


def test_the_marks_of_indic_letters_are_no_accents() -> None:
    assert score("हिन्दी", "हिन्दी", "und") > 0
    assert score("कल", "काल", "und") == 0


def test_a_number_weighs_what_its_length_says() -> None:
    short, long = sorted(lexical.query("17 58213", ["en"]).weights.values())

    assert short < 0.5 * long


def test_the_case_of_an_identifier_parts_it_and_no_more() -> None:
    assert score("httpserver", "HTTPServer", "en") > 0


def test_a_hyphen_between_words_only_parts_them() -> None:
    assert lexical.query("long-lived", ["en"]) == lexical.query("long lived", ["en"])


def test_a_chunk_meets_only_the_terms_of_its_own_language() -> None:
    chunk = "Notas sobre o die, peça que se usa em moldes."  # "die" is German's "the"

    assert score("die", chunk, "pt", also=["de"]) == score("die", chunk, "pt") > 0
    assert lexical.query("die", ["de"]).weights == {}


@given(TEXTS, st.sets(st.sampled_from(sorted(LANGUAGES))))
def test_a_query_in_several_languages_is_its_queries_in_each(
    text: str, languages: set[str]
) -> None:
    together = lexical.query(text, languages).weights

    alone = [lexical.query(text, [language]).weights for language in languages]
    assert together == {index: weight for one in alone for index, weight in one.items()}
    assert len(together) == sum(map(len, alone))


def test_the_terms_of_equal_sets_of_languages_come_in_one_order() -> None:
    """Their order is in the record of what an answer depends on."""
    text, languages = "long cathedral museum", sorted(LANGUAGES)

    expected = [term for each in languages for term in lexical.query(text, [each]).weights]
    assert [*lexical.query(text, frozenset(languages)).weights] == expected


@given(st.text(), st.sampled_from(sorted(LANGUAGES)))
def test_any_text_gives_vectors_that_can_be_stored(text: str, language: str) -> None:
    held, asked = lexical.chunk(text, language), lexical.query(text, [language])

    assert held.keys() == asked.weights.keys() == asked.chances.keys()
    assert all(0 <= index < DIMENSION for index in held)
    assert all(0 < frequency < 1.8 for frequency in held.values())
    assert all(1e-5 < chance <= 0.9 for chance in asked.chances.values())
    assert all(1e-4 < weight < 1 for weight in asked.weights.values())
    assert not asked.weights or sum(asked.weights.values()) == pytest.approx(1 / 1.8)


@given(WRITTEN, st.sampled_from(sorted(LANGUAGES)))
@example("v2.3.1912", "de")
@example("99999-0000\n99999-0000 1,000.50", "de")  # two numbers, or three, by what stands beside
def test_a_chunk_that_is_read_piece_by_piece_is_as_one_read_at_once(
    text: str, language: str
) -> None:
    assume(not dates.named(text))  # a chunk names the month of a date too, a question does not
    once = lexical.query(text, [language]).weights
    words = tokens.read(text).words
    plain = [word for word in words if not tokens.read(word).spans]
    terms = [lexical.query(word, [language]).weights for word in plain]
    counts = Counter(chain.from_iterable(terms))
    norm = 0.8 * (1 - 0.75 + 0.75 * len(words) / 200)

    held = lexical.chunk(text, language)

    assert len(once) == QUERY_TERMS_MAX or held.keys() == once.keys()
    times = {index: frequency * norm / (1.8 - frequency) for index, frequency in held.items()}
    assert times == pytest.approx({index: round(count) for index, count in times.items()})
    assert all(times[index] > count - 0.5 for index, count in counts.items() if index in times)


def test_a_phone_number_is_found_in_a_chunk_where_it_stands_in_pieces() -> None:
    assert score("912345678", "Call +351 912 345 678 now.", "en") > 0


def test_a_slip_and_what_it_is_taken_for_weigh_as_much_as_the_word_that_was_meant() -> None:
    meant = lexical.query("pay the invoice", ["en"]).weights

    slipped = lexical.query("pay the invocie", ["en"], {"invocie": ("invoice",)})

    (typed,) = lexical.query("invocie", ["en"]).weights
    (invoice,) = lexical.query("invoice", ["en"]).weights
    assert slipped.weights == pytest.approx({**meant, typed: meant[invoice]})
    assert slipped.chances.keys() == slipped.weights.keys()


def test_a_slip_that_may_be_of_several_words_weighs_as_the_rarest_of_them() -> None:
    taken_for = {"hose": ("house", "hoses", "lighthouse")}
    rare = lexical.query("the lighthouse by the sea", ["en"]).weights

    several = lexical.query("the hose by the sea", ["en"], taken_for).weights

    (sea,) = lexical.query("sea", ["en"]).weights
    (lighthouse,) = lexical.query("lighthouse", ["en"]).weights
    assert several[sea] == pytest.approx(rare[sea])
    assert several[lighthouse] == pytest.approx(rare[lighthouse])
    assert max(several.values()) == several[lighthouse]


def test_a_word_taken_for_one_that_nearly_every_text_holds_stays_as_it_is() -> None:
    assert lexical.query("teh", ["en"], {"teh": ("the",)}) == lexical.query("teh", ["en"])


def test_a_word_is_as_common_as_in_the_commoner_of_its_language_and_the_chunks() -> None:
    text = "Qual é o prazo de validade do sensor?"

    alone = lexical.query(text, ["en"]).chances
    asked = lexical.query(text, ["en"], asked_in="pt-BR").chances

    validade, sensor = (
        next(iter(lexical.query(word, ["en"]).weights)) for word in ("validade", "sensor")
    )
    (in_portuguese,) = lexical.query("validade", ["pt"]).chances.values()
    assert asked[validade] == in_portuguese > alone[validade]
    assert asked[sensor] == alone[sensor]
    assert all(chance >= alone[term] for term, chance in asked.items())


def test_a_word_that_nearly_every_text_of_the_querys_language_holds_is_no_term() -> None:
    assert lexical.query("de que", ["en"]).weights
    assert lexical.query("de que", ["en"], asked_in="pt").weights == {}


@pytest.mark.parametrize(
    ("language", "asked_in"), [("pt", "pt-BR"), ("en", None), ("en", "fi"), ("und", "pt")]
)
def test_words_weigh_as_in_the_chunks_language_if_it_is_that_of_the_query_or_one_is_unknown(
    language: str, asked_in: str | None
) -> None:
    text = "Qual é o prazo de validade do sensor?"

    assert lexical.query(text, [language], asked_in=asked_in) == lexical.query(text, [language])


def test_a_correction_is_as_common_as_in_the_querys_language() -> None:
    taken_for = {"prezo": ("prazo",)}
    prazo, prezo = (next(iter(lexical.query(word, ["en"]).weights)) for word in ("prazo", "prezo"))

    asked = lexical.query("prezo sensor", ["en"], taken_for, asked_in="pt")

    meant = lexical.query("prazo sensor", ["en"], asked_in="pt")
    assert asked.weights == pytest.approx({**meant.weights, prezo: meant.weights[prazo]})
    assert asked.chances[prazo] == meant.chances[prazo]


def test_of_too_many_words_a_query_keeps_the_rarest() -> None:
    rare = " ".join(f"xq{number}" for number in range(QUERY_TERMS_MAX))

    assert lexical.query(f"lighthouse {rare} keeper", ["en"]) == lexical.query(rare, ["en"])


@pytest.mark.thorough
@pytest.mark.slow
def test_of_too_many_words_a_chunk_keeps_the_most_frequent() -> None:
    text = " ".join(f"xq{number}" for number in range(CHUNK_TERMS_MAX)) + " lighthouse" * 2

    vector = lexical.chunk(text, "en")

    assert len(vector) == CHUNK_TERMS_MAX
    assert vector.keys() >= lexical.query("lighthouse", ["en"]).weights.keys()


def test_of_a_blob_only_the_beginning_is_a_word() -> None:
    blob = "deadbeef" * 1000

    assert lexical.query(blob, ["en"]) == lexical.query(blob + "0", ["en"])


def test_equal_words_have_equal_indexes_in_every_process() -> None:
    assert lexical.chunk("farol", "pt").keys() == {213_896_885}
    assert lexical.chunk("farol", "und").keys() == {212_906_940}


@pytest.mark.parametrize("code", ["pt", "pt-BR", "pt_PT", "PT-br"])
def test_a_regional_code_is_its_language(code: str) -> None:
    assert analysed_languages.base_language(code) == "pt"
    assert lexical.chunk("um farol", code) == lexical.chunk("um farol", "pt")


@pytest.mark.parametrize("code", ["fi", "xx", "", "english", "-pt"])
def test_a_language_without_analyser_is_analysed_as_undetermined(code: str) -> None:
    assert analysed_languages.base_language(code) == UNDETERMINED


def test_threads_that_need_a_language_at_once_load_its_list_once() -> None:
    analysed_languages.LOADED.pop("it")  # as at the start of a process

    with ThreadPoolExecutor(8) as pool:
        lists = list(pool.map(analysed_languages.word_list, ["it"] * 8))

    assert len({id(each) for each in lists}) == 1


def test_a_stored_list_is_loaded_before_a_text_needs_it() -> None:
    analysed_languages.load({"it"})
    analysed_languages.LOADED.pop("it")  # as at the start of a process
    assert not lexical.are_loaded({"it-CH"})

    assert analysed_languages.load_stored()

    assert lexical.are_loaded({"it-CH", "und", "fi"})


def test_a_word_of_thousands_of_marks_is_read_in_linear_time() -> None:
    """U+0F73 decomposes into two marks, and normalising takes time square in those in a row."""
    started_s = time.thread_time()

    words = lexical.words("leave x" + "\u0f73" * 60_000)

    assert time.thread_time() - started_s < 2  # 0.1 s; it took half a minute
    assert words[0] == "leave"
