"""Confidence settings: the least score a hit needs, by source."""

from collections.abc import Iterable, Mapping
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
    hits: Iterable[Hit], confidence: Mapping[str, Any] | None, *, tenant: str, default: float | None
) -> bool:
    """Whether no hit reaches its required score; False if no score is required.

    confidence: as stored. The default applies to other tenants' public documents.
    An answer without hits is low if a score is required of all sources.
    """
    if confidence is None and default is None:
        return False
    settings = confidence or {}
    default_min = default if settings.get("score_min") is None else settings["score_min"]
    sources = settings.get("sources", {})

    def required_score(hit: Hit) -> float | None:
        return sources.get(hit.source, default_min) if hit.tenant == tenant else default_min

    scores = [(hit.score, required_score(hit)) for hit in hits]
    if not scores:
        return default_min is not None
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
