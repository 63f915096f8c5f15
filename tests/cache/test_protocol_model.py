"""No interleaving of the cache protocol serves a stale answer, and no part of it is to spare.

Every world within the bounds of a scene is visited: 181,424 in all for the true protocol, counted
scene by scene below. NEARHIT_MODEL=large adds scenes that take minutes.
"""

import os
from dataclasses import replace

import pytest

from cache import protocol
from cache.protocol import Mark, State
from tests.cache.protocol_model import Fault, Rules, Scene, Snapshot, search

LOSSES: frozenset[Fault] = frozenset({"state lost", "entry lost", "registry lost"})
RESTART: frozenset[Fault] = frozenset({"restart"})
FAILOVER: frozenset[Fault] = frozenset({"failover"})


def undone(snapshot: Snapshot) -> bytes:
    """An answer that every second change makes what it was before."""
    return bytes([sum(snapshot) % 2])


ONE_PARTITION = Scene(fills=2, faults=LOSSES)
ONE_ON_TWO_SERVERS = Scene(names=2, faults=FAILOVER)
TWO_PARTITIONS = Scene(partitions=2, drains=1, fills=2, nonces=1)

SCENES = {
    "one partition": (ONE_PARTITION, 16_457),
    "two commits": (Scene(commits=2, faults=LOSSES), 59_094),
    "a restart": (Scene(nonces=3, names=2, faults=LOSSES | RESTART), 24_299),
    "a failover, and back": (ONE_ON_TWO_SERVERS, 19_856),
    "two partitions": (TWO_PARTITIONS, 6_007),
    "two partitions, two commits": (Scene(partitions=2, commits=2, drains=1, nonces=1), 19_489),
    "two partitions, a state lost": (
        Scene(partitions=2, drains=1, faults=frozenset({"state lost"})),
        28_714,
    ),
    "two partitions, a restart": (Scene(partitions=2, drains=1, names=2, faults=RESTART), 7_508),
}
