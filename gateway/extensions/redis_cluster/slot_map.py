"""Which node of a Redis Cluster owns each hash slot, as one of its nodes tells."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from redis.crc import REDIS_CLUSTER_HASH_SLOTS, key_slot


@dataclass(frozen=True, slots=True)
class Address:
    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class SlotRange:
    """The slots from `first` to `last`, both included, and the master that owns them."""

    first: int
    last: int
    owner: Address


class SlotMap:
    """The owner of each slot, as far as it is known; wrong for a moment while slots move."""

    def __init__(self, ranges: Iterable[SlotRange] = ()) -> None:
        self._owners: list[Address | None] = [None] * REDIS_CLUSTER_HASH_SLOTS
        for slots in ranges:
            count = slots.last - slots.first + 1
            self._owners[slots.first : slots.last + 1] = [slots.owner] * count

    @property
    def owners(self) -> set[Address]:
        return set(filter(None, self._owners))

    def slots(self) -> Mapping[Address, int]:
        """How many slots each owner has."""
        return Counter(filter(None, self._owners))

    def owner(self, key: str) -> Address | None:
        return self._owners[key_slot(key.encode())]

    def move(self, slot: int, owner: Address) -> None:
        self._owners[slot] = owner


def parse_slots(reply: Any, asked: Address) -> list[SlotRange]:
    """The ranges in a reply to CLUSTER SLOTS; a range whose owner has no known host is left out.

    asked: the node that replied. A node that does not know its own host leaves it empty.
    """
    ranges = []
    for first, last, (host, port, *_), *_replicas in reply:
        owner = parse_host((host or b"").decode(), port, asked)
        if owner is not None:
            ranges.append(SlotRange(first, last, owner))
    return ranges


def parse_host(host: str, port: int, asked: Address) -> Address | None:
    """The address that a node names; an empty host stands for its own, `?` for an unknown one."""
    return None if host == "?" else Address(host or asked.host, port)
