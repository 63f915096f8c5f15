"""How a request body changes a stored document, and whether the caller may make that change."""

from collections.abc import Collection
from dataclasses import replace

from gateway.auth.authenticated_request import AuthenticatedRequest
from gateway.documents.document_schemas import AccessBody, DocumentBody
from gateway.http.request.request_context import full_scope
from gateway.problems import problems
from gateway.problems.problems import Problem
from index.model import chunking_config
from index.model.document import NO_SUMMARIES, Document
from index.model.provenance import Author, Origin, Provenance
from index.model.scope import PUBLIC
from index.model.write_order import CONTENT, NO_PARTS, Parts, named
from index.tenants.principals import Principal
from index.text import language_detection
from ingest.errors import PublishingRefused
from ingest.write.revision import Put, Revise


def parts_of(body: DocumentBody | AccessBody) -> Parts:
    """The parts of the document that the body sets; an access body sets no content."""
    owner: Parts = frozenset({"owner"} if "owner" in body.model_fields_set else ())
    content = NO_PARTS
    if isinstance(body, DocumentBody):
        content = CONTENT | named(chunker=body.chunker, summaries=body.summaries)
    return content | owner | named(readers=body.readers, active=body.active)


def put_of(
    caller: AuthenticatedRequest, document_id: str, body: DocumentBody, default_language: str
) -> Put:
    """The write that the body asks for, with the caller's rights."""
    revise = build_update(caller, document_id, body, default_language)
    principal = caller.principal
    return Put(document_id, revise, parts_of(body), may_publish(principal), author_of(principal))


def build_update(
    caller: AuthenticatedRequest, document_id: str, body: DocumentBody, default_language: str
) -> Revise:
    """A function from the stored document to one with the parts that the body sets.

    The function raises a `Problem` if the caller may not make the change.
    """
    access = AccessBody.model_validate(
        body.model_dump(include={"owner", "readers", "active"} & body.model_fields_set)
    )

    def revise(stored: Document | None) -> Document:
        if stored is not None:
            _require_replaceable(caller, stored)
        document = Document(
            document_id=document_id,
            title=body.title,
            text=body.text,
            source=body.source,
            uri=body.uri,
            language=body.language
            or language_detection.detect_surely(body.text)
            or default_language,
            tags=body.tags,
            metadata=body.stored_metadata,
            owner=stored.owner if stored else caller.principal.subject,
            readers=stored.readers if stored else (),
            chunker=body.chunker or chunking_config.DEFAULT,
            summaries=body.summaries or NO_SUMMARIES,
        )
        return with_access(caller, document, access)

    return revise


def with_access(caller: AuthenticatedRequest, document: Document, access: AccessBody) -> Document:
    """The document with what the body sets; a 403 `Problem` if refused."""
    has_owner = "owner" in access.model_fields_set
    if has_owner and access.owner not in (document.owner, caller.principal.subject):
        _require_admin(caller, "Only an admin may set another owner or none.")
    readers = document.readers if access.readers is None else access.readers
    is_active = document.is_active if access.active is None else access.active
    owner = access.owner if has_owner else document.owner
    return replace(document, owner=owner, readers=readers, is_active=is_active)


def author_of(principal: Principal) -> Author:
    """Who writes with the credential: its subject, or an agent for it."""
    by: Origin = "agent" if principal.agents else "person"
    provenance = Provenance(by, principal.subject, principal.agents)
    return Author(provenance, principal.quarantine)


def may_publish(principal: Principal) -> bool:
    return "publisher" in principal.roles and PUBLIC in principal.scopes


def require_publisher(principal: Principal, readers: Collection[str]) -> None:
    """Raises `PublishingRefused` if documents with these readers need a publisher.

    For what gives its readers to documents later; a document itself is judged by the writer.
    """
    if PUBLIC in readers and not may_publish(principal):
        raise PublishingRefused


def _require_replaceable(caller: AuthenticatedRequest, stored: Document) -> None:
    if _owns(caller, stored):
        return
    if _can_read(caller, stored):
        raise problems.forbidden("Only the owner or an admin may change this document.")
    raise problems.conflict(
        "document_id", "Another document has this identifier. Choose another identifier."
    )


def require_editable(caller: AuthenticatedRequest, stored: Document | None) -> Document:
    """The stored document; a 404 `Problem` if the caller may not read it, else a 403 if refused."""
    document = require_readable(caller, stored)
    if not _owns(caller, document):
        raise problems.forbidden("Only the owner or an admin may change this document.")
    return document


def require_readable(caller: AuthenticatedRequest, stored: Document | None) -> Document:
    """The stored document; a 404 `Problem` if the caller may not read it."""
    if stored is None or not (_owns(caller, stored) or _can_read(caller, stored)):
        raise no_such_document()
    return stored


def _owns(caller: AuthenticatedRequest, document: Document) -> bool:
    principal = caller.principal
    is_own = document.owner == principal.subject and "private" in principal.scopes
    return is_own or is_admin(caller)


def _can_read(caller: AuthenticatedRequest, document: Document) -> bool:
    """Whether a caller who may not change the document may read it."""
    is_admitted = full_scope(caller).admits(document.owner, document.readers)
    return is_admitted and document.is_active is not False


def is_admin(caller: AuthenticatedRequest) -> bool:
    return "admin" in caller.principal.roles


def _require_admin(caller: AuthenticatedRequest, detail: str) -> None:
    if not is_admin(caller):
        raise problems.forbidden(detail)


def no_such_document() -> Problem:
    return problems.not_found("document_id", "The document does not exist, or you may not read it.")
