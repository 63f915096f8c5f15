"""What a reading may remove without being told so."""

import pytest

from gateway.extensions._sources.sync.pruning import ANY_NUMBER, KeptBecause, PrunePolicy


@pytest.mark.parametrize(
    ("policy", "missing", "stored", "is_empty", "because"),
    [
        (PrunePolicy(), 2, 10, False, None),
        (PrunePolicy(), 3, 10, False, "share"),
        (PrunePolicy(), 1, 2, False, None),  # one page of a small source
        (PrunePolicy(), 1, 1, True, "empty"),
        (PrunePolicy(), 10, 10, True, "empty"),
        (PrunePolicy(confirmed=None), 10, 10, True, "empty"),
        (PrunePolicy(allows_empty=True), 10, 10, True, "share"),
        (PrunePolicy(confirmed=3), 3, 10, False, None),
        (PrunePolicy(confirmed=3), 4, 10, False, "share"),  # more than was confirmed
        (ANY_NUMBER, 10, 10, True, None),
    ],
)
def test_much_stays_until_it_is_confirmed(
    policy: PrunePolicy, missing: int, stored: int, *, is_empty: bool, because: KeptBecause | None
) -> None:
    assert policy.kept_because(missing, stored, is_empty=is_empty) == because
