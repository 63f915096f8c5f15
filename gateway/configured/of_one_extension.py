"""What one extension alone may bring, such as what verifies web tokens."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from common.command_errors import CommandError
from gateway.configured.installed_extensions import switched_on
from gateway.extension import Extension
from gateway.settings.settings import Settings

T = TypeVar("T")


def find(settings: Settings, part: Callable[[Extension[Any]], T | None], do: str) -> T | None:
    """None if no extension that is on brings it. Raises `CommandError` if two do.

    do: what those extensions do that bring it.
    """
    return next(iter(by_name(settings, part, do).values()), None)


def by_name(
    settings: Settings, part: Callable[[Extension[Any]], T | None], do: str
) -> Mapping[str, T]:
    """As `find`, by the name of its extension; empty if none brings it."""
    brought = {
        name: found
        for name, extension in switched_on(settings.extensions_off).items()
        if (found := part(extension)) is not None
    }
    if len(brought) > 1:
        names = " and ".join(brought)
        raise CommandError(f"{names} {do}: add one to NEARHIT_EXTENSIONS_OFF")
    return brought


def require(
    settings: Settings, part: Callable[[Extension[Any]], T | None], do: str, setting: str
) -> T:
    """As `find`; raises `CommandError` too if none brings it. setting: that has no use without."""
    found = find(settings, part, do)
    if found is None:
        raise CommandError(
            f"NEARHIT_{setting.upper()} needs one extension of those that {do}, and none is on: "
            "take it out of NEARHIT_EXTENSIONS_OFF, or install one"
        )
    return found
