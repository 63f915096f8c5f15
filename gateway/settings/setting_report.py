"""The settings of a process that differ from their defaults, without secrets."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from pydantic import BaseModel, SecretStr

_HIDDEN = "(secret)"
_CREDENTIALS = re.compile(r"//[^/@]*@")  # of a URL that is no secret as a whole

Shown: TypeAlias = str | float | bool


@dataclass(frozen=True, slots=True)
class SettingReport:
    """What the operator is told of the settings of the core and of extensions.

    differing, origins: by name. unknown, unused: a sentence for each.
    """

    differing: dict[str, Shown]
    origins: dict[str, str]
    unknown: list[str]
    unused: list[str]


def differing(settings: BaseModel, prefix: str = "") -> dict[str, Shown]:
    """By name, in the order of the settings; a secret is shown as `(secret)`."""
    return {
        prefix + name: _shown(value)
        for name, field in type(settings).model_fields.items()
        if (value := getattr(settings, name)) != field.get_default(call_default_factory=True)
    }


def _shown(value: object) -> Shown:
    match value:
        case SecretStr():
            return _HIDDEN
        case bool() | int() | float():
            return value
        case Path():
            return str(value)
        case dict():
            return ", ".join(f"{name}={each}" for name, each in value.items())
        case _:
            return _CREDENTIALS.sub("//…@", str(value))
