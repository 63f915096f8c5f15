"""Every cut, by its name: nothing is lost, each chunk says where it stands, sizes are as stated."""

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.model import chunking_config
from ingest.chunkers import characters, messages, tokens, whole
from ingest.chunkers.chunk import Chunk
from ingest.chunkers.registry import chunks, rebuild_chunks
from ingest.chunkers.tokens import token_begins

NAMES = [
    "structure",
    "model",
    "whole",
    "characters",
    "characters:100/50",
    "tokens",
    "tokens:512",
    "tokens:16/8",
    "messages",
    "messages:3/1",
    "turns",
]
words = st.text("abcdé海🎉", min_size=1, max_size=30)
lines = st.lists(words, min_size=1, max_size=40).map(" ".join)
paragraphs = st.lists(lines, min_size=1, max_size=4).map(". ".join)
texts = st.lists(paragraphs, max_size=12).map("\n\n".join) | st.text(
    st.sampled_from("ab. é\t\n#>-*`<s>海🎉\u0301") | st.characters(exclude_categories=["Cs"]),
    max_size=600,
)


def check(text: str, found: list[Chunk]) -> None:
    """Chunks stand in order, each is its place's text, and only whitespace is in none."""
    end = last = 0
    for chunk in found:
        assert last <= chunk.start < chunk.end
        assert end < chunk.end
        assert not text[end : chunk.start].strip()
        assert chunk.text == text[chunk.start : chunk.end] == chunk.text.strip()
        last, end = chunk.start, chunk.end
    assert not text[end:].strip()


@pytest.mark.parametrize("name", NAMES)
@given(texts)
def test_no_text_is_lost_but_whitespace(name: str, text: str) -> None:
    found = chunks(text, name)

    check(text, found)
    assert found == chunks(text, name)
    assert found == rebuild_chunks(text, name, [(chunk.start, chunk.end) for chunk in found])


@pytest.mark.sampled("structure")
@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_time_is_linear_in_the_text(name: str) -> None:
    text = "A harbour. " * 150 + "\n\n" + "x" * 3_000 + "\n\n"

    def seconds(times: int) -> float:
        started_s = time.process_time()
        chunks(text * times, name)
        return time.process_time() - started_s

    seconds(1)
    ratio = min(seconds(160) / max(seconds(16), 0.01) for _ in range(3))
    assert ratio < 40  # square would be 100 times


@given(texts, st.integers(100, 300), st.integers(0, 50))
def test_characters_are_at_most_so_many_and_overlap_by_words(
    text: str, size: int, overlap: int
) -> None:
    found = characters.chunks(text, size, overlap)

    assert all(len(chunk.text) <= size for chunk in found)
    for one, other in pairwise(found):
        shared = text[other.start : one.end]
        assert len(shared) <= overlap
        begins_a_word = other.start == 0 or text[other.start - 1].isspace()
        assert begins_a_word or not any(map(str.isspace, shared))


def test_characters_overlap_by_all_that_was_asked_for_but_a_part_of_a_word() -> None:
    text = "Some words of five letters. " * 200

    found = characters.chunks(text, 1_000, 200)

    shared = [one.end - other.start for one, other in pairwise(found)]
    assert all(190 <= each <= 200 for each in shared)


def test_characters_end_at_the_coarsest_separator_at_hand() -> None:
    sentences = "A b c d. E f g h.\n" * 5
    text = f"{sentences}\n{sentences}\n{sentences}"

    assert [chunk.text for chunk in characters.chunks(text, 120, 0)] == [sentences.strip()] * 3


@given(texts, st.integers(16, 80), st.integers(0, 8))
def test_tokens_are_exactly_so_many_and_overlap_by_exactly_so_many(
    text: str, size: int, overlap: int
) -> None:
    begins = token_begins(text)
    step = size - overlap
    windows = [begins[at : at + size] for at in range(0, max(len(begins) - overlap, 1), step)]
    ends = [begins[at + size] if at + size < len(begins) else len(text) for at in range(10**4)]

    found = tokens.chunks(text, size, overlap)

    expected = [(window[0], ends[number * step]) for number, window in enumerate(windows) if window]
    spoken = [(start, end) for start, end in expected if text[start:end].strip()]
    assert len(found) == len(spoken)
    for chunk, (start, end) in zip(found, spoken, strict=True):
        assert chunk.text == text[start:end].strip()


def test_tokens_are_those_of_the_wheels_tokenizer() -> None:
    text = "one two three four five six seven eight " * 20  # a token each, and one for the end

    found = tokens.chunks(text, 16, 4)

    assert [chunk.text.split()[0] for chunk in found[:3]] == ["one", "five", "one"]
    assert all(len(chunk.text.split()) == 16 for chunk in found[:-1])


def test_messages_are_windows_of_so_many_and_the_last_one_of_fewer() -> None:
    spoken = [f"**Ana**: number {number}\nof many" for number in range(25)]

    found = messages.chunks("\n\n".join(spoken), 10, 0)
    overlapping = messages.chunks("\n\n".join(spoken), 10, 2)

    assert [chunk.text.count("**Ana**") for chunk in found] == [10, 10, 5]
    assert [chunk.text.count("**Ana**") for chunk in overlapping] == [10, 10, 9]
    assert overlapping[1].text.startswith("**Ana**: number 8\n")


def test_an_appended_message_leaves_the_windows_before_the_last() -> None:
    spoken = [f"**Ana**: number {number}" for number in range(25)]

    before, after = (
        messages.chunks("\n\n".join(each), 10, 0) for each in (spoken, [*spoken, "**Rui**: yes"])
    )

    assert before[:2] == after[:2]


@given(st.lists(st.integers(1, 6_000), min_size=1, max_size=12), st.integers(1, 5))
def test_a_window_of_long_messages_has_fewer_of_them(sizes: list[int], size: int) -> None:
    text = "\n\n".join("x" * each for each in sizes)

    found = messages.chunks(text, size, size // 2)

    check(text, found)
    assert all(len(chunk.text) <= messages.CHARACTERS_MAX for chunk in found)
    assert all(len(chunk.text.split("\n\n")) <= size for chunk in found)


def test_a_turn_is_a_chunk_below_the_end_of_the_turn_before_it() -> None:
    long = "**Rui**: " + "word " * 100

    first, second, third, fourth = messages.turns(
        f"**Ana**: Who, Rui?\n\n{long}and where?\n\n**Ana**: {long}\n\n**Rui**: I see."
    )

    assert (first.text, first.headings) == ("**Ana**: Who, Rui?", ())
    assert second.headings == ("**Ana**: Who, Rui?",)
    (question,), (statement,) = third.headings, fourth.headings
    assert question == "word " * 21 + "and where?"
    assert len(question) <= messages.QUESTION_CHARACTERS_MAX
    assert statement == " ".join(["word"] * 12)
    assert len(statement) <= messages.STATEMENT_CHARACTERS_MAX


@given(st.text(st.sampled_from("ab ?。"), max_size=300))
def test_the_end_of_a_turn_is_short_and_not_empty(said: str) -> None:
    *_, last = messages.turns(f"**Ana**: {said}\n\n**Rui**: Yes.")

    (before,) = last.headings
    assert 0 < len(before) <= messages.QUESTION_CHARACTERS_MAX


def test_an_appended_turn_is_one_chunk_more() -> None:
    spoken = [f"**Ana**: number {number}" for number in range(25)]

    before, after = (
        messages.turns("\n\n".join(each)) for each in (spoken, [*spoken, "**Rui**: yes"])
    )

    assert before == after[:-1]


def test_a_replaced_turn_is_in_no_chunk_and_above_none() -> None:
    found = messages.turns("**Ana**: Hi.\n\n~~**Ana**: I live in Porto.~~\n\n**Rui**: I see.")

    assert [(chunk.text, chunk.headings) for chunk in found] == [
        ("**Ana**: Hi.", ()),
        ("**Rui**: I see.", ()),
    ]
    assert len(messages.turns("~~~\na fence\n~~~")) == 1


def test_whole_is_one_chunk_unless_no_embedder_could_read_it() -> None:
    assert [chunk.text for chunk in whole.chunks("# Q\n\nA.\n\nB.\n")] == ["# Q\n\nA.\n\nB."]
    assert whole.chunks(" \n") == []
    assert len(whole.chunks("A sentence. " * 1_000)) > 1


@pytest.mark.parametrize(
    ("name", "parsed"),
    [
        ("structure", chunking_config.ChunkingConfig("structure")),
        ("characters", chunking_config.ChunkingConfig("characters", 1_000, 200)),
        ("characters:800", chunking_config.ChunkingConfig("characters", 800, 0)),
        ("tokens", chunking_config.ChunkingConfig("tokens", 500, 50)),
        ("tokens:512/0", chunking_config.ChunkingConfig("tokens", 512, 0)),
        ("messages", chunking_config.ChunkingConfig("messages", 10, 0)),
        ("turns", chunking_config.ChunkingConfig("turns")),
        ("whole", chunking_config.ChunkingConfig("whole")),
        ("model", chunking_config.ChunkingConfig("model")),
    ],
)
def test_a_name_says_how_to_cut(name: str, parsed: chunking_config.ChunkingConfig) -> None:
    assert chunking_config.parse(name) == parsed


@pytest.mark.parametrize(
    "name",
    [
        "",
        "sentences",
        "Tokens",
        "tokens:",
        "tokens:8",
        "tokens:9000",
        "tokens:100/51",
        "tokens:-1",
        "characters:1e3",
        "whole:3",
        "model:200",
        "tokens:\u0665\u0660\u0660",  # digits, but not ours
    ],
)
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match=r"must be|must have|has no size"):
        chunking_config.parse(name)
