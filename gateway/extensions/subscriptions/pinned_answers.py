"""The watched answers of one tenant, and who has to look again after a change. Pure.

A watcher's answer is pinned under its cache key. Why a watcher that is told to look again whenever
these rules say so ends with the final answer:
  1. A pinned answer is correct at the revisions that the registry has reached, or at the later ones
     that it was computed at; see `cache/invalidation/local_registry.py`.
  2. An answer that was computed before changes that are applied already is not registered: its
     watchers have to look again (`keep`).
  3. Changes that invalidate a pinned answer drop it in the step in which the registry reaches their
     revision; the watchers of its key have to look again (`apply`).
  4. If changes cannot be read, or belong to another history, nothing is pinned any more, and all
     watchers have to look again (`clear`, `keep`).
A watcher attaches to a key before its answer is computed, so it is among those that look again.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from cache.invalidation.local_registry import LocalRegistry
from cache.invalidation.registry_replica import DependencyIndex, N
from cache.lookup import ComputedAnswer
from cache.protocol import Revisions

W = TypeVar("W")  # a watcher


@dataclass(frozen=True, slots=True)
class ValidAnswer:
    """An answer, and the revisions up to which it is correct."""

    answer: ComputedAnswer
    valid_until: Revisions


class PinnedAnswers(Generic[N, W]):
    """Each method that may end an answer returns the watchers that have to look again."""

    def __init__(self, new_index: Callable[[], DependencyIndex[N]]) -> None:
        self.registry = LocalRegistry(new_index, answers_max=None)
        self._answers: dict[str, tuple[int, ComputedAnswer]] = {}
        self._keys: dict[W, str | None] = {}
        self._watchers: dict[str, set[W]] = {}
        self._computations = 0

    @property
    def watchers(self) -> set[W]:
        return set(self._keys)

    def attach(self, watcher: W, key: str | None) -> None:
        """Let the watcher wait for the answer of this key, and of no other; None for none yet."""
        self._leave_key(watcher)
        self._keys[watcher] = key
        if key is not None:
            self._watchers.setdefault(key, set()).add(watcher)

    def detach(self, watcher: W) -> None:
        self._leave_key(watcher)
        self._keys.pop(watcher, None)

    def get(self, key: str, revisions: Revisions) -> ValidAnswer | None:
        """The pinned answer if it is known to be correct at the revisions."""
        computation, answer = self._answers.get(key, (0, None))
        valid_until = self.registry.valid_until(key, computation)
        if answer is None or valid_until is None or not valid_until.reach(revisions):
            return None
        return ValidAnswer(answer, valid_until)

    def keep(self, key: str, answer: ComputedAnswer) -> set[W]:
        """Pin a computed answer, if it is complete and anybody waits for it."""
        watchers = self._watchers.get(key, set())
        if not watchers:
            return set()
        if not answer.is_complete:
            self.registry.discard(key)
            self._answers.pop(key, None)
            return set()
        outdated: set[W] = set()
        if self.registry.reached.history not in ("", answer.as_of.history):
            outdated = self.clear() - watchers
        self._computations += 1
        if self.registry.add(key, self._computations, answer.as_of, answer.record()):
            self._answers[key] = (self._computations, answer)
            return outdated
        return outdated | watchers

    def apply(self, change_sets: Sequence[N], since: Revisions) -> set[W]:
        """Drop the answers that the changes invalidate. since: from which they were read."""
        if any(changes.history != since.history for changes in change_sets):
            return self.clear()
        dropped = self.registry.apply(change_sets, since)
        for key in dropped:
            self._answers.pop(key, None)
        return set().union(*(self._watchers.get(key, set()) for key in dropped))

    def clear(self) -> set[W]:
        self.registry.clear()
        self._answers.clear()
        return self.watchers

    def _leave_key(self, watcher: W) -> None:
        key = self._keys.get(watcher)
        if key is None:
            return
        watchers = self._watchers[key]
        watchers.discard(watcher)
        if not watchers:
            del self._watchers[key]
            self._answers.pop(key, None)
            self.registry.discard(key)
