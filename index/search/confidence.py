"""Confidence settings: the least score a hit needs, by source."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from index.audit import audit_log
from index.errors import TenantMissing
from index.postgres.database import Database
from index.search.hits import Hit


@dataclass(frozen=True, slots=True)
class Confidence:
    """A tenant's confidence settings.

    score_min: for hits of the tenant's own documents; None for the deployment's default.
    sources: by source name, the score that replaces `score_min`.
    fallback: the text of an answer of low confidence; None for the deployment's default.
    """

    score_min: float | None = None
    sources: Mapping[str, float] = field(default_factory=dict)
    fallback: str | None = None


def is_low(
    hits: Collection[Hit],
    confidence: Mapping[str, Any] | None,
    *,
    tenant: str,
    default: float | None,
    measured: float | None = None,
) -> bool:
    """Whether no hit reaches its required score; False if no score is required.

    confidence: as stored. default: of the deployment. measured: for the query, if neither is set;
        it judges hits, and no answer without any.
    Other tenants' public documents are judged as if the tenant had set nothing for single sources.
    An answer without hits is low if a score above 0 is required of all sources.
    """
    settings = confidence or {}
    chosen = (settings.get("score_min"), default, measured if hits else None)
    default_min = next((score_min for score_min in chosen if score_min is not None), None)
    sources = settings.get("sources", {})

    def required_score(hit: Hit) -> float | None:
        return sources.get(hit.source, default_min) if hit.tenant == tenant else default_min

    scores = [(hit.score, required_score(hit)) for hit in hits]
    if not scores:
        return bool(default_min)
    return all(required is not None and score < required for score, required in scores)


class ConfidenceStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def read(self, tenant: str) -> Confidence:
        row = await self._database.row("confidence.read", tenant)
        settings = (row and row["confidence"]) or {}
        return Confidence(
            settings.get("score_min"), settings.get("sources", {}), settings.get("fallback")
        )

    async def put(self, tenant: str, confidence: Confidence) -> int:
        """Store the settings; return the revision from which they apply."""
        values = {
            "score_min": confidence.score_min,
            "sources": dict(confidence.sources),
            "fallback": confidence.fallback,
        }
        settings = {name: value for name, value in values.items() if value not in (None, {})}
        async with self._database.transaction() as session:
            revision = await session.value("confidence.put", tenant, settings)
            if revision is None:
                raise TenantMissing(tenant)
            await audit_log.append(
                session,
                tenant,
                "confidence.put",
                tenant,
                score_min=confidence.score_min,
                sources=dict(confidence.sources),
            )
            return int(revision)
