"""A rule of the product that is replaced, and what of a soak shows it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Mutant:
    """replace: breaks the rule in this process. faults: that have to happen for it to matter.

    is_control: it breaks nothing, so that the judge has to find nothing in the same time.
    read_lease_s: of the gateways.
    """

    what: str
    replace: Callable[[], None]
    faults: tuple[str, ...] = ()
    is_control: bool = False
    read_lease_s: float = 1.0


def replaced(owner: Any, name: str, rule: Any) -> Callable[[], None]:
    """A function that puts this rule in the place of the owner's one of that name."""
    assert hasattr(owner, name), f"{owner} has no {name}"

    def replace() -> None:
        setattr(owner, name, rule)

    return replace


def together(*replacements: Callable[[], None]) -> Callable[[], None]:
    def replace() -> None:
        for replacement in replacements:
            replacement()

    return replace
