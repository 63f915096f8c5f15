"""Questions with what answers them: read from a file, or made of the headings of documents."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Self, TypeVar

import orjson
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)

from gateway.extension import CommandError, field_errors
from gateway.extensions._records import json_lines

T = TypeVar("T")

QUESTIONS_MAX = 10_000
PASSAGE_CHARACTERS_MIN = 30  # of a made question: fewer are in many texts
_PASSAGE_CHARACTERS_MAX = 80  # more may be cut
_CHARACTERS_MAX = 2_000
_LINE_BYTES_MAX = 1_048_576  # as of a call that measures questions
_HEADING = re.compile(r"^#{1,4} +(\S.*)$", re.MULTILINE)

Text = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=_CHARACTERS_MAX)
]


class JudgedQuestion(BaseModel):
    """A question, and what a hit has to be for it."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        json_schema_extra={
            "examples": [{"question": "How many days of leave?", "documents": ["team/leave"]}]
        },
    )

    question: Text = Field(description="what is asked")
    documents: tuple[Text, ...] = Field(
        (), description="identifiers of documents that answer it; empty: any may"
    )
    passage: Text | None = Field(
        None,
        description="words that the text of a right hit contains; case and spacing do not count. "
        "Absent: any text may",
    )

    @model_validator(mode="after")
    def _has_an_answer(self) -> Self:
        if not self.documents and self.passage is None:
            raise ValueError("give documents, a passage, or both")
        return self

    @property
    def answers(self) -> int:
        """How many hits can answer it, each by another document."""
        return len(set(self.documents)) or 1

    def is_answered_by(self, hit: Mapping[str, Any]) -> bool:
        """`documents` are the tenant's own; one of another tenant may have the same identifier."""
        is_named = hit.get("tenant") is None and hit["document_id"] in self.documents
        return (not self.documents or is_named) and (
            self.passage is None or _plain(self.passage) in _plain(hit["text"])
        )


@dataclass(frozen=True, slots=True)
class HeadedSection:
    heading: str
    document_id: str
    beginning: str


def read(path: Path) -> list[JudgedQuestion]:
    """The questions of a file, one JSON object a line. Raises `CommandError`."""
    try:
        with path.open("rb") as file:
            questions = list(islice(_questions(file, path), QUESTIONS_MAX + 1))
    except OSError as error:
        raise CommandError(f"can't read {path}: {error.strerror}") from None
    if not 1 <= len(questions) <= QUESTIONS_MAX:
        raise CommandError(f"{path} must have 1 to {QUESTIONS_MAX:,} questions, one a line")
    return questions


def written(questions: Iterable[JudgedQuestion]) -> Iterator[bytes]:
    """The lines of a file of these questions."""
    for question in questions:
        yield orjson.dumps(question.model_dump(exclude_defaults=True)) + b"\n"


def sections(document_id: str, text: str) -> Iterator[HeadedSection]:
    """The sections of a Markdown text whose first line has enough characters to be unique."""
    for heading, following in pairwise(chain(_HEADING.finditer(text), [None])):
        assert heading is not None, "what follows the last one is None"
        end = len(text) if following is None else following.start()
        first = next((line for line in text[heading.end() : end].split("\n") if line.strip()), "")
        most = _PASSAGE_CHARACTERS_MAX
        beginning = first.strip()[:most].rpartition(" ")[0] if len(first) > most else first.strip()
        words = _without_closing(heading[1])
        if len(beginning) >= PASSAGE_CHARACTERS_MIN and 1 <= len(words) <= _CHARACTERS_MAX:
            yield HeadedSection(words, document_id, beginning)


def unique(found: Iterable[HeadedSection]) -> list[HeadedSection]:
    """Those whose heading no other one has, by document and heading."""
    all_of_them = sorted(found, key=lambda section: (section.document_id, section.heading))
    counts = Counter(_plain(section.heading) for section in all_of_them)
    return [section for section in all_of_them if counts[_plain(section.heading)] == 1]


def of_sections(found: Iterable[HeadedSection], number: int) -> list[JudgedQuestion]:
    """At most `number` questions, of headings that only one section has."""
    return [
        JudgedQuestion(
            question=section.heading, documents=(section.document_id,), passage=section.beginning
        )
        for section in spread(unique(found), number)
    ]


def spread(values: Sequence[T], number: int) -> Iterator[T]:
    """At most `number`, at equal distances."""
    step = max(1.0, len(values) / number)
    return (values[int(place * step)] for place in range(min(number, len(values))))


def _questions(file: BinaryIO, path: Path) -> Iterator[JudgedQuestion]:
    for number, line in json_lines.lines(file, _LINE_BYTES_MAX):
        yield _question(line, f"{path}, line {number}")


def _question(line: bytes, where: str) -> JudgedQuestion:
    try:
        return JudgedQuestion.model_validate_json(line)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"]))
        raise CommandError(
            f"{where}: {field + ': ' if field else ''}{field_errors.message(first)}"
        ) from None


def _without_closing(heading: str) -> str:
    """The words of a heading, without the `#` that may close it after a space."""
    words = heading.strip().rstrip("#")
    return words.rstrip() if not words or words[-1].isspace() else heading.strip()


def _plain(text: str) -> str:
    """The text in lower case, NFC and single spaces, so that equal words compare as equal."""
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())
