"""How sure an answer has to be: what its hits have to score, by source."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from index.audit import audit_log
from index.errors import TenantMissing
from index.postgres.database import Database
from index.search.hits import Hit


@dataclass(frozen=True, slots=True)
class Confidence:
    """score_min: of a hit of the tenant's own; None for what holds for all tenants.

    sources: by name, what a hit of that source has to score instead.
    fallback: what is said where an answer would be too unsure; None for what all tenants have.
    """

    score_min: float | None = None
    sources: Mapping[str, float] = field(default_factory=dict)
    fallback: str | None = None


def is_low(
    hits: Iterable[Hit], confidence: Mapping[str, Any] | None, *, tenant: str, default: float | None
) -> bool:
    """Whether no hit scores what it has to. Where nothing is set, no answer is low.

    confidence: as it is stored. What other tenants have made public is judged by the default.
    Without a hit, what there is no score for is low, if anything is set for all.
    """
    if confidence is None and default is None:
        return False
    told = confidence or {}
    usual = default if told.get("min") is None else told["min"]
    sources = told.get("sources", {})

    def least(hit: Hit) -> float | None:
        return sources.get(hit.source, usual) if hit.tenant == tenant else usual

    found = [(hit.score, least(hit)) for hit in hits]
    if not found:
        return usual is not None
    return all(needed is not None and score < needed for score, needed in found)


class ConfidenceStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def read(self, tenant: str) -> Confidence:
        row = await self._database.row("confidence.read", tenant)
        told = (row and row["confidence"]) or {}
        return Confidence(told.get("min"), told.get("sources", {}), told.get("fallback"))

    async def put(self, tenant: str, confidence: Confidence) -> int:
        """The revision since which it holds."""
        told = {
            "min": confidence.score_min,
            "sources": dict(confidence.sources),
            "fallback": confidence.fallback,
        }
        given = {name: value for name, value in told.items() if value not in (None, {})}
        async with self._database.transaction() as session:
            revision = await session.value("confidence.put", tenant, given)
            if revision is None:
                raise TenantMissing(tenant)
            await audit_log.append(
                session,
                tenant,
                "confidence.put",
                tenant,
                min=confidence.score_min,
                sources=dict(confidence.sources),
            )
            return int(revision)
