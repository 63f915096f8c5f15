"""Lists a tenant's FAQs: documents of one source that no subject owns."""

from dataclasses import astuple, dataclass

from index.documents.rows import row_to_document
from index.model.document import FAQ_SOURCE, Document
from index.postgres.database import Database


@dataclass(frozen=True, slots=True)
class FaqPosition:
    """The place of a FAQ in the list: by category, then the highest priority first, then by id."""

    category: str
    priority: int
    document_id: str


@dataclass(frozen=True, slots=True)
class StoredFaq:
    document: Document
    position: FaqPosition


@dataclass(frozen=True, slots=True)
class FaqCategory:
    category: str
    faqs: int
    active: int


async def page(
    database: Database,
    tenant: str,
    *,
    category: str | None = None,
    is_active: bool | None = None,
    after: FaqPosition | None = None,
    limit: int,
) -> list[StoredFaq]:
    """Up to `limit` FAQs in the order of the list; None selects every category and state."""
    last = (None, None, None) if after is None else astuple(after)
    rows = await database.rows("faqs.page", tenant, FAQ_SOURCE, category, is_active, *last, limit)
    return [
        StoredFaq(
            row_to_document(row),
            FaqPosition(row["category"], row["priority"], row["document_id"]),
        )
        for row in rows
    ]


async def categories(database: Database, tenant: str, *, limit: int) -> list[FaqCategory]:
    """The categories by name, with the number of all and of active FAQs of each."""
    rows = await database.rows("faqs.categories", tenant, FAQ_SOURCE, limit)
    return [FaqCategory(**row) for row in rows]
