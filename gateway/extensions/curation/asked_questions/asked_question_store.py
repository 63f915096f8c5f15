"""How often each question was asked, by day, for tenants whose admin has questions recorded.

No asker is stored, and no text of a question that came once: only its digest.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple

from index.audit import audit_log
from index.errors import TenantMissing
from index.postgres.database import Database

KEPT_DAYS_MAX = 92
DAY_QUESTIONS_MAX = 2_000  # of a tenant; a starting value, not measured
_AROUND = " \t\n\"'?!.,;:…¿¡"


class QuestionKey(NamedTuple):
    """What questions are counted by; question: as `comparable_question` has it."""

    tenant: str
    day: date
    question: str

    @property
    def digest(self) -> bytes:
        return hashlib.blake2b(self.question.encode(), digest_size=16).digest()


@dataclass(slots=True)
class QuestionCount:
    """question: as it was asked. unsure: answers without a hit or of low confidence."""

    question: str
    asked: int = 1
    unsure: int = 0


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    digest: bytes
    question: str
    asked: int
    unsure: int
    last_day: date


def comparable_question(text: str) -> str:
    """Equal for questions that differ in case, spaces and the punctuation around them alone."""
    return " ".join(text.casefold().split()).strip(_AROUND)


class AskedQuestionStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, counts: Mapping[QuestionKey, QuestionCount]) -> None:
        """Add to the stored counts of tenants that record questions; others are skipped."""
        keys = sorted(counts)
        tenants, days = [key.tenant for key in keys], [key.day for key in keys]
        digests, values = [key.digest for key in keys], [counts[key] for key in keys]
        async with self._database.transaction() as session:
            await session.rows(
                "asked_questions.add",
                tenants,
                digests,
                days,
                [value.asked for value in values],
                [value.unsure for value in values],
            )
            questions = [value.question for value in values]
            await session.rows("asked_questions.add_texts", tenants, digests, days, questions)
            await session.rows(
                "asked_questions.prune", sorted(set(tenants)), sorted(set(days)), DAY_QUESTIONS_MAX
            )

    async def most_asked(
        self, tenant: str, first: date, last: date, *, today: date, limit: int
    ) -> list[AskedQuestion]:
        """Those that came twice or more, most often asked first."""
        rows = await self._database.rows(
            "asked_questions.most_asked", tenant, first, last, today, limit
        )
        return [AskedQuestion(**row) for row in rows]

    async def kept_days(self, tenant: str) -> int:
        row = await self._database.row("asked_questions.kept_days", tenant)
        return 0 if row is None else int(row["questions_kept_days"])

    async def put_kept_days(self, tenant: str, kept_days: int) -> None:
        """Record questions, or stop and delete those of the tenant: 0. Raises `TenantMissing`."""
        async with self._database.transaction() as session:
            if await session.row("asked_questions.put_kept_days", tenant, kept_days) is None:
                raise TenantMissing(tenant)
            if not kept_days:
                await session.rows("asked_questions.delete_all", tenant)
            await audit_log.append(
                session, tenant, "questions_kept.put", tenant, kept_days=kept_days
            )

    async def delete(self, tenant: str, digest: bytes) -> bool:
        """Delete what is recorded of a question; False if there is nothing."""
        async with self._database.transaction() as session:
            is_deleted = bool(await session.value("asked_questions.delete", tenant, digest))
            if is_deleted:
                await audit_log.append(session, tenant, "question.delete", digest.hex())
            return is_deleted

    async def delete_old(self, today: date) -> None:
        """Delete what each tenant no longer keeps."""
        await self._database.rows("asked_questions.delete_old", today)
