"""What a language model is shown, and which of its marks are citations."""

import re
from itertools import pairwise

import orjson
from hypothesis import given
from hypothesis import strategies as st

from gateway.extensions._chat import prompt_quoting
from gateway.extensions._passages.passage import Passage
from gateway.extensions.answers import answer_generator
from gateway.extensions.answers.citations import CitationParser

PASSAGES = [Passage(100 + n, f"document {n}", f"Title {n}", f"Text {n}.", "en") for n in range(12)]

texts = st.lists(
    st.sampled_from(["[1]", "[2]", "[12]", "[0]", "[13]", "[1", "2", "]", "[", "[1234]", " word "])
).map("".join)


@given(texts, st.sets(st.integers(0, 40)))
def test_marks_of_passages_are_cited_once_each_however_the_text_comes(
    text: str, cuts: set[int]
) -> None:
    places = [0, *sorted(place for place in cuts if place < len(text)), len(text)]
    citations = CitationParser(PASSAGES)

    told = [each for start, end in pairwise(places) for each in citations.feed(text[start:end])]

    assert citations.text == text
    assert citations.citations == told
    assert [each["mark"] for each in told] == re.findall(r"\[(?:[1-9]|1[0-2])\]", text)
    for each in told:
        assert text[each["start"] : each["end"]] == each["mark"]
        number = int(each["mark"].strip("[]"))
        assert each["document_id"] == f"document {number - 1}"
        assert each["chunk_id"] == 99 + number


def test_documents_are_numbered_as_they_are_cited_and_have_their_titles() -> None:
    shown = answer_generator.context_passages("Why?", [], PASSAGES[:2], "0123")

    assert shown == (
        '<<<DOCUMENT 0123 {"number":1,"title":"Title 0"}\nText 0.\nDOCUMENT 0123>>>\n\n'
        '<<<DOCUMENT 0123 {"number":2,"title":"Title 1"}\nText 1.\nDOCUMENT 0123>>>\n\n'
        "<<<QUESTION 0123\nWhy?\nQUESTION 0123>>>"
    )


def test_no_two_marks_are_alike() -> None:
    assert len({prompt_quoting.make_mark() for _ in range(1_000)}) == 1_000


@given(st.text(), st.text())
def test_what_is_said_of_a_text_ends_with_its_first_line(title: str, text: str) -> None:
    quoted = prompt_quoting.quote("DOCUMENT", text, "0123456789abcdef", title=title)

    first, _, rest = quoted.partition("\n")
    assert orjson.loads(first.removeprefix("<<<DOCUMENT 0123456789abcdef ")) == {"title": title}
    assert rest == f"{text}\nDOCUMENT 0123456789abcdef>>>"
