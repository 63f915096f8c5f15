"""Which parts of a search leave a document out before anything is compared.

Pure.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from gateway.extension import SearchBody, SearchRequest
from index.documents.rows import DatedDocument
from index.model.document import Document
from index.model.query import CONDITIONS
from index.model.scope import PUBLIC, ScopeName, resolve
from index.tenants.principals import Principal


@dataclass(frozen=True, slots=True)
class _DocumentFields:
    """What conditions on documents read; `chunk_id` is of chunks."""

    document_id: str
    source: str
    language: str
    tags: Sequence[str]
    metadata: dict[str, Any]
    updated_at: datetime
    trust: str | None
    chunk_id: int = 0


def conditions_against(body: SearchBody, dated: DatedDocument) -> list[str]:
    """The conditions of the search's own filter that the document does not meet."""
    document, own_filter = dated.document, body.filter.canonical()
    fields = _DocumentFields(
        document.document_id,
        document.source,
        document.language,
        document.tags,
        dict(document.metadata),
        dated.updated_at,
        document.provenance.trust,
    )
    return [
        name
        for name, condition in CONDITIONS.items()
        if condition.table == "documents"
        and (value := getattr(own_filter, name)) is not None
        and not condition.admits(value, fields)
    ]


def scopes_instead(request: SearchRequest, tenant: str, document: Document) -> list[ScopeName]:
    """The scopes in which the caller sees a document that it may read; none if one is searched."""
    if tenant != request.scope.tenant:
        return [] if request.scope.public else [PUBLIC]
    if request.scope.admits(document.owner, document.readers):
        return []
    return [name for name in request.principal.scopes if _admits(request.principal, name, document)]


def _admits(principal: Principal, name: ScopeName, document: Document) -> bool:
    scope = resolve(principal.tenant, principal.subject, principal.groups, [name])
    return scope.admits(document.owner, document.readers)
