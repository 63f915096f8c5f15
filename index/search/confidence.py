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


class RequiredScores:
    """The least score that each hit of an answer needs.

    stored: the tenant's settings. default: of the deployment. measured: for the query, if neither
        is set; it judges hits, and no answer without any.
    Other tenants' public documents are judged as if the tenant had set nothing for single sources.
    """

    def __init__(
        self,
        tenant: str,
        stored: Mapping[str, Any] | None,
        *,
        default: float | None,
        measured: float | None = None,
    ) -> None:
        settings = stored or {}
        self._tenant = tenant
        self._by_source: Mapping[str, float] = settings.get("sources", {})
        self._chosen: float | None = settings.get("score_min", default)
        self._least = measured if self._chosen is None else self._chosen

    def of(self, hit: Hit) -> float | None:
        """None if any score will do."""
        if hit.tenant != self._tenant:
            return self._least
        return self._by_source.get(hit.source, self._least)

    def are_missed_by(self, hits: Collection[Hit]) -> bool:
        """Whether no hit reaches its own, or none is there and one above 0 is set."""
        if not hits:
            return bool(self._chosen)
        for hit in hits:
            least = self.of(hit)
            if least is None or hit.score >= least:
                return False
        return True


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
