"""Decides whether a reading may remove the documents that its source no longer has; does no I/O."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

KeptBecause: TypeAlias = Literal["empty", "share"]

_SHARE_MAX = 0.2  # of the stored documents; a single one is always removed if others remain


@dataclass(frozen=True, slots=True)
class PrunePolicy:
    """How many missing documents a reading removes without a confirmation.

    confirmed: how many may be removed however large their share; None for any number.
    allows_empty: whether a source without any item may lose its documents, if that is confirmed.
    """

    confirmed: int | None = 0
    allows_empty: bool = False

    def kept_because(self, missing: int, stored: int, *, is_empty: bool) -> KeptBecause | None:
        """Why the missing documents stay; None if they are removed.

        is_empty: whether the source has no item now, as an unmounted folder has none.
        """
        if is_empty and not self.allows_empty:
            return "empty"
        if self.confirmed is None or missing <= self.confirmed:
            return None
        is_small = missing <= 1 or missing <= _SHARE_MAX * stored
        return None if is_small and not is_empty else "share"


ANY_NUMBER = PrunePolicy(confirmed=None, allows_empty=True)
