import re
import sys
import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from index.model import form
from index.model.identifiers import (
    IDENTIFIER_CHARACTERS_MAX,
    GroupId,
    Readers,
    SubjectId,
    in_normal_form,
)

SUBJECT: TypeAdapter[str] = TypeAdapter(SubjectId)
GROUP: TypeAdapter[str] = TypeAdapter(GroupId)
READERS: TypeAdapter[tuple[str, ...]] = TypeAdapter(Readers)

ANY_TEXT = st.text(max_size=12)


@pytest.mark.parametrize(
    ("written", "normal"),
    [
        ("Ana@Acme.example", "ana@acme.example"),
        ("JOSE\u0301", "josé"),
        ("Straße", "strasse"),
        ("ΣΊΣΥΦΟΣ", "σίσυφοσ"),
        ("σίσυφος", "σίσυφοσ"),
        ("\u212b", "å"),  # the sign of angstrom
        ("a\ufe0fna\u200d\u200c", "ana"),  # nobody sees these
    ],
)
def test_spellings_of_one_name_are_one_identifier(written: str, normal: str) -> None:
    assert SUBJECT.validate_python(written) == normal
    assert GROUP.validate_python(written) == normal
    readers = READERS.validate_python((f"user:{written}", f"group:{written}", "tenant"))
    assert readers == (f"user:{normal}", f"group:{normal}", "tenant")


def test_two_spellings_of_one_reader_are_one_reader() -> None:
    readers = READERS.validate_python(("user:Ben", "tenant", "user:ben"))

    assert readers == ("user:ben", "tenant")


def test_a_deployment_that_keeps_the_case_has_one_spelling_of_accents() -> None:
    assert in_normal_form("Jose\u0301", "keep") == "José"
    assert in_normal_form("Ana", "keep") == "Ana"


@given(ANY_TEXT)
def test_the_normal_form_is_its_own_and_that_of_every_other_case(text: str) -> None:
    normal = in_normal_form(text, "fold")

    assert in_normal_form(normal, "fold") == normal
    for same in (text.casefold(), *(unicodedata.normalize(to, text) for to in ("NFC", "NFD"))):
        assert in_normal_form(same, "fold") == normal


@pytest.mark.parametrize("marks", ["\u0323\u0301", "\u0301\u0323", "\u0f73", "\u0345\u0323"])
def test_names_of_many_marks_are_read_in_linear_time(marks: str) -> None:
    names = ["a" + marks * (2_000 // len(marks))] * 256
    started_s = time.thread_time()

    with pytest.raises(ValidationError):
        READERS.validate_python(tuple(f"user:{name}" for name in names))

    assert time.thread_time() - started_s < 0.7  # 0.2 s; took 1.5 s
    normal = in_normal_form(names[0], "fold")
    assert in_normal_form(normal, "fold") == normal


@pytest.mark.thorough
def test_each_letter_has_one_normal_form_alone_and_under_an_accent() -> None:
    characters = [chr(code) for code in range(0x20000) if not 0xD800 <= code < 0xE000]

    moved = [
        character
        for character in characters
        for text in (character, f"{character}\u0345", f"a{character}")
        if in_normal_form(once := in_normal_form(text, "fold"), "fold") != once
    ]

    assert moved == []


@pytest.mark.parametrize(
    "refused",
    [
        "",
        "two words",
        "tab\t",
        "ana\u200b",
        "\u202eana",
        "soft\xadhyphen",
        "ana\u3164",
        "ana\u2800",
        "\u200d",
        "an\u034fa",
        "a" * 129,
        "x" * 9_999,
    ],
)
def test_names_with_blanks_or_invisible_characters_are_refused(refused: str) -> None:
    with pytest.raises(ValidationError, match="128 characters"):
        SUBJECT.validate_python(refused)
    with pytest.raises(ValidationError, match="user:ID"):
        READERS.validate_python((f"user:{refused}",))


def test_a_name_may_be_as_long_as_its_normal_form_allows() -> None:
    longest = "é" * IDENTIFIER_CHARACTERS_MAX

    assert SUBJECT.validate_python(unicodedata.normalize("NFD", longest)) == longest
    with pytest.raises(ValidationError):
        SUBJECT.validate_python("ß" * (IDENTIFIER_CHARACTERS_MAX // 2 + 1))  # each becomes `ss`


def test_invisible_characters_are_format_characters_and_fillers_without_joiners() -> None:
    invisible = re.compile(f"[{form.INVISIBLE}]")
    formats = {
        code
        for code in range(sys.maxunicode + 1)
        if unicodedata.category(chr(code)) in ("Cf", "Zl", "Zp")
    }

    assert {code for code in formats if not invisible.match(chr(code))} == {0x200C, 0x200D}
    assert not [
        code
        for code in range(sys.maxunicode + 1)
        if invisible.match(chr(code))
        and code not in formats
        and chr(code)
        not in "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\ufffc\U0001d159"  # fillers
        and unicodedata.category(chr(code)) != "Cn"  # given out after this Python was made
    ]
