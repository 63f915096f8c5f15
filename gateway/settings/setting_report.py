"""The settings of a process that differ from their defaults, without secrets."""

import re
from pathlib import Path

from pydantic import SecretStr

from gateway.settings.settings import Settings

_HIDDEN = "(secret)"
_CREDENTIALS = re.compile(r"//[^/@]*@")  # of a URL that is no secret as a whole


def differing(settings: Settings) -> dict[str, str | float | bool]:
    """By name, in the order of the settings; a secret is shown as `(secret)`."""
    return {
        name: _shown(value)
        for name, field in Settings.model_fields.items()
        if (value := getattr(settings, name)) != field.get_default(call_default_factory=True)
    }


def _shown(value: object) -> str | float | bool:
    match value:
        case SecretStr():
            return _HIDDEN
        case bool() | int() | float():
            return value
        case Path():
            return str(value)
        case _:
            return _CREDENTIALS.sub("//…@", str(value))
