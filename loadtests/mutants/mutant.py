"""A rule of the product that is replaced, and what of a soak shows it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Mutant:
    """what: is broken. rules: of an owner, by name, and what stands in the place of each.

    faults: that have to happen for it to matter. read_lease_s: of the gateways.
    is_control: it breaks nothing, so that the judge has to find nothing in the same time.
    """

    what: str
    rules: Sequence[tuple[Any, str, Any]] = ()
    faults: tuple[str, ...] = ()
    is_control: bool = False
    read_lease_s: float = 1.0

    def __post_init__(self) -> None:
        for owner, name, _ in self.rules:
            assert hasattr(owner, name), f"{owner} has no {name}"

    def break_rules(self) -> None:
        """In this process."""
        for owner, name, rule in self.rules:
            setattr(owner, name, rule)
