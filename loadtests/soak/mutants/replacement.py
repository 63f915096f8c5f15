"""Replaces a rule of the product in this process."""

from collections.abc import Callable
from typing import Any


def replaced(owner: Any, name: str, rule: Any) -> Callable[[], None]:
    """A function that puts this rule in the place of the owner's one of that name."""
    assert hasattr(owner, name), f"{owner} has no {name}"

    def replace() -> None:
        setattr(owner, name, rule)

    return replace
