"""What is looked up in the cache, what is computed if it is missing, and what is served."""

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeAlias

from cache.protocol import Revisions


class Question(Protocol):
    """What a lookup asks, as a tier of an extension compares it; it is stored with the answer."""

    def encode(self) -> bytes: ...


@dataclass(frozen=True, slots=True)
class CacheLookup:
    """The key of one answer in the cache of the tenant `tenant`.

    key:      equal for all callers who see the same at the audience revisions of the request.
    own_key:  equal only for callers with equal grants; None if `key` is such a key.
    question: allows a tier of an extension to answer, which may serve this answer to others.
    is_shared: whether Redis holds the answer for other processes too. An answer that takes less
        time to compute than to look up and store there stays in this process.
    """

    tenant: str
    key: str
    question: Question | None = None
    is_shared: bool = True
    own_key: str | None = None

    @property
    def alone(self) -> "CacheLookup":
        """For callers with equal grants alone. Its answer serves no other question: the group of
        the question may belong to callers with other grants.
        """
        if self.own_key is None:
            return self
        return replace(self, key=self.own_key, question=None, own_key=None)


@dataclass(frozen=True, slots=True)
class ComputedAnswer:
    """A body, the revisions that it was computed at, and its dependencies.

    record:        encodes what the `DependencyIndex` reads to tell which changes invalidate the
        answer.
    is_complete:   whether all parts succeeded; an incomplete answer is served but never cached.
    missing_parts: by part, why it is missing; None if all succeeded.
    """

    body: bytes
    as_of: Revisions
    record: Callable[[], bytes] = bytes
    is_complete: bool = True
    missing_parts: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class ServedAnswer:
    """A body, its tier, and the revision of each partition up to which it is correct.

    tier:   `memory`, `redis`, `miss` if it was computed, or the name of an extension's tier.
    key:    that the answer is cached under, or would be.
    detail: what a tier of an extension says of the answer in `Cache-Status`.
    """

    body: bytes
    valid_until: Revisions
    tier: str
    key: str = ""
    stored: bool = False
    is_complete: bool = True
    detail: str = ""
    missing_parts: Mapping[str, str] | None = None

    @classmethod
    def of_computed(cls, key: str, answer: ComputedAnswer) -> "ServedAnswer":
        """The answer to a miss."""
        return cls(
            answer.body,
            answer.as_of,
            "miss",
            key,
            is_complete=answer.is_complete,
            missing_parts=answer.missing_parts,
        )


Compute: TypeAlias = Callable[[], Coroutine[Any, Any, ComputedAnswer]]
