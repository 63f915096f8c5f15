"""What an extension brings that answers a search with what another question was answered.

It is a tier between Redis and computing, for searches with `semantic: bounded`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from cache.invalidation.drain import CountEvent
from cache.invalidation.registry_replica import QuestionIndex, RegistryReplicas
from cache.lookup import Question
from cache.redis.store import RedisStore
from cache.tiers.tier import Tier
from gateway.settings.settings import Settings
from gateway.stores import Stores
from index.model.query import Query


class QuestionTier(Tier, Protocol):
    def compares(self, query: Query, /) -> bool:
        """Whether a search that allows it may get the answer of another question."""

    async def question(self, group: str, text: str, /) -> Question:
        """group: 32 hexadecimal digits, equal for searches that differ only in the text, of callers
        who see the same. Others are never compared.
        """

    async def drain_background(self) -> None:
        """Wait until all that it counts is written."""


@dataclass(frozen=True, slots=True)
class TierParts:
    """What the tier is made of. replicas: hold its indexes, by tenant.

    index_name: of the index version. count: receives `unavailable` when Redis does not answer.
    """

    settings: Settings
    stores: Stores
    store: RedisStore
    replicas: RegistryReplicas[Any]
    index_name: str
    count: CountEvent


@dataclass(frozen=True, slots=True)
class QuestionTierKind:
    """name: of the tier in headers, statistics and metrics.

    new_index: of the questions of one tenant's answers.
    make: gets the settings of its extension too.
    """

    name: str
    new_index: Callable[[], QuestionIndex]
    make: Callable[[TierParts, Any], QuestionTier]


@dataclass(frozen=True, slots=True)
class ConfiguredQuestionTier:
    """own: the settings of its extension."""

    kind: QuestionTierKind
    own: Any
