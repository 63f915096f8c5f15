import re
import time
import unicodedata
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from index.model import document, document_limits, form, identifiers
from index.model.document import Document, normalise
from index.model.form import CONTROLS, INVISIBLE, SURROGATES
from index.model.identifiers import ReaderToken

DOCUMENT = TypeAdapter(Document)
READER: TypeAdapter[str] = TypeAdapter(ReaderToken)
FIELDS: dict[str, Any] = {
    "document_id": "handbook/leave.md",
    "title": "Leave",
    "text": "Ask first.",
    "source": "handbook",
    "uri": "leave.md",
    "language": "en",
    "tags": (),
    "metadata": {},
    "owner": None,
    "readers": (),
}
ids = st.from_regex(rf"[^\s{CONTROLS}{INVISIBLE}{SURROGATES}]{{1,128}}", fullmatch=True)


@pytest.mark.parametrize(
    "document_id",
    [
        ".", "..", "../x", "a/../b", "a/./b", "a/..", "a//b", "/a", "//a",
        "file:///a", "https:////a", "1a://c", " a", "a ", "a\u00a0", "a\u202eb", "\ufeffa",
        "e\u0301", "a\nb", "a/access/explain",
    ],
)  # fmt: skip
def test_an_identifier_that_no_client_can_send_in_a_path_is_refused(document_id: str) -> None:
    with pytest.raises(ValidationError):
        DOCUMENT.validate_python(FIELDS | {"document_id": document_id})


@pytest.mark.parametrize(
    "document_id",
    [
        "a/",
        "https://wiki.example/leave?a=b",
        "m/https://wiki.example/",
        "...",
        "a/.b",
        "a b?#%",
        "%2e%2e/z",
        "\u00e9",
        "\U0001f469\u200d\U0001f4bb",
    ],
)
def test_an_identifier_that_a_client_has_to_quote_is_taken(document_id: str) -> None:
    document = DOCUMENT.validate_python(FIELDS | {"document_id": document_id})

    assert document.document_id == document_id


def is_reader(token: str) -> bool:
    try:
        READER.validate_python(token)
    except ValidationError:
        return False
    return True


@pytest.mark.parametrize("token", ["tenant", "public", "user:ana", "group:hr/leads", "user:a:b"])
def test_the_four_forms_are_readers(token: str) -> None:
    assert is_reader(token)


@pytest.mark.parametrize(
    "token",
    ["", "user", "user:", "role:hr", "Tenant", "public ", "user:a b", "user:a\n", "group:\x07"],
)
def test_nothing_else_is_a_reader(token: str) -> None:
    assert not is_reader(token)


@given(ids)
def test_any_id_of_up_to_128_characters_can_read(subject: str) -> None:
    assert is_reader(f"user:{subject}")
    assert not is_reader(f"user:{subject:x<129}")


@given(st.text(st.characters() | st.sampled_from("\r\n\0")))
def test_a_normalised_text_is_storable_and_stays_as_it_is(text: str) -> None:
    normalised = normalise(text)

    assert unicodedata.is_normalized("NFC", normalised)
    assert not {"\r", "\0"} & set(normalised)
    assert normalised.encode().decode() == normalised
    assert normalise(normalised) == normalised


@given(st.text(st.characters(max_codepoint=127) | st.sampled_from("\r\n\0")))
def test_ascii_is_normalised_as_any_other_text(text: str) -> None:
    assert normalise(f"{text}\n") == normalise(f"{text}\né").removesuffix("é")


def test_line_ends_of_any_system_become_newlines() -> None:
    assert normalise("a\r\nb\rc\n\r") == "a\nb\nc\n\n"


def test_a_byte_order_mark_is_no_part_of_a_text() -> None:
    assert normalise("\ufeff# Leave\ufeff") == "# Leave\ufeff"


@pytest.mark.parametrize("marks", ["\u0301", "\u0323\u0301", "\u0344", "\u0f73", "\u0f71\u0f74"])
def test_many_marks_in_a_row_are_normalised_in_linear_time(marks: str) -> None:
    started_s = time.thread_time()

    normalised = normalise("a" + marks * (200_000 // len(marks)))

    assert time.thread_time() - started_s < 1  # 0.02 s; U+0F73 took two minutes
    assert normalise(normalised) == normalised
    assert max(map(len, normalised.split("\u034f"))) <= 31


# Letters and what composes with them: of Hangul, Bengali, Tibetan, Latin and Kannada.
PIECES = ["a\u0323\u0301", "e", "\u0301", "\u1100\u1161\u11a8", "\u1161", "\u09c7\u09be", "\u0f73"]
MARKS = "\u0301\u0323\u1161\u11a8\u09be\u0f71\u0f72\u0cc2\u0cd5"
PIECES += ["\r\n", "\r", "\n", "\ufeff", "\0", "\u0cc6\u0cc2\u0cd5", "\U0001f600", "\u2126"]


@given(st.lists(st.sampled_from(PIECES), max_size=60).map("".join))
def test_a_text_in_parts_is_normalised_as_in_one(text: str) -> None:
    assume(not re.search(f"[{MARKS}]{{31}}", unicodedata.normalize("NFD", text)))
    whole = normalise(text)

    with pytest.MonkeyPatch.context() as patch:
        for module in (form, document):
            patch.setattr(module, "PART_CHARACTERS_MAX", 33)

        assert normalise(text) == whole


@pytest.mark.parametrize("marks", [30, 31, 60, 61, 62])
def test_a_joiner_comes_after_every_thirty_marks_in_a_row(marks: int) -> None:
    normalised = normalise("\u2026" * 40 + "q" + "\u0301" * marks + "\u2026" * 40)

    joined = "\u034f".join("\u0301" * min(30, marks - at) for at in range(0, marks, 30))
    assert normalised == "\u2026" * 40 + "q" + joined + "\u2026" * 40


def test_the_text_of_a_document_is_normalised() -> None:
    made = DOCUMENT.validate_python(FIELDS | {"text": "cafe\u0301\r\n"})

    assert made.text == "café\n"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("document_id", "x" * (document.DOCUMENT_ID_CHARACTERS_MAX + 1)),
        ("document_id", "a\nb"),
        ("document_id", "\udcff"),
        ("title", "two\nlines"),
        ("title", 2024),
        ("text", "x" * (document_limits.TEXT_CHARACTERS_MAX + 1)),
        ("source", ""),
        ("uri", "x" * (document_limits.URI_CHARACTERS_MAX + 1)),
        ("language", "English"),
        ("tags", "hr"),
        ("tags", ["x"] * (document.TAGS_MAX + 1)),
        ("tags", [""]),
        ("metadata", {"seen": {"deep": 1}}),
        ("metadata", {"seen": [[1]]}),
        ("metadata", {"seen": float("nan")}),
        ("metadata", {"seen": 2**53}),
        ("metadata", {"seen": "\0"}),
        ("metadata", {"seen": ["x"] * (document.METADATA_ITEMS_MAX + 1)}),
        ("metadata", {str(key): 0 for key in range(document.METADATA_KEYS_MAX + 1)}),
        ("metadata", {1: "x"}),
        ("owner", "ana maria"),
        ("readers", None),
        ("readers", ["everyone"]),
        ("readers", ["tenant"] * (identifiers.READERS_MAX + 1)),
    ],
)
def test_a_value_beyond_its_limits_is_refused_by_the_name_of_its_field(
    field: str, value: object
) -> None:
    with pytest.raises(ValidationError) as refused:
        DOCUMENT.validate_python(FIELDS | {field: value})

    assert {error["loc"][0] for error in refused.value.errors()} == {field}


def test_metadata_keeps_the_types_of_json() -> None:
    metadata = {"draft": True, "year": 2024, "share": 0.5, "note": None, "names": ["a", 1, False]}

    made = DOCUMENT.validate_python(FIELDS | {"metadata": metadata})

    assert repr(made.metadata) == repr(metadata)


def test_metadata_title_and_tags_are_in_one_form_of_unicode() -> None:
    document = DOCUMENT.validate_python(
        FIELDS
        | {
            "title": "Cafe\u0301",
            "tags": ["cafe\u0301"],
            "metadata": {"cafe\u0301": ["cafe\u0301", "2025-02-03 12:45:46.50Z"]},
        }
    )

    assert document.title == "Caf\u00e9"
    assert document.tags == ("caf\u00e9",)
    assert document.metadata == {"caf\u00e9": ["caf\u00e9", "2025-02-03T12:45:46.5+00:00"]}
