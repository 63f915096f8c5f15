"""Subjects, groups and reader tokens, each in one spelling: a person or a group has one identifier.

The spelling is Unicode's canonical caseless form (Unicode 15, section 3.13, D145) composed to form
C: `Ana@acme.example` and `ana@acme.example` are one subject, and so is a name with composed and
with decomposed accents. Joiners and variation selectors, which nobody sees, are left out, as in
NFKC_Casefold (D150). Compatibility characters, such as full-width letters, stay as they are.
Where identifiers differ by case, a deployment keeps it: `NEARHIT_IDENTIFIER_CASE=keep`.
"""

import re
import unicodedata
from typing import Annotated, Literal, TypeAlias

from pydantic import AfterValidator, Field

from index.model.form import CONTROLS, INVISIBLE, SURROGATES, Form, composed, stream_safe

IdentifierCase: TypeAlias = Literal["fold", "keep"]

IDENTIFIER_CHARACTERS_MAX = 128
READERS_MAX = 256
GROUPS_MAX = 256
_ID = rf"[^\s{CONTROLS}{INVISIBLE}{SURROGATES}]{{1,{IDENTIFIER_CHARACTERS_MAX}}}"

_JOINERS = re.compile("[\u180b-\u180d\u180f\u200c\u200d\ufe00-\ufe0f]")

_case: IdentifierCase = "fold"


def use_case(case: IdentifierCase) -> None:
    """Set the deployment's case for this process; `index.postgres.setup` calls it at a start."""
    global _case  # noqa: PLW0603  a fact of the deployment, like the database: no type can take it
    _case = case


def case_in_use() -> IdentifierCase:
    """For processes that this one starts: they read names too, and have no settings."""
    return _case


def in_normal_form(identifier: str, case: IdentifierCase | None = None) -> str:
    """The one spelling of a subject or a group. case: None: the deployment's."""
    folds = (case or _case) == "fold"
    if identifier.isascii():
        return identifier.lower() if folds else identifier
    identifier = _JOINERS.sub("", identifier)
    if folds:
        identifier = unicodedata.normalize("NFD", stream_safe(identifier)).casefold()
    return composed(identifier)


def _token_in_normal_form(token: str) -> str:
    kind, separator, name = token.partition(":")
    return f"{kind}{separator}{in_normal_form(name)}"


def _once(names: tuple[str, ...]) -> tuple[str, ...]:
    """Each of the names once: two may have been two spellings of one."""
    return tuple(dict.fromkeys(names))


SubjectId = Annotated[
    str,
    Form(
        re.compile(_ID),
        "must be 1 to 128 characters without whitespace or invisible characters",
        in_normal_form,
    ),
]
GroupId = SubjectId
ReaderToken = Annotated[
    str,
    Form(
        re.compile(rf"(user|group):{_ID}|tenant|public"),
        "must be user:ID, group:ID, tenant or public; an ID has no whitespace",
        _token_in_normal_form,
    ),
]
Groups = Annotated[tuple[GroupId, ...], Field(max_length=GROUPS_MAX), AfterValidator(_once)]
Readers = Annotated[tuple[ReaderToken, ...], Field(max_length=READERS_MAX), AfterValidator(_once)]
