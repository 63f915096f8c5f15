"""Settings that hold a list or a table in one text."""

from typing import Annotated, TypeAlias, TypeVar

from pydantic import BeforeValidator
from pydantic_settings import NoDecode

_Name = TypeVar("_Name")
_Value = TypeVar("_Value")


def listed(text: str | None) -> list[str]:
    """The parts of a comma-separated text, stripped, without empty parts."""
    return [part.strip() for part in (text or "").split(",") if part.strip()]


def tabled(value: object) -> object:
    """The table of a text `NAME=VALUE, NAME=VALUE`; one of the TOML file is a table already.

    Raises `ValueError` for a part of another form, and for a name that comes twice.
    """
    if not isinstance(value, str):
        return value
    table: dict[str, str] = {}
    for part in listed(value):
        name, _, content = (item.strip() for item in part.partition("="))
        if not name or not content:
            raise ValueError(f"must be NAME=VALUE, separated by commas; {part} is not")
        if name in table:
            raise ValueError(f"must have each name once; {name} comes twice")
        table[name] = content
    return table


# `NoDecode`: pydantic-settings would take the text for JSON.
Table: TypeAlias = Annotated[dict[_Name, _Value], NoDecode, BeforeValidator(tabled)]
