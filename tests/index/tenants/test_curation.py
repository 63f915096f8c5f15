"""Questions with answers of low confidence are stored where somebody has set a score."""

import pytest

from index.postgres.database import Database
from index.search.confidence import Confidence, ConfidenceStore
from index.tenants.curation import LowConfidenceItem, LowConfidenceStore
from index.tenants.tenant_store import TenantStore

pytestmark = pytest.mark.anyio


async def test_a_question_is_stored_of_a_tenant_that_has_set_a_score_or_of_all(
    database: Database, tenants: TenantStore
) -> None:
    store, confidences = LowConfidenceStore(database), ConfidenceStore(database)

    async def ask(question: str, *, of_all: bool) -> list[str]:
        """The open questions of acme after both tenants have asked."""
        items = [
            LowConfidenceItem(tenant, f"{tenant}/{question}", question, [], 1)
            for tenant in ("acme", "beta")
        ]
        await store.add(items, items_max=10, of_all=of_all)
        records = await store.page("acme", "open", after=None, limit=10)
        assert await store.page("beta", "open", after=None, limit=10) == [] or of_all
        return sorted(record.question for record in records)

    assert await ask("nothing set", of_all=False) == []
    await confidences.put("acme", Confidence(fallback="Ask at the desk."))
    assert await ask("a fallback", of_all=False) == []
    await confidences.put("acme", Confidence(sources={"wiki": 0.2}))
    assert await ask("of a source", of_all=False) == ["of a source"]
    await confidences.put("acme", Confidence(0.3))
    assert await ask("a score", of_all=False) == ["a score", "of a source"]
    await confidences.put("acme", Confidence())
    assert await ask("of all", of_all=True) == ["a score", "of a source", "of all"]
