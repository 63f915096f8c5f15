"""Why somebody sees a document, or doesn't: told to the tenant's admins."""

from starlette.responses import Response

from gateway import problems, schemas
from gateway.documents.access_schemas import AccessExplained, KeyExplained, ReaderExplained
from gateway.documents.document_endpoints import document_id_of
from gateway.http.request_context import RequestContext, full_scope_of, json_response
from index.model.document import Document
from index.model.scope import PUBLIC, SCOPE_NAMES, resolve
from index.tenants.principals import Principal

_KEYS_MAX = 100


async def explain_access(context: RequestContext) -> Response:
    services = context.services
    tenant = (await context.authenticate()).principal.tenant
    document_id = document_id_of(context)
    subject = schemas.parse_value(
        "subject", schemas.NAME, context.request.query_params.get("subject", "")
    )
    stored = await services.documents.stored(tenant, document_id)
    if stored is None:
        raise problems.not_found("document_id", "There is no such document.")
    document = stored.document
    groups = await services.principals.groups(tenant, subject)
    holders = await services.principals.of_subject(tenant, subject, limit=_KEYS_MAX)
    scopes = tuple(
        name
        for name in SCOPE_NAMES
        if resolve(tenant, subject, groups, [name]).admits(document.owner, document.readers)
    )
    return json_response(
        AccessExplained(
            document_id=document_id,
            subject=subject,
            sees=bool(scopes),
            scopes=scopes,
            readers=tuple(_reader(each, subject, groups) for each in _audience(document)),
            keys=tuple(
                [
                    await _key(context, document, holder, name, sees_all=bool(scopes))
                    for holder, name in holders
                ]
            ),
        )
    )


def _audience(document: Document) -> tuple[str, ...]:
    owner = () if document.owner is None else (f"owner:{document.owner}",)
    return (*owner, *document.readers)


def _reader(reader: str, subject: str, groups: tuple[str, ...]) -> ReaderExplained:
    kind, _, name = reader.partition(":")
    match kind:
        case "owner":
            admits = name == subject
            why = "owns it" if admits else "somebody else owns it"
        case "user":
            admits = name == subject
            why = "it is shared with this subject" if admits else "it is shared with somebody else"
        case "group":
            admits = name in groups
            why = f"is a member of {name}" if admits else f"is no member of {name}"
        case _:
            admits = True
            why = "everybody may" if kind == PUBLIC else "the whole tenant may"
    return ReaderExplained(reader=reader, admits=admits, why=why)


async def _key(
    context: RequestContext, document: Document, holder: Principal, name: str, *, sees_all: bool
) -> KeyExplained:
    """By the very statement that its own reading of the document would run."""
    scope = full_scope_of(holder)
    read = context.services.documents.read
    sees = await read(scope, holder.filter, document.document_id) is not None
    if sees:
        why = "as the subject does" if sees_all else "by a group that this key is in"
    elif scope.admits(document.owner, document.readers):
        why = "its filter leaves the document out"
    elif sees_all:
        why = "its scopes or groups are fewer than the subject's"
    else:
        why = "no reader of the document lets it in"
    return KeyExplained(id=holder.key_id or "", name=name, sees=sees, why=why)
