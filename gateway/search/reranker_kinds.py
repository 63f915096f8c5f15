"""What rerankers promise, and what makes them."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from pydantic import BaseModel, ConfigDict, SecretStr, SerializeAsAny

from index.search.hits import Hit

PASSAGE_CHARACTERS_MAX = 4_000  # seen of each hit; a starting value, not measured

# Indexes of the hits, best first, each with its new score, if the reranker gives one.
Order: TypeAlias = list[tuple[int, float | None]]


class RerankerUnavailable(Exception):
    """The reranker returned no order. reason: deadline, error, garbage or budget."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Chat(Protocol):
    """A language model."""

    async def answer(
        self, tenant: str, instruction: str, text: str, /, *, tokens_max: int
    ) -> str: ...


class Reranker(Protocol):
    """Puts the hits of a search with `rerank` in order, one search beside others."""

    async def order(self, tenant: str, query: str, hits: Sequence[Hit], /) -> Order:
        """All hits, best first. Raises `RerankerUnavailable`; the first order stays then."""

    async def close(self) -> None: ...


class RerankerSettings(BaseModel):
    """All that configures a reranker.

    rest: what follows the colon in the setting `reranker`, empty without one.
    model: of the operation `rerank`, if there is one.
    chat_base_url: of the service that has it, if the kind `asks_model`.
    own: the settings of the reranker's extension.
    """

    model_config = ConfigDict(frozen=True)

    rest: str
    model: str | None
    chat_base_url: str | None
    deadline_s: float
    api_key: SecretStr | None
    own: SerializeAsAny[BaseModel]


@dataclass(frozen=True, slots=True)
class RerankerKind:
    """make: gets the language model of the operation `rerank` too, if `asks_model`. It imports what
        takes long.
    check: refuses what `make` would refuse. Raises `CommandError`.
    version: of the order: cached answers of another one are not served.
    """

    make: Callable[[RerankerSettings, Chat | None], Reranker]
    check: Callable[[RerankerSettings], Any] = lambda _settings: None
    asks_model: bool = False
    version: int = 1


@dataclass(frozen=True, slots=True)
class ConfiguredReranker:
    """What the setting `reranker` names: `form` stands before its colon."""

    kind: RerankerKind
    form: str
    settings: RerankerSettings

    @property
    def name(self) -> str:
        """For the cache keys of answers: other settings or versions have another one.

        Settings as JSON show no secrets: a new key of a service keeps the cached answers.
        """
        settings = self.settings.model_dump_json().encode()
        digest = hashlib.blake2b(settings, digest_size=16).hexdigest()
        return f"{self.form}:{self.kind.version} {digest}"
