"""Explains to an admin why a subject can or cannot read a document."""

from starlette.responses import Response

from gateway.extension import (
    RequestContext,
    Stores,
    document_id_of,
    full_scope_of,
    json_response,
    problems,
    schemas,
)
from gateway.extensions.access_explanation.access_schemas import (
    AccessExplained,
    KeyExplained,
    ReaderExplained,
)
from index.model.document import Document
from index.model.scope import PUBLIC, SCOPE_NAMES, resolve
from index.tenants.principals import Principal

_KEYS_MAX = 100


async def explain_access(context: RequestContext[Stores]) -> Response:
    stores = context.services
    tenant = (await context.authenticate()).principal.tenant
    document_id = document_id_of(context)
    subject = schemas.parse_value(
        "subject", schemas.SUBJECT, context.request.query_params.get("subject", "")
    )
    stored = await stores.documents.stored(tenant, document_id)
    if stored is None:
        raise problems.not_found("document_id", "The document does not exist.")
    document = stored.document
    groups = await stores.principals.groups(tenant, subject)
    holders = await stores.principals.of_subject(tenant, subject, limit=_KEYS_MAX)
    scopes = tuple(
        name
        for name in SCOPE_NAMES
        if resolve(tenant, subject, groups, [name]).admits(document.owner, document.readers)
    )
    return json_response(
        AccessExplained(
            document_id=document_id,
            subject=subject,
            can_read=bool(scopes) and (bool(document.is_active) or "private" in scopes),
            scopes=scopes,
            readers=tuple(
                _explain_reader(reader, subject, groups) for reader in _owner_and_readers(document)
            ),
            keys=tuple(
                [
                    await _explain_key(
                        context, document, holder, name, is_visible_to_subject=bool(scopes)
                    )
                    for holder, name in holders
                ]
            ),
        )
    )


def _owner_and_readers(document: Document) -> tuple[str, ...]:
    owner = () if document.owner is None else (f"owner:{document.owner}",)
    return (*owner, *document.readers)


def _explain_reader(reader: str, subject: str, groups: tuple[str, ...]) -> ReaderExplained:
    kind, _, name = reader.partition(":")
    match kind:
        case "owner":
            matches = name == subject
            reason = (
                "the subject owns the document" if matches else "another subject owns the document"
            )
        case "user":
            matches = name == subject
            reason = (
                "the document is shared with this subject"
                if matches
                else "the document is shared with another subject"
            )
        case "group":
            matches = name in groups
            reason = (
                f"the subject is a member of {name}"
                if matches
                else f"the subject is not a member of {name}"
            )
        case _:
            matches = True
            reason = (
                "the tenant may read it, and every tenant that receives public documents"
                if kind == PUBLIC
                else "everyone in the tenant may read it"
            )
    return ReaderExplained(reader=reader, matches=matches, reason=reason)


async def _explain_key(
    context: RequestContext[Stores],
    document: Document,
    holder: Principal,
    name: str,
    *,
    is_visible_to_subject: bool,
) -> KeyExplained:
    """Whether the key can read the document, by the same statement that a request runs."""
    scope = full_scope_of(holder)
    read = context.services.visible_documents.read
    is_admin = "admin" in holder.roles
    can_read = (
        await read(scope, holder.filter, document.document_id, sees_inactive=is_admin) is not None
    )
    if can_read:
        reason = (
            "the subject can read it"
            if is_visible_to_subject
            else "the key has a group that may read it"
        )
    elif not document.is_active:
        reason = "the document is inactive: only its owner and admins who may read it see it"
    elif scope.admits(document.owner, document.readers):
        reason = "the key's filter excludes the document"
    elif is_visible_to_subject:
        reason = "the key has fewer scopes or groups than the subject"
    else:
        reason = "no reader token of the document matches the key"
    return KeyExplained(id=holder.key_id or "", name=name, can_read=can_read, reason=reason)
