"""The request bodies of sessions of conversations."""

import re
from contextlib import suppress
from datetime import date, datetime
from typing import Annotated, Any

from pydantic import AfterValidator, Field, StringConstraints, field_validator
from pydantic_core import PydanticCustomError

from gateway.extension import Body, schemas, with_example
from index.model.document import (
    API_SOURCE,
    DocumentId,
    Language,
    Metadata,
    Source,
    Tags,
    Title,
    Uri,
    normalise,
)
from index.model.document_limits import TEXT_CHARACTERS_MAX
from index.model.form import CONTROLS, INVISIBLE, SURROGATES, Form, composed, is_blank
from index.model.identifiers import Readers, SubjectId

TURNS_MAX = 1_000  # of a call; starting values, not measured
TURN_CHARACTERS_MAX = 7_000  # with its head and dates within one chunk of the chunker `turns`
SPEAKER_CHARACTERS_MAX = 100
SPEAKERS_MAX = 100
SPEAKERS, SAID_ON, SAID_AT = "speakers", "said_on", "said_at"  # of a session's metadata
DAY_CHARACTERS = len("2025-01-31")

_EARLIEST_YEAR = 1_000  # years before are not written with four digits everywhere


def _time(text: str) -> str:
    for parse in (date.fromisoformat, datetime.fromisoformat):
        with suppress(ValueError):
            time = parse(text)
            if time.year >= _EARLIEST_YEAR:
                return time.isoformat()
    detail = "must be a day such as 2025-01-31, or a time such as 2025-01-31T12:00:00+01:00"
    raise PydanticCustomError("time", detail)


Time = Annotated[str, Field(max_length=40), AfterValidator(_time)]
Speaker = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=SPEAKER_CHARACTERS_MAX),
    Form(
        re.compile(rf"[^*~{CONTROLS}{INVISIBLE}{SURROGATES}]+"),
        "must be one line without * and ~, control and invisible characters",
        composed,
    ),
]


class ReplacedTurn(Body):
    """An earlier turn, as the hits of searches name it."""

    document_id: DocumentId
    start: int = Field(
        ge=0, le=TEXT_CHARACTERS_MAX, description="where it begins in the text, as in a hit"
    )


class TurnBody(Body):
    speaker: Speaker = Field(description="who says it")
    text: Annotated[
        str, Field(max_length=TURN_CHARACTERS_MAX), schemas.Storable, AfterValidator(normalise)
    ] = Field(description="what is said")
    at: Time | None = Field(None, description="when, if not at the session's time")

    @field_validator("text")
    @classmethod
    def _not_blank(cls, text: str) -> str:
        if is_blank(text):
            raise ValueError("must not be blank")
        return text


class NewTurnBody(TurnBody):
    replaces: ReplacedTurn | None = Field(
        None, description="an earlier turn that no longer holds: searches find this one instead"
    )


def _few_speakers(turns: tuple[TurnBody, ...]) -> tuple[TurnBody, ...]:
    if len({turn.speaker for turn in turns}) > SPEAKERS_MAX:
        raise ValueError(f"must have at most {SPEAKERS_MAX} speakers")
    return turns


Turns = Annotated[
    tuple[TurnBody, ...], Field(min_length=1, max_length=TURNS_MAX), AfterValidator(_few_speakers)
]


class SessionBody(Body):
    """A session: who said what, and when. Absent owner and readers stay as stored."""

    model_config = with_example(
        at="2023-05-08", turns=[{"speaker": "Ana", "text": "I moved to Porto two days ago."}]
    )

    at: Time = Field(description="when it took place: a day, or a time with its zone")
    turns: Turns = Field(description="what was said, in its order")
    title: Title = ""
    source: Source = API_SOURCE
    uri: Uri = ""
    language: Language | None = None
    tags: Tags = ()
    metadata: Metadata = Field(
        default_factory=dict,
        description="further fields; `said_on`, `said_at` and `speakers` are set by the session",
    )
    owner: SubjectId | None = None
    readers: Readers | None = None

    @field_validator("metadata")
    @classmethod
    def _has_no_own_fields(cls, metadata: dict[str, Any]) -> dict[str, Any]:
        if own := sorted({SAID_ON, SAID_AT, SPEAKERS} & metadata.keys()):
            raise ValueError(f"must not have {', '.join(own)}: the session sets them")
        return metadata

    @property
    def said_on(self) -> str:
        """The day, where it took place."""
        return self.at[:DAY_CHARACTERS]


class NewTurnsBody(Body):
    model_config = with_example(turns=[{"speaker": "Bo", "text": "How is it?"}])

    turns: Annotated[
        tuple[NewTurnBody, ...],
        Field(min_length=1, max_length=TURNS_MAX),
        AfterValidator(_few_speakers),
    ] = Field(description="what is said next, in its order")
