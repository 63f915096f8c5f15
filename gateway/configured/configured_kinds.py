"""Finds what a setting names among the core's kinds and the extensions', such as `onnx:FOLDER`."""

from collections.abc import Mapping
from typing import TypeVar

from common.command_errors import CommandError

Kind = TypeVar("Kind")


def find(name: str, kinds: Mapping[str, Kind], *others: str, subject: str) -> tuple[Kind, str]:
    """The kind, and what follows the colon of its name.

    kinds: by form. others: forms that the caller knows. Raises `CommandError` if no form of the
    kinds is the name's.
    """
    kind, colon, rest = name.partition(":")
    found = {form.partition(":")[:2]: each for form, each in kinds.items()}.get((kind, colon))
    if found is None or bool(colon) != bool(rest):
        forms = ", ".join((*others, *kinds))
        raise CommandError(f"there is no {subject} {name!r}: choose one of {forms}")
    return found, rest
