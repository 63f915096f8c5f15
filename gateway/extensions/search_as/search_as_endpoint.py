"""`POST /v1/search/as`: the answer that another subject or group gets, for an admin.

The audit log's row is committed before the answer is sent: no look is without its row. It names
what the answer shows once that is confirmed, and a request has one.
"""

from dataclasses import replace
from functools import partial

from starlette.responses import Response

from gateway.extension import (
    AnsweredSearch,
    RequestContext,
    SearchServices,
    address_of_hit,
    build_response,
    decode_in_steps,
    freshness_of,
    get_or_compute,
    problems,
    record_shown,
    require_within_limits,
    shown,
)
from gateway.extensions.search_as.search_as_log import append_search_as
from gateway.extensions.search_as.search_as_schemas import SearchAsBody
from index.errors import VectorRefused
from index.model.scope import SCOPE_NAMES
from index.tenants.principals import NO_FILTER, Principal


async def search_as(context: RequestContext[SearchServices]) -> Response:
    services, caller = context.services, context.principal
    body = await context.parse_body(SearchAsBody)
    require_within_limits(body.search, "search.")
    if body.search.is_conversational:
        detail = "must have neither `history` nor `gate`: the query is searched as it is"
        raise problems.invalid_field("search", detail)
    freshness = freshness_of(body.search, context.min_revision, "search.")
    admitted = await context.authenticate(caller, replace(freshness, consistency="strong"))
    admin = admitted.principal
    if admin.is_token:
        raise problems.forbidden("A token can't search as somebody else. Use the key itself.")
    if services.settings.audit_log == "off":
        raise problems.not_configured("It needs the audit log: NEARHIT_AUDIT_LOG=changes or all.")
    context.trace.mark("revision")
    see = partial(_seen, services, body)
    request = services.request_of(await see(admin), body.search)
    services.require_answerable(request, "search.")
    try:
        answer = await get_or_compute(
            services, request, admitted.revisions.of(request.scope.partitions)
        )
    except VectorRefused as error:
        raise problems.invalid_field(f"search.{error.field}", str(error)) from None
    record_shown(services, request, answer, read_as=see)
    context.trace.tier = answer.tier
    context.trace.mark("cache" if answer.tier != "miss" else "search")
    hits = (await decode_in_steps(answer.body))["hits"]
    documents = sorted({address_of_hit(admin.tenant, hit) for hit in hits})
    append = partial(append_search_as, services.stores.database, admin.tenant, body.subject)
    shows = shown.CURRENT.get()
    assert shows is not None, "a read is confirmed before it is sent"
    shows.records.append(partial(append, list(body.groups), documents))
    answered = AnsweredSearch(request, answer, admitted.kept_promise(answer.valid_until))
    return build_response(services.settings, context.trace, answered)


async def _seen(services: SearchServices, body: SearchAsBody, admin: Principal) -> Principal:
    """The principal that the subject or the groups would be: all scopes, no filter and no role."""
    subject = body.subject or ""  # no document has such an owner, and no reader such a name
    members = await services.stores.principals.groups(admin.tenant, subject) if subject else ()
    return replace(
        admin,
        subject=subject,
        groups=tuple(sorted({*members, *body.groups})),
        roles=(),
        scopes=SCOPE_NAMES,
        filter=NO_FILTER,
    )
