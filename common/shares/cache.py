"""A cache that tenants share: the tenant that holds the most loses its least recently used entry.

So a tenant that fills the cache displaces its own entries first, and never those of a tenant that
holds less than itself.
"""

import heapq
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class FairCache(Generic[K, V]):
    """A mapping with a limit; each entry belongs to the tenant that it was put for.

    size_max: of all entries together.
    size_of: an entry's own size; 1 unless given.
    """

    def __init__(self, size_max: int, size_of: Callable[[V], int] = lambda _: 1) -> None:
        self._size_max = size_max
        self._size_of = size_of
        self._owners: dict[K, str] = {}
        self._entries: dict[str, OrderedDict[K, tuple[V, int]]] = {}  # the least recent first
        self._sizes: dict[str, int] = {}
        self._largest: list[tuple[int, str]] = []  # a heap of -size, with outdated ones among them
        self.size = 0

    def __len__(self) -> int:
        return len(self._owners)

    def __contains__(self, key: K) -> bool:
        return key in self._owners

    def get(self, key: K) -> V | None:
        tenant = self._owners.get(key)
        if tenant is None:
            return None
        entries = self._entries[tenant]
        entries.move_to_end(key)
        return entries[key][0]

    def put(self, tenant: str, key: K, value: V) -> Sequence[K]:
        """Store the entry; return the keys that are removed for it.

        An entry larger than the cache is not stored, and its own key is returned.
        """
        if key in self._owners:
            self.pop(key)
        size = self._size_of(value)
        if size > self._size_max:
            return (key,)
        self._owners[key] = tenant
        self._entries.setdefault(tenant, OrderedDict())[key] = (value, size)
        self._resize(tenant, size)
        if self.size <= self._size_max:
            return ()
        removed = []
        while self.size > self._size_max:
            removed.append(next(iter(self._entries[self._largest_tenant()])))
            self.pop(removed[-1])
        return removed

    def of_tenant(self, tenant: str) -> Iterable[K]:
        """The tenant's keys, the least recently used first."""
        return self._entries.get(tenant, ())

    def by_tenant(self) -> Iterator[Iterable[K]]:
        """The keys of each tenant, the least recently used first; the largest tenant comes first.

        No entry may be put or removed meanwhile.
        """
        if not self._sizes:
            return
        largest = self._largest_tenant()
        yield self._entries[largest]
        for tenant in sorted(self._sizes, key=self._sizes.__getitem__, reverse=True):
            if tenant != largest:
                yield self._entries[tenant]

    def pop(self, key: K) -> V | None:
        """Remove the entry and return its value; None if there is none."""
        tenant = self._owners.pop(key, None)
        if tenant is None:
            return None
        value, size = self._entries[tenant].pop(key)
        self._resize(tenant, -size)
        return value

    def clear(self) -> None:
        self._owners.clear()
        self._entries.clear()
        self._sizes.clear()
        self._largest.clear()
        self.size = 0

    def _resize(self, tenant: str, size: int) -> None:
        self.size += size
        self._sizes[tenant] = tenant_size = self._sizes.get(tenant, 0) + size
        if not self._entries[tenant]:
            del self._entries[tenant], self._sizes[tenant]
        elif size > 0:
            heapq.heappush(self._largest, (-tenant_size, tenant))
            if len(self._largest) > 2 * len(self._sizes) + 64:  # most of them are outdated
                self._largest = [(-held, name) for name, held in self._sizes.items()]
                heapq.heapify(self._largest)

    def _largest_tenant(self) -> str:
        """A tenant's place in the heap is too high after a removal, and is corrected here."""
        while True:
            size, tenant = self._largest[0]
            held = self._sizes.get(tenant)
            if held == -size:
                return tenant
            if held is None:
                heapq.heappop(self._largest)
            else:
                heapq.heapreplace(self._largest, (-held, tenant))
