"""Turns writes of a history into queued ones and adds writes that overtake them.

A document that is queued is then written at once, shared, removed or left to the worker. Withdrawn
access and removed documents come back some writes later, so that there is time to see the effect of
the older write that still waits.
"""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from random import Random
from typing import TypeAlias

from loadtests.workload.writes import PutDocument, RemoveDocument, ShareDocument, Write

# Starting values, not measured.
_SHARE = 0.5  # of the writes of documents
_BACK_AFTER = range(10, 60)  # writes
NOBODY = frozenset({"group:nobody"})

_Where: TypeAlias = tuple[str, str]


@dataclass(slots=True)
class Interleaved:
    random: Random
    _coming: deque[tuple[int, PutDocument | ShareDocument]] = field(
        default_factory=deque
    )  # when, and what
    _back: dict[_Where, PutDocument | ShareDocument] = field(default_factory=dict)
    _number: int = 0

    def of(self, writes: Iterator[Write]) -> Iterator[Write]:
        for write in writes:
            self._number += 1
            yield from self._due()
            if isinstance(write, PutDocument):
                yield from self._put(write)
            else:
                if isinstance(write, ShareDocument | RemoveDocument):
                    self._back.pop((write.tenant, write.document_id), None)
                yield write

    def _due(self) -> Iterator[Write]:
        while self._coming and self._coming[0][0] <= self._number:
            _, write = self._coming.popleft()
            where = write.tenant, write.document_id
            if self._back.get(where) is write:  # nothing else has been done to it since
                del self._back[where]
                yield write

    def _put(self, write: PutDocument) -> Iterator[Write]:
        where = write.tenant, write.document_id
        if isinstance(self._back.get(where), PutDocument):
            del self._back[where]
        if where in self._back or self.random.random() >= _SHARE:
            yield write
            return
        ways: tuple[Callable[[PutDocument], Iterator[Write]], ...] = (
            _left_to_the_worker,
            _in_a_batch,
            _written_at_once,
            self._shared,
            self._removed,
        )
        yield from self.random.choice(ways)(write)

    def _shared(self, write: PutDocument) -> Iterator[Write]:
        yield replace(write, delivery="queued")
        yield ShareDocument(write.tenant, write.document_id, NOBODY)
        self._later(ShareDocument(write.tenant, write.document_id, write.readers))

    def _removed(self, write: PutDocument) -> Iterator[Write]:
        yield replace(write, delivery="queued")
        yield RemoveDocument(write.tenant, write.document_id)
        self._later(write)

    def _later(self, write: PutDocument | ShareDocument) -> None:
        at = max(self._number + self.random.choice(_BACK_AFTER), self._last())
        self._coming.append((at, write))
        self._back[write.tenant, write.document_id] = write

    def _last(self) -> int:
        return self._coming[-1][0] if self._coming else 0


def _left_to_the_worker(write: PutDocument) -> Iterator[Write]:
    yield replace(write, delivery="queued")


def _in_a_batch(write: PutDocument) -> Iterator[Write]:
    yield replace(write, delivery="batch")


def _written_at_once(write: PutDocument) -> Iterator[Write]:
    yield replace(write, text=f"{write.text}\n\nThis is a draft.", delivery="queued")
    yield write
